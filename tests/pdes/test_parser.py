"""Text to equations: what is read, what is refused and where, and that nothing else happens."""

from __future__ import annotations

import pickle
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdes import Equation
from pdes.equation import ParseError
from pdes.reader import MAX_DEPTH, MAX_ORDER
from pdes.tokens import MAX_LENGTH

PARAMETERS = {"viscosity": 0.1, "m": 3.0}


def _terms(text: str) -> dict:
    return Equation.from_text(text, parameters=PARAMETERS).terms()["u"]


@pytest.mark.parametrize(
    ("right", "terms"),
    [
        ("-u*u_x + 0.1*u_xx", {"u*u_x": -1.0, "u_xx": 0.1}),
        ("-u*u_x+viscosity*u_xx", {"u*u_x": -1.0, "u_xx": 0.1}),
        ("(u^3)_xx", {"u*u_x^2": 6.0, "u^2*u_xx": 3.0}),
        ("(u**2)_x", {"u*u_x": 2.0}),
        ("-(u*u_x)_x", {"u_x^2": -1.0, "u*u_xx": -1.0}),
        ("((u^2)_x)_x", {"u_x^2": 2.0, "u*u_xx": 2.0}),
        ("(u^m)_x", {"u^2*u_x": 3.0}),
        ("u*(1 - u)*(u - 0.3)", {"u": -0.3, "u^2": 1.3, "u^3": -1.0}),
        ("-u_x/x", {"u_x/x": -1.0}),
        ("(x*u)_x", {"u": 1.0, "u_x*x": 1.0}),
        ("2*u/4", {"u": 0.5}),
        ("-u^2", {"u^2": -1.0}),
        ("(-u)^2", {"u^2": 1.0}),
        ("2^-1*u", {"u": 0.5}),
        ("u^2^3", {"u^8": 1.0}),
        ("u - u", {}),
        ("1e-3*u_xxxxxxxx", {"u_xxxxxxxx": 1e-3}),
        ("-4", {"1": -4.0}),
        ("+u", {"u": 1.0}),
        ("- - u", {"u": 1.0}),
        ("sin(pi/2)*u", {"u": 1.0}),
        ("pi*u", {"u": 3.141592653589793}),
        ("exp(1)*u + sqrt(2)*u_x", {"u": 2.718281828459045, "u_x": 1.4142135623730951}),
        ("abs(u)^2", {"u^2": 1.0}),
        ("conj(u_x)", {"conj(u_x)": 1.0}),
        ("u_x − 2·u", {"u": -2.0, "u_x": 1.0}),  # a typographic minus and a centered dot
        ("sin(2*x)*exp(-t)", {"exp(-t)*sin(2*x)": 1.0}),
    ],
)
def test_right_hand_side(right: str, terms: dict) -> None:
    assert _terms(f"u_t = {right}") == pytest.approx(terms, rel=1e-15)


def test_systems_come_as_lines_semicolons_or_a_list() -> None:
    expected = {
        "u": {"u_x*v_x": -10.0, "u_xx": 0.5, "u*v_xx": -10.0},
        "v": {"u": 0.1, "v": -0.05, "v_xx": 0.5},
    }
    rows = ["u_t = 0.5*u_xx - 10*(u*v_x)_x", "v_t = 0.5*v_xx + 0.1*u - 0.05*v"]
    for text in (rows, "\n".join(rows), "; ".join(rows), f"\n{rows[0]};\n\n{rows[1]};\n"):
        equation = Equation.from_text(text)
        assert equation.fields == ("u", "v")
        assert equation.terms() == expected


def test_a_line_break_inside_parentheses_continues_the_equation() -> None:
    assert _terms("u_t = (u\n + u_x)*2") == {"u": 2.0, "u_x": 2.0}


def test_field_names_may_contain_underscores_and_digits() -> None:
    equation = Equation.from_text(
        "h_re_t = -0.5*h_im_xx; h_im_t = 0.5*h_re_xx + h_re^2*c1_x; c1_t=0"
    )
    assert equation.fields == ("h_re", "h_im", "c1")
    assert equation.jets == ("h_re", "h_re_xx", "h_im_xx", "c1_x")


@pytest.mark.parametrize(
    ("text", "coordinates"),
    [
        ("u_t = u_xx", ("x",)),
        ("u_t = u", ("x",)),
        ("u_t = u_xy", ("x", "y")),
        ("u_t = (u^2)_y + u_xx", ("x", "y")),
        ("u_t = u_yx + z", ("x", "y", "z")),
        ("u_t = u_x; y_t = y", ("x",)),
    ],
)
def test_coordinates_are_those_that_occur(text: str, coordinates: tuple[str, ...]) -> None:
    assert Equation.from_text(text).coordinates == coordinates


