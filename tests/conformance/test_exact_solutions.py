"""Every exact solution has zero residual, and the solvers agree with those that are periodic."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdes
from pdes import exact
from pdes.exact import ExactSolution
from pdes.invariant import drift

SOLUTIONS = {
    (name, key): solution
    for name in pdes.available()
    for key, solution in pdes.get(name).exact.items()
}
# What the defaults of an entry do not show: the other normalization, and the other sign.
SOLUTIONS |= {
    (f"nls({dispersion},{sign})", key): solution
    for dispersion, sign in ((1.0, 1), (0.5, -1), (1.0, -1))
    for key, solution in pdes.get("nls", dispersion=dispersion, sign=sign).exact.items()
}


@pytest.mark.parametrize("place", SOLUTIONS, ids="-".join)
def test_residual_vanishes(place: tuple[str, str]) -> None:
    assert SOLUTIONS[place].residual(points=16, digits=40) < 1e-25


def test_residual_notices_a_wrong_solution() -> None:
    solution = pdes.get("burgers").exact["cole_hopf"]
    wrong = ExactSolution(
        name="wrong",
        equation=solution.equation.with_parameters(viscosity=0.1000001),
        fields=pdes.get("burgers").exact["shock"].fields,
        parameters={"left": 1.0, "right": 0.0},
    )
    assert wrong.residual() < 1e-25
    other = pdes.get("burgers", viscosity=0.2).exact["shock"].fields["u"]
    scaled = {"u": 1.0000001 * other}
    assert (
        ExactSolution(
            name="scaled",
            equation=solution.equation,
            fields=scaled,
            parameters={"left": 1.0, "right": 0.0},
        ).residual()
        > 1e-9
    )


def test_every_solution_belongs_to_a_problem() -> None:
    known = {solution.name for solution in SOLUTIONS.values()}
    package = importlib.import_module("pdes.exact")
    for module in pkgutil.iter_modules(package.__path__):
        found = importlib.import_module(f"pdes.exact.{module.name}")
        for name, function in inspect.getmembers(found, inspect.isfunction):
            own = function.__module__ == found.__name__
            if own and function.__annotations__.get("return") == "ExactSolution":
                assert name in known or name == "linear_modes", name


VARIED = {
    ("burgers", "cole_hopf"): {"viscosity": (0.01, 1.0)},
    ("burgers", "n_wave"): {"viscosity": (0.01, 1.0)},
    ("burgers", "shock"): {"viscosity": (0.05, 1.0)},
    ("kdv", "soliton"): {"dispersion": (0.1, 5.0), "steepening": (0.5, 10.0)},
    ("kdv", "two_soliton"): {"dispersion": (0.1, 5.0), "steepening": (0.5, 10.0)},
    ("mkdv", "soliton"): {"dispersion": (0.1, 5.0), "steepening": (0.5, 10.0)},
    ("gardner", "soliton"): {"cubic": (-0.9, 5.0)},
    ("fisher_kpp", "front"): {"diffusivity": (0.01, 5.0), "growth": (0.1, 5.0)},
    ("nagumo", "front"): {"diffusivity": (0.1, 5.0), "threshold": (0.0, 1.0)},
    ("allen_cahn", "front"): {"diffusivity": (0.1, 5.0), "growth": (0.1, 5.0)},
    ("allen_cahn_2d", "front"): {"width": (0.1, 2.0)},
    ("kuramoto_sivashinsky", "front"): {"hyperviscosity": (0.1, 5.0)},
    ("advection_diffusion", "gaussian"): {"speed": (-5.0, 5.0), "diffusivity": (0.01, 5.0)},
    ("advection_diffusion", "modes"): {"speed": (-5.0, 5.0), "diffusivity": (0.01, 5.0)},
    ("lambda_omega", "wave"): {"diffusivity": (0.01, 0.6), "rotation": (-5.0, 5.0)},
}


@pytest.mark.parametrize("place", VARIED, ids="-".join)
@settings(max_examples=4, deadline=None, derandomize=True)
@given(data=st.data())
def test_residual_vanishes_for_any_parameters(place: tuple[str, str], data: st.DataObject) -> None:
    problem, key = place
    values = {
        name: data.draw(st.floats(low, high), label=name)
        for name, (low, high) in VARIED[place].items()
    }
    assert pdes.get(problem, **values).exact[key].residual(points=3) < 1e-25


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("heat_one_mode", 1e-14),
        ("heat_two_modes", 1e-14),
        # The box cuts the tail of the soliton, 2 exp(-22).
        ("kdv_soliton", 2e-8),
        # Likewise 2 sech(16), amplified while the breather contracts and expands.
        ("nls", 1e-6),
    ],
)
def test_simulation_follows_its_closed_form(name: str, limit: float) -> None:
    problem = pdes.get(name)
    run = pdes.simulate(problem)
    sampled = pdes.simulate(problem, solver="exact")
    for field in run.data_vars:
        assert run[field].dtype == sampled[field].dtype
        assert float(np.abs(run[field] - sampled[field]).max()) < limit


@pytest.mark.parametrize(
    ("name", "key", "length", "points", "step"),
    [
        ("burgers", "cole_hopf", 2.0 * np.pi, 256, 0.005),
        ("advection_diffusion", "modes", 2.0 * np.pi, 32, 0.1),
        ("advection", "profile", 2.0 * np.pi, 64, 0.1),
        ("heat_2d", "modes", 2.0 * np.pi, 16, 0.1),
        ("lambda_omega", "wave", 10.0, 16, 0.01),
    ],
)
def test_periodic_solutions_are_reproduced(
    name: str, key: str, length: float, points: int, step: float
) -> None:
    problem = pdes.get(name)
    grid = pdes.Grid.periodic(**dict.fromkeys(problem.grid.names, (0.0, length, points)))
    solution = problem.exact[key]
    problem = pdes.get(name, grid=grid, stored_points=None, initial=solution.initial)
    times = [0.0, 0.5, 1.0]
    run = pdes.simulate(problem, times, time_step=step)
    wanted = solution.evaluate(grid, times)
    for field, values in wanted.items():
        assert np.max(np.abs(run[field].values - values)) < 1e-8


def test_solitons_keep_their_shape_over_a_collision() -> None:
    """Two solitons against Hirota's formula; the box is chosen from the tail."""
    problem = pdes.get("kdv")
    solution = exact.kdv_two_soliton(problem.equation, wavenumbers=(1.6, 1.1), phases=(12.0, 2.0))
    grid = pdes.Grid.periodic(x=(-30.0, 30.0, 512))
    problem = pdes.get("kdv", grid=grid, stored_points=None, initial=solution.initial)
    run = pdes.simulate(problem, [0.0, 3.0, 6.0], time_step=0.002)
    wanted = solution.evaluate(grid, [0.0, 3.0, 6.0])["u"]
    assert np.abs(wanted[1] - wanted[0]).max() > 0.5
    assert np.max(np.abs(run.u.values - wanted)) < 1e-7


