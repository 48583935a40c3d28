"""What networks of power laws share: evaluation in closed form, and the way to least squares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from sciml.powerlaw.polar import Position, position
from sciml.powerlaw.separable import SeparableNetwork
from sciml.powerlaw.terms import AbstractTerms

R_MIN = 1e-12
"""Points nearer to a center than this have no value if an exponent is negative."""


class ValueGradLap(NamedTuple):
    """A scalar field at points.

    Attributes
    ----------
    value : Tensor, shape (..., 1)
    gradient : Tensor, shape (..., d)
    laplacian : Tensor, shape (..., 1)
    """

    value: Tensor
    gradient: Tensor
    laplacian: Tensor


@dataclass(frozen=True)
class Block:
    """Terms of one exponent.

    Attributes
    ----------
    kind : str
        ``"constant"``, ``"power"``, ``"primitive"``, ``"angular"`` or ``"harmonic"``.
    exponent : float
    coefficients : mapping of str to float
        Angular factor to coefficient.
    center : tuple of float
    """

    kind: str
    exponent: float
    coefficients: Mapping[str, float]
    center: tuple[float, ...]


class AbstractPowerLaw(nn.Module):
    """A scalar field that is linear in its coefficients and has trainable exponents.

    Subclasses fill `families` and, where the centers move, `centers`.

    Parameters
    ----------
    dimension : int
        Of space, at least 1.
    bias : bool
        Whether a constant is added.
    r_min : float or None
        Points nearer to a center than this are refused while an exponent is negative or a
        logarithm is present; None turns the test off, which `torch.func.vmap` needs.
    """

    bias: nn.Parameter | None
    centers: nn.Parameter | None

    def __init__(self, dimension: int, *, bias: bool = True, r_min: float | None = R_MIN) -> None:
        super().__init__()
        self.dimension = check_count("dimension", dimension, 1)
        plain = isinstance(r_min, (int, float)) and not isinstance(r_min, bool)
        if r_min is not None and not (plain and math.isfinite(r_min) and r_min >= 0.0):
            raise ValueError(f"r_min is {r_min!r}, wanted a number, 0 or more, or None")
        self.r_min = r_min
        self.families = nn.ModuleList()
        self.family_centers: list[int] = []
        self.bias = nn.Parameter(torch.zeros(1)) if bias else None
        self.register_parameter("centers", None)

    def add(self, family: AbstractTerms, center: int = 0) -> None:
        """Append a family of terms about a center."""
        self.families.append(family)
        self.family_centers.append(center)

    def forward(self, x: Tensor) -> Tensor:
        """Values of the field.

        Parameters
        ----------
        x : Tensor, shape (..., d)
            Points, of the type and on the device of the parameters.

        Returns
        -------
        Tensor, shape (..., 1)

        Raises
        ------
        ValueError
            For points of another dimension, type or device, and for points at a singular center.
        """
        places = self._places(x)
        total = x.new_zeros((*x.shape[:-1], 1))
        for family, center in self._families():
            total = total + family.values(places[center]) @ family.coefficients.reshape(-1, 1)
        return total if self.bias is None else total + self.bias

    def value_grad_lap(self, x: Tensor) -> ValueGradLap:
        """Value, gradient and Laplacian in closed form, differentiable in the parameters.

        Parameters
        ----------
        x : Tensor, shape (..., d)
            Points. At a center itself gradient and Laplacian are put at 0.

        Returns
        -------
        ValueGradLap

        Raises
        ------
        ValueError
            As in the forward pass.
        """
        places = self._places(x)
        value = x.new_zeros((*x.shape[:-1], 1))
        gradient, laplacian = torch.zeros_like(x), torch.zeros_like(value)
        for family, center in self._families():
            columns = family.columns(places[center])
            weight = family.coefficients.reshape(-1, 1)
            value = value + columns.values @ weight
            gradient = gradient + (columns.gradients * weight).sum(-2)
            laplacian = laplacian + columns.laplacians @ weight
        value = value if self.bias is None else value + self.bias
        return ValueGradLap(value, gradient, laplacian)

    def exponents(self) -> Tensor:
        """All exponents, family by family, shape ``(p,)``."""
        parts = [family.exponents() for family, _ in self._families()]
        return torch.cat(parts) if parts else torch.zeros(0)

    def coefficients(self) -> Tensor:
        """The bias, if there is one, and all coefficients, in the order of the columns."""
        parts = [family.coefficients.reshape(-1) for family, _ in self._families()]
        return torch.cat(parts if self.bias is None else [self.bias, *parts])

    def blocks(self) -> tuple[Block, ...]:
        """The field as a list of terms, for reading."""
        origins = self._origins()
        found = [] if self.bias is None else [
            Block("constant", 0.0, {"1": self.bias.item()}, origins[0])
        ]  # fmt: skip
        for family, center in self._families():
            kind = type(family).__name__.removesuffix("Terms").removesuffix("Term").lower()
            for mu, row in zip(
                family.exponents().tolist(), family.coefficients.tolist(), strict=True
            ):
                parts = dict(zip(family.names, row, strict=True))
                found.append(Block(kind, mu, parts, origins[center]))
        return tuple(found)

    def to_varpro(self, x: Any) -> SeparableNetwork:
        """The network as columns that depend on exponents and centers, for least squares.

        Parameters
        ----------
        x : array or Tensor, shape (rows, d)
            Points; computed in float64 on the device of a tensor.

        Returns
        -------
        SeparableNetwork
            What :func:`sciml.powerlaw.variable_projection` takes as its model, with the present
            exponents and centers as start and their bounds.
        """
        return SeparableNetwork.of(self, x)

    def fit(self, x: Any, y: Any, **options: Any) -> Any:
        """Fit by variable projection and keep the result; see :func:`fit_network`."""
        from sciml.powerlaw.separable import fit_network

        return fit_network(self, x, y, **options)

    def _families(self) -> list[tuple[AbstractTerms, int]]:
        return list(zip(self.families, self.family_centers, strict=True))  # pyright: ignore

    def _origins(self) -> list[tuple[float, ...]]:
        if self.centers is None:
            return [(0.0,) * self.dimension]
        return [tuple(row) for row in self.centers.tolist()]

    def _places(self, x: Tensor) -> list[Position]:
        check_tensor(x, self.dimension, next(self.parameters()))
        if self.centers is None:
            places = [position(x)]
        else:
            places = [position(x, center) for center in self.centers]
        if self.r_min is not None:
            for which, place in enumerate(places):
                self._refuse_center(place, which, self.r_min)
        return places

    def _refuse_center(self, place: Position, which: int, r_min: float) -> None:
        near = place.radius.detach() < r_min
        if not bool(near.any()):
            return
        families = [family for family, center in self._families() if center == which]
        if any(family.singular() for family in families):
            raise ValueError(
                f"x: {int(near.sum())} of {near.numel()} points lie within r_min={r_min:g} "
                f"of the center {[round(v, 6) for v in self._origins()[which]]}, where negative "
                "exponents and logarithms have no value: leave these points out, or restrict "
                "bounds= to exponents from 0 and set log_term=False"
            )

    def extra_repr(self) -> str:
        """Dimension, beside the families."""
        return f"dimension={self.dimension}"


def check_count(name: str, value: int, least: int) -> int:
    """Refuse what is not a whole number from `least` on.

    Examples
    --------
    >>> check_count("K", 0, 1)
    Traceback (most recent call last):
    ValueError: K is 0, wanted a whole number, 1 or more
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < least:
        raise ValueError(f"{name} is {value!r}, wanted a whole number, {least} or more")
    return int(value)


