"""Flow in porous media: ``-div(a grad u) = f`` with random, smooth and layered permeability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from pdes.boundary import Dirichlet, Neumann
from pdes.exact.darcy_layers import darcy_layers, layers
from pdes.exact.manufactured_steady import manufactured_steady
from pdes.grid import Axis, Grid
from pdes.initial.gaussian_random_field import gaussian_random_field
from pdes.library.choices import check_choice
from pdes.library.ranges import check_range, check_whole
from pdes.registry import register
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate, parameter

SIDES = ("x-", "x+", "y-", "y+")
MAPS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "two_phase": lambda field: np.where(field >= 0.0, 12.0, 3.0),
    "mild": lambda field: np.where(field >= 0.0, 12.0, 4.0),
    "decade": lambda field: np.where(field >= 0.0, 1.0, 0.1),
    "lognormal": np.exp,
}


@dataclass(frozen=True)
class RandomPermeability:
    """Permeability ``psi(N(0, (-lap + tau^2)^-alpha))`` at the centers of the cells.

    Parameters
    ----------
    mapping : {"two_phase", "mild", "decade", "lognormal"}
        ``psi``: 12 where the field is not negative and 3 elsewhere; 12 and 4; 1 and 0.1; the
        exponential.
    tau, alpha : float
        Of the field, whose slope vanishes at the sides.
    seed : int
        Of the field.

    Examples
    --------
    >>> centers = (np.arange(8) + 0.5) / 8
    >>> a = RandomPermeability()(x=centers[:, None], y=centers[None, :])
    >>> a.shape, sorted(set(a.reshape(-1).tolist()))
    ((8, 8), [3.0, 12.0])
    """

    mapping: str = "two_phase"
    tau: float = 3.0
    alpha: float = 2.0
    seed: int = 0

    def __call__(self, **places: Any) -> np.ndarray:
        """Field at the centers of equal cells of the unit box."""
        field = gaussian_random_field(
            np.broadcast_shapes(*[np.shape(place) for place in places.values()]),
            tau=self.tau,
            alpha=self.alpha,
            boundary="neumann",
            centered=True,
            rng=np.random.default_rng(self.seed),
        )
        return MAPS[self.mapping](field)


def _square(cells: int, names: str = "xy") -> Grid:
    return Grid(tuple(Axis(name, 0.0, 1.0, cells + 1, periodic=False) for name in names))


def _cells(problem: str, cells: int) -> int:
    return check_whole(problem, "cells", cells, 4, 2048)


@register("darcy", tags=["steady", "2d", "elliptic", "random"])
def darcy(
    permeability: str = "two_phase", force: float = 1.0, cells: int = 64, seed: int = 0
) -> SteadyProblem:
    """``-div(a grad u) = force`` with ``u = 0`` around and a random field of permeability."""
    force = check_range("darcy", "force", force, 1e-4, 1e4)
    permeability = check_choice("darcy", "permeability", permeability, tuple(MAPS))
    seed = check_whole("darcy", "seed", seed, 0, 2**29)
    u, a = unknown("u"), unknown("a")
    x, y = coordinate("x"), coordinate("y")
    return SteadyProblem(
        name="darcy",
        residual={"u": -(a * u.diff(x)).diff(x) - (a * u.diff(y)).diff(y) - parameter("force")},
        parameters={"force": force},
        coefficients={"a": RandomPermeability(permeability, seed=seed)},
        domain=_square(_cells("darcy", cells)),
        boundary=dict.fromkeys(SIDES, Dirichlet()),
        solver="cell_centered",
        notes="Field behind a: covariance (-lap + 9)^-2, mean zero, no slope at the sides.",
        source="Z. Li et al., Fourier neural operator, ICLR 2021, section 5.2",
    )


@register("darcy_manufactured", tags=["steady", "2d", "elliptic"])
def darcy_manufactured(kind: str = "dirichlet", cells: int = 32) -> SteadyProblem:
    """Smooth permeability ``1 + sin(2 pi x) cos(pi y)/2`` and a smooth solution."""
    name = "darcy_manufactured"
    kind = check_choice(name, "kind", kind, ("dirichlet", "neumann"))
    x, y, pi = coordinate("x"), coordinate("y"), sympy.pi
    a = 1 + sympy.sin(2 * pi * x) * sympy.cos(pi * y) / 2
    solution: Any = sympy.sin(2 * x + sympy.Rational(1, 2)) * sympy.exp(y)
    if kind == "neumann":
        solution = sympy.cos(2 * pi * x) * sympy.sin(pi * y) + sympy.cos(pi * y) / 2
    exact = manufactured_steady(
        "smooth",
        lambda u: -(a * u.diff(x)).diff(x) - (a * u.diff(y)).diff(y),
        solution,
        {"x": (0.0, 1.0), "y": (0.0, 1.0)},
    )
    sides: dict[str, Any] = {}
    for s, axis in ((x, "x"), (y, "y")):
        for end, place, sign in (("-", 0, -1), ("+", 1, 1)):
            flux = sign * (a * solution.diff(s)).subs(s, place)
            value = solution.subs(s, place)
            sides[axis + end] = Dirichlet(value) if kind == "dirichlet" else Neumann(flux)
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        domain=_square(_cells(name, cells)),
        boundary=sides,
        exact={exact.name: exact},
        exact_name=exact.name,
        solver="cell_centered",
        source="method of manufactured solutions",
    )


@register("darcy_layered", tags=["steady", "1d", "elliptic", "interface"])
def darcy_layered(
    left: float = 12.0, right: float = 3.0, interface: float = 0.5, cells: int = 64
) -> SteadyProblem:
    """``-(a u')' = 1`` through two layers; second order if the interface lies on a face."""
    name = "darcy_layered"
    exact = darcy_layers(
        check_range(name, "left", left, 0.0, 1e6, open_low=True),
        check_range(name, "right", right, 0.0, 1e6, open_low=True),
        check_range(name, "interface", interface, 0.01, 0.99),
    )
    x = coordinate("x")
    u, a = unknown("u", ("x",)), unknown("a", ("x",))
    return SteadyProblem(
        name=name,
        residual={"u": -(a * u.diff(x)).diff(x) - 1},
        parameters=exact.parameters,
        coefficients={"a": layers()},
        coordinates=("x",),
        domain=_square(_cells(name, cells), "x"),
        boundary={"x-": Dirichlet(), "x+": Dirichlet()},
        exact={exact.name: exact},
        exact_name=exact.name,
        solver="cell_centered",
        notes="An interface inside a cell costs one order.",
        source=exact.source,
    )
