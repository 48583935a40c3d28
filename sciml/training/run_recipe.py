"""Carry a training recipe out: data, model, training, model file, errors on held-back samples."""

from __future__ import annotations

import dataclasses
import inspect
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from sciml import _atomic
from sciml.training.callbacks import EarlyStop
from sciml.training.devices import find_devices
from sciml.training.evaluation import Evaluation, evaluate
from sciml.training.grid_kinds import stored_kinds
from sciml.training.losses import supervised_loss
from sciml.training.optimizers import closest
from sciml.training.recipe import TrainingRecipe, check_keys
from sciml.training.record import TrainingRecord
from sciml.training.streaming import StreamedFields
from sciml.training.train import train

if TYPE_CHECKING:
    from pdes.data import Recipe

__all__ = ["Outcome", "evaluate_file", "run_recipe"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What came of a recipe.

    Attributes
    ----------
    record : TrainingRecord
    test : Evaluation or None
        Errors on the samples held back for the test.
    model : pathlib.Path
        The model file.
    parameters : int
        Number of trainable weights.
    is_main : bool
        False in all but the first of several processes; only that one writes files and evaluates.
    """

    record: TrainingRecord
    test: Evaluation | None
    model: Path
    parameters: int
    is_main: bool = True


def run_recipe(
    recipe: TrainingRecipe, folder: str | Path | None = None, *, progress: bool = True
) -> Outcome:
    """Carry a recipe out; called again it goes on where it was cut off.

    Parameters
    ----------
    recipe : TrainingRecipe
    folder : path, optional
        For checkpoints, log, data that are made, and the model file; that of the recipe by
        default.
    progress : bool, default True
        Bar on a terminal.

    Returns
    -------
    Outcome

    Raises
    ------
    ValueError
        If the folder holds the run of another recipe, or the recipe does not fit the data.
    """
    from sciml.nn import save_model

    place = Path(recipe.output.folder if folder is None else folder)
    devices = find_devices(recipe.training.device)
    if devices.is_main:
        _claim(recipe, place)
        _make_data(recipe, place)
    devices.wait()
    fields, validation, test = _data(recipe, place)
    kinds = recipe.data.axis_kinds or stored_kinds(fields.dataset, list(fields.grid))
    weights = quadrature(kinds, fields)
    model = _model(recipe, fields, kinds)
    loss = supervised_loss(recipe.loss.name, weights)
    table = recipe.training
    record = train(
        model,
        fields,
        loss,
        optimizer=recipe.optimizer,
        scheduler=recipe.scheduler,
        steps=table.steps,
        seed=table.seed,
        clip=table.clip,
        precision=table.precision,
        device=table.device,
        ema=table.ema,
        early_stop=_early_stop(recipe, validation, loss),
        checkpoint=place / "checkpoints",
        checkpoint_every=table.checkpoint_every,
        resume=True,
        log=place / "log.jsonl",
        progress=progress,
    )
    about = {
        "inputs": recipe.data.inputs,
        "targets": recipe.data.targets,
        "lead": recipe.data.lead,
        "axis_kinds": kinds,
    }
    found, path = None, place / "model.json"
    if devices.is_main:
        path = save_model(model, place, seed=table.seed, training=record, data=about)
        if test is not None:
            found = evaluate(model, test, weights=weights, device=devices.device)
    devices.wait()
    count = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return Outcome(record=record, test=found, model=path, parameters=count, is_main=devices.is_main)


def evaluate_file(
    path: str | Path,
    data: str | Path,
    *,
    inputs: Any = None,
    targets: Any = None,
    lead: int | None = None,
    samples: Any = None,
    batch_size: int = 16,
    device: str = "auto",
) -> Evaluation:
    """Errors of a stored model on a dataset.

    Parameters
    ----------
    path : path
        Model file, or its folder.
    data : path
        Dataset, see `StreamedFields`.
    inputs, targets, lead : optional
        What the model file says by default.
    samples : int, slice or sequence of int, optional
    batch_size : int, default 16
    device : str, default "auto"

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        If the model cannot be read, does not fit the data, or inputs and targets are not known.
    """
    from sciml.nn import load_model, model_info

    info, model = model_info(path).data, load_model(path)
    if lead is None and inputs is None and targets is None:
        lead = info.get("lead")
    inputs, targets = inputs or info.get("inputs"), targets or info.get("targets")
    if inputs is None or targets is None:
        what = "inputs" if inputs is None else "targets"
        raise ValueError(f"the model file does not say which variables are its {what}: name them")
    first = next(model.parameters(), torch.zeros(0))
    fields = StreamedFields(
        data,
        inputs=inputs,
        targets=targets,
        lead=lead,
        samples=samples,
        batch_size=batch_size,
        shuffle=False,
        dtype=first.dtype if first.is_floating_point() else first.real.dtype,
    )
    _check_channels(model, fields)
    kinds = info.get("axis_kinds") or stored_kinds(fields.dataset, list(fields.grid))
    weights = quadrature(kinds, fields)
    return evaluate(model, fields, weights=weights, device=device)


def quadrature(axis_kinds: Any, fields: StreamedFields) -> torch.Tensor | None:
    """Weights of the grid of some fields; None, for equal ones, if its kinds are not given."""
    if axis_kinds is None:
        return None
    from sciml.nn import quadrature_weights

    shape = tuple(fields.grid.values())
    full = quadrature_weights(shape, axis_kinds=axis_kinds).full()
    return torch.tensor(full).reshape(shape)


def _check_channels(model: torch.nn.Module, fields: StreamedFields) -> None:
    for name in ("in_channels", "out_channels"):
        wanted = getattr(model, name, None)
        if isinstance(wanted, int) and wanted != getattr(fields, name):
            side = "inputs" if name == "in_channels" else "targets"
            raise ValueError(
                f"the model has {name}={wanted}, but the {side} of these data have "
                f"{getattr(fields, name)} channels"
            )


def _claim(recipe: TrainingRecipe, place: Path) -> None:
    """Refuse a folder with the run of another recipe; only the number of steps may change.

    Before the first checkpoint there is no run yet, as after a mistake in the recipe.
    """
    file, text = place / "recipe.json", recipe.to_json()
    begun = any((place / "checkpoints").glob("*.json")) or (place / "model.json").is_file()
    if begun and file.is_file():
        before, now = json.loads(file.read_text(encoding="utf-8")), json.loads(text)
        for each in (before, now):
            each["training"].pop("steps")
        for table in now:
            if before.get(table) != now[table]:
                raise ValueError(
                    f"{place} holds the run of a recipe with another table [{table}]: "
                    f"{before.get(table)} then, {now[table]} now. Name another folder, or remove "
                    "this one"
                )
    _atomic.write(file, text)


def _data(
    recipe: TrainingRecipe, place: Path
) -> tuple[StreamedFields, StreamedFields | None, StreamedFields | None]:
    """Samples to train on, to validate on, and to test on."""
    table = recipe.data
    fields = StreamedFields(
        _file_of(recipe, place),
        inputs=table.inputs,
        targets=table.targets,
        batch_size=table.batch_size,
        seed=recipe.training.seed,
        samples=table.samples if table.file is not None else None,
        lead=table.lead,
        dtype=torch.float64 if recipe.training.precision == "float64" else torch.float32,
    )
    held: dict[str, StreamedFields | None] = {}
    total = len(fields.samples)
    for name in ("test", "validation"):
        size = getattr(table, name)
        count = round(size * total) if isinstance(size, float) else size
        if size and not 0 < count < len(fields.samples):
            raise ValueError(
                f"[data] {name}={size} of {total} samples: wanted at least one held back, and at "
                "least one to train on"
            )
        fields, held[name] = fields.split(count) if count else (fields, None)
    return fields, held["validation"], held["test"]


def _file_of(recipe: TrainingRecipe, place: Path) -> Path:
    file = recipe.data.file
    return place / f"data{_suffix()}" if file is None else recipe.base / file


def _make_data(recipe: TrainingRecipe, place: Path) -> None:
    table = recipe.data
    if table.file is not None:
        return
    from pdes.data.make import make

    wanted = _generated(recipe)
    if table.samples is not None:
        wanted = dataclasses.replace(wanted, samples=table.samples)
    path = _file_of(recipe, place)
    _log.info("making %d samples of %s in %s", wanted.samples, wanted.problem, path)
    make(wanted, path)


def _suffix() -> str:
    from importlib.util import find_spec

    return ".zarr" if find_spec("zarr") is not None else ".nc"


def _generated(recipe: TrainingRecipe) -> Recipe:
    """Recipe of the data, from the table or from those that travel with the package."""
    from pdes.data import Recipe
    from sciml import datasets

    table = recipe.data.generate
    if table is not None:
        known = [item.name for item in dataclasses.fields(Recipe)]
        check_keys(table, known, ("problem", "samples"), "[data.generate]")
        return Recipe(**table)
    known, name = datasets.makeable(), str(recipe.data.recipe)
    if name not in known:
        raise ValueError(
            f"[data] recipe {name!r} is unknown{closest(name, known)}; known: {', '.join(known)}"
        )
    return Recipe.from_toml(known[name])


def _model(recipe: TrainingRecipe, fields: StreamedFields, kinds: Any) -> torch.nn.Module:
    """The model, with random weights and the scales of the training data."""
    from sciml.nn.model_registry import registered_class

    cls = registered_class(recipe.model.name)
    parameters = inspect.signature(cls).parameters
    known = {
        "in_channels": fields.in_channels,
        "out_channels": fields.out_channels,
        "dimension": len(fields.grid),
        "axis_kinds": kinds,
        "seed": recipe.training.seed,
    }
    filled = {name: value for name, value in known.items() if name in parameters}
    arguments = {**filled, **recipe.model.arguments}
    _check_arguments(recipe.model.name, arguments, parameters)
    if "axis_kinds" in parameters and arguments["axis_kinds"] is None:
        from sciml.nn import AXIS_KINDS

        known = ", ".join(AXIS_KINDS)
        raise ValueError(
            f"[data] axis_kinds is missing, and the coordinates {', '.join(fields.grid)} of the "
            f"dataset do not say it: give one kind for all axes or a list; {known} are known"
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.training.seed)
        try:
            model = cls(**arguments)
        except TypeError as error:
            raise ValueError(f"[model.arguments] of {recipe.model.name}: {error}") from error
    _check_channels(model, fields)
    if recipe.model.normalize:
        model = _normalized(model, fields)
    return model.double() if recipe.training.precision == "float64" else model


def _normalized(model: torch.nn.Module, fields: StreamedFields) -> torch.nn.Module:
    from sciml.nn import Normalized

    inputs, targets = fields.statistics()
    wrapped = Normalized(model, fields.in_channels, fields.out_channels)
    wrapped.set_statistics(inputs.mean, inputs.std, targets.mean, targets.std)
    return wrapped


def _check_arguments(
    name: str, arguments: Mapping[str, Any], parameters: Mapping[str, inspect.Parameter]
) -> None:
    kinds = {p.kind for p in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return
    for key in arguments:
        if key not in parameters:
            raise ValueError(
                f"[model.arguments]: {name} has no argument {key!r}{closest(key, parameters)}; it "
                f"takes {', '.join(parameters)}"
            )


def _early_stop(recipe: TrainingRecipe, validation: StreamedFields | None, loss: Any) -> Any:
    table = recipe.early_stop
    if table is None or validation is None:
        return None

    def validate(model: torch.nn.Module) -> float:
        """Mean loss over the validation samples."""
        from sciml.training.batches import to_device

        place = next(model.parameters()).device
        sums = [
            (len(batch[0]), float(loss(model, to_device(batch, place)))) for batch in validation
        ]
        return sum(n * value for n, value in sums) / sum(n for n, _ in sums)

    return EarlyStop(
        table.patience,
        every=table.every,
        min_delta=table.min_delta,
        validate=validate,
        restore_best=recipe.training.ema is None,
    )
