"""Recordings that travel with the package, and recipes of datasets to make, by name.

Examples
--------
>>> from sciml import datasets
>>> datasets.available()
['burgers', 'kuramoto_sivashinsky']
>>> datasets.load("burgers").sizes["x"]
256
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sciml import _resources

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Where a recording comes from, how to read it, and what is known about it.

    Attributes
    ----------
    name : str
        Name of its folder.
    title : str
        A few words for people.
    path : pathlib.Path
        The file as its authors published it.
    sha256 : str
        Checksum of that file.
    license : str
        Under which it may be passed on; the text lies beside it.
    source : dict of str to str
        Repository, commit and path it was copied from, and the publication.
    read : dict
        Arguments of `pdes.data.read`.
    rename : dict of str to str
        Variable of the file -> field.
    periodic : tuple of str
        Space axes that wrap around.
    equation : str
        What the authors solved. Nothing here shows it to a method.
    """

    name: str
    title: str
    path: Path
    sha256: str
    license: str
    source: dict[str, str]
    read: dict[str, Any]
    rename: dict[str, str]
    periodic: tuple[str, ...]
    equation: str


def available() -> list[str]:
    """Names of the recordings.

    Returns
    -------
    list of str
        Sorted.

    Examples
    --------
    >>> "burgers" in available()
    True
    """
    return sorted(name for name, path in _recipe_files().items() if "file" in _entries(path))


def makeable() -> dict[str, Path]:
    """Recipes of datasets that are made by ``sciml data make``, by name.

    Returns
    -------
    dict of str to pathlib.Path
        Their files, for `pdes.data.Recipe.from_toml`.

    Examples
    --------
    >>> makeable()["fno_burgers"].name
    'recipe.toml'
    """
    return {name: path for name, path in _recipe_files().items() if "generate" in _entries(path)}


def _recipe_files() -> dict[str, Path]:
    found = sorted(_resources.folder("datasets").glob("*/recipe.toml"))
    return {path.parent.name: path for path in found}


def _entries(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def recipe(name: str) -> Recipe:
    """What is known about a recording, without reading it.

    Parameters
    ----------
    name : str
        One of `available`.

    Returns
    -------
    Recipe

    Raises
    ------
    ValueError
        For an unknown name; the closest one is offered.

    Examples
    --------
    >>> recipe("burgers").equation
    'u_t = -u*u_x + 0.1*u_xx'
    """
    if name not in available():
        match = difflib.get_close_matches(name, available(), n=1)
        hint = f", did you mean {match[0]!r}?" if match else ""
        raise ValueError(f"unknown dataset {name!r}{hint}; available: {available()}")
    folder = _resources.folder("datasets") / name
    entries = tomllib.loads((folder / "recipe.toml").read_text(encoding="utf-8"))
    return Recipe(
        name=name,
        title=entries["title"],
        path=folder / entries["file"],
        sha256=entries["sha256"],
        license=entries["license"],
        source=entries["source"],
        read=entries["read"],
        rename=entries["rename"],
        periodic=tuple(entries["periodic"]),
        equation=entries["equation"],
    )


def load(name: str) -> xr.Dataset:
    """Read a recording that travels with the package.

    Parameters
    ----------
    name : str
        One of `available`.

    Returns
    -------
    xarray.Dataset
        Fields over ``(time, x)``, with title, source and license in its attributes.

    Raises
    ------
    ValueError
        For an unknown name, or if the file is not the one that was published.

    Examples
    --------
    >>> load("kuramoto_sivashinsky").attrs["license"]
    'MIT'
    """
    from pdes.data import read
    from pdes.data.reader import file_checksum

    known = recipe(name)
    if file_checksum(known.path) != known.sha256:
        raise ValueError(
            f"{known.path.name} of dataset {name!r} is not the published file (its checksum "
            "differs): check it out again, or reinstall sciml-pdes"
        )
    data = read(known.path, **known.read).rename(known.rename)
    for axis in known.periodic:
        data = data.assign_coords({axis: data[axis].assign_attrs(periodic=1)})
    return data.assign_attrs(
        title=known.title,
        license=known.license,
        source=f"{known.source['repository']} {known.source['commit']} {known.source['path']}",
    )
