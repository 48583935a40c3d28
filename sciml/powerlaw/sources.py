"""How many sources a field has, where they are, and how it grows toward each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pdes.tokens import closest
from sciml.powerlaw.arguments import read_seed
from sciml.powerlaw.kinds import refuse_mixed_kinds
from sciml.powerlaw.points import check_points
from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.source_fit import EXPONENT_BOUNDS, SourceFit, is_rank_deficient, judge
from sciml.powerlaw.source_model import CANDIDATE_EXPONENTS, CANDIDATES, Candidates, SourceModel
from sciml.powerlaw.units import length_unit, unit_of
from sciml.powerlaw.varpro import variable_projection

REACH = 1.5
"""Centers may lie in the box of the points, enlarged by this factor about its middle."""

EXACT = 1e-12
"""Relative residual below which nothing is left to explain."""

MOST_SOURCES = 12
MOST_MOVES = 12
SWAP_GAIN = 0.7
"""A source is moved to another place if the residual falls below this share of what it was."""


@dataclass(frozen=True, eq=False)
class _Data:
    x: NDArray
    y: NDArray
    weights: NDArray | None
    low: NDArray
    high: NDArray
    known: bool  # whether the weights are the noise
    length: float = 1.0  # unit of all places, a power of two

    def in_own_length(self) -> _Data:
        """The same in a unit of length near half the size of the box.

        Tolerances of the fit then mean the same whatever unit the points came in.
        """
        length = length_unit(self.x)
        places = {name: getattr(self, name) / length for name in ("x", "low", "high")}
        return replace(self, **places, length=length)


@dataclass(frozen=True, eq=False)
class _Sources:
    """Sources on the way: exponents, centers, and the fit they came from."""

    exponents: NDArray
    centers: NDArray
    fit: SeparableFit
    basis: NDArray

    def without(self, which: int) -> tuple[NDArray, NDArray]:
        return np.delete(self.exponents, which), np.delete(self.centers, which, axis=0)


def fit_sources(
    x: Any,
    y: Any,
    sources: int | Literal["auto"] = 3,
    exponents: Literal["free", "log"] | float | Sequence[float] = "free",
    noise: Any = None,
    *,
    starts: Any = None,
    random_state: int = 0,
) -> SourceFit:
    """Fit ``b + sum_j q_j psi(r_j, mu_j)`` with unknown centers, ``psi = (r^mu - 1)/mu``.

    ``mu = 0`` is a logarithm, the source of the plane; ``mu = -1`` is that of space. Sources are
    found one at a time, each as the candidate most correlated with what the others leave over;
    after each all are refitted. Nothing about the answer enters but bounds: centers lie in the box
    of the points, enlarged by half, and exponents in [-3, 3].

    Parameters
    ----------
    x : array, shape (rows, d)
        Points, with d of 1 to 3.
    y : array, shape (rows,)
        Values.
    sources : int or "auto", default 3
        Their number; ``"auto"`` adds sources until nothing is left over or BIC rises.
    exponents : "free", "log", float or sequence of float, default "free"
        Known exponents, the same for all sources or one each (which source has which is found);
        ``"log"`` is 0.
    noise : float or array of shape (rows,), optional
        Standard deviation of the values. Estimated from what is left over if unknown.
    starts : array, shape (J, d), optional
        Where to look for the first J sources, in the box of the points.
    random_state : int, default 0
        Of the rows on which candidates are compared, where there are more than 2000.

    Returns
    -------
    SourceFit

    Raises
    ------
    ValueError
        For data that are not finite, too few or of several precisions, a dimension above 3, starts
        outside the box of the points, noise that is not positive, and other arguments that make no
        sense; they are named.

    References
    ----------
    Radial Müntz-Szász networks, arXiv:2602.08419 (sources with unknown centers); the search is that
    of orthogonal matching pursuit, Pati, Rezaiifar and Krishnaprasad, 1993.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, (400, 2))
    >>> y = np.log(np.hypot(*(x - [0.3, 0.1]).T)) - 2 * np.log(np.hypot(*(x + [0.4, 0.2]).T))
    >>> fit = fit_sources(x, y, sources=2)
    >>> fit.status, fit.centers.round(6), np.abs(fit.exponents).max() < 1e-12
    ('ok', array([[-0.4, -0.2],
           [ 0.3,  0.1]]), np.True_)
    """
    data = _data(x, y, noise)
    unit = unit_of(data.y)
    if unit != 1.0:
        weights = None if data.weights is None else data.weights * unit
        data = replace(data, y=data.y / unit, weights=weights)
    rng = read_seed(random_state)
    count, fixed = _arguments(sources, exponents)
    guesses = _starts(starts, data)
    _check_rows(data, count, fixed)
    data = data.in_own_length()
    guesses = guesses / data.length
    rank = data.y - data.y.mean()
    if not np.linalg.norm(rank) > 1e-14 * np.linalg.norm(data.y):
        return SourceFit.nothing(data.x * data.length, data.y, count).times(unit)
    tried = sorted(set(CANDIDATE_EXPONENTS) if fixed is None else set(fixed.tolist()))
    candidates = Candidates.of(data.x, tried, rng)
    if count is None:
        found = _grow_until_enough(data, candidates, fixed, guesses)
    else:
        found = _grow(data, candidates, fixed, guesses, count)
    fit = judge(found.fit, found.exponents, found.centers, data.x, data.y, data.weights,
                 known_noise=data.known, free=fixed is None, length=data.length)  # fmt: skip
    return fit.times(unit)


def _grow(
    data: _Data, candidates: Candidates, fixed: NDArray | None, guesses: NDArray, count: int
) -> _Sources:
    """Add sources up to a number, and move those that sit in the wrong place."""
    found = None
    for size in range(1, count + 1):
        found = _add(data, candidates, fixed, found, guesses, last=size == count)
    assert found is not None
    return _swap(data, candidates, fixed, found, MOST_MOVES)


def _grow_until_enough(
    data: _Data, candidates: Candidates, fixed: NDArray | None, guesses: NDArray
) -> _Sources:
    """Add sources until the residual vanishes or BIC rises."""
    best, score = None, math.inf
    rows, dimension = data.x.shape
    most = MOST_SOURCES if fixed is None or len(fixed) == 1 else len(fixed)
    for size in range(1, most + 1):
        each = dimension + (2 if fixed is None else 1)
        if rows < 2 + size * each:
            break
        found = _add(data, candidates, fixed, best, guesses, last=True)
        found = _swap(data, candidates, fixed, found, moves=2)
        if best is not None and is_rank_deficient(found.fit.full_jacobian):
            break
        square = float(np.sum(found.fit.residual**2))
        criterion = square if data.known else rows * math.log(max(square, 1e-300))
        criterion += (1 + size * each) * math.log(rows)
        if criterion >= score:
            break
        best, score = found, criterion
        if float(found.fit.relative_residual) < EXACT:
            break
    assert best is not None
    return best


def _add(
    data: _Data,
    candidates: Candidates,
    fixed: NDArray | None,
    found: _Sources | None,
    guesses: NDArray,
    *,
    last: bool,
) -> _Sources:
    """One more source where the residual points, or at the next start that was given."""
    if found is None:
        exponents, centers = np.zeros(0), np.zeros((0, data.x.shape[1]))
        basis = np.ones((len(data.x), 1)) if data.weights is None else data.weights[:, None]
        residual = data.y - data.y.mean() if data.weights is None else data.weights * data.y
    else:
        exponents, centers = found.exponents, found.centers
        basis, residual = found.basis, found.fit.residual
    allowed = _allowed(candidates, fixed, exponents)
    (best,) = allowed.best(residual, basis, data.weights, 1)
    center = guesses[len(exponents)] if len(exponents) < len(guesses) else allowed.centers[best]
    return _refit(
        data,
        np.append(exponents, allowed.exponents[best]),
        np.vstack([centers, center]),
        fixed is None,
        last=last,
    )


def _allowed(candidates: Candidates, fixed: NDArray | None, taken: NDArray) -> Candidates:
    """Candidates whose exponent is still to be given away."""
    if fixed is None or len(fixed) == 1:
        return candidates
    left = list(fixed)
    for exponent in taken:
        left.remove(exponent)
    keep = np.isin(candidates.exponents, left)
    return Candidates(
        candidates.rows,
        candidates.centers[keep],
        candidates.exponents[keep],
        candidates.columns[keep],
    )


def _refit(
    data: _Data, exponents: NDArray, centers: NDArray, free: bool, *, last: bool
) -> _Sources:
    """All sources together, to the end or roughly."""
    count = len(exponents)
    model = SourceModel(data.x, count, None if free else exponents)
    bounds = [np.tile(corner, count) for corner in (data.low, data.high)]
    start = centers.ravel()
    if free:
        start = np.concatenate([exponents, start])
        bounds = [
            np.concatenate([np.full(count, edge), corner])
            for edge, corner in zip(EXPONENT_BOUNDS, bounds, strict=True)
        ]
    # A further source moves the others anyway: the way there need not be walked to its end.
    fit = variable_projection(
        model,
        data.y,
        start,
        lower=bounds[0],
        upper=bounds[1],
        weights=data.weights,
        rtol=1e-15 if last else 1e-3,
        max_iterations=200 if last else 15,
        max_trials=40 if last else 5,
    )
    found, places = model.split(fit.parameters[None])
    basis = model(fit.parameters[None])[0][0]
    if data.weights is not None:
        basis = basis * data.weights[:, None]
    return _Sources(found[0], places[0], fit, np.nan_to_num(basis))


def _swap(
    data: _Data, candidates: Candidates, fixed: NDArray | None, found: _Sources, moves: int
) -> _Sources:
    """Take each source away and look for a better place, while something is left over."""
    if len(found.exponents) < 2 or _explained(data, found.fit) or not moves:
        return found
    for which in range(len(found.exponents)):
        exponents, centers = found.without(which)
        rest = _refit(data, exponents, centers, fixed is None, last=False)
        trial = _add(data, candidates, fixed, rest, np.zeros((0, data.x.shape[1])), last=False)
        if trial.fit.relative_residual < SWAP_GAIN * found.fit.relative_residual:
            better = _refit(data, trial.exponents, trial.centers, fixed is None, last=True)
            return _swap(data, candidates, fixed, better, moves - 1)
    return found


def _explained(data: _Data, fit: SeparableFit) -> bool:
    if float(fit.relative_residual) < EXACT:
        return True
    rows = len(fit.residual)
    # Four deviations of chi^2 about its mean.
    return data.known and float(np.sum(fit.residual**2)) < rows + 4.0 * math.sqrt(2.0 * rows)


def _data(x: Any, y: Any, noise: Any) -> _Data:
    refuse_mixed_kinds(x=x, y=y, noise=noise)
    points, values, _ = check_points(x, y)
    table, column = points.cpu().numpy(), values.cpu().numpy()
    if table.shape[1] not in CANDIDATES:
        raise ValueError(f"x has {table.shape[1]} coordinates, wanted 1 to 3")
    low, high = table.min(axis=0), table.max(axis=0)
    if not np.all(high > low):
        flat = [int(k) for k in np.flatnonzero(high <= low)]
        raise ValueError(
            f"x: all points have the same coordinate {flat}, so that they don't tell where a "
            "source is: leave this coordinate out"
        )
    length_unit(table)
    middle, half = 0.5 * (low + high), 0.5 * REACH * (high - low)
    weights = None
    if noise is not None:
        sigma = _numbers("noise", noise, "positive numbers, the standard deviation of the values")
        if sigma.shape not in ((), column.shape):
            raise ValueError(
                f"noise has shape {sigma.shape}, wanted one number, or one for each value, "
                f"{column.shape}"
            )
        sigma = np.broadcast_to(sigma, column.shape)
        if not (np.all(np.isfinite(sigma)) and np.all(sigma > 0.0)):
            raise ValueError(
                f"noise: got values from {float(np.min(sigma)):g}, wanted positive numbers, the "
                "standard deviation of the values; None if unknown"
            )
        weights = 1.0 / sigma
    return _Data(table, column, weights, middle - half, middle + half, noise is not None)


def _arguments(sources: Any, exponents: Any) -> tuple[int | None, NDArray | None]:
    """Number of sources (None if to be found) and known exponents (one, or one each)."""
    if isinstance(sources, str) and sources == "auto":
        count = None
    elif isinstance(sources, str) or not hasattr(sources, "__index__") or int(sources) < 1:
        hint = closest(sources, ["auto"]) if isinstance(sources, str) else ""
        raise ValueError(
            f"sources is {sources!r}, wanted a whole number, 1 or more, or 'auto'.{hint}"
        )
    else:
        count = int(sources)
    if isinstance(exponents, str):
        if exponents not in ("free", "log"):
            raise ValueError(
                f"exponents is {exponents!r}, wanted 'free', 'log', a number or a sequence of "
                f"numbers.{closest(exponents, ['free', 'log'])}"
            )
        return count, None if exponents == "free" else np.zeros(1)
    fixed = np.atleast_1d(_numbers("exponents", exponents, "numbers, 'free' or 'log'"))
    low, high = EXPONENT_BOUNDS
    if fixed.ndim != 1 or not fixed.size or not np.all((fixed >= low) & (fixed <= high)):
        raise ValueError(
            f"exponents: got {exponents!r}, wanted numbers from {low:g} to {high:g}, or 'free'"
        )
    if len(fixed) > 1 and count is not None and len(fixed) != count:
        raise ValueError(f"exponents: got {len(fixed)} for {count} sources, wanted one each")
    return count, fixed


def _numbers(name: str, given: Any, wanted: str) -> NDArray:
    """An argument as float64; what is no number is refused by name."""
    if hasattr(given, "detach"):
        given = given.detach().cpu().numpy()
    try:
        return np.asarray(given, float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {given!r}, wanted {wanted}") from None


def _check_rows(data: _Data, count: int | None, fixed: NDArray | None) -> None:
    rows, dimension = data.x.shape
    wanted = 1 + (count or 1) * (dimension + (2 if fixed is None else 1))
    if rows < wanted:
        raise ValueError(
            f"x has {rows} rows for {count or 1} sources: wanted at least {wanted} rows, as many "
            "as unknowns; give more points, or ask for fewer sources"
        )


def _starts(starts: Any, data: _Data) -> NDArray:
    dimension = data.x.shape[1]
    if starts is None:
        return np.zeros((0, dimension))
    table = np.atleast_2d(_numbers("starts", starts, f"numbers of shape (J, {dimension})"))
    if table.ndim != 2 or table.shape[1] != dimension:
        raise ValueError(f"starts has shape {table.shape}, wanted (J, {dimension})")
    low, high = data.x.min(axis=0), data.x.max(axis=0)
    outside = ~np.all((table >= low) & (table <= high), axis=1)
    if np.any(outside):
        raise ValueError(
            f"starts: {table[outside].tolist()} lie outside the box of the points, from "
            f"{low.tolist()} to {high.tolist()}: start sources where there are data"
        )
    return table
