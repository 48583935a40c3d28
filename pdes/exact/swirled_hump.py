"""A field stirred by a wind whose streamlines stand still while its strength swings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as field_of
from typing import Any

import mpmath
import numpy as np
import scipy.special
import sympy

from pdes.equation import Equation, coordinate, field
from pdes.grid import Grid
from pdes.pointwise import pointwise
from pdes.precise import precise
from pdes.symbols import TIME, number, parameter

__all__ = ["SwirledHump"]


@dataclass(frozen=True, kw_only=True)
class SwirledHump:
    r"""Field ``u(x, t) = f(y)``, where the wind carries ``y`` to ``x`` until ``t``.

    The wind of ``psi = sin^2(pi x) sin^2(pi y) cos(pi t/T)/pi`` is a steady one whose clock goes
    forth and back: everything has followed it for ``tau = (T/pi) sin(pi t/T)``. In ``X = cot(pi
    x)`` and ``Y = cot(pi y)`` the steady one reads ``X' = -2 pi Y/(1 + Y^2)``, ``Y' = 2 pi X/(1 +
    X^2)`` and keeps ``K = (1 + X^2)(1 + Y^2)``, so that ``X = M cn(s|m)`` and ``Y = M
    sd(s|m)/sqrt(K)`` with ``M^2 = K - 1``, ``m = 1 - 1/K``, ``s' = 2 pi/sqrt(K)`` (derived here).

    Parameters
    ----------
    equation : Equation
        Of `pdes.library.advection_2d.advection_swirl_equation`, which gives the period ``T``.
    profile : sympy.Expr
        The field ``f`` at time zero, in ``x`` and ``y``, of period one in both.
    name, start, stop, source
        As for `pdes.exact.ExactSolution`.

    Examples
    --------
    >>> from pdes.library.advection_2d import advection_swirl_equation
    >>> hump = SwirledHump(
    ...     equation=advection_swirl_equation(period=0.5), profile=sympy.sin(coordinate("x"))
    ... )
    >>> there, back = hump.evaluate(Grid.periodic(x=(0, 1, 8), y=(0, 1, 8)), [0.0, 0.5])["u"]
    >>> bool(np.max(np.abs(back - there)) < 1e-14), hump.residual(points=2) < 1e-25
    (True, True)
    """

    equation: Equation
    profile: sympy.Expr
    name: str = "swirled_hump"
    start: float = 0.0
    stop: float = math.inf
    source: str = "wind of R. J. LeVeque, SIAM J. Numer. Anal. 33 (1996) 627; paths derived here"
    parameters: Mapping[str, float] = field_of(default_factory=dict)

    @property
    def fields(self) -> dict[str, sympy.Expr]:
        """The profile at time zero; later its argument is the start of a path."""
        return {"u": self.profile}

    def evaluate(self, grid: Grid, times: Any) -> dict[str, np.ndarray]:
        """Field on a grid at some times, by following every point back.

        Raises
        ------
        ValueError
            If a time is negative or not finite.
        """
        moments = np.asarray(times, dtype=np.float64).reshape(-1)
        outside = ~((moments >= self.start) & np.isfinite(moments))
        if np.any(outside):
            raise ValueError(
                f"{self.name} holds for finite times from {self.start:g}, got "
                f"{moments[outside][0]:g}"
            )
        mesh, period = grid.mesh(), float(self.equation.parameters["period"])
        x, y = np.broadcast_arrays(mesh["x"], mesh["y"])
        found = []
        for moment in moments:
            clock = period / math.pi * math.sin(math.pi * math.fmod(moment / period, 2.0))
            origin = _origins(x, y, clock)
            values = pointwise(self.profile, dict(zip("xy", origin, strict=True)))
            found.append(np.broadcast_to(values, grid.shape))
        return {"u": np.stack(found)}

    def initial(self, grid: Grid, rng: np.random.Generator | None = None) -> dict[str, np.ndarray]:
        """Field at time zero; `rng` is not used."""
        return {"u": self.evaluate(grid, [0.0])["u"][0]}

    def residual(self, *, points: int = 16, digits: int = 40, seed: int = 0) -> float:
        """Largest residual of the equation at random points, by extended-precision differences."""
        rng, names = np.random.default_rng(seed), ("x", "y")
        whole = self.equation.parameters["period"]
        u = field("u", names)
        slopes = {u.diff(coordinate(name)): sympy.Dummy(real=True) for name in names}
        rate = self.equation.rhs["u"].xreplace(slopes)
        worst = 0.0
        with mpmath.workdps(digits + 15):
            # The equation holds sixteen digits of pi, and so do the paths.
            pi, period = mpmath.mpf(repr(math.pi)), mpmath.mpf(repr(whole))

            def value(x: Any, y: Any, t: Any) -> Any:
                clock = period / pi * mpmath.sin(pi * t / period)
                origin = _precise_origin(x, y, clock, pi)
                given = {coordinate(n): v for n, v in zip(names, origin, strict=True)}
                return precise(self.profile, given, mpmath.mp.dps + 5)

            for _ in range(points):
                x, y = (mpmath.mpf(float(v)) for v in rng.uniform(0.1, 0.9, size=2))
                t = mpmath.mpf(float(rng.uniform(0.0, 2.0 * whole)))
                gradient = [mpmath.diff(value, (x, y, t), n) for n in ((1, 0, 0), (0, 1, 0))]
                known = {
                    **dict(zip(slopes.values(), gradient, strict=True)),
                    **{coordinate("x"): x, coordinate("y"): y, TIME: t},
                    parameter("period"): number(whole),
                }
                change = mpmath.diff(value, (x, y, t), (0, 0, 1))
                worst = max(worst, float(abs(change - precise(rate, known, mpmath.mp.dps))))
        return worst

    def latex(self) -> str:
        """LaTeX of the relation to the start of the path."""
        return rf"u = f(\Phi_{{-\tau(t)}}(x, y)), \quad f = {sympy.latex(self.profile)}"


def _origins(x: np.ndarray, y: np.ndarray, clock: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the paths through some points of the plane were when the clock stood at zero."""
    cells = np.floor(x), np.floor(y)
    sines = [np.sin(math.pi * (s - c)) for s, c in zip((x, y), cells, strict=True)]
    # On the sides of the cells, and so near them that K overflows, nothing moves.
    moving = np.minimum(*sines) > 1e-7
    a, b = (
        np.where(moving, np.cos(math.pi * (s - c)) / np.where(moving, sine, 1.0), 0.0)
        for s, c, sine in zip((x, y), cells, sines, strict=True)
    )
    kept = (1.0 + a**2) * (1.0 + b**2)
    size, m = np.sqrt(a**2 + b**2 + a**2 * b**2), 1.0 - 1.0 / kept
    angle = np.arctan2(b * np.sqrt(1.0 + a**2), a)
    phase = scipy.special.ellipkinc(angle, m) - 2.0 * math.pi / np.sqrt(kept) * clock
    sn, cn, dn, _ = scipy.special.ellipj(phase, m)
    places = np.arctan2(1.0, size * cn), np.arctan2(1.0, size * sn / (np.sqrt(kept) * dn))
    found = [
        np.where(moving, c + p / math.pi, s) for s, c, p in zip((x, y), cells, places, strict=True)
    ]
    return found[0], found[1]


def _precise_origin(x: Any, y: Any, clock: Any, pi: Any) -> tuple[Any, Any]:
    """The same in extended precision, for a point within the unit square."""
    a, b = mpmath.cot(pi * x), mpmath.cot(pi * y)
    kept = (1 + a**2) * (1 + b**2)
    size, m = mpmath.sqrt(kept - 1), 1 - 1 / kept
    angle = mpmath.atan2(b * mpmath.sqrt(1 + a**2), a)
    phase = mpmath.ellipf(angle, m) - 2 * pi / mpmath.sqrt(kept) * clock
    sn, cn, dn = (mpmath.ellipfun(name, phase, m=m).real for name in ("sn", "cn", "dn"))
    across, along = size * cn, size * sn / (mpmath.sqrt(kept) * dn)
    return mpmath.atan2(1, across) / pi, mpmath.atan2(1, along) / pi
