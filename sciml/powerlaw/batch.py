"""Many independent sums of powers as one batch, on NumPy or torch arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from sciml.powerlaw.arrays import namespace
from sciml.powerlaw.batch_arguments import (
    check_batch,
    read_batch,
    read_seed_of_batch,
    read_weights,
    to_numpy,
)
from sciml.powerlaw.batch_status import Evidence, table_of_batch
from sciml.powerlaw.diagnosis import Finding
from sciml.powerlaw.error_floor import rounding_covariance
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
    at_bound : array of bool, shape (batch, order)
        Which exponents stand on the bounds.
    status : tuple of str, length batch
        What `PowerLawFit.status_` would say of each member: ``"ok"``, or what is wrong. A member
        whose values are all 0 is ``"empty"``: its exponents are NaN and its coefficients 0.
    advice : tuple of tuples of str, length batch
        What helps, empty where the status is ok.
    """

    exponents: Any
    coefficients: Any
    exponent_errors: Any
    coefficient_errors: Any
    relative_residual: Any
    converged: Any
    at_bound: Any
    evidence: Evidence = field(repr=False, compare=False)

    @cached_property
    def _findings(self) -> tuple[tuple[Finding, ...], ...]:
        """Judged when first asked for: it costs a fit of the inner half of the radii each."""
        return tuple(self.evidence.judge(i) for i in range(len(self)))

    @property
    def status(self) -> tuple[str, ...]:
        """Status of each member."""
        return tuple(found[0].status if found else "ok" for found in self._findings)

    @property
    def advice(self) -> tuple[tuple[str, ...], ...]:
        """Advice of each member."""
        return tuple(tuple(part.advice for part in found) for found in self._findings)

    def __len__(self) -> int:
        return self.exponents.shape[0]

    def __str__(self) -> str:
        rest = int(self.converged.sum())
        worst = float(self.relative_residual.max())
        good = self.status.count("ok")
        head = (
            f"PowerLawBatch: {len(self)} fits of {self.exponents.shape[1]} exponents, {rest} "
            f"converged, {good} ok, largest relative residual {worst:.2g}"
        )
        numbers = (self.exponents, self.exponent_errors, self.relative_residual)
        return f"{head}\n{table_of_batch(self.status, *(to_numpy(part) for part in numbers))}"


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
    r : array, shape (rows,) or (batch, rows), float64 or float32
        Radii, shared or of each member, NumPy's or torch's; the fit runs where they are.
    y : array, shape (batch, rows), of the type of ``r``
        Values. Single precision is computed in double precision, with one warning.
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
        Arrays of the library of ``y``, with a status for each member.

    Raises
    ------
    ValueError
        For shapes, types or devices that do not agree, values that are not finite, weights that
        are not positive, too few rows, or a seed that is none.

    Examples
    --------
    >>> r = np.linspace(0.01, 1.0, 100)
    >>> batch = fit_power_laws(r, np.stack([np.sqrt(r), 3.0 / r]), order=1)
    >>> batch.exponents[:, 0], batch.coefficients[:, 0]
    (array([ 0.5, -1. ]), array([1., 3.]))
    >>> batch.status
    ('ok', 'ok')
    """
    low, high = check_bounds(bounds)
    r, y = read_batch(r, y, low)
    check_batch(r, order, noise, starts, rtol)
    weights = read_weights(weights, y)
    seed = read_seed_of_batch(seed)
    xp = namespace(r, y)
    count = y.shape[0]
    # in units of their own no square or power of radii and values overflows
    unit, length = _units(y), _units(r)
    y, r = y / unit[:, None], r / length[..., None]
    guesses = _starts(to_numpy(r), to_numpy(y), weights, order, (low, high), starts, seed)
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
    own = None if noise is None else noise / to_numpy(unit)
    host = None if weights is None else to_numpy(weights)
    evidence = Evidence(
        to_numpy(r), to_numpy(y), host, _on_host(fit), own, (low, high), starts, seed, rtol
    )
    return _sorted(fit, noise, unit, length, evidence)


def _units(array: Any) -> Any:
    """Unit of the numbers of each member: a power of two, which costs no digits."""
    most = np.abs(to_numpy(array)).max(axis=-1)
    units = np.exp2(np.floor(np.log2(np.where(most > 0.0, most, 1.0))))
    return namespace(array).asarray(units, device=device(array))


def _on_host(fit: SeparableFit) -> SeparableFit:
    parts = {name: to_numpy(getattr(fit, name)) for name in fit._arrays}
    return replace(fit, **parts)


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
    seed: Any,
) -> NDArray:
    """Start values, shape (batch, 1 + starts, order)."""
    scale = np.ones(r.shape[-1]) if weights is None else to_numpy(weights)
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


def _sorted(
    fit: SeparableFit, noise: float | None, unit: Any, length: Any, evidence: Evidence
) -> PowerLawBatch:
    """By ascending exponent, in the units of the radii and values."""
    xp = namespace(fit.parameters)
    where = device(fit.parameters)
    covariance = fit.covariance(None if noise is None else 1.0)
    if noise is not None:
        covariance = covariance * ((noise / unit) ** 2)[:, None, None]
    covariance = covariance + rounding_covariance(fit)
    n = fit.parameters.shape[-1]
    mu, c = fit.parameters, fit.coefficients
    # coefficients in the unit of the radii: c L^-mu, whose logarithm moves by log L with mu
    logs = xp.log(length) * xp.ones_like(unit)
    diagonal = xp.linalg.diagonal(covariance)
    cross = xp.linalg.diagonal(covariance[..., :n, n:])
    slope = c * logs[:, None]
    spread = diagonal[..., :n] - 2.0 * slope * cross + slope**2 * diagonal[..., n:]
    spread = xp.where(spread > 0.0, spread, xp.zeros_like(spread))
    spread = xp.where(xp.isfinite(diagonal[..., :n]), spread, diagonal[..., :n])
    factor = xp.exp(-mu * logs[:, None]) * unit[:, None]
    lost = (c * factor == 0.0) & (c != 0.0)
    if bool(xp.any(lost | ~xp.isfinite(c * factor))):
        raise ValueError(
            f"r reaches {float(to_numpy(length).max()):.3g} and y {float(to_numpy(unit).max()):.3g}"
            ": coefficients c in c r^mu leave the range of float64; measure r in another unit"
        )
    empty = xp.linalg.vector_norm(xp.asarray(evidence.y, device=where), axis=-1) == 0.0
    nothing = xp.where(empty, xp.full_like(unit, float("nan")), xp.zeros_like(unit))[:, None]
    rank = xp.argsort(mu, axis=-1)
    rows = xp.arange(rank.shape[0], device=where)[:, None]
    return PowerLawBatch(
        exponents=mu[rows, rank] + nothing,
        coefficients=(c * factor)[rows, rank],
        exponent_errors=xp.sqrt(diagonal[..., n:])[rows, rank] + nothing,
        coefficient_errors=(xp.sqrt(spread) * factor)[rows, rank] + nothing,
        relative_residual=fit.relative_residual,
        converged=fit.converged & ~empty,
        at_bound=fit.at_bound[rows, rank] & ~empty[:, None],
        evidence=evidence,
    )
