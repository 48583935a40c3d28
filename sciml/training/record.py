"""What happened in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Status = Literal["finished", "stopped_early", "interrupted", "non_finite"]


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingRecord:
    """History and outcome of a run.

    Attributes
    ----------
    status : {"finished", "stopped_early", "interrupted", "non_finite"}
    reason : str
        Why it ended before its last step, if it did.
    losses : ndarray of float, shape (steps,)
        Loss of every step, before its update.
    parts : dict of str to ndarray, shape (steps,)
        Named parts of the loss; not-a-number where a step had no such part.
    learning_rates : ndarray of float, shape (steps,)
        Of the first parameter group.
    gradient_norms : ndarray of float, shape (steps,)
        Norm of the whole gradient before clipping; not-a-number for closure optimizers.
    seed : int
    seconds : float
        Wall time of all sessions of the run together.
    resumed_from : int
        Step at which this session began, 0 for a new run.
    device, precision : str
    checkpoint : pathlib.Path or None
        Folder of the checkpoints.
    log : pathlib.Path or None
    """

    status: Status
    losses: np.ndarray
    parts: Mapping[str, np.ndarray] = field(default_factory=dict)
    learning_rates: np.ndarray = field(default_factory=lambda: np.empty(0))
    gradient_norms: np.ndarray = field(default_factory=lambda: np.empty(0))
    seed: int = 0
    seconds: float = 0.0
    resumed_from: int = 0
    device: str = "cpu"
    precision: str = "float32"
    reason: str = ""
    checkpoint: Path | None = None
    log: Path | None = None

    @property
    def steps(self) -> int:
        """Steps that were taken."""
        return len(self.losses)

    def to_dict(self) -> dict[str, Any]:
        """Summary as plain data, for a model file."""
        return {
            "status": self.status,
            "steps": self.steps,
            "first_loss": float(self.losses[0]) if self.steps else None,
            "last_loss": float(self.losses[-1]) if self.steps else None,
            "seed": self.seed,
            "seconds": self.seconds,
            "device": self.device,
            "precision": self.precision,
        }

    def __str__(self) -> str:
        line = f"{self.status.replace('_', ' ')} after {self.steps} steps"
        if self.steps:
            line += f", loss {self.losses[0]:.4g} -> {self.losses[-1]:.4g}"
        line += f", {self.seconds:.1f} s on {self.device}"
        if self.resumed_from:
            line += f", resumed from step {self.resumed_from}"
        rows = [line, *([self.reason] if self.reason else [])]
        if self.steps and self.parts:
            width = max(len(name) for name in self.parts)
            rows += [
                f"  {name:<{width}}  {values[0]:.4g} -> {values[-1]:.4g}"
                for name, values in self.parts.items()
            ]
        return "\n".join(rows)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the loss and its parts against the step.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(5.0, 3.4), layout="constrained").add_subplot()
        steps = np.arange(1, self.steps + 1)
        ax.plot(steps, self.losses, lw=1.4, label="loss")
        for name, values in self.parts.items():
            ax.plot(steps, values, lw=1.0, alpha=0.8, label=name)
        if self.parts:
            ax.legend(frameon=False, fontsize=8)
        shown = [self.losses, *self.parts.values()]
        if self.steps and all(np.nanmin(values) > 0 for values in shown):
            ax.set_yscale("log")
        ax.set_xlabel("step")
        ax.set_ylabel("loss")
        return ax
