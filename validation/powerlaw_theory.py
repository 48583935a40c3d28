"""Closed forms of sums of powers against Gram matrices, quadrature and numerical fits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import sympy

from sciml.theory import (
    Prediction,
    additive_and_radial,
    additive_distance,
    best_coefficients,
    best_log,
    best_power,
    best_power_log,
    coefficient_variance,
    contamination_bias,
    crack_floor,
    exponent_variance,
    pair_deviation,
    predict_best_power,
    predict_radial_floor,
    product_of_sines_floor,
    resolvable_gap,
)
from sciml.validation import Case, Measurements

DIGITS = 40
CAUCHY = "Cauchy's determinant; Borwein and Erdelyi 1995, section 4.2"
SPANS = (["0.28"], ["0.28", "0.82"], ["-0.1", "0.3", "1.2"], ["0.1", "0.5", "1.5", "2", "3.7"])


def _moment(exponent: Any, logs: int, dimension: int) -> Any:
    """Integral of ``r^exponent log(r)^logs r^(d-1)`` over [0, 1]."""
    return (-1) ** logs * mpmath.factorial(logs) / (exponent + dimension) ** (logs + 1)


def _gram(columns: list[tuple[Any, int]], dimension: int) -> Any:
    return mpmath.matrix(
        [[_moment(a + b, k + m, dimension) for b, m in columns] for a, k in columns]
    )


# --- Distances -----------------------------------------------------------------------------------


def _distances() -> Measurements:
    rows, worst = [], {"power": 0.0, "log": 0.0, "power log": 0.0, "coefficients": 0.0}
    target = "0.7"
    with mpmath.workdps(70):
        for dimension, span in itertools.product((1, 2, 3), SPANS):
            powers = [(mpmath.mpf(mu), 0) for mu in span]
            for kind, head, tail, value in (
                ("power", (mpmath.mpf(target), 0), powers, best_power),
                ("log", (mpmath.mpf(0), 1), [(mpmath.mpf(0), 0), *powers], None),
                ("power log", (mpmath.mpf(target), 1), powers, best_power_log),
            ):
                exact = mpmath.det(_gram([head, *tail], dimension))
                exact /= mpmath.det(_gram(tail, dimension))
                closed = (
                    best_log(span, dimension, digits=DIGITS)
                    if value is None
                    else value(target, span, dimension, digits=DIGITS)
                )
                error = float(abs(closed**2 / exact - 1))
                worst[kind] = max(worst[kind], error)
                rows.append({"d": dimension, "span": ", ".join(span), "of": kind, "error": error})
            right = mpmath.matrix([_moment(head[0] + mu, 0, dimension) for mu, _ in powers])
            solved = mpmath.lu_solve(_gram(powers, dimension), right)
            found = best_coefficients(target, span, dimension, digits=DIGITS)
            worst["coefficients"] = max(
                worst["coefficients"],
                *(float(abs(a / b - 1)) for a, b in zip(found, solved, strict=True)),
            )
        known = best_power_log("0.5", ["0.28", "0.82"], 1, digits=DIGITS) ** 2
        quadrature = _quadrature_error()
    return Measurements(
        values={
            **{f"error of {kind}": error for kind, error in worst.items()},
            "moments against quadrature": quadrature,
            "distance^2 of r^0.5 log r from r^0.28, r^0.82": float(known),
            "least squares of one power": _one_power(),
            "least squares of r^0.5 log r": _log_fit(),
        },
        table=rows,
    )


def _quadrature_error() -> float:
    """Of the moments, by tanh-sinh quadrature in 30 digits."""
    worst = 0.0
    with mpmath.workdps(30):
        for a, k, d in ((mpmath.mpf("0.3"), 2, 1), (mpmath.mpf("-0.4"), 1, 3)):
            total = mpmath.quad(
                lambda r, a=a, k=k, d=d: r ** (a + d - 1) * mpmath.log(r) ** k, [0, 1]
            )
            worst = max(worst, float(abs(total / _moment(a, k, d) - 1)))
    return worst


def _design(grading: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Gauss nodes in ``t`` with ``r = t^p``: radii, and square roots of the weights ``dr``."""
    nodes, weights = np.polynomial.legendre.leggauss(300)
    t = 0.5 + 0.5 * nodes
    return t**grading, np.sqrt(0.5 * weights * grading * t ** (grading - 1))


