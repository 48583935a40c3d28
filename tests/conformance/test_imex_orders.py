"""IMEX, splitting and embedded methods: order conditions in exact arithmetic, orders measured."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
import torch

import pdes
from pdes.boundary import Neumann
from pdes.solvers import rollout
from pdes.solvers.errors import SolverDivergence
from pdes.solvers.line_solvers import LINE_SOLVERS, rollout_lines
from pdes.time import ARS443, CNAB2, IMEX, SBDF2, SPLITTINGS, ImexMultistep
from pdes.time.embedded import BS32, DP54, PAIRS, integrate_adaptive
from pdes.time.hermite import HermiteCubic


def _slope(steps, errors) -> float:
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


# Order conditions


@pytest.mark.parametrize("method", [CNAB2, SBDF2], ids=lambda m: m.name)
def test_multistep_conditions_hold_exactly(method: ImexMultistep) -> None:
    """The defect on polynomials in time vanishes up to the declared degree and not beyond."""
    times = (0, -1, -2)

    def defect(weights: tuple[Fraction, ...], degree: int) -> Fraction:
        # Times are counted from the new value; its step is the unit.
        left = sum((a * t**degree for a, t in zip(method.left, times, strict=True)), Fraction(0))
        slope = sum(
            (w * degree * t ** (degree - 1) for w, t in zip(weights, times, strict=True) if degree),
            Fraction(0),
        )
        return left - slope

    for weights in (method.implicit, method.explicit):
        assert all(defect(weights, degree) == 0 for degree in range(method.order + 1))
        assert defect(weights, method.order + 1) != 0
    assert method.explicit[0] == 0


def _matrix(rows) -> sympy.Matrix:
    return sympy.Matrix([[sympy.Rational(a.numerator, a.denominator) for a in row] for row in rows])


def test_ars443_conditions_hold_exactly() -> None:
    """All conditions of both tableaux and their coupling, up to order three, and not order four."""
    implicit, explicit = _matrix(ARS443.implicit), _matrix(ARS443.explicit)
    weights = [_matrix([ARS443.implicit_weights]), _matrix([ARS443.explicit_weights])]
    one = sympy.ones(5, 1)
    c = explicit * one
    assert implicit * one == c
    assert tuple(Fraction(int(v.p), int(v.q)) for v in c) == ARS443.nodes
    square = c.multiply_elementwise(c)
    third = sympy.Rational(1, 3)
    for b in weights:
        assert (b * one)[0] == 1
        assert (b * c)[0] == sympy.Rational(1, 2)
        assert (b * square)[0] == third
        for a in (implicit, explicit):
            assert (b * a * c)[0] == third / 2
    cube = square.multiply_elementwise(c)
    assert any((b * cube)[0] != sympy.Rational(1, 4) for b in weights)
    # Stiffly accurate and with the same diagonal: infinitely stiff parts are damped in a step.
    assert implicit[4, :] == weights[0]
    assert all(implicit[i, i] == sympy.Rational(1, 2) for i in range(1, 5))


def _conditions(a: sympy.Matrix, b: sympy.Matrix) -> dict[int, list[bool]]:
    """Whether the rooted-tree conditions of each order hold."""
    one = sympy.ones(a.shape[0], 1)
    c = a * one

    def times(*vectors: sympy.Matrix) -> sympy.Matrix:
        out = one
        for vector in vectors:
            out = out.multiply_elementwise(vector)
        return out

    trees = {
        1: [(one, 1)],
        2: [(c, 2)],
        3: [(times(c, c), 3), (a * c, 6)],
        4: [
            (times(c, c, c), 4),
            (times(c, a * c), 8),
            (a * times(c, c), 12),
            (a * a * c, 24),
        ],
        5: [
            (times(c, c, c, c), 5),
            (times(c, c, a * c), 10),
            (times(c, a * times(c, c)), 15),
            (times(c, a * a * c), 30),
            (times(a * c, a * c), 20),
            (a * times(c, c, c), 20),
            (a * times(c, a * c), 40),
            (a * a * times(c, c), 60),
            (a * a * a * c, 120),
        ],
        6: [(times(c, c, c, c, c), 6)],
    }
    return {p: [(b * v)[0] == sympy.Rational(1, d) for v, d in row] for p, row in trees.items()}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS.keys())
def test_embedded_conditions_hold_exactly(pair) -> None:
    stages = len(pair.weights)
    full = [tuple(row) + (Fraction(0),) * (stages - len(row)) for row in pair.matrix]
    a = _matrix(full)
    for weights, order in (
        (pair.weights, pair.order),
        (pair.embedded_weights, pair.embedded_order),
    ):
        found = _conditions(a, _matrix([weights]))
        assert all(all(found[p]) for p in range(1, order + 1))
        assert not all(found[order + 1])
    # The last stage is the first of the next step.
    assert pair.matrix[-1] == pair.weights[:-1]
    assert pair.weights[-1] == 0


# Measured orders on grids


@pytest.mark.parametrize("method", IMEX.values(), ids=IMEX.keys())
@pytest.mark.parametrize("name", ["allen_cahn", "burgers"])
def test_imex_order_on_fourier_modes(method, name: str) -> None:
    grid = pdes.Grid.periodic(x=(0.0, 2.0 * np.pi, 96))
    x = grid.coordinates()["x"]
    equation = pdes.get(name).equation
    initial, times = {"u": 0.4 * np.sin(x) + 0.2 * np.cos(2 * x)}, np.array([0.5, 1.0])

    def run(step: float, integrator="etdrk4") -> np.ndarray:
        found = rollout(equation, grid, initial, times, integrator=integrator, time_step=step)
        return found.fields["u"][-1]

    reference = run(1.0 / 640)
    steps = 1.0 / np.array([20, 40, 80])
    errors = [np.max(np.abs(run(float(h), method) - reference)) for h in steps]
    assert _slope(steps, errors) > method.order - 0.15, errors
    # More than half an order above would mean that the errors are not in their limit yet.
    assert _slope(steps, errors) < method.order + 0.5, errors


@pytest.mark.parametrize("method", IMEX.values(), ids=IMEX.keys())
def test_imex_treats_stiff_decay_without_a_limit(method) -> None:
    step = method.stepper(np.array([-1e6]), 0.1)
    value, time = np.array([1.0]), 0.0
    for _ in range(40):
        value = step(value, time, lambda v, t: np.full_like(v, 1e6 * math.cos(0.1)))
        time += 0.1
    assert abs(value[0]) < 2.0


@pytest.mark.parametrize("method", [CNAB2, SBDF2], ids=lambda m: m.name)
def test_multistep_starts_again_when_the_step_changes(method: ImexMultistep) -> None:
    """v' = -v + t: the memory of another trajectory must not enter."""
    linear = np.array([-1.0])
    step = method.stepper(linear, 0.1)
    step(np.array([5.0]), 0.0, lambda v, t: np.array([t]))
    fresh = method.stepper(linear, 0.1)(np.array([1.0]), 0.7, lambda v, t: np.array([t]))
    again = step(np.array([1.0]), 0.7, lambda v, t: np.array([t]))
    assert np.array_equal(fresh, again)


