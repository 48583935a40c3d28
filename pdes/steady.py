"""Problems without time: what is solved, where, with which data; and the call that solves them."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
import xarray as xr

from pdes.boundary import Boundary, Condition, check_boundary, describe, sides
from pdes.grid import Grid
from pdes.problem import Problem
from pdes.symbols import coordinate
from pdes.tokens import closest

if TYPE_CHECKING:
    from pdes.exact.steady_solution import SteadySolution
    from pdes.mesh import Mesh

__all__ = ["SOLVERS", "SteadyProblem", "SteadyState", "solve", "unknown"]

# Solver to the function ``(problem, **options) -> SteadyState`` behind it, imported on first use.
SOLVERS: dict[str, str] = {
    "cell_centered": "pdes.solvers.darcy:solve_darcy",
    "chebyshev": "pdes.solvers.collocation:solve_chebyshev",
    "fast_poisson": "pdes.solvers.elliptic:solve_box",
    "fast_sweeping": "pdes.solvers.eikonal:solve_eikonal",
    "finite_element": "pdes.solvers.finite_element:solve_finite_element",
    "helmholtz": "pdes.solvers.helmholtz:solve_helmholtz",
    "taylor_hood": "pdes.solvers.taylor_hood:solve_taylor_hood",
}


def unknown(name: str, coordinates: Sequence[str] = ("x", "y")) -> Any:
    """Field of a steady problem: a real function of space.

    Examples
    --------
    >>> unknown("u")
    u(x, y)
    """
    return sympy.Function(name, real=True)(*[coordinate(c) for c in coordinates])


@dataclass(frozen=True, kw_only=True, repr=False)
class SteadyProblem:
    """Everything that `pdes.solve` needs.

    Parameters
    ----------
    name : str
        What the problem is called.
    residual : mapping of str to sympy.Expr
        Field to an expression that is zero when solved. Fields are made by `unknown`, coordinates
        and parameters are real symbols, coefficients real functions of the coordinates. Elliptic
        equations are written with the sign of ``-div(a grad u) + ... - f``.
    domain : Grid or callable
        A grid, or a mesh recipe: a function ``resolution -> Mesh``.
    boundary : mapping
        Side to condition (or to a mapping of field to condition); see `pdes.boundary`.
    coordinates : tuple of str
        Spatial axes in order.
    parameters : mapping of str to float
        Values of the symbols left in the residual; `arguments` says what `pdes.get` was given.
    coefficients : mapping of str to sympy.Expr, array or callable
        Functions in the residual: an expression in the coordinates, an array on the grid, or a
        function ``(**coordinates) -> array``.
    flux : mapping of str to tuple of sympy.Expr, optional
        For each field the vector ``F`` in ``residual = -div F + ...`` whose normal component
        natural conditions prescribe, such as the rows of a stress tensor. Scalar equations need
        none: theirs is ``a grad u``.
    exact : mapping of str to SteadySolution
        Closed forms of this problem, by name.
    exact_name : str, optional
        Key of `exact` that is the solution with these very data.
    solver : str, default "finite_element"
        Solver used unless told otherwise.
    resolution : int, default 16
        Cells along a unit of the coarsest side; meshes only.
    options : mapping
        Arguments for the solver, such as ``{"degree": 2}``.
    notes, source : str
        What a user should know, and where the problem is from.
    arguments : mapping
        Name and parameters that `pdes.get` made it of, defaults included; empty if made by hand.
        What is replaced afterwards is not in it.
    in_time : mapping
        For those that `pdes.simulate` can follow in time as well (flow on Taylor-Hood elements,
        heated elastic bodies): ``times``, and for the latter ``heat_capacity`` and
        ``reference_temperature``.

    Raises
    ------
    ValueError
        If a parameter is not finite, a side has no condition or names do not fit together.

    Examples
    --------
    >>> import pdes
    >>> from pdes.boundary import Dirichlet
    >>> from pdes.mesh import Rectangle
    >>> u, x, y = unknown("u"), coordinate("x"), coordinate("y")
    >>> membrane = SteadyProblem(
    ...     name="membrane",
    ...     residual={"u": -u.diff(x, 2) - u.diff(y, 2) - 1},
    ...     domain=Rectangle(),
    ...     boundary={side: Dirichlet() for side in ("x-", "x+", "y-", "y+")},
    ... )
    >>> round(float(solve(membrane, resolution=16, degree=2).u.max()), 4)
    0.0737
    """

    name: str
    residual: Mapping[str, sympy.Expr]
    domain: Grid | Callable[[int], Mesh]
    boundary: Boundary
    coordinates: tuple[str, ...] = ("x", "y")
    parameters: Mapping[str, float] = field(default_factory=dict)
    coefficients: Mapping[str, Any] = field(default_factory=dict)
    flux: Mapping[str, tuple[sympy.Expr, ...]] | None = None
    exact: Mapping[str, SteadySolution] = field(default_factory=dict)
    exact_name: str | None = None
    solver: str = "finite_element"
    resolution: int = 16
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: str = ""
    source: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    in_time: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        from pdes.problem_text import steady_text

        return steady_text(self)

    def __repr__(self) -> str:
        fields = ", ".join(self.fields)
        return f"<SteadyProblem {self.name!r} of {fields} by {self.solver}>"

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            if not math.isfinite(value):
                raise ValueError(f"{self.name}: {name}={value} must be a finite number")
        for name in ("boundary", "options", "coefficients", "in_time"):
            if not isinstance(getattr(self, name), Mapping):
                raise ValueError(
                    f"{self.name}: {name}: got {getattr(self, name)!r}, wanted a mapping"
                )
        if self.exact_name is not None and self.exact_name not in self.exact:
            raise ValueError(f"exact_name={self.exact_name!r} is not among {sorted(self.exact)}")
        check_resolution(self.name, self.resolution)
        if not isinstance(self.domain, Grid) and not callable(self.domain):
            raise ValueError(
                f"{self.name}: domain: got {type(self.domain).__name__}, wanted a pdes.Grid, such "
                "as pdes.Grid((pdes.Axis('x', 0.0, 1.0, 33, periodic=False), ...)), or a function "
                "resolution -> Mesh, such as pdes.mesh.Rectangle()"
            )
        if isinstance(self.domain, Grid) and tuple(self.domain.names) != tuple(self.coordinates):
            raise ValueError(
                f"{self.name}: the grid has axes {self.domain.names}, the problem lives on "
                f"{self.coordinates}; give one axis for each, in this order"
            )
        if isinstance(self.domain, Grid):
            self.conditions(sides(self.domain))
        _check_symbols(self)

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields."""
        return tuple(self.residual)

    def conditions(self, names: Sequence[str]) -> dict[str, dict[str, Condition]]:
        """Condition for each side in `names` and each field; an error if one is missing."""
        return check_boundary(self.boundary, names, self.fields)

    @property
    def equation(self) -> str:
        """The equations as text, for listings."""
        return "; ".join(f"{expression} = 0" for expression in self.residual.values())

    def latex(self) -> str:
        """LaTeX of the equations, one line each."""
        return r" \\ ".join(f"{sympy.latex(e)} = 0" for e in self.residual.values())


