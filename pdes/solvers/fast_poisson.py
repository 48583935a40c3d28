"""Poisson's equation on equal cells or nodes, solved directly, for arrays of any namespace.

The second difference of each axis has known eigenvectors, so that the discrete equations are solved
to rounding. Numpy arrays go through the fast transforms of scipy. Arrays of other namespaces
(torch, on any device) go through products with the dense matrices of the eigenvectors, which beat
fast transforms up to some hundred points, or, on longer axes, through the namespace's own Fourier
transform of the field continued by reflection; both are differentiable and run in a batch.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Literal

import array_api_compat.numpy as xnp
import numpy as np
from array_api_compat import array_namespace, is_numpy_namespace
from array_api_compat import device as device_of

from pdes.solvers.box_transforms import (
    Kind,
    Place,
    axis_eigenvalues,
    axis_matrices,
    axis_transforms,
    end_kinds,
)
from pdes.tokens import closest

__all__ = ["LARGEST_MATRIX", "METHODS", "FastPoisson", "fast_poisson"]

Array = Any
Method = Literal["auto", "transforms", "matrices", "fourier"]

METHODS = ("auto", "transforms", "matrices", "fourier")
LARGEST_MATRIX = 512
"""Points of an axis up to which dense matrices are used."""


class FastPoisson:
    """Solves ``lap p - shift p = source`` between homogeneous sides, with everything prepared.

    Parameters
    ----------
    shape : tuple of int
        Unknowns along each axis, one to three axes.
    spacings : tuple of float
        Their distances.
    kinds : tuple of str or of pairs of str
        For each axis ``"periodic"``, ``"neumann"`` (zero normal derivative), ``"dirichlet"`` (zero
        value), or a pair of the last two for its low and high end.
    at : {"centers", "nodes"}
        Unknowns at the centers of cells, whose sides are half a spacing away, or at nodes: Neumann
        sides run through the outermost node, Dirichlet sides one spacing beyond it.
    shift : float, default 0
        Not negative.
    method : {"auto", "transforms", "matrices", "fourier"}
        "transforms" for numpy alone; "auto" takes them for numpy, and matrices or, beyond
        `LARGEST_MATRIX` points, reflections and Fourier transforms for other namespaces.
    xp : module, optional
        Namespace of the arrays, numpy by default.
    dtype : dtype, optional
        Of the arrays, real; double precision by default.
    device : object, optional
        Of the arrays.

    Attributes
    ----------
    singular : bool
        A constant can be added to the solution: its mean is set to zero, and that of the source,
        which no such field has, is ignored. (At nodes means are weighted, half at the ends.)

    Raises
    ------
    ValueError
        If a kind, a place or a method is unknown, or numbers are out of range.

    Examples
    --------
    >>> solver = FastPoisson((8, 4), (0.5, 1.0), ("neumann", "periodic"))
    >>> d = np.zeros((8, 4))
    >>> d[0, 0], d[-1, 0] = 1.0, -1.0
    >>> p = solver(d)
    >>> bool(abs((p[1, 0] - p[0, 0]) / 0.25 + p[0, 1] + p[0, 3] - 2 * p[0, 0] - 1.0) < 1e-14)
    True
    """

    def __init__(
        self,
        shape: Sequence[int],
        spacings: Sequence[float],
        kinds: Sequence[Kind],
        *,
        at: Place = "centers",
        shift: float = 0.0,
        method: Method = "auto",
        xp: Any = None,
        dtype: Any = None,
        device: Any = None,
    ) -> None:
        xp = xnp if xp is None else xp
        self.shape = tuple(int(n) for n in shape)
        self.spacings = tuple(float(h) for h in spacings)
        _check(self.shape, self.spacings, kinds, at, shift, method)
        self.kinds = tuple(end_kinds(kind) for kind in kinds)
        self.at: Place = at
        self.shift, self._xp = float(shift), xp
        self.singular = shift == 0.0 and not any("dirichlet" in ends for ends in self.kinds)
        self.method = _chosen(method, self.shape, xp)
        dtype = xp.float64 if dtype is None else dtype
        if not xp.isdtype(dtype, "real floating"):
            raise ValueError(f"dtype={dtype}: wanted a real floating-point type")
        self._inverse = xp.asarray(self._inverted(), dtype=dtype, device=device)
        places = range(-len(self.shape), 0)
        self._axes = list(zip(self.kinds, self.shape, places, strict=True))
        if self.method == "transforms":
            self._transforms = [axis_transforms(kind, at) for kind in self.kinds]
        elif self.method == "matrices":
            self._matrices = [
                tuple(xp.asarray(m, dtype=dtype, device=device) for m in axis_matrices(kind, n, at))
                for kind, n in zip(self.kinds, self.shape, strict=True)
            ]

    def __call__(self, source: Array) -> Array:
        """Solution of shape ``(*batch, *shape)`` for a source of that shape."""
        dimension = len(self.shape)
        if tuple(source.shape[-dimension:]) != self.shape:
            raise ValueError(
                f"source: got shape {tuple(source.shape)}, wanted (*batch, "
                f"{', '.join(map(str, self.shape))})"
            )
        if self.method == "fourier":
            return self._by_fourier(source)
        if self.method == "transforms":
            for (to, _), (_, _, place) in zip(self._transforms, self._axes, strict=True):
                source = to(source, place)
            source = source * self._inverse
            for (_, back), (_, _, place) in zip(self._transforms, self._axes, strict=True):
                source = back(source, place)
            return source
        for (to, _), (_, _, place) in zip(self._matrices, self._axes, strict=True):
            source = _along(to, source, place, self._xp)
        source = source * self._inverse
        for (_, back), (_, _, place) in zip(self._matrices, self._axes, strict=True):
            source = _along(back, source, place, self._xp)
        return source

    def _by_fourier(self, source: Array) -> Array:
        """Continue by reflection to a periodic field, solve there, and cut out the start."""
        xp, starts = self._xp, []
        for ends, count, place in self._axes:
            source, start = _continued(source, ends, self.at, place, xp)
            starts.append(slice(start, start + count))
        axes = [place for _, _, place in self._axes]
        whole = tuple(source.shape[place] for place in axes)
        found = xp.fft.irfftn(xp.fft.rfftn(source, axes=axes) * self._inverse, s=whole, axes=axes)
        return found[(..., *starts)]

    def _inverted(self) -> np.ndarray:
        """One over the eigenvalues, zero for a constant that is free."""
        counts, kinds, at = self.shape, self.kinds, self.at
        if self.method == "fourier":
            probe = [
                _continued(np.zeros(n), ends, at, -1, np)[0].size
                for ends, n in zip(kinds, counts, strict=True)
            ]
            counts, kinds = tuple(probe), (("periodic", "periodic"),) * len(probe)
        total = np.asarray(-self.shift)
        for place, (ends, n, h) in enumerate(zip(kinds, counts, self.spacings, strict=True)):
            values = axis_eigenvalues(ends, n, at) / h**2
            if self.method == "fourier" and place == len(counts) - 1:
                values = values[: n // 2 + 1]
            total = total - values.reshape([-1 if i == place else 1 for i in range(len(counts))])
        scale = float(np.max(np.abs(total)))
        return np.divide(1.0, total, out=np.zeros(total.shape), where=np.abs(total) > 1e-13 * scale)


def fast_poisson(
    source: Array,
    spacings: Sequence[float],
    kinds: Sequence[Kind],
    *,
    at: Place = "centers",
    shift: float = 0.0,
    method: Method = "auto",
) -> Array:
    """Solve ``lap p - shift p = source`` between homogeneous sides, to rounding.

    Transforms are prepared once for each shape, type and device, and kept.

    Parameters
    ----------
    source : array, shape (*batch, n_1, ..., n_d)
        Of any namespace of the array API, real floating point. `d` is the number of `spacings`,
        one to three.
    spacings : sequence of float
        Distance of the unknowns along each axis.
    kinds : sequence of str or of pairs of str
        For each axis ``"periodic"``, ``"neumann"``, ``"dirichlet"``, or a pair of the last two.
    at : {"centers", "nodes"}
        Where the unknowns sit; see `FastPoisson`.
    shift : float, default 0
        Not negative.
    method : {"auto", "transforms", "matrices", "fourier"}
        See `FastPoisson`.

    Returns
    -------
    array, shape (*batch, n_1, ..., n_d)
        Of the namespace, type and device of the source, differentiable where the namespace is.
        With neither a Dirichlet side nor a shift its mean is zero, and that of the source ignored.

    Raises
    ------
    ValueError
        If an argument does not fit.

    References
    ----------
    B. L. Buzbee, G. H. Golub and C. W. Nielson, SIAM J. Numer. Anal. 7 (1970) 627.

    Examples
    --------
    >>> h = 1.0 / 64
    >>> x = (np.arange(64) + 0.5) * h
    >>> p = fast_poisson(-(np.pi**2) * np.cos(np.pi * x), [h], ["neumann"])
    >>> bool(np.abs(p - np.cos(np.pi * x)).max() < 3e-4)
    True
    """
    dimension = len(spacings)
    xp = array_namespace(source)
    if source.ndim < dimension or not 1 <= dimension <= 3:
        raise ValueError(
            f"spacings: got {dimension} for a source of shape {tuple(source.shape)}, wanted one "
            "to three, one for each of its last axes"
        )
    if not xp.isdtype(source.dtype, "real floating"):
        raise ValueError(f"source: got dtype {source.dtype}, wanted real floating point; convert")
    plan = _plan(
        tuple(source.shape[-dimension:]),
        tuple(float(h) for h in spacings),
        tuple(kind if isinstance(kind, str) else tuple(kind) for kind in kinds),
        at,
        float(shift),
        method,
        xp,
        source.dtype,
        device_of(source),
    )
    return plan(source)


@functools.lru_cache(maxsize=32)
def _plan(
    shape: Any,
    spacings: Any,
    kinds: Any,
    at: Place,
    shift: float,
    method: Method,
    xp: Any,
    dtype: Any,
    device: Any,
) -> FastPoisson:
    return FastPoisson(
        shape, spacings, kinds, at=at, shift=shift, method=method, xp=xp, dtype=dtype, device=device
    )


def _check(
    shape: tuple[int, ...],
    spacings: tuple[float, ...],
    kinds: Sequence[Kind],
    at: str,
    shift: float,
    method: str,
) -> None:
    if not len(shape) == len(spacings) == len(kinds) or not 1 <= len(shape) <= 3:
        raise ValueError(
            f"got {len(shape)} axes, {len(spacings)} spacings and {len(kinds)} kinds, wanted one "
            "of each for one to three axes"
        )
    if not all(math.isfinite(h) and h > 0.0 for h in spacings):
        raise ValueError(f"spacings={spacings}, wanted positive numbers")
    if min(shape) < 2:
        raise ValueError(f"shape={shape}, wanted 2 or more unknowns along every axis")
    if at not in ("centers", "nodes"):
        raise ValueError(f"at={at!r}, wanted 'centers' or 'nodes'")
    if not (math.isfinite(shift) and shift >= 0.0):
        raise ValueError(f"shift={shift!r}, wanted a number that is not negative")
    if method not in METHODS:
        raise ValueError(
            f"method={method!r}, wanted one of {METHODS}.{closest(str(method), METHODS)}"
        )


def _chosen(method: str, shape: tuple[int, ...], xp: Any) -> str:
    if method == "transforms" and not is_numpy_namespace(xp):
        raise ValueError("method='transforms' is for numpy arrays; use 'matrices' or 'fourier'")
    if method != "auto":
        return method
    if is_numpy_namespace(xp):
        return "transforms"
    return "matrices" if max(shape) <= LARGEST_MATRIX else "fourier"


def _along(matrix: Array, values: Array, place: int, xp: Any) -> Array:
    """Product of a matrix with an array along one of its last axes, counted from the end."""
    if place == -1:
        return values @ matrix.T
    if place == -2:
        return matrix @ values
    return xp.moveaxis(matrix @ xp.moveaxis(values, place, -2), -2, place)


def _continued(
    values: Array, ends: tuple[str, str], at: str, place: int, xp: Any
) -> tuple[Array, int]:
    """Periodic continuation along one axis by reflection at its ends, and where it starts."""
    if ends[0] == "periodic":
        return values, 0

    def cut(start: int, stop: int | None) -> Array:
        return values[(..., slice(start, stop), *[slice(None)] * (-place - 1))]

    def back(start: int, stop: int | None) -> Array:
        return xp.flip(cut(start, stop), axis=place)

    zero, start = 0.0 * cut(0, 1), 0
    if at == "centers":
        high = 1.0 if ends[1] == "neumann" else -1.0
        parts = [values, high * back(0, None)]
    elif ends == ("neumann", "neumann"):
        # A Neumann node is its own image; a Dirichlet node is a zero that is not among the values.
        parts = [values, back(1, -1)]
    elif ends == ("neumann", "dirichlet"):
        parts = [values, zero, -back(1, None)]
    elif ends == ("dirichlet", "neumann"):
        parts, start = [zero, values, back(0, -1)], 1
    else:
        parts, start = [zero, values, zero, -back(0, None)], 1
    if ends[0] != ends[1]:
        # Reflected at one end of each kind, the field has changed its sign.
        parts = [*parts, *[-part for part in parts]]
    return xp.concat(parts, axis=place), start