def check_tensor(x: Tensor, dimension: int, like: Tensor) -> None:
    """Refuse points of another dimension, type or device than the parameters."""
    if not isinstance(x, Tensor):
        raise ValueError(
            f"x is a {type(x).__name__}, wanted a torch tensor of shape (..., {dimension})"
        )
    if x.ndim == 0 or x.shape[-1] != dimension:
        raise ValueError(f"x has shape {tuple(x.shape)}, wanted (..., {dimension})")
    if x.dtype != like.dtype or x.device != like.device:
        raise ValueError(
            f"x is {x.dtype} on {x.device}, the parameters are {like.dtype} on {like.device}: "
            "use one type and device, such as model.double() and x.double()"
        )


def check_finite_number(name: str, value: float) -> float:
    """Refuse what is not a finite number.

    Examples
    --------
    >>> check_finite_number("theta0", 1)
    1.0
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}, wanted a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number}, wanted a finite number")
    return number


def check_centers(centers: Sequence[Sequence[float]], dimension: int) -> Tensor:
    """Centers as a tensor; refuse other shapes, NaN and centers that coincide."""
    table = torch.as_tensor(centers, dtype=torch.float64)
    if table.ndim != 2 or table.shape[1] != dimension:
        raise ValueError(f"centers have shape {tuple(table.shape)}, wanted (J, {dimension})")
    if not bool(torch.isfinite(table).all()):
        raise ValueError(f"centers: got {table.tolist()}, wanted finite numbers")
    if len(torch.unique(table, dim=0)) < len(table):
        raise ValueError(f"centers: got {table.tolist()}, wanted different places")
    return table
