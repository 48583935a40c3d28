"""Fourier transforms and derivative multipliers on a periodic grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pdes.grid import Grid

Array = Any


class FourierBasis:
    """The Fourier modes of a periodic grid, for arrays of one namespace and precision.

    Parameters
    ----------
    grid : Grid
        Periodic axes with an even number of points, at least 8.
    xp : module
        Namespace of the array API.
    dtype : str
        ``"float32"`` or ``"float64"``.
    device : object, optional
        Device of the namespace.
    real : bool, default True
        Fields are real: half of the last axis' modes suffice.
    degree : int, default 1
        Most factors in a product of fields; sets the cutoff that keeps products free of aliases.

    Attributes
    ----------
    cutoffs : tuple of int
        Highest mode kept along each axis: ``(N - 1)//(degree + 1)``, or ``N//2`` for degree 1.
    modes : tuple of int
        Shape of the coefficients; the last of several axes ends at the cutoff for real fields.
    forward, inverse : callable
        Transforms over the last axes, unnormalized forward.

    Examples
    --------
    >>> import array_api_compat.numpy as xp
    >>> from pdes import Grid
    >>> FourierBasis(Grid.periodic(x=(0.0, 1.0, 96)), xp, "float64", degree=2).cutoffs
    (31,)
    """

    def __init__(
        self,
        grid: Grid,
        xp: Any,
        dtype: str,
        device: Any = None,
        *,
        real: bool = True,
        degree: int = 1,
    ) -> None:
        grid.require_spectral()
        if dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
        self.grid, self.xp, self.dtype, self.device, self.real = grid, xp, dtype, device, real
        self.dimension = len(grid.shape)
        self.cutoffs = tuple(n // 2 if degree <= 1 else (n - 1) // (degree + 1) for n in grid.shape)
        self._wavenumbers = list(grid.wavenumbers(np, real_last=real).values())
        self._numbers = [
            np.rint(k * length / (2.0 * np.pi))
            for k, length in zip(self._wavenumbers, grid.lengths, strict=True)
        ]
        if real and self.dimension > 1:
            # Modes above the cutoff would stay zero: a third of the arithmetic, and of the
            # transforms along the other axes, is saved by leaving those of the last axis out.
            # (With one axis there are no others, and filling up costs what is saved.)
            kept = self.cutoffs[-1] + 1
            self._wavenumbers[-1] = self._wavenumbers[-1][..., :kept]
            self._numbers[-1] = self._numbers[-1][..., :kept]
        self.modes = np.broadcast_shapes(*(numbers.shape for numbers in self._numbers))
        self.mask = np.ones(self.modes, dtype=bool)
        for numbers, cutoff in zip(self._numbers, self.cutoffs, strict=True):
            self.mask = self.mask & (np.abs(numbers) <= cutoff)
        self.forward, self.inverse = self._transforms()

    @property
    def mode_numbers(self) -> list[np.ndarray]:
        """Signed number of each mode along each axis, shaped to broadcast together."""
        return list(self._numbers)

    @property
    def field_axis(self) -> int:
        """Position of the axis of fields, just before the axes of space."""
        return -self.dimension - 1

    def pick(self, values: Array, position: int) -> Array:
        """One entry of the field axis."""
        return values[(..., position, *([slice(None)] * self.dimension))]

    @property
    def complex_dtype(self) -> Any:
        """Dtype of the coefficients."""
        return self.xp.complex64 if self.dtype == "float32" else self.xp.complex128

    def derivative(self, orders: tuple[int, ...]) -> np.ndarray:
        """Multiplier of a derivative: the product of ``(i k)^order``, real for even total order."""
        multiplier = np.ones(self.modes)
        axes = zip(self._wavenumbers, self._numbers, self.grid.shape, orders, strict=True)
        for k, numbers, points, order in axes:
            if order % 2:
                # The highest mode of an even grid has no sign, so its odd derivatives vanish.
                k = np.where(np.abs(numbers) == points // 2, 0.0, k)
            multiplier = multiplier * k**order
        return multiplier * (1.0, 1.0j, -1.0, -1.0j)[sum(orders) % 4]

    def wavenumber_powers(self, orders: tuple[int, ...]) -> np.ndarray:
        """Size of the derivative's multiplier on the kept modes, zero elsewhere."""
        return np.abs(self.derivative(orders)) * self.mask

    def asarray(self, values: Any) -> Array:
        """Real or complex array in the precision of the run; gradients are kept."""
        xp = self.xp
        if isinstance(values, np.ndarray | np.generic | float | complex | int):
            values = xp.asarray(np.asarray(values), device=self.device)
        complex_values = xp.isdtype(values.dtype, "complex floating")
        return xp.astype(values, self.complex_dtype if complex_values else getattr(xp, self.dtype))

    def multiplier(self, values: Any) -> Array:
        """Factors for coefficients, complex even where they are real.

        Numpy multiplies real by complex through a cast into a buffer, which costs several times
        the product itself.
        """
        if isinstance(values, np.ndarray):
            values = self.xp.asarray(values, device=self.device)
        return self.xp.astype(values, self.complex_dtype)

    def tail(self, spectrum: Array) -> Array:
        """Largest coefficient in the top tenth of the kept modes, over the largest of all.

        The maximum is over modes; leading axes stay.
        """
        xp = self.xp
        shell = np.zeros(self.modes, dtype=bool)
        for numbers, cutoff in zip(self._numbers, self.cutoffs, strict=True):
            shell = shell | (np.abs(numbers) > 0.9 * cutoff)
        size = xp.abs(spectrum)
        axes = tuple(range(-self.dimension, 0))
        peak = xp.max(size, axis=axes)
        top = xp.max(size * self.asarray((shell & self.mask).astype(float)), axis=axes)
        return top / (peak + float(np.finfo(self.dtype).tiny))

    def _transforms(self) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
        """Bind the transforms once: the arguments cost as much as a small transform."""
        fft, shape, axes = self.xp.fft, self.grid.shape, tuple(range(-self.dimension, 0))
        if not self.real:
            if self.dimension == 1:
                return fft.fft, fft.ifft
            return (
                lambda values: fft.fftn(values, axes=axes),
                lambda spectrum: fft.ifftn(spectrum, axes=axes),
            )
        last, others = shape[-1], axes[:-1]
        kept, half = self.modes[-1], last // 2 + 1

        def forward(values: Array) -> Array:
            spectrum = fft.rfft(values, axis=-1)
            spectrum = spectrum if kept == half else spectrum[..., :kept]
            for axis in others:
                spectrum = fft.fft(spectrum, axis=axis)
            return spectrum

        def inverse(spectrum: Array) -> Array:
            for axis in others:
                spectrum = fft.ifft(spectrum, axis=axis)
            if kept < half and isinstance(spectrum, np.ndarray):
                # The transform would fill up by itself, but numpy is slower at it.
                full = np.empty((*spectrum.shape[:-1], half), dtype=spectrum.dtype)
                full[..., :kept], full[..., kept:] = spectrum, 0.0
                spectrum = full
            return fft.irfft(spectrum, n=last, axis=-1)

        return forward, inverse
