"""Checks of arguments that several repairs share: numbers, repairs, what a forecaster returns."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from torch import Tensor, nn

from sciml.repair.projection import AbstractProjection

__all__ = [
    "check_callable",
    "check_repair",
    "next_states",
    "number",
    "numbers",
    "real_array",
    "shape_hint",
    "share",
    "whole",
]


def whole(name: str, value: Any, low: int, high: int | None = None, why: str = "") -> int:
    """A whole number within bounds, or an error that names the argument.

    Examples
    --------
    >>> whole("horizon", 3.0, 1, 5)
    3
    """
    try:
        found = int(value)
        fits = not isinstance(value, bool | str) and found == value
    except (TypeError, ValueError, OverflowError):
        found, fits = 0, False
    if fits and low <= found and (high is None or found <= high):
        return found
    bounds = f", {low} or more" if high is None else f" from {low} to {high}"
    raise ValueError(f"{name}={value!r}: wanted a whole number{bounds}{why}")


def share(name: str, value: Any) -> float:
    """A number in [0, 1].

    Examples
    --------
    >>> share("strength", 1)
    1.0
    """
    found = _number(value)
    if not 0.0 <= found <= 1.0:
        raise ValueError(f"{name}={value!r}: wanted a number in [0, 1]")
    return found


def number(name: str, value: Any, wanted: str, *, above: float = -math.inf) -> float:
    """A finite number above a bound, or an error that says what is wanted.

    Examples
    --------
    >>> number("total", 2, "a positive number", above=0.0)
    2.0
    """
    found = _number(value)
    if not above < found < math.inf:
        raise ValueError(f"{name}={value!r}: wanted {wanted}")
    return found


def numbers(name: str, values: Any, count: tuple[int, ...], what: str) -> tuple[float, ...]:
    """Finite numbers, one for each axis.

    Parameters
    ----------
    name : str
        Of the argument.
    values : iterable of float
        What was given.
    count : tuple of int
        How many there may be.
    what : str
        What is wanted, for the message; says "positive" if zero is too little.

    Returns
    -------
    tuple of float
    """
    listed = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else []
    found = tuple(_number(value) for value in listed)
    low = 0.0 if "positive" in what else -math.inf
    if len(found) not in count or not all(low < value < math.inf for value in found):
        raise ValueError(f"{name}={values!r}: wanted {what}")
    return found


def _number(value: Any) -> float:
    """The number, or NaN for what is none."""
    if isinstance(value, bool | str):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def real_array(name: str, values: Any, wanted: str) -> np.ndarray:
    """Numbers as an array; ragged lists and words are refused by the name of the argument."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is no array of real numbers: wanted {wanted}") from None


def check_repair(name: str, repair: Any) -> AbstractProjection:
    """Refuse what is no repair."""
    if not isinstance(repair, AbstractProjection):
        raise TypeError(
            f"{name} is of type {type(repair).__name__}: wanted an AbstractProjection such as "
            "LerayProjection, or your own subclass with forward, defect and sample_axes"
        )
    return repair


def _check_forecast(forecaster: Any, found: Any, u: Tensor) -> Tensor:
    """Refuse what a forecaster must not return for states `u`."""
    if not isinstance(found, Tensor):
        raise TypeError(
            f"forecaster returned {type(found).__name__}: wanted a tensor of shape "
            f"{tuple(u.shape)}; wrap {getattr(forecaster, '__name__', type(forecaster).__name__)} "
            "so that it returns the next states alone"
        )
    if found.shape != u.shape:
        raise ValueError(
            f"forecaster returned shape {tuple(found.shape)} for states of shape "
            f"{tuple(u.shape)}: wanted the same"
        )
    if not found.is_floating_point():
        raise TypeError(f"forecaster returned dtype {found.dtype}: wanted real floating point")
    return found


def next_states(forecaster: Callable[[Tensor], Tensor], u: Tensor) -> Tensor:
    """One step of a forecaster, checked; it gets a copy, so that it may work in place.

    Examples
    --------
    >>> import torch
    >>> u = torch.zeros(1, 2)
    >>> next_states(lambda v: v.add_(1.0), u), u
    (tensor([[1., 1.]]), tensor([[0., 0.]]))
    """
    return _check_forecast(forecaster, forecaster(u.clone()), u)


def check_callable(name: str, value: Any) -> Callable[[Tensor], Tensor]:
    """Refuse what cannot be called."""
    if not callable(value):
        raise TypeError(
            f"{name} is of type {type(value).__name__}: wanted a function or module from states "
            "to states"
        )
    if isinstance(value, nn.Module):
        _warn_in_training(name, value)
    return cast("Callable[[Tensor], Tensor]", value)


def _warn_in_training(name: str, module: nn.Module) -> None:
    """Warn of parts whose forecasts differ while training."""
    kinds = (nn.modules.dropout._DropoutNd, nn.modules.batchnorm._BatchNorm)
    random = sorted(
        {
            type(part).__name__
            for part in module.modules()
            if part.training and isinstance(part, kinds)
        }
    )
    if random:
        warnings.warn(
            f"{name} is in training mode with {', '.join(random)}: its forecasts are not those of "
            "the trained network, and each changes what it has learned or differs from the last; "
            f"call {name}.eval() first",
            stacklevel=4,
        )


def shape_hint(found: Sequence[int], wanted: Sequence[int]) -> str:
    """What may have gone wrong with the axes of a state ``(components, *grid)``, or nothing.

    Examples
    --------
    >>> shape_hint((8, 6, 2), (2, 8, 6))
    '; the components stand last: move them with u.movedim(-1, -3)'
    >>> shape_hint((2, 6, 8), (2, 8, 6))
    '; the axes look swapped: component j belongs to axis j of the grid, x first'
    """
    found, wanted = tuple(found)[-len(wanted) :], tuple(wanted)
    if found == wanted:
        return ""
    if found == (*wanted[1:], wanted[0]):
        return f"; the components stand last: move them with u.movedim(-1, -{len(wanted)})"
    if found[:1] == wanted[:1] and found[1:] == wanted[:0:-1]:
        return "; the axes look swapped: component j belongs to axis j of the grid, x first"
    return ""
