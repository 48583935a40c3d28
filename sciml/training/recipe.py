"""A training run in a TOML file: model, data, loss, optimizer, and where the results go."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sciml.training.optimizers import closest

__all__ = ["TrainingRecipe"]


@dataclass(frozen=True, kw_only=True)
class ModelTable:
    """Table ``[model]``: a registered class and the arguments of its constructor."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    normalize: bool = True


@dataclass(frozen=True, kw_only=True)
class DataTable:
    """Table ``[data]``: a file, or the recipe of a dataset to make, and what is in it.

    ``file``, ``recipe`` and ``generate`` exclude each other; ``test`` and ``validation`` samples
    are held back, the last ones for the test. ``axis_kinds`` are needed where the coordinates do
    not say them, as those of `pdes` do.
    """

    inputs: Any
    targets: Any
    file: str | None = None
    recipe: str | None = None
    generate: Mapping[str, Any] | None = None
    samples: int | None = None
    test: int | float = 0
    validation: int | float = 0
    lead: int | None = None
    batch_size: int = 16
    axis_kinds: Any = None


@dataclass(frozen=True, kw_only=True)
class LossTable:
    """Table ``[loss]``."""

    name: str = "relative_l2"


@dataclass(frozen=True, kw_only=True)
class TrainingTable:
    """Table ``[training]``: arguments of `sciml.training.train`."""

    steps: int
    seed: int = 0
    precision: str | None = None
    clip: float | None = None
    ema: float | None = None
    checkpoint_every: int | None = None
    device: str = "auto"


@dataclass(frozen=True, kw_only=True)
class EarlyStopTable:
    """Table ``[early_stop]``: arguments of `EarlyStop`, which looks at the validation samples."""

    patience: int
    every: int = 100
    min_delta: float = 0.0


@dataclass(frozen=True, kw_only=True)
class OutputTable:
    """Table ``[output]``."""

    folder: str


@dataclass(frozen=True, kw_only=True)
class TrainingRecipe:
    """What ``sciml train`` is given.

    Attributes
    ----------
    model, data, loss, training, output, early_stop
        Tables of the file.
    optimizer, scheduler : mapping
        A name and the arguments of the torch class.
    title : str
    base : pathlib.Path
        Folder that the data file is relative to.

    Examples
    --------
    >>> text = '''
    ... model = {name = "FNO"}
    ... data = {file = "a.nc", inputs = ["a"], targets = ["u"]}
    ... training = {steps = 10}
    ... output = {folder = "run"}
    ... '''
    >>> TrainingRecipe.from_text(text).loss.name
    'relative_l2'
    """

    model: ModelTable
    data: DataTable
    training: TrainingTable
    output: OutputTable
    loss: LossTable = field(default_factory=LossTable)
    optimizer: Mapping[str, Any] = field(default_factory=lambda: {"name": "adamw"})
    scheduler: Mapping[str, Any] | None = None
    early_stop: EarlyStopTable | None = None
    title: str = ""
    base: Path = Path()

    @classmethod
    def from_toml(cls, path: str | Path) -> TrainingRecipe:
        """Read a file.

        Parameters
        ----------
        path : path

        Returns
        -------
        TrainingRecipe

        Raises
        ------
        ValueError
            If it is no TOML, a key is unknown (the closest is offered), or one is missing.
        """
        path = Path(path)
        if not path.is_file():
            raise ValueError(f"no recipe at {path}: check the path")
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is no text in UTF-8 ({error})") from error
        return cls.from_text(text, path)

    @classmethod
    def from_text(cls, text: str, path: Path = Path("recipe.toml")) -> TrainingRecipe:
        """Read the content of a file; ``path`` is for messages and for paths relative to it."""
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path} is no TOML: {error}") from error
        kinds = {
            "model": ModelTable,
            "data": DataTable,
            "loss": LossTable,
            "training": TrainingTable,
            "early_stop": EarlyStopTable,
            "output": OutputTable,
        }
        known = [each.name for each in dataclasses.fields(cls) if each.name != "base"]
        check_keys(tables, known, ("model", "data", "training", "output"), f"{path}")
        given = {
            name: _table(kinds[name], entry, f"{path} [{name}]") if name in kinds else entry
            for name, entry in tables.items()
        }
        recipe = cls(**given, base=path.parent)
        recipe._check(path)
        return recipe

    def _check(self, path: Path) -> None:
        sources = ("file", "recipe", "generate")
        chosen = [name for name in sources if getattr(self.data, name) is not None]
        if len(chosen) != 1:
            got = ", ".join(chosen) or "none"
            raise ValueError(f"{path} [data]: wanted one of file, recipe and generate, got {got}")
        if self.early_stop is not None and not self.data.validation:
            raise ValueError(
                f"{path} [early_stop] looks at samples that are held back: give validation in "
                "[data], such as 0.1"
            )
        for name in ("optimizer", "scheduler"):
            entry = getattr(self, name)
            if entry is not None and not (isinstance(entry, Mapping) and "name" in entry):
                raise ValueError(f"{path} [{name}]: name is missing")

    def to_json(self) -> str:
        """Everything that determines the result, as text."""
        entries = dataclasses.asdict(self)
        for name in ("title", "base", "output"):
            entries.pop(name)
        return json.dumps(entries, indent=2, sort_keys=True) + "\n"


def _table(kind: Any, entry: Any, place: str) -> Any:
    if not isinstance(entry, Mapping):
        raise ValueError(f"{place} is {entry!r}: wanted a table")
    fields = dataclasses.fields(kind)
    needed = [
        each.name
        for each in fields
        if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
    ]
    check_keys(entry, [each.name for each in fields], needed, place)
    for each in fields:
        if each.name in entry:
            _check_type(entry[each.name], str(each.type), f"{place} {each.name}")
    return kind(**entry)


def check_keys(
    entry: Mapping[str, Any], known: Collection[str], needed: Collection[str], place: str
) -> None:
    """Refuse keys that are not known, with the closest one, and miss those that are needed."""
    for key in entry:
        if key not in known:
            raise ValueError(
                f"{place}: unknown key {key!r}{closest(key, known)}; known: {', '.join(known)}"
            )
    if missing := [key for key in needed if key not in entry]:
        raise ValueError(f"{place}: {', '.join(missing)} missing")


_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "Mapping[str, Any]": (dict,),
}

_SPOKEN = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"}


def _check_type(value: Any, annotation: str, place: str) -> None:
    kinds = [part.strip() for part in annotation.split("|")]
    if "Any" in kinds:
        return
    allowed = tuple(t for kind in kinds for t in _TYPES.get(kind, ()))
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        names = {
            "str": "text",
            "int": "a whole number",
            "float": "a number",
            "bool": "true or false",
        }
        wanted = " or ".join(names.get(kind, "a table") for kind in kinds if kind != "None")
        raise ValueError(f"{place} is {value!r}: wanted {wanted}")
