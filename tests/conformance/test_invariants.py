"""Every invariant of every entry: conserved, nonincreasing or balanced by its own solver."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
import xarray as xr

import pdes
from pdes.invariant import Invariant, drift, integrals, mass
from pdes.problem import Problem
from pdes.solvers.cell_sides import cell_grid
from sciml.metrics import observed_order

# Shorter runs and fewer points where the defaults take long: span of time, points per axis.
SHORTER = {
    "advection_rotation": (0.2, 48),
    "advection_swirl": (0.2, 48),
    "allen_cahn_2d": (4.0, 64),
    "fitzhugh_nagumo": (0.5, 48),
    "gray_scott": (20.0, 48),
    "kdv": (0.4, None),
    "kolmogorov_flow": (0.5, None),
    "kuramoto_sivashinsky": (1.0, None),
    "lambda_omega": (0.5, None),
    "navier_stokes": (0.1, None),
}
# Each limit says what the solver does to the quantity; rounding where nothing is said.
LIMITS = {
    # The tail of the hump leaves through the sides: six widths away, and what the scheme adds.
    ("advection_rotation", "mass"): 5e-6,
    ("burgers_riemann", "mass"): 1e-6,
    # Order three at least, which the tests below measure; here few cells across a narrow hump.
    ("advection_rotation", "square"): 0.1,
    ("advection_swirl", "square"): 5e-3,
    # Symplectic: the energy swings with the square of the spacing.
    ("wave", "energy"): 5e-4,
    ("wave_2d", "energy"): 1e-2,
    ("wave_string", "energy"): 2e-3,
    # Error in time of order four, over the default run.
    ("gardner", "momentum"): 1e-8,
    ("gardner", "hamiltonian"): 1e-8,
    ("mkdv", "momentum"): 1e-8,
    ("mkdv", "hamiltonian"): 1e-8,
    # Order two in time, from noise that a few steps smooth away.
    ("fitzhugh_nagumo", "activator"): 2e-2,
    ("fitzhugh_nagumo", "inhibitor"): 1e-4,
    ("gray_scott", "matter"): 1e-5,
    # A spiral is not periodic: the seam of the box is not resolved.
    ("lambda_omega", "square"): 1e-3,
}
DEFAULT = {"conserved": 1e-10, "nonincreasing": 1e-13, "balance": 2e-5}
# No law is known: nothing is conserved, and no energy decays.
LAWLESS = {
    "advection_diffusion_wall",
    "burgers_2d",
    "fitzhugh_nagumo_manufactured",
    "gray_scott_manufactured",
    "heat_driven",
    "nagumo_front",
}


def _evolving() -> dict[str, Problem]:
    found = {name: pdes.get(name) for name in pdes.available()}
    return {
        name: problem
        for name, problem in found.items()
        if isinstance(problem, Problem) and problem.solver != "exact"
    }


PROBLEMS = _evolving()
CASES = [
    (name, invariant.name) for name, problem in PROBLEMS.items() for invariant in problem.invariants
]


def test_every_entry_states_its_laws() -> None:
    without = {name for name, problem in PROBLEMS.items() if not problem.invariants}
    # Flows are checked by the module of their family.
    assert without - set(pdes.available("flow")) == LAWLESS


@cache
def _run(name: str) -> tuple[Problem, xr.Dataset]:
    problem = dataclasses.replace(PROBLEMS[name], stored_points=None, discard=0.0)
    span, points = SHORTER.get(name, (None, None))
    if points is not None:
        made = tuple(dataclasses.replace(axis, points=points) for axis in problem.grid.axes)
        grid = dataclasses.replace(problem.grid, axes=made)
        if name == "advection_rotation":
            grid = cell_grid(x=(0.0, 1.0, points), y=(0.0, 1.0, points))
        problem = dataclasses.replace(problem, grid=grid)
    if span is None:
        span = problem.times[min(16, problem.times.size - 1)] - problem.times[0]
    times = problem.times[0] + np.linspace(0.0, span, 17)
    return problem, pdes.simulate(problem, times)


@pytest.mark.parametrize("case", CASES, ids="-".join)
@pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")
def test_law_holds(case: tuple[str, str]) -> None:
    name, label = case
    problem, data = _run(name)
    (invariant,) = [one for one in problem.invariants if one.name == label]
    limit = LIMITS.get(case, DEFAULT[invariant.law])
    assert drift(invariant, problem, data) < limit


def test_square_is_kept_up_to_the_order_of_the_scheme() -> None:
    """A swirl draws the hump out and back: the change of its square is error, and falls like it."""
    drifts = []
    for points in (32, 48, 64):
        axis = (0.0, 1.0, points)
        problem = pdes.get("advection_swirl", period=0.2, grid=pdes.Grid.periodic(x=axis, y=axis))
        data = pdes.simulate(problem, np.linspace(0.0, 0.2, 5))
        (square,) = [one for one in problem.invariants if one.name == "square"]
        drifts.append(drift(square, problem, data))
    assert observed_order([1 / 32, 1 / 48, 1 / 64], drifts) > 2.85
    assert drifts[-1] > 1e-12  # not rounding: a scheme of this kind does not keep it exactly


def test_square_of_a_turning_hump_is_kept_up_to_the_order_of_the_scheme() -> None:
    """The narrow hump of the entry: few cells across it, hence a slope still above the order."""
    drifts = []
    for points in (32, 48, 72):
        grid = cell_grid(x=(0.0, 1.0, points), y=(0.0, 1.0, points))
        problem = pdes.get("advection_rotation", grid=grid)
        data = pdes.simulate(problem, np.linspace(0.0, 0.2, 5))
        (square,) = [one for one in problem.invariants if one.name == "square"]
        drifts.append(drift(square, problem, data))
    for coarse in (0, 1):
        spacings = [1.0 / points for points in (32, 48, 72)[coarse : coarse + 2]]
        assert observed_order(spacings, drifts[coarse : coarse + 2]) > 2.85
    assert drifts[-1] > 1e-12


@pytest.mark.parametrize("solver", ["strang", "yoshida4"])
def test_splitting_keeps_what_schroedinger_keeps(solver: str) -> None:
    problem = pdes.get("nls", stored_points=None, grid=pdes.Grid.periodic(x=(-16.0, 16.0, 256)))
    data = pdes.simulate(problem, [0.0, 0.2, 0.4], solver=solver, time_step=0.005)
    found = {one.name: drift(one, problem, data) for one in problem.invariants}
    assert found["mass"] < 1e-12
    assert found["momentum"] < 1e-12
    assert found["hamiltonian"] < 1e-2


def test_energy_of_leapfrog_does_not_drift() -> None:
    """It swings, but a hundred periods later it is where it was."""
    problem = pdes.get("wave", grid=pdes.Grid.periodic(x=(0.0, 2.0 * np.pi, 32)))
    solution = pdes.exact.standing_wave(problem.equation, (2.0,))
    problem = dataclasses.replace(problem, initial=solution.initial, exact_name=None)
    times = np.linspace(0.0, 100 * np.pi, 201)
    data = pdes.simulate(problem, times, time_step=0.08)
    energy = integrals(problem.invariants[1], problem, data)
    assert np.ptp(energy) / energy[0] < 0.03
    first, last = energy[:20], energy[-20:]
    assert abs(last.max() - first.max()) < 1e-3 * energy[0]


def test_shocks_lose_entropy_and_keep_mass() -> None:
    problem = pdes.get("burgers_inviscid")
    data = pdes.simulate(problem, np.linspace(0.0, 3.0, 31))
    kept, entropy = problem.invariants
    assert drift(kept, problem, data) < 1e-12
    assert drift(entropy, problem, data) < 1e-13
    values = integrals(entropy, problem, data)
    assert values[-1] < 0.8 * values[0]
    # Before the shock at t = 1 the loss is the small one of the scheme.
    assert abs(values[8] / values[0] - 1.0) < 1e-5


# The measure itself


def test_a_law_that_does_not_hold_is_noticed() -> None:
    problem = pdes.get("burgers", stored_points=None)
    data = pdes.simulate(problem, np.linspace(0.0, 0.5, 11))
    square = Invariant(name="square", density="u^2/2")
    assert drift(square, problem, data) > 0.05
    growing = Invariant(name="loss", density="-u^2/2", law="nonincreasing")
    assert drift(growing, problem, data) > 1e-3
    half = Invariant(name="half", density="u^2/2", law="balance", rate="-0.99*viscosity*u_x^2")
    right, wrong = (drift(one, problem, data) for one in (problem.invariants[1], half))
    assert wrong > 20.0 * right


def test_integrals_by_hand() -> None:
    """Between sides with half weights at the ends, over cells with whole ones, on strided grids."""
    string = pdes.get("wave_string", speed=2.0)
    data = pdes.simulate(string, [0.0])
    energy = integrals(string.invariants[0], string, data)
    # c^2/2 k^2 int cos^2 = c^2 k^2/4 for k = 3 pi, from central differences.
    assert energy[0] == pytest.approx(9.0 * np.pi**2, rel=5e-3)
    riemann = pdes.get("burgers_riemann")
    total = integrals(mass(), riemann, pdes.simulate(riemann, [0.0]))
    assert total[0] == pytest.approx(1.0, rel=1e-12)
    strided = pdes.get("heat", stored_points=64)
    full = pdes.get("heat", stored_points=None)
    pair = [integrals(strided.invariants[1], p, pdes.simulate(p, [0.0])) for p in (strided, full)]
    assert pair[0][0] == pytest.approx(pair[1][0], rel=1e-12)


def test_batches_are_integrated_sample_by_sample() -> None:
    problem = pdes.get("burgers")
    data = pdes.simulate(problem, [0.0, 0.1, 0.2], samples=3, seed=5)
    values = integrals(mass(), problem, data)
    assert values.shape == (3, 3)
    alone = integrals(mass(), problem, data.isel(sample=1))
    assert np.allclose(values[1], alone, atol=1e-14)
    assert drift(mass(), problem, data) < 1e-13


def test_densities_as_expressions() -> None:
    u = pdes.equation.field("u")
    problem = pdes.get("kdv", stored_points=None)
    data = pdes.simulate(problem, [0.0, 0.1])
    text = Invariant(name="h", density="u^3 - u_x^2/2")
    formula = Invariant(name="h", density=u**3 - u.diff(pdes.equation.coordinate("x")) ** 2 / 2)
    first, second = (integrals(one, problem, data) for one in (text, formula))
    assert np.array_equal(first, second)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"law": "constant"}, "law='constant'"),
        ({"law": "balance"}, "has a rate"),
        ({"law": "conserved", "rate": "u"}, "has a rate"),
    ],
)
def test_impossible_laws_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Invariant(name="m", density="u", **options)


def test_unknown_names_in_a_density_are_pointed_at() -> None:
    problem = pdes.get("heat")
    data = pdes.simulate(problem, [0.0])
    with pytest.raises(ValueError, match="w"):
        integrals(Invariant(name="m", density="w^2"), problem, data)
