"""Swap the normalization layers of any model for ones with quadrature statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import nn

from sciml.operators.quad_norm import QuadNorm

__all__ = ["Replacement", "replace_normalization"]

_INSTANCE = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)


@dataclass(frozen=True)
class Replacement:
    """What `replace_normalization` did.

    Attributes
    ----------
    replaced : tuple of str
        Names of the layers that are QuadNorm now.
    kept : dict of str to str
        Names of the normalization layers that were left alone, and why.
    """

    replaced: tuple[str, ...]
    kept: dict[str, str]

    def __iter__(self):
        return iter(self.replaced)

    def __len__(self) -> int:
        return len(self.replaced)

    def __str__(self) -> str:
        lines = [f"{name}: QuadNorm" for name in self.replaced]
        return "\n".join(lines + [f"{name}: kept, {why}" for name, why in self.kept.items()])


def replace_normalization(
    model: nn.Module,
    groups: int | Literal["match", "channel"] | None = "match",
    *,
    grid: Any = None,
    axis_kinds: str | Sequence[str] | None = None,
    num_channels: int | None = None,
) -> Replacement:
    """Replace instance, group and spatial layer normalization in place; copy gamma and beta.

    Parameters
    ----------
    model : Module
        Changed in place. Layers must see fields of shape (batch, channels, *points).
    groups : {"match", "channel"} or int
        Groups of channels with common statistics: those of the layer that is replaced, each
        channel alone, or a number.
    grid, axis_kinds : optional
        For all new layers; without both, calls have to stand inside `sciml.nn.on_grid`.
    num_channels : int, optional
        Channels of instance normalization layers that do not tell (the neuraloperator library's);
        by default those of the Fourier layers beside them.

    Returns
    -------
    Replacement
        Names of replaced layers, and of those left alone with the reason: batch normalization, and
        layer normalization over channels at each point, which does not see the grid.

    Raises
    ------
    TypeError, ValueError
        If ``model`` is no module or itself a normalization layer; if ``groups`` does not fit.

    Notes
    -----
    `sciml.nn.save_model` keeps the new layers of this package's models. For other models make the
    model, replace, and read the state as before; layers have the same names.

    Examples
    --------
    >>> from torch import nn
    >>> model = nn.Sequential(nn.Conv1d(1, 4, 1), nn.GroupNorm(2, 4), nn.BatchNorm1d(4))
    >>> print(replace_normalization(model, axis_kinds="node"))
    1: QuadNorm
    2: kept, batch normalization: its statistics are of the batch
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model: got {type(model).__name__}, wanted a torch.nn.Module")
    if _read(model, model, num_channels) is not None:
        raise ValueError(
            f"model: a {type(model).__name__} is itself a normalization layer, which cannot be "
            "replaced in place: make a QuadNorm, or put it into a model"
        )
    replaced: list[str] = []
    kept: dict[str, str] = {}
    made: dict[nn.Module, QuadNorm] = {}
    for parent_name, parent in list(model.named_modules()):
        # Not `named_children`, which leaves out a layer that stands in several places.
        for child_name, child in list(parent._modules.items()):
            name = f"{parent_name}.{child_name}" if parent_name else child_name
            found = None if child is None else _read(child, model, num_channels)
            if found is None:
                continue
            if isinstance(found, str):
                kept[name] = found
                continue
            assert child is not None
            if child not in made:
                channels, own_groups, eps, affine = found
                made[child] = QuadNorm(
                    channels,
                    _chosen(groups, own_groups, channels),
                    eps=eps,
                    affine=affine,
                    grid=grid,
                    axis_kinds=axis_kinds,
                )
                _copy(child, made[child])
            setattr(parent, child_name, made[child])
            replaced.append(name)
    return Replacement(tuple(replaced), kept)


def _chosen(groups: Any, own: int, channels: int) -> int:
    if groups == "match":
        return own
    if groups in ("channel", None):
        return channels
    if isinstance(groups, int):
        return groups
    raise ValueError(f"groups: got {groups!r}, wanted 'match', 'channel' or a number")


def _read(
    layer: nn.Module, model: nn.Module, num_channels: int | None
) -> tuple[int, int, float, bool] | str | None:
    """Channels, groups, eps and whether it has gamma; or a reason to keep it; or nothing."""
    if isinstance(layer, _INSTANCE):
        if layer.track_running_stats:
            return "instance normalization with running statistics"
        return layer.num_features, layer.num_features, layer.eps, layer.affine
    if isinstance(layer, nn.GroupNorm):
        return layer.num_channels, layer.num_groups, layer.eps, layer.affine
    if isinstance(layer, nn.LayerNorm):
        shape = layer.normalized_shape
        if len(shape) == 1:
            return "layer normalization over channels at each point: it does not see the grid"
        if layer.weight is not None:
            return (
                "spatial layer normalization with a gamma for every point is tied to one grid; "
                "make it nn.LayerNorm(..., elementwise_affine=False)"
            )
        return int(shape[0]), 1, layer.eps, False
    if isinstance(layer, nn.modules.batchnorm._BatchNorm):  # pyright: ignore
        return "batch normalization: its statistics are of the batch"
    kind = type(layer)
    if kind.__name__ == "InstanceNorm" and kind.__module__.startswith("neuralop."):
        arguments = getattr(layer, "kwargs", {})
        channels = num_channels or _channels_beside(model)
        if channels is None:
            return "instance normalization that does not tell its channels: give num_channels"
        if set(arguments) - {"eps"}:
            return "instance normalization with arguments other than eps"
        return channels, channels, float(arguments.get("eps", 1e-5)), False
    return None


def _channels_beside(model: nn.Module) -> int | None:
    """Width that all spectral layers of a neuraloperator model agree on."""
    widths = {
        int(getattr(layer, "out_channels", 0))
        for layer in model.modules()
        if type(layer).__name__ == "SpectralConv" and hasattr(layer, "out_channels")
    }
    return widths.pop() if len(widths) == 1 else None


def _copy(old: nn.Module, new: QuadNorm) -> None:
    for name in ("weight", "bias"):
        value, place = getattr(old, name, None), getattr(new, name)
        if value is not None and place is not None:
            place.data = value.detach().clone()
            place.requires_grad_(value.requires_grad)
    new.train(old.training)
