"""Ordinary networks to compare with: a multilayer perceptron and a SIREN."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn


class MLP(nn.Module):
    """Fully connected network with tanh.

    Parameters
    ----------
    dimension : int
        Of the input.
    width : int, default 128
        Of the hidden layers; three of 128 make 33,537 parameters in the plane.
    depth : int, default 3
        Number of hidden layers.
    generator : torch.Generator, optional
        Draws the start (Glorot's uniform, biases zero).

    Examples
    --------
    >>> [sum(p.numel() for p in MLP(d).parameters()) for d in (2, 3)]
    [33537, 33665]
    """

    def __init__(
        self,
        dimension: int,
        width: int = 128,
        depth: int = 3,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        sizes = [dimension, *[width] * depth, 1]
        layers = [nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes)]
        self.layers = nn.ModuleList(layers)
        for layer in layers:
            bound = math.sqrt(6.0 / (layer.in_features + layer.out_features))
            _uniform(layer.weight, bound, generator)
            nn.init.zeros_(layer.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Shape (..., d) to (..., 1)."""
        for layer in self.layers[:-1]:
            x = torch.tanh(layer(x))
        return self.layers[-1](x)


class Siren(nn.Module):
    """Network with sine activations (Sitzmann et al., NeurIPS 2020).

    Parameters
    ----------
    dimension : int
        Of the input.
    width : int, default 64
        Of the hidden layers; three of 64 make 8,577 parameters in the plane.
    depth : int, default 3
        Number of hidden layers.
    frequency : float, default 30
        Factor inside the sines.
    generator : torch.Generator, optional
        Draws the start of that paper.

    Examples
    --------
    >>> [sum(p.numel() for p in Siren(d).parameters()) for d in (2, 3)]
    [8577, 8641]
    """

    def __init__(
        self,
        dimension: int,
        width: int = 64,
        depth: int = 3,
        *,
        frequency: float = 30.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        sizes = [dimension, *[width] * depth, 1]
        self.frequency = frequency
        layers = [nn.Linear(inputs, outputs) for inputs, outputs in pairwise(sizes)]
        self.layers = nn.ModuleList(layers)
        for place, layer in enumerate(layers):
            inputs = layer.in_features
            _uniform(
                layer.weight,
                1.0 / inputs if place == 0 else math.sqrt(6.0 / inputs) / frequency,
                generator,
            )
            _uniform(layer.bias, 1.0 / math.sqrt(inputs), generator)

    def forward(self, x: Tensor) -> Tensor:
        """Shape (..., d) to (..., 1)."""
        for layer in self.layers[:-1]:
            x = torch.sin(self.frequency * layer(x))
        return self.layers[-1](x)


def matched_mlp(
    dimension: int, parameters: int, *, depth: int = 2, generator: torch.Generator | None = None
) -> MLP:
    """The narrowest MLP with at least so many parameters.

    Examples
    --------
    >>> sum(p.numel() for p in matched_mlp(1, 1013).parameters())
    1021
    """
    width = 1
    while (dimension + 1) * width + (depth - 1) * width * (width + 1) + width + 1 < parameters:
        width += 1
    return MLP(dimension, width, depth, generator=generator)


def _uniform(parameter: Tensor, bound: float, generator: torch.Generator | None) -> None:
    with torch.no_grad():
        draw = torch.rand(parameter.shape, generator=generator, dtype=torch.float64)
        parameter.copy_(bound * (2.0 * draw - 1.0))
