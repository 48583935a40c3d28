"""A small traveling wave that every test of reading knows the values of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest


@dataclass(frozen=True)
class Wave:
    """u(x, t) = sin(x - t) + x/10 on 12 x 7 points, stored as [x, t]."""

    x: np.ndarray
    t: np.ndarray
    u: np.ndarray

    def matches(self, field) -> bool:
        """Whether a field read back has these values over (time, x), bit for bit."""
        return (
            field.dims == ("time", "x")
            and np.array_equal(field.values, self.u.T)
            and np.array_equal(field.x.values, self.x)
            and np.array_equal(field.time.values, self.t)
        )


@pytest.fixture
def wave() -> Wave:
    x, t = np.linspace(-1.0, 2.0, 12), np.linspace(0.0, 0.6, 7)
    return Wave(x=x, t=t, u=np.sin(x[:, None] - t) + x[:, None] / 10)