def _residual(columns: np.ndarray, wanted: np.ndarray, weight: np.ndarray) -> float:
    rows = weight[:, None] * columns
    left = weight * wanted - rows @ np.linalg.lstsq(rows, weight * wanted, rcond=None)[0]
    return float(np.linalg.norm(left))


def _one_power() -> float:
    r, weight = _design()
    return _residual((r**1.0)[:, None], r**0.5, weight)


def _log_fit() -> float:
    r, weight = _design()
    return _residual(r[:, None] ** np.array([0.28, 0.82]), r**0.5 * np.log(r), weight) ** 2


DISTANCES = Case(
    name="distances",
    title="Distances of powers and logarithms from sums of powers",
    description=(
        "Products in closed form against quotients of Gram determinants in 70 digits, in one to "
        "three dimensions; the entries of the Gram matrix against quadrature; double precision "
        "against least squares at Gauss points."
    ),
    run=_distances,
    predictions=(
        *(
            Prediction(name=f"error of {kind}", value=1e-20, kind="at_most", source=CAUCHY)
            for kind in ("power", "log", "power log", "coefficients")
        ),
        Prediction(
            name="moments against quadrature",
            value=1e-20,
            kind="at_most",
            source="k!/(a + d)^(k+1), by parts",
        ),
        Prediction(
            name="distance^2 of r^0.5 log r from r^0.28, r^0.82",
            value=3.70890392004618e-5,
            kind="equals",
            rtol=1e-14,
            source="mixed derivative of Cauchy's quotient",
        ),
        predict_best_power(0.5, 1.0, name="least squares of one power"),
        Prediction(
            name="least squares of r^0.5 log r",
            value=3.70890392004618e-5,
            kind="equals",
            rtol=1e-8,
            source="the same, fitted",
        ),
    ),
)

# --- Variances -----------------------------------------------------------------------------------


def _variances() -> Measurements:
    rows, worst = [], {"coefficients": 0.0, "exponents": 0.0}
    unit = mpmath.mpf("0.01") ** 2 / 200
    for dimension, (powers, sizes) in itertools.product(
        (1, 2, 3),
        (
            (["0.5"], ["2"]),
            (["0.5", "0.8"], ["1", "-3"]),
            (["-0.1", "0.5", "1.5"], ["1", "2", "0.5"]),
        ),
    ):
        with mpmath.workdps(70):
            columns = [(mpmath.mpf(mu), 0, mpmath.mpf(1)) for mu in powers]
            columns += [
                (mpmath.mpf(mu), 1, mpmath.mpf(c)) for mu, c in zip(powers, sizes, strict=True)
            ]
            fisher = mpmath.matrix(
                [
                    [c * e * dimension * _moment(a + b, k + m, dimension) for b, m, e in columns]
                    for a, k, c in columns
                ]
            )
            count = len(powers)
            full, linear = fisher**-1, fisher[:count, :count] ** -1
            args = ("0.01", 200, dimension)
            closed = exponent_variance(powers, sizes, *args, digits=DIGITS)  # pyright: ignore
            fixed = coefficient_variance(powers, *args, digits=DIGITS)  # pyright: ignore
            unit = mpmath.mpf("0.01") ** 2 / 200
            errors = {
                "exponents": [abs(v / (unit * full[count + i, count + i]) - 1)
                              for i, v in enumerate(closed)],
                "coefficients": [abs(v / (unit * linear[i, i]) - 1) for i, v in enumerate(fixed)],
            }  # fmt: skip
        for kind, found in errors.items():
            worst[kind] = max(worst[kind], float(max(found)))
        rows.append({"d": dimension, "exponents": ", ".join(powers), "error": worst["exponents"]})
    return Measurements(
        values={
            "error of coefficient variances": worst["coefficients"],
            "error of exponent variances": worst["exponents"],
            "against a design matrix": _against_design(),
            "deviation at gap 0.1": pair_deviation(0.5, 0.1, 0.01, 200),
            "resolvable gap": resolvable_gap(0.5, 0.01, 200),
        },
        table=rows,
    )


