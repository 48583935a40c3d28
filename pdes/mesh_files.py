"""Meshes in files, through meshio."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pdes.mesh import CORNERS, Mesh

# The corners of a cell are the first points of its quadratic kin.
_KIN = {"triangle6": "triangle", "quad8": "quad", "quad9": "quad", "line3": "line"}


def write_mesh(mesh: Mesh, path: str | Path, fields: Mapping[str, np.ndarray]) -> None:
    """Write a mesh, its sides and fields at its points.

    Parameters
    ----------
    mesh : Mesh
        What to write.
    path : path
        The extension chooses the format.
    fields : mapping of str to ndarray, shape (n, ...)
        Values at the points.

    Raises
    ------
    ValueError
        If a field has another number of values than there are points, or the format is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pdes.mesh import Rectangle
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "square.msh"
    ...     write_mesh(Rectangle()(2), file, {})
    ...     sorted(read_mesh(file).sides)
    ['x+', 'x-', 'y+', 'y-']
    """
    import meshio

    for name, values in fields.items():
        if len(values) != len(mesh.points):
            raise ValueError(
                f"{name}: got {len(values)} values, the mesh has {len(mesh.points)} points"
            )
    path = Path(path)
    names = sorted(mesh.sides)
    cells: list[Any] = [(mesh.cell_type, mesh.cells), *[("line", mesh.sides[n]) for n in names]]
    tags: list[Any] = [np.zeros(len(mesh.cells), int)]
    tags += [np.full(len(mesh.sides[n]), i + 1) for i, n in enumerate(names)]
    record = meshio.Mesh(
        np.pad(mesh.points, ((0, 0), (0, 1))),
        cells,
        point_data={name: np.asarray(values) for name, values in fields.items()},
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={name: np.array([i + 1, 1]) for i, name in enumerate(names)},
    )
    scratch = path.with_name(f".{path.stem}.part{path.suffix}")
    options = {"file_format": "gmsh22", "binary": True} if path.suffix == ".msh" else {}
    try:
        meshio.write(scratch, record, **options)
        os.replace(scratch, path)
    except (meshio.WriteError, meshio.ReadError) as error:
        raise ValueError(f"path: {path.name} cannot be written: {error}") from error
    finally:
        scratch.unlink(missing_ok=True)


def read_mesh(path: str | Path) -> Mesh:
    """Mesh from a file; see `Mesh.read`.

    Parameters
    ----------
    path : path
        In a format that meshio knows by its extension.

    Returns
    -------
    Mesh

    Raises
    ------
    ValueError
        If the file is not readable, not plane, or holds neither triangles nor quadrilaterals.
    """
    import meshio

    path = Path(path)
    if not path.is_file():
        raise ValueError(f"path: there is no file {path}")
    try:
        record = meshio.read(path)
    except (meshio.ReadError, SystemExit, KeyError, IndexError, ValueError) as error:
        raise ValueError(f"path: {path.name} is not a readable mesh: {error}") from error
    blocks = [(_KIN.get(block.type, block.type), block.data) for block in record.cells]
    kinds = {kind for kind, _ in blocks if kind in CORNERS}
    if len(kinds) != 1:
        raise ValueError(
            f"path: {path.name} holds {sorted(kinds)}, wanted triangles or quads alone"
        )
    (kind,) = kinds
    cells = np.vstack([data[:, : CORNERS[kind]] for name, data in blocks if name == kind])
    points = np.asarray(record.points, float)
    if points.shape[1] > 2 and np.ptp(points[:, 2]) > 0.0:
        raise ValueError(f"path: {path.name} is not plane; meshes of space are not supported")
    used, inverse = np.unique(cells, return_inverse=True)
    renumbered = np.full(len(points), -1)
    renumbered[used] = np.arange(len(used))
    sides = {name: renumbered[edges] for name, edges in _sides(record, blocks, cells).items()}
    return Mesh(
        points=points[used, :2],
        cells=inverse.reshape(cells.shape),
        sides=sides,
        cell_type=kind,  # type: ignore[arg-type]
    )


def _sides(record: Any, blocks: list[Any], cells: np.ndarray) -> dict[str, np.ndarray]:
    """Edges by name of their physical group; all edges of one cell where there are no lines."""
    names = {int(v[0]): name for name, v in record.field_data.items() if int(v[1]) == 1}
    tags = record.cell_data.get("gmsh:physical", [np.zeros(len(d), int) for _, d in blocks])
    found: dict[str, list[np.ndarray]] = {}
    for (kind, data), group in zip(blocks, tags, strict=True):
        if kind != "line":
            continue
        for tag in np.unique(group):
            name = names.get(int(tag), f"side {int(tag)}" if tag else "boundary")
            found.setdefault(name, []).append(data[group == tag][:, :2])
    if found:
        return {name: np.vstack(parts) for name, parts in found.items()}
    edges = np.vstack([np.stack([cells[:, i], np.roll(cells, -1, 1)[:, i]], 1)
                       for i in range(cells.shape[1])])  # fmt: skip
    _, first, counts = np.unique(
        np.sort(edges, axis=1), axis=0, return_index=True, return_counts=True
    )
    return {"boundary": edges[first[counts == 1]]}
