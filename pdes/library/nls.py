"""The focusing nonlinear Schroedinger equation ``h_t = i*h_xx/2 + i*|h|^2*h``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.nls_breather import nls_breather
from pdes.exact.nls_soliton import nls_soliton
from pdes.exact.peregrine import peregrine
from pdes.grid import Grid
from pdes.invariant import Invariant
from pdes.problem import Problem
from pdes.registry import register


def nls_equation() -> Equation:
    """Nonlinear Schroedinger equation in the normalization ``i h_t + h_xx/2 + |h|^2 h = 0``.

    Returns
    -------
    Equation
        One complex field ``h``.

    Examples
    --------
    >>> print(nls_equation())
    h_t = I*abs(h)^2*h + 0.5*I*h_xx
    """
    return Equation.from_text("h_t = 1/2*I*h_xx + I*abs(h)^2*h", name="nls", complex_fields=("h",))


@register("nls", tags=["second tier", "1d", "nonlinear", "dispersive", "complex"])
def nls() -> Problem:
    """The breather that starts from ``2 sech(x)``, one period on a box of length 32."""
    equation = nls_equation()
    breather = nls_breather(equation)
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(-16.0, 16.0, 1024)),
        initial=breather.initial,
        invariants=(
            Invariant(name="mass", density="abs(h)^2"),
            Invariant(name="momentum", density="(conj(h)*h_x - h*conj(h_x))/2/I"),
            Invariant(name="hamiltonian", density="abs(h_x)^2/2 - abs(h)^4/2"),
        ),
        times=np.linspace(0.0, np.pi / 2.0, 201),
        time_step=np.pi / 400 / 8,
        stored_points=256,
        exact={
            "breather": breather,
            "soliton": nls_soliton(equation),
            "peregrine": peregrine(equation),
        },
        exact_name="breather",
    )
