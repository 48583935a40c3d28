"""The exclusion theorem over whole libraries."""

from __future__ import annotations

import pytest
import sympy

from sciml.theory import conservative_terms, invariant_terms
from sciml.theory.galilean import jet, total_derivative


def test_default_library_keeps_six_of_sixteen():
    library = conservative_terms()
    assert len(library) == 16
    assert invariant_terms(library) == ("1", "u_x", "u_xx", "u_xxx", "u_xxxx", "(u^2)_x")


@pytest.mark.parametrize(("degree", "order"), [(2, 1), (3, 3), (4, 6)])
def test_what_is_left_is_what_the_theorem_says(degree, order):
    library = conservative_terms(degree, order)
    assert len(library) == 1 + degree * (order + 1)
    linear = [f"u_{'x' * k}" for k in range(1, order + 1)]
    assert invariant_terms(library) == ("1", *linear, "(u^2)_x")


def test_products_of_derivatives_are_allowed():
    library = {"u_x^2": jet(1) ** 2, "u*u_xx": jet(0) * jet(2), "u_x*u_xx": jet(1) * jet(2)}
    assert invariant_terms(library) == ("u_x^2", "u_x*u_xx")


def test_dependent_columns_can_cancel():
    # (u^2)_xx - 2 u u_xx = 2 u_x^2 is invariant although neither term is.
    library = {
        "(u^2)_xx": total_derivative(total_derivative(jet(0) ** 2)),
        "u*u_xx": jet(0) * jet(2),
    }
    assert invariant_terms(library) == ("(u^2)_xx", "u*u_xx")


@pytest.mark.parametrize(
    ("name", "invariant"),
    [("(u^2)_x", True), ("u_xxx", True), ("u^2", False), ("(u^3)_x", False), ("u", False)],
)
def test_condition_agrees_with_boosting_the_equation_itself(name, invariant):
    """Boost a general field by hand and see whether some advection speed q absorbs the change."""
    t, x, c, q = sympy.symbols("t x c q", real=True)
    u = sympy.Function("u")
    boosted = u(t, x - q * c * t) + c
    expression = conservative_terms()[name]
    right = expression.subs(
        {symbol: sympy.diff(boosted, x, order) for order in range(5) if (symbol := jet(order))},
        simultaneous=True,
    )
    here = expression.subs(
        {
            jet(order): sympy.Derivative(u(t, x), (x, order)) if order else u(t, x)
            for order in range(5)
        }
    )
    change = sympy.diff(sympy.diff(boosted, t) - right, c).doit().subs(c, 0).doit()
    time_part = sympy.diff(sympy.diff(u(t, x), t) - here, x).doit() * (-q * t)
    difference = sympy.simplify((change - time_part).doit())
    solved = difference == 0 or bool(sympy.solve(difference, q))
    absorbed = solved and not any(sol.has(u) for sol in sympy.solve(difference, q))
    assert absorbed is invariant
