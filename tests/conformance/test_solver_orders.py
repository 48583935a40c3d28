"""Every integrator shows the order that it declares, every solver its convergence in space."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy

import pdes
from pdes.equation import Equation
from pdes.solvers import rollout
from pdes.time import INTEGRATORS, RungeKutta

# Problem, points, length of the run, coarsest step, methods that are stable at this step.
TEMPORAL = {
    "burgers": (64, 1.0, 0.05, ("etdrk4", "rk4", "ssprk3")),
    "fisher_kpp": (64, 2.0, 0.2, ("etdrk4", "rk4", "ssprk3")),
    "allen_cahn": (64, 2.0, 0.2, ("etdrk4", "rk4", "ssprk3")),
    "allen_cahn_2d": (48, 1.0, 0.2, ("etdrk4", "rk4", "ssprk3")),
    "allen_cahn_cosine": (512, 0.4, 0.1, ("etdrk4", "rk4", "ssprk3")),
    "kdv": (128, 1.0, 0.02, ("etdrk4",)),
    "kdv_burgers": (64, 1.0, 0.04, ("etdrk4",)),
    "mkdv": (128, 1.0, 0.05, ("etdrk4",)),
    "gardner": (128, 1.0, 0.02, ("etdrk4",)),
    "kuramoto_sivashinsky": (128, 4.0, 0.2, ("etdrk4",)),
    "potential_kuramoto_sivashinsky": (64, 10.0, 0.2, ("etdrk4",)),
    "nagumo": (64, 1.0, 0.1, ("etdrk4", "rk4", "ssprk3")),
    "swift_hohenberg": (64, 4.0, 0.2, ("etdrk4",)),
    "cahn_hilliard": (32, 0.2, 0.02, ("etdrk4",)),
    "nls": (256, 0.4, 0.01, ("etdrk4",)),
    "keller_segel": (64, 1.0, 0.05, ("etdrk4", "rk4", "ssprk3")),
    "nonlinear_diffusion_2d": (24, 1.0, 0.1, ("etdrk4", "rk4", "ssprk3")),
    "lambda_omega": (24, 2.0, 0.2, ("etdrk4", "rk4", "ssprk3")),
    "gray_scott_manufactured": (16, 2.0, 0.4, ("etdrk4", "rk4", "ssprk3")),
}
LINEAR = {
    "advection",
    "advection_conservative",
    "advection_diffusion",
    "advection_sine",
    "advection_translation",
    "advection_varying",
    "heat",
    "heat_2d",
    "heat_3d",
    "heat_one_mode",
    "heat_two_modes",
}
PAIRS = [(name, method) for name, row in TEMPORAL.items() for method in row[3]]


def test_every_periodic_problem_is_listed() -> None:
    evolving = {n for n in pdes.available() if isinstance(pdes.get(n), pdes.Problem)}
    integrated = {n for n in evolving if pdes.get(n).solver in INTEGRATORS}
    variants = {"kdv_soliton"}
    # Families with a conformance module of their own.
    elsewhere = set(pdes.available("flow"))
    assert integrated - LINEAR - variants - elsewhere == set(TEMPORAL)


def _on_grid(name: str, points: int) -> tuple[pdes.Problem, dict[str, np.ndarray]]:
    """Problem with fewer points, and an initial field in its low modes only."""
    problem = pdes.get(name)
    axes = {a.name: (a.start, a.stop, points) for a in problem.grid.axes}
    problem = pdes.get(name, grid=pdes.Grid.periodic(**axes), stored_points=None)
    initial = problem.initial(problem.grid, np.random.default_rng(problem.initial_seed))
    return problem, initial


def _distance(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> float:
    return max(float(np.max(np.abs(a[n][-1] - b[n][-1]))) for n in a)


@pytest.mark.parametrize(("name", "method"), PAIRS)
@pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")
def test_order_in_time(name: str, method: str) -> None:
    points, stop, coarsest, _ = TEMPORAL[name]
    problem, initial = _on_grid(name, points)
    times = np.array([0.0, stop])

    def run(step: float, integrator: str = method) -> dict[str, np.ndarray]:
        found = rollout(
            problem.equation,
            problem.grid,
            initial,
            times,
            integrator=integrator,
            time_step=step,
        )
        return dict(found.fields)

    order = INTEGRATORS[method].order
    reference = run(coarsest / 64, "etdrk4")
    steps = coarsest / 2.0 ** np.arange(1, 5)
    errors = np.array([_distance(run(float(step)), reference) for step in steps])
    resolved = errors > 2e-11
    assert resolved.sum() >= 3, errors
    slope = np.polyfit(np.log(steps[resolved][-3:]), np.log(errors[resolved][-3:]), 1)[0]
    assert slope >= order - 0.15, (slope, errors)


def test_etdrk4_order_against_closed_form() -> None:
    """Burgers against Cole-Hopf: the slope is 4.00, not merely above it."""
    problem = pdes.get("burgers", viscosity=0.05)
    exact = problem.exact["cole_hopf"]
    grid = pdes.Grid.periodic(x=(0.0, 2.0 * np.pi, 256))
    times = np.array([0.0, 1.0])
    wanted = exact.evaluate(grid, times)["u"][-1]
    errors = []
    for count in (10, 20, 40):
        found = rollout(problem.equation, grid, exact.initial(grid), times, time_step=1.0 / count)
        errors.append(float(np.max(np.abs(found.fields["u"][-1] - wanted))))
    slopes = -np.diff(np.log2(errors))
    assert np.all(np.abs(slopes - 4.0) < 0.15), (slopes, errors)


@pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")
def test_spectral_convergence_in_space() -> None:
    """Error falls at least tenfold with each doubling, down to rounding."""
    problem = pdes.get("burgers", viscosity=0.05)
    exact = problem.exact["cole_hopf"]
    times = np.array([1.0])
    errors = []
    for points in (32, 64, 128, 256):
        grid = pdes.Grid.periodic(x=(0.0, 2.0 * np.pi, points))
        found = rollout(problem.equation, grid, exact.initial(grid), times, time_step=0.0025)
        errors.append(float(np.max(np.abs(found.fields["u"] - exact.evaluate(grid, times)["u"]))))
    assert all(later <= earlier / 10.0 for earlier, later in pairwise(errors))
    assert errors[-1] < 1e-12


@pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")
def test_variable_speed_returns_after_one_period() -> None:
    """Advection at 1/5 + sin^2(x - 1): every point is back after 2 pi/sqrt(0.24)."""
    equation = Equation.from_text("u_t = -(1/5 + sin(x - 1)^2)*u_x", name="varying speed")
    period = 2.0 * np.pi / np.sqrt(0.24)
    errors = []
    for points in (64, 128, 256):
        grid = pdes.Grid.periodic(x=(0.0, 2.0 * np.pi, points))
        x = grid.coordinates()["x"]
        u = np.exp(np.cos(x - 1.0))
        found = rollout(equation, grid, {"u": u}, np.array([period]), time_step=period / 2000)
        errors.append(float(np.max(np.abs(found.fields["u"][0] - u))))
    assert errors[1] < errors[0] / 10.0
    assert errors[2] < errors[1] / 10.0
    assert errors[2] < 1e-6


@pytest.mark.parametrize("method", [m for m in INTEGRATORS.values() if isinstance(m, RungeKutta)])
def test_order_conditions_hold_exactly(method: RungeKutta) -> None:
    """Rooted-tree conditions in rational arithmetic, up to the declared order and not beyond."""
    s = len(method.weights)
    a = sympy.zeros(s, s)
    for i, row in enumerate(method.matrix):
        for j, entry in enumerate(row):
            a[i, j] = sympy.Rational(entry.numerator, entry.denominator)
    b = sympy.Matrix([[sympy.Rational(w.numerator, w.denominator) for w in method.weights]])
    one = sympy.ones(s, 1)
    c = a * one

    def times(*vectors: sympy.Matrix) -> sympy.Matrix:
        out = one
        for vector in vectors:
            out = out.multiply_elementwise(vector)
        return out

    conditions = {
        1: [(one, 1)],
        2: [(c, 2)],
        3: [(times(c, c), 3), (a * c, 6)],
        4: [
            (times(c, c, c), 4),
            (times(c, a * c), 8),
            (a * times(c, c), 12),
            (a * a * c, 24),
        ],
        5: [(times(c, c, c, c), 5)],
    }
    for order in range(1, method.order + 1):
        for vector, density in conditions[order]:
            assert (b * vector)[0] == sympy.Rational(1, density)
    beyond = [(b * v)[0] == sympy.Rational(1, d) for v, d in conditions[method.order + 1]]
    assert not all(beyond)
    assert method.nodes == tuple(Fraction(int(v.p), int(v.q)) for v in c)
