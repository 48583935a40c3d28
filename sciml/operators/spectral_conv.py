"""Fourier layer whose coefficients are integrals over the domain, on any tensor grid.

A fast transform over M points that hold both ends of an interval takes the field to be periodic
with period ``L M/(M - 1)``: mode k is another function on every grid. Here the coefficients are

    c_k = sum_i w_i f(x_i) exp(-2 pi i k x_i/P)

with quadrature weights and a period P of the domain, so that a layer means the same on every grid.
On axes that leave their last end out the field is continued to the end by a straight line.
The kept modes, and the meaning of ``n_modes``, are those of Z. Li et al., ICLR 2021, in the
implementation of the neuraloperator library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import torch
from torch import nn

from sciml.nn.axis_kind import SampleAxis, SampleGrid, spread_kinds
from sciml.nn.model_registry import register_model
from sciml.nn.quadrature import Quadrature, quadrature_weights, weights_for
from sciml.nn.truncated_fourier import (
    analysis_matrix,
    left_analysis_matrix,
    mode_numbers,
    synthesis_matrix,
)
from sciml.operators.fast_transform import continues, fast_layer, fast_lengths, faster
from sciml.operators.fourier_layer import FourierPlan, fourier_layer
from sciml.operators.mode_norm import mode_norm

__all__ = ["SpectralConv"]

EXTENSION = 1.25
"""Period over length on axes that are not periodic."""


@register_model
class SpectralConv(nn.Module):
    """Linear map of the first Fourier modes of a field, and back to the points.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels.
    n_modes : int or sequence of int
        Number of modes along each axis, negative ones included: n of them keep -n/2 to n/2 - 1,
        and 0 to n/2 on the last axis. The same meaning as in neuraloperator.
    axis_kinds : str or sequence of str, optional
        Kinds of the axes (`sciml.nn.AXIS_KINDS`) if no grid is given.
    period : float or sequence of float, optional
        Period over length of the interval. A single number is for the axes that are not periodic;
        1.25 by default, and 1 on periodic axes.
    grid : optional
        Grid of the input, if it is always the same.
    bias : bool, default True
        Add a constant to each output channel.
    fourier : {"quadrature", "periodic"}
        ``"periodic"`` takes every axis for a periodic one with equal weights, as a plain fast
        transform does. For comparisons.
    method : {"auto", "matmul", "fft"}
        How to compute it: by products with small matrices, or by the fast transform where points
        are equally spaced and divide the period; the same numbers to rounding.

    Raises
    ------
    ValueError
        If the grid is not known or does not resolve the modes.

    Examples
    --------
    >>> import torch
    >>> layer = SpectralConv(2, 3, n_modes=(4, 4), axis_kinds=("periodic", "node"))
    >>> layer(torch.rand(5, 2, 8, 9)).shape
    torch.Size([5, 3, 8, 9])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        n_modes: int | Sequence[int],
        *,
        axis_kinds: str | Sequence[str] | None = None,
        period: float | Sequence[float] | None = None,
        grid: Any = None,
        bias: bool = True,
        fourier: Literal["quadrature", "periodic"] = "quadrature",
        method: Literal["auto", "matmul", "fft"] = "auto",
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.n_modes = check_modes(n_modes)
        dimension = len(self.n_modes)
        self.axis_kinds = None if axis_kinds is None else spread_kinds(axis_kinds, dimension)
        self.period = check_period(period, dimension)
        self.grid = None if grid is None else quadrature_weights(grid)
        check_one_of("fourier", fourier, ("quadrature", "periodic"))
        check_one_of("method", method, ("auto", "matmul", "fft"))
        self.fourier, self.method = fourier, method
        count = math.prod(len(k) for k in self.mode_numbers())
        scale = math.sqrt(2.0 / (in_channels + out_channels))
        # Real and imaginary parts side by side: one product of real matrices does the complex one.
        self.weight = nn.Parameter(
            scale / math.sqrt(2.0) * torch.randn(count, in_channels, 2 * out_channels)
        )
        self.bias = nn.Parameter(scale * torch.randn(out_channels)) if bias else None

    def mode_numbers(self) -> list[Any]:
        """Mode numbers along each axis, in the order of the weights."""
        last = len(self.n_modes) - 1
        return [mode_numbers(n, axis == last) for axis, n in enumerate(self.n_modes)]

    def forward(self, x: torch.Tensor, weights: Any = None) -> torch.Tensor:
        """Transform a field of shape (batch, in_channels, *points).

        Parameters
        ----------
        x : Tensor, shape (batch, in_channels, *points)
            Real.
        weights : Quadrature, optional
            Of the points of this input; see `sciml.nn.weights_for` for what counts without it.

        Returns
        -------
        Tensor, shape (batch, out_channels, *points)
        """
        check_field(x, self.in_channels, len(self.n_modes), "SpectralConv")
        quadrature = weights_for(
            x, weights=weights, grid=self.grid, axis_kinds=self.axis_kinds, layer="SpectralConv"
        )
        y = self.channels_last(x.movedim(1, -1), quadrature)
        return y.movedim(-1, 1)

    def channels_last(
        self,
        x: torch.Tensor,
        quadrature: Quadrature,
        skip: torch.Tensor | None = None,
        norm: Any = None,
    ) -> torch.Tensor:
        """Transform a field of shape (batch, *points, in_channels), in the type of the weights.

        With ``norm``, a `QuadNorm`, the result is normalized. With ``skip``, shape (out_channels,
        in_channels), the pointwise product with it is added at the end.
        """
        x = matching(x, self.weight, "SpectralConv")
        # Integrals lose their digits in half precision, which autocast would choose.
        with torch.autocast(x.device.type, enabled=False):
            return self._transform(x, quadrature, skip, norm)

    def _transform(
        self,
        x: torch.Tensor,
        quadrature: Quadrature,
        skip: torch.Tensor | None,
        norm: Any,
    ) -> torch.Tensor:
        points = quadrature
        if self.fourier == "periodic":
            points = quadrature_weights(quadrature.shape, axis_kinds="periodic")
        inside = None
        if not points.tensor_product:
            inside, points = _mask(points, x)
        plan = self._plan(points, x)
        seen = x if inside is None else x * inside
        # The moments follow from the modes, unless weights are no product.
        lengths = self._fast_lengths(points)
        if lengths is not None:
            y = fast_layer(seen, self.weight, self.bias, points, self.n_modes, lengths)
            if norm is not None:
                y = norm.normalize(y.movedim(-1, 1), quadrature).movedim(1, -1)
            return y if skip is None else y + nn.functional.linear(x, skip)
        direct = norm is not None and quadrature.tensor_product and not norm.differentiable_twice
        if norm is None or direct:
            gain = shift = None
            if norm is not None:
                gain, shift = norm.weight, norm.bias
                plan = self._with_norm(plan, quadrature, norm, x)
            one = skip if inside is None else None
            y = fourier_layer(seen, self.weight, self.bias, one, gain, shift, plan)
            skip = skip if inside is not None else None
        else:
            y = fourier_layer(seen, self.weight, self.bias, None, None, None, plan)
            y = norm.normalize(y.movedim(-1, 1), quadrature).movedim(1, -1)
        return y if skip is None else y + nn.functional.linear(x, skip)

    def _fast_lengths(self, quadrature: Quadrature) -> tuple[int, ...] | None:
        """Points of a period along each axis, if the fast transform is to be used."""
        if self.method == "matmul":
            return None
        grid = quadrature.grid
        assert grid is not None
        periods = periods_of(grid, self.period)
        check_resolved(grid, self.n_modes, periods)
        lengths = fast_lengths(grid, self.n_modes, periods)
        if self.method == "fft" and lengths is None:
            raise ValueError(
                f"method 'fft' needs equal distances that divide the period, got axes of kinds "
                f"{grid.kinds}, {grid.shape} points and periods {periods}: use 'auto'"
            )
        if (
            self.method == "auto"
            and lengths is not None
            and not faster(self.n_modes, grid.shape, lengths)
        ):
            return None
        return lengths

    def _plan(self, quadrature: Quadrature, x: torch.Tensor) -> FourierPlan:
        key = ("fourier", self.n_modes, self.period, x.dtype, x.device)
        if key not in quadrature.cache:
            grid = quadrature.grid
            assert grid is not None
            periods = periods_of(grid, self.period)
            check_resolved(grid, self.n_modes, periods)
            quadrature.cache[key] = _make_plan(quadrature, self.n_modes, periods, x)
        return quadrature.cache[key]

    def _with_norm(
        self, plan: FourierPlan, quadrature: Quadrature, norm: Any, x: torch.Tensor
    ) -> FourierPlan:
        settings = (norm.groups, norm.eps, norm.rms)
        key = ("normed", self.fourier, self.n_modes, self.period, *settings, x.dtype, x.device)
        if key not in quadrature.cache:
            moments = mode_norm(quadrature, plan.synthesis, *settings)
            quadrature.cache[key] = replace(plan, norm=moments)
        return quadrature.cache[key]

    def extra_repr(self) -> str:
        """Arguments for print."""
        return (
            f"{self.in_channels}, {self.out_channels}, n_modes={self.n_modes}, "
            f"axis_kinds={self.axis_kinds}, fourier={self.fourier!r}"
        )


