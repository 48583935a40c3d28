"""The loop behind `sciml.training.train`."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sciml.training.batches import (
    Batches,
    StepBatches,
    dtypes_of,
    non_finite_entries,
    to_device,
)
from sciml.training.callbacks import AbstractCallback, TrainingState
from sciml.training.checkpoint import Checkpoint, CheckpointFolder, load_checkpoint
from sciml.training.devices import Devices, Precision
from sciml.training.errors import CheckpointError, NonFiniteLossError, TrainingInterruptedError
from sciml.training.gradient_step import GradientStep, Loss, StepResult
from sciml.training.interrupt import Request, interruptible
from sciml.training.last_good import LastGood
from sciml.training.optimizers import (
    OptimizerSpec,
    SchedulerSpec,
    make_optimizer,
    make_scheduler,
)
from sciml.training.random_state import random_state, set_random_state
from sciml.training.record import Status, TrainingRecord

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Arguments of `sciml.training.train` that are plain data."""

    steps: int
    seed: int
    checkpoint: Path | None
    checkpoint_every: int | None
    keep_checkpoints: int
    resume: bool | str | Path | None
    precision: str | None
    clip: float | None
    log: Path | None

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("seed", 0), ("checkpoint_every", 1)):
            value = getattr(self, name)
            if name == "checkpoint_every" and value is None:
                continue
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not whole or value < least:  # type: ignore[operator]
                raise ValueError(f"{name}={value!r}: wanted a whole number of at least {least}")
        if self.resume is True and self.checkpoint is None:
            raise ValueError("resume=True needs checkpoint=, the folder to go on from")

    @property
    def every(self) -> int:
        """Steps between checkpoints."""
        return self.checkpoint_every or max(1, self.steps // 10)


class Run:
    """One session of a run.

    Parameters
    ----------
    model, batches, loss, optimizer, scheduler
        See `sciml.training.train`.
    devices : Devices
    settings : Settings
    """

    def __init__(
        self,
        model: torch.nn.Module,
        batches: Batches,
        loss: Loss,
        optimizer: OptimizerSpec,
        scheduler: SchedulerSpec,
        devices: Devices,
        settings: Settings,
    ) -> None:
        self.settings, self.devices = settings, devices
        restartable = settings.checkpoint is not None or settings.resume not in (None, False)
        self.batches = StepBatches(batches, settings.seed, restartable)
        self.folder = None
        if settings.checkpoint is not None:
            self.folder = CheckpointFolder(settings.checkpoint, settings.keep_checkpoints)
        self.model = model.to(devices.device)
        devices.same_start(model)
        self.optimizer = make_optimizer(optimizer, model)
        self.scheduler = make_scheduler(scheduler, self.optimizer, settings.steps)
        self.precision = Precision(settings.precision, model, devices.device)
        self.step = GradientStep(
            model, loss, self.optimizer, devices, self.precision, settings.clip
        )
        self.state = TrainingState(
            model=model,
            optimizer=self.optimizer,
            steps=settings.steps,
            device=devices.device,
            is_main=devices.is_main,
            history={"loss": [], "learning_rate": [], "gradient_norm": []},
        )
        self._good = LastGood()
        self._seconds, self._began, self._resumed_from = 0.0, time.perf_counter(), 0
        self._saved: tuple[int, Path] | None = None
        self._callbacks: list[AbstractCallback] = []
        self._stateful: Sequence[AbstractCallback] = ()

    def go(
        self, stateful: Sequence[AbstractCallback], shown: Sequence[AbstractCallback]
    ) -> TrainingRecord:
        """Take all steps that are left."""
        self._stateful, self._callbacks = stateful, [*stateful, *shown]
        found = self._find_checkpoint()
        if found is not None:
            self._restore(found)
        was_training = self.model.training
        self.model.train()
        self._good.note(self.state.step, self.model)
        try:
            self._call("on_start")
            with interruptible() as request:
                status = self._steps(request)
        finally:
            self._call("on_end")
            self.model.train(was_training)
        if status == "interrupted":
            raise TrainingInterruptedError(self._how_to_resume(), self._record(status))
        return self._record(status)

    def _steps(self, request: Request) -> Status:
        state = self.state
        while state.step < state.steps and not state.stop_reason:
            result = self._one_step(request)
            self._call("on_step")
            # Several processes agree on the end in their next step, a single one at once.
            asked = result.interrupted or (self.devices.count == 1 and request.asked)
            last = state.step == state.steps or bool(state.stop_reason)
            if state.step % self.settings.every == 0 or last or asked:
                self._save()
            if asked and not last:
                return "interrupted"
        return "stopped_early" if state.stop_reason else "finished"

    def _one_step(self, request: Request) -> StepResult:
        state = self.state
        batch, size, whole = self.batches.batch(state.step, self.devices.part)
        if size == 0 or whole < self.devices.count:
            raise ValueError(
                f"the batch of step {state.step + 1} has {whole} samples for {self.devices.count} "
                "processes: give a larger batch_size, and drop_last=True"
            )
        batch = to_device(batch, self.devices.device)
        rate = float(self.optimizer.param_groups[0]["lr"])
        try:
            result = self.step.take(batch, size * self.devices.count / whole, request.asked)
        except RuntimeError as error:
            self._explain(error, batch)
            raise
        if result.bad:
            self._fail(result, batch)
        self._good.confirm()
        if self.scheduler is not None and result.updated:
            is_plateau = isinstance(self.scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau)
            self.scheduler.step(*((result.loss,) if is_plateau else ()))  # type: ignore[arg-type]
        state.step += 1
        state.loss, state.parts = result.loss, result.parts
        state.learning_rate, state.gradient_norm = rate, result.gradient_norm
        _extend(
            state.history,
            {
                "loss": result.loss,
                "learning_rate": rate,
                "gradient_norm": result.gradient_norm,
                **result.parts,
            },
        )
        return result

    def _explain(self, error: RuntimeError, batch: Any) -> None:
        """Say so if torch fails on numbers of two precisions."""
        mine = {p.dtype for p in self.model.parameters()}
        given = {dtype for dtype in dtypes_of(batch) if dtype.is_floating_point} - mine
        if given and "dtype" in str(error):
            raise ValueError(
                f"the batch holds numbers of type {_listed(given)} and the model {_listed(mine)}: "
                f"convert one of them, such as model.double() ({error})"
            ) from error

    def _fail(self, result: StepResult, batch: Any) -> None:
        step, good = self.state.step + 1, self._good.restore(self.model)
        because = ""
        if wrong := non_finite_entries(batch):
            because = f"; the batch itself holds {wrong} numbers that are not finite"
        kept = ""
        if self.folder is not None and good > 0:
            names = {int(file.stem[5:]): file for file in self.folder.files()}
            kept = f", which are kept in {names[good]}" if good in names else ""
        advice = "a smaller learning rate, clip=1.0 or float64 may help"
        if because:
            advice = "look at the data"
        elif self.precision.autocasts:
            advice = "precision='float32' or a smaller learning rate may help"
        message = (
            f"step {step}: {result.bad}{because}. The model has its weights after step {good} "
            f"again{kept}; {advice}"
        )
        record = self._record("non_finite", message)
        raise NonFiniteLossError(message, step=step, good_step=good, record=record)

    # --- Checkpoints ---

    def _find_checkpoint(self) -> Checkpoint | None:
        resume = self.settings.resume
        folder = self.folder
        if folder is not None and self.devices.is_main:
            folder.tidy()
        self.devices.wait()
        if resume is None or resume is False:
            if folder is not None and folder.files():
                raise FileExistsError(
                    f"checkpoint={folder.path} holds checkpoints of a run: resume=True goes on "
                    "with it; otherwise name another folder"
                )
            return None
        if resume is True:
            assert folder is not None
            found = folder.latest()
        elif Path(resume).is_file():
            found = load_checkpoint(Path(resume).with_suffix(".json"))
        else:
            found = CheckpointFolder(Path(resume)).latest()
            if found is None:
                raise CheckpointError(f"resume={str(resume)!r}: no checkpoints there")
        self.devices.wait()
        if found is not None and folder is not None and self.devices.is_main:
            folder.discard_after(found.step)
        return found

    def _restore(self, found: Checkpoint) -> None:
        kept = found.state
        self._check_same_run(kept["about"], found.path)
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])
        if self.scheduler is not None:
            self.scheduler.load_state_dict(kept["scheduler"])
        self.precision.scaler.load_state_dict(kept["scaler"])
        for callback, (_, state) in zip(self._stateful, kept["callbacks"], strict=True):
            callback.load_state_dict(state)
        self.state.step, self.state.stop_reason = found.step, kept["stop_reason"]
        self.state.history = {name: values.tolist() for name, values in kept["history"].items()}
        self._seconds, self._resumed_from = kept["seconds"], found.step
        self._saved = (found.step, found.path)
        set_random_state(kept["random"][self.devices.rank], self.devices.device)
        _log.info("resumed from step %d in %s", found.step, found.path)

    def _save(self) -> None:
        random = self.devices.collect(random_state(self.devices.device))
        if self.folder is not None and self.devices.is_main:
            path = self.folder.save(self.state.step, self._everything(random))
            self._saved = (self.state.step, path)
            self._call("on_checkpoint", path)
        self._good.note(self.state.step, self.model)
        self.devices.wait()

    def _everything(self, random: list[Any]) -> dict[str, Any]:
        return {
            "about": self._about(),
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": None if self.scheduler is None else self.scheduler.state_dict(),
            "scaler": self.precision.scaler.state_dict(),
            "callbacks": [(type(each).__name__, each.state_dict()) for each in self._stateful],
            "stop_reason": self.state.stop_reason,
            "history": {name: np.asarray(v) for name, v in self.state.history.items()},
            "random": random,
            "seconds": self._elapsed(),
        }

    def _about(self) -> dict[str, Any]:
        """What must agree for a run to go on."""
        return {
            "seed": int(self.settings.seed),
            "batches": self.batches.describe(),
            "optimizer": type(self.optimizer).__name__,
            "scheduler": type(self.scheduler).__name__,
            "precision": self.settings.precision,
            "clip": self.settings.clip,
            "processes": self.devices.count,
            "callbacks": [type(each).__name__ for each in self._stateful],
            "weights": {
                name: f"{tuple(value.shape)} {value.dtype}"
                for name, value in self.model.state_dict().items()
                if isinstance(value, torch.Tensor)
            },
        }

    def _check_same_run(self, stored: Mapping[str, Any], path: Path) -> None:
        for name, now in self._about().items():
            before = stored[name]
            if before == now:
                continue
            if isinstance(now, dict) and isinstance(before, dict):
                name, before, now = _first_difference(name, before, now)
            raise CheckpointError(
                f"{path} belongs to another run: {name} was {before!r} and is now {now!r}. Use the "
                "same, or start anew in another folder"
            )

    # --- Reporting ---

    def _call(self, event: str, *arguments: Any) -> None:
        for callback in self._callbacks:
            getattr(callback, event)(self.state, *arguments)

    def _elapsed(self) -> float:
        return self._seconds + time.perf_counter() - self._began

    def _record(self, status: Status, reason: str = "") -> TrainingRecord:
        history = {name: np.asarray(values) for name, values in self.state.history.items()}
        return TrainingRecord(
            status=status,
            reason=reason or self.state.stop_reason,
            losses=history.pop("loss"),
            learning_rates=history.pop("learning_rate"),
            gradient_norms=history.pop("gradient_norm"),
            parts=history,
            seed=int(self.settings.seed),
            seconds=self._elapsed(),
            resumed_from=self._resumed_from,
            device=str(self.devices.device),
            precision=self.settings.precision or _precision_of(self.model),
            checkpoint=self.settings.checkpoint,
            log=self.settings.log,
        )

    def _how_to_resume(self) -> str:
        done = f"interrupted after step {self.state.step} of {self.state.steps}"
        if self.folder is None:
            return f"{done}; nothing was stored, as no checkpoint folder was given (checkpoint=)"
        return (
            f"{done}; everything is in {self.folder.path}: the same call with resume=True goes on"
        )


def _extend(history: dict[str, list[float]], row: Mapping[str, float]) -> None:
    """Append a row; a part that is new, or missing this time, is not-a-number elsewhere."""
    length = len(history["loss"])
    for name in row:
        history.setdefault(name, [math.nan] * length)
    for name, values in history.items():
        values.append(float(row.get(name, math.nan)))


def _first_difference(
    name: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> tuple[str, Any, Any]:
    for key in {**before, **now}:
        if before.get(key) != now.get(key):
            return f"{name} {key!r}", before.get(key, "absent"), now.get(key, "absent")
    return name, before, now


def _listed(dtypes: Iterable[torch.dtype]) -> str:
    return ", ".join(sorted(map(str, dtypes))) or "none"


def _precision_of(model: torch.nn.Module) -> str:
    kinds = {str(p.dtype).removeprefix("torch.") for p in model.parameters()}
    return ", ".join(sorted(kinds))
