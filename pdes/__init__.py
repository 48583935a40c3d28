"""What a partial differential equation is, and its classical solution.

Public names load on first use, so that ``import pdes`` costs next to nothing.

Examples
--------
>>> import pdes
>>> problem = pdes.get("burgers", viscosity=0.1)
>>> print(problem.equation)
u_t = -u*u_x + 0.1*u_xx
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Axis": "pdes.grid",
    "Equation": "pdes.equation",
    "Grid": "pdes.grid",
    "Problem": "pdes.problem",
    "SolverDivergence": "pdes.simulate",
    "StabilityError": "pdes.simulate",
    "SteadyProblem": "pdes.steady",
    "animate": "pdes.animation",
    "available": "pdes.registry",
    "describe": "pdes.describe_entry",
    "generate": "pdes.data.generate",
    "get": "pdes.registry",
    "load": "pdes.data.store",
    "plot": "pdes.plot",
    "read": "pdes.data.reader",
    "register": "pdes.registry",
    "save": "pdes.data.store",
    "simulate": "pdes.simulate",
    "solve": "pdes.steady",
    "verify": "pdes.data.verification",
}
_ROOMS = ("data", "exact", "initial", "library", "solvers", "time")

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(f"pdes.{name}")
    raise AttributeError(f"module 'pdes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])


if TYPE_CHECKING:
    from pdes.animation import animate
    from pdes.data.generate import generate
    from pdes.data.reader import read
    from pdes.data.store import load, save
    from pdes.data.verification import verify
    from pdes.describe_entry import describe
    from pdes.equation import Equation
    from pdes.grid import Axis, Grid
    from pdes.plot import plot
    from pdes.problem import Problem
    from pdes.registry import available, get, register
    from pdes.simulate import SolverDivergence, StabilityError, simulate
    from pdes.steady import SteadyProblem, solve
