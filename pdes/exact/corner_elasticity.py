"""Elastic corners in plane strain or stress, with faces free of traction.

Airy's stress function ``r^(lambda+1) F(theta)`` is biharmonic if
``F'''' + 2 (lambda^2 + 1) F'' + (lambda^2 - 1)^2 F = 0``; displacements go like ``r^lambda``,
stresses like ``r^(lambda-1)`` (M. L. Williams, J. Appl. Mech. 19, 526 (1952), and Bull. Seismol.
Soc. Am. 49, 199 (1959)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import scipy.linalg

from pdes.exact.corner_problems import check_angle, exact_angle
from pdes.solvers.chebyshev import chebyshev_points, differentiation_matrix
from pdes.tokens import closest

SMALLEST = 1e-3
"""Real parts below are no corner singularities of finite energy."""
WIDEST = 0.4
"""Imaginary parts above are none of an interface crack: ``|beta| < 0.85`` for Poisson's ratios
above -0.9, and 1/2 for ordinary materials, whose ``eps`` is at most 0.175."""


@dataclass(frozen=True)
class Williams:
    """Elastic wedge with free faces: ``sin(lambda w) + lambda sin w = 0``, or minus for mode 2.

    Parameters
    ----------
    angle : float
        Opening ``w`` of the material in radians, in (0, 2 pi]; 2 pi is a crack.

    Examples
    --------
    >>> corner = Williams(1.5 * math.pi)
    >>> round(corner.amplitude(0.5444837367824639, mode=1), 12)
    0.543075578837
    """

    angle: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "angle", check_angle("angle", self.angle))

    @property
    def has_constant(self) -> bool:
        """Rigid displacements have no stress and are left out."""
        return False

    def __str__(self) -> str:
        return f"elastic wedge of {math.degrees(self.angle):.9g} deg, free faces"

    def collocated(self, degree: int) -> list[tuple[complex, str]]:
        """Exponents with their mode by Chebyshev collocation on half of the wedge."""
        found: list[tuple[complex, str]] = []
        nodes = chebyshev_points(degree, 0.0, 0.5 * self.angle)
        slope = differentiation_matrix(nodes)
        powers = [np.eye(degree + 1)]
        for _ in range(4):
            powers.append(powers[-1] @ slope)
        for mode, odd in ((1, (1, 3)), (2, (0, 2))):
            # In s = lambda^2: s^2 F + s (2 F'' - 2 F) + (F'''' + 2 F'' + F).
            terms = [
                powers[4] + 2.0 * powers[2] + powers[0],
                2.0 * powers[2] - 2.0 * powers[0],
                powers[0].copy(),
            ]
            rows = {0: powers[odd[0]][0], 1: powers[odd[1]][0], -2: powers[0][-1], -1: slope[-1]}
            for row, condition in rows.items():
                for term in terms:
                    term[row] = 0.0
                terms[0][row] = condition / np.linalg.norm(condition)
            roots = np.sqrt(polynomial_eigenvalues(terms).astype(complex))
            found += [(_above(root), f"mode {mode}") for root in roots if root.real > SMALLEST]
        # Conjugates become one; the other half plane holds nothing new.
        return sorted(found, key=lambda pair: (pair[0].real, pair[0].imag))

    def characteristic(self, exponent: Any, label: str) -> Any:
        """``sin(lambda w) + lambda sin w`` for mode 1, with a minus for mode 2."""
        w = exact_angle(self.angle)
        sign = 1 if label == "mode 1" else -1
        return mpmath.sin(exponent * w) + sign * exponent * mpmath.sin(w)

    def amplitude(self, exponent: Any, mode: int) -> Any:
        """Weight ``Q`` of the second pair of angular functions of a mode.

        Parameters
        ----------
        exponent : float or mpmath.mpf
            Root of the mode.
        mode : {1, 2}
            Opening or sliding.

        Returns
        -------
        float or mpmath.mpf
            ``-cos((lambda - 1) w/2)/cos((lambda + 1) w/2)`` for mode 1, with sines for mode 2.
        """
        if mode not in (1, 2):
            raise ValueError(f"mode={mode!r}, wanted 1 (opening) or 2 (sliding)")
        function = mpmath.cos if mode == 1 else mpmath.sin
        half = exact_angle(self.angle) / 2
        value = -function((exponent - 1) * half) / function((exponent + 1) * half)
        return value if isinstance(exponent, mpmath.mpf) else float(value)


@dataclass(frozen=True)
class InterfaceCrack:
    """Crack between two elastic materials, with free faces.

    The stresses oscillate: displacements go like ``r^(n + 1/2 +- i eps)`` with
    ``eps = log((1 - beta)/(1 + beta))/(2 pi)`` and Dundurs' parameter ``beta``. Whole exponents,
    which every crack has and no material moves, are left out.

    Parameters
    ----------
    stiffness_ratio : float
        Shear modulus of the second material (``theta < 0``) over that of the first, positive.
    poisson : float or tuple of two float, default 0.3
        Poisson's ratio, of each material, in (-1, 0.5].
    plane : {"strain", "stress"}, default "strain"
        Kind of the plane state.

    Examples
    --------
    >>> crack = InterfaceCrack(10.0)
    >>> round(crack.dundurs, 9), round(crack.oscillation, 9)
    (-0.233766234, 0.075811778)
    """

    stiffness_ratio: float
    poisson: tuple[float, float] = (0.3, 0.3)
    plane: str = "strain"

    def __init__(
        self,
        stiffness_ratio: float,
        poisson: float | tuple[float, float] = 0.3,
        plane: str = "strain",
    ) -> None:
        ratio = float(stiffness_ratio)
        if not (math.isfinite(ratio) and ratio > 0.0):
            raise ValueError(f"stiffness_ratio={stiffness_ratio!r}, wanted a positive number")
        pair = poisson if isinstance(poisson, (tuple, list)) else (poisson, poisson)
        if len(pair) != 2 or not all(-1.0 < float(nu) <= 0.5 for nu in pair):
            raise ValueError(f"poisson={poisson!r}, wanted one or two numbers in (-1, 0.5]")
        if plane not in ("strain", "stress"):
            raise ValueError(
                f"plane={plane!r}, wanted 'strain' or 'stress'."
                f"{closest(str(plane), ('strain', 'stress'))}"
            )
        object.__setattr__(self, "stiffness_ratio", ratio)
        object.__setattr__(self, "poisson", tuple(float(nu) for nu in pair))
        object.__setattr__(self, "plane", plane)

    @property
    def has_constant(self) -> bool:
        """Rigid displacements have no stress and are left out."""
        return False

    def __str__(self) -> str:
        first, second = self.poisson
        return (
            f"interface crack, stiffness ratio {self.stiffness_ratio:g}, Poisson's ratios "
            f"{first:g} and {second:g}, plane {self.plane}"
        )

    def exact_dundurs(self) -> Any:
        """Dundurs' second parameter ``beta`` in the working precision of mpmath."""
        ratio = mpmath.mpf(self.stiffness_ratio)
        kappa = []
        for nu in self.poisson:
            exact = mpmath.mpf(repr(nu))
            kappa.append(3 - 4 * exact if self.plane == "strain" else (3 - exact) / (1 + exact))
        top = kappa[1] - 1 - ratio * (kappa[0] - 1)
        return top / (kappa[1] + 1 + ratio * (kappa[0] + 1))

    def exact_oscillation(self) -> Any:
        """``eps`` in the working precision of mpmath."""
        beta = self.exact_dundurs()
        return mpmath.log((1 - beta) / (1 + beta)) / (2 * mpmath.pi)

    @property
    def dundurs(self) -> float:
        """Dundurs' second parameter ``beta``."""
        with mpmath.workdps(30):
            return float(self.exact_dundurs())

    @property
    def oscillation(self) -> float:
        """Imaginary part ``eps`` of the exponents."""
        with mpmath.workdps(30):
            return float(self.exact_oscillation())

    def collocated(self, degree: int) -> list[tuple[complex, str]]:
        """Exponents by Chebyshev collocation of both half planes, joined at the interface."""
        size = degree + 1
        terms = [np.zeros((2 * size, 2 * size)) for _ in range(5)]
        sides = []
        for place, (start, stop) in enumerate(((0.0, math.pi), (-math.pi, 0.0))):
            here = slice(place * size, (place + 1) * size)
            slope = differentiation_matrix(chebyshev_points(degree, start, stop))
            powers = [np.eye(size)]
            for _ in range(4):
                powers.append(powers[-1] @ slope)
            sides.append(powers)
            terms[0][here, here] = powers[4] + 2.0 * powers[2] + powers[0]
            terms[2][here, here] = 2.0 * powers[2] - 2.0 * powers[0]
            terms[4][here, here] = powers[0]
        self._join(terms, sides, size)
        roots: Any = polynomial_eigenvalues(terms)
        roots = roots[np.isfinite(roots)]
        whole = (np.abs(roots.imag) < 1e-3) & (np.abs(roots.real - np.rint(roots.real)) < 1e-3)
        kept = [_above(z) for z in roots[~whole] if z.real > SMALLEST and abs(z.imag) < WIDEST]
        label = "oscillating" if self.oscillation else "crack"
        return [(root, label) for root in sorted(kept, key=lambda z: (z.real, z.imag))]

    def _join(self, terms: list[np.ndarray], sides: list[list[np.ndarray]], size: int) -> None:
        """Free faces, and equal tractions and displacements at the interface, as rows."""
        moduli = (1.0, self.stiffness_ratio)
        ends = (0, -1)  # theta = 0 is the first point of one side and the last of the other
        rows = {name: np.zeros((5, 2 * size)) for name in ("s", "t", "u", "v", "a", "b", "c", "d")}
        for place, (powers, end) in enumerate(zip(sides, ends, strict=True)):
            here = slice(place * size, (place + 1) * size)
            sign, mu = 1.0 - 2.0 * place, moduli[place]
            nu = self.poisson[place]
            nu = nu if self.plane == "strain" else nu / (1.0 + nu)
            f = [power[end] for power in powers]
            rows["s"][0, here], rows["t"][0, here] = sign * f[0], sign * f[1]
            # 2 mu lambda u_r = (1 - nu)(F'' + (l + 1) F) - nu l (l + 1) F, and from the shear
            # 2 l (l - 1) mu u_theta = -2 l^2 F' - (2 mu l u_r)'.
            for name, shift in (("u", 0), ("v", 1)):
                low, high = f[shift], f[shift + 2]
                weight = (sign if name == "u" else -sign) / mu
                rows[name][0, here] = weight * (1.0 - nu) * (high + low)
                rows[name][1, here] = weight * (1.0 - 2.0 * nu) * low
                rows[name][2, here] = -weight * nu * low
            rows["v"][2, here] -= sign * 2.0 / mu * f[1]
            face = -1 if place == 0 else 0
            first, second = ("a", "b") if place == 0 else ("c", "d")
            rows[first][0, here], rows[second][0, here] = powers[0][face], powers[1][face]
        places = {"s": 0, "u": 1, "a": size - 1, "b": size - 2}
        places |= {"t": 2 * size - 1, "v": 2 * size - 2, "c": size, "d": size + 1}
        for name, row in places.items():
            norm = np.linalg.norm(rows[name])
            for term, values in zip(terms, rows[name], strict=True):
                term[row] = values / norm

    def characteristic(self, exponent: Any, label: str) -> Any:
        """``cos(pi lambda) -+ i beta sin(pi lambda)``, simple at each of its roots."""
        beta = abs(self.exact_dundurs())
        turn = mpmath.pi * exponent
        # Of a conjugate pair the member of positive imaginary part is wanted.
        return mpmath.cos(turn) + mpmath.mpc(0, beta) * mpmath.sin(turn)


def polynomial_eigenvalues(terms: list[np.ndarray]) -> np.ndarray:
    """Eigenvalues of ``sum s^k terms[k]`` by linearization, infinite ones left out.

    Parameters
    ----------
    terms : list of ndarray, shape (n, n)

    Returns
    -------
    ndarray of complex
    """
    order, size = len(terms) - 1, terms[0].shape[0]
    left, right = np.zeros((2, order * size, order * size))
    left[:-size, size:] = right[:-size, :-size] = np.eye((order - 1) * size)
    for k, term in enumerate(terms[:-1]):
        left[-size:, k * size : (k + 1) * size] = -term
    right[-size:, -size:] = terms[-1]
    values: Any = scipy.linalg.eigvals(left, right)
    return values[np.isfinite(values)]


def _above(root: complex) -> complex:
    """The member of a conjugate pair in the upper half plane; real if it is so to rounding."""
    return complex(root.real, abs(root.imag) if abs(root.imag) > 1e-5 else 0.0)