def test_backward_euler_first_for_rough_data() -> None:
    """A step that diffuses: Crank-Nicolson alone lets its fast modes alternate."""
    heat = pdes.Equation.from_text("u_t = u_xx", name="heat")
    grid = pdes.Grid((pdes.Axis("x", 0.0, 1.0, 129, periodic=False),))
    x = grid.coordinates()["x"]
    rough = {"u": np.heaviside(0.5 - x, 0.5)}
    walls = {"x-": Neumann(0.0), "x+": Neumann(0.0)}

    def run(solver: str, step: float) -> np.ndarray:
        found = rollout_lines(
            heat, grid, rough, np.array([0.1]), solver=solver, boundary=walls, time_step=step
        )
        return found.fields["u"][0]

    exact = run("sine_cosine", 0.1)
    wanted = run("finite_difference_ars443", 1e-4)
    assert np.max(np.abs(exact - wanted)) < 1e-3
    steps = np.array([0.01, 0.005, 0.0025])
    errors = [np.max(np.abs(run("finite_difference_damped", float(h)) - wanted)) for h in steps]
    assert abs(_slope(steps, errors) - 2.0) < 0.15, errors
    assert np.max(np.abs(run("finite_difference", 0.01) - wanted)) > 100.0 * errors[0]


# Splitting


def _split(solver: str, step: float, points: int = 128) -> tuple[np.ndarray, np.ndarray]:
    grid = pdes.Grid.periodic(x=(-12.0, 12.0, points))
    problem = pdes.get("nls", stored_points=None, grid=grid)
    soliton = pdes.exact.nls_soliton(problem.equation, amplitude=1.5, velocity=0.5)
    initial = soliton.initial(grid)
    run = pdes.simulate(problem, [0.0, 0.5], initial=initial, solver=solver, time_step=step)
    return run.h.values, soliton.evaluate(grid, [0.5])["h"][0]


@pytest.mark.parametrize("solver", SPLITTINGS)
def test_splitting_order(solver: str) -> None:
    steps = np.array([0.05, 0.025, 0.0125])
    errors = []
    for step in steps:
        found, wanted = _split(solver, float(step))
        errors.append(np.max(np.abs(found[-1] - wanted)))
    assert abs(_slope(steps, errors) - LINE_SOLVERS[solver].order) < 0.15, errors


@pytest.mark.parametrize("solver", SPLITTINGS)
def test_splitting_keeps_the_mass_at_any_step(solver: str) -> None:
    for step in (0.25, 0.05):
        found, _ = _split(solver, step)
        mass = np.sum(np.abs(found) ** 2, axis=-1)
        assert abs(mass[1] / mass[0] - 1.0) < 1e-12


