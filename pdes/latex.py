"""Equations as LaTeX, in the notation of a physics paper."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy.printing.latex import LatexPrinter

from pdes.jets import JetSpace
from pdes.printing import fraction_parts, modulus
from pdes.symbols import number
from pdes.term import Term

__all__ = ["latex_system"]

_GREEK = frozenset(
    (
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
        *("lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi"),
        *("omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Sigma", "Upsilon", "Phi", "Psi"),
        "Omega",
    )
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
        Equations separated by a double backslash and a line break.
    """
    printer = _Printer(space)
    return " \\\\\n".join(
        f"{_name(row, 't')} = {printer.system_row(terms)}" for row, terms in rows.items()
    )


def _name(field: str, suffix: str = "") -> str:
    r"""``u_{xx}`` or ``h_{\mathrm{re},xx}``: what follows an underscore becomes a label."""
    stem, _, label = field.partition("_")
    if stem in _GREEK:
        stem = f"\\{stem}"
    elif len(stem) > 1:
        stem = f"\\mathrm{{{stem}}}"
    label = label.replace("_", "\\_")
    if label and not label.isdigit():
        label = f"\\mathrm{{{label}}}"
    below = ",".join(part for part in (label, suffix) if part)
    if not below:
        return stem
    return f"{stem}_{below}" if len(below) == 1 else f"{stem}_{{{below}}}"


def _power(base: str, power: int) -> str:
    if power == 1:
        return base
    return f"{base}^{power}" if power < 10 else f"{base}^{{{power}}}"


class _Printer(LatexPrinter):
    """LaTeX of expressions in plain symbols, numbers as decimals where that is exact."""

    def __init__(self, space: JetSpace) -> None:
        super().__init__()
        self.space = space

    def system_row(self, terms: Mapping[Term, sympy.Expr]) -> str:
        text = ""
        for term, coefficient in terms.items():
            negative = coefficient.could_extract_minus_sign() and not coefficient.is_Add
            body = self.term(term, -coefficient if negative else coefficient)
            sign = "-" if negative else "+"
            text += f" {sign} {body}" if text else f"{sign.strip('+')}{body}"
        return text or "0"

    def term(self, term: Term, coefficient: sympy.Expr) -> str:
        scale, symbolic = coefficient.as_coeff_Mul()
        above, below = fraction_parts(symbolic)
        pieces = [scale, *above] if scale != 1 else above
        front = [self.factor(piece) for piece in pieces]
        for kind, jet, power in term.powers(self.space):
            name = self.doprint(jet)
            base = {"abs": f"|{name}|", "conj": f"\\overline{{{name}}}", "plain": name}[kind]
            front.append(_power(base, power))
        for rest in (term.other, term.explicit):
            more_above, more_below = fraction_parts(rest)
            front += [self.factor(piece) for piece in more_above]
            below += more_below
        top = " ".join(front) or "1"
        if not below:
            return top
        bottom = self.doprint(below[0]) if len(below) == 1 else " ".join(map(self.factor, below))
        return f"\\frac{{{top}}}{{{bottom}}}"

    def factor(self, expr: sympy.Expr) -> str:
        return f"\\left({self.doprint(expr)}\\right)" if expr.is_Add else self.doprint(expr)

    def _print_Symbol(self, expr: sympy.Symbol, style: str = "plain") -> str:  # noqa: N802
        found = self.space.parse(expr)
        if found is None:
            return _name(expr.name)
        suffix = "".join(c * o for c, o in zip(self.space.coordinates, found[1], strict=True))
        return _name(found[0], suffix)

    def _print_Pow(self, expr: sympy.Pow) -> str:  # noqa: N802
        inner = modulus(expr.base) if (2 * expr.exp).is_Integer and expr.exp > 0 else None
        if inner is not None:
            return _power(f"|{self.doprint(inner)}|", int(2 * expr.exp))
        return super()._print_Pow(expr)

    def _print_Rational(self, expr: sympy.Rational) -> str:  # noqa: N802
        value = expr.p / expr.q
        if number(value) != expr:
            return super()._print_Rational(expr)
        digits, _, exponent = repr(value).removesuffix(".0").partition("e")
        if not exponent:
            return digits
        front = "" if digits == "1" else f"{digits} \\times "
        return f"{front}10^{{{int(exponent)}}}"
