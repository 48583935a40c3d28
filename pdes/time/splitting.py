"""Splitting methods: two flows that are known exactly, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Array = Any
Flow = Callable[[Array], Array]
MakeFlow = Callable[[float], Flow]


@dataclass(frozen=True, kw_only=True)
class Splitting:
    """Symmetric composition of two flows.

    Parameters
    ----------
    name : str
        What it is called.
    order : int
        Declared order.
    drifts : tuple of float
        Fractions of the step for the first flow, one more than `kicks`.
    kicks : tuple of float
        Fractions of the step for the second flow.

    Examples
    --------
    The harmonic oscillator, split into drift and kick, returns after one period:

    >>> import numpy as np
    >>> def drift(h):
    ...     return lambda z: z.real + h * z.imag + 1j * z.imag
    >>> def kick(h):
    ...     return lambda z: z - 1j * h * z.real
    >>> step, z = STRANG.stepper(drift, kick, 2 * np.pi / 100), 1.0 + 0j
    >>> for _ in range(100):
    ...     z = step(z)
    >>> bool(abs(z - 1.0) < 2e-3)
    True
    """

    name: str
    order: int
    drifts: tuple[float, ...]
    kicks: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.drifts) != len(self.kicks) + 1:
            raise ValueError(
                f"{self.name}: got {len(self.drifts)} drifts and {len(self.kicks)} kicks, wanted "
                "one drift more than kicks"
            )

    def stepper(self, drift: MakeFlow, kick: MakeFlow, time_step: float) -> Flow:
        """Prepare the flows for one time step.

        Parameters
        ----------
        drift, kick : callable
            ``drift(duration)`` returns the map ``state -> state`` of the first flow, `kick` that
            of the second.
        time_step : float
            Size of the step.

        Returns
        -------
        callable
            ``step(state) -> state``.
        """
        flows = [drift(time_step * self.drifts[0])]
        for fraction, after in zip(self.kicks, self.drifts[1:], strict=True):
            flows += [kick(time_step * fraction), drift(time_step * after)]

        def step(state: Array) -> Array:
            for flow in flows:
                state = flow(state)
            return state

        return step


_OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
_INNER = 1.0 - 2.0 * _OUTER

STRANG = Splitting(name="strang", order=2, drifts=(0.5, 0.5), kicks=(1.0,))
"""Half a step of one flow, a step of the other, half a step of the first."""

YOSHIDA4 = Splitting(
    name="yoshida4",
    order=4,
    drifts=(0.5 * _OUTER, 0.5 * (_OUTER + _INNER), 0.5 * (_OUTER + _INNER), 0.5 * _OUTER),
    kicks=(_OUTER, _INNER, _OUTER),
)
"""Three Strang steps, the middle one backward: H. Yoshida, Phys. Lett. A 150 (1990) 262."""

SPLITTINGS: dict[str, Splitting] = {method.name: method for method in (STRANG, YOSHIDA4)}
