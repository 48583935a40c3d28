"""Noise of a stated strength, to see what a method makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


def add_noise(data: xr.Dataset, level: float, seed: int = 0) -> xr.Dataset:
    """Return a recording with white Gaussian noise on every field.

    Parameters
    ----------
    data
        Recording; every data variable is a field.
    level
        Standard deviation of the noise over that of the field, taken over the whole recording:
        0.05 for "5 % noise". The real and the imaginary part of a complex field each get noise by
        their own standard deviation.
    seed
        Seed of the generator; the fields draw from it in their order.

    Returns
    -------
    xarray.Dataset
        A copy; dtypes, missing values and attributes stay.

    Raises
    ------
    ValueError
        If ``level`` is negative or not finite.

    Examples
    --------
    >>> import xarray as xr
    >>> field = xr.Dataset({"u": ("x", np.sin(np.linspace(0, 6, 4000)))})
    >>> difference = add_noise(field, 0.1).u - field.u
    >>> round(float(difference.std() / field.u.std()), 2)
    0.1
    """
    if not 0.0 <= level < np.inf:
        raise ValueError(
            f"level of the noise is {level}: it must be 0 or more, such as 0.05 for 5 %"
        )
    if level == 0.0:
        return data.copy()
    rng = np.random.default_rng(seed)
    noisy = {
        name: variable.copy(data=_noisy(variable.values, level, rng))
        for name, variable in data.data_vars.items()
    }
    return data.assign(noisy)


def _noisy(values: np.ndarray, level: float, rng: np.random.Generator) -> np.ndarray:
    if np.iscomplexobj(values):
        real, imaginary = np.real(values), np.imag(values)
        both = _noisy(real, level, rng) + 1j * _noisy(imaginary, level, rng)
        return both.astype(values.dtype)
    strength: Any = level * np.nanstd(values)
    kind = values.dtype if values.dtype.kind == "f" else np.float64
    return (values + strength * rng.normal(size=values.shape)).astype(kind)
