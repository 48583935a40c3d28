"""Every block of the power-law room and its derivatives, held at each point against many digits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

DIGITS = 30
RADII = np.geomspace(1e-3, 1.0, 7)
ANGLES = np.array([0.0, 0.4, 1.1, 2.3, 3.9, 6.2])
"""On the branch of a whole turn."""
POLAR_ANGLES = np.array([0.0, 0.5, 1.2, 2.0, 2.6, 2.95])
"""Up to 169 degrees; the series ends at 170."""

Function = Callable[..., Any]


def _power(log: Any, mu: Any) -> Any:
    return mpmath.exp(mu * log)


def _primitive(log: Any, mu: Any) -> Any:
    return mpmath.expm1(mu * log) / mu


def _first(log: Any, s: Any, q: Any) -> Any:
    return mpmath.exp(s * log) * mpmath.cosh(mpmath.sqrt(q) * log)


def _second(log: Any, s: Any, q: Any) -> Any:
    root = mpmath.sqrt(q)
    return mpmath.exp(s * log) * (mpmath.sinh(root * log) / root)


def _axial(log: Any, theta: Any, nu: Any) -> Any:
    z = mpmath.sin(theta / 2) ** 2
    return mpmath.exp(nu * log) * mpmath.hyp2f1(-nu, nu + 1, 1, z)


def _derivatives(function: Function, at: tuple[Any, ...], places: int, depth: int) -> list[Any]:
    """By ``log r`` up to an order, by an angle, and each of these by each parameter.

    With one place (``log r``, or ``zeta``): orders 0 to `depth`. With two: the value, and the
    derivatives by either place.
    """
    orders = [(k,) for k in range(depth + 1)] if places == 1 else [(0, 0), (1, 0), (0, 1)]
    count = len(at) - places
    found = [mpmath.diff(function, at, (*order, *(0,) * count)) for order in orders]
    for j in range(count):
        unit = tuple(int(i == j) for i in range(count))
        found += [mpmath.diff(function, at, (*order, *unit)) for order in orders]
    return found


def _worst(closed: Any, exact: Sequence[Any]) -> float:
    """Largest error relative to the value at each point; where that is 0, to the largest."""
    truth = np.array([float(value) for value in exact])
    size = np.abs(truth)
    # A zero comes out of numerical differentiation as rounding of many digits.
    size = np.where(size > 1e-18 * size.max(), size, max(size.max(), 1e-300))
    return float(np.max(np.abs(np.broadcast_to(closed, truth.shape) - truth) / size))


def _radial(name: str, functions: Sequence[Function], parameters: tuple[float, ...]) -> float:
    from sciml.powerlaw import blocks

    jets = getattr(blocks, name)(RADII, *parameters)
    errors = []
    for jet, function in zip((jets,) if hasattr(jets, "euler") else jets, functions, strict=True):
        rows = []
        for r in RADII:
            at = (mpmath.log(mpmath.mpf(float(r))), *map(mpmath.mpf, parameters))
            rows.append([mpmath.re(value) for value in _derivatives(function, at, 1, 2)])
        columns = list(zip(*rows, strict=True))
        parts = [jet.euler, *jet.parameters]
        errors += [
            _worst(closed, exact)
            for closed, exact in zip(itertools.chain(*parts), columns, strict=True)
        ]
        squares = [mpmath.mpf(float(r)) ** 2 for r in RADII]
        first = [e / mpmath.mpf(float(r)) for e, r in zip(columns[1], RADII, strict=True)]
        errors.append(_worst(jet.derivative(RADII), first))
        for d in (1, 2, 3):
            total = [
                (b + (d - 2) * a) / s
                for a, b, s in zip(columns[1], columns[2], squares, strict=True)
            ]
            errors.append(_worst(jet.laplacian(RADII, d), total))
    return max(errors)


def _planar(name: str, functions: Sequence[Function], parameters: tuple[float, ...]) -> float:
    """Real and imaginary parts of analytic functions of ``log r + i theta``."""
    from sciml.powerlaw import blocks

    r, theta = (grid.ravel() for grid in np.meshgrid(RADII, ANGLES, indexing="ij"))
    jets = getattr(blocks, name)(r, theta, *parameters)
    errors = []
    for which, function in enumerate(functions):
        rows = []
        for one, other in zip(r, theta, strict=True):
            zeta = mpmath.mpc(mpmath.log(mpmath.mpf(float(one))), mpmath.mpf(float(other)))
            at = (zeta, *map(mpmath.mpf, parameters))
            rows.append(_derivatives(function, at, 1, 1))
        columns = list(zip(*rows, strict=True))
        for part, jet in zip((mpmath.re, mpmath.im), jets[2 * which : 2 * which + 2], strict=True):
            closed = [jet.value, jet.euler, jet.angular, *itertools.chain(*jet.parameters)]
            exact = []
            for k in range(0, len(columns), 2):
                value, slope = columns[k : k + 2]
                exact += [[part(v) for v in value], [part(v) for v in slope]]
                exact.append([part(1j * v) for v in slope])  # d/dtheta is i d/dzeta
            errors += [_worst(a, b) for a, b in zip(closed, exact, strict=True)]
            errors.append(float(np.max(np.abs(jet.laplacian()))))
    return max(errors)


def _legendre(parameters: tuple[float, ...]) -> float:
    from sciml.powerlaw.blocks import legendre

    r, theta = (grid.ravel() for grid in np.meshgrid(RADII, POLAR_ANGLES, indexing="ij"))
    jet = legendre(r, theta, *parameters)
    rows = []
    for one, other in zip(r, theta, strict=True):
        at = (mpmath.log(mpmath.mpf(float(one))), mpmath.mpf(float(other)),
              *map(mpmath.mpf, parameters))  # fmt: skip
        rows.append(_derivatives(_axial, at, 2, 1))
    closed = [jet.value, jet.euler, jet.angular, *itertools.chain(*jet.parameters)]
    errors = [_worst(a, b) for a, b in zip(closed, zip(*rows, strict=True), strict=True)]
    return max(*errors, float(np.max(np.abs(jet.laplacian()))))


def _identities() -> Measurements:
    both = (_first, _second)
    members: list[tuple[str, Callable[[tuple[float, ...]], float], tuple[float, ...]]] = [
        *(("power", lambda p: _radial("power", (_power,), p), (mu,)) for mu in (0.7, -1.5)),
        *(("log-primitive", lambda p: _radial("log_primitive", (_primitive,), p), (mu,))
          for mu in (0.3, 1e-7)),
        *(("pair", lambda p: _radial("pair_block", both, p), (0.5, q)) for q in (0.2, 1e-7, -0.3)),
        *(("harmonic", lambda p: _planar("harmonic", (_power,), p), (mu,)) for mu in (0.7, 2.5)),
        *(("pair-harmonic", lambda p: _planar("pair_harmonic", both, p), (0.5, q))
          for q in (0.2, 1e-7, -0.3)),
        *(("Legendre", _legendre, (nu,)) for nu in (0.4630985617801065, 1.8, 4.3)),
    ]  # fmt: skip
    values, rows = {f"error of {name}": 0.0 for name, *_ in members}, []
    with mpmath.workdps(DIGITS):
        for name, measure, parameters in members:
            error = measure(parameters)
            values[f"error of {name}"] = max(values[f"error of {name}"], error)
            rows.append({"block": name, "parameters": str(parameters), "worst error": error})
    return Measurements(values=values, table=rows)


IDENTITIES = Case(
    name="identities",
    title="All blocks and their derivatives, relative to the value at each point",
    description=(
        "Powers, log-primitives, pair blocks, harmonic and pair-harmonic blocks of the plane and "
        "Legendre blocks of space at radii from 1e-3 to 1: value, derivatives by radius and angle, "
        "Laplacians in one, two and three dimensions, and all of these by the parameters, against "
        "numerical differentiation at 30 digits. The error is relative to the value at the same "
        "point, not to the largest of the column, except where that value is exactly 0."
    ),
    run=_identities,
    predictions=tuple(
        Prediction(
            name=f"error of {name}",
            value=1e-12,
            kind="at_most",
            source="identities: only rounding is allowed",
        )
        for name in ("power", "log-primitive", "pair", "harmonic", "pair-harmonic", "Legendre")
    ),
)

CASES = [IDENTITIES]
