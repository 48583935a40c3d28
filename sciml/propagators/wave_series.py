"""First correction of the amplitude of a wave in one dimension, in closed form along the ray.

For ``u_tt = c(x)^2 u_xx`` the leading amplitude is ``a_0 = sqrt(c(x)/c(X))`` with the foot ``X``,
for which ``a_0,tt - c^2 a_0,xx = -c^2 (sqrt c)''/sqrt(c(X))``. The next term of the amplitude,
``a_1/(i xi)``, is ``a_0`` times the integral of ``-s c^(3/2) (sqrt c)''/(2 c(X))`` along the ray.
Derived here.
"""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportArgumentType=false
# pyright: reportOperatorIssue=false
# pyright: reportAttributeAccessIssue=false
# pyright: reportReturnType=false
# pyright: reportGeneralTypeIssues=false
# pyright: reportAssignmentType=false
# pyright: reportCallIssue=false

from __future__ import annotations

from dataclasses import dataclass

import sympy
import torch

from pdes.compile import CompiledEquation, compile_equation
from pdes.jets import JetSpace
from pdes.symbols import coordinate
from sciml.propagators.symbols import PhaseSymbols, UnsupportedEquation

__all__ = ["FirstCorrection", "first_correction"]


@dataclass(frozen=True)
class FirstCorrection:
    """Source of the correction along the ray, and the speed at its foot.

    Parameters
    ----------
    program : CompiledEquation
        ``"source"`` and ``"speed"`` as functions of the position.
    axis : str
        Name of the coordinate.
    expression : sympy.Expr
        The source, ``c^(3/2) (sqrt c)''``.
    """

    program: CompiledEquation
    axis: str
    expression: sympy.Expr

    def source(self, x: torch.Tensor) -> torch.Tensor:
        """``c^(3/2) (sqrt c)''`` at a position."""
        return self.program({"u": torch.zeros_like(x)}, {self.axis: x})["source"]

    def scaled(self, gain: torch.Tensor, foot: torch.Tensor, branch: int) -> torch.Tensor:
        """Ratio ``a_1/a_0`` from the integral of the source along the ray."""
        speed = self.program({"u": torch.zeros_like(foot)}, {self.axis: foot})["speed"]
        return -0.5 * branch * gain / speed


def first_correction(symbols: PhaseSymbols) -> FirstCorrection:
    """Derive the correction from an equation.

    Raises
    ------
    UnsupportedEquation
        Unless it is ``u_tt = c(x)^2 u_xx`` in one dimension.

    Examples
    --------
    >>> from pdes import Equation
    >>> from sciml.propagators import phase_symbols
    >>> wave = phase_symbols(Equation.from_text("u_t = v; v_t = (1 + 0.3*sin(x))^2*u_xx"))
    >>> round(first_correction(wave).source(torch.tensor(0.5 * torch.pi)).item(), 4)
    -0.195
    """
    (axis, *others) = symbols.equation.coordinates
    plain = symbols.time_order == 2 and not others and symbols.linear and symbols.autonomous
    speed = symbols.velocity[0]
    jets = {n: sympy.Symbol(n, real=True) for n in ("a_tt", "a_xx")}
    if plain:
        rest = symbols.remainder.xreplace({jets["a_tt"]: 0}).expand()
        plain = sympy.simplify(rest + (speed**2 * jets["a_xx"]).expand()) == 0
        plain = plain and sympy.simplify(symbols.damping + _half_slope(speed, axis)) == 0
    if not plain:
        raise UnsupportedEquation(
            f"amplitude_order is 1 for {symbols.equation.name!r}: the correction is known for "
            "u_tt = c(x)^2 u_xx in one dimension; use amplitude_order=0"
        )
    x = coordinate(axis)
    source = sympy.simplify(speed * sympy.sqrt(speed) * sympy.sqrt(speed).diff(x, 2))
    rows = {"source": source, "speed": speed}
    program = compile_equation(rows, JetSpace(("u",), (axis,)), {}, "torch")
    return FirstCorrection(program, axis, source)


def _half_slope(speed: sympy.Expr, axis: str) -> sympy.Expr:
    return sympy.Symbol("branch", real=True) * speed.diff(coordinate(axis)) / 2
