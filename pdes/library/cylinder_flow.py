"""Steady flow by finite elements: past a cylinder in a channel, and behind a grid (Kovasznay)."""

from __future__ import annotations

import numpy as np
import sympy

from pdes.boundary import Dirichlet, NoSlip, Outflow
from pdes.cylinder_channel import CylinderChannel
from pdes.exact.steady_solution import SteadySolution
from pdes.library.ranges import check_range
from pdes.mesh import Rectangle
from pdes.registry import register
from pdes.solvers.flow_equations import flow_residual
from pdes.steady import SteadyProblem
from pdes.symbols import coordinate, parameter

HEIGHT = 0.41


@register("cylinder_flow", tags=["steady", "2d", "nonlinear", "flow"])
def cylinder_flow(reynolds: float = 20.0) -> SteadyProblem:
    """Channel of 2.2 by 0.41 with a cylinder of diameter 0.1 slightly off the middle.

    The Reynolds number is that of the mean inflow and the diameter; viscosity is 1e-3.
    """
    reynolds = check_range("cylinder_flow", "reynolds", reynolds, 0.0, 100.0, open_low=True)
    y = coordinate("y")
    # Mean inflow is two thirds of the largest: Re = (2/3 speed) 0.1/1e-3.
    speed = parameter("speed")
    inflow = 4 * speed * y * (sympy.Rational("0.41") - y) / sympy.Rational("0.41") ** 2
    return SteadyProblem(
        name="cylinder_flow",
        residual=flow_residual(),
        parameters={"viscosity": 1e-3, "speed": 1.5 * reynolds * 1e-2},
        domain=CylinderChannel(),
        boundary={
            "inlet": {"u": Dirichlet(inflow), "v": Dirichlet(), "p": Outflow()},
            "outlet": Outflow(),
            "walls": NoSlip(),
            "cylinder": NoSlip(),
        },
        solver="taylor_hood",
        resolution=12,
        in_time={"times": np.linspace(0.0, 2.0, 11)},
        notes=(
            "The record of the solver holds the force on the cylinder; coefficients are the force "
            "divided by mean inflow squared times half the diameter. Reynolds number 20: drag "
            "5.5795, lift 0.010619, pressure difference 0.11752. Above about 47 the steady flow "
            "is unstable: follow the vortex street with pdes.simulate(problem, times=...)."
        ),
        source="M. Schaefer, S. Turek, Notes Numer. Fluid Mech. 52, 547 (1996), case 2D-1",
    )


@register("steady_kovasznay", tags=["steady", "2d", "nonlinear", "flow"])
def steady_kovasznay(reynolds: float = 40.0) -> SteadyProblem:
    """Flow behind a grid, ``u = 1 - exp(a x) cos(2 pi y)``, in closed form."""
    reynolds = check_range("steady_kovasznay", "reynolds", reynolds, 1.0, 1000.0)
    x, y, viscosity = coordinate("x"), coordinate("y"), parameter("viscosity")
    half = 1 / (2 * viscosity)
    rate = half - sympy.sqrt(half**2 + 4 * sympy.pi**2)
    fields = {
        "u": 1 - sympy.exp(rate * x) * sympy.cos(2 * sympy.pi * y),
        "v": rate / (2 * sympy.pi) * sympy.exp(rate * x) * sympy.sin(2 * sympy.pi * y),
        "p": (1 - sympy.exp(2 * rate * x)) / 2,
    }
    exact = SteadySolution(
        name="kovasznay",
        residuals=flow_residual(),
        fields=fields,
        parameters={"viscosity": 1.0 / reynolds},
        box={"x": (-0.5, 1.0), "y": (-0.5, 0.5)},
        source="L. I. G. Kovasznay, Proc. Camb. Phil. Soc. 44, 58 (1948)",
    )
    given = {"u": Dirichlet(fields["u"]), "v": Dirichlet(fields["v"]), "p": Outflow()}
    return SteadyProblem(
        name="steady_kovasznay",
        residual=exact.residuals,
        parameters=exact.parameters,
        domain=Rectangle(x=(-0.5, 1.0), y=(-0.5, 0.5)),
        boundary=dict.fromkeys(("x-", "x+", "y-", "y+"), given),
        exact={"kovasznay": exact},
        exact_name="kovasznay",
        solver="taylor_hood",
        in_time={"times": np.linspace(0.0, 1.0, 11)},
        notes="Pressure is known up to a constant: its mean is that of the closed form.",
        source=exact.source,
    )
