"""Corners of Laplace's and the diffusion equation whose singular exponents are wanted.

In a sector the solutions ``r^mu Phi(theta)`` of ``div(a grad u) = 0`` have
``(a Phi')' + mu^2 a Phi = 0``, value and flux being continuous where materials meet (V. A.
Kondrat'ev, Trans. Moscow Math. Soc. 16, 227 (1967); P. Grisvard, Elliptic Problems in Nonsmooth
Domains, Pitman 1985).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import scipy.linalg

from pdes.solvers.chebyshev import chebyshev_points, differentiation_matrix
from pdes.tokens import closest

CONDITIONS = ("DD", "NN", "DN", "ND")
PERIODIC = "periodic"
ROUNDING = 1e-12
SERIES = 0.9925  # (1 - cos 170 deg)/2, up to which the series of P_nu is summed directly


def check_angle(name: str, angle: float, widest: float = 2.0 * math.pi) -> float:
    """Opening of a corner in (0, widest] as a float.

    Raises
    ------
    ValueError
    """
    try:
        value = float(angle)
    except (TypeError, ValueError):
        value = math.nan
    if not 0.0 < value <= widest * (1.0 + ROUNDING):
        raise ValueError(
            f"{name}={angle!r}, wanted an angle in radians in (0, {widest:.6g}]; "
            "np.deg2rad turns degrees into radians"
        )
    return value


def check_conditions(bc: Any, known: Sequence[str]) -> str:
    """Letters of the boundary conditions in upper case.

    Raises
    ------
    ValueError
    """
    text = str(bc) if PERIODIC in known and len(str(bc)) > 2 else str(bc).upper()
    if text not in known:
        raise ValueError(
            f"bc={bc!r}, wanted one of {', '.join(known)}: D for a value of zero, N for zero "
            f"flux, first edge first.{closest(text, known)}"
        )
    return text


@dataclass(frozen=True)
class Sectors:
    """Materials around a corner, one after the other in the angle.

    Parameters
    ----------
    sectors : sequence of (angle, coefficient)
        Opening in radians, and diffusivity, positive, of each; counterclockwise.
    bc : {"DD", "NN", "DN", "ND", "periodic"}, default "DD"
        Value zero (D) or flux zero (N) on the first and on the last edge; ``"periodic"`` if the
        sectors fill the full angle and the last one meets the first.

    Raises
    ------
    ValueError
        For an angle outside (0, 2 pi], a diffusivity that is not positive or an unknown letter.

    Examples
    --------
    >>> corner = Sectors([(math.pi / 2, 1.0), (math.pi, 10.0)])
    >>> corner.conditions, round(corner.angle / math.pi, 12)
    ('DD', 1.5)
    """

    sectors: tuple[tuple[float, float], ...]
    bc: str = "DD"

    def __init__(self, sectors: Sequence[tuple[float, float]], bc: str = "DD") -> None:
        pairs = []
        for place, sector in enumerate(sectors):
            try:
                angle, coefficient = sector
                coefficient = float(coefficient)
            except (TypeError, ValueError):
                raise ValueError(
                    f"sectors[{place}]={sector!r}, wanted a pair (angle, coefficient)"
                ) from None
            if not (math.isfinite(coefficient) and coefficient > 0.0):
                raise ValueError(
                    f"sectors[{place}]: coefficient {coefficient}, wanted a positive number"
                )
            pairs.append((check_angle(f"sectors[{place}]", angle), coefficient))
        if not pairs:
            raise ValueError("sectors: got none, wanted at least one pair (angle, coefficient)")
        total = math.fsum(angle for angle, _ in pairs)
        check_angle("sum of the sectors' angles", total)
        object.__setattr__(self, "sectors", tuple(pairs))
        object.__setattr__(self, "bc", check_conditions(bc, (*CONDITIONS, PERIODIC)))
        if self.bc == PERIODIC and not math.isclose(total, 2.0 * math.pi, rel_tol=1e-9):
            raise ValueError(
                f"bc='periodic' with sectors that span {total:.9g}: they must fill 2 pi"
            )

    @property
    def conditions(self) -> str:
        """Letters of the two edges, or ``"periodic"``."""
        return self.bc

    @property
    def angle(self) -> float:
        """Opening of all sectors together."""
        return math.fsum(angle for angle, _ in self.sectors)

    @property
    def has_constant(self) -> bool:
        """Whether a constant is a solution: the exponent 0 belongs to the spectrum."""
        return self.bc in ("NN", PERIODIC)

    def __str__(self) -> str:
        inside = ", ".join(f"{math.degrees(w):.6g} deg of {a:g}" for w, a in self.sectors)
        return f"sectors ({inside}), {self.bc}"

    def collocated(self, degree: int) -> np.ndarray:
        """Exponents by Chebyshev collocation, rising, with repetitions."""
        size = degree + 1
        count = len(self.sectors)
        left, right = np.zeros((2, count * size, count * size))
        slopes = []
        for place, (angle, _) in enumerate(self.sectors):
            here = slice(place * size, (place + 1) * size)
            slope = differentiation_matrix(chebyshev_points(degree, 0.0, angle))
            slopes.append(slope)
            left[here, here] = -slope @ slope
            right[here, here] = np.eye(size)
        self._join(left, right, slopes, size)
        values: Any = scipy.linalg.eigvals(left, right)
        values = values[np.isfinite(values)]
        real = np.abs(values.imag) <= 1e-6 * (1.0 + np.abs(values))
        # Rounding moves the eigenvalue 0 of a constant a little to either side.
        return np.sort(np.sqrt(np.clip(values.real[real & (values.real > -1e-3)], 0.0, None)))

    def _join(
        self, left: np.ndarray, right: np.ndarray, slopes: list[np.ndarray], size: int
    ) -> None:
        """Replace the rows of the ends by conditions on values and fluxes."""
        count = len(self.sectors)

        def write(row: int, place: int, end: int, kind: str, sign: float = 1.0) -> None:
            columns = slice(place * size, (place + 1) * size)
            if kind == "D":
                left[row, place * size + end % size] += sign
            else:
                left[row, columns] += sign * self.sectors[place][1] * slopes[place][end]

        ends = [place * size for place in range(count)]
        for row in (*ends, *(end + size - 1 for end in ends)):
            left[row], right[row] = 0.0, 0.0
        for place in range(1, count):
            for row, kind in ((place * size - 1, "D"), (place * size, "N")):
                write(row, place - 1, -1, kind)
                write(row, place, 0, kind, -1.0)
        first, last = 0, count * size - 1
        if self.bc == PERIODIC:
            for row, kind in ((first, "D"), (last, "N")):
                write(row, count - 1, -1, kind)
                write(row, 0, 0, kind, -1.0)
        else:
            write(first, 0, 0, self.bc[0])
            write(last, count - 1, -1, self.bc[1])
        for row in (*ends, *(end + size - 1 for end in ends)):
            left[row] /= np.linalg.norm(left[row])

    def characteristic(self, mu: Any, multiplicity: int = 1) -> Any:
        """Function of the exponent that vanishes on the spectrum.

        An entry of the matrix that carries ``(Phi, a Phi')`` from the first edge to the last; for
        materials all around, ``2`` minus its trace, or the entry itself at a double exponent.

        Parameters
        ----------
        mu : mpmath number
        multiplicity : int, default 1
            Of the exponent that is looked for.

        Returns
        -------
        mpmath number
        """
        value, flux = (mpmath.mpf(1), mpmath.mpf(0)), (mpmath.mpf(0), mpmath.mpf(1))
        for angle, coefficient in self.sectors:
            w, a = exact_angle(angle), mpmath.mpf(coefficient)
            cos, sin = mpmath.cos(mu * w), mpmath.sin(mu * w)
            ratio = sin / mu if mu else w
            value, flux = (
                (
                    cos * value[0] + ratio / a * flux[0],
                    cos * value[1] + ratio / a * flux[1],
                ),
                (
                    -a * mu * sin * value[0] + cos * flux[0],
                    -a * mu * sin * value[1] + cos * flux[1],
                ),
            )
        if self.bc == PERIODIC and multiplicity == 1:
            return 2 - value[0] - flux[1]
        return {"DD": value[1], "NN": flux[0], "DN": flux[1], "ND": value[0]}.get(self.bc, value[1])


class Wedge(Sectors):
    """One material in a sector: exponents ``k pi/omega``, or ``(k - 1/2) pi/omega`` if mixed.

    Parameters
    ----------
    angle : float
        Opening ``omega`` in radians, in (0, 2 pi].
    bc : {"DD", "NN", "DN", "ND"}, default "DD"
        Value zero (D) or flux zero (N) on the first and on the second edge.

    Examples
    --------
    >>> print(Wedge(1.5 * math.pi, "DN"))
    wedge of 270 deg, DN
    """

    def __init__(self, angle: float, bc: str = "DD") -> None:
        check_conditions(bc, CONDITIONS)
        super().__init__([(check_angle("angle", angle), 1.0)], bc)

    def __str__(self) -> str:
        return f"wedge of {math.degrees(self.angle):.9g} deg, {self.bc}"

    def __repr__(self) -> str:
        return f"Wedge(angle={self.angle!r}, bc={self.bc!r})"


@dataclass(frozen=True)
class Cone:
    """Axisymmetric cone in space: ``r^nu P_nu(cos theta)``.

    Parameters
    ----------
    angle : float
        Half opening in radians, in (0, pi); measured from the axis of the domain.
    bc : {"D", "N"}, default "D"
        Value or flux zero on its surface.

    Examples
    --------
    >>> print(Cone(0.75 * math.pi))
    cone of half angle 135 deg, D
    """

    angle: float
    bc: str = "D"

    def __post_init__(self) -> None:
        object.__setattr__(self, "angle", check_angle("angle", self.angle, math.pi))
        if self.angle > 0.999 * math.pi:
            raise ValueError(
                f"angle={self.angle}, wanted at most {0.999 * math.pi:.4f}: a cone this wide "
                "leaves a needle out, whose exponent is lost in rounding"
            )
        object.__setattr__(self, "bc", check_conditions(self.bc, ("D", "N")))

    @property
    def has_constant(self) -> bool:
        """Whether a constant is a solution."""
        return self.bc == "N"

    def __str__(self) -> str:
        return f"cone of half angle {math.degrees(self.angle):.9g} deg, {self.bc}"

    def collocated(self, degree: int) -> np.ndarray:
        """Degrees by Chebyshev collocation of Legendre's equation, rising."""
        theta = chebyshev_points(degree, 0.0, self.angle)
        slope = differentiation_matrix(theta)
        # On the axis, where the sine vanishes, the equation itself says Phi' = 0.
        left = -(np.sin(theta)[:, None] * (slope @ slope) + np.cos(theta)[:, None] * slope)
        right = np.diag(np.sin(theta))
        right[-1] = 0.0
        left[-1] = np.eye(degree + 1)[-1] if self.bc == "D" else slope[-1]
        values: Any = scipy.linalg.eigvals(left, right)
        values = values[np.isfinite(values)]
        real = np.abs(values.imag) <= 1e-6 * (1.0 + np.abs(values))
        kept = np.clip(values.real[real & (values.real > -1e-3)], 0.0, None)
        return np.sort(np.sqrt(0.25 + kept) - 0.5)

    def characteristic(self, nu: Any, multiplicity: int = 1) -> Any:
        """``P_nu(cos theta)`` at the surface, or its derivative over ``nu (nu + 1)``."""
        z = (1 - mpmath.cos(exact_angle(self.angle))) / 2
        shift = 0 if self.bc == "D" else 1
        if z > SERIES:
            return mpmath.hyp2f1(shift - nu, nu + 1 + shift, 1 + shift, z)
        # The ratio of the terms depends on nu (nu + 1) alone; summed directly, this is a hundred
        # times faster than the transformation to 1 - z, which is degenerate here.
        term, total, k = mpmath.mpf(1), mpmath.mpf(0), 0
        while abs(term) > mpmath.eps * (1 - z) or k < abs(nu) + 2:
            total += term
            term *= (shift - nu + k) * (nu + 1 + shift + k) * z / ((k + 1 + shift) * (k + 1))
            k += 1
        return total


def exact_angle(angle: float) -> Any:
    """The simple fraction of pi that a float stands for, or the float itself.

    ``1.5*math.pi`` is meant as three quarters of a turn: its error of 1e-16 would end the digits
    of an exponent there.

    Parameters
    ----------
    angle : float
        In radians.

    Returns
    -------
    mpmath.mpf
        A multiple of pi/1440 (an eighth of a degree) if the float is one to rounding.

    Examples
    --------
    >>> with mpmath.workdps(30):
    ...     abs(exact_angle(1.5 * math.pi) - 1.5 * mpmath.pi) < 1e-29
    True
    """
    parts = angle / math.pi * 1440
    nearest = round(parts)
    if nearest and abs(parts - nearest) <= 4e-16 * abs(parts):
        return mpmath.mpf(nearest) / 1440 * mpmath.pi
    return mpmath.mpf(angle)
