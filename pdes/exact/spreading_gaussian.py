"""A Gaussian that drifts and spreads."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def spreading_gaussian(equation: Equation, *, width: float = 1.0) -> ExactSolution:
    r"""Gaussian of unit height at time zero under advection and diffusion.

    ``u = width/s * exp(-(x - speed*t)^2/(2 s^2))`` with ``s^2 = width^2 + 2*diffusivity*t``.

    Parameters
    ----------
    equation : Equation
        With a parameter ``diffusivity``, and ``speed`` if it advects.
    width : float, default 1
        Standard deviation at time zero, positive.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.heat import heat_equation
    >>> spreading_gaussian(heat_equation()).residual() < 1e-25
    True
    """
    if not width > 0.0:
        raise ValueError(f"width must be positive, got {width}")
    x, sigma = coordinate("x"), parameter("width")
    speed = parameter("speed") if "speed" in equation.parameters else sympy.S.Zero
    variance = sigma**2 + 2 * parameter("diffusivity") * TIME
    drifted = x - speed * TIME
    return ExactSolution(
        name="spreading_gaussian",
        equation=equation,
        fields={"u": sigma / sympy.sqrt(variance) * sympy.exp(-(drifted**2) / (2 * variance))},
        parameters={"width": width},
        start=0.0,
        source="heat kernel",
    )
