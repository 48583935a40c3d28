"""Equations as LaTeX, in the notation of a physics paper."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy.printing.latex import LatexPrinter

from pdes.jets import JetSpace
from pdes.symbols import number
from pdes.term import Term

__all__ = ["latex_system"]

_GREEK = frozenset(
    (
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau "
        "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega"
    ).split()
)


def latex_system(rows: Mapping[str, Mapping[Term, sympy.Expr]], space: JetSpace) -> str:
    r"""LaTeX of a system, its terms in the order given.

    Parameters
    ----------
    rows
        For each field its terms and their coefficients.
    space
        The fields and coordinates.

    Returns
    -------
    str
        Equations separated by a double backslash.
    """
    return " \\\\\n".join(
        f"{_name_of(row, 't')} = {_sum_of(terms, space)}" for row, terms in rows.items()
    )


def _name_of(field: str, suffix: str = "") -> str:
    """``u_{xx}``; ``h_{re,xx}`` for a field whose name has an underscore."""
    stem, _, label = field.partition("_")
    stem = f"\\{stem}" if stem in _GREEK else stem if len(stem) == 1 else f"\\mathrm{{{stem}}}"
    label = label.replace("_", "\\_")
    below = ",".join(part for part in (f"\\mathrm{{{label}}}" if label else "", suffix) if part)
    return stem if not below else f"{stem}_{below}" if len(below) == 1 else f"{stem}_{{{below}}}"


def _sum_of(terms: Mapping[Term, sympy.Expr], space: JetSpace) -> str:
    text = ""
    for term, coefficient in terms.items():
        sign, body = _term_of(term, coefficient, space)
        text += f" {sign} {body}" if text else f"-{body}" if sign == "-" else body
    return text or "0"


def _term_of(term: Term, coefficient: sympy.Expr, space: JetSpace) -> tuple[str, str]:
    negative = coefficient.could_extract_minus_sign() and not coefficient.is_Add
    size = -coefficient if negative else coefficient
    printer = _Printer(space)
    body = printer.factors(term)
    if size != 1 or not body:
        front = printer.doprint(size)
        front = f"\\left({front}\\right)" if size.is_Add and body else front
        body = f"{front} {body}".strip()
    return "-" if negative else "+", body


class _Printer(LatexPrinter):
    """LaTeX of factors in plain symbols."""

    def __init__(self, space: JetSpace) -> None:
        super().__init__()
        self.space = space

    def factors(self, term: Term) -> str:
        powers = dict(term.factors)
        pieces = []
        for factor, power in term.factors:
            if isinstance(factor, sympy.conjugate) and factor.args[0] in powers:
                continue
            bar = powers.get(sympy.conjugate(factor), 0) if factor not in powers else 0
            if isinstance(factor, sympy.Symbol) and not factor.is_real:
                bar = powers.get(sympy.conjugate(factor), 0)
            paired = min(power, bar)
            pieces.append(self._raised(f"|{self.doprint(factor)}|", 2 * paired))
            pieces.append(self._raised(self.doprint(factor), power - paired))
            pieces.append(self._raised(self.doprint(sympy.conjugate(factor)), bar - paired))
        rest = term.explicit * term.other
        above, below = sympy.fraction(rest)
        if above != 1:
            pieces.append(self.doprint(above))
        top = " ".join(piece for piece in pieces if piece)
        return f"\\frac{{{top or 1}}}{{{self.doprint(below)}}}" if below != 1 else top

    def _raised(self, base: str, power: int) -> str:
        if power == 0:
            return ""
        exponent = str(power) if power < 10 else f"{{{power}}}"
        return base if power == 1 else f"{base}^{exponent}"

    def _print_Symbol(self, expr: sympy.Symbol, style: str = "plain") -> str:  # noqa: N802
        found = self.space.parse(expr)
        if found is None:
            return _name_of(expr.name)
        suffix = "".join(c * o for c, o in zip(self.space.coordinates, found[1], strict=True))
        return _name_of(found[0], suffix)

    def _print_Rational(self, expr: sympy.Rational) -> str:  # noqa: N802
        value = expr.p / expr.q
        text = repr(value).removesuffix(".0")
        if number(value) != expr:
            return super()._print_Rational(expr)
        digits, _, exponent = text.partition("e")
        if not exponent:
            return text
        front = "" if digits == "1" else f"{digits} \\times "
        return f"{front}10^{{{int(exponent)}}}"
