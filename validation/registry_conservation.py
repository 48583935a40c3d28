"""Registry entries against their closed forms: order, error and invariant drift, entry by entry."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import pdes
from pdes.exact.closed_form import ClosedForm
from pdes.grid import Axis, Grid
from pdes.invariant import drift
from sciml.metrics import observed_order
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

from ._ladder import Ladder, ladder_case


def _together(first: int, step: float, power: float = 1.0) -> Callable[[int], float]:
    """Step that shrinks like a power of the spacing."""
    return lambda size: step * (first / size) ** power


def _sine(equation: Any) -> ClosedForm:
    import sympy

    from pdes.equation import coordinate

    return pdes.exact.traveling_profile(equation, sympy.sin(coordinate("x")))


def _wide_hump(equation: Any) -> ClosedForm:
    return pdes.exact.rotated_gaussian(equation, center=(0.5, 0.6), width=0.09)


def _robust_cole_hopf(equation: Any) -> ClosedForm:
    return pdes.exact.cole_hopf(equation)


_RECONSTRUCTION = "Jiang and Shu 1996: fifth-order reconstruction"
_TIME = "SSPRK3 at a fixed Courant number"
_EDGE = "L1 error of a front u ~ d^(1/(m-1)): at least 1.5 for m <= 3, irregular from grid to grid"

CONSERVATIVE = ladder_case(
    "finite-volumes",
    "Finite volumes: WENO5, Lax-Friedrichs, SSPRK3",
    "Smooth fields, shocks, fans and degenerate fronts, in the mean of the error.",
    (
        Ladder(
            entry="advection",
            solver="weno5",
            solution=_sine,
            sizes=(40, 80, 160),
            stop=1.0,
            step=_together(40, 0.075, 5.0 / 3.0),
            order=5.0,
            norm="mean",
            source=_RECONSTRUCTION + ", step like spacing^(5/3)",
        ),
        Ladder(
            entry="burgers_inviscid",
            sizes=(80, 160, 320),
            stop=0.5,
            order=3.0,
            norm="mean",
            source=_TIME,
        ),
        Ladder(
            entry="burgers_riemann",
            sizes=(50, 100, 200, 400),
            stop=0.3,
            order=1.0,
            norm="mean",
            source="the shock is smeared over a fixed number of cells",
        ),
        Ladder(
            entry="burgers_riemann",
            parameters={"left": -1.0, "right": 0.7},
            sizes=(50, 100, 200, 400),
            stop=0.5,
            order=1.0,
            atol=0.15,
            norm="mean",
            source="corners of the fan; order one up to a logarithm",
        ),
        Ladder(
            entry="advection_rotation",
            solution=_wide_hump,
            sizes=(48, 72, 96),
            stop=0.1,
            order=3.0,
            norm="mean",
            source=_TIME,
        ),
        Ladder(
            entry="burgers",
            parameters={"viscosity": 0.2},
            solver="weno5",
            solution=_robust_cole_hopf,
            sizes=(32, 64, 128),
            stop=0.5,
            order=2.0,
            norm="mean",
            source="central second difference of the viscous flux",
        ),
        *(
            Ladder(
                entry="porous_medium",
                parameters={"exponent": exponent},
                sizes=(40, 80, 160, 320, 640),
                stop=0.25,
                order=order,
                norm="mean",
                source=_EDGE,
            )
            for exponent, order in ((1.5, 2.0), (2.0, 1.5), (3.0, 1.5))
        ),
    ),
    tier="full",
)

_SECOND = "central differences and Crank-Nicolson with Adams-Bashforth, step like spacing"

SIDES = ladder_case(
    "finite-differences",
    "Finite differences between sides: CN-AB2",
    "Dirichlet, Neumann and Robin sides, fixed and moving, in the largest error.",
    tuple(
        Ladder(
            entry=entry,
            solver="finite_difference",
            sizes=sizes,
            stop=stop,
            step=_together(sizes[0], step),
            order=2.0,
            source=_SECOND,
        )
        for entry, sizes, stop, step in (
            ("heat_dirichlet", (16, 32, 64), 1.0, 0.05),
            ("heat_neumann", (16, 32, 64), 1.0, 0.05),
            ("heat_robin", (16, 32, 64), 1.0, 0.05),
            ("heat_driven", (32, 64, 128), 1.0, 0.02),
            ("advection_diffusion_wall", (32, 64, 128), 4.0, 0.02),
            ("fisher_front", (64, 128, 256), 2.0, 0.1),
            ("nagumo_front", (64, 128, 256), 1.0, 0.05),
            ("burgers_2d", (12, 24, 48), 0.2, 0.01),
            ("fitzhugh_nagumo_manufactured", (16, 32, 64), 0.5, 0.1),
        )
    ),
)

WAVES = ladder_case(
    "waves",
    "Waves: leapfrog",
    "Courant number 0.4 on every grid, in the largest error of displacement and velocity.",
    tuple(
        Ladder(
            entry=entry,
            sizes=sizes,
            stop=stop,
            step=lambda size, length=length: 0.4 * length / size,
            order=2.0,
            source="central differences in space and time",
        )
        for entry, sizes, stop, length in (
            ("wave", (64, 128, 256), 1.0, 2.0 * np.pi),
            ("wave_string", (32, 64, 128), 0.9, 1.0),
            ("wave_2d", (16, 32, 64), 1.0, 2.0 * np.pi),
        )
    ),
)


# --- Time ----------------------------------------------------------------------------------------

_STEPS = (0.05, 0.025, 0.0125)


def _soliton_errors(solver: str) -> tuple[list[float], str]:
    """Schroedinger soliton against its closed form."""
    grid = Grid.periodic(x=(-12.0, 12.0, 128))
    problem = pdes.get("nls", stored_points=None, grid=grid)
    soliton = pdes.exact.nls_soliton(problem.equation, amplitude=1.5, velocity=0.5)
    problem = dataclasses.replace(problem, initial=soliton.initial, exact_name=None)
    errors, kept = [], ""
    for step in _STEPS:
        data = pdes.simulate(problem, [0.0, 0.5], solver=solver, time_step=step)
        wanted = soliton.evaluate(grid, [0.5])["h"][0]
        errors.append(float(np.max(np.abs(data.h.values[-1] - wanted))))
        kept = ", ".join(f"{i.name} {drift(i, problem, data):.1e}" for i in problem.invariants)
    return errors, kept


def _reaction_errors(name: str) -> tuple[list[float], str]:
    """Allen-Cahn between insulated sides, against steps a fifth of the smallest."""
    from pdes.boundary import Neumann

    equation = pdes.get("allen_cahn").equation
    grid = Grid((Axis("x", 0.0, np.pi, 65, periodic=False),))
    x = grid.coordinates()["x"]
    problem = pdes.Problem(
        equation=equation,
        grid=grid,
        boundary={"x-": Neumann(0.0), "x+": Neumann(0.0)},
        initial={"u": 0.4 * np.cos(x) + 0.2 * np.cos(3.0 * x)},
        times=np.array([1.0]),
        invariants=pdes.get("allen_cahn").invariants,
        solver=name,
    )

    def end(step: float) -> np.ndarray:
        return pdes.simulate(problem, time_step=step).u.values[-1]

    reference = end(_STEPS[-1] / 20.0)
    errors = [float(np.max(np.abs(end(step) - reference))) for step in _STEPS]
    data = pdes.simulate(problem, np.linspace(0.0, 1.0, 11), time_step=_STEPS[-1])
    return errors, ", ".join(f"{i.name} {drift(i, problem, data):.1e}" for i in problem.invariants)


_TIMED = {
    "strang": ("nls", 2, _soliton_errors),
    "yoshida4": ("nls", 4, _soliton_errors),
    "finite_difference": ("allen_cahn", 2, _reaction_errors),
    "finite_difference_sbdf2": ("allen_cahn", 2, _reaction_errors),
    "finite_difference_ars443": ("allen_cahn", 3, _reaction_errors),
}


def _time_orders() -> Measurements:
    values, table = {}, []
    for solver, (entry, order, measure) in _TIMED.items():
        errors, kept = measure(solver)
        values[f"order in time, {solver}"] = slope = observed_order(_STEPS, errors)
        table.append(
            {
                "entry": entry,
                "solver": solver,
                "predicted order": order,
                "measured order": slope,
                "error (max)": errors[-1],
                "invariant drift": kept,
            }
        )
    return Measurements(values=values, table=table)


TIME = Case(
    name="time",
    title="Splitting and IMEX methods: order in time",
    description=(
        "A soliton of the nonlinear Schroedinger equation against its closed form; a mixture that "
        "separates, against small steps on the same grid."
    ),
    run=_time_orders,
    predictions=tuple(
        Prediction(
            name=f"order in time, {solver}",
            value=order,
            kind="order",
            source="declared by the method, its order conditions hold exactly",
        )
        for solver, (_, order, _measure) in _TIMED.items()
    ),
)


# --- Invariants ----------------------------------------------------------------------------------

# What each solver does to the quantities that its entries keep.
_ROUNDING = "sums of fluxes cancel: rounding of some thousand operations"
_KEPT = {
    "advection_conservative": _ROUNDING,
    "burgers_inviscid": _ROUNDING,
    "porous_medium": _ROUNDING,
    "porous_medium_2d": _ROUNDING,
    "heat_neumann": "the constant is a cosine, kept by the exponential",
    "keller_segel": _ROUNDING,
}
_SHORT = {
    **{"allen_cahn_2d": 4.0, "gray_scott": 20.0, "fitzhugh_nagumo": 0.2, "kdv": 0.4},
    **{"navier_stokes": 0.1, "navier_stokes_velocity": 0.15, "kolmogorov_flow": 0.15},
}


def _invariants() -> Measurements:
    rows: list[dict[str, Any]] = []
    for name in pdes.available():
        problem = pdes.get(name)
        if not isinstance(problem, pdes.Problem) or not problem.invariants:
            continue
        if problem.solver == "exact":
            continue
        problem = dataclasses.replace(problem, stored_points=None, discard=0.0)
        default = problem.times[min(10, problem.times.size - 1)] - problem.times[0]
        span = _SHORT[name] if name in _SHORT else float(default)
        data = pdes.simulate(problem, problem.times[0] + np.linspace(0.0, span, 11), strict=False)
        for one in problem.invariants:
            rows.append(
                {
                    "entry": name,
                    "solver": problem.solver,
                    "invariant": one.name,
                    "law": one.law,
                    "drift": drift(one, problem, data),
                }
            )
    masses = [
        r["drift"] for r in rows if r["entry"] in _KEPT and r["invariant"] in ("mass", "cells")
    ]
    growth = [r["drift"] for r in rows if r["law"] == "nonincreasing"]
    return Measurements(
        values={"largest drift of a mass": max(masses), "largest growth of a loss": max(growth)},
        table=rows,
        note=f"{len(rows)} invariants of {len({r['entry'] for r in rows})} entries.",
    )


INVARIANTS = Case(
    name="invariants",
    title="What every entry conserves, loses or balances",
    tier="full",
    description=(
        "Each entry with its own grid, solver and step over a short run. Masses of conservative "
        "schemes change by rounding; energies and entropies that must not grow do not grow."
    ),
    run=_invariants,
    predictions=(
        Prediction(name="largest drift of a mass", value=1e-12, kind="at_most", source=_ROUNDING),
        Prediction(
            name="largest growth of a loss",
            value=1e-13,
            kind="at_most",
            source="each law is one-sided, up to rounding",
        ),
    ),
)

CASES = [CONSERVATIVE, SIDES, WAVES, TIME, INVARIANTS]
