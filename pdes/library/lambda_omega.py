"""The lambda-omega system: rotating waves and spirals."""

from __future__ import annotations

import numpy as np

from pdes.equation import Equation
from pdes.exact.lambda_omega_wave import lambda_omega_wave
from pdes.grid import Grid
from pdes.initial import RandomFourier
from pdes.invariant import Invariant
from pdes.library.ranges import check_range
from pdes.problem import Problem
from pdes.registry import register


def lambda_omega_equation(diffusivity: float = 0.1, rotation: float = 1.0) -> Equation:
    r"""Lambda-omega system in two dimensions, with ``A = u^2 + v^2``.

    ``u_t = d lap u + (1 - A) u + b A v`` and ``v_t = d lap v - b A u + (1 - A) v``.

    Parameters
    ----------
    diffusivity : float
        ``d`` in length squared per time, in (0, 100].
    rotation : float
        ``b``, rate of rotation at unit amplitude, in [-10, 10].

    Returns
    -------
    Equation

    Examples
    --------
    >>> lambda_omega_equation().fields
    ('u', 'v')
    """
    name = "lambda_omega"
    parameters = {
        "diffusivity": check_range(name, "diffusivity", diffusivity, 0.0, 100.0, open_low=True),
        "rotation": check_range(name, "rotation", rotation, -10.0, 10.0),
    }
    return Equation.from_text(
        [
            "u_t = diffusivity*(u_xx + u_yy) + (1 - u^2 - v^2)*u + rotation*(u^2 + v^2)*v",
            "v_t = diffusivity*(v_xx + v_yy) - rotation*(u^2 + v^2)*u + (1 - u^2 - v^2)*v",
        ],
        name=name,
        parameters=parameters,
    )


@register("lambda_omega", tags=["second tier", "2d", "nonlinear", "reaction", "system"])
def lambda_omega(diffusivity: float = 0.1, rotation: float = 1.0) -> Problem:
    """Random fields that organize into rotating waves on a torus of length 10."""
    equation = lambda_omega_equation(diffusivity, rotation)
    # Two wave lengths fit on the torus.
    wave = (2.0 * np.pi / 5.0, 0.0)
    fits = diffusivity * wave[0] ** 2 < 1.0
    return Problem(
        equation=equation,
        grid=Grid.periodic(x=(0.0, 10.0, 160), y=(0.0, 10.0, 160)),
        initial=RandomFourier(modes=2, amplitude=0.5, fields=("u", "v")),
        initial_seed=12,
        invariants=(
            Invariant(
                name="square",
                density="(u^2 + v^2)/2",
                law="balance",
                rate="(1 - u^2 - v^2)*(u^2 + v^2) - diffusivity*(u_x^2 + u_y^2 + v_x^2 + v_y^2)",
            ),
        ),
        times=np.linspace(0.0, 10.0, 101),
        time_step=0.1 / 4,
        exact={"wave": lambda_omega_wave(equation, wavevector=wave)} if fits else {},
    )
