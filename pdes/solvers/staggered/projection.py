"""Velocities on the faces of cells, made free of divergence exactly, in one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from array_api_compat import array_namespace

from pdes.solvers.box_transforms import Kind, end_kinds
from pdes.solvers.fast_poisson import fast_poisson
from pdes.solvers.staggered.layers import difference, layer

__all__ = ["face_divergence", "pressure_gradient", "project_faces"]

Array = Any


def face_divergence(faces: Sequence[Array], spacings: Sequence[float]) -> Array:
    """Net outflow of each cell over its size.

    Parameters
    ----------
    faces : sequence of array
        Normal velocities on the faces across each axis, both ends included: along its own axis a
        component has one entry more than there are cells.
    spacings : sequence of float
        Size of the cells along each axis.

    Returns
    -------
    array, shape (*batch, *cells)

    Examples
    --------
    >>> import numpy as np
    >>> face_divergence([np.array([0.0, 1.0, 4.0])], [0.5])
    array([2., 6.])
    """
    dimension = len(faces)
    found = [
        difference(component, h, place - dimension)
        for place, (component, h) in enumerate(zip(faces, spacings, strict=True))
    ]
    total = found[0]
    for part in found[1:]:
        total = total + part
    return total


def pressure_gradient(
    pressure: Array, spacings: Sequence[float], kinds: Sequence[Kind], xp: Any
) -> tuple[Array, ...]:
    """Gradient on the faces of a field at the centers of cells.

    Parameters
    ----------
    pressure : array, shape (*batch, *cells)
        At the centers.
    spacings : sequence of float
        Size of the cells along each axis.
    kinds : sequence of str or of pairs of str
        Zero gradient on ``"neumann"`` sides, zero value on ``"dirichlet"`` sides.
    xp : module
        Namespace.

    Returns
    -------
    tuple of array
        One component for each axis, both ends included.

    Examples
    --------
    >>> import numpy as np
    >>> pressure_gradient(np.array([1.0, 3.0]), [1.0], [("neumann", "dirichlet")], np)
    (array([ 0.,  2., -6.]),)
    """
    found = []
    for place, (kind, h) in enumerate(zip(kinds, spacings, strict=True)):
        axis, ghosts = place - len(kinds), []
        for end, own, opposite in zip(end_kinds(kind), (0, -1), (-1, 0), strict=True):
            edge = layer(pressure, opposite if end == "periodic" else own, axis)
            ghosts.append(-edge if end == "dirichlet" else edge)
        full = xp.concat([ghosts[0], pressure, ghosts[1]], axis=axis)
        found.append(difference(full, h, axis))
    return tuple(found)


def project_faces(
    faces: Sequence[Array],
    spacings: Sequence[float],
    kinds: Sequence[Kind],
    *,
    solve: Callable[[Array], Array] | None = None,
) -> tuple[Array, ...]:
    """Nearest velocities without divergence: the projection of the marker-and-cell method.

    The part taken away is the gradient of a pressure, found by one direct solution: the divergence
    of every cell is then zero to rounding, and projecting again changes nothing.

    Parameters
    ----------
    faces : sequence of array
        Normal velocities on the faces across each axis, one to three axes, of any namespace: along
        its own axis a component has one entry more than there are cells. On a periodic axis the
        last layer repeats the first.
    spacings : sequence of float
        Size of the cells along each axis.
    kinds : sequence of str or of pairs of str
        For each axis ``"periodic"``, ``"neumann"`` (a wall or an inlet: the normal velocity is
        given, and kept), ``"dirichlet"`` (open: the pressure is zero), or a pair of the last two.
    solve : callable, optional
        Poisson's equation at the centers of the cells, such as a `FastPoisson`; `fast_poisson`
        without.

    Returns
    -------
    tuple of array
        Of the shapes of `faces`. Without an open side the given normal velocities must let in as
        much as out; what they do not is left as a divergence, the same in every cell.

    Raises
    ------
    ValueError
        If the shapes are not those of one set of cells.

    References
    ----------
    F. H. Harlow and J. E. Welch, Phys. Fluids 8 (1965) 2182; A. J. Chorin, Math. Comput. 22
    (1968) 745.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> faces = [rng.normal(size=(9, 8)), rng.normal(size=(8, 9))]
    >>> free = project_faces(faces, (0.1, 0.1), ("dirichlet", "dirichlet"))
    >>> bool(np.abs(face_divergence(free, (0.1, 0.1))).max() < 1e-12)
    True
    """
    _check(faces, spacings, kinds)
    divergence = face_divergence(faces, spacings)
    pressure = fast_poisson(divergence, spacings, kinds) if solve is None else solve(divergence)
    gradient = pressure_gradient(pressure, spacings, kinds, array_namespace(*faces))
    return tuple(face - slope for face, slope in zip(faces, gradient, strict=True))


def _check(faces: Sequence[Array], spacings: Sequence[float], kinds: Sequence[Kind]) -> None:
    dimension = len(faces)
    if not len(spacings) == len(kinds) == dimension or not 1 <= dimension <= 3:
        raise ValueError(
            f"faces: got {dimension} components, {len(spacings)} spacings and {len(kinds)} kinds, "
            "wanted one of each for one to three axes"
        )
    cells = set()
    for place, component in enumerate(faces):
        shape = list(component.shape)
        if len(shape) < dimension:
            raise ValueError(
                f"faces[{place}]: got shape {tuple(shape)}, wanted (*batch, *faces) with "
                f"{dimension} axes of space"
            )
        shape[place - dimension] -= 1
        cells.add(tuple(shape))
    if len(cells) > 1:
        raise ValueError(
            f"faces: got shapes {[tuple(f.shape) for f in faces]}, which belong to cells of "
            f"{sorted(cells)}; wanted one entry more than cells along the own axis of each"
        )
