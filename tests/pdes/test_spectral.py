"""Lowering, divergence form, transforms and the right-hand side on cases with known answers."""

from __future__ import annotations

import array_api_compat.numpy as xnp
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import pdes
from pdes import Equation, Grid
from pdes.jets import JetSpace
from pdes.solvers import PseudoSpectral, rollout
from pdes.solvers.divergence_form import divergence_form
from pdes.solvers.fourier import FourierBasis
from pdes.solvers.kernels import kernel_class
from pdes.solvers.limits import RateMeter
from pdes.solvers.lowering import lower
from pdes.time import ETDRK4, RK4

TWO_PI = 2.0 * np.pi


def _grid(points: int = 64, length: float = TWO_PI) -> Grid:
    return Grid.periodic(x=(0.0, length, points))


# Lowering


def test_lowering_sorts_the_terms() -> None:
    equation = Equation.from_text(
        ["u_t = k*u_xx + v_x - u*u_x + cos(x)*u + sin(u)", "v_t = exp(-t) + v"],
        name="mixture",
        parameters={"k": 0.5},
    )
    lowered = lower(equation)
    k = sympy.Symbol("k", real=True)
    assert lowered.linear == {
        ("u", "u"): {(2,): k},
        ("u", "v"): {(1,): 1},
        ("v", "v"): {(0,): 1},
    }
    u, x, t = (
        sympy.Symbol("u", real=True),
        pdes.equation.coordinate("x"),
        sympy.Symbol("t", real=True),
    )
    assert lowered.general == {"u": sympy.sin(u)}
    assert lowered.monomials["u"][((u, 1),)] == sympy.cos(x)
    assert lowered.monomials["v"] == {(): sympy.exp(-t)}
    assert lowered.degree == 3


SPACE = JetSpace(("u", "v"), ("x", "y"))
FACTORS = st.lists(
    st.tuples(st.sampled_from("uv"), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=3
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(-5, 5), FACTORS), min_size=1, max_size=4),
    st.tuples(st.integers(0, 2), st.integers(0, 1)),
)
def test_divergence_form_is_an_identity(terms: list, outer: tuple[int, int]) -> None:
    """Differentiate a random polynomial, find fluxes, differentiate them: the same polynomial."""
    polynomial = sympy.Add(
        *(c * sympy.Mul(*(SPACE.symbol(f, (a, b)) for f, a, b in factors)) for c, factors in terms)
    )
    for axis, order in zip("xy", outer, strict=True):
        for _ in range(order):
            polynomial = SPACE.derivative(polynomial, axis)
    polynomial = sympy.expand(polynomial)
    monomials = {}
    for term, coefficient in pdes.term.collect(polynomial, SPACE).items():
        monomials[term.factors] = coefficient
    total = sympy.S.Zero
    for flux in divergence_form(monomials, SPACE):
        inner = flux.coefficient * sympy.Mul(*(b**p for b, p in flux.powers))
        for axis, order in zip("xy", flux.orders, strict=True):
            for _ in range(order):
                inner = SPACE.derivative(inner, axis)
        total += inner
        # The derivatives that were taken are found again, as far as products of them remain.
        if len(flux.powers) > 1 or flux.powers[0][1] > 1:
            assert all(a >= b for a, b in zip(flux.orders, outer, strict=True))
    assert sympy.expand(total - polynomial) == 0


@pytest.mark.parametrize(
    ("text", "orders", "jets"),
    [
        ("u_t = -u*u_x", (1,), {"u"}),
        ("u_t = u^2*u_x", (1,), {"u"}),
        ("u_t = (u^3)_xx", (2,), {"u"}),
        ("u_t = (u*u_x)_x", (2,), {"u"}),
        ("u_t = u_x^2", (0,), {"u_x"}),
        ("u_t = (u_x^3)_x", (1,), {"u_x"}),
    ],
)
def test_divergence_form_needs_few_transforms(text: str, orders: tuple, jets: set) -> None:
    lowered = lower(Equation.from_text(text))
    (flux,) = divergence_form(lowered.monomials["u"], lowered.space)
    assert flux.orders == orders
    assert {str(base) for base, _ in flux.powers} == jets


# Transforms


@pytest.mark.parametrize(("points", "degree", "cutoff"), [(96, 2, 31), (96, 3, 23), (64, 2, 21)])
def test_cutoff_keeps_products_free_of_aliases(points: int, degree: int, cutoff: int) -> None:
    """The highest kept mode to the power of the degree leaves nothing on the kept modes."""
    basis = FourierBasis(_grid(points), xnp, "float64", degree=degree)
    assert basis.cutoffs == (cutoff,)
    wave = np.cos(cutoff * _grid(points).coordinates()["x"])
    spectrum = np.abs(basis.forward(wave**degree)) / points
    # cos^p holds the modes p K, (p - 2) K, ...; those below the cutoff are exact.
    exact = {0: 0.5} if degree == 2 else {cutoff: 3.0 / 8.0}
    for mode in range(cutoff + 1):
        assert abs(spectrum[mode] - exact.get(mode, 0.0)) < 1e-14


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_derivatives_are_exact(real: bool, order: int) -> None:
    grid = Grid.periodic(x=(1.0, 4.0, 32))
    basis = FourierBasis(grid, xnp, "float64", real=real)
    x, k = grid.coordinates()["x"], TWO_PI / 3.0 * 5
    phase = np.exp(1j * (k * x + 0.4))
    wanted = (1j * k) ** order * phase
    values, wanted = (phase.real, wanted.real) if real else (phase, wanted)
    found = basis.inverse(basis.derivative((order,)) * basis.forward(values))
    assert np.max(np.abs(found - wanted)) < 1e-12 * k**order


