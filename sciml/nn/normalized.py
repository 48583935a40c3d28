"""A model between the fields' own units and numbers of about one."""

from __future__ import annotations

from typing import Any

import torch

from sciml.nn.model_registry import register_model

__all__ = ["Normalized"]


@register_model
class Normalized(torch.nn.Module):
    """A model whose inputs and outputs are shifted and scaled, channel by channel.

    The numbers are buffers, so that they travel in the model's file, and they do not depend on the
    grid: what was measured at one resolution holds at another.

    Parameters
    ----------
    model : Module
        Takes and returns tensors ``(batch, channel, *grid)``.
    in_channels, out_channels : int
        Number of channels.

    Attributes
    ----------
    input_mean, input_std : Tensor, shape (in_channels,)
    output_mean, output_std : Tensor, shape (out_channels,)

    Examples
    --------
    >>> model = Normalized(torch.nn.Identity(), in_channels=1, out_channels=1)
    >>> model.set_statistics([2.0], [4.0], [10.0], [1.0])
    >>> model(torch.tensor([[[2.0, 6.0]]]))
    tensor([[[10., 11.]]])
    """

    input_mean: torch.Tensor
    input_std: torch.Tensor
    output_mean: torch.Tensor
    output_std: torch.Tensor

    def __init__(self, model: torch.nn.Module, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.model = model
        for side, channels in (("input", in_channels), ("output", out_channels)):
            self.register_buffer(f"{side}_mean", torch.zeros(channels))
            self.register_buffer(f"{side}_std", torch.ones(channels))

    def set_statistics(
        self, input_mean: Any, input_std: Any, output_mean: Any, output_std: Any
    ) -> None:
        """Set the numbers; a channel that is constant keeps the scale 1.

        Parameters
        ----------
        input_mean, input_std, output_mean, output_std : sequence of float
            One per channel.

        Raises
        ------
        ValueError
            For another number of channels, or numbers that are not finite.
        """
        given = {
            "input_mean": input_mean,
            "input_std": input_std,
            "output_mean": output_mean,
            "output_std": output_std,
        }
        for name, values in given.items():
            buffer = getattr(self, name)
            new = torch.as_tensor(values, dtype=torch.float64)
            if new.shape != buffer.shape or not bool(new.isfinite().all()):
                raise ValueError(
                    f"{name} is {new.tolist()}: wanted {len(buffer)} finite numbers, one per "
                    "channel"
                )
            if name.endswith("std"):
                new = torch.where(new > 0.0, new, 1.0)
            with torch.no_grad():
                buffer.copy_(new)

    def forward(self, u: torch.Tensor, *arguments: Any, **named: Any) -> torch.Tensor:
        """Model of the scaled input, in the units of the output.

        Parameters
        ----------
        u : Tensor, shape (batch, in_channels, *grid)
        *arguments, **named
            Passed on to the model.

        Returns
        -------
        Tensor, shape (batch, out_channels, *grid)
        """
        if u.ndim < 3 or u.shape[1] != len(self.input_mean):
            raise ValueError(
                f"input has shape {tuple(u.shape)}: wanted (batch, {len(self.input_mean)}, *grid)"
            )
        scaled = (u - _along(self.input_mean, u)) / _along(self.input_std, u)
        v = self.model(scaled, *arguments, **named)
        return v * _along(self.output_std, v) + _along(self.output_mean, v)


def _along(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return values.view(1, -1, *(1,) * (like.ndim - 2))
