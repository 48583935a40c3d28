"""Nested state as JSON and named tensors, exactly: what ``state_dict`` returns and nothing else.

Optimizers and schedulers keep dictionaries with whole numbers as keys, tuples, tensors and
infinite floats. JSON has none of these, so each is written as a one-entry mapping with its kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch


def pack(tree: Any, prefix: str) -> tuple[Any, dict[str, torch.Tensor]]:
    """Split a nested state into JSON data and tensors.

    Parameters
    ----------
    tree
        Dictionaries, lists, tuples, numbers, text, None, tensors and NumPy arrays.
    prefix : str
        Begins the names of the tensors.

    Returns
    -------
    json : object
        Plain JSON data that names the tensors.
    tensors : dict of str to Tensor
        Contiguous, on the CPU; complex ones as pairs of real numbers on a last axis.

    Raises
    ------
    TypeError
        For anything else, with its place in the tree.

    Examples
    --------
    >>> json, tensors = pack({0: (1.5, torch.tensor([2.0]))}, "state")
    >>> json
    {'dict': [[0, {'tuple': [1.5, {'tensor': 'state.0.1'}]}]]}
    >>> unpack(json, tensors)
    {0: (1.5, tensor([2.]))}
    """
    tensors: dict[str, torch.Tensor] = {}
    return _pack(tree, prefix, tensors), tensors


def _pack(value: Any, place: str, tensors: dict[str, torch.Tensor]) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        value = float(value)
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, torch.Tensor):
        return _keep(value, place, tensors)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iufcb":
        _keep(torch.from_numpy(np.ascontiguousarray(value)), place, tensors)
        return {"array": place}
    if isinstance(value, np.generic):
        return _pack(value.item(), place, tensors)
    if isinstance(value, Mapping):
        items = [[key, _pack(item, f"{place}.{key}", tensors)] for key, item in value.items()]
        if bad := [key for key, _ in items if not isinstance(key, (str, int))]:
            raise TypeError(f"{place}: keys must be text or whole numbers, got {bad[0]!r}")
        return {"dict": items}
    if isinstance(value, (list, tuple)):
        items = [_pack(item, f"{place}.{i}", tensors) for i, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else items
    raise TypeError(
        f"{place} is a {type(value).__name__}, which a checkpoint does not hold: only numbers, "
        "text, tensors and containers of these are stored (nothing is pickled)"
    )


def _keep(tensor: torch.Tensor, place: str, tensors: dict[str, torch.Tensor]) -> dict[str, str]:
    kind = "complex" if tensor.is_complex() else "tensor"
    plain = tensor.detach().resolve_conj().resolve_neg().cpu()
    if tensor.is_complex():
        plain = torch.view_as_real(plain)
    # A clone: two names may share memory, which the file format refuses.
    tensors[place] = plain.clone(memory_format=torch.contiguous_format)
    return {kind: place}


def unpack(json: Any, tensors: Mapping[str, torch.Tensor]) -> Any:
    """Put together what `pack` took apart.

    Parameters
    ----------
    json, tensors
        As `pack` returned them.

    Returns
    -------
    object
        The nested state.

    Raises
    ------
    ValueError
        If the JSON data is not of this form or a tensor is missing.
    """
    if isinstance(json, list):
        return [unpack(item, tensors) for item in json]
    if not isinstance(json, dict):
        return json
    if len(json) != 1:
        raise ValueError(f"a stored state has one kind per entry, got {sorted(json)}")
    ((kind, content),) = json.items()
    if kind == "dict":
        return {key: unpack(item, tensors) for key, item in content}
    if kind == "tuple":
        return tuple(unpack(item, tensors) for item in content)
    if kind == "float":
        return float(content)
    if kind not in ("tensor", "complex", "array"):
        raise ValueError(f"a stored state holds an entry of the unknown kind {kind!r}")
    if content not in tensors:
        raise ValueError(f"a stored state lacks the tensor {content!r}")
    tensor = tensors[content]
    if kind == "complex":
        return torch.view_as_complex(tensor)
    return tensor.numpy() if kind == "array" else tensor
