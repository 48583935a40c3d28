"""A periodic solution of Burgers' equation by the Cole-Hopf transformation."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def cole_hopf(
    equation: Equation, *, wavenumber: float = 1.0, offset: float = 1.05
) -> ExactSolution:
    r"""One mode of the heat equation, transformed: steep for an offset close to one.

    ``u = 2 nu k E sin(k x)/(offset + E cos(k x))`` with ``E = exp(-nu k^2 t)``, which is
    ``-2 nu (log phi)_x`` for the solution ``phi = offset + E cos(k x)`` of the heat equation.

    Parameters
    ----------
    equation : Equation
        Burgers' equation with a parameter ``viscosity``.
    wavenumber : float, default 1
        ``k`` in radians per length.
    offset : float, default 1.05
        Greater than 1.

    Returns
    -------
    ExactSolution
        Valid from time zero.

    Raises
    ------
    ValueError
        If `offset` is not greater than 1: the solution would have poles.

    Examples
    --------
    >>> from pdes.library.burgers import burgers_equation
    >>> cole_hopf(burgers_equation(0.05)).residual() < 1e-25
    True
    """
    if not offset > 1.0:
        raise ValueError(f"offset must be greater than 1, got {offset}: the solution has poles")
    x, k = coordinate("x"), parameter("wavenumber")
    viscosity = parameter("viscosity")
    decay = sympy.exp(-viscosity * k**2 * TIME)
    u = 2 * viscosity * k * decay * sympy.sin(k * x)
    return ExactSolution(
        name="cole_hopf",
        equation=equation,
        fields={"u": u / (parameter("offset") + decay * sympy.cos(k * x))},
        parameters={"wavenumber": wavenumber, "offset": offset},
        start=0.0,
        source="Cole (1951), Hopf (1950)",
    )
