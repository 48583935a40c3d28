"""Which spectral right-hand side an equation is solved with."""

from __future__ import annotations

from pdes.equation import Equation
from pdes.incompressible import VelocityEquation, VorticityEquation
from pdes.solvers.incompressible import VelocityKernel, VorticityKernel
from pdes.solvers.spectral import PseudoSpectral


def kernel_class(equation: Equation) -> type[PseudoSpectral]:
    """Class of the right-hand side: a special form where there is a cheaper one.

    Parameters
    ----------
    equation : Equation
        What is to be solved on a periodic box.

    Returns
    -------
    type

    Examples
    --------
    >>> from pdes import Equation
    >>> kernel_class(Equation.from_text("u_t = u_xx")).__name__
    'PseudoSpectral'
    """
    special: dict[type[Equation], type[PseudoSpectral]] = {
        VorticityEquation: VorticityKernel,
        VelocityEquation: VelocityKernel,
    }
    for kind, kernel in special.items():
        if isinstance(equation, kind):
            return kernel
    return PseudoSpectral
