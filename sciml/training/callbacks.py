"""What may happen beside the steps: progress, a log, stopping early, averaged weights."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from sciml import _atomic

__all__ = [
    "AbstractCallback",
    "EarlyStop",
    "MovingAverage",
    "ProgressBar",
    "StepLog",
    "TrainingState",
]


@dataclass(kw_only=True)
class TrainingState:
    """What a callback sees of a run.

    Attributes
    ----------
    model : Module
    optimizer : Optimizer
    steps : int
        Steps of the whole run.
    step : int
        Steps that were taken.
    loss : float
        Of the last step, before its update.
    parts : dict of str to float
        Its named parts.
    learning_rate, gradient_norm : float
        Of the last step.
    device : torch.device
    is_main : bool
        Whether this process may write files and show progress.
    stop_reason : str
        Why the run is to end; empty as long as it goes on.
    """

    model: torch.nn.Module
    optimizer: torch.optim.Optimizer
    steps: int
    device: torch.device
    is_main: bool = True
    step: int = 0
    loss: float = math.nan
    parts: dict[str, float] = field(default_factory=dict)
    learning_rate: float = math.nan
    gradient_norm: float = math.nan
    stop_reason: str = ""
    history: dict[str, list[float]] = field(default_factory=dict)

    def stop(self, reason: str) -> None:
        """End the run after this step."""
        self.stop_reason = reason or "a callback asked for it"


class AbstractCallback:
    """Base class of callbacks; override what is needed.

    A callback with a state of its own returns it from `state_dict`, as data and tensors, and takes
    it back in `load_state_dict`: it is part of every checkpoint.
    """

    def on_start(self, state: TrainingState) -> None:
        """Before the first step of a session, after a checkpoint was read."""

    def on_step(self, state: TrainingState) -> None:
        """After a step."""

    def on_checkpoint(self, state: TrainingState, path: Path) -> None:
        """After a checkpoint was written."""

    def on_end(self, state: TrainingState) -> None:
        """After the last step, and when the run ends for another reason."""

    def state_dict(self) -> Mapping[str, Any]:
        """State to store."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take a stored state back."""


class ProgressBar(AbstractCallback):
    """Bar on a terminal, nothing in a log."""

    def __init__(self) -> None:
        self._bar: Any = None

    def on_start(self, state: TrainingState) -> None:
        """Show the bar."""
        from tqdm.auto import tqdm

        if state.is_main:
            self._bar = tqdm(
                total=state.steps, initial=state.step, desc="training", unit="step", disable=None
            )

    def on_step(self, state: TrainingState) -> None:
        """Advance the bar."""
        if self._bar is not None:
            self._bar.set_postfix_str(f"loss {state.loss:.3e}", refresh=False)
            self._bar.update()

    def on_end(self, state: TrainingState) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()


