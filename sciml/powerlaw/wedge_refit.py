"""From learned exponents to those that a corner admits, with coefficients fitted anew."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pdes.exact import Cone, Sectors
from sciml.powerlaw.admissible import admissible_exponent, angular_factors
from sciml.powerlaw.wedge_model import WedgeModel, least_squares
from sciml.powerlaw.wedge_samples import RowSystem
from sciml.powerlaw.wedge_status import NOTHING, SIGMAS

REACH = 0.1
"""An admissible exponent must lie this close to the learned one, or within its error bar."""


@dataclass(frozen=True, eq=False)
class Refit:
    """Linear fit with given exponents.

    Attributes
    ----------
    terms : ndarray, shape (terms, functions)
        Coefficients of the free angular functions.
    constant : float
    residual : ndarray, shape (rows,)
        Weighted.
    relative_residual : float
    drowned : ndarray of bool, shape (terms,)
        Which terms have no coefficient beyond three standard errors, or beyond rounding.
    spare : int
        How many rows there are beyond coefficients.
    """

    terms: NDArray
    constant: float
    residual: NDArray
    relative_residual: float
    drowned: NDArray
    spare: int


def nearest_admissible(
    corner: Sectors | Cone, learned: NDArray, errors: NDArray
) -> tuple[NDArray, tuple[str, ...]]:
    """Exponents that satisfy all conditions, where one is near enough to the learned one.

    Parameters
    ----------
    corner : Sectors or Cone
    learned, errors : ndarray, shape (terms,)
        Exponents and their standard errors.

    Returns
    -------
    exponents : ndarray, shape (terms,)
    kinds : tuple of str
        ``"quantized"``, or ``"unquantized"`` for an exponent that stays as it was learned.

    Examples
    --------
    >>> from pdes.exact import Wedge
    >>> corner = Wedge(1.5 * np.pi, "DD")
    >>> exponents, kinds = nearest_admissible(corner, np.array([0.67, 1.05]), np.zeros(2))
    >>> exponents.round(12), kinds
    (array([0.66666667, 1.05      ]), ('quantized', 'unquantized'))
    """
    exponents, kinds = learned.copy(), []
    for place, (mu, error) in enumerate(zip(learned, errors, strict=True)):
        found = admissible_exponent(corner, float(mu))
        reach = max(REACH, SIGMAS * error if math.isfinite(error) else 0.0)
        goal = float(mu) if found is None else found
        twin = any(abs(goal - other) < 1e-9 for other in exponents[:place])
        taken = found is not None and abs(goal - mu) <= reach and not twin
        kinds.append("quantized" if taken else "unquantized")
        exponents[place] = goal if taken else mu
    return exponents, tuple(kinds)


def refit(
    corner: Sectors | Cone,
    system: RowSystem,
    exponents: NDArray,
    kinds: tuple[str, ...],
    noise: float | None,
) -> Refit:
    """Fit coefficients to known exponents; conditions hold exactly where these are quantized.

    Parameters
    ----------
    corner : Sectors or Cone
    system : RowSystem
        Without the edges, if all exponents are quantized.
    exponents : ndarray, shape (terms,)
    kinds : tuple of str
        As from `nearest_admissible`.
    noise : float or None
        Standard deviation of rows of weight 1; estimated from the residual if None.

    Returns
    -------
    Refit
    """
    model = WedgeModel(corner, system, corner.has_constant)
    columns, size = model(exponents[None])[0][0], model.per_term
    blocks = [
        angular_factors(corner, mu) if kind == "quantized" else np.eye(size)
        for mu, kind in zip(exponents, kinds, strict=True)
    ]
    reduced = np.hstack(
        [
            columns[:, place * size : (place + 1) * size] @ block.T
            for place, block in enumerate(blocks)
        ]
        + ([columns[:, -1:]] if model.constant else [])
    )
    found, relative = least_squares(reduced, system)
    weighted = reduced * system.weights[:, None]
    residual = system.weights * system.values - weighted @ found
    spread = _deviations(weighted, residual, noise)
    ends = np.cumsum([0, *map(len, blocks)])
    parts = [slice(*pair) for pair in pairwise(ends)]
    least = NOTHING * float(np.abs(found).max())
    drowned = [np.all(np.abs(found[at]) <= np.maximum(SIGMAS * spread[at], least)) for at in parts]
    return Refit(
        terms=np.array([found[at] @ block for at, block in zip(parts, blocks, strict=True)]),
        constant=float(found[-1]) if model.constant else 0.0,
        residual=residual,
        relative_residual=relative,
        drowned=np.array(drowned, dtype=bool),
        spare=reduced.shape[0] - reduced.shape[1],
    )


def _deviations(columns: NDArray, residual: NDArray, noise: float | None) -> NDArray:
    """Standard deviations of linear coefficients; zero if nothing is left to estimate them by."""
    rows, count = columns.shape
    if noise is None:
        if rows <= count:
            return np.zeros(count)
        noise = float(np.linalg.norm(residual)) / math.sqrt(rows - count)
    scale = np.linalg.norm(columns, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    _, values, right = np.linalg.svd(columns / scale, full_matrices=False)
    inverse = 1.0 / np.maximum(values, 1e-15 * values[0])
    return noise * np.linalg.norm(right * inverse[:, None], axis=0) / scale
