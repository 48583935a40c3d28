"""The nonlinear Schroedinger equation ``h_t = i*dispersion*h_xx + i*sign*|h|^2*h``."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.nls_breather import nls_breather
from pdes.exact.nls_dark_soliton import nls_dark_soliton
from pdes.exact.nls_plane_wave import nls_plane_wave
from pdes.exact.nls_soliton import nls_soliton
from pdes.exact.peregrine import peregrine
from pdes.exact.solution import ExactSolution
from pdes.grid import Grid
from pdes.invariant import Invariant
from pdes.library.choices import check_choice
from pdes.problem import Problem
from pdes.registry import register


def nls_equation(dispersion: float = 0.5, sign: int = 1) -> Equation:
    """Nonlinear Schroedinger equation ``i h_t + dispersion*h_xx + sign*|h|^2 h = 0``.

    Parameters
    ----------
    dispersion : {0.5, 1.0}
        Both normalizations are in use.
    sign : {1, -1}
        Focusing or defocusing.

    Returns
    -------
    Equation
        One complex field ``h``.

    Examples
    --------
    >>> print(nls_equation())
    h_t = I*abs(h)^2*h + 0.5*I*h_xx
    >>> print(nls_equation(1.0, -1))
    h_t = -I*abs(h)^2*h + I*h_xx
    """
    dispersion = check_choice("nls", "dispersion", dispersion, (0.5, 1.0))
    sign = check_choice("nls", "sign", sign, (1, -1))
    return Equation.from_text(
        "h_t = dispersion*I*h_xx + nonlinearity*I*abs(h)^2*h",
        name="nls",
        complex_fields=("h",),
        parameters={"dispersion": float(dispersion), "nonlinearity": float(sign)},
    )


@register("nls", tags=["second tier", "1d", "nonlinear", "dispersive", "complex"])
def nls(dispersion: float = 0.5, sign: int = 1) -> Problem:
    """The breather that starts from ``2 sech(x)``, one period; a plane wave if defocusing."""
    equation = nls_equation(dispersion, sign)
    half = 16.0 * np.sqrt(2.0 * dispersion)
    # Four whole waves on the box.
    plane = nls_plane_wave(equation, wavenumber=float(4.0 * np.pi / half))
    exact: dict[str, ExactSolution] = {"plane_wave": plane}
    if sign == 1:
        exact = {
            "breather": nls_breather(equation),
            "soliton": nls_soliton(equation),
            "peregrine": peregrine(equation),
            **exact,
        }
    else:
        exact["dark_soliton"] = nls_dark_soliton(equation)
    first = next(iter(exact))
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(-half, half, 1024)),
        initial=exact[first].initial,
        invariants=(
            Invariant(name="mass", density="abs(h)^2"),
            Invariant(name="momentum", density="(conj(h)*h_x - h*conj(h_x))/2/I"),
            Invariant(
                name="hamiltonian", density="dispersion*abs(h_x)^2 - nonlinearity*abs(h)^4/2"
            ),
        ),
        times=np.linspace(0.0, np.pi / 2.0, 201),
        time_step=np.pi / 400 / 8,
        stored_points=256,
        exact=exact,
        exact_name=first,
    )
