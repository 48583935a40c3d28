"""The parts of the weak form that are exact: quadrature, debiasing, covariance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import sympy

from sciml.theory import Prediction
from sciml.validation import Case, Measurements
from sciml.validation.case import Tier

from ._discovery import noisy, problem_of, recording, true_support

if TYPE_CHECKING:
    from sciml.discovery.recording import Recording
    from sciml.discovery.weak_form import WeakForm

# --- Quadrature ----------------------------------------------------------------------------------

_POINTS, _HALF_WIDTH, _ORDER = 256, 30, 4
_SPACING = 2 * math.pi / _POINTS
_V = sympy.Symbol("v")
_SMOOTH = sympy.exp(sympy.sin(_V)) * sympy.cos(2 * _V + 1)


def _quadrature() -> Measurements:
    from sciml.discovery.windows import AxisWindows

    windows = AxisWindows(
        points=_POINTS,
        spacing=_SPACING,
        half_width=_HALF_WIDTH,
        order=_ORDER,
        stride=8.0,  # centers on grid points, so that supports end on grid points
        periodic=True,
    )
    sample = sympy.lambdify(_V, _SMOOTH, "numpy")(np.arange(_POINTS) * _SPACING)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    radius = _HALF_WIDTH * _SPACING
    bump = weights * radius * (1 - nodes**2) ** windows.exponent / _norm(windows.exponent)
    places = windows.centers[:, None] * _SPACING + radius * nodes
    rows, relative, errors = [], [], np.zeros(0)
    for order in range(_ORDER + 1):
        sums = windows.matrices[order] @ sample * _SPACING
        exact = sympy.lambdify(_V, sympy.diff(_SMOOTH, _V, order), "numpy")(places) @ bump
        errors = np.abs(sums - exact)
        size = np.abs(windows.matrices[order]) @ np.abs(sample) * _SPACING
        relative.append(float(np.max(errors / size)))
        rows.append({"order": order, "error over the integral of the modulus": relative[-1]})
    ends = _end_errors(windows.exponent, _ORDER, windows.centers, sample)
    return Measurements(
        values={
            "error up to second derivatives": max(relative[:3]),
            "error of the fourth derivative over Euler-Maclaurin's": float(
                np.linalg.norm(errors) / np.linalg.norm(ends)
            ),
        },
        table=rows,
        note=f"Exponent {windows.exponent}; {_POINTS} points, half-width {_HALF_WIDTH}.",
    )


def _norm(exponent: int) -> float:
    on_grid = np.arange(-_HALF_WIDTH, _HALF_WIDTH + 1) / _HALF_WIDTH
    return float(np.linalg.norm((1 - on_grid**2) ** exponent))


def _end_errors(exponent: int, order: int, centers: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Leading error of the plain sum of each window, from the two ends of its support.

    Near an end the bump's even derivative is ``2^p p!/(p-k)! d^(p-k)`` at distance ``d = j/m``,
    and the sum of ``j^q`` differs from its integral by ``zeta(-q)``.
    """
    power = exponent - order
    height = 2.0**exponent * math.factorial(exponent) / math.factorial(power)
    left, right = (
        sample[(centers + shift).astype(int) % _POINTS] for shift in (-_HALF_WIDTH, _HALF_WIDTH)
    )
    scale = _SPACING / (_HALF_WIDTH * _SPACING) ** order / _norm(exponent)
    return float(sympy.zeta(-power)) * height / _HALF_WIDTH**power * scale * (left + right)


QUADRATURE = Case(
    name="quadrature",
    title="Integrals against test functions by plain sums",
    description=(
        "A smooth periodic field against the test functions' derivatives, compared with Gauss "
        "quadrature of the field's own derivatives. The bump is 1e-10 one point inside its "
        "support and each derivative loses some of that: what the sum misses at the ends follows "
        "from the Euler-Maclaurin formula."
    ),
    run=_quadrature,
    predictions=(
        Prediction(
            name="error up to second derivatives",
            value=1e-9,
            kind="at_most",
            source="end values of the bump and its derivatives",
        ),
        Prediction(
            name="error of the fourth derivative over Euler-Maclaurin's",
            value=1.0,
            kind="equals",
            rtol=0.1,
            source="zeta(4-p) times the leading power at both ends; the next is (p/m)^2 smaller",
        ),
    ),
)