def test_mixed_derivative_in_two_dimensions() -> None:
    grid = Grid.periodic(x=(0.0, TWO_PI, 16), y=(0.0, np.pi, 24))
    basis = FourierBasis(grid, xnp, "float64")
    mesh = grid.mesh()
    u = np.sin(3 * mesh["x"]) * np.cos(2 * mesh["y"])
    found = basis.inverse(basis.derivative((1, 1)) * basis.forward(u))
    assert np.max(np.abs(found + 6 * np.cos(3 * mesh["x"]) * np.sin(2 * mesh["y"]))) < 1e-13


def test_the_highest_mode_has_no_odd_derivative() -> None:
    basis = FourierBasis(_grid(16), xnp, "float64")
    assert basis.derivative((1,))[8] == 0.0
    assert basis.derivative((2,))[8] == -64.0


# Right-hand sides with known solutions


def _run(equation: Equation, grid: Grid, fields: dict, stop: float, **options) -> dict:
    return dict(rollout(equation, grid, fields, np.array([stop]), **options).fields)


def test_sources_in_space_and_time() -> None:
    equation = Equation.from_text("u_t = -2*u + sin(x)*cos(t) + 0.5", coordinates=("x",))
    x = _grid().coordinates()["x"]
    found = _run(equation, _grid(), {"u": 0.0 * x}, 1.5, time_step=0.01)["u"][0]
    t = 1.5
    # u = a(t) sin(x) + b(t): a' = -2 a + cos t, b' = -2 b + 1/2.
    a = (2 * np.cos(t) + np.sin(t) - 2 * np.exp(-2 * t)) / 5
    b = 0.25 * (1 - np.exp(-2 * t))
    assert np.max(np.abs(found - a * np.sin(x) - b)) < 1e-9


def test_coefficient_of_time() -> None:
    equation = Equation.from_text("u_t = -2*t*u", coordinates=("x",))
    x = _grid().coordinates()["x"]
    u = 2.0 + np.sin(x)
    found = _run(equation, _grid(), {"u": u}, 1.0, time_step=0.01)["u"][0]
    assert np.max(np.abs(found - np.exp(-1.0) * u)) < 1e-9


def test_general_functions_of_the_field() -> None:
    """u' = sin(u) for a uniform field: tan(u/2) grows like e^t."""
    equation = Equation.from_text("u_t = u_xx + sin(u)", coordinates=("x",))
    u = np.full(64, 0.3)
    found = _run(equation, _grid(), {"u": u}, 1.0, time_step=0.01)["u"][0]
    assert np.max(np.abs(found - 2 * np.arctan(np.exp(1.0) * np.tan(0.15)))) < 1e-9


def test_coupled_fields_make_waves() -> None:
    """u_t = v, v_t = 4 u_xx: standing waves of speed 2."""
    equation = Equation.from_text(["u_t = v", "v_t = 4*u_xx"], name="wave")
    x = _grid(32).coordinates()["x"]
    fields = {"u": np.cos(3 * x), "v": 0.0 * x}
    found = _run(equation, _grid(32), fields, 1.0, time_step=0.01)
    assert np.max(np.abs(found["u"][0] - np.cos(6.0) * np.cos(3 * x))) < 2e-6
    assert np.max(np.abs(found["v"][0] + 6 * np.sin(6.0) * np.cos(3 * x))) < 1e-5


def test_real_and_complex_fields_together() -> None:
    """A rotating phase driven by a decaying real field: h = exp(i int w), w = e^-t."""
    equation = Equation.from_text(
        ["h_t = I*w*h", "w_t = -w"], complex_fields=("h",), coordinates=("x",)
    )
    ones = np.ones(16)
    found = _run(equation, _grid(16), {"h": ones + 0j, "w": ones}, 1.0, time_step=0.01)
    assert np.isrealobj(found["w"])
    assert np.max(np.abs(found["h"][0] - np.exp(1j * (1 - np.exp(-1.0))))) < 1e-10


def test_coefficient_without_the_period_is_refused() -> None:
    equation = Equation.from_text("u_t = -x*u_x", name="stretching")
    with pytest.raises(ValueError, match="does not have the period"):
        PseudoSpectral(equation, _grid())


def test_grids_without_fourier_modes_are_refused() -> None:
    equation = Equation.from_text("u_t = u_xx")
    for axis in (pdes.Axis("x", 0.0, 1.0, 6), pdes.Axis("x", 0.0, 1.0, 15)):
        with pytest.raises(ValueError, match="axis x"):
            PseudoSpectral(equation, Grid((axis,)))
    with pytest.raises(ValueError, match="periodic"):
        PseudoSpectral(equation, Grid((pdes.Axis("x", 0.0, 1.0, 16, periodic=False),)))


