"""Canonical names of derivatives and terms."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from pdes.equation import coordinate, field, parameter
from pdes.term import canonical, derivative_name, parse_derivative

T, X, Y = (coordinate(name) for name in "txy")
U, V = field("u"), field("v")
H = field("h", complex=True)


@pytest.mark.parametrize(
    ("expr", "name"),
    [
        (U, "u"),
        (-7 * U.diff(X), "u_x"),
        (U.diff(X) * U, "u*u_x"),
        (U.diff(X, 2) * U**2, "u^2*u_xx"),
        (V.diff(X) * U, "u*v_x"),
        (U.diff(X) * V, "v*u_x"),
        (U.diff(X) ** 2 * U.diff(X, 3) * V, "v*u_x^2*u_xxx"),
        (U.diff(X) / X, "u_x/x"),
        (sympy.sin(2 * X) * U / X**2, "u*sin(2*x)/x^2"),
        (X * U, "u*x"),
        (sympy.Integer(3), "1"),
        (1 / X, "1/x"),
        (sympy.exp(-T), "exp(-t)"),
        (parameter("k") * U.diff(X, 4), "u_xxxx"),
        (sympy.Abs(H) ** 2 * H, "abs(h)^2*h"),
        (H**3 * sympy.conjugate(H) ** 2, "abs(h)^4*h"),
        (sympy.conjugate(H) ** 2 * H, "abs(h)^2*conj(h)"),
        (sympy.conjugate(H.diff(X)) * H, "h*conj(h_x)"),
        (sympy.sin(U) * U.diff(X), "u_x*sin(u)"),
        (U / (1 + U), "u/(1 + u)"),
    ],
)
def test_canonical_name(expr: sympy.Expr, name: str) -> None:
    assert canonical(expr, ("u", "v", "h"), ("x",)) == name


def test_canonical_name_in_two_dimensions_ignores_the_order_of_differentiation() -> None:
    u = field("u", ("x", "y"))
    assert canonical(u.diff(Y, X, Y), ("u",), ("x", "y")) == "u_xyy"
    assert canonical(u.diff(Y) * u.diff(X), ("u",), ("x", "y")) == "u_x*u_y"


def test_canonical_name_follows_the_order_of_the_fields() -> None:
    assert canonical(U * V, ("v", "u"), ("x",)) == "v*u"


def test_canonical_name_of_a_sum_is_refused() -> None:
    with pytest.raises(ValueError, match="got 2 terms"):
        canonical(U + U.diff(X), ("u",), ("x",))


@given(
    name=st.sampled_from(["u", "h_re", "h_im", "a_long_name"]),
    orders=st.tuples(st.integers(0, 5), st.integers(0, 5)),
)
def test_derivative_names_read_back(name: str, orders: tuple[int, int]) -> None:
    text = derivative_name(name, orders, ("x", "y"))
    assert parse_derivative(text, ("u", "h_re", "h_im", "a_long_name"), ("x", "y")) == (
        name,
        orders,
    )


def test_letters_may_come_in_any_order() -> None:
    assert parse_derivative("u_yxy", ("u",), ("x", "y")) == ("u", (1, 2))


def test_unknown_derivative_names_say_what_is_known() -> None:
    with pytest.raises(ValueError, match=r"'w_x' is neither.*fields are u, v.*coordinates x"):
        parse_derivative("w_x", ("u", "v"), ("x",))


def test_wrong_orders_are_refused() -> None:
    with pytest.raises(ValueError, match="orders: got"):
        derivative_name("u", (1, 2), ("x",))
    with pytest.raises(ValueError, match="orders: got"):
        derivative_name("u", (-1,), ("x",))
