"""Initial fields in the plane whose Fourier transform and whose tail are known in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from sciml.propagators.fields import AbstractField, check_positive, circle_of
from sciml.theory import disc_tail

__all__ = ["Disc"]


@dataclass(frozen=True)
class Disc(AbstractField):
    """One height inside a circle of the plane.

    Parameters
    ----------
    center : tuple of two floats
        Middle.
    radius : float
        Positive.
    height : float, default 1
        Value inside.

    Examples
    --------
    >>> disc = Disc((0.0, 0.0), 1.0)
    >>> round(disc.tail(cutoff=30.5) / disc.norm, 6)
    0.144798
    """

    center: tuple[float, float]
    radius: float
    height: float = 1.0

    dimension = 2

    def __post_init__(self) -> None:
        check_positive(radius=self.radius)

    def value(self, *coordinates: np.ndarray) -> np.ndarray:
        """See `AbstractField.value`."""
        x, y = (np.asarray(c) - m for c, m in zip(coordinates, self.center, strict=True))
        return self.height * np.heaviside(self.radius - np.hypot(x, y), 0.5)

    def transform(self, *frequencies: np.ndarray) -> np.ndarray:
        """See `AbstractField.transform`."""
        xi, eta = frequencies
        q = np.hypot(xi, eta) * self.radius
        shape = np.where(q > 0.0, special.j1(q) / np.where(q > 0.0, q, 1.0), 0.5)
        turned = np.exp(-1j * (xi * self.center[0] + eta * self.center[1]))
        return 2.0 * math.pi * self.radius**2 * self.height * shape * turned

    def tail(
        self,
        *,
        length: float | None = None,
        n_modes: int | None = None,
        cutoff: float | None = None,
    ) -> float:
        """See `AbstractField.tail`; on a torus that of the plane at ``2 pi (K + 1/2)/length``."""
        if cutoff is None:
            length, n_modes = circle_of(length, n_modes)
            cutoff = 2.0 * math.pi * (n_modes + 0.5) / length
        return disc_tail(self.radius, cutoff) * self.norm

    @property
    def norm(self) -> float:
        """See `AbstractField.norm`."""
        return abs(self.height) * self.radius * math.sqrt(math.pi)

    @property
    def support(self) -> tuple[float, float]:
        """Interval that holds the disc along both axes."""
        low, high = min(self.center) - self.radius, max(self.center) + self.radius
        return low, high
