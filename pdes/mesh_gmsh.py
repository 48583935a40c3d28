"""Meshes made by Gmsh, which is an optional extra: ``pip install 'sciml-pdes[gmsh]'``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pdes.mesh import Mesh

__all__ = ["GmshRecipe"]


@dataclass(frozen=True)
class GmshRecipe:
    """Recipe of a plane mesh of triangles from a geometry described to Gmsh.

    Parameters
    ----------
    build : callable
        Function ``(model, size) -> None`` that adds geometry to a fresh ``gmsh.model`` with edges
        of about `size`, and a physical group of dimension 1, with a name, for every side.
    mapping : callable, optional
        Moves middles of edges onto curved sides, see `Mesh`.

    Raises
    ------
    ImportError
        On use, if Gmsh is not installed.

    Examples
    --------
    >>> def disk(model, size):
    ...     model.occ.addDisk(0, 0, 0, 1, 1, tag=1)
    ...     model.occ.synchronize()
    ...     model.addPhysicalGroup(1, [1], name="rim")
    >>> recipe = GmshRecipe(disk)
    >>> recipe(8).sides.keys()  # doctest: +SKIP
    dict_keys(['rim'])
    """

    build: Callable[[Any, float], None]
    mapping: Callable[[np.ndarray], np.ndarray] | None = None

    def __call__(self, resolution: int) -> Mesh:
        """Mesh with edges of about ``1/resolution``."""
        try:
            import gmsh
        except (ImportError, OSError) as error:
            raise ImportError(
                f"Gmsh is needed for this mesh and cannot be loaded ({error}): "
                "pip install 'sciml-pdes[gmsh]'"
            ) from error
        size = 1.0 / resolution
        # Gmsh keeps one state for the process: leave it as it was found.
        began = not gmsh.isInitialized()
        if began:
            gmsh.initialize(interruptible=False)
        try:
            gmsh.option.setNumber("General.Terminal", 0)
            gmsh.option.setNumber("Mesh.MeshSizeMin", size / 20.0)
            gmsh.option.setNumber("Mesh.MeshSizeMax", size)
            gmsh.model.add("pdes")
            self.build(gmsh.model, size)
            gmsh.model.mesh.generate(2)
            points, cells, sides = _taken(gmsh.model)
        finally:
            gmsh.model.remove()
            if began:
                gmsh.finalize()
        return Mesh(
            points=points,
            cells=cells,
            sides=sides,
            mapping=self.mapping,
            reference=points if self.mapping else None,
        )


def _taken(model: Any) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Points, triangles and sides of the present model, numbered from 0."""
    tags, flat, _ = model.mesh.getNodes()
    _, _, nodes = model.mesh.getElements(2)
    kinds = model.mesh.getElementTypes(2)
    if list(kinds) != [2]:
        raise ValueError(f"build: Gmsh made elements of kinds {list(kinds)}, wanted triangles (2)")
    triangles = np.asarray(nodes[0]).reshape(-1, 3)
    used = np.unique(triangles)
    position = np.full(int(max(tags)) + 1, -1)
    position[used.astype(int)] = np.arange(len(used))
    place = {int(tag): i for i, tag in enumerate(tags)}
    points = np.asarray(flat).reshape(-1, 3)[[place[int(tag)] for tag in used], :2]
    sides = {}
    for dimension, group in model.getPhysicalGroups(1):
        lines = []
        for entity in model.getEntitiesForPhysicalGroup(dimension, group):
            _, _, ends = model.mesh.getElements(1, entity)
            lines += [np.asarray(part).reshape(-1, 2) for part in ends]
        name = model.getPhysicalName(dimension, group) or f"side {group}"
        sides[name] = position[np.vstack(lines).astype(int)]
    if not sides:
        raise ValueError("build: no physical group of edges; add one with a name for every side")
    return points, position[triangles.astype(int)], sides
