"""Where the folders beside the packages are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciml import _resources

ROOT = Path(__file__).resolve().parents[2]


def test_a_source_tree_has_them_beside_the_packages():
    assert _resources.folder("validation") == ROOT / "validation"
    assert _resources.folder("datasets") == ROOT / "datasets"


def test_those_inside_the_package_come_first(tmp_path, monkeypatch):
    monkeypatch.setattr(_resources, "_PACKAGE", tmp_path / "sciml")
    (tmp_path / "datasets").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "sciml-pdes"\n')
    assert _resources.folder("datasets") == tmp_path / "datasets"
    (tmp_path / "sciml" / "_share" / "datasets").mkdir(parents=True)
    assert _resources.folder("datasets") == tmp_path / "sciml" / "_share" / "datasets"


@pytest.mark.parametrize("declaration", [None, '[project]\nname = "another"\n'])
def test_a_folder_of_another_project_is_not_ours(tmp_path, monkeypatch, declaration):
    monkeypatch.setattr(_resources, "_PACKAGE", tmp_path / "sciml")
    (tmp_path / "datasets").mkdir()
    if declaration is not None:
        (tmp_path / "pyproject.toml").write_text(declaration)
    with pytest.raises(FileNotFoundError, match=r"installation is incomplete: `pip install"):
        _resources.folder("datasets")