def test_yoshida_coefficients() -> None:
    """Sum of steps one, and of their cubes zero: what cancels the error of order two."""
    kicks = np.array(SPLITTINGS["yoshida4"].kicks)
    assert abs(kicks.sum() - 1.0) < 1e-14 and abs((kicks**3).sum()) < 1e-14
    assert abs(sum(SPLITTINGS["yoshida4"].drifts) - 1.0) < 1e-14


def test_splitting_agrees_on_torch() -> None:
    problem = pdes.get("nls", grid=pdes.Grid.periodic(x=(-12.0, 12.0, 64)), stored_points=None)
    runs = [
        pdes.simulate(problem, [0.1], solver="strang", backend=b, time_step=0.01).h.values
        for b in ("numpy", "torch")
    ]
    assert np.max(np.abs(runs[0] - runs[1])) < 1e-12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h_t = h_xx + I*abs(h)^2*h", "grows or decays"),
        ("h_t = I*h_xx + abs(h)^2*h", "not real"),
        ("h_t = I*h_xx + I*h^2", "splitting wants"),
        ("h_t = I*h_xx + I*abs(h_x)^2*h", "splitting wants"),
        ("u_t = u_xx", "one complex field"),
    ],
)
def test_splitting_refuses_other_equations(text: str, message: str) -> None:
    equation = pdes.Equation.from_text(text, name="other")
    problem = pdes.Problem(
        equation=equation,
        grid=pdes.Grid.periodic(x=(0.0, 1.0, 16)),
        initial={equation.fields[0]: np.ones(16) * (1.0 + 0j if "h_t" in text else 1.0)},
        times=[0.1],
        solver="strang",
    )
    with pytest.raises(ValueError, match=message):
        pdes.simulate(problem)


# Adaptive steps and dense output


def _pendulum(_, v):
    return np.array([v[1], -np.sin(v[0])])


@pytest.mark.parametrize("pair", [BS32, DP54], ids=lambda p: p.name)
def test_tolerance_controls_the_error(pair) -> None:
    reference = integrate_adaptive(
        _pendulum, np.array([1.0, 0.0]), [0.0, 10.0], rtol=1e-13, atol=1e-14
    ).states[-1]
    errors, counts = [], []
    for rtol in (1e-4, 1e-6, 1e-8):
        run = integrate_adaptive(
            _pendulum, np.array([1.0, 0.0]), [0.0, 10.0], pair=pair, rtol=rtol, atol=rtol
        )
        errors.append(np.max(np.abs(run.states[-1] - reference)) / rtol)
        counts.append(run.accepted)
        assert run.rejected <= 0.3 * run.accepted + 5
    assert max(errors) < 100.0
    # The number of steps grows like tolerance^(-1/k), k the order of the error estimate.
    growth = math.log(counts[2] / counts[1]) / math.log(100.0)
    assert growth == pytest.approx(1.0 / (pair.embedded_order + 1), rel=0.2)


def test_steps_are_rejected_at_a_kink_and_the_output_times_are_met() -> None:
    times = [0.0, 0.3, 1.0, 1.7, 2.0]
    run = integrate_adaptive(
        lambda t, v: np.where(t < 1.0, v, -3.0 * v), np.array([1.0]), times, rtol=1e-8
    )
    assert run.rejected > 0
    wanted = [math.exp(t) if t <= 1.0 else math.exp(1.0 - 3.0 * (t - 1.0)) for t in times]
    assert np.allclose([s[0] for s in run.states], wanted, rtol=1e-5)


def test_adaptive_steps_work_on_torch_with_gradients() -> None:
    rate = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    start = torch.ones(3, dtype=torch.float64)
    end = integrate_adaptive(lambda t, v: -rate * v, start, [0.0, 1.0], rtol=1e-9).states[-1]
    (gradient,) = torch.autograd.grad(end[0], rate)
    assert float(gradient) == pytest.approx(-math.exp(-0.7), rel=1e-6)


def test_hermite_output_is_of_order_four() -> None:
    steps, errors = np.array([0.4, 0.2, 0.1]), []
    for h in steps:
        cubic = HermiteCubic(
            start=0.5,
            stop=0.5 + h,
            left=np.sin(0.5),
            right=np.sin(0.5 + h),
            left_slope=np.cos(0.5),
            right_slope=np.cos(0.5 + h),
        )
        errors.append(max(abs(cubic(0.5 + s * h) - np.sin(0.5 + s * h)) for s in (0.3, 0.5, 0.8)))
    assert abs(_slope(steps, errors) - 4.0) < 0.15
    with pytest.raises(ValueError, match="does not extrapolate"):
        cubic(2.0)


def test_adaptive_steps_say_what_is_wrong() -> None:
    start = np.array([1.0])
    with pytest.raises(ValueError, match="rtol=0"):
        integrate_adaptive(lambda t, v: v, start, [0.0, 1.0], rtol=0.0)
    with pytest.raises(ValueError, match="times must be"):
        integrate_adaptive(lambda t, v: v, start, [0.0, 0.0])
    with pytest.raises(SolverDivergence, match="no step meets"):
        integrate_adaptive(lambda t, v: v**2, start, [0.0, 2.0])
