"""A linear second-order system of equations as coefficients of its weak form.

Each residual is written as ``-div F + G`` with the flux ``F_k = sum A_kl d_l u + B_k u + g_k`` and
the rest ``G = sum b_l d_l u + c u - f``. Tested with ``v`` it becomes
``int grad v . F + v G = int_boundary v F.n``: the normal flux is what natural conditions prescribe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate

Slot = tuple[int, ...]


@dataclass(frozen=True)
class LinearForm:
    """Coefficients of the weak form; entries that are zero are left out.

    Parameters
    ----------
    second : mapping
        ``(i, k, j, l)`` to ``A``: flux ``k`` of equation ``i`` by derivative ``l`` of field ``j``.
    drift : mapping
        ``(i, k, j)`` to ``B``: flux ``k`` of equation ``i`` from field ``j``.
    prestress : mapping
        ``(i, k)`` to ``g``: flux that is there without any field.
    first : mapping
        ``(i, j, l)`` to ``b``.
    zeroth : mapping
        ``(i, j)`` to ``c``.
    load : mapping
        ``(i,)`` to ``f``.
    """

    second: Mapping[Slot, sympy.Expr]
    drift: Mapping[Slot, sympy.Expr]
    prestress: Mapping[Slot, sympy.Expr]
    first: Mapping[Slot, sympy.Expr]
    zeroth: Mapping[Slot, sympy.Expr]
    load: Mapping[Slot, sympy.Expr]

    @property
    def symmetric(self) -> bool:
        """Whether the matrix of the weak form is symmetric."""
        if self.first or self.drift:
            return False
        swapped = {(*slot[2:], *slot[:2]): value for slot, value in self.second.items()}
        turned = {(j, i): value for (i, j), value in self.zeroth.items()}
        return _same(swapped, self.second) and _same(turned, self.zeroth)


def linear_form(problem: SteadyProblem) -> LinearForm:
    """Coefficients of the weak form of a problem.

    Parameters
    ----------
    problem : SteadyProblem
        Linear, of second order.

    Returns
    -------
    LinearForm

    Raises
    ------
    ValueError
        If a residual is not linear in the fields, of higher order than two, or the given flux does
        not account for all second derivatives.

    Examples
    --------
    >>> from pdes.boundary import Dirichlet
    >>> from pdes.mesh import Rectangle
    >>> u, x, y = unknown("u"), coordinate("x"), coordinate("y")
    >>> form = linear_form(
    ...     SteadyProblem(
    ...         name="layer",
    ...         residual={"u": -u.diff(x, 2) - u.diff(y, 2) + 2 * u.diff(x) - 1},
    ...         domain=Rectangle(),
    ...         boundary=dict.fromkeys(("x-", "x+", "y-", "y+"), Dirichlet()),
    ...     )
    ... )
    >>> form.second, form.first, form.load
    ({(0, 0, 0, 0): 1, (0, 1, 0, 1): 1}, {(0, 0, 0): 2}, {(0,): 1})
    """
    jets = _Jets(problem)
    residuals = [_plain(problem, e) for e in problem.residual.values()]
    if problem.flux is None:
        fluxes = [jets.natural_flux(residual) for residual in residuals]
    else:
        fluxes = [[_plain(problem, part) for part in problem.flux[name]] for name in problem.fields]
    second, drift, prestress = {}, {}, {}
    first, zeroth, load = {}, {}, {}
    for i, (residual, flux) in enumerate(zip(residuals, fluxes, strict=True)):
        divergence = sum(f.diff(c) for f, c in zip(flux, jets.coordinates, strict=True))
        rest = jets.coefficients((residual + divergence).doit())
        for k, part in enumerate(flux):
            row = jets.coefficients(part)
            prestress[i, k] = row.pop((), sympy.S.Zero)
            for (j, orders), value in row.items():
                if sum(orders) == 1:
                    second[i, k, j, orders.index(1)] = value
                elif sum(orders) == 0:
                    drift[i, k, j] = value
                else:
                    raise ValueError(f"{problem.name}: flux {part} has second derivatives")
        load[(i,)] = -rest.pop((), sympy.S.Zero)
        for (j, orders), value in rest.items():
            if sum(orders) > 1:
                raise ValueError(
                    f"{problem.name}: the divergence of the flux leaves {value} times a second "
                    f"derivative of {problem.fields[j]!r} in the residual; correct `flux`"
                )
            if sum(orders) == 1:
                first[i, j, orders.index(1)] = value
            else:
                zeroth[i, j] = value
    groups = (second, drift, prestress, first, zeroth, load)
    return LinearForm(*[{s: v for s, v in g.items() if v != 0} for g in groups])


class _Jets:
    """The fields of a problem and their derivatives up to second order, as plain symbols."""

    def __init__(self, problem: SteadyProblem) -> None:
        self.problem = problem
        self.coordinates = [coordinate(c) for c in problem.coordinates]
        self.fields = [unknown(name, problem.coordinates) for name in problem.fields]
        self.symbols: dict[Any, tuple[int, tuple[int, ...]]] = {}
        dimension = len(self.coordinates)
        self.by_derivative: dict[Any, sympy.Symbol] = {}
        for j, fun in enumerate(self.fields):
            for orders in _orders(dimension):
                steps = [(c, o) for c, o in zip(self.coordinates, orders, strict=True) if o]
                derivative = fun.diff(*steps) if steps else fun
                symbol = sympy.Dummy(f"d{j}{orders}", real=True)
                self.by_derivative[derivative] = symbol
                self.symbols[symbol] = (j, orders)

    def coefficients(self, expression: sympy.Expr) -> dict[Any, sympy.Expr]:
        """Coefficient of every derivative, and what is left under ``()``."""
        derivatives = [d for d in expression.atoms(sympy.Derivative) if d.expr in self.fields]
        flat: Any = expression.xreplace(self.by_derivative)
        if any(d not in self.by_derivative for d in derivatives):
            raise ValueError(f"{self.problem.name}: {expression} has derivatives beyond the second")
        found: dict[Any, sympy.Expr] = {}
        for symbol, slot in self.symbols.items():
            value = sympy.expand(flat.diff(symbol))
            if value == 0:
                continue
            if value.free_symbols & set(self.symbols):
                raise ValueError(
                    f"{self.problem.name}: the residual is not linear in "
                    f"{self.problem.fields[slot[0]]!r}; finite elements here solve linear problems"
                )
            found[slot] = value
        # Never expanded: as a sum of powers, the load of a high-degree solution would cancel.
        found[()] = flat.xreplace(dict.fromkeys(self.symbols, sympy.S.Zero))
        return found

    def natural_flux(self, residual: sympy.Expr) -> list[Any]:
        """``a grad u``; mixed derivatives share their coefficient between two places."""
        flux: list[Any] = [sympy.S.Zero for _ in self.coordinates]
        for slot, value in self.coefficients(residual).items():
            if not slot or sum(slot[1]) != 2:
                continue
            j, orders = slot
            axes = [k for k, order in enumerate(orders) for _ in range(order)]
            share = 1 if axes[0] == axes[1] else 2
            for k, other in {(axes[0], axes[1]), (axes[1], axes[0])}:
                flux[k] -= value / share * self.fields[j].diff(self.coordinates[other])
        return flux


def _orders(dimension: int) -> list[tuple[int, ...]]:
    every = [(0,) * dimension]
    for _ in range(2):
        every += [tuple(o + (i == k) for i, o in enumerate(e)) for e in every
                  for k in range(dimension)]  # fmt: skip
    return list(dict.fromkeys(every))


def _plain(problem: SteadyProblem, expression: Any) -> Any:
    """Expression with coefficients given as expressions put in."""
    named = {
        unknown(name, problem.coordinates): value
        for name, value in problem.coefficients.items()
        if isinstance(value, sympy.Expr | float | int) and not _broken(value)
    }
    return (sympy.S.Zero + expression).subs(named).doit()


def _broken(value: Any) -> bool:
    """Whether a coefficient may jump: its derivative must cancel and never be taken."""
    return isinstance(value, sympy.Expr) and value.has(
        sympy.Piecewise, sympy.Heaviside, sympy.sign, sympy.Max, sympy.Min
    )


def _same(first: Mapping[Slot, sympy.Expr], second: Mapping[Slot, sympy.Expr]) -> bool:
    return all(
        sympy.expand(first.get(slot, sympy.S.Zero) - second.get(slot, sympy.S.Zero)) == 0
        for slot in {*first, *second}
    )
