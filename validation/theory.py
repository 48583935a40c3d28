"""Closed forms of `sciml.theory` against algebra and Monte Carlo."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import sympy

from sciml.theory import (
    Prediction,
    conservative_terms,
    critical_growth,
    detection_limit,
    false_positive_bound,
    growth_at_noise,
    hermite_power,
    invariant_terms,
    predict_chi2,
    predict_coverage,
    residual_growth,
)
from sciml.theory.stability_selection import BOUND, CANDIDATES, SELECTED, THRESHOLD
from sciml.validation import Case, Measurements

# --- Galilean invariance -------------------------------------------------------------------------

_ORDER = sympy.Symbol("K", integer=True)


def _exclusion() -> Measurements:
    rows = []
    for degree, order in ((3, 4), (4, 6)):
        library = conservative_terms(degree, order)
        left = invariant_terms(library)
        rows.append({"J": degree, "K": order, "terms": len(library), "left": ", ".join(left)})
    counts = [len(str(row["left"]).split(", ")) for row in rows]
    return Measurements(
        values={"terms left of 16": counts[0], "terms left of 29": counts[1]}, table=rows
    )


EXCLUSION = Case(
    name="exclusion-theorem",
    title="What Galilean invariance leaves of a library",
    description=(
        "An autonomous equation that is invariant under boosts holds no undifferentiated u but "
        "in u u_x. The condition dF/du = -q u_x is solved symbolically over the libraries 1, "
        "d_x^k(u^j), j <= J, k <= K; what is left is 1, the K linear derivatives, and (u^2)_x."
    ),
    run=_exclusion,
    predictions=tuple(
        Prediction.from_formula(
            _ORDER + 2, {_ORDER: order}, name=name, kind="equals", source="exclusion theorem"
        )
        for name, order in (("terms left of 16", 4), ("terms left of 29", 6))
    ),
)

# --- Powers of a noisy field ---------------------------------------------------------------------

_FIELD, _NOISE, _DRAWS = 0.7, 0.5, 400_000


def _hermite() -> Measurements:
    noisy = _FIELD + _NOISE * np.random.default_rng(11).normal(size=_DRAWS)
    rows, scores = [], []
    for degree in range(2, 7):
        unbiased = hermite_power(noisy, _NOISE, degree)
        error = float(unbiased.std() / math.sqrt(_DRAWS))
        scores.append(abs(float(unbiased.mean()) - _FIELD**degree) / error)
        rows.append(
            {
                "power": degree,
                "clean": _FIELD**degree,
                "mean of U^j": float((noisy**degree).mean()),
                "mean of He_j": float(unbiased.mean()),
                "standard error": error,
            }
        )
    return Measurements(
        values={
            "largest bias in standard errors": max(scores),
            "bias of U^2": float((noisy**2).mean()) - _FIELD**2,
            "bias of U^3": float((noisy**3).mean()) - _FIELD**3,
        },
        table=rows,
        figure=lambda: _bias_figure(rows),
    )


def _bias_figure(rows: list[dict[str, Any]]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot(xlabel="power j", ylabel="mean less the clean power")
    powers = [row["power"] for row in rows]
    for label in ("mean of U^j", "mean of He_j"):
        axes.plot(powers, [row[label] - row["clean"] for row in rows], "o-", label=label)
    axes.axhline(0.0, color="gray", lw=0.8)
    axes.set_xticks(powers)
    axes.legend()
    return figure


_u, _s = sympy.symbols("u s", positive=True)

HERMITE = Case(
    name="hermite-debiasing",
    title="Powers of a noisy field without bias",
    description=(
        f"U = u + e with u = {_FIELD} and Gaussian e of standard deviation {_NOISE}, {_DRAWS} "
        "draws. The scaled Hermite polynomials average to the clean powers; the plain powers "
        "are off by s^2, 3 u s^2, ..."
    ),
    run=_hermite,
    predictions=(
        Prediction(
            name="largest bias in standard errors",
            value=4.0,
            kind="at_most",
            source="mean of He_j(u + e; s) is u^j; 4 standard errors over five powers",
        ),
        Prediction.from_formula(
            _s**2, {_s: _NOISE}, name="bias of U^2", kind="equals", rtol=0.02, source="E e^2"
        ),
        Prediction.from_formula(
            3 * _u * _s**2,
            {_u: _FIELD, _s: _NOISE},
            name="bias of U^3",
            kind="equals",
            rtol=0.02,
            source="3 u E e^2",
        ),
    ),
)

# --- Least squares: growth of the residual, chi^2, coverage --------------------------------------

_FITS, _ROWS, _TERMS = 400, 120, 3


def _least_squares() -> Measurements:
    rng = np.random.default_rng(5)
    true = np.array([1.0, -0.3, 0.05])
    deviations, chi2s, covered = [], [], 0
    for _ in range(_FITS):
        mixing = np.eye(_TERMS) + 0.7 * rng.normal(size=(_TERMS, _TERMS))  # correlated columns
        design = rng.normal(size=(_ROWS, _TERMS)) @ mixing
        noise = float(rng.uniform(0.05, 2.0))
        y = design @ true + noise * rng.normal(size=_ROWS)
        w, chi2, errors = _fit(design, y, noise)
        chi2s.append(chi2)
        covered += int(np.sum(np.abs(w - true) <= 1.959964 * errors))
        for j in range(_TERMS):
            predicted = residual_growth(
                w[j], errors[j], degrees_of_freedom=_ROWS - _TERMS, chi2=chi2
            )
            _, without, _ = _fit(np.delete(design, j, axis=1), y, noise)
            measured = without / chi2 * (_ROWS - _TERMS + 1) / (_ROWS - _TERMS)
            deviations.append(abs(measured / predicted - 1.0))
    return Measurements(
        values={
            "relative deviation of the growth": max(deviations),
            "chi2/n": float(np.mean(chi2s)),
            "coverage of 95 % intervals": covered / (_FITS * _TERMS),
        }
    )


def _fit(design: np.ndarray, y: np.ndarray, noise: float) -> tuple[np.ndarray, float, np.ndarray]:
    inverse = np.linalg.inv(design.T @ design)
    w = inverse @ (design.T @ y)
    residual = y - design @ w
    chi2 = float(residual @ residual) / (noise**2 * (len(y) - len(w)))
    return w, chi2, noise * np.sqrt(np.diag(inverse))


LEAST_SQUARES = Case(
    name="least-squares",
    title="Growth of the residual, chi^2 and intervals of a least-squares fit",
    description=(
        f"{_FITS} regressions on {_ROWS} rows and {_TERMS} correlated columns with known noise. "
        "Leaving a term out multiplies the residual by 1 + (w/se)^2/(nu chi2/n), exactly; "
        "chi^2/n is 1; the intervals cover."
    ),
    run=_least_squares,
    predictions=(
        Prediction(
            name="relative deviation of the growth",
            value=1e-10,
            kind="at_most",
            source="an identity: only rounding is allowed",
        ),
        predict_chi2(_FITS * (_ROWS - _TERMS)),
        # The intervals of one fit are correlated, so that they count as one independent trial.
        predict_coverage(_FITS, name="coverage of 95 % intervals"),
    ),
)

# --- Detection limit -----------------------------------------------------------------------------

_CANDIDATES, _LIMIT_ROWS = 16, 500


def _limit() -> Measurements:
    rng = np.random.default_rng(21)
    design = rng.normal(size=(_LIMIT_ROWS, _CANDIDATES))
    clean = design[:, 0] + 0.2 * design[:, 1]
    noise = 0.05
    y = clean + noise * rng.normal(size=_LIMIT_ROWS)
    w, chi2, errors = _fit(design[:, :2], y, noise)
    growth = residual_growth(w[1], errors[1], degrees_of_freedom=_LIMIT_ROWS - 2, chi2=chi2)
    critical = critical_growth(_LIMIT_ROWS, _CANDIDATES, terms=2)
    forecast = detection_limit(noise, growth, critical)

    errors_drawn = rng.normal(size=(_LIMIT_ROWS, 60))
    levels = forecast * np.geomspace(0.6, 1.7, 23)
    kept = np.array(
        [_share_kept(design, clean[:, None] + level * errors_drawn) for level in levels]
    )
    lost = float(np.interp(-0.5, -kept, levels))  # interp wants ascending abscissas
    rows = [
        {"noise": level, "share kept": share, "growth": growth_at_noise(growth, level / noise)}
        for level, share in zip(levels, kept, strict=True)
    ]
    return Measurements(
        values={"noise at which the term is lost / forecast": lost / forecast},
        table=rows,
        note=f"Forecast from noise {noise}: lost at {forecast:.3g}; measured {lost:.3g}.",
    )


def _share_kept(design: np.ndarray, y: np.ndarray) -> float:
    """Share of the columns of ``y`` for which tempered EBIC over sizes 1 to 3 keeps column 1."""
    gram, moments, total = design.T @ design, design.T @ y, np.sum(y**2, axis=0)
    effective = len(y) * 25.0 / (len(y) + 25.0)
    best, keeps = np.full(y.shape[1], np.inf), np.zeros(y.shape[1], dtype=bool)
    for size in (1, 2, 3):
        penalty = size * math.log(effective) + 2 * math.log(math.comb(_CANDIDATES, size))
        for support in map(list, itertools.combinations(range(_CANDIDATES), size)):
            inside = moments[support]
            explained = np.sum(
                inside * np.linalg.solve(gram[np.ix_(support, support)], inside), axis=0
            )
            score = effective * np.log(total - explained) + penalty
            keeps = np.where(score < best, 1 in support, keeps)
            best = np.minimum(score, best)
    return float(keeps.mean())


LIMIT = Case(
    name="detection-limit",
    title="The noise at which a term is lost, forecast from a fit at little noise",
    description=(
        "A weak second term among 16 candidates is fitted at noise 0.05. From its standard "
        "error follows the noise at which selection over all supports of up to three terms by "
        "tempered EBIC loses it in half of the draws."
    ),
    run=_limit,
    predictions=(
        Prediction(
            name="noise at which the term is lost / forecast",
            value=1.0,
            kind="equals",
            rtol=0.1,
            source="the growth falls to the critical one; se is proportional to noise",
        ),
    ),
)

# --- Stability selection -------------------------------------------------------------------------

_COLUMNS, _TRUE, _CHOSEN, _REPEATS = 40, 3, 8, 200
_SHARES = (0.6, 0.7, 0.8, 0.9)


def _stability() -> Measurements:
    rng = np.random.default_rng(3)
    rows, halves = 100, 50
    frequency = np.zeros((_REPEATS, _COLUMNS))
    for repeat in range(_REPEATS):
        design = rng.normal(size=(rows, _COLUMNS))
        y = design[:, :_TRUE] @ np.array([1.0, 0.7, 0.5]) + 2.0 * rng.normal(size=rows)
        for _ in range(halves):
            half = rng.permutation(rows)[: rows // 2]
            strength = np.abs(design[half].T @ y[half])
            frequency[repeat, np.argpartition(strength, -_CHOSEN)[-_CHOSEN:]] += 1 / halves
    kept = {share: (frequency >= share - 1e-9).sum(axis=0) / _REPEATS for share in _SHARES}
    return Measurements(
        values={_false_name(share): float(kept[share][_TRUE:].sum()) for share in _SHARES},
        table=[
            {
                "share": share,
                "true terms kept": float(kept[share][:_TRUE].sum()),
                "false terms kept": float(kept[share][_TRUE:].sum()),
                "bound on false terms": false_positive_bound(_CHOSEN, _COLUMNS, share),
            }
            for share in _SHARES
        ],
        note=f"Of the {_CHOSEN} columns that a half chooses at least {_CHOSEN - _TRUE} are false.",
    )


def _false_name(share: float) -> str:
    return f"false terms kept at {share:g}"


STABILITY = Case(
    name="stability-selection-bound",
    title="False terms of stability selection stay below their bound",
    description=(
        f"{_COLUMNS} independent columns, {_TRUE} of them true; each of 50 random halves chooses "
        f"the {_CHOSEN} columns most correlated with the data; a column is kept if its share of "
        f"the halves reaches a threshold. Means over {_REPEATS} data sets."
    ),
    run=_stability,
    predictions=tuple(
        Prediction.from_formula(
            BOUND,
            {SELECTED: _CHOSEN, CANDIDATES: _COLUMNS, THRESHOLD: share},
            name=_false_name(share),
            kind="at_most",
            source="Meinshausen and Bühlmann 2010, Theorem 1",
        )
        for share in _SHARES
    ),
)

CASES = [EXCLUSION, HERMITE, LEAST_SQUARES, LIMIT, STABILITY]
