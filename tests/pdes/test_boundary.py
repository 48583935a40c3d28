"""Boundary conditions and values at points."""

from __future__ import annotations

import json
import math

import mpmath
import numpy as np
import pytest
import sympy

from pdes import boundary
from pdes.boundary import Dirichlet, Neumann, NoSlip, Outflow, Periodic, Robin, check_boundary
from pdes.grid import Axis, Grid
from pdes.pointwise import pointwise
from pdes.precise import precise
from pdes.symbols import coordinate, parameter

X, Y, T = coordinate("x"), coordinate("y"), sympy.Symbol("t", real=True)


def test_values_in_coordinates_time_and_parameters() -> None:
    wall = Robin(parameter("k"), X * sympy.exp(-T))
    x = np.linspace(0.0, 1.0, 5)
    found = wall.values(x=x, t=0.5, k=3.0)
    np.testing.assert_array_equal(found["coefficient"], np.full(5, 3.0))
    np.testing.assert_allclose(found["value"], x * math.exp(-0.5), rtol=1e-15)
    with pytest.raises(ValueError, match="'k' has no value"):
        wall.values(x=x, t=0.5)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1", None, sympy.zoo, sympy.oo])
def test_values_must_be_finite_numbers_or_expressions(value: object) -> None:
    with pytest.raises(ValueError, match="value="):
        Dirichlet(value)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="velocity="):
        NoSlip((0.0, value))  # type: ignore[arg-type]


def test_systems_take_one_condition_for_each_field() -> None:
    given = {"x-": {"u": Dirichlet(), "v": Neumann()}, "x+": Outflow()}
    full = check_boundary(given, ["x-", "x+"], ["u", "v"])
    assert full["x+"] == {"u": Outflow(), "v": Outflow()}
    assert full["x-"]["v"] == Neumann()
    with pytest.raises(ValueError, match=r"field of side 'x-'.*add \['v'\]"):
        check_boundary({**given, "x-": {"u": Dirichlet()}}, ["x-", "x+"], ["u", "v"])


def test_one_periodic_side_is_not_enough() -> None:
    with pytest.raises(ValueError, match=r"'x\+' is not"):
        check_boundary({"x-": Periodic(), "x+": Dirichlet()}, ["x-", "x+"], ["u"])
    both = check_boundary({"x-": Periodic(), "x+": Periodic()}, ["x-", "x+"], ["u"])
    assert both["x-"]["u"] == Periodic()


def test_description_is_json() -> None:
    given = {"x-": NoSlip((1.0, X)), "x+": {"u": Robin(1.0, Y)}}
    text = json.loads(json.dumps(boundary.describe(given)))
    assert text["x-"] == {"kind": "no_slip", "velocity": "(1.0, x)"}
    assert text["x+"]["u"] == {"kind": "robin", "coefficient": "1.0", "value": "y"}


def test_sides_of_a_grid() -> None:
    grid = Grid((Axis("x", 0.0, 1.0, 8), Axis("y", 0.0, 1.0, 8, periodic=False)))
    assert boundary.sides(grid) == ("x-", "x+", "y-", "y+")


EXPRESSIONS = [
    sympy.Piecewise((X, X < 0), (X**2 * Y, X < Y), (sympy.sqrt(X + 2), True)),
    sympy.atan2(Y, X) + sympy.atan(X) - sympy.Abs(Y),
    sympy.Max(X, Y) * sympy.Min(X, 1) + sympy.Heaviside(X - Y),
    sympy.besselj(1, X + 2) + sympy.bessely(0, Y + 3) + sympy.erf(X),
    (X + 2) ** sympy.Rational(-7, 3) + sympy.sign(X) * sympy.pi * sympy.E**Y,
    sympy.log(X + 3) * sympy.tanh(Y) / sympy.cosh(X) + sympy.asinh(X) + sympy.acosh(Y + 3),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_double_and_extended_precision_agree_with_sympy(expression: sympy.Expr) -> None:
    rng = np.random.default_rng(3)
    points = rng.uniform(-1.5, 1.5, (12, 2))
    values = pointwise(expression, {"x": points[:, 0], "y": points[:, 1]})
    for (x, y), value in zip(points, values, strict=True):
        place = {X: sympy.Rational(x), Y: sympy.Rational(y)}
        exact = sympy.N(expression.subs(place), 30)
        assert value == pytest.approx(float(exact), rel=1e-13, abs=1e-14)
        with mpmath.workdps(30):
            gap = precise(expression, place, 30) - mpmath.mpf(str(exact))
            assert abs(gap) < 1e-25


def test_complex_expressions_give_complex_values() -> None:
    found = pointwise(sympy.exp(sympy.I * X), {"x": np.array([0.0, np.pi])})
    np.testing.assert_allclose(found, [1.0, -1.0], atol=1e-15)
    assert found.dtype == np.complex128


def test_unknown_functions_are_named() -> None:
    with pytest.raises(ValueError, match="zeta cannot be evaluated"):
        pointwise(sympy.zeta(X), {"x": np.ones(2)})
