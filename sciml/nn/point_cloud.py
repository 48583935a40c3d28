"""Quadrature weights of scattered points without cells."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sciml.nn.axis_rules import QuadratureWarning
from sciml.nn.quadrature import Quadrature

__all__ = ["point_cloud_weights"]


def point_cloud_weights(
    points: Any,
    box: Any = None,
    *,
    neighbors: int = 8,
) -> Quadrature:
    """Weights of scattered points: the part of the domain that lies nearest to each.

    In one to three dimensions these are the Voronoi cells, cut off at a box. In more dimensions the
    weight goes by the distance of the k-th neighbor, which is rough, and a warning says so.

    Parameters
    ----------
    points : array, shape (n, d)
        Different points.
    box : pair of array, shape (d,), optional
        Lower and upper corner of the domain; by default the smallest box around the points.
    neighbors : int, default 8
        k, for more than three dimensions.

    Returns
    -------
    Quadrature
        Of shape (n,), with the positions of the points.

    Raises
    ------
    ValueError
        If points coincide, lie outside the box, or all on a line or plane.

    Examples
    --------
    >>> point_cloud_weights([[0.0], [1.0], [4.0]]).full()
    array([0.125, 0.5  , 0.375])
    """
    places = np.asarray(points, float)
    if places.ndim != 2 or len(places) < 2 or not np.all(np.isfinite(places)):
        raise ValueError(f"points: got shape {places.shape}, wanted finite (n >= 2, d)")
    low, high = (
        (places.min(0), places.max(0)) if box is None else (np.asarray(b, float) for b in box)
    )
    if low.shape != (places.shape[1],) or high.shape != low.shape or not np.all(low < high):
        raise ValueError(f"box: got {low} and {high}, wanted d lower and larger upper bounds")
    outside = np.flatnonzero(np.any((places < low) | (places > high), axis=1))
    if outside.size:
        raise ValueError(
            f"points: {outside.size} lie outside the box, the first is number {outside[0]}"
        )
    _refuse_twins(places)
    dimension = places.shape[1]
    if dimension == 1:
        order = np.argsort(places[:, 0])
        edges = places[order, 0]
        edges = np.concatenate([low, 0.5 * (edges[1:] + edges[:-1]), high])
        sizes = np.empty(len(places))
        sizes[order] = np.diff(edges)
        return Quadrature([sizes], positions=places)
    if dimension <= 3:
        return Quadrature([_voronoi(places, low, high)], positions=places)
    warnings.warn(
        f"points in {dimension} dimensions: weights from the distance of neighbor {neighbors} are "
        "rough; give cells if there are any",
        QuadratureWarning,
        stacklevel=2,
    )
    from scipy.spatial import KDTree

    k = min(neighbors, len(places) - 1)
    distance = KDTree(places).query(places, k=k + 1)[0][:, -1]
    return Quadrature([(distance / distance.max()) ** dimension], positions=places)


def _refuse_twins(places: np.ndarray) -> None:
    _, first, counts = np.unique(places, axis=0, return_index=True, return_counts=True)
    if np.any(counts > 1):
        where = np.sort(first[counts > 1])
        raise ValueError(
            f"points: {where.size} stand more than once, the first is number {where[0]}: keep each "
            "once"
        )


def _voronoi(places: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Volumes of Voronoi cells in the box, as intersections of half-spaces."""
    from scipy.spatial import ConvexHull, Delaunay, HalfspaceIntersection, QhullError

    center = 0.5 * (low + high)
    scaled, half = (places - center) / (high - low), 0.5
    stretch = (high - low) / np.max(high - low)
    dimension = places.shape[1]
    walls = np.vstack(
        [np.column_stack([s * np.eye(dimension), np.full(dimension, -half)]) for s in (1.0, -1.0)]
    )
    # Nearness counts in the coordinates as given: distances in scaled ones are stretched back.
    metric = stretch**2
    try:
        start, others = Delaunay(places).vertex_neighbor_vertices
    except QhullError as error:
        raise ValueError(
            "points: they lie on a line or plane, or are too few to have cells; give coordinates "
            "along it"
        ) from error
    sizes = np.empty(len(places))
    for i, place in enumerate(scaled):
        near = scaled[others[start[i] : start[i + 1]]]
        normals = (near - place) * metric
        offsets = -np.sum(normals * 0.5 * (near + place), axis=1)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        bounds = np.vstack([np.column_stack([normals, offsets]) / length, walls])
        # From a wall one has to step inside, by much less than to the nearest cell border.
        gap = np.min(-(bounds[: len(near), :-1] @ place + bounds[: len(near), -1]))
        inside = place - 1e-3 * min(float(gap), 1.0) * place
        corners = HalfspaceIntersection(bounds, inside).intersections
        sizes[i] = ConvexHull(corners).volume
    return sizes
