"""Losses of supervised training by name: how far a model's output is from the targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from sciml.metrics import relative_l2
from sciml.training.optimizers import closest

__all__ = ["LOSSES", "supervised_loss"]


def _relative_l2(u: torch.Tensor, v: torch.Tensor, weights: torch.Tensor | None) -> torch.Tensor:
    return relative_l2(u.flatten(2), v.flatten(2), axis=(1, 2), weights=weights).mean()


def _mean_of(
    function: Callable[[torch.Tensor], torch.Tensor],
) -> Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor]:
    def loss(u: torch.Tensor, v: torch.Tensor, weights: torch.Tensor | None) -> torch.Tensor:
        values = function((u - v).abs())
        if weights is None:
            return values.mean()
        return (values.mean(dim=1).flatten(1) @ weights).mean()

    return loss


LOSSES: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor]] = {
    "relative_l2": _relative_l2,
    "mse": _mean_of(torch.square),
    "mae": _mean_of(lambda distance: distance),
}


def supervised_loss(
    name: str, weights: Any = None
) -> Callable[[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]], torch.Tensor]:
    """Return a loss for batches ``(inputs, targets)``.

    Parameters
    ----------
    name : {"relative_l2", "mse", "mae"}
        Mean over the samples of ``||u - v||/||v||`` with all channels together; mean square; mean
        absolute difference.
    weights : array, optional
        Quadrature weights of the grid, of its shape and with the sum 1; equal ones by default.

    Returns
    -------
    callable
        ``(model, (inputs, targets)) -> Tensor``, computed in single precision at least.

    Raises
    ------
    ValueError
        For an unknown name; when called, for an output of another shape than the targets, and for
        the relative error of a sample whose targets are 0 everywhere.

    Examples
    --------
    >>> loss = supervised_loss("relative_l2")
    >>> v = torch.tensor([[[3.0, 4.0]]])
    >>> loss(torch.nn.Identity(), (1.1 * v, v))
    tensor(0.1000)
    """
    if name not in LOSSES:
        raise ValueError(f"loss {name!r} is unknown{closest(name, LOSSES)}; known: {list(LOSSES)}")
    distance = LOSSES[name]
    flat = None if weights is None else torch.as_tensor(weights).flatten()

    def loss(model: torch.nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        inputs, targets = batch
        outputs = model(inputs)
        if outputs.shape != targets.shape:
            raise ValueError(
                f"the model returned shape {tuple(outputs.shape)} for targets of shape "
                f"{tuple(targets.shape)}: they must agree, nothing is broadcast"
            )
        # Sums in half precision would lose more than the model does.
        wide = outputs if outputs.dtype == torch.float64 else outputs.float()
        with torch.autocast(wide.device.type, enabled=False):
            return distance(wide, targets.to(wide), None if flat is None else flat.to(wide))

    return loss