@pytest.mark.parametrize(("dispersion", "sign"), [(1.0, 1), (0.5, -1), (1.0, -1)])
def test_schroedinger_of_every_kind_follows_its_closed_form(dispersion: float, sign: int) -> None:
    problem = pdes.get("nls", dispersion=dispersion, sign=sign)
    times = [0.0, 0.2, 0.4]
    run = pdes.simulate(problem, times)
    sampled = pdes.simulate(problem, times, solver="exact")
    assert float(np.abs(run.h - sampled.h).max()) < 1e-6
    for invariant in problem.invariants:
        assert drift(invariant, problem, run) < 1e-6


@pytest.mark.parametrize("build", [exact.nls_soliton, exact.nls_breather, exact.peregrine])
def test_bright_forms_refuse_the_defocusing_sign(build) -> None:
    with pytest.raises(ValueError, match=r"sign=1, got sign=-1; take nls_dark_soliton"):
        build(pdes.get("nls", sign=-1).equation)
    with pytest.raises(ValueError, match=r"sign=-1, got sign=1; take nls_soliton"):
        exact.nls_dark_soliton(pdes.get("nls").equation)


def test_times_outside_the_validity_are_refused() -> None:
    grid = pdes.get("heat").grid
    with pytest.raises(ValueError, match="holds for times in"):
        pdes.get("heat").exact["gaussian"].evaluate(grid, [-1.0])


def test_two_solitons_hold_at_all_times() -> None:
    """Long before and after the encounter each soliton has its height, and nothing overflows."""
    solution = pdes.get("kdv").exact["two_soliton"]
    axis = pdes.Axis("x", -2000.0, 2000.0, 40001, periodic=False)
    late = solution.evaluate(pdes.Grid((axis,)), [-200.0, 0.0, 200.0, 900.0])["u"]
    assert np.isfinite(late).all()
    for frame in (late[0], late[2], late[3]):
        tops = frame[1:-1][
            (frame[1:-1] > frame[:-2]) & (frame[1:-1] > frame[2:]) & (frame[1:-1] > 0.1)
        ]
        # Half the square of the wave numbers, 1.4 and 1, between points 0.1 apart.
        assert sorted(tops) == pytest.approx([0.5, 0.98], abs=2e-3)
    near = solution.evaluate(pdes.get("kdv").grid, [-200.0])["u"]
    assert np.isfinite(near).all()


def test_n_wave_is_simulated_on_a_wide_circle() -> None:
    """From t = 1 on, on a box that its tails do not reach."""
    problem = pdes.get("burgers", grid=pdes.Grid.periodic(x=(-12.0, 12.0, 512)), stored_points=None)
    solution = problem.exact["n_wave"]
    start = solution.initial(problem.grid, time=1.0)
    later = pdes.get(
        "burgers", grid=problem.grid, stored_points=None, initial=lambda grid, rng: start
    )
    run = pdes.simulate(later, [0.0, 1.0], time_step=0.005)
    wanted = solution.evaluate(problem.grid, [2.0])["u"][0]
    assert np.max(np.abs(run.u.values[1] - wanted)) < 1e-8


def test_n_wave_holds_after_zero_only() -> None:
    solution = pdes.get("burgers").exact["n_wave"]
    grid = pdes.get("burgers").grid
    for time in (0.0, -1.0):
        with pytest.raises(ValueError, match="n_wave holds for times in"):
            solution.evaluate(grid, [time])
    assert np.isfinite(solution.evaluate(grid, [1e-12, 1e12])["u"]).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: exact.cole_hopf(pdes.get("burgers").equation, offset=1.0),
            "offset",
        ),
        (lambda: exact.n_wave(pdes.get("burgers").equation, age=0.0), "age=0.0 must be positive"),
        (
            lambda: exact.burgers_shock(pdes.get("burgers").equation, left=0.0, right=1.0),
            "left must be greater",
        ),
        (
            lambda: exact.linear_modes(pdes.get("burgers").equation, {1.0: 1.0}),
            "linear equation",
        ),
        (
            lambda: exact.lambda_omega_wave(
                pdes.get("lambda_omega").equation, wavevector=(4.0, 0.0)
            ),
            "too short",
        ),
        (
            lambda: exact.kdv_soliton(pdes.get("kdv").equation, speed=-1.0),
            "speed must be positive",
        ),
    ],
)
def test_impossible_parameters_are_refused(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()
