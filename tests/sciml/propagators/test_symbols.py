"""Eikonal, transport and remainder derived from an equation."""

from __future__ import annotations

import pytest
import sympy

from pdes import Equation
from sciml.propagators import UnsupportedEquation, phase_symbols

NAMES = ("phi_t", "phi_x", "phi_xx", "phi_xxx", "a", "a_t", "a_tt", "a_x", "a_xx", "a_xxx", "x")
S = {n: sympy.Symbol(n, real=True) for n in (*NAMES, "branch", "phi_y", "y", "a_y")}


def expression(text: str) -> sympy.Expr:
    return sympy.sympify(text, locals=S)


@pytest.mark.parametrize(
    ("text", "phase", "amplitude", "remainder"),
    [
        ("u_t = -2*u_x - 3*u", "phi_t + 2*phi_x", "a_t + 2*a_x + 3*a", "0"),
        (
            "u_t = -((2 + sin(x))*u)_x",
            "phi_t + (2 + sin(x))*phi_x",
            "a_t + (2 + sin(x))*a_x + cos(x)*a",
            "0",
        ),
        (
            "h_t = I/2*h_xx - I*cos(x)*h",
            "phi_t + phi_x**2/2 + cos(x)",
            "a_t + phi_x*a_x + phi_xx*a/2",
            "-I/2*a_xx",
        ),
        (
            "u_t = -u_xxx",
            "phi_t - phi_x**3",
            "a_t - 3*phi_x**2*a_x - 3*phi_x*phi_xx*a",
            "I*(3*phi_x*a_xx + 3*phi_xx*a_x + phi_xxx*a) + a_xxx",
        ),
        (
            "u_t = v; v_t = (1 + 0.3*sin(x))^2*u_xx",
            "phi_t + branch*(1 + 3*sin(x)/10)*phi_x",
            "a_t + branch*(1 + 3*sin(x)/10)*a_x - branch*3*cos(x)/20*a",
            "a_tt - (1 + 3*sin(x)/10)**2*a_xx",
        ),
        (
            "u_t = -(sin(x)*u_x + y*u_y)",
            "phi_t + sin(x)*phi_x + y*phi_y",
            "a_t + sin(x)*a_x + y*a_y",
            "0",
        ),
    ],
)
def test_rows_of_the_table(text, phase, amplitude, remainder):
    symbols = phase_symbols(Equation.from_text(text))
    assert sympy.simplify(symbols.phase_residual - expression(phase)) == 0
    assert sympy.simplify(symbols.amplitude_residual - expression(amplitude)) == 0
    assert sympy.simplify(symbols.remainder - expression(remainder)) == 0


@pytest.mark.parametrize(
    ("text", "phase", "amplitude"),
    [
        ("u_t = -u_xxx + 0.1*u_xx - u_x", "(k**3 - k)*t + k*x", "exp(-k**2*t/10)"),
        ("h_t = I*h_xx + 2*I*h", "k*x + (2 - k**2)*t", "1"),
        ("u_t = v; v_t = 4*u_xx - 9*u", "k*x - sqrt(4*k**2 + 9)*t", "1"),
        ("u_t = v; v_t = -u_xxxx", "k*x - k**2*t", "1"),
    ],
)
def test_constant_coefficients_are_exact_with_their_whole_symbol(text, phase, amplitude):
    symbols = phase_symbols(Equation.from_text(text))
    k = sympy.Symbol("k", positive=True)
    t = sympy.Symbol("t", real=True)
    names = {"k": k, "t": t, "x": S["x"]}
    phi, a = (sympy.sympify(e, locals=names) for e in (phase, amplitude))
    values = {S["branch"]: 1}
    for stem, f in (("phi", phi), ("a", a)):
        for suffix in ("", "t", "tt", "x", "xx", "xxx", "xxxx"):
            name = f"{stem}_{suffix}" if suffix else stem
            value = f
            for letter in suffix:
                value = sympy.diff(value, names[letter])
            values[sympy.Symbol(name, real=True)] = value
    for part in (symbols.eikonal, symbols.transport, symbols.remainder):
        assert sympy.simplify(part.xreplace(values)) == 0
    assert symbols.constant


def test_properties():
    wave = phase_symbols(Equation.from_text("u_t = v; v_t = (2 + sin(x))^2*u_xx"))
    assert wave.homogeneous and wave.odd and wave.linear and not wave.constant
    assert wave.branches == (1, -1)
    airy = phase_symbols(Equation.from_text("u_t = -u_xxx"))
    assert airy.odd and airy.constant and not airy.homogeneous
    plane = phase_symbols(Equation.from_text("u_t = v; v_t = 4*u_xx + 4*u_yy"))
    assert plane.homogeneous and not plane.linear and not plane.odd


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("u_t = -u*u_x", "nonlinear in u"),
        ("u_t = -abs(u)*u_x", "nonlinear"),
        ("h_t = I*h_xx + conj(h)", "nonlinear in h"),
        ("u_t = u_xx", "damps instead of turning the phase"),
        ("u_t = -u_x + 1", "not linear in its field"),
        ("u_t = -u", "no derivative in space"),
        ("u_t = v_x; v_t = u_x", "has the fields u, v"),
        ("u_t = v; v_t = w; w_t = u_x", "has the fields u, v, w"),
        ("u_t = v; v_t = u_xxx", "order 3 in space and 2 in time"),
        ("u_t = v; v_t = u_xx + v_x", "differentiates the velocity"),
    ],
)
def test_other_equations_are_refused_with_the_reason(text, reason):
    with pytest.raises(UnsupportedEquation, match=reason):
        phase_symbols(Equation.from_text(text))


def test_a_problem_is_not_an_equation():
    import pdes

    with pytest.raises(TypeError, match=r"take problem\.equation"):
        phase_symbols(pdes.get("advection"))
