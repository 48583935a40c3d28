"""Which classes a model file may name, and with which arguments a model was made."""

from __future__ import annotations

import contextlib
import copy
import difflib
import functools
import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import torch

__all__ = ["constructor_arguments", "register_model", "registered_class", "registered_models"]

# Public classes of these rooms are found by name; nothing else is ever imported for a file.
_ROOMS = ("nn", "operators", "propagators", "powerlaw", "repair", "physics")
_KEPT = "_constructor_arguments"

_classes: dict[str, type[torch.nn.Module]] = {}

Class = TypeVar("Class", bound=type[torch.nn.Module])


def register_model(cls: Class) -> Class:
    """Class decorator: models of this class can be written to a file and made again from it.

    The arguments of the constructor are kept, as they were given. They must be plain data (numbers,
    text, lists and mappings of these), or other registered models; a `torch.Generator` is left out,
    since the weights come from the file.

    Parameters
    ----------
    cls : type
        Subclass of `torch.nn.Module`. Its name is what the file says.

    Returns
    -------
    type
        The same class.

    Raises
    ------
    TypeError
        If it is no module class.
    ValueError
        If another class has the same name, or its constructor takes ``*arguments``.

    Examples
    --------
    >>> @register_model
    ... class Doubled(torch.nn.Module):
    ...     def __init__(self, width: int = 4) -> None:
    ...         super().__init__()
    ...         self.layer = torch.nn.Linear(width, 2 * width)
    >>> constructor_arguments(Doubled())
    {'width': 4}
    """
    if not (isinstance(cls, type) and issubclass(cls, torch.nn.Module)):
        raise TypeError(f"register_model got {cls!r}: wanted a subclass of torch.nn.Module")
    name, known = cls.__name__, _classes.get(cls.__name__)
    if known is not None and (known.__module__, known.__qualname__) != (
        cls.__module__,
        cls.__qualname__,
    ):
        raise ValueError(
            f"a model class {name!r} is registered already, from {known.__module__}: choose "
            "another name"
        )
    original = cls.__init__
    signature = inspect.signature(original)
    if any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
        raise ValueError(
            f"the constructor of {name} takes *arguments, which have no names: name them"
        )

    @functools.wraps(original)
    def keeping(self: Any, *arguments: Any, **named: Any) -> None:
        if type(self) is cls:
            try:
                bound = signature.bind(self, *arguments, **named)
            except TypeError:
                pass  # the constructor itself says what is wrong
            else:
                # Defaults are kept too: a later version may have others.
                bound.apply_defaults()
                self.__dict__[_KEPT] = _by_name(bound)
        original(self, *arguments, **named)

    cls.__init__ = keeping  # type: ignore[method-assign]
    _classes[name] = cls
    return cls


def _by_name(bound: inspect.BoundArguments) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for place, (name, value) in enumerate(bound.arguments.items()):
        if place == 0:
            continue
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            kept.update(value)
        else:
            kept[name] = value
    return {name: _copied(value) for name, value in kept.items()}


def _copied(value: Any) -> Any:
    # Containers, so that a later change of the caller's list changes nothing here.
    return copy.deepcopy(value) if isinstance(value, (list, dict, tuple, np.ndarray)) else value


def registered_class(name: str) -> type[torch.nn.Module]:
    """Class of a name: registered by the caller, or public in a room of this package.

    Parameters
    ----------
    name : str

    Returns
    -------
    type

    Raises
    ------
    ValueError
        For an unknown name; the closest one is offered.

    Examples
    --------
    >>> registered_class("Normalized").__name__
    'Normalized'
    """
    if name not in _classes:
        for module in _rooms():
            if name in getattr(module, "__all__", ()):
                getattr(module, name)  # reading it runs its decorator
    if name not in _classes:
        known = registered_models()
        match = difflib.get_close_matches(str(name), known, n=1)
        hint = f", did you mean {match[0]!r}?" if match else ""
        raise ValueError(
            f"model class {name!r} is unknown{hint}; known: {', '.join(known)}. A class of "
            "your own must be decorated with sciml.nn.register_model and imported first"
        )
    return _classes[name]


def registered_models() -> list[str]:
    """Names of all registered classes, those of this package's rooms included.

    Examples
    --------
    >>> "Normalized" in registered_models()
    True
    """
    for module in _rooms():
        for public in getattr(module, "__all__", ()):
            with contextlib.suppress(ImportError):  # of a package that is optional
                getattr(module, public)
    return sorted(_classes)


def _rooms() -> Iterator[ModuleType]:
    for room in _ROOMS:
        if find_spec(f"sciml.{room}") is not None:
            yield import_module(f"sciml.{room}")


def constructor_arguments(model: torch.nn.Module) -> dict[str, Any]:
    """Arguments that make a model again, as JSON data.

    Parameters
    ----------
    model : Module
        Of a registered class.

    Returns
    -------
    dict of str to object

    Raises
    ------
    TypeError
        If its class is not registered, or an argument is no data.

    Examples
    --------
    >>> from sciml.nn.normalized import Normalized
    >>> constructor_arguments(Normalized(None, in_channels=1, out_channels=2))
    {'model': None, 'in_channels': 1, 'out_channels': 2}
    """
    name = type(model).__name__
    if _classes.get(name) is not type(model) or _KEPT not in model.__dict__:
        raise TypeError(
            f"{name} is not a registered model, so that no file can make it again: decorate its "
            "class with sciml.nn.register_model before making the model"
        )
    given = model.__dict__[_KEPT]
    drawn = [key for key, value in given.items() if isinstance(value, torch.Generator)]
    return {
        key: encoded(value, f"argument {key} of {name}")
        for key, value in given.items()
        if key not in drawn
    }


def encoded(value: Any, place: str) -> Any:
    """JSON data of one argument; models in it become ``{"model": ..., "arguments": ...}``."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [encoded(item, place) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: encoded(item, place) for key, item in value.items()}
    if isinstance(value, torch.nn.Module):
        return {"model": type(value).__name__, "arguments": constructor_arguments(value)}
    raise TypeError(
        f"{place} is a {type(value).__name__}, which a model file cannot hold: wanted numbers, "
        "text, lists, mappings or registered models"
    )


def made(name: str, arguments: Mapping[str, Any]) -> torch.nn.Module:
    """Model of a class and of arguments as `constructor_arguments` returned them."""
    return registered_class(name)(**{key: _decoded(value) for key, value in arguments.items()})


def _decoded(value: Any) -> Any:
    if isinstance(value, Mapping):
        if set(value) == {"model", "arguments"}:
            return made(value["model"], value["arguments"])
        return {key: _decoded(item) for key, item in value.items()}
    return [_decoded(item) for item in value] if isinstance(value, list) else value
