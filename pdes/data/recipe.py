"""What a generated dataset is made of, in numbers and text only: enough to make it again."""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
import reprlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pdes.data.ranges import normalized, sample_parameters
from pdes.tokens import closest

DTYPES = ("float32", "float64")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that determines the samples of a generated dataset.

    Parameters
    ----------
    problem : str
        Name in the registry, or a description of a problem that was handed over as an object.
    samples : int
        How many.
    seed : int, default 0
        Root of the seeds: sample ``i`` draws from ``SeedSequence(seed, spawn_key=(i,))``.
    parameters : mapping
        Physical parameters that all samples share.
    ranges : mapping
        Parameters drawn for every sample, see `pdes.data.ranges.normalized`.
    times : list of float or mapping, optional
        Output times, or ``{"start": 0, "stop": 1, "count": 101}``; the problem's own by default.
    grid : mapping, optional
        Axis name to ``[start, stop, points]`` of a periodic axis, or to a mapping that also holds
        ``periodic``.
    initial : mapping, optional
        ``family``, the name of a class of `pdes.initial`, and its arguments.
    settings : mapping
        Further arguments of `pdes.Problem`: ``time_step``, ``solver``, ``stored_points``,
        ``discard``.
    dtype : {"float32", "float64"}
        On disk. Computed is always in double precision.

    Raises
    ------
    ValueError
        If an entry is out of range.

    Examples
    --------
    >>> recipe = Recipe(problem="heat", samples=3, ranges={"diffusivity": (0.1, 0.2)})
    >>> 0.1 <= recipe.parameters_of(0)["diffusivity"] <= 0.2
    True
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    problem: str
    samples: int
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    ranges: Mapping[str, Any] = field(default_factory=dict)
    times: Any = None
    grid: Mapping[str, Any] | None = None
    initial: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    dtype: str = "float32"

    def __post_init__(self) -> None:
        for name, least in (("samples", 1), ("seed", 0)):
            value = getattr(self, name)
            whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if not whole or value < least:
                raise ValueError(
                    f"{name}={reprlib.repr(value)}: wanted a whole number of at least {least}"
                )
        for name in ("parameters", "ranges", "settings"):
            if not isinstance(getattr(self, name), Mapping):
                raise ValueError(
                    f"{name}={getattr(self, name)!r}: wanted a mapping of name to value"
                )
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype={self.dtype!r}: wanted one of {DTYPES}")
        both = sorted(set(self.parameters) & set(self.ranges))
        if both:
            raise ValueError(f"{both} stand in parameters and in ranges: choose one")
        set_ = object.__setattr__
        set_(self, "samples", int(self.samples))
        set_(self, "seed", int(self.seed))
        set_(self, "ranges", {name: normalized(name, r) for name, r in self.ranges.items()})
        # Through JSON, so that what is compared is what is stored.
        for name in ("parameters", "times", "grid", "initial", "settings"):
            set_(self, name, plain(getattr(self, name), name))

    def output_times(self) -> np.ndarray | None:
        """Output times, or None for the problem's own."""
        if self.times is None or not isinstance(self.times, Mapping):
            from pdes.problem import check_times

            return None if self.times is None else check_times(self.times, -np.inf)
        unknown = set(self.times) ^ {"start", "stop", "count"}
        count: Any = self.times.get("count")
        whole = isinstance(count, int) and not isinstance(count, bool) and count >= 1
        if unknown or not whole or not all(map(_is_number, self.times.values())):
            raise ValueError(
                f"times is {dict(self.times)}: wanted start, stop and count, a whole number"
            )
        return np.linspace(self.times["start"], self.times["stop"], count)

    def overrides(self) -> dict[str, Any]:
        """Arguments of `pdes.get` beside the physical parameters."""
        found = dict(self.settings)
        if self.grid is not None:
            found["grid"] = build_grid(self.grid)
        if self.initial is not None:
            found["initial"] = build_family(self.initial)
        times = self.output_times()
        if times is not None:
            found["times"] = times
        return found

    def parameters_of(self, index: int) -> dict[str, float]:
        """Parameters drawn for one sample."""
        # The field draws from the key (index,): the parameters have a stream of their own.
        sequence = np.random.SeedSequence(self.seed, spawn_key=(index, 1))
        return sample_parameters(self.ranges, np.random.default_rng(sequence))

    def generator_of(self, index: int) -> np.random.Generator:
        """Source of randomness of one sample's fields."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index,)))

    def to_json(self) -> str:
        """Text with sorted keys, equal for equal recipes."""
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """Recipe from the text of `to_json`."""
        return cls(**json.loads(text))

    @classmethod
    def from_toml(cls, path: str | Path) -> Recipe:
        """Recipe from the table ``[generate]`` of a file.

        Raises
        ------
        ValueError
            If the file has no such table, or an entry with an unknown name.
        """
        path = Path(path)
        try:
            entries = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path} is not valid TOML: {error}") from error
        if not isinstance(entries.get("generate"), dict):
            raise ValueError(f"{path} has no table [generate]: it is no recipe to make data from")
        table = entries["generate"]
        known = [item.name for item in dataclasses.fields(cls)]
        unknown = sorted(set(table) - set(known))
        missing = sorted({"problem", "samples"} - set(table))
        if unknown or missing:
            raise ValueError(
                f"{path}, [generate]: unknown entries {unknown}, missing entries {missing}; known "
                f"are {known}"
            )
        return cls(**table)


def plain(value: Any, name: str) -> Any:
    """Value as JSON gives it back: numbers, text, lists and mappings.

    Raises
    ------
    ValueError
        If it holds anything else, or a number that is not finite.

    Examples
    --------
    >>> plain({"x": (0.0, np.float64(1.0), 8)}, "grid")
    {'x': [0.0, 1.0, 8]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item, name) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item, name) for item in value]
    finite = not isinstance(value, float) or math.isfinite(value)
    if finite and (value is None or isinstance(value, bool | int | float | str)):
        return value
    raise ValueError(
        f"{name} holds {value!r}, which cannot be written down in a recipe: wanted finite numbers, "
        "text, lists and mappings"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def build_grid(entries: Mapping[str, Any]) -> Any:
    """Grid from the entry ``grid`` of a recipe.

    Examples
    --------
    >>> build_grid({"x": [0.0, 1.0, 8]}).shape
    (8,)
    """
    from pdes.grid import Axis, Grid

    axes = []
    if not isinstance(entries, Mapping):
        raise ValueError(
            f"grid is {entries!r}: wanted a mapping of axis to [start, stop, points], or a Grid"
        )
    for name, entry in entries.items():
        if not isinstance(entry, Mapping | list | tuple):
            entry = {"points": entry}
        if not isinstance(entry, Mapping):
            entry = dict(zip(("start", "stop", "points"), entry, strict=False))
        try:
            axes.append(Axis(name, **entry))
        except TypeError:
            raise ValueError(
                f"grid axis {name!r} is {entry}: wanted [start, stop, points], or a table of "
                "start, stop, points and periodic"
            ) from None
    return Grid(tuple(axes))


def build_family(entries: Mapping[str, Any]) -> Any:
    """Family of initial fields from the entry ``initial`` of a recipe.

    Examples
    --------
    >>> build_family({"family": "RandomFourier", "modes": 3, "fields": ["u", "v"]}).fields
    ('u', 'v')
    """
    from pdes import initial

    arguments = dict(entries)
    name = arguments.pop("family", None)
    if name not in initial.__all__ or not isinstance(getattr(initial, name), type):
        known = [item for item in initial.__all__ if isinstance(getattr(initial, item), type)]
        raise ValueError(f"initial.family is {name!r}; known: {known}")
    if isinstance(arguments.get("fields"), list):
        arguments["fields"] = tuple(arguments["fields"])
    try:
        return getattr(initial, name)(**arguments)
    except TypeError as error:
        known = [item.name for item in dataclasses.fields(getattr(initial, name))]
        unknown = [key for key in arguments if key not in known]
        if not unknown:
            raise ValueError(f"initial of the family {name}: {error}") from None
        raise ValueError(
            f"initial of the family {name} has no argument {unknown[0]!r}."
            f"{closest(unknown[0], known)} Its arguments are {known}"
        ) from None


def describe_family(initial: Any) -> dict[str, Any] | None:
    """Entry ``initial`` for a family of `pdes.initial`, or None if it cannot be written down.

    Examples
    --------
    >>> from pdes.initial import RandomFourier
    >>> describe_family(RandomFourier(modes=3))["modes"]
    3
    """
    from pdes import initial as families

    name = type(initial).__name__
    if getattr(families, name, None) is not type(initial):
        return None
    arguments = {item.name: getattr(initial, item.name) for item in dataclasses.fields(initial)}
    try:
        return plain({"family": name, **arguments}, "initial")
    except ValueError:
        return None


def describe_grid(grid: Any) -> dict[str, Any]:
    """Entry ``grid`` for a grid.

    Examples
    --------
    >>> from pdes import Grid
    >>> describe_grid(Grid.periodic(x=(0.0, 1.0, 8)))
    {'x': {'start': 0.0, 'stop': 1.0, 'points': 8, 'periodic': True}}
    """
    return {
        axis.name: {
            "start": float(axis.start),
            "stop": float(axis.stop),
            "points": int(axis.points),
            "periodic": bool(axis.periodic),
        }
        for axis in grid.axes
    }