# --- Noise: debiasing and covariance -------------------------------------------------------------

_DRAWS, _NOISE = 2000, 0.1


def _weak_forms(problem: str) -> tuple[Recording, WeakForm, list[int], np.ndarray]:
    """A recording, its weak form without noise, and the true equation in terms of its columns."""
    from sciml.discovery.library import Library
    from sciml.discovery.recording import as_recordings
    from sciml.discovery.weak_form import WeakForm

    # a noisy draw sets the widths, which are then kept
    clean = recording(problem)
    (run,) = as_recordings(noisy(clean, _NOISE, (7, 0)))
    features = Library().features(("u",), ("x",))
    widths = [w.half_width for w in WeakForm(run, features).windows]
    (exact,) = as_recordings(clean)
    (true,) = true_support(problem_of(problem).equation).values()
    names = [feature.name for feature in features]
    weak = WeakForm(exact, features, widths, noise={"u": _NOISE * float(clean.std())})
    support = [names.index(term) for term in true]
    quiet = WeakForm(exact, features, widths, noise={"u": 0.0})
    weights = np.linalg.lstsq(quiet.matrix()[:, support], quiet.left_side("u"))[0]
    return exact, weak, support, weights


def _covariance(problems: Sequence[str]) -> Measurements:
    from sciml.discovery.weak_form import WeakForm
    from sciml.discovery.whitened_fit import Assembled

    rows, deviations, biases = [], [], []
    for number, problem in enumerate(problems):
        run, weak, support, weights = _weak_forms(problem)
        widths = [w.half_width for w in weak.windows]
        features = tuple(weak.features[k] for k in support)
        sigma = weak.noise["u"]
        exact = Assembled([weak], "u", [weak.matrix()]).covariance(0, support, weights)
        rng = np.random.default_rng([11, number])
        draws = np.empty((_DRAWS, weak.n_rows))
        for k in range(_DRAWS):
            values = run.fields["u"] + sigma * rng.normal(size=run.shape)
            drawn = WeakForm(replace(run, fields={"u": values}), features, widths, noise=weak.noise)
            drawn.windows = weak.windows
            draws[k] = drawn.left_side("u") - drawn.matrix() @ weights
        mean = draws.mean(axis=0)
        deviation, floor = _frobenius(draws - mean, exact)
        deviations.append(deviation)
        error = draws.std(axis=0) / math.sqrt(_DRAWS)
        biases.append(float(np.mean((mean / error) ** 2)))
        rows.append(
            {
                "problem": problem,
                "rows": weak.n_rows,
                "relative deviation of C": float(f"{deviation:.3g}"),
                "sampling error of the draws": float(f"{floor:.3g}"),
                "mean square bias in standard errors": float(f"{biases[-1]:.3g}"),
            }
        )
    return Measurements(
        values={
            "relative deviation of C": max(deviations),
            "mean square bias in standard errors": max(biases),
        },
        table=rows,
    )


def _frobenius(draws: np.ndarray, exact: np.ndarray) -> tuple[float, float]:
    """Relative Frobenius distance of a covariance from draws, freed of the draws' own scatter.

    The sample covariance of ``N`` Gaussian draws is off by ``(|C|^2 + tr(C)^2)/N`` in the mean
    square, which is as large as ``C`` where there are many rows: it is known and subtracted.
    """
    count = len(draws)
    sampled = draws.T @ draws / (count - 1)
    square = float(np.sum(exact**2))
    scatter = (square + float(np.trace(exact)) ** 2) / count
    distance = float(np.sum((sampled - exact) ** 2)) - scatter
    return math.sqrt(max(distance, 0.0) / square), math.sqrt(scatter / square)


