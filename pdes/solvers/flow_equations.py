"""The equations of steady incompressible flow, which entries and solvers share."""

from __future__ import annotations

from typing import Any

from pdes.steady import unknown
from pdes.symbols import coordinate, parameter

FIELDS = ("u", "v", "p")


def flow_residual() -> dict[str, Any]:
    """Equations of steady flow of density one, without forces.

    Returns
    -------
    dict of str to sympy.Expr
        In the fields ``u``, ``v``, ``p`` and the parameter ``viscosity``.

    Examples
    --------
    >>> flow_residual()["p"]
    Derivative(u(x, y), x) + Derivative(v(x, y), y)
    """
    x, y, viscosity = coordinate("x"), coordinate("y"), parameter("viscosity")
    u, v, p = (unknown(name) for name in FIELDS)

    def momentum(w: Any, along: Any) -> Any:
        drag = viscosity * (w.diff(x, 2) + w.diff(y, 2))
        return u * w.diff(x) + v * w.diff(y) + p.diff(along) - drag

    return {"u": momentum(u, x), "v": momentum(v, y), "p": u.diff(x) + v.diff(y)}
