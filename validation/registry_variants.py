"""Entries that share an equation with another one, and what has jumps: rates of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

import pdes
from pdes.grid import Grid
from pdes.invariant import drift
from pdes.library.darcy import RandomPermeability
from pdes.steady import SteadyProblem
from pdes.symbols import TIME, coordinate, number
from sciml.metrics import observed_order
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

from ._ladder import Ladder, ladder_case
from ._manufactured import with_solution
from .registry_manufactured import steady_slope

X, Y, PI = coordinate("x"), coordinate("y"), sympy.pi

# --- Ends that are given, and two reacting fields ------------------------------------------------

_SECOND = "central differences and Crank-Nicolson with Adams-Bashforth, step like spacing"


def _pattern(equation: Any) -> Any:
    """Two waves on (-1, 1)^2 that react, with the source that they need."""
    x, y = PI * X, PI * Y
    fields = {
        "u": number(0.6) + sympy.cos(x) * sympy.sin(y) * sympy.cos(TIME) / 5,
        "v": number(0.3) + sympy.sin(x) * sympy.cos(2 * y) * sympy.sin(TIME) / 10,
    }
    return pdes.exact.manufactured(equation, fields)


DIFFERENCES = ladder_case(
    "finite-differences",
    "A shock between given ends; the Gray-Scott system with its own solver",
    (
        "The viscous shock of the entry against its closed form; the system of the entry, whose "
        "diffusion is weak, against a manufactured pattern. Largest error."
    ),
    (
        Ladder(
            entry="burgers_shock",
            solver="finite_difference",
            sizes=(96, 192, 384),
            stop=2.0,
            step=lambda size: 0.04 * 96 / size,
            order=2.0,
            source=_SECOND,
        ),
        Ladder(
            entry="gray_scott",
            solution=_pattern,
            sizes=(16, 32, 64),
            stop=1.0,
            step=lambda size: 0.1 * 16 / size,
            order=2.0,
            source=_SECOND,
        ),
    ),
)

# --- Modes and a soliton -------------------------------------------------------------------------

_STEPS = (0.2, 0.1, 0.05)
_SOLITON_STEPS = (0.08, 0.04, 0.02)
_CUT_TAIL = 1e-8
"""Ten times what the box of the soliton cuts off, 2 exp(-22) and rounding: the derived floor."""


def _error(problem: pdes.Problem, end: float, step: float | None, solver: str) -> float:
    """Largest error at the end of a run."""
    run = pdes.simulate(problem, [end], time_step=step, solver=solver)
    wanted = problem.exact[str(problem.exact_name)].evaluate(problem.grid, [end])
    return float(np.abs(run.u.values - wanted["u"]).max())


def _timed(entry: str, solver: str, steps: tuple[float, ...], errors: list[float]) -> dict:
    return {
        "entry": entry,
        "solver": solver,
        "predicted order": 4,
        "measured order": observed_order(steps, errors),
        "error": errors[-1],
        "invariant drift": "-",
    }


def _in_time() -> Measurements:
    values, table = {}, []
    for name in ("heat_one_mode", "heat_two_modes"):
        full = pdes.get(name)
        values[f"error, {name}"] = error = _error(full, 2.0, None, "etdrk4")
        row = _timed(name, "etdrk4", _STEPS, [1.0, 1.0, error])
        table.append(row | {"predicted order": "exact", "measured order": "exact"})
        # Explicit steps are stable on few points, and these modes need no more.
        few = dataclasses.replace(full, grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 16)))
        errors = [_error(few, 2.0, step, "rk4") for step in _STEPS]
        table.append(_timed(name, "rk4", _STEPS, errors))
        values[f"order in time, {name}"] = table[-1]["measured order"]
    soliton = dataclasses.replace(pdes.get("kdv_soliton"), time_step=None)
    errors = [_error(soliton, 1.0, step, "etdrk4") for step in _SOLITON_STEPS]
    table.append(_timed("kdv_soliton", "etdrk4", _SOLITON_STEPS, errors))
    values["order in time, kdv_soliton"] = table[-1]["measured order"]
    values["smallest error used, kdv_soliton"] = min(errors)
    return Measurements(values=values, table=table)


IN_TIME = Case(
    name="in-time",
    title="One and two modes of heat; one soliton",
    description=(
        "Against the closed form of each entry: ETDRK4 is exact for a linear equation however long "
        "the step, RK4 has order 4; the soliton at t = 1 on the entry's own grid."
    ),
    run=_in_time,
    predictions=(
        *(
            prediction
            for name in ("heat_one_mode", "heat_two_modes")
            for prediction in (
                Prediction(
                    name=f"error, {name}", value=1e-13, kind="at_most", source="exact; rounding"
                ),
                Prediction(
                    name=f"order in time, {name}", value=4.0, kind="order", source="RK4 (Kutta)"
                ),
            )
        ),
        Prediction(
            name="order in time, kdv_soliton", value=4.0, kind="order", source="declared by ETDRK4"
        ),
        Prediction(
            name="smallest error used, kdv_soliton",
            value=_CUT_TAIL,
            kind="at_least",
            source="the order is read above what the box cuts off the soliton, 2 exp(-22)",
        ),
    ),
)

# --- More axes, and a wind that varies like a sine -----------------------------------------------

_LINEAR = {"advection_translation": 16, "heat_3d": 8}
"""Points along each axis on which explicit steps of 0.2 are stable; both fields need no more."""
_FEW_WAVES = {
    "advection_translation": {(1.0, 2.0): 1.0, (3.0, -1.0): 0.5},
    "heat_3d": {(1.0, 2.0, -1.0): 1.0, (3.0, -1.0, 2.0): 0.5},
}


def _drifts(problem: pdes.Problem, end: float) -> str:
    run = pdes.simulate(problem, np.linspace(0.0, end, 17))
    return ", ".join(f"{one.name} {drift(one, problem, run):.1e}" for one in problem.invariants)


def _linear() -> Measurements:
    values, table = {}, []
    for name, points in _LINEAR.items():
        full = pdes.get(name, stored_points=None)
        values[f"error, {name}"] = error = _error(full, 1.0, None, "etdrk4")
        row = _timed(name, "etdrk4", _STEPS, [1.0, 1.0, error])
        row |= {"invariant drift": _drifts(full, 1.0)}
        table.append(row | {"predicted order": "exact", "measured order": "exact"})
        modes = pdes.exact.linear_modes(full.equation, _FEW_WAVES[name])
        axes = {axis.name: (axis.start, axis.stop, points) for axis in full.grid.axes}
        few = dataclasses.replace(
            full,
            grid=Grid.periodic(**axes),
            initial=modes.initial,
            exact={modes.name: modes},
            exact_name=modes.name,
        )
        errors = [_error(few, 1.0, step, "rk4") for step in _STEPS]
        table.append(_timed(name, "rk4", _STEPS, errors))
        values[f"order in time, {name}"] = table[-1]["measured order"]
    wind = pdes.get("advection_sine", stored_points=None)
    lap = float(wind.times[-1])
    steps = tuple(lap / count for count in (512, 1024, 2048))
    # On 128 points the error in space, 1e-8, hides that of the smallest step.
    few = dataclasses.replace(wind, grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 192)))
    errors = [_error(few, lap, step, "rk4") for step in steps]
    row = _timed("advection_sine", "rk4", steps, errors)
    table.append(row | {"invariant drift": _drifts(wind, lap)})
    values["order in time, advection_sine"] = row["measured order"]
    run = pdes.simulate(wind, [0.0, lap])
    values["distance after a lap, advection_sine"] = float(np.ptp(run.u.values, axis=0).max())
    return Measurements(values=values, table=table)


LINEAR = Case(
    name="linear",
    title="A uniform wind in the plane, heat in three dimensions, a wind that varies like a sine",
    description=(
        "Against closed forms: ETDRK4 is exact where the coefficients are constant, RK4 has order "
        "4; where the wind is a + sin x everything is back after 2 pi/sqrt(a^2 - 1)."
    ),
    run=_linear,
    predictions=(
        *(
            Prediction(name=f"error, {name}", value=1e-12, kind="at_most", source="exact; rounding")
            for name in _LINEAR
        ),
        *(
            Prediction(name=f"order in time, {name}", value=4.0, kind="order", source="RK4 (Kutta)")
            for name in (*_LINEAR, "advection_sine")
        ),
        Prediction(
            name="distance after a lap, advection_sine",
            value=1e-7,
            kind="at_most",
            source="error of RK4 at the step of the entry, a lap over 2048: (w dt k)^4 and less",
        ),
    ),
)

# --- Permeability that jumps ---------------------------------------------------------------------

_BOX = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
_HIGH, _LOW = 12, 3


def _halves(interface: float) -> SteadyProblem:
    """Two phases side by side.

    Head and flux across are continuous, neither vanishes at the interface, and the flux along it
    jumps with the permeability.
    """
    s = number(interface)
    permeability = sympy.Piecewise((_HIGH, s > X), (_LOW, True))
    shape = sympy.sin(2 * X + sympy.Rational(1, 2))
    across = [1 + (shape - shape.subs(X, s)) / a for a in (_HIGH, _LOW)]
    head = sympy.Piecewise((across[0] * sympy.exp(Y), s > X), (across[1] * sympy.exp(Y), True))
    return with_solution(pdes.get("darcy"), {"u": head}, _BOX, coefficients={"a": permeability})


def _blocks() -> SteadyProblem:
    """Sixteen blocks, phases by chance, and no head around: as the entry is, with wide patches."""
    phases = RandomPermeability()(
        x=np.linspace(0.125, 0.875, 4)[:, None], y=np.linspace(0.125, 0.875, 4)[None, :]
    )
    rows = []
    for i, row in enumerate(phases):
        cells = [(number(float(a)), number((j + 1) / 4) > Y) for j, a in enumerate(row)]
        column = sympy.Piecewise(*cells[:-1], (cells[-1][0], True))
        rows.append((column, number((i + 1) / 4) > X))
    permeability = sympy.Piecewise(*rows[:-1], (rows[-1][0], True))
    head = sympy.sin(4 * PI * X) * sympy.sin(4 * PI * Y) / permeability
    return with_solution(pdes.get("darcy"), {"u": head}, _BOX, coefficients={"a": permeability})


_CUT = 0.3719
_EVEN = (16, 32, 64, 128)
_MANY = tuple(range(20, 200, 13))
JUMPS: tuple[tuple[str, float, Callable[[], SteadyProblem], tuple[int, ...], str], ...] = (
    (
        "darcy (two phases, jump on faces)",
        2,
        lambda: _halves(0.5),
        _EVEN,
        "harmonic means are exact for a jump on a face",
    ),
    (
        "darcy (two phases by chance in 16 blocks)",
        2,
        _blocks,
        _EVEN,
        "harmonic means are exact for a jump on a face",
    ),
    (
        f"darcy (two phases, jump at {_CUT} cuts cells)",
        1,
        lambda: _halves(_CUT),
        _MANY,
        "a cell with the wrong mean costs an order",
    ),
)


def _jumps() -> Measurements:
    values, table = {}, []
    for label, order, make, sizes, _source in JUMPS:
        problem = make()
        domains = [pdes.get("darcy", cells=n).domain for n in sizes]
        row = steady_slope(
            label, order, [dataclasses.replace(problem, domain=domain) for domain in domains]
        )
        values[label] = row["measured order"]
        table.append(row)
    return Measurements(values=values, table=table)


TWO_PHASES = Case(
    name="two-phases",
    title="Darcy flow through two phases, 12 and 3",
    description=(
        "The equation and solver of the entry, with heads that are continuous and whose flux is, "
        "manufactured for a permeability that jumps. Mean square error."
    ),
    run=_jumps,
    predictions=tuple(
        Prediction(
            name=label, value=order, kind="equals", atol=0.15 if order == 2 else 0.2, source=source
        )
        for label, order, _make, _sizes, source in JUMPS
    ),
)

# --- Squares that the wind keeps -----------------------------------------------------------------

_TURNS = {"advection_rotation": (0.1, (48, 72, 96)), "advection_swirl": (0.5, (48, 64, 96))}


def _square_drift(name: str, stop: float, size: int) -> float:
    """Largest change of the square along a run."""
    ladder = Ladder(entry=name, sizes=(size,), stop=stop, order=3.0, source="")
    problem = ladder.problem(size)
    if name == "advection_rotation":
        hump = pdes.exact.rotated_gaussian(problem.equation, center=(0.5, 0.6), width=0.09)
        problem = dataclasses.replace(problem, initial=hump.initial, exact_name=None)
    (square,) = [one for one in problem.invariants if one.name == "square"]
    run = pdes.simulate(problem, np.linspace(0.0, stop, 11))
    return drift(square, problem, run)


def _squares() -> Measurements:
    values, table = {}, []
    for name, (stop, sizes) in _TURNS.items():
        drifts = [_square_drift(name, stop, size) for size in sizes]
        slope = observed_order([1.0 / n for n in sizes], drifts)
        values[f"order of the drift, {name}"] = slope
        table.append(
            {
                "entry": f"{name}, drift of the square",
                "solver": "weno5",
                "predicted order": 3,
                "measured order": slope,
                "error": drifts[-1],
                "invariant drift": f"square {drifts[-1]:.1e}",
                "grids": ", ".join(map(str, sizes)),
            }
        )
    return Measurements(values=values, table=table)


SQUARES = Case(
    name="squares",
    title="What a wind without divergence keeps, up to the error of the scheme",
    description=(
        "The integral of u^2 is kept by the equation; the scheme changes it, up and down, and the "
        "largest change falls like the error."
    ),
    run=_squares,
    predictions=tuple(
        Prediction(
            name=f"order of the drift, {name}",
            value=3.0,
            kind="order",
            source="SSPRK3 at a fixed Courant number",
        )
        for name in _TURNS
    ),
    tier="full",
)

CASES = [DIFFERENCES, IN_TIME, LINEAR, TWO_PHASES, SQUARES]
