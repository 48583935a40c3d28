"""Does a fit scatter as little as is possible? Its variance over simulated noise, and the bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.radial_sum import RadialSum
from sciml.powerlaw.rows import RadialRows
from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.structure import Structure
from sciml.powerlaw.varpro import variable_projection


@dataclass(frozen=True)
class Efficiency:
    """Variance of the nonlinear parameters over repeated fits beside the Cramer-Rao bound.

    Attributes
    ----------
    names : tuple of str
        Of the parameters: ``mu`` of a power, ``s`` and ``q`` of a pair.
    variance, bound : ndarray, shape (p,)
    bias : ndarray, shape (p,)
        Mean less the value that was simulated.
    noise : float
    trials : int
    """

    names: tuple[str, ...]
    variance: NDArray
    bound: NDArray
    bias: NDArray
    noise: float
    trials: int

    @property
    def ratio(self) -> NDArray:
        """Variance over bound: 1 for an efficient estimate."""
        return self.variance / self.bound

    @property
    def scatter(self) -> float:
        """Relative standard deviation of the ratio over so many trials."""
        return math.sqrt(2.0 / (self.trials - 1))

    def __str__(self) -> str:
        lines = [
            f"{self.trials} trials with noise {self.noise:.4g}: variance over Cramer-Rao bound"
        ]
        for name, ratio, bound in zip(self.names, self.ratio, self.bound, strict=True):
            lines.append(
                f"{name:8} {ratio:.3f} +- {self.scatter:.3f}, deviation {math.sqrt(bound):.3g}"
            )
        return "\n".join(lines)


def measure_efficiency(
    rows: RadialRows,
    structure: Structure,
    fit: SeparableFit,
    noise: float | None,
    trials: int = 200,
    seed: int = 0,
    rtol: float = 1e-15,
) -> Efficiency:
    """Simulate noise on fitted rows and fit them again, all trials as one batch.

    The iteration starts at the fitted parameters: this measures the scatter of the minimum, not
    whether it is found.

    Parameters
    ----------
    rows : RadialRows
        Design and weights.
    structure : Structure
    fit : SeparableFit
        What is taken for the truth.
    noise : float or None
        Standard deviation of the weighted rows; None for that of the residual.
    trials : int, default 200
    seed : int, default 0
    rtol : float

    Returns
    -------
    Efficiency

    Raises
    ------
    ValueError
        For fewer than two trials, no parameters, or noise that is not positive.

    Examples
    --------
    >>> from sciml.powerlaw import PowerLawFit
    >>> r = np.linspace(0.01, 1.0, 100)
    >>> result = PowerLawFit().fit(r, np.sqrt(r)).efficiency(trials=400, noise=0.01)
    >>> result.names, bool(abs(result.ratio[0] - 1) < 4 * result.scatter)
    (('mu',), True)
    """
    if trials < 2:
        raise ValueError(f"trials={trials}, wanted at least 2")
    if noise is None:
        free = max(len(rows) - structure.unknowns, 1)
        noise = math.sqrt(float(np.sum(fit.residual**2)) / free)
    if not (math.isfinite(noise) and noise > 0):
        raise ValueError(f"noise={noise!r}, wanted a positive number")
    if not structure.n_parameters:
        raise ValueError("no exponent is free: there is no scatter to measure")
    model = RadialSum(rows.r, structure, rows.operator)
    columns, _ = model(fit.parameters[None])
    clean = columns[0] @ fit.coefficients
    drawn = np.random.default_rng(seed).normal(size=(trials, len(rows)))
    starts = np.broadcast_to(fit.parameters, (trials, structure.n_parameters)).copy()
    repeated = variable_projection(
        model, clean + noise * drawn / rows.weights, starts, weights=rows.weights, rtol=rtol
    )
    bound = np.diag(fit.covariance(noise))[structure.n_columns :]
    names = ("mu",) * structure.powers + ("s", "q") * structure.pairs
    return Efficiency(
        names,
        repeated.parameters.var(axis=0, ddof=1),
        bound,
        repeated.parameters.mean(axis=0) - fit.parameters,
        noise,
        trials,
    )