@dataclass(frozen=True, kw_only=True)
class SteadyState:
    """What a solver of steady problems returns.

    Parameters
    ----------
    fields : mapping of str to ndarray
        On the grid, or on the points of the mesh.
    coordinates : mapping of str to ndarray, optional
        One-dimensional coordinates where they differ from the grid's own, such as cell centers.
    points, cells : ndarray, optional
        Points ``(n, d)`` and connectivity ``(m, k)`` of a mesh.
    cell_type : str
        Kind of the cells, in meshio's words.
    status, message : str
        ``"ok"``, or what went wrong.
    residual_norm : float
        Of the discrete equations, relative to their data.
    iterations : int
        Of the linear or nonlinear solver; 0 for a direct one.
    errors : mapping
        Field to norms of the error against the closed form, if the problem has one.
    record : mapping
        What describes the solver: name, order, number of unknowns, ...
    """

    fields: Mapping[str, np.ndarray]
    coordinates: Mapping[str, np.ndarray] | None = None
    points: np.ndarray | None = None
    cells: np.ndarray | None = None
    cell_type: str = ""
    status: str = "ok"
    message: str = ""
    residual_norm: float = 0.0
    iterations: int = 0
    errors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)


def solve(
    problem: SteadyProblem | str,
    solver: str | None = None,
    *,
    resolution: int | None = None,
    **options: Any,
) -> xr.Dataset:
    """Solve a steady problem and return its fields as a labeled dataset.

    Parameters
    ----------
    problem : SteadyProblem or str
        From `pdes.get`, made by hand, or the name of an entry with its own parameters.
    solver : str, optional
        One of `SOLVERS`; the problem's own by default.
    resolution : int, optional
        Refinement of the mesh; the problem's own by default. Grids carry theirs.
    **options
        For the solver, in place of the problem's own; for finite elements ``degree``.

    Returns
    -------
    xarray.Dataset
        Dims are the axes of the grid, or ``point`` and ``cell`` with the connectivity in
        ``cells``. The attributes hold equation, parameters, boundary, solver, status, the norm of
        the residual, the number of iterations and, where the solution is known, its errors.

    Raises
    ------
    ValueError
        If the solver or an argument does not fit the problem.
    ConvergenceError
        If an iteration ends above its tolerance.

    Examples
    --------
    >>> import pdes
    >>> data = solve(pdes.get("poisson_peak"), resolution=8)
    >>> data.u.dims, data.attrs["status"]
    (('point',), 'ok')
    """
    given: Any = problem
    found: Any = problem
    if isinstance(given, str):
        found = importlib.import_module("pdes.registry").get(given)
    if isinstance(found, Problem):
        what = repr(given) if isinstance(given, str) else f"the Problem {found.equation.name!r}"
        raise ValueError(
            f"problem: got {what}, which changes with time, wanted a SteadyProblem: use "
            f"pdes.simulate({repr(given) if isinstance(given, str) else 'problem'})"
        )
    if not isinstance(found, SteadyProblem):
        raise ValueError(
            f"problem: got {type(found).__name__}, wanted a SteadyProblem, from pdes.get or made "
            "by hand, or a name of pdes.available()"
        )
    problem = found
    name = problem.solver if solver is None else solver
    if name not in SOLVERS:
        raise ValueError(
            f"{problem.name}: unknown solver {name!r}.{closest(str(name), SOLVERS)} Known: "
            f"{sorted(SOLVERS)}"
        )
    if resolution is not None:
        check_resolution(problem.name, resolution)
    module, function = SOLVERS[name].split(":")
    run = getattr(importlib.import_module(module), function)
    from pdes.solvers.steady_size import check_solver_memory

    arguments = {**(problem.options if name == problem.solver else {}), **options}
    if not isinstance(problem.domain, Grid):
        arguments["resolution"] = problem.resolution if resolution is None else resolution
    elif resolution is not None:
        raise ValueError(_grid_not_mesh(problem, resolution))
    _check_options(problem, name, run, arguments)
    check_solver_memory(problem, name, arguments)
    state = run(problem, **arguments)
    return _dataset(problem, name, state)


