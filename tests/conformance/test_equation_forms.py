"""The symbolic, the numpy, the torch and the automatically differentiated form of equations agree.

Fields are sums of a few plane waves, whose derivatives are known in closed form.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import sympy
import torch

import pdes
from pdes import Equation
from pdes.equation import coordinate
from pdes.term import parse_derivative

MORE = [
    Equation.from_text("u_t = -u_x/x + 0.25*u_xx", name="coefficient_of_x"),
    Equation.from_text("u_t = (exp(-x^2)*u_x)_x + sin(2*x)*u + x", name="coefficients_of_x"),
    Equation.from_text("u_t = u_xy + 0.5*(u*u_y)_x - u_xxyy", name="mixed_derivatives"),
    Equation.from_text("u_t = (u^m)_xx", name="porous_medium", parameters={"m": 2.5}),
    Equation.from_text(
        "u_t = k*sin(u) + sqrt(u)*u_xx/(1 + u^2)^2", name="functions", parameters={"k": 2}
    ),
    Equation.from_text(
        "A_t = A + (1 + b*I)*A_xx - (1 + c*I)*abs(A)^2*A",
        name="ginzburg_landau",
        parameters={"b": 0.5, "c": -1.3},
    ),
    Equation.from_text("h_t = I*h_xx + I*abs(h)*h + conj(h_x)*h^2 + I*abs(h_x)^3", name="moduli"),
    Equation.from_text("h_t = I*h_xx + I*n*h; n_t = (abs(h)^2)_x - n_x", name="complex_and_real"),
]


def _equations() -> dict[str, Equation]:
    known = [getattr(pdes.get(name), "equation", None) for name in pdes.available()]
    listed = [*(e for e in known if isinstance(e, Equation)), *MORE]
    return {equation.name: equation for equation in listed}


EQUATIONS = _equations()
POINTS = 5
TIME = torch.tensor(0.4, dtype=torch.float64)


class Waves:
    """Plane waves a exp(i(k.x + p)), or their real parts, around a positive mean."""

    def __init__(self, equation: Equation) -> None:
        rng = np.random.default_rng(11)
        self.equation, self.axes = equation, equation.coordinates
        self.points = {axis: rng.uniform(0.5, 1.5, POINTS) for axis in self.axes}
        self.waves = {
            name: [
                (amplitude, rng.uniform(0.4, 1.2, len(self.axes)), rng.uniform(0, 6))
                for amplitude in (0.3, 0.2)
            ]
            for name in equation.space.fields
        }

    def numpy_jet(self, jet: str) -> np.ndarray:
        name, orders = parse_derivative(jet, self.equation.space.fields, self.axes)
        total = 1.5 * (sum(orders) == 0)
        for amplitude, numbers, shift in self.waves[name]:
            phase = shift + sum(k * self.points[a] for k, a in zip(numbers, self.axes, strict=True))
            factor = np.prod([(1j * k) ** o for k, o in zip(numbers, orders, strict=True)])
            total = total + amplitude * factor * np.exp(1j * phase)
        return total if name in self.equation.complex_fields else total.real

    def torch_jets(self) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        """Jets by automatic differentiation, and the coordinates."""
        at = {a: torch.tensor(v, requires_grad=True) for a, v in self.points.items()}
        jets = {}
        for jet in self.equation.jets:
            name, orders = parse_derivative(jet, self.equation.space.fields, self.axes)
            parts = []
            for turn in (torch.cos, torch.sin):
                value = 1.5 * (turn is torch.cos) + sum(
                    amplitude
                    * turn(shift + sum(k * at[a] for k, a in zip(numbers, self.axes, strict=True)))
                    for amplitude, numbers, shift in self.waves[name]
                )
                for axis, order in zip(self.axes, orders, strict=True):
                    for _ in range(order):
                        (value,) = torch.autograd.grad(value.sum(), at[axis], create_graph=True)
                parts.append(value)
            is_complex = name in self.equation.complex_fields
            jets[jet] = torch.complex(*parts) if is_complex else parts[0]
        return jets, at

    def symbolic(self) -> dict[str, sympy.Expr]:
        found = {}
        for name, waves in self.waves.items():
            is_complex = name in self.equation.complex_fields
            value = sympy.Float(1.5)
            for amplitude, numbers, shift in waves:
                phase = shift + sum(
                    k * coordinate(a) for k, a in zip(numbers, self.axes, strict=True)
                )
                wave = sympy.exp(sympy.I * phase) if is_complex else sympy.cos(phase)
                value += amplitude * wave
            found[name] = value
        return found

    def numpy_form(self, **parameters: float) -> dict[str, np.ndarray]:
        jets = {jet: self.numpy_jet(jet) for jet in self.equation.jets}
        return self.equation.compile("numpy")(jets, {**self.points, "t": float(TIME)}, **parameters)


@pytest.fixture(params=EQUATIONS, scope="module")
def waves(request: pytest.FixtureRequest) -> Waves:
    return Waves(EQUATIONS[request.param])


def _agree(found: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray], rtol: float) -> None:
    assert set(found) == set(wanted)
    for name, values in wanted.items():
        scale = np.abs(values).max()
        np.testing.assert_allclose(found[name], values, rtol=rtol, atol=rtol * scale)
        assert np.asarray(found[name]).shape == values.shape


def test_numpy_form_equals_symbolic_form(waves: Waves) -> None:
    # The fields do not depend on time, so the residual is the right-hand side with a minus sign.
    left = waves.equation.residual(waves.symbolic())
    places = [
        {coordinate(a): v[i] for a, v in waves.points.items()} | {coordinate("t"): 0.4}
        for i in range(POINTS)
    ]
    wanted = {
        name: np.array([-complex(expr.evalf(subs=place)) for place in places])
        for name, expr in left.items()
        if name in waves.equation.fields
    }
    _agree(waves.numpy_form(), wanted, rtol=1e-11)


def test_torch_form_of_automatic_derivatives_equals_numpy_form(waves: Waves) -> None:
    jets, at = waves.torch_jets()
    found = waves.equation.compile("torch")(jets, {**at, "t": TIME})
    values = {name: value.detach().numpy() for name, value in found.items()}
    _agree(values, waves.numpy_form(), rtol=1e-11)
    total = sum(torch.view_as_real(v).sum() if v.is_complex() else v.sum() for v in found.values())
    slopes = torch.autograd.grad(total, list(at.values()), allow_unused=True)
    assert all(s is None or bool(torch.isfinite(s).all()) for s in slopes)
    assert any(s is not None and bool((s != 0).any()) for s in slopes)


@pytest.mark.parametrize("name", [n for n, e in EQUATIONS.items() if e.parameters])
def test_torch_form_is_differentiable_in_parameters(name: str) -> None:
    equation, waves = EQUATIONS[name], Waves(EQUATIONS[name])
    jets, at = waves.torch_jets()
    rhs = equation.compile("torch")
    for parameter, value in equation.parameters.items():
        free = torch.tensor(value, dtype=torch.float64, requires_grad=True)
        found = rhs(jets, {**at, "t": TIME}, **{parameter: free})
        total = sum((v.real**2).sum() for v in found.values())
        (slope,) = torch.autograd.grad(total, free)
        step = 1e-4 * max(abs(value), 1e-2)
        sides = [
            sum((v.real**2).sum() for v in waves.numpy_form(**{parameter: value + s}).values())
            for s in (step, -step)
        ]
        wanted = (sides[0] - sides[1]) / (2 * step)
        assert slope.item() == pytest.approx(wanted, rel=1e-5, abs=1e-5 * float(total.detach()))


def test_batches_and_single_precision(waves: Waves) -> None:
    equation = waves.equation
    single = waves.numpy_form()
    narrow = {True: np.complex64, False: np.float32}
    jets = {
        jet: np.stack([waves.numpy_jet(jet)] * 3).astype(
            narrow[bool(np.iscomplexobj(waves.numpy_jet(jet)))]
        )
        for jet in equation.jets
    }
    at = {a: v.astype(np.float32) for a, v in waves.points.items()}
    for backend, make in (("numpy", np.asarray), ("torch", torch.as_tensor)):
        found = equation.compile(backend)(
            {n: make(v) for n, v in jets.items()},
            {**{a: make(v) for a, v in at.items()}, "t": 0.4},
        )
        for name, values in found.items():
            values = np.asarray(values)
            assert values.dtype.itemsize == (8 if np.iscomplexobj(values) else 4)
            wanted = np.broadcast_to(single[name], (3, POINTS))
            scale = np.abs(wanted).max()
            np.testing.assert_allclose(values, wanted, rtol=1e-4, atol=1e-4 * scale)


def test_text_form_equals_symbolic_form(waves: Waves) -> None:
    equation = waves.equation
    assert type(equation).from_json(equation.to_json()) == equation