def _against_design() -> float:
    """Samples ``x = t^2``: the information matrix by Gauss points in ``t``."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    s = 0.5 + 0.5 * nodes
    t, weight = s**4, np.sqrt(0.5 * weights * 4 * s**3)  # t itself graded: logarithms at 0
    x = t**2
    columns = np.column_stack([x**0.5, x**0.8, x**0.5 * np.log(x), -2 * x**0.8 * np.log(x)])
    rows = weight[:, None] * columns
    triangle = np.linalg.qr(rows)[1]
    variance = np.diag(np.linalg.inv(triangle) @ np.linalg.inv(triangle).T)[2:]
    closed = exponent_variance([0.5, 0.8], [1.0, -2.0], 1.0, 1, grading=2)
    return float(np.max(np.abs(variance / np.array(closed) - 1)))


VARIANCES = Case(
    name="variances",
    title="Cramer-Rao bounds of exponents and coefficients",
    description=(
        "Products in closed form against the inverse of the expected information matrix in 70 "
        "digits, one to three dimensions; graded samples x = t^2 against a design matrix; and "
        "the gap below which two equal terms cannot be told apart at sigma = 0.01, N = 200."
    ),
    run=_variances,
    predictions=(
        Prediction(
            name="error of coefficient variances", value=1e-20, kind="at_most", source=CAUCHY
        ),
        Prediction(
            name="error of exponent variances",
            value=1e-20,
            kind="at_most",
            source="limit of Cauchy's inverse with every power doubled, derived here",
        ),
        Prediction(
            name="against a design matrix",
            value=1e-8,
            kind="at_most",
            source="exponents p mu, deviation over p",
        ),
        Prediction(
            name="deviation at gap 0.1",
            value=1.02,
            kind="equals",
            atol=0.005,
            source="Cramer-Rao bound of two equal terms",
        ),
        Prediction(
            name="resolvable gap",
            value=0.43,
            kind="equals",
            atol=0.005,
            source="deviation below a quarter of the gap",
        ),
    ),
)

# --- Contamination -------------------------------------------------------------------------------

_MU, _BETA, _SHARE = 0.5, 1.5, 1e-4


def _drift(radius: float, share: float = _SHARE) -> float:
    """Exponent less 1/2 of one power fitted to two on (0, R), by variable projection."""
    from sciml.powerlaw import SparseDerivatives, variable_projection

    r, weight = _design()
    r = radius * r

    def model(p: np.ndarray) -> tuple[np.ndarray, SparseDerivatives]:
        columns = r[:, None] ** p[:, None, :]
        return columns, SparseDerivatives((columns[..., 0] * np.log(r))[:, None], (0,), (0,))

    fit = variable_projection(
        model, r**_MU + share * r**_BETA, np.array([1.0]), weights=weight, kaufman=False
    )
    return float(fit.parameters[0]) - _MU


def _contamination() -> Measurements:
    radii = [1.0, 0.5, 0.25, 0.125, 0.0625]
    drifts = [_drift(radius) for radius in radii]
    predicted = [float(contamination_bias(_MU, _BETA, _SHARE, radius)) for radius in radii]
    slope = float(np.polyfit(np.log(radii), np.log(drifts), 1)[0])
    rows = [
        {"R": r, "drift": d, "predicted": p}
        for r, d, p in zip(radii, drifts, predicted, strict=True)
    ]
    return Measurements(
        values={
            "relative error of the bias": abs(drifts[0] / predicted[0] - 1),
            "slope in the radius": slope,
        },
        table=rows,
    )


CONTAMINATION = Case(
    name="contamination",
    title="A regular part shifts a local exponent, at a known rate",
    description=(
        "One power fitted to r^0.5 + 1e-4 r^1.5 on (0, R). The shift is that of first order in "
        "closed form and goes like R^(1.5 - 0.5)."
    ),
    run=_contamination,
    predictions=(
        Prediction(
            name="relative error of the bias",
            value=1e-4,
            kind="at_most",
            source="first order in delta, derived here; the next order is of relative size delta",
        ),
        Prediction(
            name="slope in the radius",
            value=_BETA - _MU,
            kind="equals",
            rtol=0.03,
            source="R^(beta - mu)",
        ),
    ),
)

# --- Floors --------------------------------------------------------------------------------------

_ADDITIVE = {"log r": 0.353, "1/r": 0.604, "r^0.5": 0.0612, "r": 0.0635, "r^4": 0.194}


def _floors() -> Measurements:
    fields = {
        "log r": lambda r: np.log(r),
        "1/r": lambda r: 1 / r,
        "r^0.5": lambda r: r**0.5,
        "r": lambda r: r,
        "r^4": lambda r: r**4,
    }
    values = {
        f"from sums, {name}": additive_distance(lambda x, y, g=g: g(np.hypot(x, y)))
        for name, g in fields.items()
    }
    values["from sums, r^2"] = additive_distance(lambda x, y: x**2 + y**2)
    r = sympy.Symbol("r", positive=True)
    solution = additive_and_radial()
    spanned = sympy.simplify(solution.diff(r, 2) - solution.diff(r) / r) == 0
    values["radial sums beside a r^2 + b"] = float(not (spanned and solution.has(r**2)))
    values["radial model of two sines"] = _projection(0)
    values["two sines with sin 2 theta"] = _projection(2) / product_of_sines_floor([2])
    values["floor of two sines"] = product_of_sines_floor([2])
    values["radial model of a dipole"] = _dipole()
    theta = (np.arange(40_000) + 0.5) / 40_000 * 2 * np.pi - np.pi
    left = []
    for modes in (1, 2, 4, 8, 16):
        matrix = np.column_stack([f(n * theta) for n in range(modes + 1) for f in (np.cos, np.sin)])
        wanted = np.sin(theta / 2)
        rest = wanted - matrix @ np.linalg.lstsq(matrix, wanted, rcond=None)[0]
        left.append(float(np.linalg.norm(rest) / np.linalg.norm(wanted)))
    values["crack by whole modes"] = max(
        abs(found / crack_floor(modes) - 1)
        for found, modes in zip(left, (1, 2, 4, 8, 16), strict=True)
    )
    rows = [{"modes": m, "left": v} for m, v in zip((1, 2, 4, 8, 16), left, strict=True)]
    return Measurements(values=values, table=rows)


def _projection(frequency: int) -> float:
    """What is left of two sines on the disc without one angular mode (0: the mean)."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    radius, weight = 0.5 + 0.5 * nodes, 0.5 * weights * (0.5 + 0.5 * nodes)
    theta = np.arange(64) * 2 * np.pi / 64
    x, y = radius[:, None] * np.cos(theta), radius[:, None] * np.sin(theta)
    field = np.sin(np.pi * x) * np.sin(np.pi * y)
    mode = np.sin(frequency * theta) if frequency else np.ones(64)
    part = (field * mode).mean(1, keepdims=True) / (mode**2).mean() * mode
    return float(np.sqrt(np.sum(weight[:, None] * (field - part) ** 2)
                         / np.sum(weight[:, None] * field**2)))  # fmt: skip


