"""The Gray-Scott system: a substrate ``u`` is fed, an autocatalyst ``v`` eats it and dies.

``u_t = du lap u - u v^2 + f (1 - u)``, ``v_t = dv lap v + u v^2 - (f + k) v``.
"""

from __future__ import annotations

import math

import numpy as np
import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.manufactured import manufactured
from pdes.exact.solution import ExactSolution
from pdes.grid import Grid
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register
from pdes.symbols import TIME, number

PATTERNS = {
    "gliders": (0.014, 0.054),
    "bubbles": (0.098, 0.057),
    "maze": (0.029, 0.057),
    "worms": (0.058, 0.065),
    "spirals": (0.018, 0.051),
    "spots": (0.03, 0.062),
}
"""Feed and kill rates of six patterns, as in the data of The Well (2024)."""


def gray_scott_equation(
    feed: float = 0.029,
    kill: float = 0.057,
    diffusivity_u: float = 2e-5,
    diffusivity_v: float = 1e-5,
) -> Equation:
    """Gray-Scott system in the plane.

    Parameters
    ----------
    feed, kill : float
        ``f`` and ``k``, rates in (0, 0.2].
    diffusivity_u, diffusivity_v : float
        ``du`` and ``dv`` in length squared per time, in (0, 1].

    Returns
    -------
    Equation

    Examples
    --------
    >>> gray_scott_equation().jets
    ('u', 'u_xx', 'u_yy', 'v', 'v_xx', 'v_yy')
    """
    given = {"feed": (feed, 0.2), "kill": (kill, 0.2)}
    given |= {"diffusivity_u": (diffusivity_u, 1.0), "diffusivity_v": (diffusivity_v, 1.0)}
    parameters = {
        name: check_range("gray_scott", name, value, 0.0, high, open_low=True)
        for name, (value, high) in given.items()
    }
    return Equation.from_text(
        "u_t = diffusivity_u*(u_xx + u_yy) - u*v^2 + feed*(1 - u);"
        "v_t = diffusivity_v*(v_xx + v_yy) + u*v^2 - (feed + kill)*v",
        name="gray_scott",
        parameters=parameters,
    )


def uniform_states(feed: float, kill: float) -> list[tuple[float, float]]:
    """States without structure that do not change.

    Besides (1, 0) there are two more where ``1 - 4 (f + k)^2/f`` is positive.

    Parameters
    ----------
    feed, kill : float
        ``f`` and ``k``.

    Returns
    -------
    list of (u, v)

    Examples
    --------
    >>> len(uniform_states(0.029, 0.057)), len(uniform_states(0.03, 0.057))
    (1, 1)
    >>> uniform_states(0.05, 0.05)
    [(1.0, 0.0), (0.72360..., 0.13819...), (0.27639..., 0.36180...)]
    """
    found = [(1.0, 0.0)]
    gap = 1.0 - 4.0 * (feed + kill) ** 2 / feed
    if gap >= 0.0:
        for sign in (1.0, -1.0):
            u = 0.5 * (1.0 + sign * math.sqrt(gap))
            found.append((u, feed * (1.0 - u) / (feed + kill)))
    return found


@register("gray_scott", tags=["2d", "nonlinear", "reaction"])
def gray_scott(feed: float = 0.029, kill: float = 0.057) -> Problem:
    """Patterns that spread from four drops of autocatalyst on a torus."""
    equation = gray_scott_equation(feed, kill)
    wave = sympy.pi * coordinate("x")
    rate = parameter("diffusivity_u") * sympy.pi**2 + parameter("feed")
    substrate = ExactSolution(
        name="substrate",
        equation=equation,
        fields={"u": 1 - sympy.exp(-rate * TIME) * sympy.cos(wave) / 2, "v": sympy.S.Zero},
        box=1.0,
        source="without autocatalyst the system is linear",
    )
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(-1.0, 1.0, 128), y=(-1.0, 1.0, 128)),
        initial=_drops,
        times=np.linspace(0.0, 1000.0, 51),
        exact={"substrate": substrate},
        invariants=(
            Invariant(
                name="matter",
                density="u + v",
                law="balance",
                rate="feed*(1 - u) - (feed + kill)*v",
            ),
        ),
        solver="finite_difference",
        notes="Fronts are about as wide as a spacing, sqrt(1e-5/0.05): refine to follow them.",
        source="Pearson, Science 261 (1993) 189",
    )


@register("gray_scott_manufactured", tags=["2d", "nonlinear", "reaction", "manufactured"])
def gray_scott_manufactured(feed: float = 0.029, kill: float = 0.057) -> Problem:
    """The same torus with a source that makes a known pattern the solution."""
    x, y = (sympy.pi * coordinate(name) for name in "xy")
    solution = manufactured(
        gray_scott_equation(feed, kill),
        {
            "u": number(0.6) + sympy.cos(x) * sympy.sin(y) * sympy.cos(TIME) / 5,
            "v": number(0.3) + sympy.sin(x) * sympy.cos(2 * y) * sympy.sin(TIME) / 10,
        },
    )
    return Problem(
        equation=solution.equation,
        grid=Grid.periodic(x=(-1.0, 1.0, 32), y=(-1.0, 1.0, 32)),
        initial=solution.initial,
        times=np.linspace(0.0, 2.0, 11),
        time_step=0.05,
        exact={"manufactured": solution},
        exact_name="manufactured",
    )


def _drops(grid: Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Smooth drops of random place in the fed state; periodic."""
    total: np.ndarray = np.zeros(grid.shape)
    mesh = grid.mesh()
    for _ in range(4):
        square = np.zeros(())
        for axis in grid.axes:
            place = rng.uniform(axis.start, axis.stop)
            turn = np.pi * (mesh[axis.name] - place) / axis.length
            square = square + (axis.length / np.pi * np.sin(turn)) ** 2
        # Overlapping drops must not leave a crease, which no spectrum resolves.
        total = 1.0 - (1.0 - total) * (1.0 - np.exp(-square / (2.0 * 0.08**2)))
    return {"u": 1.0 - 0.5 * total, "v": 0.25 * total}
