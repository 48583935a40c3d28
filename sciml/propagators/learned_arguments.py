"""What the arguments of a learned propagator may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pdes.equation import Equation
from sciml.propagators.base import Kind
from sciml.propagators.symbols import PhaseSymbols
from sciml.propagators.wave_series import first_correction

__all__ = ["KINDS", "checked_exact", "checked_kind", "checked_order", "equation_of"]

KINDS = ("auto", "generic", "homogeneous", "multiplier")


def equation_of(given: Equation | str | Mapping[str, Any]) -> Equation:
    """An equation from itself, its text, or what `Equation.to_json` makes."""
    if isinstance(given, Equation):
        return given
    if isinstance(given, str):
        return Equation.from_text(given)
    if isinstance(given, Mapping):
        return Equation.from_json(given)
    raise TypeError(
        f"equation is a {type(given).__name__}: wanted an Equation, or text such as 'u_t = -u_x'"
    )


def checked_kind(name: str, symbols: PhaseSymbols) -> Kind:
    """Kind of a parametrization by its name, if it fits the equation."""
    if name not in KINDS:
        from sciml.training.optimizers import closest

        raise ValueError(
            f"parametrization is {name!r}{closest(str(name), KINDS)}: wanted one of "
            f"{', '.join(KINDS)}"
        )
    if name == "auto":
        if symbols.homogeneous:
            return "homogeneous"
        return "multiplier" if symbols.constant else "generic"
    if name == "homogeneous" and not symbols.homogeneous:
        raise ValueError(
            f"parametrization is 'homogeneous', but the Hamiltonian {symbols.hamiltonian} is not "
            "of degree 1: use 'auto' or 'generic'"
        )
    if name == "multiplier" and not symbols.constant:
        raise ValueError(
            f"parametrization is 'multiplier', but coefficients of {symbols.equation.name!r} "
            "depend on position: use 'auto' or 'generic'"
        )
    return name  # type: ignore[return-value]


def checked_order(order: int, kind: Kind, symbols: PhaseSymbols) -> int:
    """Order of the amplitude, if it is known for the equation."""
    if order not in (0, 1) or isinstance(order, bool):
        raise ValueError(f"amplitude_order is {order!r}: wanted 0 or 1")
    if order == 1:
        first_correction(symbols)  # says for which equations it is known
        if kind != "homogeneous":
            raise ValueError("amplitude_order is 1: wanted the homogeneous parametrization")
    return order


def checked_exact(exact: bool | None, kind: Kind, symbols: PhaseSymbols) -> bool:
    """Whether the phase is the symbol itself; by default wherever that is possible."""
    if exact not in (None, True, False):
        raise ValueError(f"exact is {exact!r}: wanted True, False, or None")
    possible = kind == "multiplier" and symbols.autonomous
    if exact and not possible:
        raise ValueError(
            f"exact is True for {symbols.equation.name!r} with the parametrization {kind!r}: only "
            "multipliers whose coefficients do not depend on time are known in closed form; leave "
            "exact out"
        )
    return possible if exact is None else bool(exact)
