"""Fourier neural operator on any tensor grid, from one to three dimensions.

Z. Li et al., Fourier neural operator for parametric partial differential equations, ICLR 2021, in
the arrangement of the neuraloperator library, with Fourier coefficients and normalization by
quadrature. Inside, fields have their channels last, so that pointwise maps are plain products.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import nn
from torch.nn import functional

from sciml.nn.model_registry import register_model
from sciml.nn.quadrature import Quadrature, weights_for
from sciml.nn.seeding import seeded
from sciml.operators.quad_norm import BlendQuadNorm, QuadNorm
from sciml.operators.spectral_conv import (
    SpectralConv,
    check_field,
    check_modes,
    check_one_of,
    matching,
)

__all__ = ["FNO", "NORMS", "FNOBlock"]

NORMS = (None, "quad", "quad_layer", "blend", "instance", "layer")
"""No normalization; QuadNorm by channel; QuadNorm of all channels; BlendQuadNorm; instance
normalization; layer normalization over space and channels (a single group)."""


@register_model
class FNO(nn.Module):
    """Fourier neural operator.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of input and output fields.
    hidden_channels : int
        Width.
    n_modes : int or sequence of int
        Number of Fourier modes along each of one to three axes, negative ones included, as in
        neuraloperator: ``(16, 16)`` keeps -8 to 7 and 0 to 8.
    n_layers : int, default 4
        Fourier layers.
    norm : {None, "quad", "quad_layer", "blend", "instance", "layer"}
        Normalization of every Fourier layer: none, `QuadNorm` for each channel, `QuadNorm` over
        all channels, `BlendQuadNorm`, or the usual ones with equal weights.
    axis_kinds : str or sequence of str, optional
        Kinds of the axes (`sciml.nn.AXIS_KINDS`), unless every call gives its grid.
    period : float or sequence of float, optional
        Period of the Fourier modes over the length of the domain; 1.25 where an axis is not
        periodic. A fixed part of the domain: what padding by a number of points is not.
    fourier : {"quadrature", "periodic"}
        ``"periodic"`` for the plain fast transform that takes all axes for periodic ones.
    channel_mlp : bool, default True
        End each block with a pointwise perceptron, as neuraloperator does.
    channel_mlp_expansion : float, default 0.5
        Its hidden width over ``hidden_channels``.
    second_stage : bool, optional
        End each block with another normalization and activation. As ``channel_mlp`` by default;
        neuraloperator does it without channel perceptron as well.
    lifting_ratio, projection_ratio : float, default 2
        Hidden width of the first and last perceptron over ``hidden_channels``.
    positional_embedding : bool, default True
        Append the coordinates, from 0 to 1 over the domain, to the input.
    method : {"auto", "matmul", "fft"}
        How to compute Fourier coefficients; see `SpectralConv`.
    seed : int, optional
        Of the initial weights.

    Examples
    --------
    >>> import torch
    >>> model = FNO(1, 1, 8, n_modes=(4, 4), norm="quad_layer", axis_kinds="node", seed=0)
    >>> coarse, fine = torch.ones(1, 1, 17, 17), torch.ones(1, 1, 65, 65)
    >>> with torch.no_grad():
    ...     gap = model(fine)[..., ::4, ::4] - model(coarse)
    >>> float(gap.abs().max()) < 0.02
    True
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int,
        n_modes: int | Sequence[int],
        n_layers: int = 4,
        *,
        norm: Literal["quad", "quad_layer", "blend", "instance", "layer"] | None = None,
        axis_kinds: str | Sequence[str] | None = None,
        period: float | Sequence[float] | None = None,
        fourier: Literal["quadrature", "periodic"] = "quadrature",
        channel_mlp: bool = True,
        channel_mlp_expansion: float = 0.5,
        second_stage: bool | None = None,
        lifting_ratio: float = 2,
        projection_ratio: float = 2,
        positional_embedding: bool = True,
        method: Literal["auto", "matmul", "fft"] = "auto",
        seed: int | None = None,
    ) -> None:
        super().__init__()
        for name, value in (
            ("in_channels", in_channels),
            ("out_channels", out_channels),
            ("hidden_channels", hidden_channels),
            ("n_layers", n_layers),
        ):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}: got {value!r}, wanted an integer >= 1")
        check_one_of("norm", norm, NORMS)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.hidden_channels, self.n_layers = hidden_channels, n_layers
        self.n_modes = check_modes(n_modes)
        self.norm, self.axis_kinds, self.period = norm, axis_kinds, period
        self.positional_embedding = positional_embedding
        dimension = len(self.n_modes)
        embedded = dimension if positional_embedding else 0
        lifted = max(1, int(lifting_ratio * hidden_channels))
        projected = max(1, int(projection_ratio * hidden_channels))
        with seeded(seed):
            self.lifting = ChannelMLP(in_channels + embedded, lifted, hidden_channels)
            self.blocks = nn.ModuleList(
                FNOBlock(
                    hidden_channels,
                    self.n_modes,
                    norm=norm,
                    axis_kinds=axis_kinds,
                    period=period,
                    fourier=fourier,
                    mlp_channels=round(channel_mlp_expansion * hidden_channels)
                    if channel_mlp
                    else 0,
                    second_stage=channel_mlp if second_stage is None else second_stage,
                    last=layer == n_layers - 1,
                    method=method,
                )
                for layer in range(n_layers)
            )
            self.projection = ChannelMLP(hidden_channels, projected, out_channels)

    def forward(self, x: torch.Tensor, grid: Any = None) -> torch.Tensor:
        """Map input fields to output fields on the same points.

        Parameters
        ----------
        x : Tensor, shape (batch, in_channels, *points)
            Real, on any tensor grid that resolves the modes.
        grid : SampleGrid, pdes.Grid or Quadrature, optional
            Of this input. Else the innermost `sciml.nn.on_grid`, else ``axis_kinds``.

        Returns
        -------
        Tensor, shape (batch, out_channels, *points)
        """
        check_field(x, self.in_channels, len(self.n_modes), "FNO")
        quadrature = weights_for(x, weights=grid, axis_kinds=self.axis_kinds, layer="FNO")
        h = matching(x, self.lifting.first.weight, "FNO").movedim(1, -1)
        if self.positional_embedding:
            places = _places(quadrature, h)
            h = torch.cat([h, places.expand(h.shape[0], *places.shape[1:])], -1)
        h = self.lifting(h.contiguous())
        for block in self.blocks:
            h = block(h, quadrature)
        return self.projection(h).movedim(-1, 1)

    @classmethod
    def from_neuraloperator(cls, state: Mapping[str, Any], **options: Any) -> FNO:
        """Model with the weights of neuraloperator's FNO (version 2.0).

        Parameters
        ----------
        state : mapping of str to Tensor
            ``model.state_dict()`` of the other model, dense weights. Widths and modes are read
            from it.
        **options
            Arguments of `FNO` that the weights do not tell, such as ``axis_kinds``; with
            ``"periodic"`` the outputs are those of the other model.

        Raises
        ------
        ValueError
            If the weights are of an arrangement that we do not have, naming it.
        """
        from sciml.operators.neuraloperator_weights import from_neuraloperator

        return from_neuraloperator(cls, state, **options)


