"""Weights of the neuraloperator library's FNO (version 2.0), read into ours.

Only the names and shapes of its state are used; the library itself is not needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch
from torch import nn

__all__ = ["from_neuraloperator"]

Model = TypeVar("Model", bound=nn.Module)

_DENSE = "fno_blocks.convs.0.weight.tensor"
_BLOCK = {
    "fno_blocks.fno_skips.{i}.conv.weight": "blocks.{i}.skip.weight",
    "fno_blocks.convs.{i}.bias": "blocks.{i}.conv.bias",
    "fno_blocks.channel_mlp.{i}.fcs.0.weight": "blocks.{i}.mlp.first.weight",
    "fno_blocks.channel_mlp.{i}.fcs.0.bias": "blocks.{i}.mlp.first.bias",
    "fno_blocks.channel_mlp.{i}.fcs.1.weight": "blocks.{i}.mlp.second.weight",
    "fno_blocks.channel_mlp.{i}.fcs.1.bias": "blocks.{i}.mlp.second.bias",
    "fno_blocks.channel_mlp_skips.{i}.weight": "blocks.{i}.gate",
}
_ENDS = {
    f"{part}.fcs.{number}.{kind}": f"{part}.{name}.{kind}"
    for part in ("lifting", "projection")
    for number, name in ((0, "first"), (1, "second"))
    for kind in ("weight", "bias")
}


def from_neuraloperator(
    make: Callable[..., Model], state: Mapping[str, Any], **options: Any
) -> Model:
    """Model with the weights of another's state; see `FNO.from_neuraloperator`.

    Parameters
    ----------
    make : callable
        The class `FNO`.
    state : mapping of str to Tensor
        As ``model.state_dict()`` of neuraloperator's FNO returns it.
    **options
        Arguments of `FNO` that the weights do not tell.

    Returns
    -------
    FNO
    """
    told = {str(name): value for name, value in state.items() if name != "_metadata"}
    recorded = state.get("_metadata")
    recorded = recorded if isinstance(recorded, Mapping) else {}
    _refuse_other_arrangements(told, recorded)
    arguments = _arguments(told, recorded) | options
    model = make(**arguments)
    own = model.state_dict()
    n_layers, dimension = arguments["n_layers"], len(arguments["n_modes"])
    moved: dict[str, torch.Tensor] = {}
    used = {"_metadata"}
    names = dict(_ENDS)
    for i in range(n_layers):
        names |= {a.format(i=i): b.format(i=i) for a, b in _BLOCK.items()}
        for place, norm in ((2 * i, "norm"), (2 * i + 1, "second_norm")):
            for kind in ("weight", "bias"):
                names[f"fno_blocks.norm.{place}.{kind}"] = f"blocks.{i}.{norm}.{kind}"
        weight = f"fno_blocks.convs.{i}.weight.tensor"
        order = _mode_order(arguments["n_modes"], tuple(told[weight].shape[2:]))
        moved[f"blocks.{i}.conv.weight"] = _spectral(told[weight], order)
        used.add(weight)
    for theirs, ours in names.items():
        if theirs in told and ours in own:
            moved[ours] = told[theirs].reshape(own[ours].shape)
            used.add(theirs)
    if left := sorted(set(told) - used):
        raise ValueError(
            f"state: {len(left)} weights have no place in an FNO of {dimension} axes and "
            f"{n_layers} layers: {', '.join(left[:5])}"
        )
    moved = {name: value.detach().clone() for name, value in moved.items()}
    report = model.load_state_dict(moved, strict=False)
    missing = [name for name in report.missing_keys if "norm" not in name]
    if missing:
        raise ValueError(f"state: no weights for {', '.join(missing[:5])}")
    return model


def _refuse_other_arrangements(told: Mapping[str, Any], recorded: Mapping[str, Any]) -> None:
    if _DENSE not in told:
        factors = sorted(name for name in told if name.startswith("fno_blocks.convs.0.weight"))
        raise ValueError(
            f"state: no {_DENSE!r}"
            + (f", but {', '.join(factors)}: factorized weights are not read" if factors else "")
            + "; wanted the state_dict of neuraloperator's FNO 2.0 with dense weights"
        )
    ours = {
        "complex_data": (False,),
        "resolution_scaling_factor": (None,),
        "domain_padding": (None, 0),
        "stabilizer": (None,),
        "separable": (False,),
        "preactivation": (False,),
        "fno_skip": ("linear",),
        "norm": (None, "instance_norm", "group_norm"),
        "channel_mlp_dropout": (0, 0.0),
    }
    if recorded.get("use_channel_mlp", True):
        ours["channel_mlp_skip"] = ("soft-gating",)
    for name, allowed in ours.items():
        if name in recorded and recorded[name] not in allowed:
            raise ValueError(
                f"state: {name}={recorded[name]!r} is an arrangement that this FNO does not have; "
                f"wanted {' or '.join(map(repr, allowed))}"
            )


def _arguments(told: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
    weight = told[_DENSE]
    hidden = int(weight.shape[0])
    n_layers = len([n for n in told if re.fullmatch(r"fno_blocks\.convs\.\d+\.weight\.tensor", n)])
    kept = [int(n) for n in weight.shape[2:]]
    n_modes = recorded.get("n_modes") or (*kept[:-1], 2 * (kept[-1] - 1))
    n_modes = (n_modes,) if isinstance(n_modes, int) else tuple(int(n) for n in n_modes)
    embedded = recorded.get("positional_embedding", "grid") == "grid"
    channels = int(told["lifting.fcs.0.weight"].shape[1]) - (len(kept) if embedded else 0)
    mlp = told.get("fno_blocks.channel_mlp.0.fcs.0.weight")
    norm = {None: None, "instance_norm": "instance", "group_norm": "layer"}[recorded.get("norm")]
    if norm is None and any(name.startswith("fno_blocks.norm.") for name in told):
        norm = "layer"
    return {
        "in_channels": channels,
        "out_channels": int(told["projection.fcs.1.weight"].shape[0]),
        "hidden_channels": hidden,
        "n_modes": n_modes,
        "n_layers": n_layers,
        "norm": norm,
        "channel_mlp": mlp is not None,
        "channel_mlp_expansion": 0.5 if mlp is None else int(mlp.shape[0]) / hidden,
        "second_stage": True,
        "lifting_ratio": int(told["lifting.fcs.0.weight"].shape[0]) / hidden,
        "projection_ratio": int(told["projection.fcs.0.weight"].shape[0]) / hidden,
        "positional_embedding": embedded,
    }


def _mode_order(n_modes: tuple[int, ...], kept: tuple[int, ...]) -> list[torch.Tensor]:
    """Where each of our modes lies along the axes of their weights: zero is in the middle."""
    from sciml.nn.truncated_fourier import mode_numbers

    order = []
    for axis, (n, size) in enumerate(zip(n_modes, kept, strict=True)):
        last = axis == len(n_modes) - 1
        numbers = mode_numbers(n, last)
        if len(numbers) != size:
            raise ValueError(f"n_modes: {n} along axis {axis}, but the weights hold {size} modes")
        order.append(torch.from_numpy(numbers + (0 if last else n // 2)))
    return order


def _spectral(weight: torch.Tensor, order: list[torch.Tensor]) -> torch.Tensor:
    """(in, out, *modes) complex to (modes, in, 2 out) real."""
    for axis, index in enumerate(order):
        weight = weight.index_select(2 + axis, index)
    flat = weight.reshape(*weight.shape[:2], -1).permute(2, 0, 1)
    return torch.cat([flat.real, flat.imag], dim=-1)
