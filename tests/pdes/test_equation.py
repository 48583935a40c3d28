"""Equations from text, symbols and terms; their parts, their printing and their identity."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from pdes import Equation
from pdes.equation import coordinate, field, parameter

T, X, Y = (coordinate(name) for name in "txy")
U = field("u")
BURGERS = Equation.from_text(
    "u_t = -u*u_x + viscosity*u_xx", name="burgers", parameters={"viscosity": 0.1}
)
SCHROEDINGER = Equation.from_text("h_t = 0.5*I*h_xx + I*abs(h)^2*h", name="nls")


def test_the_same_equation_from_text_symbols_and_terms() -> None:
    from_text = Equation.from_text("u_t = -u*u_x + 0.1*u_xx", name="burgers")
    from_symbols = Equation(name="burgers", rhs={"u": -U * U.diff(X) + 0.1 * U.diff(X, 2)})
    from_terms = Equation.from_terms({"u": {"u_xx": 0.1, "u*u_x": -1.0}}, name="burgers")
    assert from_text == from_symbols == from_terms
    assert hash(from_text) == hash(from_symbols) == hash(from_terms)
    assert from_text != dataclasses.replace(from_text, name="other")
    assert from_text != Equation.from_text("u_t = -u*u_x + 0.2*u_xx", name="burgers")


def test_right_hand_sides_are_stored_expanded_in_the_documented_symbols() -> None:
    equation = Equation.from_text("u_t = u*(1 - u)")
    assert equation.rhs["u"] == U - U**2
    assert BURGERS.rhs["u"] == -U * U.diff(X) + parameter("viscosity") * U.diff(X, 2)


def test_symbols_without_assumptions_are_recognized_by_name() -> None:
    t, x, k = sympy.symbols("t x k")
    u = sympy.Function("u")(t, x)
    equation = Equation(name="heat", rhs={"u": k * u.diff(x, 2)}, parameters={"k": 2})
    assert equation.rhs["u"] == parameter("k") * U.diff(X, 2)


def test_terms_of_a_conservative_form_are_expanded() -> None:
    assert Equation.from_text("u_t = (u^3)_xx").terms() == {"u": {"u*u_x^2": 6.0, "u^2*u_xx": 3.0}}


def test_terms_come_by_order_of_differentiation() -> None:
    equation = Equation.from_text("u_t = -u_xxxx - u_xx - u*u_x + u - u^3")
    assert list(equation.terms()["u"]) == ["u", "u^3", "u*u_x", "u_xx", "u_xxxx"]


def test_terms_of_what_is_no_polynomial_are_refused() -> None:
    with pytest.raises(ValueError, match=r"u is not a polynomial in its fields: sin\(u\)"):
        Equation.from_text("u_t = u_xx + sin(u)").terms()
    # A symbolic power is a polynomial once its exponent has a whole value.
    porous = Equation.from_text("u_t = (u^m)_xx", parameters={"m": 2})
    assert porous.terms() == {"u": {"u_x^2": 2.0, "u*u_xx": 2.0}}
    with pytest.raises(ValueError, match="not a polynomial"):
        porous.with_parameters(m=1.5).terms()


def test_jets_are_those_needed() -> None:
    assert BURGERS.jets == ("u", "u_x", "u_xx")
    assert Equation.from_text("u_t = u_xx").jets == ("u_xx",)
    assert Equation.from_text("u_t = 1").jets == ()
    mixed = Equation.from_text("u_t = v_xy + u_yy + u_xx; v_t = u*v_y")
    assert mixed.jets == ("u", "u_xx", "u_yy", "v_y", "v_xy")
    assert SCHROEDINGER.jets == ("h", "h_xx")


def test_parameters_are_replaced_by_name() -> None:
    other = BURGERS.with_parameters(viscosity=0.25)
    assert other.terms()["u"]["u_xx"] == 0.25
    assert BURGERS.parameters["viscosity"] == 0.1
    with pytest.raises(
        ValueError, match=r"unknown parameter 'viscositi'. Did you mean 'viscosity'"
    ):
        BURGERS.with_parameters(viscositi=1.0)


def test_split_separates_constant_coefficients() -> None:
    equation = Equation.from_text(
        "u_t = a*u_xx + v_xy - 2*u + x*u_x + u*v + 3; v_t = -u_x + v^2*v_yy", parameters={"a": 0.5}
    )
    linear, nonlinear = equation.split()
    assert linear == {
        ("u", "u"): {(2, 0): 0.5, (0, 0): -2.0},
        ("u", "v"): {(1, 1): 1.0},
        ("v", "u"): {(1, 0): -1.0},
    }
    u, v = field("u", ("x", "y")), field("v", ("x", "y"))
    assert nonlinear == {"u": X * u.diff(X) + u * v + 3, "v": v**2 * v.diff(Y, 2)}


def test_split_of_a_complex_equation_keeps_conjugates_out_of_the_linear_part() -> None:
    linear, nonlinear = Equation.from_text("h_t = I*h_xx + 2*conj(h)").split()
    assert linear == {("h", "h"): {(2,): 1j}}
    assert nonlinear["h"] == 2 * sympy.conjugate(field("h", complex=True))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("u_t = -u*u_x + 0.1*u_xx", "u_t = -u u_x + 0.1 u_{xx}"),
        ("u_t = -6*u*u_x - u_xxx", "u_t = -6 u u_x - u_{xxx}"),
        ("u_t = u_x^2 + 1/3*u^12", r"u_t = \frac{1}{3} u^{12} + u_x^2"),
        ("u_t = -u_x/x + 1e-5*u_xx", r"u_t = -\frac{u_x}{x} + 10^{-5} u_{xx}"),
        ("u_t = 2.5e-7*u", r"u_t = 2.5 \times 10^{-7} u"),
        ("h_t = 0.5*I*h_xx + I*abs(h)^2*h", "h_t = i |h|^2 h + 0.5 i h_{xx}"),
        ("A_t = A + (1 + 2*I)*A_xx", r"A_t = A + \left(1 + 2 i\right) A_{xx}"),
        ("h_re_t = -h_im_xx; h_im_t = 0", None),
        ("u_t = 0", "u_t = 0"),
        ("u_t = sin(u)/(1 + u)", r"u_t = \frac{\sin{\left(u \right)}}{u + 1}"),
        ("phi_t = -phi^3 + conj(phi)", r"\phi_t = \overline{\phi} - \phi^3"),
    ],
)
def test_latex_as_a_physicist_writes_it(text: str, latex: str | None) -> None:
    if latex is None:
        latex = "h_{\\mathrm{re},t} = -h_{\\mathrm{im},xx} \\\\\nh_{\\mathrm{im},t} = 0"
    assert Equation.from_text(text).latex() == latex


def test_latex_may_keep_parameters() -> None:
    heat = Equation.from_text("u_t = kappa*u_xx", parameters={"kappa": 2})
    assert heat.latex() == "u_t = 2 u_{xx}"
    assert heat.latex(symbolic=True) == r"u_t = \kappa u_{xx}"
    assert BURGERS.latex(symbolic=True) == r"u_t = -u u_x + \mathrm{viscosity} u_{xx}"


def test_text_has_values_or_names_of_parameters() -> None:
    assert str(BURGERS) == BURGERS.text() == "u_t = -u*u_x + 0.1*u_xx"
    assert BURGERS.text(symbolic=True) == "u_t = -u*u_x + viscosity*u_xx"
    assert repr(BURGERS) == "Equation('burgers': u_t = -u*u_x + 0.1*u_xx)"


@given(st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False))
def test_coefficients_come_back_bit_for_bit(value: float) -> None:
    equation = Equation.from_terms({"u": {"u_xx": value, "u": 1.0}})
    assert equation.terms()["u"].get("u_xx", 0.0) == value
    again = Equation.from_text(equation.text(), name=equation.name)
    assert again == equation
    assert Equation.from_json(json.loads(json.dumps(equation.to_json()))) == equation


COEFFICIENTS = st.floats(-1e6, 1e6).filter(bool)
TERMS = st.dictionaries(
    st.sampled_from(
        ["1", "u", "u^3", "u*u_x", "u^2*u_x", "u_x^2", "u*v_x", "v*u_xx", "u_xxxx", "u_x/x", "v*x"]
    ),
    COEFFICIENTS,
    max_size=6,
)


@settings(deadline=None)
@given(first=TERMS, second=TERMS)
def test_terms_come_back(first: dict[str, float], second: dict[str, float]) -> None:
    equation = Equation.from_terms({"u": first, "v": second}, name="drawn")
    assert equation.terms() == {"u": first, "v": second}
    assert Equation.from_text(str(equation), name="drawn") == equation


def test_shortest_numbers_are_printed() -> None:
    equation = Equation.from_terms({"u": {"u": 0.1 + 0.2, "u_x": 1e22, "u_xx": 2.0, "u_xxx": 1e-9}})
    assert str(equation) == "u_t = 0.30000000000000004*u + 1e+22*u_x + 2*u_xx + 1e-09*u_xxx"


@pytest.mark.parametrize("equation", [BURGERS, SCHROEDINGER], ids=lambda e: e.name)
def test_equations_survive_json_pickle_and_copy(equation: Equation) -> None:
    record = json.loads(json.dumps(equation.to_json()))
    assert set(record) == {"name", "text", "parameters", "coordinates", "complex_fields"}
    for other in (
        Equation.from_json(record),
        pickle.loads(pickle.dumps(equation)),
        copy.deepcopy(equation),
        dataclasses.replace(equation),
    ):
        assert other == equation
        assert hash(other) == hash(equation)
        assert other.text(symbolic=True) == equation.text(symbolic=True)


def test_equations_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        BURGERS.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        BURGERS.parameters["viscosity"] = 1.0  # type: ignore[index]
    with pytest.raises(TypeError):
        BURGERS.rhs["u"] = U  # type: ignore[index]
    given_parameters = {"viscosity": 0.1}
    equation = Equation.from_text("u_t = viscosity*u_xx", parameters=given_parameters)
    given_parameters["viscosity"] = 5.0
    assert equation.parameters["viscosity"] == 0.1


def test_residual_of_exact_solutions_vanishes() -> None:
    t, x = sympy.symbols("t x")
    speed = sympy.Rational(3, 2)
    phase = sympy.sqrt(speed) / 2 * (x - speed * t)
    soliton = speed / 2 / sympy.cosh(phase) ** 2
    kdv = Equation.from_text("u_t = -6*u*u_x - u_xxx")
    left = kdv.residual({"u": soliton})["u"]
    assert abs(sympy.N(left.subs({T: 0.3, X: 0.7}), 30)) < 1e-25
    wrong = kdv.residual({"u": 1.001 * soliton})["u"]
    assert abs(sympy.N(wrong.subs({T: 0.3, X: 0.7}), 30)) > 1e-5


def test_residual_uses_conjugates_and_parameters() -> None:
    equation = Equation.from_text("h_t = 0.5*I*h_xx + I*g*abs(h)^2*h", parameters={"g": 1})
    bright = sympy.exp(sympy.I * T / 2) / sympy.cosh(X)
    left = equation.residual({"h": bright})["h"]
    assert sympy.simplify(left.rewrite(sympy.exp)) == 0
    waves = Equation.from_text("u_t = k*u_xy", parameters={"k": 0.5}).residual(
        {"u": sympy.sin(X + Y) * parameter("k") * T}
    )
    assert sympy.simplify(waves["u"] - sympy.sin(X + Y) * (2 + T) / 4) == 0


def test_residual_wants_every_field() -> None:
    with pytest.raises(ValueError, match="expressions: got v, wanted one for each of u"):
        BURGERS.residual({"v": X})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rhs": {}}, "at least one right-hand side"),
        ({"rhs": {"u": "u_xx"}}, "text goes through Equation.from_text"),
        ({"rhs": {"u": parameter("viscosty")}, "parameters": {"viscosity": 1}}, "Did you mean"),
        ({"rhs": {"u": U}, "parameters": {"k": float("nan")}}, "k is nan, wanted a finite number"),
        ({"rhs": {"u": U}, "parameters": {"k": "big"}}, "k is 'big', wanted a real number"),
        ({"rhs": {"u": U}, "parameters": {"u_x": 1}}, "'u_x' reads as a field or a derivative"),
        ({"rhs": {"u": U}, "parameters": {"x": 1}}, "'x': the name is a coordinate"),
        ({"rhs": {"sin": sympy.S(1)}}, "'sin': the name has another meaning"),
        ({"rhs": {"2u": sympy.S(1)}}, "'2u' is no name"),
        ({"rhs": {"u": U}, "coordinates": ("xy",)}, "got 'xy', wanted one letter"),
        ({"rhs": {"u": U}, "coordinates": ("x", "x")}, "different letters"),
        ({"rhs": {"u": U}, "complex_fields": ("h",)}, "complex_fields: got h"),
        ({"rhs": {"u": sympy.I * U}}, "imaginary unit in the equation of a real field"),
        ({"rhs": {"u": U.diff(T)}}, "time derivative"),
        ({"rhs": {"u": field("v")}}, "unknown function 'v'"),
        ({"rhs": {"u": field("u", ("x", "y"))}}, r"got u\(t, x, y\), wanted u\(t, x\)"),
        ({"rhs": {"u": sympy.gamma(U)}}, "gamma in gamma.* is not supported"),
        ({"rhs": {"u": sympy.zoo}}, "divides by zero"),
        ({"rhs": {"u": U**100}}, "exceeds 32"),
        ({"rhs": {"u": U ** parameter("m")}, "parameters": {"m": 100}}, "m is an exponent"),
        ({"rhs": {"u": U / parameter("k")}, "parameters": {"k": 0}}, "divides by zero"),
    ],
)
def test_bad_equations_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Equation(name="bad", **arguments)


def test_compiled_values_by_hand() -> None:
    jets = {"u": np.array([1.0, 2.0]), "u_x": np.array([3.0, -1.0]), "u_xx": np.array([10.0, 20.0])}
    np.testing.assert_allclose(BURGERS.compile()(jets)["u"], [-2.0, 4.0])
    np.testing.assert_allclose(BURGERS.compile()(jets, viscosity=0.0)["u"], [-3.0, 2.0])


def test_compiled_constants_have_the_shape_of_the_jets() -> None:
    rhs = Equation.from_text("u_t = 2; v_t = u + x", coordinates=("x",)).compile()
    found = rhs({"u": np.zeros((3, 4), dtype=np.float32)}, {"x": np.arange(4, dtype=np.float32)})
    assert found["u"].shape == found["v"].shape == (3, 4)
    assert found["u"].dtype == found["v"].dtype == np.float32
    np.testing.assert_array_equal(found["u"], 2.0)
    np.testing.assert_array_equal(found["v"][1], [0, 1, 2, 3])


def test_compiled_results_never_share_memory_with_jets_or_each_other() -> None:
    rhs = Equation.from_text("u_t = u_xx; v_t = u_xx").compile()
    jet = np.ones(5)
    found = rhs({"u_xx": jet})
    found["u"] += 1.0
    np.testing.assert_array_equal(found["v"], 1.0)
    np.testing.assert_array_equal(jet, 1.0)


def test_compiled_equations_say_what_is_missing() -> None:
    rhs = BURGERS.compile()
    with pytest.raises(ValueError, match="jets: 'u_xx' is needed, got u, u_x"):
        rhs({"u": np.ones(3), "u_x": np.ones(3)})
    with pytest.raises(ValueError, match="Did you mean 'viscosity'"):
        rhs({"u": np.ones(3), "u_x": np.ones(3), "u_xx": np.ones(3)}, viscocity=1.0)
    with pytest.raises(ValueError, match="coordinates: 'x' is needed, got none"):
        Equation.from_text("u_t = x*u").compile()({"u": np.ones(3)})
    with pytest.raises(ValueError, match="backend: got 'jax'"):
        BURGERS.compile("jax")  # type: ignore[arg-type]


def test_compiled_equations_pickle() -> None:
    jets = {"u": np.ones(3), "u_x": np.ones(3), "u_xx": np.arange(3.0)}
    again = pickle.loads(pickle.dumps(BURGERS.compile()))
    np.testing.assert_array_equal(again(jets)["u"], BURGERS.compile()(jets)["u"])


def test_equal_subexpressions_are_computed_once() -> None:
    rhs = Equation.from_text("u_t = sin(u*u_x) + u*u_x; v_t = 2*sin(u*u_x)").compile()
    names = [name for name, _ in rhs.operations]
    assert names.count("sin") == 1
    assert len(names) == 4


def test_importing_equations_loads_neither_torch_nor_scipy() -> None:
    code = (
        "import sys, pdes.equation, pdes.grid;"
        "print([m for m in ('torch', 'scipy', 'xarray', 'matplotlib') if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