def check_resolution(name: str, resolution: Any) -> None:
    """Refuse a resolution of a mesh that is no whole number of at least one.

    Parameters
    ----------
    name : str
        Of the problem.
    resolution : object
        What was given.

    Raises
    ------
    ValueError
    """
    whole = isinstance(resolution, numbers.Integral) and not isinstance(resolution, bool)
    if not whole or int(resolution) < 1:
        raise ValueError(
            f"{name}: resolution={resolution!r} ({type(resolution).__name__}), wanted a whole "
            "number of cells along a unit of length, at least 1, such as resolution=16"
        )


def _grid_not_mesh(problem: SteadyProblem, resolution: Any) -> str:
    """Why a resolution does not apply to a problem on a grid, and what does."""
    from pdes.registry import entry_of

    try:
        own = [n for n in ("points", "cells") if n in entry_of(problem.name).parameters]
    except ValueError:
        own = []
    how = f"pdes.get({problem.name!r}, {own[0]}={resolution})" if own else "domain=pdes.Grid(...)"
    return (
        f"{problem.name}: resolution={resolution} is for meshes, and the domain is a grid of "
        f"{' x '.join(map(str, problem.domain.shape))} points: refine it with {how}"  # type: ignore[union-attr]
    )


def _check_options(
    problem: SteadyProblem, solver: str, run: Callable[..., Any], arguments: Mapping[str, Any]
) -> None:
    """Refuse options that the solver does not have, with the closest one that it has."""
    known = [name for name in inspect.signature(run).parameters if name != "problem"]
    if "resolution" in known and "resolution" not in arguments:
        raise ValueError(
            f"{problem.name}: solver {solver!r} works on meshes and the domain is a grid; use "
            f"{problem.solver!r}, or give a mesh recipe such as pdes.mesh.Rectangle() as the domain"
        )
    for name in arguments:
        if name == "resolution" and name not in known:
            raise ValueError(
                f"{problem.name}: solver {solver!r} works on grids and the domain is a mesh; use "
                "'finite_element', or give a Grid as the domain"
            )
        if isinstance(arguments[name], bool) and name in ("degree", "tolerance"):
            raise ValueError(f"{problem.name}: {name}={arguments[name]}, wanted a number")
        if name not in known:
            raise ValueError(
                f"{problem.name}: solver {solver!r} has no option {name!r}."
                f"{closest(name, ['solver', *known])} It takes {', '.join(known)}"
            )


