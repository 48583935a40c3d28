"""Weak form of candidate terms on one recording.

Every term is integrated against all test functions at once: per axis a small dense matrix holds the
test functions' derivatives, so a feature costs two or three matrix products and no convolution.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import correlate1d
from scipy.signal import savgol_coeffs

from sciml.discovery.backend import Backend
from sciml.discovery.noise import wick_power
from sciml.discovery.placement import MAX_ROWS, place_windows
from sciml.discovery.recording import Recording
from sciml.discovery.terms import Atom, Feature

PASSBAND = 4.0
"""Corner of the derivative filters, relative to the corner wavenumber of the data."""

Orders = tuple[int, ...]
Groups = dict[tuple[Orders, int], Any]
"""Response to noise at each grid point, by orders of the test function in space and in time."""


class WeakForm:
    """Features, left-hand sides and their response to noise, on one recording.

    Parameters
    ----------
    recording : Recording
        The data.
    features : tuple of Feature
        The library.
    half_widths : sequence of int, optional
        Half-width of the windows along each axis, time last; chosen from the spectrum by default.
    max_rows : int
        Most windows; their centers move apart until that many are left.
    noise : dict of str to float, optional
        Standard deviation of the noise of each field; the recording's estimate by default.
    backend : Backend, optional
        Where products over the grid are computed; numpy by default.
    time_order : {1, 2}
        Order of the time derivative on the left-hand side.

    Attributes
    ----------
    windows : tuple of AxisWindows
        Windows along the space axes, then time.
    """

    def __init__(
        self,
        recording: Recording,
        features: tuple[Feature, ...],
        half_widths: Sequence[int] | None = None,
        max_rows: int = MAX_ROWS,
        noise: dict[str, float] | None = None,
        backend: Backend | None = None,
        time_order: int = 1,
    ) -> None:
        self.recording = recording
        self.features = features
        self.noise = dict(recording.noise) if noise is None else noise
        self.time_order = time_order
        self.windows = place_windows(recording, features, half_widths, max_rows, time_order)
        self.backend = Backend() if backend is None else backend
        self._matrices: dict[int, Any] = {}
        self._fields: dict[str, Any] = {}
        self._values: dict[Atom, Any] = {}
        self._kernels: dict[Atom, tuple[NDArray | None, ...]] = {}

    # ---- rows -----------------------------------------------------------------------------

    @cached_property
    def kept(self) -> NDArray | None:
        """Mask of the windows that touch no missing value, or None if all are kept."""
        mask = self.recording.missing
        if mask is None:
            return None
        if any(feature.differentiated for feature in self.features):
            reach = np.ones((2 * 10 + 1,) * mask.ndim, dtype=bool)
            from scipy.ndimage import binary_dilation

            mask = binary_dilation(mask, structure=reach)
        touched: Any = mask
        for axis, windows in enumerate(self.windows):
            touched = windows.touched(touched, axis)
        return np.logical_not(touched.reshape(-1))

    @property
    def n_windows(self) -> tuple[int, ...]:
        """Windows along each axis."""
        return tuple(len(windows.centers) for windows in self.windows)

    @property
    def n_rows(self) -> int:
        """Number of rows that are used."""
        return prod(self.n_windows) if self.kept is None else int(self.kept.sum())

    def center_positions(self, axis: int) -> NDArray:
        """Position of each row's window along an axis, in grid points."""
        shape = [1] * len(self.windows)
        shape[axis] = -1
        centers = self.windows[axis].centers.reshape(shape)
        return self._rows(np.broadcast_to(centers, self.n_windows))

    def _rows(self, integrals: Any) -> NDArray:
        flat = self.backend.to_numpy(integrals).reshape(-1)
        return flat if self.kept is None else flat[self.kept]

    # ---- integrals --------------------------------------------------------------------------

    def matrices(self, axis: int) -> Any:
        """Window matrices of an axis, on the backend's device."""
        if axis not in self._matrices:
            self._matrices[axis] = self.backend.asarray(self.windows[axis].matrices)
        return self._matrices[axis]

    def field(self, name: str) -> Any:
        """A field, on the backend's device."""
        if name not in self._fields:
            self._fields[name] = self.backend.asarray(self.recording.fields[name])
        return self._fields[name]

    def _in_time(self, values: Any, order: int) -> Any:
        return values @ self.matrices(len(self.windows) - 1)[order].T

    def _in_space(self, values: Any, orders: Orders) -> Any:
        xp = self.backend.xp
        for axis, order in enumerate(orders):
            matrix = self.matrices(axis)[order]
            if axis == 0:
                shape = values.shape
                values = (matrix @ values.reshape(shape[0], -1)).reshape(len(matrix), *shape[1:])
            else:
                values = xp.moveaxis(xp.tensordot(matrix, values, axes=((1,), (axis,))), 0, axis)
        return values

    def left_side(self, field: str) -> NDArray:
        """Weak time derivative of a field, of the order of the equation; one value per row."""
        values = self._in_time(self.field(field), self.time_order)
        return self._rows(self._in_space(values, (0,) * (len(self.windows) - 1)))

    def matrix(self) -> NDArray:
        """Weak form of every feature, shape (rows, features)."""
        out = np.empty((self.n_rows, len(self.features)))
        contracted: dict[Any, Any] = {}
        for column, feature in enumerate(self.features):
            total = 0.0
            for orders, weight, weight_key in self._pieces(feature):
                key = (feature.factors, weight_key)
                if key not in contracted:
                    product = self._product(feature.factors)
                    if weight is not None:
                        product = product * weight
                    contracted[key] = self._in_time(product, 0)
                total = total + self._in_space(contracted[key], orders)
            out[:, column] = self._rows(total)
        return out

    def _pieces(self, feature: Feature) -> Iterator[tuple[Orders, Any, str]]:
        """Test function orders and pointwise weights that make up a feature.

        A coordinate factor ``g`` stays with the test function:
        ``int psi g d^k F = sum_j C(k, j) (-1)^j int psi^(k-j) g^(j) F`` up to the sign that the
        window matrices carry.
        """
        if feature.weight == "1":
            yield feature.outer, None, "1"
            return
        import sympy

        symbols, expression = _parse_weight(feature)
        grids = np.meshgrid(*self.recording.coordinates.values(), indexing="ij", sparse=True)
        for shares in itertools.product(*(range(k + 1) for k in feature.outer)):
            derivative = expression
            factor = 1.0
            for axis, share in enumerate(shares):
                derivative = sympy.diff(derivative, symbols[axis], share)
                factor *= comb(feature.outer[axis], share) * (-1.0) ** share
            if derivative == 0:
                continue
            values = sympy.lambdify(symbols, derivative, "numpy")(*grids)
            weight = np.broadcast_to(np.asarray(factor * values, float), self.recording.shape)
            if not np.isfinite(weight).all():
                raise ValueError(
                    f"the factor {feature.weight!r} of the term {feature.name!r} is not finite "
                    "everywhere on the grid: shift the coordinate or cut the recording"
                )
            orders = tuple(k - j for k, j in zip(feature.outer, shares, strict=True))
            yield orders, self.backend.asarray(weight), f"{feature.weight}|{shares}"

    # ---- pointwise values -------------------------------------------------------------------

    def value(self, atom: Atom) -> Any:
        """A field, or its derivative by Savitzky-Golay filters (degree 6 in space, 4 in time)."""
        if atom not in self._values:
            name, orders = atom
            if not any(orders):
                return self.field(name)
            values = self.recording.fields[name]
            for axis, kernel in enumerate(self._kernel(atom)):
                if kernel is not None:
                    wraps = axis < len(orders) and self.recording.periodic[axis]
                    mode = "wrap" if wraps else "nearest"
                    values = correlate1d(values, kernel, axis=axis, mode=mode)
            self._values[atom] = self.backend.asarray(values)
        return self._values[atom]

    def _kernel(self, atom: Atom) -> tuple[NDArray | None, ...]:
        """Filter along each axis; None leaves the axis alone."""
        if atom not in self._kernels:
            _, orders = atom
            kernels: list[NDArray | None] = [None] * len(self.windows)
            if any(orders):
                for axis, order in enumerate(orders):
                    if order:
                        kernels[axis] = self._savgol(axis, order, degree=6)
                kernels[-1] = self._savgol(len(orders), 0, degree=4)
            self._kernels[atom] = tuple(kernels)
        return self._kernels[atom]

    def _savgol(self, axis: int, order: int, degree: int) -> NDArray:
        windows = self.windows[axis]
        half = filter_half_width(windows.corner_fraction, degree)
        half = min(half, (windows.points - 1) // 2)
        degree = min(degree, 2 * half)
        return savgol_coeffs(2 * half + 1, degree, deriv=order, delta=windows.spacing, use="dot")

    def error_covariance(self, first: Atom, second: Atom) -> float:
        """Covariance of the errors of two pointwise values at the same grid point."""
        if first[0] != second[0]:
            return 0.0
        total = self.noise[first[0]] ** 2
        for one, other in zip(self._kernel(first), self._kernel(second), strict=True):
            if one is None and other is None:
                continue
            if one is None or other is None:
                lone = np.asarray(one if one is not None else other)
                total *= float(lone[len(lone) // 2])
                continue
            short, long = sorted((one, other), key=len)
            offset = (len(long) - len(short)) // 2
            total *= float(short @ long[offset : offset + len(short)])
        return total

    def _product(self, factors: tuple[tuple[Atom, int], ...]) -> Any:
        values = {atom: self.value(atom) for atom, _ in factors}
        if not factors:
            return self.backend.asarray(np.ones(self.recording.shape))
        return wick_power(factors, values, self.error_covariance)

    # ---- response to noise --------------------------------------------------------------------

    def response(self, column: int, field: str) -> Groups:
        """First-order response of a feature to noise on one field."""
        feature = self.features[column]
        groups: Groups = {}
        for position, (atom, power) in enumerate(feature.factors):
            if atom[0] != field:
                continue
            kept = ((atom, power - 1),) if power > 1 else ()
            lowered = (*feature.factors[:position], *kept, *feature.factors[position + 1 :])
            slope: Any = float(power)
            if lowered:
                slope = power * self._product(lowered)
            for orders, weight, _ in self._pieces(feature):
                sloped = slope if weight is None else slope * weight
                self._through_derivative(groups, orders, atom[1], sloped)
        return groups

    def _through_derivative(
        self, groups: Groups, orders: Orders, inner: Orders, slope: Any
    ) -> None:
        """Add ``int psi^(k) h d^a e``, integrated by parts so that it acts on ``e`` itself."""
        for shares in itertools.product(*(range(k + 1) for k in inner)):
            values: Any = slope
            factor = 1.0
            for axis, share in enumerate(shares):
                factor *= comb(inner[axis], share) * (-1.0) ** share
                if share:
                    if isinstance(values, float):
                        factor = 0.0
                        break
                    mode = "wrap" if self.recording.periodic[axis] else "nearest"
                    kernel = self._savgol(axis, share, degree=6)
                    host = self.backend.to_numpy(values)
                    values = self.backend.asarray(correlate1d(host, kernel, axis=axis, mode=mode))
            if factor == 0.0:
                continue
            total = tuple(k + a - s for k, a, s in zip(orders, inner, shares, strict=True))
            add_group(groups, (total, 0), values * factor)

    def left_response(self) -> Groups:
        """Response of the left-hand side to noise on its own field."""
        return {((0,) * (len(self.windows) - 1), self.time_order): 1.0}


def filter_half_width(corner: float, degree: int) -> int:
    """Half-width of a Savitzky-Golay filter that passes what the windows resolve.

    The filter's corner lies near ``(degree + 1) / (3.2 m - 4.6)`` of the Nyquist wavenumber
    (Schafer, IEEE Signal Process. Mag. 28 (2011) 111-117); it is put at a multiple of the data's.

    Parameters
    ----------
    corner : float
        Corner wavenumber of the data relative to the Nyquist wavenumber.
    degree : int
        Degree of the filter's polynomial.

    Returns
    -------
    int
        Between ``degree / 2 + 1`` and 10.

    Examples
    --------
    >>> filter_half_width(0.2, 6), filter_half_width(0.02, 6)
    (4, 10)
    """
    wanted = ((degree + 1) / (PASSBAND * corner) + 4.6) / 3.2
    return int(min(max(round(wanted), degree // 2 + 1), 10))


def add_group(groups: Groups, key: tuple[Orders, int], values: Any) -> None:
    """Add to one group of a response."""
    groups[key] = groups[key] + values if key in groups else values


def _parse_weight(feature: Feature) -> tuple[list[Any], Any]:
    """Symbols of the axes, time last, and the coordinate factor in them."""
    import sympy

    from pdes import Equation

    equation = Equation.from_text(
        f"u_t = {feature.weight}", name="weight", coordinates=feature.coordinates
    )
    symbols = [sympy.Symbol(name, real=True) for name in (*feature.coordinates, "t")]
    return symbols, equation.rhs["u"]