class FNOBlock(nn.Module):
    """Fourier layer, pointwise skip, normalization, activation and channel perceptron.

    Parameters
    ----------
    channels : int
        Width.
    n_modes, axis_kinds, period, fourier, method
        Of the `SpectralConv`.
    norm : str, optional
        One of `NORMS`.
    mlp_channels : int
        Hidden width of the channel perceptron; 0 for none.
    second_stage : bool
        Another normalization and activation at the end.
    last : bool
        The last block has no activations.
    """

    def __init__(
        self,
        channels: int,
        n_modes: tuple[int, ...],
        *,
        norm: str | None = None,
        axis_kinds: str | Sequence[str] | None = None,
        period: float | Sequence[float] | None = None,
        fourier: Literal["quadrature", "periodic"] = "quadrature",
        mlp_channels: int = 0,
        second_stage: bool = False,
        last: bool = False,
        method: Literal["auto", "matmul", "fft"] = "auto",
    ) -> None:
        super().__init__()
        self.last, self.second_stage = last, second_stage
        self.conv = SpectralConv(
            channels,
            channels,
            n_modes,
            axis_kinds=axis_kinds,
            period=period,
            fourier=fourier,
            method=method,
        )
        self.skip = nn.Linear(channels, channels, bias=False)
        self.norm = _make_norm(norm, channels, axis_kinds, len(n_modes))
        self.mlp = ChannelMLP(channels, mlp_channels, channels) if mlp_channels else None
        self.gate = nn.Parameter(torch.ones(channels)) if mlp_channels else None
        self.second_norm = (
            _make_norm(norm, channels, axis_kinds, len(n_modes)) if second_stage else None
        )

    def forward(self, x: torch.Tensor, quadrature: Quadrature) -> torch.Tensor:
        """Map a field of shape (batch, *points, channels)."""
        if self.norm is None or isinstance(self.norm, QuadNorm):
            h = self.conv.channels_last(x, quadrature, self.skip.weight, self.norm)
        else:
            h = self.conv.channels_last(x, quadrature)
            h = _normalize(self.norm, h, quadrature) + self.skip(x)
        h = h if self.last else functional.gelu(h)
        if self.mlp is not None:
            h = torch.addcmul(self.mlp(h), x, self.gate)  # pyright: ignore[reportArgumentType]
        if self.second_stage:
            if self.second_norm is not None:
                h = _normalize(self.second_norm, h, quadrature)
            h = h if self.last else functional.gelu(h)
        return h


