"""A propagation in a TOML file: equation, domain, model or rays, fields, times, and the output."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xarray as xr

from pdes.equation import Equation
from sciml.training.optimizers import closest

__all__ = ["Propagated", "PropagationRecipe", "run_propagation"]

_LOG = logging.getLogger(__name__)
_FIELDS = ("Box", "Gaussian", "Packet", "PiecewiseConstant", "PiecewiseLinear", "Tent", "Disc")


@dataclass(frozen=True, kw_only=True)
class PropagationRecipe:
    """What ``sciml propagate`` is given.

    Attributes
    ----------
    equation : mapping
        ``text``, and the options of `Equation.from_text`.
    domain : mapping
        Coordinate to ``[start, stop]``; ``periodic`` is true or false.
    propagator : mapping
        ``name``, ``"MiNO"`` or ``"RayPropagator"``, and arguments of the class.
    initial : list of mapping
        ``field``, such as ``"Box"``, and its arguments; or ``file`` and ``variable``.
    output : mapping
        ``times``, ``folder``, and options of `propagate`.
    training : mapping
        Arguments of `MiNO.fit`; must be left out for rays.
    title : str
    base : pathlib.Path
        Folder that files are relative to.

    Examples
    --------
    >>> text = '''
    ... equation = {text = "u_t = -u_x"}
    ... domain = {x = [0.0, 6.0]}
    ... propagator = {name = "RayPropagator", final_time = 1.0}
    ... initial = [{field = "Box", start = 1.0, stop = 2.0}]
    ... output = {times = [0.0, 1.0], folder = "moved"}
    ... '''
    >>> PropagationRecipe.from_text(text).fields()
    [Box(...)]
    """

    equation: Mapping[str, Any]
    domain: Mapping[str, Any]
    propagator: Mapping[str, Any]
    initial: list[Mapping[str, Any]]
    output: Mapping[str, Any]
    training: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    base: Path = Path()

    @classmethod
    def from_toml(cls, path: str | Path) -> PropagationRecipe:
        """Read a file.

        Raises
        ------
        ValueError
            If it is no TOML, a key is unknown (the closest is offered), or one is missing.
        """
        path = Path(path)
        if not path.is_file():
            raise ValueError(f"no recipe at {path}: check the path")
        try:
            return cls.from_text(path.read_text(encoding="utf-8"), path)
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is no text in UTF-8 ({error})") from error

    @classmethod
    def from_text(cls, text: str, path: Path = Path("recipe.toml")) -> PropagationRecipe:
        """Read the content of a file; ``path`` is for messages and for paths relative to it."""
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path} is no TOML: {error}") from error
        known = [each.name for each in dataclasses.fields(cls) if each.name != "base"]
        needed = [n for n in known if n not in ("training", "title")]
        _check_keys(tables, known, needed, f"{path}")
        for name in ("equation", "domain", "propagator", "output", "training"):
            if not isinstance(tables.get(name, {}), Mapping):
                raise ValueError(f"{path} {name} is {tables[name]!r}: wanted a table [{name}]")
        if not isinstance(tables["initial"], list) or not tables["initial"]:
            raise ValueError(f"{path} initial: wanted one or more tables [[initial]]")
        recipe = cls(**tables, base=path.parent)
        recipe._check(f"{path}")
        return recipe

    def _check(self, place: str) -> None:
        _check_keys(
            self.equation,
            ["text", "complex_fields", "parameters", "coordinates"],
            ["text"],
            f"{place} [equation]",
        )
        _check_keys(
            self.output,
            ["times", "folder", "certificate", "n_modes", "window", "low_modes", "max_step"],
            ["times", "folder"],
            f"{place} [output]",
        )
        name = self.propagator.get("name")
        if name not in ("MiNO", "RayPropagator"):
            raise ValueError(
                f"{place} [propagator] name is {name!r}"
                f"{closest(str(name), ('MiNO', 'RayPropagator'))}: wanted MiNO or RayPropagator"
            )
        if name == "RayPropagator" and self.training:
            raise ValueError(f"{place} [training]: rays are traced, not trained; leave it out")
        known = _arguments(_class_of(name).__init__, ("equation", "domain", "periodic"))
        given = {k: v for k, v in self.propagator.items() if k != "name"}
        _check_keys(given, known, ["final_time"], f"{place} [propagator]")
        if name == "MiNO":
            fit = _class_of(name).fit
            known = _arguments(fit, ("checkpoint", "resume", "progress", "fields"))
            _check_keys(self.training, [*known, "stop_when_certified"], [], f"{place} [training]")
        coordinates = {k: v for k, v in self.domain.items() if k != "periodic"}
        for key, value in coordinates.items():
            pair = isinstance(value, list) and len(value) == 2
            if not (pair and all(isinstance(v, int | float) for v in value)):
                raise ValueError(f"{place} [domain] {key} is {value!r}: wanted [start, stop]")
        for n, entry in enumerate(self.initial):
            _check_initial(entry, f"{place} [[initial]] number {n + 1}")

    def fields(self) -> list[Any]:
        """Initial fields."""
        return [_field(entry, self.base) for entry in self.initial]

    def make(self) -> Any:
        """Propagator, untrained."""
        options = {k: v for k, v in self.equation.items() if k != "text"}
        equation = Equation.from_text(self.equation["text"], **options)
        axes = equation.coordinates
        given = [k for k in self.domain if k != "periodic"]
        if sorted(given) != sorted(axes):
            raise ValueError(
                f"[domain] has {', '.join(given) or 'no coordinate'}: the equation lives on "
                f"{', '.join(axes)}"
            )
        arguments = {k: v for k, v in self.propagator.items() if k != "name"}
        return _class_of(self.propagator["name"])(
            equation,
            [tuple(self.domain[a]) for a in axes],
            periodic=self.domain.get("periodic", True),
            **arguments,
        )


@dataclass(frozen=True)
class Propagated:
    """What a recipe gave.

    Parameters
    ----------
    propagator : AbstractPhasePropagator
    fields : xarray.Dataset
    file : pathlib.Path
        Where the fields were written.
    certificate : Certificate or None
    """

    propagator: Any
    fields: xr.Dataset
    file: Path
    certificate: Any = None


def run_propagation(recipe: PropagationRecipe, folder: Path, *, progress: bool = True):
    """Train if need be, propagate, certify, and write ``fields.nc`` and the model.

    A model that was trained by the same recipe is taken from the folder; training that was cut off
    goes on where it was.

    Parameters
    ----------
    recipe : PropagationRecipe
    folder : path
        For the results.
    progress : bool
        Show a bar.

    Returns
    -------
    Propagated
    """
    import pdes

    propagator, fields = recipe.make(), recipe.fields()
    folder = Path(folder)
    if recipe.propagator["name"] == "MiNO":
        options = dict(recipe.training)
        stop = options.pop("stop_when_certified", False)
        _LOG.info("training in %s", folder)
        propagator.fit(
            **options,
            fields=fields if stop else None,
            checkpoint=folder / "checkpoints",
            resume=True,
            progress=progress,
        )
        propagator.save(folder)
    from sciml.propagators.phase_propagator import certificate_variable

    asked = dict(recipe.output)
    times, certified = asked.pop("times"), asked.pop("certificate", True)
    asked.pop("folder")
    moved = propagator.propagate(fields, times, **asked)
    bound = None
    if certified and "max_step" not in asked and "low_modes" not in asked:
        bound = propagator.certify(
            fields, times, **{k: v for k, v in asked.items() if k in ("n_modes", "window")}
        )
        moved[f"{next(iter(moved.data_vars))}_bound"] = (("sample", "time"), bound.l2.T)
        moved["certificate"] = certificate_variable(bound)
    file = folder / "fields.nc"
    pdes.save(moved, file)
    return Propagated(propagator, moved, file, bound)


def _class_of(name: str) -> Any:
    from sciml import propagators

    return getattr(propagators, name)


def _arguments(function: Any, without: tuple[str, ...]) -> list[str]:
    names = list(inspect.signature(function).parameters)[1:]
    return [n for n in names if n not in without]


def _check_keys(entry: Mapping[str, Any], known, needed, place: str) -> None:
    for key in entry:
        if key not in known:
            raise ValueError(
                f"{place}: unknown key {key!r}{closest(key, known)}; known: {', '.join(known)}"
            )
    if missing := [key for key in needed if key not in entry]:
        raise ValueError(f"{place}: {', '.join(missing)} missing")


def _check_initial(entry: Any, place: str) -> None:
    if not isinstance(entry, Mapping) or ("field" in entry) == ("file" in entry):
        raise ValueError(f"{place}: wanted a table with one of field and file")
    if "file" in entry:
        _check_keys(entry, ["file", "variable"], ["file"], place)
        return
    name = entry["field"]
    if name not in _FIELDS:
        raise ValueError(
            f"{place} field is {name!r}{closest(str(name), _FIELDS)}; known: {', '.join(_FIELDS)}"
        )
    given = {k: v for k, v in entry.items() if k != "field"}
    signature = inspect.signature(_class_of(name)).parameters
    needed = [n for n, p in signature.items() if p.default is inspect.Parameter.empty]
    _check_keys(given, list(signature), needed, place)


def _field(entry: Mapping[str, Any], base: Path) -> Any:
    if "file" in entry:
        import pdes

        data = pdes.load(base / entry["file"])
        name = entry.get("variable", next(iter(data.data_vars)))
        if name not in data:
            known = [str(n) for n in data.data_vars]
            raise ValueError(
                f"variable {name!r} is not in {entry['file']}{closest(name, known)}; it has "
                f"{', '.join(known)}"
            )
        return data[name].isel({d: 0 for d in ("sample", "time") if d in data[name].dims})
    arguments = {
        k: tuple(v) if isinstance(v, list) else v for k, v in entry.items() if k != "field"
    }
    return _class_of(entry["field"])(**arguments)
