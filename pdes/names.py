"""Which names an equation may use, so that no name has two meanings."""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportAttributeAccessIssue=false
# pyright: reportArgumentType=false

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sympy

from pdes.jets import JetSpace
from pdes.normal_form import FUNCTIONS, MAX_EXPONENT
from pdes.tokens import closest

__all__ = [
    "check_coordinates",
    "check_name",
    "check_parameters",
    "check_symbols",
    "refuse_gradient",
]


def check_coordinates(coordinates: Sequence[str]) -> None:
    """Refuse coordinates that are not different single letters, or are t or I."""
    for axis in coordinates:
        letter = isinstance(axis, str) and len(axis) == 1 and axis.isalpha() and axis.isascii()
        if not letter or axis in ("t", "I"):
            raise ValueError(f"coordinates: got {axis!r}, wanted one letter other than t and I")
    if not coordinates or len(set(coordinates)) < len(coordinates):
        raise ValueError(f"coordinates: got {coordinates}, wanted one or more different letters")


def check_name(kind: str, name: str, others: Iterable[str], coordinates: Sequence[str]) -> None:
    """Refuse the name of a field or a parameter that has another meaning already.

    Parameters
    ----------
    kind
        What to call it in the message: ``"field"`` or ``"parameter"``.
    name
        The name.
    others
        The other fields: a name must not read as one of their derivatives.
    coordinates
        The spatial coordinates.

    Raises
    ------
    ValueError
    """
    if not (isinstance(name, str) and name.isidentifier() and name.isascii()) or name[0] == "_":
        raise ValueError(
            f"{kind} {name!r} is no name: use letters, digits and underscores, a letter first"
        )
    if name in FUNCTIONS or name in ("I", "pi", "t"):
        raise ValueError(f"{kind} {name!r}: the name has another meaning; choose another")
    if name in coordinates:
        raise ValueError(f"{kind} {name!r}: the name is a coordinate; choose another")
    if JetSpace(tuple(others), tuple(coordinates)).parse(sympy.Symbol(name)):
        raise ValueError(f"{kind} {name!r} reads as a field or a derivative; choose another name")


def check_parameters(parameters: Mapping[str, float]) -> dict[str, float]:
    """Values as floats; refuse what is not a finite real number."""
    values = {}
    for name, value in parameters.items():
        refuse_gradient(name, value)
        try:
            values[name] = float(value)
        except (TypeError, ValueError):
            raise ValueError(f"parameters: {name} is {value!r}, wanted a real number") from None
        if not math.isfinite(values[name]):
            raise ValueError(f"parameters: {name} is {value}, wanted a finite number")
    return values


def refuse_gradient(name: str, value: Any) -> None:
    """Refuse a tensor that carries a gradient, which an equation's floats would lose in silence.

    Raises
    ------
    TypeError
        Saying where such a value goes instead.
    """
    if getattr(value, "requires_grad", False):
        raise TypeError(
            f"parameters: {name} is a tensor with requires_grad=True, wanted a float: equations "
            "keep plain numbers and would lose the gradient. Give it to the solver, "
            f"pdes.solvers.rollout(..., parameters={{{name!r}: value}}), or pass float(value)"
        )


def check_symbols(
    row: str, expr: sympy.Expr, space: JetSpace, parameters: Mapping[str, float]
) -> None:
    """Refuse unknown symbols, imaginary terms of a real field and huge symbolic exponents.

    Parameters
    ----------
    row
        The field whose right-hand side it is.
    expr
        In plain symbols.
    space
        The fields and coordinates.
    parameters
        Values of the parameters.

    Raises
    ------
    ValueError
    """
    known: Collection[str] = {"t", *space.coordinates, *parameters}
    for symbol in expr.free_symbols:
        if not space.parse(symbol) and symbol.name not in known:
            raise ValueError(
                f"rhs of {row}: unknown symbol {symbol.name!r}.{closest(symbol.name, parameters)} "
                "Give its value in parameters"
            )
    if row not in space.complex_fields and expr.has(sympy.I):
        raise ValueError(
            f"rhs of {row}: the imaginary unit in the equation of a real field; "
            f"name it in complex_fields=({row!r},)"
        )
    for power in expr.atoms(sympy.Pow):
        for symbol in power.exp.free_symbols:
            # Such a power is expanded when values are put in, so its size has to be bounded.
            if abs(parameters.get(symbol.name, 0.0)) > MAX_EXPONENT:
                raise ValueError(
                    f"parameters: {symbol.name} is an exponent, got {parameters[symbol.name]}, "
                    f"wanted at most {MAX_EXPONENT} in size"
                )
