"""Families of terms with shared exponents: the parts that the networks are put together from.

Each family gives columns, one for each coefficient: values, gradients and Laplacians in closed
form, and derivatives in the exponents. A network is a sum of columns times coefficients. Exponents
can be given, shape ``(K,)`` or ``(batch, 1, K)``; by default they are the family's own.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from sciml.powerlaw import blocks
from sciml.powerlaw.angular_functions import CircularFunctions, SphericalFunctions
from sciml.powerlaw.exponent_maps import Exponents
from sciml.powerlaw.polar import Position, polar_angle


class Columns(NamedTuple):
    """Basis functions at points.

    Attributes
    ----------
    values : Tensor, shape (..., n)
    gradients : Tensor, shape (..., n, d)
    laplacians : Tensor, shape (..., n)
    """

    values: Tensor
    gradients: Tensor
    laplacians: Tensor


class AbstractTerms(nn.Module):
    """Terms whose coefficients are trainable and whose exponents come from one `Exponents`.

    Parameters
    ----------
    exponents : Exponents
        Of the family.
    names : list of str
        Angular factor of each column of one exponent, for print; sets their number.
    generator : torch.Generator, optional
        Draws the coefficients from ``scale N(0, 1)``.
    scale : float, default 0.02
        Spread of the coefficients at the start.
    """

    exponents: Exponents
    coefficients: nn.Parameter

    def __init__(
        self,
        exponents: Exponents,
        names: list[str],
        generator: torch.Generator | None = None,
        scale: float = 0.02,
    ) -> None:
        super().__init__()
        self.exponents = exponents
        self.names = names
        start = scale * torch.randn(len(exponents.raw), len(names), generator=generator)
        self.coefficients = nn.Parameter(start.to(torch.get_default_dtype()))

    @abstractmethod
    def values(self, place: Position, mu: Tensor | None = None) -> Tensor:
        """Columns at the points, shape ``(..., K*n)``, those of one exponent together."""

    @abstractmethod
    def columns(self, place: Position, mu: Tensor | None = None) -> Columns:
        """Values, gradients and Laplacians of the columns."""

    @abstractmethod
    def slopes(self, place: Position, mu: Tensor | None = None) -> Tensor:
        """Derivative of each column in its own exponent, shape ``(..., K*n)``."""

    def singular(self) -> bool:
        """Whether a column has no value at the center."""
        return bool((self.exponents() < 0.0).any())

    def _at(self, mu: Tensor | None) -> Tensor:
        return self.exponents() if mu is None else mu


class PowerTerms(AbstractTerms):
    """``r^mu``.

    Examples
    --------
    >>> from sciml.powerlaw.polar import position
    >>> terms = PowerTerms(Exponents(2, (0.0, 3.0)))
    >>> terms.exponents.set([1.0, 2.0])
    >>> terms.columns(position(torch.tensor([[2.0, 0.0]]))).laplacians.tolist()
    [[0.5, 4.0]]
    """

    def __init__(
        self, exponents: Exponents, generator: torch.Generator | None = None, scale: float = 0.02
    ) -> None:
        super().__init__(exponents, ["1"], generator, scale)

    def values(self, place: Position, mu: Tensor | None = None) -> Tensor:
        """Columns at the points."""
        return blocks.raise_to(place.radius, self._at(mu))

    def columns(self, place: Position, mu: Tensor | None = None) -> Columns:
        """Values, gradients and Laplacians of the columns."""
        return _radial_columns(blocks.power(place.radius, self._at(mu)), place)

    def slopes(self, place: Position, mu: Tensor | None = None) -> Tensor:
        """Derivative of each column in its exponent."""
        return blocks.power(place.radius, self._at(mu)).slopes[0]


class LogTerm(AbstractTerms):
    """``psi = (r^mu - 1)/mu``, which is ``log r`` at ``mu = 0``; its coefficient starts at zero."""

    def __init__(self, exponents: Exponents) -> None:
        super().__init__(exponents, ["primitive"], scale=0.0)

    def values(self, place: Position, mu: Tensor | None = None) -> Tensor:
        """Columns at the points."""
        return blocks.log_primitive(place.radius, self._at(mu)).value

    def columns(self, place: Position, mu: Tensor | None = None) -> Columns:
        """Values, gradients and Laplacians of the columns."""
        return _radial_columns(blocks.log_primitive(place.radius, self._at(mu)), place)

    def slopes(self, place: Position, mu: Tensor | None = None) -> Tensor:
        """Derivative of each column in its exponent."""
        return blocks.log_primitive(place.radius, self._at(mu)).slopes[0]

    def singular(self) -> bool:
        """Always: it is the term of a source."""
        return True


class AngularTerms(AbstractTerms):
    """``r^mu Y`` for every exponent and every angular function ``Y`` of a fixed set."""

    def __init__(
        self,
        exponents: Exponents,
        functions: CircularFunctions | SphericalFunctions,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(exponents, functions.names, generator)
        self.functions = functions

    def values(self, place: Position, mu: Tensor | None = None) -> Tensor:
        """Columns at the points."""
        radial = blocks.raise_to(place.radius, self._at(mu))
        return (radial[..., None] * self.functions.values(place)[..., None, :]).flatten(-2)

    def columns(self, place: Position, mu: Tensor | None = None) -> Columns:
        """Values, gradients and Laplacians of the columns."""
        jet = blocks.power(place.radius, self._at(mu))
        value, turn = self.functions.values_and_gradients(place)
        degree = place.offset.new_tensor(self.functions.degrees)
        # grad (F Y) = (F' Y x + F r grad Y)/r, all divided by r once
        steep = _over_radius(jet.euler[1], place)[..., None, None] * place.unit[..., None, None, :]
        across = _over_radius(jet.value, place)[..., None, None] * turn[..., None, :, :]
        gradients = steep * value[..., None, :, None] + across
        laplacians = jet.laplacian(place.radius, place.offset.shape[-1])[..., None]
        flat = (*jet.value.shape, 1)
        eigenvalue = degree * (degree + (place.offset.shape[-1] - 2))
        square = _over_radius(_over_radius(jet.value, place), place).reshape(flat)
        return Columns(
            (jet.value[..., None] * value[..., None, :]).flatten(-2),
            gradients.flatten(-3, -2),
            ((laplacians - eigenvalue * square) * value[..., None, :]).flatten(-2),
        )

    def slopes(self, place: Position, mu: Tensor | None = None) -> Tensor:
        """Derivative of each column in its exponent."""
        slope = blocks.power(place.radius, self._at(mu)).slopes[0]
        return (slope[..., None] * self.functions.values(place)[..., None, :]).flatten(-2)

    def singular(self) -> bool:
        """Whether a column has no value at the center: also ``r^0 cos(theta)`` has none."""
        mu = self.exponents()
        turns = max(self.functions.degrees) > 0.0
        return bool((mu <= 0.0).any()) if turns else bool((mu < 0.0).any())


class HarmonicTerms(AbstractTerms):
    """``r^mu cos mu theta`` and ``r^mu sin mu theta`` in the plane: harmonic for every exponent.

    Parameters
    ----------
    exponents : Exponents
        Of the family.
    start : float
        Where the branch of the angle begins.
    generator : torch.Generator, optional
        Draws the coefficients.
    scale : float, default 0.02
        Spread of the coefficients at the start.
    """

    def __init__(
        self,
        exponents: Exponents,
        start: float,
        generator: torch.Generator | None = None,
        scale: float = 0.02,
    ) -> None:
        super().__init__(exponents, ["cos mu theta", "sin mu theta"], generator, scale)
        self.start = start

    def _jets(
        self, place: Position, mu: Tensor | None
    ) -> tuple[blocks.PlanarJet, blocks.PlanarJet]:
        theta = polar_angle(place.offset, self.start)
        return blocks.harmonic(place.radius, theta, self._at(mu))

    def values(self, place: Position, mu: Tensor | None = None) -> Tensor:
        """Columns at the points."""
        return torch.stack([jet.value for jet in self._jets(place, mu)], -1).flatten(-2)

    def columns(self, place: Position, mu: Tensor | None = None) -> Columns:
        """Values, gradients and Laplacians of the columns."""
        x = place.offset[..., None, :]
        jets = self._jets(place, mu)
        values = torch.stack([jet.value for jet in jets], -1).flatten(-2)
        gradients = torch.stack([jet.gradient(x, place.radius) for jet in jets], -2)
        return Columns(values, gradients.flatten(-3, -2), torch.zeros_like(values))

    def slopes(self, place: Position, mu: Tensor | None = None) -> Tensor:
        """Derivative of each column in its exponent."""
        return torch.stack([jet.slopes[0] for jet in self._jets(place, mu)], -1).flatten(-2)


def _radial_columns(jet: Any, place: Position, mu: Tensor | None = None) -> Columns:
    return Columns(
        jet.value,
        jet.gradient(place.offset[..., None, :], place.radius),
        jet.laplacian(place.radius, place.offset.shape[-1]),
    )


def _over_radius(values: Tensor, place: Position, mu: Tensor | None = None) -> Tensor:
    """``values/r``, and 0 at the center."""
    away = place.radius != 0.0
    safe = torch.where(away, place.radius, torch.ones_like(place.radius))
    return torch.where(away, values / safe, torch.zeros_like(values))
