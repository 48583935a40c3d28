"""Norms in which the exact evolution does not grow, or grows at a known rate."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportArgumentType=false
# pyright: reportOperatorIssue=false
# pyright: reportAttributeAccessIssue=false
# pyright: reportReturnType=false
# pyright: reportGeneralTypeIssues=false
# pyright: reportAssignmentType=false
# pyright: reportCallIssue=false

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import sympy
import torch

from pdes.compile import compile_equation
from pdes.jets import JetSpace
from pdes.symbols import TIME, coordinate
from sciml.propagators.base import AbstractGenerator
from sciml.propagators.operator_terms import UnsupportedEquation, read_operator

__all__ = ["EnergyEstimate", "energy_estimate"]

Route = Literal["auto", "plain", "weighted", "wave"]


@dataclass(frozen=True)
class EnergyEstimate:
    """How an error grows: ``|e(t)| <= exp(rate t) |e(0)| + int exp(rate (t - s)) |F| ds``.

    Parameters
    ----------
    route : str
        ``"plain"`` in the usual norm, ``"weighted"`` in ``int e^2/c``, ``"wave"`` in
        ``int (e/c)^2`` for equations of second order in time, whose source is integrated in time.
    rate : float
        Growth rate.
    weight : Tensor, shape (m,)
        Weight of the square in the norm at the points.
    largest : float
        Factor from the weighted to the usual norm.
    name : str
        The norm, for print.
    """

    route: Route
    rate: float
    weight: torch.Tensor
    largest: float
    name: str


def energy_estimate(
    generator: AbstractGenerator, x: torch.Tensor, final_time: float, route: Route = "auto"
) -> EnergyEstimate:
    """Choose the norm of a certificate.

    Parameters
    ----------
    generator : AbstractGenerator
        Its equation decides.
    x : Tensor, shape (m,) or (m, d)
        Points of the quadrature.
    final_time : float
        Rates of time-dependent coefficients are taken over [0, final_time].
    route : {"auto", "plain", "weighted", "wave"}
        ``"auto"`` takes the weighted norm for transport in one dimension at a positive speed,
        where nothing grows, and the usual norm elsewhere.

    Returns
    -------
    EnergyEstimate

    Raises
    ------
    UnsupportedEquation
        If no estimate is known, as for waves with lower-order terms.
    """
    symbols = generator.symbols
    if symbols.time_order == 2:
        return _wave(generator, x)
    one = torch.ones(len(x), dtype=torch.float64)
    if route in ("auto", "weighted") and symbols.dimension == 1 and symbols.linear:
        speed = _values(generator, symbols.velocity[0], x, 0.0)
        still = symbols.damping == 0 and symbols.autonomous
        if still and bool((speed > 0).all()):
            largest = math.sqrt(float(speed.max()))
            return EnergyEstimate("weighted", 0.0, 1.0 / speed, largest, "int e^2/c")
        if route == "weighted":
            where = float(x[int(torch.argmin(speed))])
            raise UnsupportedEquation(
                f"route is 'weighted', which divides by the speed: it is {float(speed.min()):.4g} "
                f"at x={where:.6g}, and it must be positive, constant in time and without damping; "
                "use route='plain'"
            )
    return EnergyEstimate("plain", _growth(generator, x, final_time), one, 1.0, "int |e|^2")


def _wave(generator: AbstractGenerator, x: torch.Tensor) -> EnergyEstimate:
    symbols = generator.symbols
    operator = read_operator(symbols.equation)
    pure = all(in_time == 0 and sum(orders) == 2 for in_time, orders in operator.terms)
    if not (pure and symbols.homogeneous and symbols.autonomous):
        raise UnsupportedEquation(
            f"equation {symbols.equation.name!r}: the bound is derived for u_tt = c(x)^2 lap u"
        )
    unit = {p: sympy.Integer(int(i == 0)) for i, p in enumerate(symbols.gradient)}
    speed = _values(generator, symbols.hamiltonian.subs(unit), x, 0.0)
    return EnergyEstimate("wave", 0.0, speed**-2, float(speed.max()), "int (e/c)^2")


def _growth(generator: AbstractGenerator, x: torch.Tensor, final_time: float) -> float:
    """Half the largest value of the symmetric part ``A + A*`` of the operator, of order 0."""
    symbols = generator.symbols
    operator = read_operator(symbols.equation)
    names = symbols.equation.coordinates
    variables = [coordinate(n) for n in names]
    u = sympy.Function("u")(TIME, *variables)
    total = sympy.S.Zero
    for (_, orders), coefficient in operator.terms.items():
        pairs = [(v, n) for v, n in zip(variables, orders, strict=True) if n]
        total += coefficient * _diff(u, pairs)
        total += (-1) ** sum(orders) * _diff(sympy.conjugate(coefficient) * u, pairs)
    total = sympy.expand(total.doit())
    left = [d for d in total.atoms(sympy.Derivative) if sympy.simplify(total.coeff(d)) != 0]
    if left and not symbols.constant:
        raise UnsupportedEquation(
            f"equation {symbols.equation.name!r}: its symmetric part {total} differentiates, and "
            "no bound of its growth is derived"
        )
    if left:
        return _constant_growth(generator, total, u, variables)
    times = [0.0] if symbols.autonomous else np.linspace(0.0, final_time, 33)
    factor = sympy.simplify(total.coeff(u))
    return max(float(_values(generator, factor, x, float(t)).max()) for t in times) / 2.0


def _constant_growth(generator, total, u, variables) -> float:
    """Largest real part of a constant symbol, over the frequencies of a wide window."""
    xi = sympy.symbols(f"xi0:{len(variables)}", real=True)
    wave = sympy.exp(sympy.I * sum(k * v for k, v in zip(xi, variables, strict=True)))
    symbol = sympy.simplify(total.subs(u, wave).doit() / wave)
    values = sympy.lambdify(xi, symbol, "numpy")
    span = np.linspace(-2000.0, 2000.0, 4001)
    grids = np.meshgrid(*[span if len(xi) == 1 else span[::40]] * len(xi), indexing="ij")
    return float(np.max(np.real(values(*grids)))) / 2.0


def _diff(expr: sympy.Expr, pairs: list) -> sympy.Expr:
    return sympy.diff(expr, *pairs) if pairs else expr


def _values(generator: AbstractGenerator, expr: sympy.Expr, x: torch.Tensor, t: float):
    names = generator.symbols.equation.coordinates
    program = compile_equation({"value": expr}, JetSpace(("u",), names), {}, "torch")
    parts = [x] if len(names) == 1 else list(x.unbind(-1))
    coordinates = dict(zip(names, parts, strict=True)) | {"t": torch.full_like(parts[0], t)}
    return program({"u": torch.zeros_like(parts[0])}, coordinates)["value"].expand(len(x))