_COVARIANCE = (
    Prediction(
        name="relative deviation of C",
        value=0.05,
        kind="at_most",
        source="exact to first order in the noise; second-order terms are of the size of the noise",
    ),
    Prediction(
        name="mean square bias in standard errors",
        value=2.0,
        kind="at_most",
        source="1 for debiased columns; overlapping rows make it scatter",
    ),
)
_COVARIANCE_DESCRIPTION = (
    f"Residual of the true equation on {_DRAWS} draws of 10 % noise under fixed windows: its "
    "second moments against the computed covariance of the rows in the Frobenius norm, less the "
    "scatter that so few draws have by themselves; and its mean, which debiasing makes zero."
)

COVARIANCE_QUICK = Case(
    name="covariance-quick",
    title="Covariance of the rows against noise draws, one equation",
    description=_COVARIANCE_DESCRIPTION,
    run=lambda: _covariance(("burgers",)),
    predictions=_COVARIANCE,
)

COVARIANCE = Case(
    name="covariance",
    tier="full",
    title="Covariance of the rows against noise draws",
    description=_COVARIANCE_DESCRIPTION,
    run=lambda: _covariance(("heat", "burgers", "kdv", "fisher_kpp", "allen_cahn", "kdv_burgers")),
    predictions=_COVARIANCE,
)

# --- Stability selection -------------------------------------------------------------------------

_COLUMNS, _TRUE = 30, 3
_SETTINGS = ((0.8, 1.0, 1.0), (0.6, 4.0, 3.0), (0.6, 6.0, 3.0))
"""Threshold, accepted false terms, noise."""


def _stability(repeats: int) -> Measurements:
    from sciml.discovery.stability import stability_selection

    rows = []
    for threshold, accepted, noise in _SETTINGS:
        false, kept, bounds = [], [], []
        for seed in range(repeats):
            rng = np.random.default_rng([13, seed])
            matrix = rng.normal(size=(200, _COLUMNS))
            left = matrix[:, :_TRUE] @ [1.0, 0.8, 0.6] + noise * rng.normal(size=200)
            path = stability_selection(
                matrix,
                left,
                n_subsamples=50,
                threshold=threshold,
                expected_false=accepted,
                random_state=seed,
            )
            false.append(sum(k >= _TRUE for k in path.support))
            kept.append(sum(k < _TRUE for k in path.support))
            bounds.append(path.false_term_bound)
        rows.append(
            {
                "threshold": threshold,
                "noise": noise,
                "false terms kept, mean": float(np.mean(false)),
                "bound, mean": float(f"{np.mean(bounds):.3g}"),
                "true terms kept, mean": float(np.mean(kept)),
            }
        )
    return Measurements(
        values={
            "false terms kept over their bound": max(
                row["false terms kept, mean"] / row["bound, mean"] for row in rows
            ),
            "true terms kept at little noise": rows[0]["true terms kept, mean"],
        },
        table=rows,
        note=f"{repeats} data sets of {_COLUMNS} independent columns, {_TRUE} of them true.",
    )


def _stability_case(name: str, repeats: int, tier: Tier) -> Case:
    return Case(
        name=name,
        tier=tier,
        title="False terms of the reference's stability selection",
        description=(
            "The randomized LASSO of the reference estimator on independent columns, its path cut "
            "where the accepted number of false terms is to be expected at most."
        ),
        run=lambda: _stability(repeats),
        predictions=(
            Prediction(
                name="false terms kept over their bound",
                value=1.0,
                kind="at_most",
                source="Meinshausen and Bühlmann 2010, Theorem 1",
            ),
            Prediction(
                name="true terms kept at little noise",
                value=_TRUE,
                kind="at_least",
                source="each true term stands eight standard errors or more out of the noise",
            ),
        ),
    )


CASES = [
    QUADRATURE,
    COVARIANCE_QUICK,
    _stability_case("stability-selection-quick", 20, "quick"),
    COVARIANCE,
    _stability_case("stability-selection", 200, "full"),
]