def test_coordinates_may_be_named() -> None:
    equation = Equation.from_text("u_t = u_rr + u_r/r", coordinates=("r",))
    assert equation.terms() == {"u": {"u_r/r": 1.0, "u_rr": 1.0}}
    assert Equation.from_text("u_t = u_xx", coordinates=("x", "y")).coordinates == ("x", "y")


def test_mixed_derivatives_are_one_term_in_any_order() -> None:
    assert _terms("u_t = u_xy + u_yx + (u_x)_y") == {"u_xy": 3.0}


def test_the_imaginary_unit_makes_a_field_complex() -> None:
    equation = Equation.from_text("h_t = 0.5*I*h_xx + I*abs(h)^2*h; u_t = (abs(h)^2)_x")
    assert equation.complex_fields == {"h"}
    assert equation.terms() == {
        "h": {"abs(h)^2*h": 1j, "h_xx": 0.5j},
        "u": {"h*conj(h_x)": 1.0, "conj(h)*h_x": 1.0},
    }
    again = Equation.from_text("h_t = 0.5j*h_xx + 1j*h^2*conj(h)")
    assert again.terms()["h"] == equation.terms()["h"]


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("", "no equation", 0),
        ("  \n ; ", "no equation", 0),
        ("u_xx", "begins with a field's time derivative", 0),
        ("u = u_xx", "wanted a time derivative such as 'u_t'", 0),
        ("u_x = u_xx", "wanted a time derivative", 0),
        ("u_t + u*u_x = 0", "begins with a field's time derivative", 0),
        ("u_tt = u_xx", "only first-order time derivatives are supported yet", 0),
        ("u_xt = u", "wanted a time derivative such as 'u_t'", 0),
        ("u_t =", "nothing to the right", 4),
        ("u_t = u; u_t = u_x", "second equation for u", 9),
        ("u_t = viscositty*u_xx", "Did you mean 'viscosity'?", 6),
        ("u_t = sinn(u)", "unknown function 'sinn'. Did you mean 'sin'?", 6),
        ("u_t = sin*u", "write sin(...)", 6),
        ("u_t = u_xw", "cannot differentiate by w", 6),
        ("u_t = (u)_xw", "cannot differentiate by w", 9),
        ("u_t = u_xt", "time derivatives are supported on the left only", 6),
        ("u_t = (u^2)_t", "time derivatives are supported on the left only", 11),
        ("u_t = 2u_x", "write '*' before 'u_x'", 7),
        ("u_t = u(u + 1)", "write '*' between 'u' and '('", 6),
        ("u_t = u u_x", "write '*' before 'u_x'", 8),
        ("u_t = u +", "got the end of the equation", 9),
        ("u_t = *u", "got '*'", 6),
        ("u_t = (u", "'(' is never closed", 6),
        ("u_t = u)", "')' without '('", 7),
        ("u_t = u/0", "division by zero", 7),
        ("u_t = u/(x - x)", "division by zero", 7),
        ("u_t = 0^-1", "division by zero", 7),
        ("u_t = log(0)", "divides by zero", 6),
        ("u_t = u^u", "an exponent is a number or made of parameters", 7),
        ("u_t = u^99", "exponent 99 exceeds 32", 7),
        ("u_t = 1e400*u", "too large for double precision", 6),
        ("u_t = 1e-400*u", "too small for double precision", 6),
        ("u_t = u_x$", "unexpected character '$'", 9),
        ("u_t = u = v", "unexpected '='", 8),
        ("u_t = _x", "has to follow a name or ')'", 6),
        ("u_t = (abs(u))_xx", "DiracDelta", 6),
        ("u_t = sqrt(0-1)*u", "complex while the field is real", 6),
        ("sin_t = 1", "another meaning", 0),
        ("u_t = 1; u_x_t = 2", "reads as a field or a derivative", 9),
    ],
)
def test_what_is_refused_and_where(text: str, message: str, at: int) -> None:
    with pytest.raises(ParseError) as caught:
        Equation.from_text(text, parameters=PARAMETERS)
    assert message in str(caught.value)
    assert caught.value.position == at
    assert isinstance(caught.value, ValueError)
    lines = str(caught.value).splitlines()
    assert lines[-1].strip() == "^"
    if text.strip("; \n"):
        under = lines[-2].ljust(len(lines[-1]))[len(lines[-1]) - 1]
        assert under == (text + " ")[at]


def test_the_caret_of_a_long_line_stays_in_sight() -> None:
    text = "u_t = u; v_t = " + "u + " * 500 + "$" + " + u" * 500
    with pytest.raises(ParseError) as caught:
        Equation.from_text(text)
    _, shown, caret = str(caught.value).splitlines()
    assert len(shown) < 140
    assert shown[caret.index("^")] == "$"


