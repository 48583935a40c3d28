"""Problems by name."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pdes.names import refuse_gradient
from pdes.problem import Problem
from pdes.steady import SteadyProblem

Builder = TypeVar("Builder", bound=Callable[..., Problem | SteadyProblem])


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A registered problem: its builder, tags and other names."""

    name: str
    build: Callable[..., Problem | SteadyProblem]
    tags: frozenset[str]
    aliases: tuple[str, ...]

    @property
    def parameters(self) -> dict[str, Any]:
        """Physical parameters and their defaults."""
        signature = inspect.signature(self.build)
        return {name: parameter.default for name, parameter in signature.parameters.items()}


_ENTRIES: dict[str, Entry] = {}
_NAMES: dict[str, str] = {}
# What a problem is made of cannot be replaced by name: its exact solutions would stay behind.
_FIXED = frozenset(
    {"arguments", "coefficients", "equation", "exact", "flux", "name", "parameters", "residual"}
)


def register(
    name: str, *, tags: Iterable[str] = (), aliases: Iterable[str] = ()
) -> Callable[[Builder], Builder]:
    """Register a function ``(**parameters) -> Problem``, or ``SteadyProblem``, under a name.

    Parameters
    ----------
    name : str
        What `get` is called with.
    tags : iterable of str
        Words that `available` can select by, such as ``"benchmark"``.
    aliases : iterable of str
        Other names for the same problem.

    Returns
    -------
    callable
        Decorator that returns the function unchanged.

    Raises
    ------
    ValueError
        If a name is taken by another function.

    Examples
    --------
    >>> import dataclasses, pdes
    >>> @pdes.register("slow_heat", tags=["example"])
    ... def slow_heat(diffusivity: float = 1e-3) -> pdes.Problem:
    ...     return dataclasses.replace(pdes.get("heat", diffusivity=diffusivity), time_step=0.1)
    >>> pdes.get("slow_heat").time_step
    0.1
    >>> unregister("slow_heat")
    """
    for label in (name, *aliases):
        if not isinstance(label, str) or not label or any(map(str.isspace, label)):
            raise ValueError(f"name: got {label!r}, wanted a word without spaces")

    def add(build: Builder) -> Builder:
        if not callable(build):
            raise ValueError(f"{name!r}: got {build!r}, wanted a function that returns a problem")
        entry = Entry(name=name, build=build, tags=frozenset(tags), aliases=tuple(aliases))
        for label in (name, *entry.aliases):
            owner = _NAMES.get(label)
            # A module run twice (a reload, a doctest) replaces its own entry and no other.
            if owner is not None and _ENTRIES[owner].build.__qualname__ != build.__qualname__:
                raise ValueError(
                    f"the name {label!r} is taken by {owner!r}: choose another name for "
                    f"{build.__qualname__}"
                )
        _ENTRIES[name] = entry
        _NAMES.update(dict.fromkeys((name, *entry.aliases), name))
        return build

    return add


def unregister(name: str) -> None:
    """Forget a registered problem and its aliases.

    Parameters
    ----------
    name : str
        Name under which it was registered.

    Raises
    ------
    ValueError
        If nothing is registered under the name.

    Examples
    --------
    >>> import pdes
    >>> @pdes.register("short_lived")
    ... def short_lived() -> pdes.Problem:
    ...     return pdes.get("heat")
    >>> unregister("short_lived")
    >>> "short_lived" in pdes.available()
    False
    """
    entry = entry_of(name)
    del _ENTRIES[entry.name]
    for label in (entry.name, *entry.aliases):
        del _NAMES[label]


