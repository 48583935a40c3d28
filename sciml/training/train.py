"""Train a model, and go on where a run was cut off as if it had not been."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from sciml.training.batches import Batches
from sciml.training.callbacks import (
    AbstractCallback,
    EarlyStop,
    MovingAverage,
    ProgressBar,
    StepLog,
    TrainingState,
)
from sciml.training.devices import find_devices
from sciml.training.gradient_step import Loss
from sciml.training.optimizers import OptimizerSpec, SchedulerSpec
from sciml.training.random_state import own_random_numbers
from sciml.training.record import TrainingRecord
from sciml.training.run import Run, Settings

__all__ = ["train"]


def train(
    model: torch.nn.Module,
    batches: Batches,
    loss: Loss,
    *,
    optimizer: OptimizerSpec = "adamw",
    steps: int,
    seed: int = 0,
    scheduler: SchedulerSpec = None,
    callbacks: Sequence[AbstractCallback | Callable[[TrainingState], Any]] = (),
    resume: bool | str | Path | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int | None = None,
    keep_checkpoints: int = 3,
    device: str | torch.device = "auto",
    precision: str | None = None,
    clip: float | None = None,
    log: str | Path | None = None,
    early_stop: EarlyStop | int | None = None,
    ema: float | None = None,
    progress: bool = True,
) -> TrainingRecord:
    """Minimize a loss over the weights of a model.

    A run is a function of the model, the batches, the loss and the seed: killed at any moment and
    called again with ``resume=True``, it ends with the weights and the log that it would have had,
    bit for bit, on the same machine. Under ``accelerate launch`` or ``torchrun`` the processes
    share every batch (extra ``distributed``); the loss must then be a mean over the samples.

    Parameters
    ----------
    model : Module
        Trained in place, and moved to ``device``. It is in training mode while it runs.
    batches
        `ArrayBatches`, `StreamedFields` or another object with ``batch(step)``; a function
        ``(step, generator) -> batch``, with a generator seeded by the seed and the step; a list,
        which is cycled through; a ``DataLoader``. Steps are counted from 0 here.
    loss : callable
        ``(model, batch) -> tensor``, or ``-> (tensor, {name: part})``.
    optimizer
        Name, ``{"name": "adamw", "lr": 1e-3, ...}``, a function of the parameters, or an
        optimizer. ``"lbfgs"`` evaluates the loss several times in a step.
    steps : int
        Number of updates, those before a resumption included.
    seed : int, default 0
        Of everything random in the loop. The random state of the caller is left as it was.
    scheduler
        ``"cosine"``, ``"one_cycle"``, ..., a mapping with arguments, a function of the optimizer,
        or a scheduler; advanced after every step.
    callbacks : sequence
        `AbstractCallback`, or functions that are called with the `TrainingState` after a step.
    resume : bool or path, optional
        True goes on from the newest good checkpoint in ``checkpoint``, or starts if there is none.
        A path names a folder of checkpoints, or one of them (its JSON file).
    checkpoint : path, optional
        Folder for checkpoints; none are written without it.
    checkpoint_every : int, optional
        Steps between checkpoints; a tenth of all by default.
    keep_checkpoints : int, default 3
        How many stay.
    device : str or torch.device, default "auto"
    precision : {"float32", "float64", "bfloat16", "float16"}, optional
        That of the model by default. The last two keep its weights and compute in mixed precision.
    clip : float, optional
        Largest norm of the gradient.
    log : path, optional
        JSON-lines file with one line per step.
    early_stop : EarlyStop or int, optional
        A whole number is the patience in steps.
    ema : float, optional
        Decay of the moving average of the weights that the model has at the end.
    progress : bool, default True
        Bar on a terminal.

    Returns
    -------
    TrainingRecord

    Raises
    ------
    NonFiniteLossError
        If a loss or gradient is not finite; the model has its last good weights again.
    TrainingInterruptedError
        After Ctrl-C, when a checkpoint has been written.
    CheckpointError
        If no checkpoint can be used, or it belongs to another run.
    FileExistsError
        If ``checkpoint`` holds checkpoints and ``resume`` does not say what to do with them.
    ValueError, TypeError
        For arguments that do not fit.

    Examples
    --------
    >>> x = torch.linspace(0.0, 1.0, 8)[:, None]
    >>> model = torch.nn.Linear(1, 1)
    >>> def loss(model, batch):
    ...     return (model(batch) - 3.0 * batch).square().mean()
    >>> record = train(model, [x], loss, optimizer={"name": "sgd", "lr": 0.5}, steps=300)
    >>> record.status, bool(record.losses[-1] < 1e-6)
    ('finished', True)
    """
    settings = Settings(
        steps=steps,
        seed=seed,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        checkpoint_every=checkpoint_every,
        keep_checkpoints=keep_checkpoints,
        resume=resume,
        precision=precision,
        clip=clip,
        log=None if log is None else Path(log),
    )
    if not isinstance(model, torch.nn.Module) or not callable(loss):
        name, wrong = ("loss", loss) if isinstance(model, torch.nn.Module) else ("model", model)
        wanted = "a function of model and batch" if name == "loss" else "a torch.nn.Module"
        raise TypeError(f"{name} is a {type(wrong).__name__}: wanted {wanted}")
    stateful = _stateful(early_stop, ema, callbacks)
    shown: list[AbstractCallback] = [ProgressBar()] if progress else []
    if settings.log is not None:
        shown.append(StepLog(settings.log))
    devices = find_devices(device)
    with own_random_numbers(seed, devices.device, devices.rank):
        run = Run(model, batches, loss, optimizer, scheduler, devices, settings)
        return run.go(stateful, shown)


def _stateful(
    early_stop: EarlyStop | int | None,
    ema: float | None,
    callbacks: Sequence[AbstractCallback | Callable[[TrainingState], Any]],
) -> list[AbstractCallback]:
    if isinstance(early_stop, int):
        early_stop = EarlyStop(early_stop)
    if early_stop is not None and early_stop.restore_best and ema is not None:
        raise ValueError(
            "ema and early_stop would both set the weights at the end: give "
            "early_stop=EarlyStop(..., restore_best=False), or leave one out"
        )
    found: list[AbstractCallback] = [] if ema is None else [MovingAverage(ema)]
    found += [] if early_stop is None else [early_stop]
    for each in callbacks:
        if isinstance(each, AbstractCallback):
            found.append(each)
        elif callable(each):
            found.append(_Function(each))
        else:
            raise TypeError(
                f"callbacks holds a {type(each).__name__}: wanted an AbstractCallback or a "
                "function of the TrainingState"
            )
    return found


class _Function(AbstractCallback):
    """A function that is called after every step."""

    def __init__(self, function: Callable[[TrainingState], Any]) -> None:
        self._function = function

    def on_step(self, state: TrainingState) -> None:
        self._function(state)
