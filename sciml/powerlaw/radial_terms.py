"""What a fit says: its terms one by one, with errors and in the form they have, and as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.rounding import at_least_rounding
from sciml.powerlaw.structure import Structure

ZERO_GAP = 1e-11
"""A pair with ``|q|`` below this, or below three errors, has no gap that can be seen."""


@dataclass(frozen=True)
class RadialTerm:
    """One exponent with its coefficient.

    Attributes
    ----------
    kind : str
        ``"power"``: ``c r^mu``. ``"logarithm"``: ``c r^mu log r``, beside a power of the same
        exponent. ``"oscillation"``: ``c r^mu`` with complex ``c`` and ``mu``, beside its conjugate.
        ``"fixed"``: a power whose exponent was given.
    exponent, coefficient : complex
    exponent_error, coefficient_error : complex
        Standard errors, of real and imaginary parts.
    block : int
        Index of the block it belongs to.
    """

    kind: str
    exponent: complex
    coefficient: complex
    exponent_error: complex
    coefficient_error: complex
    block: int

    @property
    def expression(self) -> str:
        """The function without its coefficient."""
        mu = _text(self.exponent)
        return f"r^{mu} log r" if self.kind == "logarithm" else f"r^{mu}"


def radial_terms(
    structure: Structure,
    parameters: NDArray,
    coefficients: NDArray,
    covariance: NDArray,
    as_fitted: bool = False,
) -> tuple[RadialTerm, ...]:
    """Read the terms off a fit, a pair block as the two powers, logarithm or oscillation it is.

    Parameters
    ----------
    structure : Structure
    parameters : ndarray, shape (p,)
    coefficients : ndarray, shape (n,)
    covariance : ndarray, shape (n + p, n + p)
        Of coefficients and parameters, coefficients first.
    as_fitted : bool, default False
        By default a pair whose gap is hidden by its error reads as a logarithm, which is close to
        the fitted function; as fitted, only one without a gap does, and the terms add up to it.

    Returns
    -------
    tuple of RadialTerm
        By ascending real part of the exponent.

    Examples
    --------
    >>> terms = radial_terms(
    ...     Structure(pairs=1), np.array([0.5, 0.04]), np.array([1.0, 0.2]), np.zeros((4, 4))
    ... )
    >>> [(term.expression, round(term.coefficient.real, 12)) for term in terms]
    [('r^0.3', 0.0), ('r^0.7', 1.0)]
    """
    n = structure.n_columns
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    terms = [
        RadialTerm("power", parameters[i], coefficients[i], error[n + i], error[i], i)
        for i in range(structure.powers)
    ]
    for k in range(structure.pairs):
        at = structure.powers + 2 * k
        places = [at, at + 1, n + at, n + at + 1]
        values = (*coefficients[at : at + 2], *parameters[at : at + 2])
        part = covariance[np.ix_(places, places)]
        terms += _pair_terms(values, part, structure.powers + k, as_fitted)
    for k, mu in enumerate(structure.fixed):
        at = structure.n_parameters + k
        block = structure.powers + structure.pairs + k
        terms.append(RadialTerm("fixed", mu, coefficients[at], 0.0, error[at], block))
    return tuple(sorted(terms, key=lambda t: (complex(t.exponent).real, complex(t.exponent).imag)))


def _pair_terms(
    values: tuple[float, float, float, float], covariance: NDArray, block: int, as_fitted: bool
) -> list[RadialTerm]:
    """Terms of ``a F1 + b F2`` and their errors to first order."""
    a, b, s, q = (float(value) for value in values)
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    if not gap_is_seen(q, 0.0 if as_fitted else error[3]):
        return [
            RadialTerm("power", s, a, error[2], error[0], block),
            RadialTerm("logarithm", s, b, error[2], error[1], block),
        ]
    root = math.sqrt(abs(q))
    if q < 0:
        # a r^s cos(w log r) + b r^s sin(w log r)/w = Re((a - i b/w) r^(s + i w))
        half = complex(0.5 * a, -0.5 * b / root)
        size = complex(
            0.5 * error[0], _deviation([0, 0.5 / root, 0, 0.25 * b / root**3], covariance)
        )
        width = complex(error[2], 0.5 * error[3] / root)
        return [
            RadialTerm("oscillation", complex(s, w), c, width, size, block)
            for w, c in ((-root, half.conjugate()), (root, half))
        ]
    terms = []
    for sign in (-1.0, 1.0):
        by_exponent = [0.0, 0.0, 1.0, sign * 0.5 / root]
        by_coefficient = [0.5, sign * 0.5 / root, 0.0, -sign * 0.25 * b / root**3]
        terms.append(
            RadialTerm(
                "power",
                s + sign * root,
                0.5 * a + sign * 0.5 * b / root,
                _deviation(by_exponent, covariance),
                _deviation(by_coefficient, covariance),
                block,
            )
        )
    return terms


def gap_is_seen(q: float, error: float) -> bool:
    """Whether the half gap of a pair differs from 0 by more than its error.

    Examples
    --------
    >>> gap_is_seen(0.01, 0.001), gap_is_seen(0.01, 0.01)
    (True, False)
    """
    return abs(q) > max(ZERO_GAP, 3.0 * error)


def _deviation(gradient: Sequence[float], covariance: NDArray) -> float:
    slope = np.asarray(gradient)
    return math.sqrt(max(float(slope @ covariance @ slope), 0.0))


def table(terms: Sequence[RadialTerm]) -> str:
    """Print terms, one a line, with their errors.

    Examples
    --------
    >>> print(table([RadialTerm("power", 0.5, 2.0, 0.01, 0.1, 0)]))
    term      exponent  error    coefficient  error
    r^0.5     0.5       0.01     2            0.1
    """
    lines = [("term", "exponent", "error", "coefficient", "error")]
    for term in terms:
        known = term.kind == "fixed"
        error = at_least_rounding(term.exponent_error, term.exponent, 1.0)
        lines.append(
            (
                term.expression,
                _text(term.exponent, 10),
                _text(term.exponent_error if known else error, 2),
                _text(term.coefficient, 7),
                _text(at_least_rounding(term.coefficient_error, term.coefficient), 2),
            )
        )
    widths = [max(len(line[i]) for line in lines) + 2 for i in range(5)]
    widths = [max(width, least) for width, least in zip(widths, (10, 10, 9, 13, 0), strict=True)]
    return "\n".join(
        "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _text(value: complex, digits: int = 4) -> str:
    number = complex(value)
    if number.imag == 0:
        return f"{number.real:.{digits}g}"
    return f"({number.real:.{digits}g}{number.imag:+.{digits}g}i)"


def columns_of(terms: Sequence[RadialTerm]) -> dict[str, NDArray]:
    """Numbers of all terms by the name of their attribute.

    Examples
    --------
    >>> columns_of([RadialTerm("power", 0.5, 2.0, 0.1, 0.2, 0)])["coefficient"]
    array([2.])
    """
    names = ("exponent", "coefficient", "exponent_error", "coefficient_error")
    return {name: np.array([getattr(term, name) for term in terms]) for name in names}