class ChannelMLP(nn.Module):
    """Perceptron with one hidden layer at every point, channels last."""

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int) -> None:
        super().__init__()
        self.first = nn.Linear(in_channels, hidden_channels)
        self.second = nn.Linear(hidden_channels, out_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map (..., in_channels) to (..., out_channels)."""
        return self.second(functional.gelu(self.first(x)))


def _make_norm(
    norm: str | None, channels: int, axis_kinds: str | Sequence[str] | None, dimension: int
) -> nn.Module | None:
    if norm == "quad":
        return QuadNorm(channels, axis_kinds=axis_kinds)
    if norm == "quad_layer":
        return QuadNorm(channels, 1, axis_kinds=axis_kinds)
    if norm == "blend":
        return BlendQuadNorm(channels, axis_kinds=axis_kinds)
    if norm == "instance":
        kind = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)[dimension - 1]
        return kind(channels, affine=True)
    return nn.GroupNorm(1, channels) if norm == "layer" else None


def _normalize(norm: nn.Module, x: torch.Tensor, quadrature: Quadrature) -> torch.Tensor:
    """Normalize a field with channels last; the layer sees (batch, channels, *points)."""
    field = x.movedim(-1, 1)
    if isinstance(norm, QuadNorm | BlendQuadNorm):
        return norm.normalize(field, quadrature).movedim(1, -1)
    return norm(field).movedim(1, -1)


def _places(quadrature: Quadrature, like: torch.Tensor) -> torch.Tensor:
    """Coordinates on the unit box, shape (1, *points, axes)."""
    key = ("places", like.dtype, like.device)
    if key not in quadrature.cache:
        grid = quadrature.grid
        if grid is None:
            raise ValueError(
                "FNO: needs a tensor grid, got points without one (a mesh, a cloud or an array of "
                "weights): sample the field on a grid, or use Transolver"
            )
        axes = [
            torch.tensor(axis.positions(), dtype=like.dtype, device=like.device)
            for axis in grid.axes
        ]
        mesh = torch.meshgrid(*axes, indexing="ij")
        quadrature.cache[key] = torch.stack(mesh, -1).unsqueeze(0)
    return quadrature.cache[key]
