"""Entries of the conservation family: states, growth, bounds, validity, and what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import sympy

import pdes
from pdes import exact
from pdes.exact import growth_rates
from pdes.library.gray_scott import PATTERNS, gray_scott_equation, uniform_states
from pdes.library.porous_medium import porous_medium_equation
from pdes.stationary import stationary_from

SQUARE = pdes.Grid.periodic(x=(-1.0, 1.0, 16), y=(-1.0, 1.0, 16))


@pytest.mark.parametrize(("feed", "kill"), [*PATTERNS.values(), (0.05, 0.05)])
def test_uniform_states_of_gray_scott_do_not_change(feed: float, kill: float) -> None:
    """Two more states exist exactly where 1 - 4 (f + k)^2/f is positive."""
    states = uniform_states(feed, kill)
    assert len(states) == (3 if 4.0 * (feed + kill) ** 2 / feed < 1.0 else 1)
    rate = gray_scott_equation(feed, kill).compile()
    for u, v in states:
        zero = np.array(0.0)
        jets = {"u": np.array(u), "v": np.array(v)}
        jets |= dict.fromkeys(("u_xx", "u_yy", "v_xx", "v_yy"), zero)
        found = rate(jets)
        assert abs(found["u"]) < 1e-15
        assert abs(found["v"]) < 1e-15


@pytest.mark.parametrize("number", [0, 1, 2])
def test_growth_around_the_uniform_states(number: int) -> None:
    """Eigenvalues of the reaction minus k^2 times the diffusivities, by hand and by evolution."""
    feed, kill, wave = 0.05, 0.05, np.pi
    u, v = uniform_states(feed, kill)[number]
    reaction = np.array([[-(v**2) - feed, -2 * u * v], [v**2, 2 * u * v - feed - kill]])
    matrix = reaction - wave**2 * np.diag([2e-5, 1e-5])
    values, vectors = np.linalg.eig(matrix)
    equation = gray_scott_equation(feed, kill)
    predicted = growth_rates(equation, {"u": u, "v": v}, (wave, 0.0))
    # Same eigenvalues in any order: same characteristic polynomial.
    assert np.allclose(np.poly(predicted), np.poly(values), atol=1e-12)
    leading = int(np.argmax(values.real))
    shape = np.exp(1j * wave * SQUARE.mesh()["x"]) + 0.0 * SQUARE.mesh()["y"]
    tiny, stop = 1e-7, 10.0
    vector = vectors[:, leading]
    initial = {
        "u": u + tiny * np.real(vector[0] * shape),
        "v": v + tiny * np.real(vector[1] * shape),
    }
    problem = pdes.get("gray_scott", feed=feed, kill=kill, grid=SQUARE, initial=initial)
    run = pdes.simulate(problem, [stop], solver="etdrk4", time_step=0.1)
    grown = np.real(vector[0] * np.exp(values[leading] * stop) * shape)
    assert np.max(np.abs(run.u.values[0] - u - tiny * grown)) < 1e-4 * tiny


def test_gray_scott_stays_positive_and_comes_to_rest() -> None:
    """Without drops the fed state is reached, and the trajectory is flagged as stationary."""
    problem = pdes.get("gray_scott", grid=pdes.Grid.periodic(x=(-1, 1, 48), y=(-1, 1, 48)))
    run = pdes.simulate(problem, np.linspace(0.0, 60.0, 7))
    assert float(run.u.min()) > 0.0
    assert float(run.v.min()) > -1e-6
    assert float(run.v[-1].max()) > 0.2
    assert stationary_from(run) == np.inf
    empty = dataclasses.replace(problem, initial=problem.exact["substrate"].initial)
    run = pdes.simulate(empty, np.linspace(0.0, 800.0, 9), solver="etdrk4", time_step=1.0)
    assert stationary_from(run, tolerance=1e-8) == 500.0


def test_stationary_states_sample_by_sample() -> None:
    heat = pdes.get("heat_one_mode", diffusivity=1.0)
    x = heat.grid.coordinates()["x"]
    fields = {"u": np.stack([np.zeros_like(x), np.sin(x), np.sin(4 * x)])}
    run = pdes.simulate(heat, np.linspace(0.0, 10.0, 21), initial=fields)
    found = stationary_from(run, tolerance=1e-4)
    assert found[0] == 0.0
    # Rates exp(-t) and exp(-16 t), read off at the stored times.
    assert 8.5 <= found[1] <= 9.5
    assert 0.5 <= found[2] <= 1.5
    with pytest.raises(ValueError, match="at least two times"):
        stationary_from(run.isel(time=[0]))
    with pytest.raises(ValueError, match="tolerance=0"):
        stationary_from(run, tolerance=0.0)


@pytest.mark.parametrize("exponent", [1.5, 2.0, 3.5])
@pytest.mark.parametrize("dimension", [1, 2])
def test_the_mass_of_a_barenblatt_profile_is_constant(exponent: float, dimension: int) -> None:
    equation = porous_medium_equation(exponent, dimension)
    solution = exact.barenblatt(equation, exponent=exponent)
    axes = dict.fromkeys(("x", "y")[:dimension], (-9.0, 9.0, 360))
    values = solution.evaluate(pdes.Grid.periodic(**axes), [1.0, 3.0])["u"]
    total = values.reshape(2, -1).sum(axis=-1)
    assert total[1] == pytest.approx(total[0], rel=2e-3)
    assert values.min() == 0.0


def test_a_barenblatt_front_is_where_it_should_be() -> None:
    """|x| = sqrt(C/k) t^b with m = 2, n = 1: b = 1/3, k = 1/12."""
    solution = pdes.get("porous_medium").exact["barenblatt"]
    grid = pdes.Grid.periodic(x=(-8.0, 8.0, 1600))
    for time in (1.0, 8.0):
        inside = solution.evaluate(grid, [time])["u"][0] > 0.0
        assert abs(np.abs(grid.coordinates()["x"][inside]).max() - 12**0.5 * time ** (1 / 3)) < 0.02


def test_the_solver_keeps_a_drop_positive() -> None:
    run = pdes.simulate(pdes.get("porous_medium", exponent=3.0))
    assert float(run.u.min()) >= 0.0


@pytest.mark.parametrize(("left", "right"), [(1.0, 0.0), (-1.0, 0.5)])
def test_a_wrong_jump_is_noticed(left: float, right: float) -> None:
    """Shock and fan solve the equation; the other flux convention does not."""
    solution = pdes.get("burgers_riemann", left=left, right=right).exact["riemann"]
    assert solution.residual() == 0.0
    doubled = pdes.Equation.from_text("u_t = -2*u*u_x", name="doubled")
    other = dataclasses.replace(solution, equation=doubled)
    assert (other.residual() > 0.1) is (left < right)


def test_a_wrong_characteristic_is_noticed() -> None:
    solution = pdes.get("burgers_inviscid").exact["characteristics"]
    values = solution.evaluate(pdes.Grid.periodic(x=(0.0, 6.0, 8)), [0.3])["u"][0]
    x = np.linspace(0.0, 6.0, 8, endpoint=False)
    assert np.allclose(values, 0.5 + np.sin(x - 0.3 * values), atol=1e-13)
    with pytest.raises(ValueError, match=r"\[0, 1\), before the first shock, got -0.1"):
        solution.evaluate(pdes.Grid.periodic(x=(0.0, 6.0, 8)), [-0.1])


def test_a_profile_that_only_spreads_never_breaks() -> None:
    solution = exact.Characteristics(
        equation=pdes.get("burgers_inviscid").equation, profile=sympy.Integer(2)
    )
    assert solution.stop == np.inf
    assert np.all(solution.evaluate(pdes.Grid.periodic(x=(0.0, 1.0, 8)), [1e3])["u"] == 2.0)


def test_variable_winds_return_after_a_lap() -> None:
    """Lap of base 1/5: 2 pi/sqrt(0.24)."""
    for name in ("advection_varying", "advection_conservative"):
        problem = pdes.get(name)
        assert problem.times[-1] == pytest.approx(12.82549830161864, rel=1e-15)
        run = pdes.simulate(problem, [0.0, problem.times[-1]])
        assert float(np.abs(run.u[1] - run.u[0]).max()) < 2e-6


def test_manufactured_sources_are_what_is_missing() -> None:
    plain = pdes.get("fitzhugh_nagumo").equation
    forced = pdes.get("fitzhugh_nagumo_manufactured").exact["manufactured"]
    assert forced.residual(points=4) < 1e-25
    unforced = dataclasses.replace(forced, equation=plain)
    assert unforced.residual(points=4) > 0.1


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: exact.barenblatt(porous_medium_equation(2.0), exponent=1.0), "above 1"),
        (
            lambda: exact.barenblatt(porous_medium_equation(2.0), exponent=2.0, constant=-1.0),
            "constant=-1.0",
        ),
        (lambda: exact.robin_mode(pdes.get("heat").equation, loss=0.0), "loss=0.0"),
        (
            lambda: exact.standing_wave(pdes.get("wave").equation, (1.0, 2.0)),
            "one entry for each",
        ),
        (
            lambda: exact.side_modes(pdes.get("heat").equation, "tangent", {1: 1.0}),
            "wanted 'sine' or 'cosine'",
        ),
    ],
)
def test_impossible_solutions_are_refused(build, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(("name", "times"), [("porous_medium", [0.5]), ("burgers_riemann", [-0.5])])
def test_times_outside_the_validity_are_refused(name: str, times: list[float]) -> None:
    problem = pdes.get(name)
    with pytest.raises(ValueError, match="holds for times in"):
        problem.exact[problem.exact_name].evaluate(problem.grid, times)
