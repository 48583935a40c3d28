"""Problems in a few lines, as ``print`` shows them."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pdes.boundary import describe
from pdes.grid import Grid

if TYPE_CHECKING:
    from pdes.problem import Problem
    from pdes.steady import SteadyProblem

__all__ = ["call_text", "domain_text", "initial_text", "problem_text", "residual_text"]

_LONGEST = 240
"""Characters of an equation that are shown; a manufactured source may fill a page."""


def problem_text(problem: Problem) -> str:
    """An evolution problem in a short block.

    Examples
    --------
    >>> import pdes
    >>> print(problem_text(pdes.get("heat_one_mode")))
    heat: u_t = 0.1*u_xx
      made by     pdes.get('heat_one_mode', diffusivity=0.1)
      domain      x in [0, 6.28319), periodic, 256 points
      ...
    """
    times = problem.times
    step = "" if problem.time_step is None else f", time step {problem.time_step:g}"
    lines = {
        "made by": call_text(problem.arguments),
        "domain": domain_text(problem.grid, problem.strides),
        "boundary": _boundary_text(problem.boundary),
        "initial": initial_text(problem),
        "times": f"{len(times)} from {times[0]:g} to {times[-1]:g}",
        "solver": f"{problem.solver}{step}",
        "exact": ", ".join(problem.exact),
        "invariants": ", ".join(f"{each.name} ({each.law})" for each in problem.invariants),
        "notes": problem.notes,
    }
    return _block(problem.equation.name, str(problem.equation), lines)


def steady_text(problem: SteadyProblem) -> str:
    """A steady problem in a short block.

    Examples
    --------
    >>> import pdes
    >>> print(steady_text(pdes.get("laplace_l_shape")))
    laplace_l_shape: 0 = -u_xx - u_yy
      made by     pdes.get('laplace_l_shape', grading=1.0)
      domain      Fan mesh, resolution 16
      ...
    """
    domain: Any = problem.domain
    mesh = f"{getattr(domain, '__name__', type(domain).__name__)} mesh"
    symbols = ", ".join(f"{name} = {value:g}" for name, value in problem.parameters.items())
    lines = {
        "made by": call_text(problem.arguments),
        "symbols": symbols,
        "domain": domain_text(domain)
        if isinstance(domain, Grid)
        else f"{mesh}, resolution {problem.resolution}",
        "boundary": _boundary_text(problem.boundary),
        "solver": problem.solver,
        "exact": ", ".join(problem.exact),
        "notes": problem.notes,
    }
    equations = "\n".join(f"0 = {residual_text(e)}" for e in problem.residual.values())
    return _block(problem.name, equations, lines)


def call_text(arguments: Mapping[str, Any]) -> str:
    """The call of `pdes.get` that made a problem; empty for one made by hand.

    Examples
    --------
    >>> call_text({"name": "darcy", "cells": 32})
    "pdes.get('darcy', cells=32)"
    """
    if not arguments:
        return ""
    given = {key: value for key, value in arguments.items() if key != "name"}
    rest = "".join(f", {key}={value!r}" for key, value in given.items())
    return f"pdes.get({arguments['name']!r}{rest})"


def _boundary_text(boundary: Mapping[str, Any]) -> str:
    """Sides and the kinds of their conditions."""

    def kinds(given: Mapping[str, Any]) -> str:
        if "kind" in given:
            return str(given["kind"])
        return "/".join(dict.fromkeys(kinds(each) for each in given.values()))

    return ", ".join(f"{side} {kinds(given)}" for side, given in describe(boundary).items())


def _block(name: str, equations: str, lines: Mapping[str, str]) -> str:
    """A head of equations, and one labeled line each for what is not empty."""
    head = "\n".join(
        textwrap.shorten(line, 240, placeholder=" ...") for line in equations.splitlines()
    )
    several = "\n  " if "\n" in head else " "
    parts = [f"{name}:{several}{textwrap.indent(head, '  ').strip()}"]
    for label, text in lines.items():
        if text:
            short = textwrap.shorten(text, 240, placeholder=" ...")
            parts += textwrap.wrap(
                short, 96, initial_indent=f"  {label:<12}", subsequent_indent=" " * 14
            )
    return "\n".join(parts)


def residual_text(residual: Any) -> str:
    """A residual with derivatives as subscripts, cut where its source fills a page.

    Examples
    --------
    >>> from pdes.steady import unknown
    >>> from pdes.symbols import coordinate
    >>> u, x, y = unknown("u"), coordinate("x"), coordinate("y")
    >>> residual_text(u * u.diff(x, 2) - u.diff(x, y) + x * y)
    'x*y + u*u_xx - u_xy'
    """

    def subscripts(match: re.Match[str]) -> str:
        marks = re.findall(r"\((\w), (\d)\)|(\w)", match.group(2))
        return f"{match.group(1)}_" + "".join(a * int(n or 1) or b for a, n, b in marks)

    text = re.sub(
        r"Derivative\((\w+)\([xyz, ]*\), ((?:\(\w, \d\)|\w)(?:, (?:\(\w, \d\)|\w))*)\)",
        subscripts,
        str(residual),
    )
    text = re.sub(r"\b(\w+)\((?:x|x, y|x, y, z)\)", r"\1", text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def domain_text(grid: Grid, strides: tuple[int, ...] | None = None) -> str:
    """Axes of a grid in words.

    Examples
    --------
    >>> domain_text(Grid.periodic(x=(0.0, 1.0, 64)), (2,))
    'x in [0, 1), periodic, 64 points, every 2nd kept'
    """
    parts = []
    for axis, stride in zip(grid.axes, strides or (1,) * len(grid.axes), strict=True):
        closed = "), periodic" if axis.periodic else "]"
        kept = "" if stride == 1 else f", every {stride}{_ordinal(stride)} kept"
        parts.append(
            f"{axis.name} in [{axis.start:g}, {axis.stop:g}{closed}, {axis.points} points{kept}"
        )
    return "; ".join(parts)


def initial_text(problem: Problem) -> str:
    """Initial field of a problem in words."""
    given: Any = problem.initial
    if isinstance(given, Mapping):
        return "arrays on the grid"
    if inspect.ismethod(given):
        owner = getattr(given.__self__, "name", type(given.__self__).__name__)
        return f"the closed form {owner} at time {problem.initial_time:g}"
    if inspect.isfunction(given):
        doc = (given.__doc__ or "").strip().splitlines()
        return doc[0] if doc else f"the function {given.__name__}"
    text = repr(given)
    return text if len(text) <= 300 else f"{type(given).__name__}(...)"


def _ordinal(number: int) -> str:
    last = number % 10 if number % 100 not in (11, 12, 13) else 0
    return {1: "st", 2: "nd", 3: "rd"}.get(last, "th")
