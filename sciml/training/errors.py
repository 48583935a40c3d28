"""What can go wrong in training, and is said instead of passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sciml.training.record import TrainingRecord


class NonFiniteLossError(ArithmeticError):
    """A loss, a gradient or a weight became infinite or not-a-number.

    Attributes
    ----------
    step : int
        The step at which it was noticed, counted from 1.
    good_step : int
        The model has the weights it had after so many steps.
    record : TrainingRecord
        History up to the last step that was taken.
    """

    def __init__(self, message: str, *, step: int, good_step: int, record: TrainingRecord) -> None:
        super().__init__(message)
        self.step = step
        self.good_step = good_step
        self.record = record


class TrainingInterruptedError(KeyboardInterrupt):
    """Ctrl-C, after the running step was finished and a checkpoint was written.

    Attributes
    ----------
    record : TrainingRecord
        History so far; its ``checkpoint`` is where to go on from.
    """

    def __init__(self, message: str, record: TrainingRecord) -> None:
        super().__init__(message)
        self.record = record


class CheckpointError(ValueError):
    """A checkpoint is damaged, missing, or belongs to another run."""
