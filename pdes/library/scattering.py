"""Waves of one frequency around a disc, by finite elements on half a ring."""

from __future__ import annotations

import math

import sympy

from pdes.boundary import Dirichlet, Neumann, Robin
from pdes.exact.mie_series import Surface, mie_series
from pdes.library.choices import check_choice
from pdes.library.ranges import check_range
from pdes.mesh import Annulus
from pdes.registry import register
from pdes.steady import SteadyProblem
from pdes.symbols import coordinate, parameter


@register("helmholtz_disc", tags=["steady", "2d", "elliptic", "wave"], aliases=["mie"])
def helmholtz_disc(wavenumber: float = 3.0, surface: Surface = "soft") -> SteadyProblem:
    """Plane wave ``exp(i k x)`` and what a unit disc scatters of it, out to a circle of radius 2.

    The surface of the disc holds a value of zero (``soft``) or a flux of zero (``hard``). The outer
    circle absorbs, with the impedance data of the closed form. The field is the same above and
    below the x axis, so that half of the ring is enough.
    """
    name = "helmholtz_disc"
    wavenumber = check_range(name, "wavenumber", wavenumber, 0.0, 50.0, open_low=True)
    surface = check_choice(name, "surface", surface, ("soft", "hard"))
    exact = mie_series(wavenumber, 1.0, surface, outer=1.4)
    x, y, k = coordinate("x"), coordinate("y"), parameter("wavenumber")
    u = exact.fields["u"]
    slope = (x * u.diff(x) + y * u.diff(y)) / sympy.sqrt(x**2 + y**2)
    return SteadyProblem(
        name=name,
        residual=exact.residuals,
        parameters=exact.parameters,
        domain=Annulus(inner=1.0, outer=2.0, angle=math.pi),
        boundary={
            "inner": Dirichlet() if surface == "soft" else Neumann(),
            "outer": Robin(-sympy.I * k, slope - sympy.I * k * u),
            "start": Neumann(),
            "end": Neumann(),
        },
        exact={exact.name: exact},
        exact_name=exact.name,
        options={"degree": 2},
        notes=(
            "Elements of degree p turn the phase by k (k h)^(2p) up to a constant per unit length: "
            "refine faster than the wave shortens."
        ),
        source=exact.source,
    )