def get(name: str, **parameters: Any) -> Any:
    """Problem of this name, with sound defaults.

    Parameters
    ----------
    name : str
        Name or alias; `available` lists them.
    **parameters
        Physical parameters of the problem (``viscosity``, ``speed``, ...), or any argument of
        `Problem` or `SteadyProblem` to replace (``grid``, ``initial``, ``times``, ``time_step``;
        ``domain``, ``boundary``, ``resolution``, ...).

    Returns
    -------
    Problem or SteadyProblem
        What evolves is for `pdes.simulate`, what does not for `pdes.solve`.

    Raises
    ------
    ValueError
        For an unknown name or parameter (the closest one is offered), or a value out of range.

    Examples
    --------
    >>> import pdes
    >>> pdes.get("heat", diffusivity=0.2).equation.parameters["diffusivity"]
    0.2
    """
    entry = entry_of(name)
    own = {key: value for key, value in parameters.items() if key in entry.parameters}
    for key, value in own.items():
        refuse_gradient(key, value)
    replaced = {key: value for key, value in parameters.items() if key not in own}
    problem = entry.build(**own)
    overrides = {item.name for item in dataclasses.fields(problem)} - _FIXED
    for key in replaced:
        if key not in overrides:
            raise ValueError(
                f"{entry.name!r} has no parameter {key!r}"
                + _closest(key, [*entry.parameters, *overrides])
                + f"; its parameters are {entry.parameters}, see pdes.describe({entry.name!r})"
            )
    _check_replaced(problem, replaced)
    if "initial" in replaced and "exact_name" not in replaced:
        # The closed form belongs to the initial field that was taken away.
        replaced |= {"exact_name": None}
        if problem.solver == "exact":
            replaced = {"solver": "etdrk4", **replaced}
    arguments = {"name": entry.name, **entry.parameters, **own}
    replaced["arguments"] = {key: _plain(value) for key, value in arguments.items()}
    return dataclasses.replace(problem, **replaced)


def _check_replaced(problem: Any, replaced: dict[str, Any]) -> None:
    """Refuse a solver that there is not, and a boundary without the sides of the domain."""
    if isinstance(replaced.get("solver"), str):
        if isinstance(problem, SteadyProblem):
            from pdes.steady import SOLVERS as STEADY

            known = sorted(STEADY)
        else:
            from pdes.solvers.table import SOLVERS

            known = [*SOLVERS, "exact"]
        if replaced["solver"] not in known:
            raise ValueError(
                f"unknown solver {replaced['solver']!r}{_closest(replaced['solver'], known)}; "
                f"known: {known}"
            )
    boundary = replaced.get("boundary")
    if isinstance(boundary, Mapping) and not {"grid", "domain"} & set(replaced):
        missing = [side for side in problem.boundary if side not in boundary]
        if missing:
            raise ValueError(
                f"boundary: no condition for {', '.join(map(str, missing))}; wanted one for each "
                f"of {list(problem.boundary)}"
            )


def _plain(value: Any) -> Any:
    """Value as JSON can write it, whatever number or text it is."""
    if getattr(value, "shape", None) == ():
        value = value.item()
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def available(tag: str | None = None) -> list[str]:
    """Names of all registered problems, or of those with a tag.

    Parameters
    ----------
    tag : str, optional
        For example ``"benchmark"``.

    Returns
    -------
    list of str
        Sorted.

    Raises
    ------
    ValueError
        If no problem has the tag; the closest one is offered.

    Examples
    --------
    >>> import pdes
    >>> "burgers" in pdes.available()
    True
    """
    _load_library()
    if tag is not None:
        known = tags()
        if tag not in known:
            raise ValueError(f"no problem has the tag {tag!r}{_closest(tag, known)}; tags: {known}")
    return sorted(name for name, entry in _ENTRIES.items() if tag is None or tag in entry.tags)


def tags() -> list[str]:
    """Words that problems can be selected by.

    Examples
    --------
    >>> "benchmark" in tags()
    True
    """
    _load_library()
    return sorted({word for entry in _ENTRIES.values() for word in entry.tags})


def entry_of(name: str) -> Entry:
    """Registry entry behind a name or an alias.

    Parameters
    ----------
    name : str
        Name or alias.

    Returns
    -------
    Entry

    Raises
    ------
    ValueError
        If nothing is registered under the name.

    Examples
    --------
    >>> entry_of("ks").name
    'kuramoto_sivashinsky'
    """
    _load_library()
    if not isinstance(name, str) or name not in _NAMES:
        raise ValueError(
            f"unknown problem {name!r}" + _closest(name, _NAMES) + f"; available: {available()}"
        )
    return _ENTRIES[_NAMES[name]]


def _closest(name: str, known: Iterable[str]) -> str:
    match = difflib.get_close_matches(str(name), list(known), n=1)
    return f", did you mean {match[0]!r}?" if match else ""


def _load_library() -> None:
    """Import every module of the library: each registers its problems."""
    library = importlib.import_module("pdes.library")
    for module in pkgutil.iter_modules(library.__path__):
        importlib.import_module(f"pdes.library.{module.name}")