def _dataset(problem: SteadyProblem, solver: str, state: SteadyState) -> xr.Dataset:
    from pdes.simulate import checksum

    coordinates: dict[str, Any] = {}
    variables: dict[str, Any] = {}
    if isinstance(problem.domain, Grid):
        dims: tuple[str, ...] = tuple(problem.domain.names)
        own = problem.domain.coordinates() | dict(state.coordinates or {})
        for axis in problem.domain.axes:
            attributes = {
                "long_name": f"coordinate {axis.name}",
                "units": "1",
                "periodic": int(axis.periodic),
                "length": float(axis.length),
            }
            coordinates[axis.name] = (axis.name, own[axis.name], attributes)
    else:
        assert state.points is not None
        dims = ("point",)
        for place, axis in enumerate(problem.coordinates):
            attributes = {"long_name": f"coordinate {axis}", "units": "1"}
            coordinates[axis] = ("point", state.points[:, place], attributes)
        attributes = {"long_name": "points of each cell", "cell_type": state.cell_type}
        variables["cells"] = (("cell", "vertex"), state.cells, attributes)
    for name, values in state.fields.items():
        lead = ("sample",) if values.ndim > len(dims) else ()
        variables[name] = (
            (*lead, *dims),
            values,
            {"long_name": name, "units": "1", "sha256": checksum(values)},
        )
    return xr.Dataset(variables, coordinates, _attributes(problem, solver, state))


def _attributes(problem: SteadyProblem, solver: str, state: SteadyState) -> dict[str, Any]:
    return {
        **provenance(problem),
        "solver": json.dumps({"name": solver, **state.record}),
        "status": state.status,
        "message": state.message,
        "residual_norm": float(state.residual_norm),
        "iterations": int(state.iterations),
        "errors": json.dumps({name: dict(norms) for name, norms in state.errors.items()}),
    }


def provenance(problem: SteadyProblem) -> dict[str, Any]:
    """What a dataset says of the problem that it solves."""
    version = importlib.import_module("pdes").__version__
    return {
        "name": problem.name,
        "equation": problem.equation,
        "latex": problem.latex(),
        "parameters": json.dumps(dict(problem.parameters)),
        "arguments": json.dumps(dict(problem.arguments)),
        "boundary": json.dumps(describe(problem.boundary)),
        "source": problem.source,
        "notes": problem.notes,
        "version": f"pdes {version}",
        "library_versions": json.dumps({"numpy": np.__version__, "xarray": xr.__version__}),
    }


def _check_symbols(problem: SteadyProblem) -> None:
    """Refuse a residual in symbols that have no value."""
    known = {*problem.coordinates, *problem.parameters}
    for name, expression in problem.residual.items():
        free = {str(symbol) for symbol in expression.free_symbols}
        functions = {f.func.__name__ for f in expression.atoms(sympy.core.function.AppliedUndef)}
        for missing in sorted(free - known):
            raise ValueError(
                f"{problem.name}: the residual of {name!r} contains {missing!r}, which is neither "
                f"a coordinate nor among the parameters {sorted(problem.parameters)}"
            )
        for missing in sorted(functions - {*problem.fields, *problem.coefficients}):
            raise ValueError(
                f"{problem.name}: the residual of {name!r} contains the function {missing!r}, "
                f"neither a field nor among the coefficients {sorted(problem.coefficients)}"
            )