def _make_plan(
    quadrature: Quadrature,
    n_modes: tuple[int, ...],
    periods: tuple[float, ...],
    like: torch.Tensor,
) -> FourierPlan:
    analysis, synthesis = [], []
    axes = cast(SampleGrid, quadrature.grid).axes
    for place, (axis, n, period) in enumerate(zip(axes, n_modes, periods, strict=True)):
        own_mirror = axis.kind == "periodic" and period == 1.0 and 2 * (n // 2) == axis.points
        positions, last = axis.positions(), place == len(axes) - 1
        weights = quadrature.factors[place]
        analyzing = analysis_matrix(positions, weights, n // 2, period)
        if continues(axis, weights):
            analyzing = left_analysis_matrix(axis.points, n // 2, period)
        made = (analyzing, synthesis_matrix(positions, n // 2, period, last, own_mirror))
        for matrix, found in zip(made, (analysis, synthesis), strict=True):
            found.append(torch.tensor(matrix, dtype=like.dtype, device=like.device))
    return FourierPlan(tuple(analysis), tuple(synthesis), n_modes)


def _mask(quadrature: Quadrature, x: torch.Tensor) -> tuple[torch.Tensor, Quadrature]:
    """Ratio of weights that are no product to those of the grid behind them."""
    if quadrature.grid is None:
        raise ValueError(
            "SpectralConv: a Fourier layer needs a tensor grid, got points without one (a mesh, a "
            "cloud, or an array of weights); sample the field on a grid, or use Transolver"
        )
    plain = quadrature_weights(quadrature.grid)
    key = ("mask", x.dtype, x.device)
    if key not in quadrature.cache:
        ratio = quadrature.full() / plain.full()
        quadrature.cache[key] = torch.tensor(ratio, dtype=x.dtype, device=x.device).unsqueeze(-1)
    return quadrature.cache[key], plain


# --- Arguments ------------------------------------------------------------------------------------


def check_modes(n_modes: int | Sequence[int]) -> tuple[int, ...]:
    """Numbers of modes of one to three axes."""
    given = (n_modes,) if isinstance(n_modes, int) else tuple(n_modes)
    if not 1 <= len(given) <= 3 or not all(isinstance(n, int) and n >= 1 for n in given):
        raise ValueError(f"n_modes: got {n_modes!r}, wanted 1 to 3 integers >= 1, one for an axis")
    return given


def check_period(
    period: float | Sequence[float] | None, dimension: int
) -> float | tuple[float, ...] | None:
    """Period over length: none, one number, or one for each axis; at least 1."""
    if period is None:
        return None
    given = (float(period),) if isinstance(period, int | float) else tuple(map(float, period))
    if not all(math.isfinite(p) and p >= 1.0 for p in given):
        raise ValueError(f"period: got {period!r}, wanted >= 1, in lengths of the interval")
    if isinstance(period, int | float):
        return given[0]
    if len(given) != dimension:
        raise ValueError(f"period: got {period!r}, wanted {dimension} numbers, one for each axis")
    return given


def periods_of(grid: SampleGrid, period: float | tuple[float, ...] | None) -> tuple[float, ...]:
    """Period over length of each axis."""
    if isinstance(period, tuple):
        return period
    other = EXTENSION if period is None else period
    return tuple(1.0 if axis.kind == "periodic" else other for axis in grid.axes)


def check_resolved(grid: SampleGrid, n_modes: Sequence[int], periods: Sequence[float]) -> None:
    """Refuse modes that the points cannot tell from lower ones."""
    if len(grid.axes) != len(n_modes):
        raise ValueError(
            f"n_modes {tuple(n_modes)} are for {len(n_modes)} axes, the grid has {grid.shape}"
        )
    for place, (axis, n, period) in enumerate(zip(grid.axes, n_modes, periods, strict=True)):
        most = _most_modes(axis, period)
        if n // 2 > most // 2:
            raise ValueError(
                f"n_modes: {n} along axis {place} are more than its {axis.points} points of kind "
                f"{axis.kind!r} resolve; use at most {most}, or more points"
            )


def _most_modes(axis: SampleAxis, period: float) -> int:
    """Largest number of modes below the Nyquist limit of the widest gap."""
    step = 1.0 / axis.points if axis.kind == "periodic" else axis.largest_step
    return 2 * math.floor(0.5 * period / step + 1e-9) + 1


def check_one_of(name: str, value: Any, wanted: Sequence[Any]) -> None:
    """Refuse a choice that does not exist, with those that do."""
    if value not in wanted:
        raise ValueError(f"{name}: got {value!r}, wanted one of {', '.join(map(repr, wanted))}")


def matching(x: torch.Tensor, weight: torch.Tensor, layer: str) -> torch.Tensor:
    """Field in the type of the weights; half precision is widened, other mismatches refused."""
    if x.device != weight.device:
        raise ValueError(
            f"{layer}: the field is on {x.device}, the weights are on {weight.device}: "
            f"model.to({str(x.device)!r})"
        )
    if x.dtype == weight.dtype:
        return x
    if x.dtype in (torch.float16, torch.bfloat16):
        return x.to(weight.dtype)
    raise TypeError(
        f"{layer}: the field is {x.dtype}, the weights are {weight.dtype}: convert the field, "
        "x.to(weight.dtype), or the model, model.to(x.dtype)"
    )


def check_field(x: Any, channels: int, dimension: int | None, layer: str) -> None:
    """Refuse what is not a real field of shape (batch, channels, *points)."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{layer}: got {type(x).__name__}, wanted a torch.Tensor")
    if x.is_complex():
        raise TypeError(
            f"{layer}: got a complex field ({x.dtype}), wanted a real one; give real and imaginary "
            "parts as channels: torch.view_as_real"
        )
    if not x.is_floating_point():
        raise TypeError(f"{layer}: got {x.dtype}, wanted a floating type: x.float()")
    axes = f"{dimension} axes" if dimension is not None else "one or more axes"
    if (x.ndim < 3) if dimension is None else (x.ndim != dimension + 2):
        raise ValueError(
            f"{layer}: got shape {tuple(x.shape)}, wanted (batch, channels, *points) with {axes}"
        )
    if x.shape[1] != channels:
        raise ValueError(
            f"{layer}: got {x.shape[1]} channels (shape {tuple(x.shape)}), wanted {channels}"
        )
