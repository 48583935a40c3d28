"""Explicit Runge-Kutta methods: the tableaux as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from array_api_compat import array_namespace

Array = Any


@dataclass(frozen=True, kw_only=True)
class RungeKutta:
    """An explicit Runge-Kutta method given by its Butcher tableau.

    Parameters
    ----------
    name : str
        Name under which `pdes.simulate` finds the method.
    order : int
        Declared order.
    matrix : tuple of tuples of Fraction
        Rows of the strictly lower triangle: row ``i`` has ``i`` entries.
    weights : tuple of Fraction
        One weight a stage.
    real_limit, imaginary_limit : float
        Extent of the stability region along the negative real and the imaginary axis.

    Examples
    --------
    One step of ``v' = -v`` reproduces the Taylor polynomial of degree four:

    >>> import numpy as np
    >>> step = RK4.stepper(np.array([0.0]), 0.5)
    >>> float(step(np.array([1.0]), 0.0, lambda v, t: -v)[0])
    0.60677...
    """

    name: str
    order: int
    matrix: tuple[tuple[Fraction, ...], ...]
    weights: tuple[Fraction, ...]
    real_limit: float
    imaginary_limit: float

    @property
    def nodes(self) -> tuple[Fraction, ...]:
        """Stage times as fractions of the step: the row sums of the matrix."""
        return tuple(sum(row, Fraction(0)) for row in self.matrix)

    def stepper(
        self, linear: Array, time_step: float, dtype: Any = None
    ) -> Callable[[Array, float, Callable[[Array, float], Array]], Array]:
        """Return the step function of ``v' = linear * v + nonlinear(v, t)``.

        Parameters
        ----------
        linear : array
            Diagonal linear part, broadcasting against the state; treated explicitly.
        time_step : float
            Size of the step.
        dtype : dtype, optional
            Dtype to which `linear` is cast.

        Returns
        -------
        callable
            ``step(state, time, nonlinear) -> state`` one `time_step` later.
        """
        if dtype is not None:
            linear = array_namespace(linear).astype(linear, dtype)
        rows = tuple(
            tuple((j, time_step * float(a)) for j, a in enumerate(row) if a) for row in self.matrix
        )
        weights = tuple((j, time_step * float(b)) for j, b in enumerate(self.weights) if b)
        offsets = tuple(time_step * float(node) for node in self.nodes)

        def step(state: Array, time: float, nonlinear: Callable[[Array, float], Array]) -> Array:
            slopes: list[Array] = []
            for row, offset in zip(rows, offsets, strict=True):
                stage = state
                for j, factor in row:
                    stage = stage + factor * slopes[j]
                slopes.append(linear * stage + nonlinear(stage, time + offset))
            for j, factor in weights:
                state = state + factor * slopes[j]
            return state

        return step


RK4 = RungeKutta(
    name="rk4",
    order=4,
    matrix=(
        (),
        (Fraction(1, 2),),
        (Fraction(0), Fraction(1, 2)),
        (Fraction(0),) * 2 + (Fraction(1),),
    ),
    weights=(Fraction(1, 6), Fraction(1, 3), Fraction(1, 3), Fraction(1, 6)),
    real_limit=2.785,
    imaginary_limit=2.828,
)
"""The classical method of order four (Kutta 1901)."""

SSPRK3 = RungeKutta(
    name="ssprk3",
    order=3,
    matrix=((), (Fraction(1),), (Fraction(1, 4), Fraction(1, 4))),
    weights=(Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)),
    real_limit=2.512,
    imaginary_limit=1.732,
)
"""Strong-stability-preserving method of order three (Shu and Osher 1988)."""
