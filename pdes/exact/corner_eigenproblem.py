"""Exponents of the singular solutions at a corner, to as many digits as wanted.

Chebyshev collocation of the angular eigenproblem finds where they lie, and how many; Newton's
method on the characteristic function gives the digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from pdes.exact.corner_elasticity import InterfaceCrack, Williams
from pdes.exact.corner_problems import Cone, Sectors

Corner = Sectors | Williams | InterfaceCrack | Cone
SAME = 1e-5
"""Collocated exponents closer than this are one of higher multiplicity."""
STRAYED = 1e-4
"""A polished exponent must stay this close to the collocated one."""
MOST = 60
"""Most exponents that one call returns."""


@dataclass(frozen=True)
class CornerSpectrum:
    """Exponents at a corner, rising.

    Attributes
    ----------
    problem : Sectors, Wedge, Williams, InterfaceCrack or Cone
    exponents : tuple of float, complex, or mpmath numbers
        Different ones. Of a complex pair the member with positive imaginary part.
    multiplicities : tuple of int
        How many angular functions belong to each.
    labels : tuple of str
        ``"mode 1"`` and the like; empty where there is nothing to say.
    shifts : tuple of float
        How far each moved from the collocated value when it was polished.
    digits : int or None
        Decimal digits of the exponents, if they are mpmath numbers.
    """

    problem: Corner
    exponents: tuple[Any, ...]
    multiplicities: tuple[int, ...]
    labels: tuple[str, ...]
    shifts: tuple[float, ...]
    digits: int | None = None

    def __len__(self) -> int:
        return len(self.exponents)

    def __getitem__(self, place: int) -> Any:
        return self.exponents[place]

    def __str__(self) -> str:
        lines = [str(self.problem)]
        for value, count, label in zip(
            self.exponents, self.multiplicities, self.labels, strict=True
        ):
            text = str(value) if self.digits is None else mpmath.nstr(value, self.digits)
            notes = ([label] if label else []) + ([f"{count}-fold"] if count > 1 else [])
            lines.append(f"  {text}" + (f"  ({', '.join(notes)})" if notes else ""))
        return "\n".join(lines)


def corner_spectrum(
    problem: Corner, n: int = 3, *, digits: int | None = None, degree: int | None = None
) -> CornerSpectrum:
    """Lowest exponents of a corner.

    Parameters
    ----------
    problem : Wedge, Sectors, Williams, InterfaceCrack or Cone
        The corner. Angles that are multiples of an eighth of a degree are taken as exact.
    n : int, default 3
        How many different exponents, at most 60. The exponent 0 counts where a constant solves
        the problem (NN, periodic).
    digits : int, optional
        Decimal digits, as mpmath numbers; floats by default.
    degree : int, optional
        Of the collocation polynomial of each sector; by default what `n` needs.

    Returns
    -------
    CornerSpectrum

    Raises
    ------
    ValueError
        For arguments out of range.
    ArithmeticError
        If a collocated exponent is no root of the characteristic function: raise `degree`.

    Examples
    --------
    >>> import math
    >>> from pdes.exact import Wedge, corner_spectrum
    >>> print(corner_spectrum(Wedge(1.5 * math.pi, "DD"), n=3))
    wedge of 270 deg, DD
      0.6666666666666666
      1.3333333333333333
      2.0
    >>> from pdes.exact import Williams
    >>> print(corner_spectrum(Williams(1.5 * math.pi), n=2, digits=22))
    elastic wedge of 270 deg, free faces
      0.5444837367824639291409  (mode 1)
      0.9085291898460988186604  (mode 2)
    """
    _check(problem, n, digits, degree)
    found = _grouped(problem, n, degree or _default_degree(problem, n))
    if len(found) < n:
        raise ArithmeticError(f"degree={degree}: only {len(found)} of {n} exponents; raise degree")
    exponents, shifts = [], []
    with mpmath.workdps(2 * (digits or 16) + 10):
        for value, count, label in found[:n]:
            polished = _polish(problem, value, count, label)
            shift = abs(complex(polished) - value)
            if shift > STRAYED * (1.0 + abs(value)):
                raise ArithmeticError(
                    f"{problem}: the collocated exponent {value:.9g} moved by {shift:.2g} when "
                    "polished; raise degree, or ask for fewer exponents"
                )
            shifts.append(shift)
            exponents.append(polished)
    return CornerSpectrum(
        problem=problem,
        exponents=tuple(_rounded(value, digits) for value in exponents),
        multiplicities=tuple(count for _, count, _ in found[:n]),
        labels=tuple(label for *_, label in found[:n]),
        shifts=tuple(shifts),
        digits=digits,
    )


def edge_exponents(
    problem: Sectors, n: int = 6, *, digits: int | None = None
) -> list[tuple[Any, Any, int]]:
    """Exponents along a straight edge in space.

    Where the coefficient of ``r^mu`` varies along the edge, shadows ``r^(mu + 2)``,
    ``r^(mu + 4)``, ... follow it.

    Parameters
    ----------
    problem : Wedge or Sectors
        Cross-section of the edge.
    n : int, default 6
        How many.
    digits : int, optional
        As in `corner_spectrum`.

    Returns
    -------
    list of (exponent, leader, order)
        Rising; `order` is 0 for the exponent of the cross-section itself (the leader), 1 for its
        first shadow.

    Examples
    --------
    >>> import math
    >>> from pdes.exact import Wedge
    >>> edge_exponents(Wedge(1.5 * math.pi), n=5)[3:]
    [(2.6666666666666665, 0.6666666666666666, 1), (2.6666666666666665, 2.6666666666666665, 0)]
    """
    leaders = corner_spectrum(problem, n, digits=digits).exponents
    with mpmath.workdps((digits or 16) + 5):
        both = [(mu + 2 * order, mu, order) for mu in leaders for order in range(n)]
    return sorted(both, key=lambda entry: (float(entry[0]), -entry[2]))[:n]


def _check(problem: Any, n: Any, digits: Any, degree: Any) -> None:
    if not isinstance(problem, Corner):
        raise ValueError(
            f"problem={problem!r}, wanted a Wedge, Sectors, Williams, InterfaceCrack or Cone"
        )
    if not (isinstance(n, (int, np.integer)) and 1 <= n <= MOST):
        raise ValueError(f"n={n!r}, wanted an integer from 1 to {MOST}")
    if digits is not None and not (isinstance(digits, int) and 1 <= digits <= 1000):
        raise ValueError(f"digits={digits!r}, wanted an integer from 1 to 1000, or None")
    if degree is not None and not (isinstance(degree, int) and degree >= 8):
        raise ValueError(f"degree={degree!r}, wanted an integer of at least 8, or None")


def _default_degree(problem: Corner, n: int) -> int:
    """Points enough for the oscillations of the highest angular function."""
    if isinstance(problem, (Williams, InterfaceCrack)):
        # Fourth derivatives lose digits with many points; the starts need only a few.
        return 16 + n
    sectors = len(problem.sectors) if isinstance(problem, Sectors) else 1
    return 24 + 4 * n // max(1, sectors) + 2 * n


def _grouped(problem: Corner, n: int, degree: int) -> list[tuple[complex, int, str]]:
    """Different exponents with multiplicity and label; a few more than wanted."""
    raw = problem.collocated(degree)
    pairs: list[tuple[complex, str]] = [
        value if isinstance(value, tuple) else (complex(value), "") for value in raw
    ]
    groups: list[tuple[list[complex], str]] = []
    for value, label in pairs:
        tolerance = SAME * (1.0 + abs(value))
        if not problem.has_constant and abs(value) < SAME:
            continue
        same = [g for g in groups if g[1] == label and abs(g[0][0] - value) < 10 * tolerance]
        if same:
            same[0][0].append(value)
        else:
            groups.append(([value], label))
    found = []
    for values, label in groups:
        # A complex root and its conjugate were both folded into the upper half plane.
        folded = 2 if values[0].imag else 1
        found.append((complex(np.mean(values)), max(1, len(values) // folded), label))
    found.sort(key=lambda group: (round(group[0].real, 5), group[2]))
    if problem.has_constant:
        found[0] = (0j, 1, found[0][2])
    return found[: n + 2]


def _polish(problem: Corner, value: complex, count: int, label: str) -> Any:
    """Root of the characteristic function nearest to a collocated exponent."""
    if problem.has_constant and value == 0:
        return mpmath.mpf(0)

    def function(mu: Any) -> Any:
        if isinstance(problem, (Williams, InterfaceCrack)):
            return problem.characteristic(mu, label)
        return problem.characteristic(mu, count)

    start = mpmath.mpc(value) if value.imag else mpmath.mpf(value.real)
    slight = mpmath.mpf(10) ** -6 * (1 + abs(start))
    try:
        return mpmath.findroot(function, (start, start + slight), solver="secant", maxsteps=60)
    except (ValueError, ZeroDivisionError):
        # Near a double zero of the characteristic function the secant stalls just above zero.
        try:
            return mpmath.findroot(function, start, solver="mnewton", maxsteps=60)
        except (ValueError, ZeroDivisionError) as error:
            raise ArithmeticError(
                f"{problem}: no root of the characteristic function near the collocated exponent "
                f"{value:.9g}; raise degree"
            ) from error


def _rounded(value: Any, digits: int | None) -> Any:
    if digits is None:
        number = complex(value)
        return number if number.imag else number.real
    with mpmath.workdps(digits):
        return +value