class StepLog(AbstractCallback):
    """One line of JSON for every step: loss, its parts, learning rate, norm of the gradient.

    A resumed run writes the lines of the steps before it again, from the checkpoint: what a killed
    run had logged beyond it is gone, and the file is that of a run without interruption.

    Parameters
    ----------
    path : path
        File, replaced.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._stream: Any = None

    def on_start(self, state: TrainingState) -> None:
        """Write the lines that a checkpoint knows."""
        if not state.is_main:
            return
        names = list(state.history)
        rows = [
            dict(zip(names, row, strict=True)) for row in zip(*state.history.values(), strict=True)
        ]
        lines = [self._line(i + 1, row) for i, row in enumerate(rows)]
        _atomic.write(self.path, "".join(lines))
        self._stream = self.path.open("a", encoding="utf-8", newline="\n")

    def on_step(self, state: TrainingState) -> None:
        """Write the line of this step."""
        if self._stream is not None:
            row = {name: values[-1] for name, values in state.history.items()}
            self._stream.write(self._line(state.step, row))
            self._stream.flush()

    def on_end(self, state: TrainingState) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()

    @staticmethod
    def _line(step: int, row: Mapping[str, float]) -> str:
        finite = {name: value for name, value in row.items() if math.isfinite(value)}
        return json.dumps({"step": step, **finite}) + "\n"


class EarlyStop(AbstractCallback):
    """Stop once a number has not improved for a while.

    Parameters
    ----------
    patience : int
        How many looks without improvement are allowed.
    every : int, default 1
        Steps between looks.
    validate : callable, optional
        ``model -> float``, smaller is better, such as an error on held-out data; called without
        gradients and in evaluation mode. By default the mean training loss since the last look.
    min_delta : float, default 0
        Improvement that counts.
    restore_best : bool, default True
        Leave the model with the weights of the best look.

    Attributes
    ----------
    best : float
    best_step : int
    values : list of (int, float)
        Step and value of every look.

    Examples
    --------
    >>> EarlyStop(patience=5, every=100).patience
    5
    """

    def __init__(
        self,
        patience: int,
        every: int = 1,
        validate: Callable[[torch.nn.Module], float] | None = None,
        min_delta: float = 0.0,
        restore_best: bool = True,
    ) -> None:
        for name, value in (("patience", patience), ("every", every)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}={value!r}: wanted a whole number of at least 1")
        if not min_delta >= 0.0:
            raise ValueError(f"min_delta={min_delta!r}: wanted a number of at least 0")
        self.patience, self.every, self.validate = patience, every, validate
        self.min_delta, self.restore_best = min_delta, restore_best
        self.best, self.best_step = math.inf, 0
        self.values: list[tuple[int, float]] = []
        self._weights: dict[str, torch.Tensor] | None = None

    def on_start(self, state: TrainingState) -> None:
        """Forget an earlier run."""
        if state.step == 0:
            self.best, self.best_step, self.values, self._weights = math.inf, 0, [], None

    def on_step(self, state: TrainingState) -> None:
        """Look, if it is time."""
        if state.step % self.every:
            return
        value = self._value(state)
        self.values.append((state.step, value))
        if value < self.best - self.min_delta:
            self.best, self.best_step = value, state.step
            if self.restore_best:
                self._weights = copied_weights(state.model)
        elif (state.step - self.best_step) // self.every >= self.patience:
            state.stop(
                f"no improvement since step {self.best_step} ({self.patience} looks, one every "
                f"{self.every} steps; best {self.best:.4g})"
            )

    def _value(self, state: TrainingState) -> float:
        if self.validate is None:
            recent = state.history["loss"][-self.every :]
            return sum(recent) / len(recent)
        was_training = state.model.training
        state.model.eval()
        try:
            with torch.no_grad():
                value = float(self.validate(state.model))
        finally:
            state.model.train(was_training)
        return value if math.isfinite(value) else math.inf

    def on_end(self, state: TrainingState) -> None:
        """Give the model its best weights."""
        if self._weights is not None:
            state.model.load_state_dict(self._weights)

    def state_dict(self) -> dict[str, Any]:
        """Best value and weights so far."""
        return {
            "best": self.best,
            "best_step": self.best_step,
            "values": self.values,
            "weights": self._weights,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take them back."""
        self.best, self.best_step = state["best"], state["best_step"]
        self.values, self._weights = list(state["values"]), state["weights"]


class MovingAverage(AbstractCallback):
    """Exponential moving average of the weights, which the model has at the end.

    Parameters
    ----------
    decay : float
        Between 0 and 1; the average remembers about ``1/(1 - decay)`` steps. At step n the smaller
        of it and ``(1 + n)/(10 + n)`` is used, so that the first weights are soon forgotten.

    Examples
    --------
    >>> MovingAverage(0.999).decay
    0.999
    """

    def __init__(self, decay: float) -> None:
        if not 0.0 < decay < 1.0:
            raise ValueError(f"decay={decay!r}: wanted a number between 0 and 1")
        self.decay = decay
        self._average: dict[str, torch.Tensor] | None = None

    def on_start(self, state: TrainingState) -> None:
        """Begin with the weights as they are, unless a checkpoint had an average."""
        if self._average is None or state.step == 0:
            self._average = copied_weights(state.model)
        devices = {name: value.device for name, value in state.model.state_dict().items()}
        self._average = {name: value.to(devices[name]) for name, value in self._average.items()}

    def on_step(self, state: TrainingState) -> None:
        """Take this step's weights in."""
        assert self._average is not None
        decay = min(self.decay, (1.0 + state.step) / (10.0 + state.step))
        for name, value in state.model.state_dict().items():
            average = self._average[name]
            if average.is_floating_point() or average.is_complex():
                average.lerp_(value.detach(), 1.0 - decay)
            else:
                average.copy_(value)

    def on_end(self, state: TrainingState) -> None:
        """Give the model the average."""
        if self._average is not None:
            state.model.load_state_dict(self._average)

    def state_dict(self) -> dict[str, Any]:
        """The average."""
        return {"average": self._average}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take it back."""
        self._average = state["average"]


def copied_weights(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Copy of everything in the model's ``state_dict``."""
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
