"""Weights to go back to when a loss is not finite."""

from __future__ import annotations

import torch

from sciml.training.callbacks import copied_weights

__all__ = ["LastGood"]


class LastGood:
    """Weights of the last time at which the loss is known to have been finite.

    Weights are noted without knowing what their loss is; the next step that has a finite loss
    confirms them.
    """

    def __init__(self) -> None:
        self._noted: tuple[int, dict[str, torch.Tensor]] | None = None
        self._confirmed: tuple[int, dict[str, torch.Tensor]] | None = None

    def note(self, step: int, model: torch.nn.Module) -> None:
        """Keep the weights of a step whose loss is not known yet."""
        self._noted = (step, copied_weights(model))

    def confirm(self) -> None:
        """Say that a loss with the weights noted last was finite."""
        if self._noted is not None:
            self._confirmed, self._noted = self._noted, None

    def restore(self, model: torch.nn.Module) -> int:
        """Give the model those weights, and return their step."""
        step, weights = self._confirmed or self._noted or (0, {})
        model.load_state_dict(weights)
        return step
