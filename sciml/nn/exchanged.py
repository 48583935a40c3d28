"""Parts of a model that are not those its constructor makes, as after `replace_normalization`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from sciml.nn.model_registry import constructor_arguments, made

__all__ = ["exchanged_modules", "put_exchanged"]


def exchanged_modules(model: torch.nn.Module, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Describe the parts that were exchanged since a model was made.

    Parameters
    ----------
    model : Module
        Of a registered class.
    arguments : mapping
        Of its constructor, as `constructor_arguments` returns them.

    Returns
    -------
    dict of str to dict
        ``{"model": class, "arguments": ...}`` for each part, by its name in the model; empty for a
        model as it was made.

    Raises
    ------
    TypeError
        If a part is missing, was added, or its class is not registered: a file that says only how
        the model was made would give back another one.

    Examples
    --------
    >>> from sciml.nn import Normalized
    >>> model = Normalized(None, in_channels=1, out_channels=1)
    >>> exchanged_modules(model, constructor_arguments(model))
    {}
    """
    with torch.random.fork_rng(devices=[]):
        before = made(type(model).__name__, arguments)
    found: dict[str, Any] = {}
    _compare(model, before, "", found)
    return found


def put_exchanged(model: torch.nn.Module, parts: Mapping[str, Any]) -> None:
    """Put parts that `exchanged_modules` described into a model as its constructor makes it.

    Raises
    ------
    ValueError, TypeError
        If a name or a description does not fit.
    """
    if not isinstance(parts, Mapping):
        raise ValueError(f"exchanged parts: got {parts!r}, wanted a mapping of names to parts")
    for name, part in parts.items():
        parent, _, child = name.rpartition(".")
        try:
            owner = model.get_submodule(parent)
            owner.get_submodule(child)
        except AttributeError as error:
            raise ValueError(f"part {name!r}: the model has none of this name") from error
        if not isinstance(part, Mapping) or set(part) != {"model", "arguments"}:
            raise ValueError(f"part {name!r}: got {part!r}, wanted its class and arguments")
        setattr(owner, child, made(part["model"], part["arguments"]))


def _compare(
    now: torch.nn.Module, before: torch.nn.Module, name: str, found: dict[str, Any]
) -> None:
    if name and (type(now) is not type(before) or _arguments(now) != _arguments(before)):
        try:
            arguments = constructor_arguments(now)
        except TypeError as error:
            raise TypeError(
                f"part {name!r} of the model is not the {type(before).__name__} that its "
                f"constructor makes, and no file can make it again: {error}"
            ) from error
        found[name] = {"model": type(now).__name__, "arguments": arguments}
        # What lies inside follows from its own arguments.
        before = made(type(now).__name__, arguments)
    # Not `named_children`, which leaves out a part that stands in several places.
    ours, theirs = ({k: v for k, v in m._modules.items() if v is not None} for m in (now, before))
    if set(ours) != set(theirs):
        place = f"part {name!r} of the model" if name else "the model"
        more = sorted(set(ours) ^ set(theirs))
        raise TypeError(
            f"{place} has other parts than its constructor makes ({', '.join(more)}): a model file "
            "cannot make it again; write a class of your own with sciml.nn.register_model"
        )
    for child, part in ours.items():
        _compare(part, theirs[child], f"{name}.{child}" if name else child, found)


def _arguments(part: torch.nn.Module) -> Any:
    """Arguments of a registered part; nothing for others, whose class has to tell."""
    try:
        return constructor_arguments(part)
    except TypeError:
        return None