def _dipole() -> float:
    """``z/r^3`` on a shell: what its mean over every sphere leaves."""
    cosines, weights = np.polynomial.legendre.leggauss(20)
    mean = float(np.sum(weights * cosines) / 2)
    return math.sqrt(float(np.sum(weights * (cosines - mean) ** 2) / np.sum(weights * cosines**2)))


FLOORS = Case(
    name="floors",
    title="What radial, additive and whole-mode models leave",
    description=(
        "Relative distances from additive functions on a 64 x 64 midpoint grid; two sines and a "
        "dipole, whose mean over every circle is zero; a crack, which whole modes do not see."
    ),
    run=_floors,
    predictions=(
        *(
            Prediction(
                name=f"from sums, {name}",
                value=value,
                kind="equals",
                rtol=5e-3,
                source="row and column means on this grid, to three digits",
            )
            for name, value in _ADDITIVE.items()
        ),
        Prediction(
            name="from sums, r^2", value=1e-15, kind="at_most", source="x^2 + y^2 is additive"
        ),
        Prediction(
            name="radial sums beside a r^2 + b",
            value=0,
            kind="equals",
            source="g'' = g'/r, solved symbolically",
        ),
        predict_radial_floor("radial model of two sines"),
        predict_radial_floor("radial model of a dipole"),
        Prediction(
            name="two sines with sin 2 theta",
            value=1.0,
            kind="equals",
            rtol=1e-8,
            source="Bessel series, Lommel's integrals",
        ),
        Prediction(
            name="floor of two sines", value=0.0865, kind="equals", atol=5e-5, source="the same"
        ),
        Prediction(
            name="crack by whole modes",
            value=1e-6,
            kind="at_most",
            source="1 - sum (8 n/(pi (4 n^2 - 1)))^2; midpoint rule across the jump, h^2",
        ),
    ),
)

CASES = [DISTANCES, VARIANCES, CONTAMINATION, FLOORS]
