"""Describing a registered problem: parameters, domain, solvers, solutions, limits."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from pdes.boundary import describe as describe_boundary
from pdes.description import Description, Parameter
from pdes.grid import Grid
from pdes.incompressible import VelocityEquation
from pdes.library.limits import noted_limits
from pdes.library.meanings import meaning_of
from pdes.problem import Problem
from pdes.problem_text import domain_text, initial_text, residual_text
from pdes.registry import Entry, entry_of
from pdes.solvers.line_solvers import LINE_SOLVERS
from pdes.solvers.mesh_march import march_of
from pdes.solvers.table import SOLVERS
from pdes.steady import SteadyProblem
from pdes.time.integrator import INTEGRATORS

__all__ = ["describe"]

_TRIAL_POINTS = 16
"""Points along an axis of the grid on which solvers are asked whether they take a problem."""

_STEADY_ORDERS = {
    "cell_centered": "order 2",
    "chebyshev": "spectral",
    "fast_poisson": "order 2, or 4 with order=4",
    "fast_sweeping": "order 1",
    "finite_element": "order degree + 1 in the mean square, degree in the gradient",
    "helmholtz": "order 2",
    "taylor_hood": "order 3 for velocities, 2 for pressure",
}


def describe(name: str) -> Description:
    """Everything there is to know of a registered problem before using it.

    Parameters
    ----------
    name : str
        Name or alias; `pdes.available` lists them.

    Returns
    -------
    Description
        ``print`` gives a page; the fields hold the same as data.

    Raises
    ------
    ValueError
        For an unknown name; the closest one is offered.

    Examples
    --------
    >>> import pdes
    >>> viscosity = pdes.describe("burgers").parameters[0]
    >>> viscosity.default, viscosity.low, viscosity.high, viscosity.unit
    (0.1, 0.0001, 10.0, 'L^2/T')
    """
    entry = entry_of(name)
    with noted_limits() as limits:
        problem = entry.build()
    lines = (entry.build.__doc__ or "").strip().splitlines()
    common: dict[str, Any] = {
        "name": entry.name,
        "summary": lines[0].replace("``", "") if lines else "",
        "aliases": entry.aliases,
        "tags": tuple(sorted(entry.tags)),
        "parameters": _parameters(entry, limits),
        "latex": problem.latex()
        if isinstance(problem, SteadyProblem)
        else problem.equation.latex(),
        "boundary": _boundary(problem),
        "source": problem.source,
    }
    if isinstance(problem, SteadyProblem):
        return Description(**common, **_steady(problem))
    return Description(**common, **_evolution(problem))


def _parameters(entry: Entry, limits: Mapping[str, Any]) -> tuple[Parameter, ...]:
    told = documented(entry.build)
    found = []
    for name, default in entry.parameters.items():
        meaning, unit = meaning_of(entry.name, name)
        bounds: dict[str, Any] = {}
        if name in limits:
            limit = limits[name]
            bounds = {"choices": limit.choices, "allowed": str(limit), "open_low": limit.open_low}
            if not limit.choices:
                bounds |= {"low": float(limit.low), "high": float(limit.high)}
        found.append(
            Parameter(
                name=name,
                default=None if default is inspect.Parameter.empty else default,
                meaning=told.get(name) or meaning,
                unit=unit,
                **bounds,
            )
        )
    return tuple(found)


def documented(function: Any) -> dict[str, str]:
    """Parameters of a function with what its NumPy-style docstring says of them.

    Examples
    --------
    >>> documented(describe)
    {'name': 'Name or alias; `pdes.available` lists them.'}
    """
    text = inspect.cleandoc(function.__doc__ or "")
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", text, re.S | re.M)
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section.group(1).splitlines() if section else []:
        if line and not line[0].isspace():
            names = [name.strip() for name in line.split(":")[0].split(",")]
            found |= dict.fromkeys(names, "")
        else:
            found |= {name: f"{found[name]} {line.strip()}".strip() for name in names}
    return found


def _evolution(problem: Problem) -> dict[str, Any]:
    times = problem.times
    limits = [problem.notes] if problem.notes else []
    if problem.largest_spacing is not None:
        limits.append(f"spacings of the grid up to {problem.largest_spacing:g}: coarser is refused")
    return {
        "kind": "evolution",
        "equation": str(problem.equation),
        "coefficients": dict(problem.equation.parameters),
        "domain": domain_text(problem.grid, problem.strides),
        "times": f"{len(times)} from {times[0]:g} to {times[-1]:g}",
        "initial": initial_text(problem),
        "families": _families(problem),
        "solvers": _solvers(problem),
        "exact": {name: _validity(name, form, problem) for name, form in problem.exact.items()},
        "invariants": {
            each.name: each.law + (f" ({each.note})" if each.note else "")
            for each in problem.invariants
        },
        "limits": tuple(limits),
    }


def _steady(problem: SteadyProblem) -> dict[str, Any]:
    place = problem.domain
    domain = f"{type(place).__name__} mesh, resolution {problem.resolution}"
    if isinstance(place, Grid):
        domain = domain_text(place)
    march, times = march_of(problem), problem.in_time.get("times")
    in_time = {march.name: f"order {march.order} in time, by pdes.simulate"} if march else {}
    return {
        "kind": "steady",
        "equation": "\n".join(f"0 = {residual_text(e)}" for e in problem.residual.values()),
        "coefficients": dict(problem.parameters),
        "domain": domain,
        "solvers": {problem.solver: _STEADY_ORDERS.get(problem.solver, ""), **in_time},
        "times": "" if times is None else f"{len(times)} from {times[0]:g} to {times[-1]:g}",
        "exact": {
            name: "the solution of these data" if name == problem.exact_name else form.source
            for name, form in problem.exact.items()
        },
        "limits": (problem.notes,) if problem.notes else (),
    }


def _families(problem: Problem) -> tuple[str, ...]:
    """Families of `pdes.initial` that can draw the fields of a problem on its grid."""
    fields, axes = problem.equation.fields, problem.grid.axes
    periodic = all(axis.periodic for axis in axes)
    if isinstance(problem.equation, VelocityEquation):
        # Anything else has a divergence.
        return ("TurbulentVelocity", "FromExpression") if periodic else ("FromExpression",)
    found = []
    if periodic:
        found += ["RandomFourier", "DecayingFourier"]
    found.append("GaussianRandomField")
    if len(axes) == 1 and len(fields) == 1 and periodic:
        found.append("WindowedSines")
    if periodic and len(fields) == 1:
        found.append("GaussianClusters")
    return (*found, "FromExpression")


def _boundary(problem: Problem | SteadyProblem) -> dict[str, str]:
    if isinstance(problem, Problem) and not problem.boundary:
        open_axes = [axis.name for axis in problem.grid.axes if not axis.periodic]
        if not open_axes:
            return {"all sides": "periodic"}
        return {", ".join(open_axes): "open: the closed form is sampled"}
    return {side: _condition(given) for side, given in describe_boundary(problem.boundary).items()}


def _condition(given: Mapping[str, Any]) -> str:
    if "kind" not in given:
        return "; ".join(f"{name} {_condition(each)}" for name, each in given.items())
    data = ", ".join(f"{name} {value}" for name, value in given.items() if name != "kind")
    text = f"{given['kind']}" + (f" ({data})" if data else "")
    return text if len(text) <= 80 else f"{given['kind']} (of the closed form)"


def _solvers(problem: Problem) -> dict[str, str]:
    """Solvers that take a problem, asked on a coarse grid, with their orders."""
    axes = [dataclasses.replace(axis, points=_TRIAL_POINTS) for axis in problem.grid.axes]
    brief = dataclasses.replace(
        problem,
        grid=Grid(tuple(axes)),
        times=np.array([problem.initial_time]),
        discard=0.0,
        stored_points=None,
        largest_spacing=None,
    )
    names = [name for name in SOLVERS if name != problem.solver and _takes(brief, name)]
    return {name: _order(name) for name in (problem.solver, *names)}


def _takes(brief: Problem, solver: str) -> bool:
    """Whether a solver gives back the initial field; a level may be refused where 0 is not."""
    from pdes.simulate import simulate

    for level in (1.0, 0.0):
        fields = {name: np.full(brief.grid.shape, level) for name in brief.equation.fields}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                simulate(brief, initial=fields, solver=solver, strict=False)
        except (ValueError, TypeError, NotImplementedError):
            continue
        return True
    return False


def _order(solver: str) -> str:
    if solver == "exact":
        return "samples the closed form"
    space = "spectral in space"
    if solver in LINE_SOLVERS and LINE_SOLVERS[solver].space_order is not None:
        space = f"order {LINE_SOLVERS[solver].space_order} in space"
    elif solver not in INTEGRATORS and solver not in LINE_SOLVERS:
        space = "order 2 in space"
    return f"order {SOLVERS[solver].order} in time, {space}"


def _validity(name: str, form: Any, problem: Problem) -> str:
    start, stop = getattr(form, "start", -math.inf), getattr(form, "stop", math.inf)
    parts = []
    if name == problem.exact_name:
        parts.append("the solution of this very problem")
    if math.isfinite(start) or math.isfinite(stop):
        parts.append(f"for times in [{start:g}, {stop:g}]")
    return ", ".join(parts)
