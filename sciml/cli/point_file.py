"""Points and values from a file: a table, NumPy arrays, or a mesh with data at its points."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdes.tokens import closest

if TYPE_CHECKING:
    from numpy.typing import NDArray

COORDINATES = ("x", "y", "z")
RADIUS = "r"
TABLES = (".csv", ".txt", ".dat", ".tsv")


@dataclass(frozen=True, eq=False)
class PointValues:
    """What was read.

    Attributes
    ----------
    points : ndarray, shape (n, d)
    values : ndarray, shape (n,)
    coordinates : tuple of str
        Names of the columns of the points.
    name : str
        Of the values.
    """

    points: NDArray
    values: NDArray
    coordinates: tuple[str, ...]
    name: str


def read_points(
    path: Path, *, value: str | None = None, coordinates: Sequence[str] | None = None
) -> PointValues:
    """Read points and values.

    Parameters
    ----------
    path : Path
        ``.csv`` (also ``.txt``, ``.dat``, ``.tsv``) with a line of names, ``.npz``, or a mesh in a
        format that meshio knows.
    value : str, optional
        Name of the values; the only column that is no coordinate by default.
    coordinates : sequence of str, optional
        Names of the coordinates; ``x``, ``y``, ``z`` (those that there are) or ``r`` by default.

    Returns
    -------
    PointValues

    Raises
    ------
    ValueError
        If the file cannot be read, or leaves open which columns are meant.
    """
    import numpy as np

    if path.is_dir():
        raise ValueError(f"{path} is a directory, wanted a file")
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    suffix = path.suffix.lower()
    if suffix in TABLES:
        columns = _table(path)
    elif suffix == ".npz":
        columns = _archive(path)
    else:
        columns = _mesh(path)
    names = _coordinates(path, columns, coordinates)
    found = value if value is not None else _only_value(path, columns, names)
    if found not in columns:
        raise ValueError(f"{path.name} has no {found!r}.{closest(found, columns)} It has "
                         f"{', '.join(columns)}")  # fmt: skip
    if found in names:
        raise ValueError(
            f"{path.name}: {found!r} is a coordinate, which would be fitted to itself: say "
            "--value with the name of another column, or --coordinates with those of the places"
        )
    for name in (*names, found):
        _check_real(path, name, columns[name])
    parts = [np.asarray(columns[name], float) for name in names]
    points = np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)
    values = np.asarray(columns[found], float).reshape(len(points), -1)
    if values.shape[1] != 1:
        raise ValueError(
            f"{path.name}: {found!r} has {values.shape[1]} components, wanted one number for each "
            "of the points"
        )
    return PointValues(points, values[:, 0], tuple(names), found)


def _check_real(path: Path, name: str, data: Any) -> None:
    import numpy as np

    kind = np.asarray(data).dtype
    if kind.kind == "c":
        raise ValueError(
            f"{path.name}: {name!r} is complex, wanted real numbers; write real and imaginary "
            "parts as two arrays and look at one after the other"
        )
    if kind.kind not in "fiub":
        raise ValueError(f"{path.name}: {name!r} has dtype {kind}, wanted real numbers")


def _table(path: Path) -> dict[str, Any]:
    import numpy as np

    text = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if len(text) < 2:
        raise ValueError(f"{path.name} has {len(text)} lines, wanted a line of names and numbers")
    mark = next((m for m in (",", ";", "\t") if m in text[0]), None)
    names = [name.strip().strip('"') for name in text[0].lstrip("#").split(mark)]
    if all(_is_number(name) for name in names):
        raise ValueError(
            f"{path.name}: the first line holds numbers, wanted names of the columns, such as x,y,u"
        )
    try:
        table = np.loadtxt(text[1:], delimiter=mark, ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path.name} is no table of numbers: {error}") from None
    if table.shape[1] != len(names) or len(set(names)) < len(names):
        raise ValueError(
            f"{path.name} has {len(names)} names for {table.shape[1]} columns, wanted one each, "
            "all different"
        )
    return dict(zip(names, table.T, strict=True))


def _archive(path: Path) -> dict[str, Any]:
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as archive:
            columns = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path.name} is no archive of plain arrays: {error}") from None
    lengths = {name: array.shape[0] for name, array in columns.items() if array.ndim in (1, 2)}
    if len(lengths) < len(columns) or len(set(lengths.values())) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in columns.items())
        raise ValueError(f"{path.name} holds {shapes}: wanted arrays with one row for each point")
    return columns


def _mesh(path: Path) -> dict[str, Any]:
    import meshio
    import numpy as np

    try:
        mesh = meshio.read(path)
    except (Exception, SystemExit) as error:  # readers fail in every way
        raise ValueError(
            f"{path.name} is neither a table (.csv), nor an archive (.npz), nor a mesh that can be "
            f"read: {str(error) or 'format not known'}"
        ) from None
    if not mesh.point_data and mesh.cell_data:
        raise ValueError(
            f"{path.name} has values of its cells ({', '.join(mesh.cell_data)}) and none at its "
            "points: move them to the points, or write a table of the centers of the cells"
        )
    points = np.asarray(mesh.points, float)
    flat = points.shape[1] == 3 and np.ptp(points[:, 2]) == 0.0
    count = 2 if flat else points.shape[1]
    columns: dict[str, Any] = {COORDINATES[k]: points[:, k] for k in range(count)}
    return {**columns, **{str(name): data for name, data in mesh.point_data.items()}}


def _coordinates(path: Path, columns: Mapping[str, Any], wanted: Sequence[str] | None) -> list[str]:
    if wanted:
        for name in wanted:
            if name not in columns:
                raise ValueError(f"{path.name} has no {name!r}.{closest(name, columns)} It has "
                                 f"{', '.join(columns)}")  # fmt: skip
        return list(wanted)
    found = [name for name in COORDINATES if name in columns]
    if not found and RADIUS in columns:
        return [RADIUS]
    if not found and "points" in columns:
        return ["points"]
    if not found:
        raise ValueError(
            f"{path.name} has {', '.join(columns)}: which are the coordinates? Name them x, y, z "
            "or r, or say --coordinates"
        )
    return found


def _only_value(path: Path, columns: Mapping[str, Any], coordinates: Sequence[str]) -> str:
    left = [name for name in columns if name not in coordinates]
    if len(left) != 1:
        raise ValueError(
            f"{path.name}: "
            + (f"{', '.join(left)} could be the values" if left else "there are no values")
            + ": say --value NAME"
        )
    return left[0]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