def test_errors_survive_pickling() -> None:
    with pytest.raises(ParseError) as caught:
        Equation.from_text("u_t = w")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.position == 6


def test_derivatives_up_to_order_eight() -> None:
    assert _terms(f"u_t = u_{'x' * MAX_ORDER}") == {f"u_{'x' * MAX_ORDER}": 1.0}
    for right in ("u_xxxxxxxxx", "(u_xxxxxxxx)_x", "(u)_xxxxxxxxx", "((u^2)_xxxxx)_xxxx"):
        with pytest.raises(ParseError, match="higher order than 8"):
            Equation.from_text(f"u_t = {right}")


NESTED = 10 * MAX_DEPTH


@pytest.mark.parametrize(
    "text",
    [
        "(" * NESTED,
        "-" * NESTED + "u",
        "u" + "^2" * NESTED,
        "sin(" * NESTED + "u" + ")" * NESTED,
        "(" * 30 + "u + 1" + ")^32" * 30,
        "(" * 30 + "2" + ")^32" * 30,
        "(" * 30 + "u + 1" + ")^m" * 30,
        "(u + u_x + u_xx + 1)^32",
        "(tan(u)*u_x^3)_xxxxxxxx",
        "+".join(["(sin(u)*u^3)_xxxx"] * 200),
        "*".join(["1e300"] * 1000),
        "*".join(["(u + 1)"] * 1000),
        "cos(sinh(1e22))*u",
        "1" * 10_000,
        "u" * (MAX_LENGTH + 1),
    ],
)
def test_hostile_text_is_refused_quickly(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(ParseError):
        Equation.from_text(f"u_t = {text}", parameters=PARAMETERS)
    assert time.perf_counter() - started < 20


ALPHABET = "uvxyt_ht=+-*/^()0123456789.eIj;\n sincoxpabqrt"
WORDS = "u u_x u_xx v x t m viscosity I 1 0.5 2 1e300 1j 0 + - * / ^ ** ( ) )_x )_xxxx sin( abs("
MORE_WORDS = "conj( sqrt( log( ^2 ^-1 = ; @ é u_t u_t= v_t="
PIECES = st.sampled_from([*WORDS.split(), *MORE_WORDS.split(), " ", "\n"])


def _read(text: str) -> None:
    """Either an equation that prints and reads back, or an error that knows its place."""
    position = 0
    try:
        equation = Equation.from_text(text, parameters=PARAMETERS)
    except ParseError as error:
        position = error.position
    else:
        assert Equation.from_json(equation.to_json()) == equation
    assert 0 <= position <= len(text)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.text(ALPHABET), st.lists(PIECES).map("".join)))
def test_arbitrary_text_is_read_or_refused(text: str) -> None:
    _read(text)
    _read(f"u_t = {text}\nv_t = u")


def _expressions() -> st.SearchStrategy[str]:
    atoms = st.sampled_from(["u", "u_x", "u_xx", "v", "v_xy", "u_y", "x", "t", "viscosity", "m"])
    numbers = st.one_of(
        st.integers(0, 10**6).map(str),
        st.floats(1e-6, 1e6).map(repr),
        st.sampled_from(["I", "2j", "pi", "1/3"]),
    )

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, st.sampled_from([" + ", " - ", "*", "/"]), inner).map("".join),
            inner.map("-{}".format),
            inner.map("({})".format),
            st.tuples(inner, st.sampled_from(["2", "3", "-1", "0.5", "-2", "m", "(m + 1)"])).map(
                lambda pair: f"({pair[0]})^{pair[1]}"
            ),
            st.tuples(inner, st.sampled_from(["x", "xy", "xx"])).map(lambda p: f"({p[0]})_{p[1]}"),
            st.tuples(
                st.sampled_from(["sin", "exp", "abs", "tanh", "sqrt", "conj", "log"]), inner
            ).map(lambda pair: f"{pair[0]}({pair[1]})"),
        )

    return st.recursive(st.one_of(atoms, numbers), grow, max_leaves=6)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(right=_expressions(), complex_fields=st.sampled_from([(), ("u",), ("u", "v")]))
def test_text_to_equation_to_text(right: str, complex_fields: tuple[str, ...]) -> None:
    try:
        equation = Equation.from_text(
            ["v_t = 0", f"u_t = {right}"], parameters=PARAMETERS, complex_fields=complex_fields
        )
    except ParseError:
        return
    given_names = {
        "coordinates": equation.coordinates,
        "complex_fields": equation.complex_fields,
    }
    assert Equation.from_json(equation.to_json()) == equation
    text = equation.text()
    assert Equation.from_text(text, **given_names).text() == text
    symbolic = equation.text(symbolic=True)
    again = Equation.from_text(symbolic, parameters=PARAMETERS, **given_names)
    assert again.text(symbolic=True) == symbolic
    assert again == equation
