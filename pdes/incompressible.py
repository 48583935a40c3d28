r"""Incompressible flow in the plane as equations: vorticity form and velocity form.

Conventions: vorticity ``w = v_x - u_y``; streamfunction with ``u = psi_y``, ``v = -psi_x``, so that
``w = -(psi_xx + psi_yy)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import sympy

from pdes.constrained import ConstrainedEquation
from pdes.equation import coordinate, field, parameter

__all__ = ["VelocityEquation", "VorticityEquation"]

_AXES = ("x", "y")


@dataclass(frozen=True, kw_only=True, eq=False)
class VorticityEquation(ConstrainedEquation):
    """``w_t + u w_x + v w_y = viscosity lap w - drag w + forcing`` with the streamfunction ``psi``.

    Examples
    --------
    >>> print(VorticityEquation.of(viscosity=0.01))
    w_t = -w_x*psi_y + w_y*psi_x + 0.01*w_xx + 0.01*w_yy
    0 = w + psi_xx + psi_yy
    """

    @classmethod
    def of(
        cls,
        *,
        viscosity: float,
        drag: float = 0.0,
        forcing: sympy.Expr | float = 0.0,
        name: str = "navier_stokes",
    ) -> Self:
        """Equation with these coefficients.

        Parameters
        ----------
        viscosity : float
            Kinematic, in length squared per time.
        drag : float, default 0
            Rayleigh friction, per time.
        forcing : sympy.Expr or float, default 0
            Curl of the body force, in ``x``, ``y`` and ``t``.
        name : str
            What to call it.

        Returns
        -------
        VorticityEquation
        """
        x, y = coordinate("x"), coordinate("y")
        w, psi = field("w", _AXES), field("psi", _AXES)
        values = {"viscosity": viscosity} | ({"drag": drag} if drag else {})
        rate = psi.diff(x) * w.diff(y) - psi.diff(y) * w.diff(x)
        rate += parameter("viscosity") * (w.diff(x, 2) + w.diff(y, 2)) + forcing
        if drag:
            rate -= parameter("drag") * w
        return cls(
            name=name,
            rhs={"w": rate},
            constraints={"psi": w + psi.diff(x, 2) + psi.diff(y, 2)},
            parameters=values,
            coordinates=_AXES,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class VelocityEquation(ConstrainedEquation):
    """``u_t + u u_x + v u_y = -p_x + viscosity lap u - drag u + force``, likewise ``v``.

    The density is one. The pressure ``p`` keeps ``u_x + v_y = 0``.

    Examples
    --------
    >>> print(VelocityEquation.of(viscosity=0.01))
    u_t = -p_x - u*u_x - v*u_y + 0.01*u_xx + 0.01*u_yy
    v_t = -p_y - u*v_x - v*v_y + 0.01*v_xx + 0.01*v_yy
    0 = u_x + v_y
    """

    @classmethod
    def of(
        cls,
        *,
        viscosity: float,
        drag: float = 0.0,
        force: tuple[sympy.Expr | float, sympy.Expr | float] = (0.0, 0.0),
        name: str = "navier_stokes_velocity",
    ) -> Self:
        """Equation with these coefficients.

        Parameters
        ----------
        viscosity : float
            Kinematic, in length squared per time.
        drag : float, default 0
            Rayleigh friction, per time.
        force : tuple of sympy.Expr or float
            Body force along both axes, in ``x``, ``y`` and ``t``.
        name : str
            What to call it.

        Returns
        -------
        VelocityEquation
        """
        x, y = coordinate("x"), coordinate("y")
        u, v, p = (field(name, _AXES) for name in ("u", "v", "p"))
        rhs = {}
        for key, velocity, axis, push in (("u", u, x, force[0]), ("v", v, y, force[1])):
            rate = -u * velocity.diff(x) - v * velocity.diff(y) - p.diff(axis) + push
            rate += parameter("viscosity") * (velocity.diff(x, 2) + velocity.diff(y, 2))
            rhs[key] = rate - parameter("drag") * velocity if drag else rate
        return cls(
            name=name,
            rhs=rhs,
            constraints={"p": u.diff(x) + v.diff(y)},
            parameters={"viscosity": viscosity} | ({"drag": drag} if drag else {}),
            coordinates=_AXES,
        )
