"""Many independent sums of powers as one batch, on NumPy or torch arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from sciml.powerlaw.arrays import namespace
from sciml.powerlaw.batch_arguments import check_batch, read_batch
from sciml.powerlaw.radial_sum import RadialSum
from sciml.powerlaw.rows import values
from sciml.powerlaw.samples import check_bounds
from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.starts import log_profile, pencil_start, stratified_starts
from sciml.powerlaw.structure import Structure
from sciml.powerlaw.varpro import variable_projection


@dataclass(frozen=True)
class PowerLawBatch:
    """Fits of many members.

    Attributes
    ----------
    exponents, coefficients : array, shape (batch, order)
        By ascending exponent.
    exponent_errors, coefficient_errors : array, shape (batch, order)
        Standard errors.
    relative_residual, converged : array, shape (batch,)
    """

    exponents: Any
    coefficients: Any
    exponent_errors: Any
    coefficient_errors: Any
    relative_residual: Any
    converged: Any

    def __len__(self) -> int:
        return self.exponents.shape[0]

    def __str__(self) -> str:
        rest = int(self.converged.sum())
        worst = float(self.relative_residual.max())
        return (
            f"PowerLawBatch: {len(self)} fits of {self.exponents.shape[1]} exponents, {rest} "
            f"converged, largest relative residual {worst:.2g}"
        )


def fit_power_laws(
    r: Any,
    y: Any,
    order: int,
    *,
    bounds: tuple[float, float] = (-3, 5),
    weights: Any = None,
    noise: float | None = None,
    starts: int = 4,
    rtol: float = 1e-15,
    seed: int = 0,
) -> PowerLawBatch:
    """Fit ``order`` powers to each of many recordings, all in one Levenberg-Marquardt batch.

    Every member starts from its own matrix pencil and from random exponents; the best fit counts.

    Parameters
    ----------
    r : array, shape (rows,) or (batch, rows), float64
        Radii, shared or of each member, NumPy's or torch's; the fit runs where they are.
    y : array, shape (batch, rows), float64
        Values.
    order : int
        Number of powers.
    bounds : tuple of float, default (-3, 5)
        Range of exponents.
    weights : array, shape (rows,) or (batch, rows), optional
        Residuals are multiplied by it.
    noise : float, optional
        Standard deviation of the weighted rows, for the standard errors; estimated by default.
    starts : int, default 4
        Random starts beside the pencil's.
    rtol : float, default 1e-15
        Relative step at which a member rests.
    seed : int, default 0

    Returns
    -------
    PowerLawBatch
        Arrays of the library of ``y``.

    Raises
    ------
    ValueError
        For shapes that do not agree, values that are not finite, or too few rows.

    Examples
    --------
    >>> r = np.linspace(0.01, 1.0, 100)
    >>> batch = fit_power_laws(r, np.stack([np.sqrt(r), 3.0 / r]), order=1)
    >>> batch.exponents[:, 0], batch.coefficients[:, 0]
    (array([ 0.5, -1. ]), array([1., 3.]))
    """
    low, high = check_bounds(bounds)
    r, y = read_batch(r, y, low)
    check_batch(r, order, noise, starts, rtol)
    xp = namespace(r, y)
    count = y.shape[0]
    unit = _units(y)
    y = y / unit[:, None]
    guesses = _starts(_to_numpy(r), _to_numpy(y), weights, order, (low, high), starts, seed)
    tries = guesses.shape[1]

    def repeat(array: Any) -> Any:
        """One row per start of each member; shared arrays stay shared."""
        if array is None or len(array.shape) == 1:
            return array
        spread = xp.broadcast_to(array[:, None, :], (count, tries, array.shape[-1]))
        return xp.reshape(spread, (count * tries, array.shape[-1]))

    begin = xp.asarray(guesses.reshape(count * tries, order), device=device(y))
    first = _run(repeat(r), repeat(y), begin, repeat(weights), (low, high), rtol, 1e-6)
    residual = xp.reshape(first.relative_residual, (count, tries))
    residual = xp.where(xp.isfinite(residual), residual, xp.full_like(residual, float("inf")))
    chosen = xp.argmin(residual, axis=1) + tries * xp.arange(count, device=device(y))
    fit = _run(r, y, first.parameters[chosen], weights, (low, high), rtol, None)
    return _sorted(fit, noise, unit)


def _units(y: Any) -> Any:
    """Unit of the values of each member: a power of two, which costs no digits."""
    most = np.abs(_to_numpy(y)).max(axis=1)
    units = np.exp2(np.floor(np.log2(np.where(most > 0.0, most, 1.0))))
    return namespace(y).asarray(units, device=device(y))


def _run(
    r: Any, y: Any, start: Any, weights: Any, bounds: tuple[float, float], rtol: float, rank: Any
) -> SeparableFit:
    structure = Structure(start.shape[1])
    lower, upper = bounds
    options = {} if rank is None else {"stationary": rank, "max_iterations": 30}
    return variable_projection(
        RadialSum(r, structure),
        y,
        start,
        lower=lower,
        upper=upper,
        weights=weights,
        rtol=rtol,
        **options,
    )


def _starts(
    r: NDArray,
    y: NDArray,
    weights: Any,
    order: int,
    bounds: tuple[float, float],
    starts: int,
    seed: int,
) -> NDArray:
    """Start values, shape (batch, 1 + starts, order)."""
    scale = np.ones(r.shape[-1]) if weights is None else _to_numpy(weights)
    rng = np.random.default_rng(seed)
    found = np.empty((len(y), 1 + starts, order))
    for i, side in enumerate(y):
        radii = r if r.ndim == 1 else r[i]
        rows = values(radii, side, scale if scale.ndim == 1 else scale[i])
        inside = rows.take(np.flatnonzero(radii > 0))
        exponents = np.sort(np.real(pencil_start(log_profile(inside), order, bounds)))
        # equal exponents would never part
        apart = exponents + 1e-3 * np.arange(order)
        found[i, 0] = np.clip(apart, bounds[0], bounds[1])
        found[i, 1:] = stratified_starts(order, bounds, starts, rng)
    return found


def _sorted(fit: SeparableFit, noise: float | None, unit: Any) -> PowerLawBatch:
    """By ascending exponent, in the unit of the values."""
    xp = namespace(fit.parameters)
    nonlinear, linear = fit.standard_errors(None if noise is None else 1.0)
    if noise is not None:
        own = (noise / unit)[:, None]
        nonlinear, linear = nonlinear * own, linear * own
    rank = xp.argsort(fit.parameters, axis=-1)
    rows = xp.arange(rank.shape[0], device=device(fit.parameters))[:, None]
    return PowerLawBatch(
        exponents=fit.parameters[rows, rank],
        coefficients=fit.coefficients[rows, rank] * unit[:, None],
        exponent_errors=nonlinear[rows, rank],
        coefficient_errors=linear[rows, rank] * unit[:, None],
        relative_residual=fit.relative_residual,
        converged=fit.converged,
    )


def _to_numpy(array: Any) -> NDArray:
    return array.detach().cpu().numpy() if hasattr(array, "detach") else np.asarray(array)
