"""Partial derivatives of a function of time and position by nested forward tangents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

__all__ = ["letters", "partial_derivatives"]

Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def letters(name: str) -> str:
    """Directions of a derivative's name: ``"phi_t_xx"`` gives ``"txx"``, ``"phi"`` nothing.

    Examples
    --------
    >>> letters("phi_xx"), letters("a")
    ('xx', '')
    """
    return name.partition("_")[2].replace("_", "")


def partial_derivatives(
    function: Function,
    t: torch.Tensor,
    x: torch.Tensor,
    wanted: Iterable[str],
    coordinates: tuple[str, ...] = ("x",),
) -> dict[str, torch.Tensor]:
    """Derivatives of a pointwise function of time and position.

    Parameters
    ----------
    function : callable
        ``f(t, x) -> values``; every value may depend on its own time and position only.
    t : Tensor
        Times.
    x : Tensor
        Positions, of a shape that broadcasts against ``t``; in several dimensions with the
        coordinates along a last axis, which ``t`` does not have.
    wanted : iterable of str
        Directions, such as ``""``, ``"t"`` and ``"xx"``.
    coordinates : tuple of str
        Letters of the coordinates, in order.

    Returns
    -------
    dict
        Tensor for each of `wanted`, and for the lower ones on the way.

    Examples
    --------
    >>> t, x = torch.tensor(2.0), torch.tensor(3.0)
    >>> found = partial_derivatives(lambda t, x: t * x**2, t, x, ["t", "xx"])
    >>> float(found["t"]), float(found["xx"])
    (9.0, 4.0)
    """
    wanted = sorted(set(wanted), key=len, reverse=True)
    found: dict[str, torch.Tensor] = {}
    # Forward tangents need memory of their own, which broadcast tensors share.
    t, x = t.contiguous(), x.contiguous()
    for name in wanted:
        if name in found:
            continue
        level: Callable = lambda t, x: {"": function(t, x)}  # noqa: E731
        for letter in name:
            level = _along(level, letter, coordinates)
        found |= level(t, x)
    return found


def _along(level: Callable, letter: str, coordinates: tuple[str, ...]) -> Callable:
    """Add the derivative in one direction of everything that the level below returns."""

    def raised(t: torch.Tensor, x: torch.Tensor) -> dict[str, torch.Tensor]:
        tangents = (torch.zeros_like(t), torch.zeros_like(x))
        if letter == "t":
            tangents = (torch.ones_like(t), tangents[1])
        elif len(coordinates) == 1:
            tangents = (tangents[0], torch.ones_like(x))
        else:
            unit = torch.zeros(len(coordinates), dtype=x.dtype, device=x.device)
            unit[coordinates.index(letter)] = 1.0
            tangents = (tangents[0], unit.expand_as(x).clone())
        moved: Any = torch.func.jvp(level, (t, x), tangents)
        below, slopes = moved
        return {**{name + letter: slope for name, slope in slopes.items()}, **below}

    return raised
