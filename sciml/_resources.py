"""Find the folders that travel with the package: ``datasets`` and ``validation``.

In a source tree they lie beside the packages, where a reader looks for them. A wheel may not own
such general names at the top of ``site-packages``, so there they lie under ``sciml/_share``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).resolve().parent
_DISTRIBUTION = 'name = "sciml-pdes"'


def folder(name: Literal["datasets", "validation"]) -> Path:
    """Return the folder ``name`` that belongs to this installation.

    Parameters
    ----------
    name
        ``"datasets"`` or ``"validation"``.

    Returns
    -------
    pathlib.Path
        An existing folder, inside the installed package or in the source tree.

    Raises
    ------
    FileNotFoundError
        If neither place holds it, which means that the installation is incomplete.

    Examples
    --------
    >>> folder("validation").name
    'validation'
    """
    installed = _PACKAGE / "_share" / name
    if installed.is_dir():
        return installed
    beside = _PACKAGE.parent / name
    if _is_source_tree(_PACKAGE.parent) and beside.is_dir():
        return beside
    raise FileNotFoundError(
        f"The folder {name!r} of sciml-pdes is neither at {installed} nor at {beside} in a source "
        "tree. The installation is incomplete: `pip install --force-reinstall sciml-pdes` mends it."
    )


def _is_source_tree(root: Path) -> bool:
    # Another project's "datasets" may lie beside us in site-packages; ours has our pyproject.toml.
    declaration = root / "pyproject.toml"
    return declaration.is_file() and _DISTRIBUTION in declaration.read_text(encoding="utf-8")
