"""A closed form that does not depend on time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from pdes.pointwise import pointwise
from pdes.precise import precise
from pdes.symbols import coordinate, number, parameter


@dataclass(frozen=True, kw_only=True)
class SteadySolution:
    """Fields as explicit functions of space, with the equations that they solve.

    Parameters
    ----------
    name : str
        What it is called, for example ``"westergaard"``.
    residuals : mapping of str to sympy.Expr
        The equations: field to an expression that is zero, in fields made by `pdes.steady.unknown`.
    fields : mapping of str to sympy.Expr
        Field to expression in the coordinates and the parameters.
    parameters : mapping of str to float
        Values of the symbols.
    box : mapping of str to pair of float
        Extent of the region where `residual` draws its points.
    where : sympy condition, default True
        The region where the expressions hold.
    source : str
        Where it is from.

    Examples
    --------
    >>> from pdes.steady import unknown
    >>> u, x, y = unknown("u"), coordinate("x"), coordinate("y")
    >>> saddle = SteadySolution(
    ...     name="saddle",
    ...     residuals={"u": u.diff(x, 2) + u.diff(y, 2)},
    ...     fields={"u": x**2 - y**2},
    ...     box={"x": (-1.0, 1.0), "y": (-1.0, 1.0)},
    ... )
    >>> saddle.residual()
    0.0
    """

    name: str
    residuals: Mapping[str, sympy.Expr]
    fields: Mapping[str, sympy.Expr]
    box: Mapping[str, tuple[float, float]]
    parameters: Mapping[str, float] = field(default_factory=dict)
    where: Any = sympy.true
    source: str = ""

    def __post_init__(self) -> None:
        if set(self.fields) != set(self.residuals):
            raise ValueError(
                f"{self.name}: fields are {sorted(self.fields)}, the equations are for "
                f"{sorted(self.residuals)}"
            )

    def evaluate(self, **coordinates: Any) -> dict[str, np.ndarray]:
        """Fields at points.

        Parameters
        ----------
        **coordinates
            Arrays ``x=``, ``y=`` of shapes that broadcast together.

        Returns
        -------
        dict of str to ndarray

        Raises
        ------
        ValueError
            If a point is outside the region where the solution holds.
        """
        self._check(coordinates)
        given = {**self.parameters, **coordinates}
        return {name: pointwise(expression, given) for name, expression in self.fields.items()}

    def gradient(self, **coordinates: Any) -> dict[str, tuple[np.ndarray, ...]]:
        """Derivatives of each field along every coordinate, at points; see `evaluate`."""
        self._check(coordinates)
        given = {**self.parameters, **coordinates}
        return {
            name: tuple(pointwise(expression.diff(coordinate(c)), given) for c in self.box)
            for name, expression in self.fields.items()
        }

    def residual(self, *, points: int = 16, digits: int = 40, seed: int = 0) -> float:
        """Largest residual of the equations at random points, in extended precision.

        Parameters
        ----------
        points : int, default 16
            Number of points.
        digits : int, default 40
            Decimal digits of the arithmetic.
        seed : int, default 0
            Seed of the points.

        Returns
        -------
        float
            Zero up to rounding, say below 1e-25, for a solution.
        """
        rng = np.random.default_rng(seed)
        names = {f.func.__name__: f for e in self.residuals.values() for f in _functions(e)}
        fields = {names[n]: e for n, e in self.fields.items() if n in names}
        stand_ins, derivatives = _stand_ins(self.residuals, fields)
        known = {parameter(n): number(v) for n, v in self.parameters.items()}
        worst, found = 0.0, 0
        while found < points:
            place = {coordinate(c): number(float(rng.uniform(*box))) for c, box in self.box.items()}
            if not bool(self.where.subs({**known, **place})):
                continue
            found += 1
            values = {**known, **place}
            values |= {s: precise(e, values, digits + 15) for s, e in derivatives.items()}
            for expression in stand_ins:
                worst = max(worst, abs(complex(precise(expression, values, digits + 15))))
        return worst

    def latex(self) -> str:
        """LaTeX of the fields, parameters as symbols."""
        return r" \\ ".join(f"{n} = {sympy.latex(e)}" for n, e in self.fields.items())

    def _check(self, coordinates: Mapping[str, Any]) -> None:
        if self.where == sympy.true:
            return
        inside = pointwise(self.where, {**self.parameters, **coordinates}) > 0.5
        if not np.all(inside):
            raise ValueError(
                f"{self.name} holds where {self.where}; {int(np.sum(~inside))} points are outside"
            )


def _stand_ins(
    residuals: Mapping[str, Any], fields: Mapping[Any, Any]
) -> tuple[list[Any], dict[Any, Any]]:
    """Residuals in symbols that stand for the fields and their derivatives, and what these are."""
    derivatives, replaced = {}, {}
    for expression in residuals.values():
        for node in expression.atoms(sympy.Derivative, sympy.core.function.AppliedUndef):
            inner = node.expr if isinstance(node, sympy.Derivative) else node
            if inner in fields and node not in replaced:
                replaced[node] = sympy.Dummy(real=True)
                along = node.variables if node is not inner else ()
                derivatives[replaced[node]] = fields[inner].diff(*along) if along else fields[inner]
    return [e.xreplace(replaced).doit() for e in residuals.values()], derivatives


def _functions(expression: sympy.Expr) -> set[Any]:
    return expression.atoms(sympy.core.function.AppliedUndef)
