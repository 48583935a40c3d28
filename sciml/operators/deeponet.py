"""DeepONet whose branch sees integrals of the input function, not values at fixed sensors.

L. Lu et al., Learning nonlinear operators via DeepONet, Nature Machine Intelligence 3, 218 (2021).
There the branch takes the values at sensors that may never move. Here it takes integrals

    b_k = sum_i q_i psi_k(x_i) . a(x_i)

of the input against learned functions psi_k, so that the input may come on any points.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from sciml.nn.axis_kind import check_kinds
from sciml.nn.model_registry import register_model
from sciml.nn.seeding import seeded
from sciml.operators.point_input import check_integers, read_points
from sciml.operators.spectral_conv import matching

__all__ = ["DeepONet"]


@register_model
class DeepONet(nn.Module):
    """DeepONet on points of any kind, with branch integrals by quadrature.

    ``y_c(s) = sum_k B_ck(b) T_k(s) + beta_c``: the branch B is a perceptron of the integrals b, the
    trunk T one of the place s.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of input and output fields.
    dimension : int
        Number of coordinates.
    hidden_channels : int, default 64
        Width of the perceptrons.
    n_layers : int, default 3
        Hidden layers of branch and trunk.
    n_integrals : int, default 64
        Integrals that the branch sees.
    n_basis : int, default 64
        Products of branch and trunk that are summed.
    quadrature : bool, default True
        False takes plain means over the points.
    axis_kinds : str or sequence of str, optional
        Kinds of the axes (`sciml.nn.AXIS_KINDS`) for input on tensor grids, unless every call
        gives its grid.
    seed : int, optional
        Of the initial weights.

    Examples
    --------
    Input on one grid, output at places of one's own:

    >>> model = DeepONet(1, 1, 2, hidden_channels=8, axis_kinds="node", seed=0)
    >>> model(torch.rand(3, 1, 9, 17), queries=torch.rand(5, 2)).shape
    torch.Size([3, 1, 5])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        dimension: int,
        hidden_channels: int = 64,
        n_layers: int = 3,
        *,
        n_integrals: int = 64,
        n_basis: int = 64,
        quadrature: bool = True,
        axis_kinds: str | Sequence[str] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        check_integers(
            in_channels=in_channels,
            out_channels=out_channels,
            dimension=dimension,
            hidden_channels=hidden_channels,
            n_layers=n_layers,
            n_integrals=n_integrals,
            n_basis=n_basis,
        )
        self.in_channels, self.out_channels, self.dimension = in_channels, out_channels, dimension
        self.n_integrals, self.n_basis = n_integrals, n_basis
        self.quadrature, self.axis_kinds = quadrature, check_kinds(axis_kinds)
        width = hidden_channels
        with seeded(seed):
            self.sensors = _Perceptron(dimension, width, 2, n_integrals * in_channels)
            self.branch = _Perceptron(n_integrals, width, n_layers, n_basis * out_channels)
            self.trunk = _Perceptron(dimension, width, n_layers, n_basis)
            self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(
        self, x: torch.Tensor, positions: Any = None, grid: Any = None, *, queries: Any = None
    ) -> torch.Tensor:
        """Map fields to fields on the same points, or at places of one's own.

        Parameters
        ----------
        x : Tensor, shape (batch, in_channels, *points)
            On a tensor grid, or a list of points in any order.
        positions : array, shape (*points, dimension) or (batch, *points, dimension), optional
            Coordinates, best between 0 and 1. Tensor grids and meshes know theirs.
        grid : SampleGrid, pdes.Grid, pdes.Mesh, Quadrature or array of weights, optional
            Of this input, as in `Transolver`.
        queries : array, shape (n, dimension), optional
            Where to evaluate; the points of the input by default.

        Returns
        -------
        Tensor, shape (batch, out_channels, *points) or (batch, out_channels, n)
        """
        places, weights = read_points(
            x,
            channels=self.in_channels,
            dimension=self.dimension,
            positions=positions,
            grid=grid,
            axis_kinds=self.axis_kinds,
            quadrature=self.quadrature,
            layer="DeepONet",
        )
        wide = matching(x, self.bias, "DeepONet")
        places, weights = places.to(wide), weights.to(wide)
        integrals = self.integrals(wide.flatten(2), places, weights)
        branch = self.branch(integrals).unflatten(-1, (self.out_channels, self.n_basis))
        where, shape = places, tuple(x.shape[2:])
        if queries is not None:
            where = torch.as_tensor(queries).to(wide)
            if where.ndim != 2 or where.shape[1] != self.dimension:
                raise ValueError(
                    f"queries: got shape {tuple(where.shape)}, wanted (n, {self.dimension})"
                )
            shape, where = (len(where),), where.unsqueeze(0)
        y = branch @ self.trunk(where).transpose(1, 2)
        return (y + self.bias[:, None]).reshape(x.shape[0], self.out_channels, *shape)

    def integrals(
        self, x: torch.Tensor, places: torch.Tensor, weights: torch.Tensor
    ) -> torch.Tensor:
        """Integrals of a field of shape (batch, channels, count) against the learned functions."""
        functions = self.sensors(places).unflatten(-1, (self.n_integrals, self.in_channels))
        weighted = x * weights.view(-1, 1, weights.shape[-1])
        if functions.shape[0] == 1:
            return torch.einsum("bcp,pkc->bk", weighted, functions[0])
        return torch.einsum("bcp,bpkc->bk", weighted, functions)


class _Perceptron(nn.Module):
    """Hidden layers of one width, with GELU between them."""

    def __init__(self, inputs: int, width: int, n_layers: int, outputs: int) -> None:
        super().__init__()
        sizes = [inputs, *[width] * n_layers, outputs]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map (..., inputs) to (..., outputs)."""
        *hidden, last = self.layers
        for layer in hidden:
            x = functional.gelu(layer(x))
        return last(x)
