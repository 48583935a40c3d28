"""Fixtures shared by the tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


def public_data(folder: str) -> Path:
    """Folder of public recordings that are not shipped, or skip with the reason."""
    root = Path(os.environ.get("SCIML_PUBLIC_DATA", REPOSITORY.parent / "shared" / "data"))
    if not (root / folder).is_dir():
        pytest.skip(
            f"public recordings not found at {root / folder}: set SCIML_PUBLIC_DATA to use them"
        )
    return root / folder


@pytest.fixture
def equation_recordings() -> Path:
    """The public recordings for equation discovery."""
    return public_data("equation_discovery")
