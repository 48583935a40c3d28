"""What there is to know of a registered problem, and how it reads."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Description", "Parameter"]

_WIDTH = 96


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """An argument that `pdes.get` takes for a problem.

    Parameters
    ----------
    name : str
        What it is called.
    default : object
        Its value unless told otherwise.
    meaning, unit : str
        What it is; the unit in powers of length L, time T and the unit U of the field.
    low, high : float, optional
        Closed range.
    open_low : bool, default False
        Whether `low` itself is excluded.
    choices : tuple
        All values that will do, if they are few.
    allowed : str
        The range or the choices as text.
    """

    name: str
    default: Any
    meaning: str = ""
    unit: str = ""
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    choices: tuple[Any, ...] = ()
    allowed: str = ""


@dataclass(frozen=True, kw_only=True)
class Description:
    """Answer of `pdes.describe`; printing it gives a page to read.

    Parameters
    ----------
    name, summary : str
        Of the problem.
    kind : {"evolution", "steady"}
        ``"evolution"`` is for `pdes.simulate`, ``"steady"`` for `pdes.solve`.
    aliases, tags : tuple of str
        Other names, and words to select by.
    equation, latex : str
        With the default values of the parameters.
    parameters : tuple of Parameter
        What `pdes.get` takes.
    coefficients : mapping of str to float
        Values of the symbols that stand in the equation, made of the parameters.
    domain : str
        Grid or mesh.
    boundary : mapping of str to str
        Side to condition.
    times : str
        Default output times; empty for steady problems.
    initial : str
        Default initial field.
    families : tuple of str
        Families of `pdes.initial` that fit.
    solvers : mapping of str to str
        Name to order, the default first.
    exact : mapping of str to str
        Closed forms, with the times for which they hold.
    invariants : mapping of str to str
        Name to law.
    limits : tuple of str
        What must hold for the results to mean something.
    source : str
        Where it was published.
    """

    name: str
    summary: str
    kind: str
    equation: str
    latex: str
    domain: str
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    coefficients: Mapping[str, float] = field(default_factory=dict)
    boundary: Mapping[str, str] = field(default_factory=dict)
    times: str = ""
    initial: str = ""
    families: tuple[str, ...] = ()
    solvers: Mapping[str, str] = field(default_factory=dict)
    exact: Mapping[str, str] = field(default_factory=dict)
    invariants: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[str, ...] = ()
    source: str = ""

    def __str__(self) -> str:
        called = f" (also {', '.join(self.aliases)})" if self.aliases else ""
        run = "pdes.simulate" if self.kind == "evolution" else "pdes.solve"
        parts = [
            *_wrapped(f"{self.name}{called}: {self.summary}"),
            f"{run}(pdes.get({self.name!r}))    tags: {', '.join(self.tags)}",
            "",
            *_section("equation", self.equation.splitlines()),
            *_section("parameters of pdes.get", self._table() or ["none"]),
            *_section("symbols", [f"{k} = {v:g}" for k, v in self._derived().items()]),
            *_section("domain", [self.domain]),
            *_section("boundary", _pairs(self.boundary)),
            *_section("output times", [self.times]),
            *_section("initial field", [self.initial]),
            *_section("families that fit", [", ".join(self.families)]),
            *_section("solvers, the default first", _pairs(self.solvers)),
            *_section("exact solutions", _pairs(self.exact)),
            *_section("invariants", _pairs(self.invariants)),
            *_section("limits", self.limits),
            *_section("source", [self.source]),
        ]
        return "\n".join(parts).rstrip()

    def _derived(self) -> dict[str, float]:
        """Symbols of the equation that are no parameters of `pdes.get`."""
        own = {parameter.name for parameter in self.parameters}
        return {name: value for name, value in self.coefficients.items() if name not in own}

    def _table(self) -> list[str]:
        rows = []
        for each in self.parameters:
            unit = f" [{each.unit}]" if each.unit not in ("", "1") else ""
            rows.append(
                (f"{each.name} = {_number(each.default)}", each.allowed, f"{each.meaning}{unit}")
            )
        widths = [max((len(row[k]) for row in rows), default=0) for k in (0, 1)]
        return [
            f"{first:<{widths[0]}}  {second:<{widths[1]}}  {third}".rstrip()
            for first, second, third in rows
        ]


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _section(title: str, lines: Any) -> list[str]:
    """A title and its lines, or nothing if there are none."""
    kept = [piece for line in lines if line for piece in _wrapped(line, indent="  ")]
    return [title, *kept] if kept else []


def _pairs(mapping: Mapping[str, str]) -> list[str]:
    return [f"{name}: {text}" if text else name for name, text in mapping.items()]


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width=_WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  " * bool(indent),
        break_long_words=False,
        drop_whitespace=True,
        replace_whitespace=False,
    )