# Limits


def test_rates_of_known_terms() -> None:
    grid = _grid(64)
    x = grid.coordinates()["x"]
    kernel = PseudoSpectral(Equation.from_text("u_t = -3*u*u_x + u - 2*u^3 + 0.1*u_xx"), grid)
    rates = RateMeter(kernel, ETDRK4()).measure(kernel.forward({"u": np.cos(x)}), 0.0)
    assert rates.advective == pytest.approx(3.0 / (TWO_PI / 64))
    assert rates.reaction == pytest.approx(6.0)
    assert rates.stiff == 0.0
    assert rates.default_step == pytest.approx(min(0.5 * TWO_PI / 64 / 3.0, 0.1 / 6.0))


def test_explicit_methods_feel_the_linear_part() -> None:
    kernel = PseudoSpectral(Equation.from_text("u_t = 0.1*u_xx"), _grid(64))
    state = kernel.forward({"u": np.ones(64)})
    stiff = RateMeter(kernel, RK4).measure(state, 0.0).stiff
    assert stiff == pytest.approx(2.7 * 0.1 * 32**2 / RK4.real_limit)
    assert RateMeter(kernel, ETDRK4()).measure(state, 0.0).stiff == 0.0


def test_nonlinear_diffusion_limits_the_step() -> None:
    """(u^2)_xx at u = 1 is diffusion of strength 2, all of it explicit."""
    kernel = PseudoSpectral(Equation.from_text("u_t = (u^2)_xx"), _grid(64))
    rates = RateMeter(kernel, ETDRK4()).measure(kernel.forward({"u": np.ones(64)}), 0.0)
    assert rates.stiff == pytest.approx(2.0 * 21**2)
    with pytest.raises(pdes.StabilityError, match="stiff"):
        rates.check(3.0 / rates.stiff)


# Differentiability


@pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")
def test_rollout_is_differentiable_by_parameters_and_initial_field() -> None:
    torch = pytest.importorskip("torch")
    problem = pdes.get("burgers")
    grid = _grid(32)
    x = grid.coordinates()["x"]
    times = np.array([0.3, 0.6])

    def loss_of(viscosity, u):
        run = rollout(
            problem.equation,
            grid,
            {"u": u},
            times,
            parameters={"viscosity": viscosity},
            time_step=0.02,
        )
        return (run.fields["u"] ** 2).mean()

    viscosity = torch.tensor(0.2, dtype=torch.float64, requires_grad=True)
    u = torch.tensor(np.sin(x) + 0.3 * np.cos(2 * x), requires_grad=True)
    loss_of(viscosity, u).backward()
    with torch.no_grad():
        shift = 1e-5
        numeric = (loss_of(viscosity + shift, u) - loss_of(viscosity - shift, u)) / (2 * shift)
        assert abs(float(viscosity.grad) / float(numeric) - 1.0) < 1e-7
        direction = torch.tensor(np.cos(x))
        numeric = (
            loss_of(viscosity, u + shift * direction) - loss_of(viscosity, u - shift * direction)
        ) / (2 * shift)
        assert abs(float((u.grad * direction).sum()) / float(numeric) - 1.0) < 1e-7


@pytest.mark.parametrize(
    ("name", "factored"),
    [
        ("kuramoto_sivashinsky", True),
        ("kdv", True),
        ("nls", True),
        ("gray_scott", False),
        ("burgers_2d", False),
        ("swift_hohenberg", True),
        ("taylor_green", False),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_folded_step_is_the_plain_one(name: str, factored: bool, dtype: str) -> None:
    """ETDRK4 with the multiplier in its coefficients, against the same step without."""
    problem = pdes.get(name)
    axes = dict.fromkeys(problem.grid.names, (0.0, 2.0 * np.pi, 32))
    kernel = kernel_class(problem.equation)(
        problem.equation, pdes.Grid.periodic(**axes), dtype=dtype
    )
    assert (getattr(kernel.nonlinear, "factored", None) is not None) == factored
    rng = np.random.default_rng(0)
    shape = (3, *kernel.grid.shape)
    fields = {n: kernel.basis.asarray(rng.normal(size=shape)) for n in problem.equation.fields}
    space = tuple(range(1, len(shape)))
    fields = {n: v - v.mean(axis=space, keepdims=True) for n, v in fields.items()}
    state = kernel.forward(fields)
    before = state.copy()
    step = ETDRK4().stepper(kernel.linear, 1e-3, kernel.basis.complex_dtype)
    plain = step(state, 0.0, lambda values, time: kernel.nonlinear(values, time))
    found = step(step(state, 0.0, kernel.nonlinear), 1e-3, kernel.nonlinear)
    wanted = step(plain, 1e-3, lambda values, time: kernel.nonlinear(values, time))
    rounding = 1e-13 if dtype == "float64" else 1e-5
    assert found.dtype == wanted.dtype
    assert np.abs(found - wanted).max() < rounding * np.abs(wanted).max()
    assert np.array_equal(state, before)
