"""Implicit-explicit methods: a diagonal linear part implicitly, everything else explicitly.

The linear part must be diagonal, as constant-coefficient operators are on Fourier coefficients or
on the eigenvectors of a difference operator; an implicit stage is then one division.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from array_api_compat import array_namespace

Array = Any
Nonlinear = Callable[[Array, float], Array]
Step = Callable[[Array, float, Nonlinear], Array]


@dataclass(frozen=True, kw_only=True)
class ImexMultistep:
    r"""Two-step method given by its coefficients.

    ``sum_j a_j v_{n+1-j} = dt sum_j (b_j L v_{n+1-j} + c_j N(v_{n+1-j}))`` with ``c_0 = 0``.

    The first step, and any step whose predecessor was of another size, is taken by a predictor
    and corrector of second order (Crank-Nicolson with the mean of two explicit evaluations).

    Parameters
    ----------
    name : str
        What it is called.
    order : int
        Declared order.
    left, implicit, explicit : tuple of Fraction, length 3
        Coefficients ``a``, ``b`` and ``c`` of the new, the present and the last value.
    real_limit : float
        Largest rate times step of a decaying explicit term.
    damped_steps : int, default 0
        Take so many first steps as two half steps of backward Euler each. Crank-Nicolson lets the
        fast modes of rough data alternate in sign; two such pairs damp them and keep order two
        (R. Rannacher, Numer. Math. 43 (1984) 309).

    Examples
    --------
    Two steps of ``v' = -v`` treated implicitly are Crank-Nicolson:

    >>> import numpy as np
    >>> step = CNAB2.stepper(np.array([-1.0]), 0.1)
    >>> v = step(np.array([1.0]), 0.0, lambda v, t: 0.0 * v)
    >>> v = step(v, 0.1, lambda v, t: 0.0 * v)
    >>> bool(abs(v[0] - (0.95 / 1.05) ** 2) < 1e-15)
    True
    """

    name: str
    order: int
    left: tuple[Fraction, Fraction, Fraction]
    implicit: tuple[Fraction, Fraction, Fraction]
    explicit: tuple[Fraction, Fraction, Fraction]
    real_limit: float
    damped_steps: int = 0

    def stepper(self, linear: Array, time_step: float, dtype: Any = None) -> Step:
        """Return the step function; it remembers the last step.

        Parameters
        ----------
        linear : array
            Diagonal linear part, broadcasting against the state.
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
        a = [float(value) for value in self.left]
        b = [time_step * float(value) for value in self.implicit]
        c = [time_step * float(value) for value in self.explicit]
        inverse = 1.0 / (a[0] - b[0] * linear)
        half = 0.5 * time_step
        start_inverse = 1.0 / (1.0 - half * linear)
        memory: dict[str, Any] = {"taken": 0}

        def start(state: Array, slope: Array, time: float, nonlinear: Nonlinear) -> Array:
            base = state + half * linear * state
            guess = start_inverse * (base + time_step * slope)
            corrected = nonlinear(guess, time + time_step)
            return start_inverse * (base + half * (slope + corrected))

        def damped(state: Array, slope: Array, time: float, nonlinear: Nonlinear) -> Array:
            between = start_inverse * (state + half * slope)
            return start_inverse * (between + half * nonlinear(between, time + half))

        def step(state: Array, time: float, nonlinear: Nonlinear) -> Array:
            slope = nonlinear(state, time)
            follows = "time" in memory and math.isclose(
                memory["time"] + time_step, time, rel_tol=0.0, abs_tol=1e-6 * time_step
            )
            if memory["taken"] < self.damped_steps:
                new = damped(state, slope, time, nonlinear)
            elif follows and memory["shape"] == state.shape:
                known = (b[1] * linear - a[1]) * state + (b[2] * linear - a[2]) * memory["state"]
                new = inverse * (known + c[1] * slope + c[2] * memory["slope"])
            else:
                new = start(state, slope, time, nonlinear)
            taken = memory["taken"] + 1
            memory.update(time=time, state=state, slope=slope, shape=state.shape, taken=taken)
            return new

        return step


@dataclass(frozen=True, kw_only=True)
class ImexRungeKutta:
    """Runge-Kutta pair: one tableau for the implicit part, one for the explicit part.

    Both have the same nodes; the implicit tableau has a first column of zeros, so that the first
    stage is the state itself.

    Parameters
    ----------
    name : str
        What it is called.
    order : int
        Declared order.
    implicit, explicit : tuple of tuples of Fraction
        Square tableaux, rows of full length.
    implicit_weights, explicit_weights : tuple of Fraction
        Weights of the stages.
    real_limit : float
        Largest rate times step of a decaying explicit term.

    Examples
    --------
    >>> import numpy as np
    >>> step = ARS443.stepper(np.array([-1.0]), 0.1)
    >>> bool(abs(step(np.array([1.0]), 0.0, lambda v, t: 0.0 * v)[0] - np.exp(-0.1)) < 1e-5)
    True
    """

    name: str
    order: int
    implicit: tuple[tuple[Fraction, ...], ...]
    explicit: tuple[tuple[Fraction, ...], ...]
    implicit_weights: tuple[Fraction, ...]
    explicit_weights: tuple[Fraction, ...]
    real_limit: float

    @property
    def nodes(self) -> tuple[Fraction, ...]:
        """Stage times as fractions of the step: the row sums of the explicit tableau."""
        return tuple(sum(row, Fraction(0)) for row in self.explicit)

    def stepper(self, linear: Array, time_step: float, dtype: Any = None) -> Step:
        """Return the step function; see `ImexMultistep.stepper`."""
        if dtype is not None:
            linear = array_namespace(linear).astype(linear, dtype)
        nodes = [time_step * float(node) for node in self.nodes]
        explicit = [[time_step * float(a) for a in row] for row in self.explicit]
        implicit = [[time_step * float(a) for a in row] for row in self.implicit]
        inverses = [
            1.0 / (1.0 - row[i] * linear) if row[i] else 1.0 for i, row in enumerate(implicit)
        ]
        final = (
            [time_step * float(w) for w in self.implicit_weights],
            [time_step * float(w) for w in self.explicit_weights],
        )

        def step(state: Array, time: float, nonlinear: Nonlinear) -> Array:
            stiff: list[Array] = []
            slopes: list[Array] = []
            for i, offset in enumerate(nodes):
                stage = state
                for j in range(i):
                    stage = _add(stage, implicit[i][j], stiff[j])
                    stage = _add(stage, explicit[i][j], slopes[j])
                stage = inverses[i] * stage
                stiff.append(linear * stage)
                slopes.append(nonlinear(stage, time + offset))
            for j in range(len(nodes)):
                state = _add(state, final[0][j], stiff[j])
                state = _add(state, final[1][j], slopes[j])
            return state

        return step


def _add(total: Array, factor: float, term: Array) -> Array:
    return total + factor * term if factor else total


def _row(*entries: str | int) -> tuple[Fraction, ...]:
    return tuple(Fraction(entry) for entry in entries)


CNAB2 = ImexMultistep(
    name="cnab2",
    order=2,
    left=(Fraction(1), Fraction(-1), Fraction(0)),
    implicit=(Fraction(1, 2), Fraction(1, 2), Fraction(0)),
    explicit=(Fraction(0), Fraction(3, 2), Fraction(-1, 2)),
    real_limit=1.0,
)
"""Crank-Nicolson with second-order Adams-Bashforth."""

CNAB2_DAMPED = replace(CNAB2, name="cnab2_damped", damped_steps=2)
"""The same for rough data: two pairs of backward Euler half steps first."""

SBDF2 = ImexMultistep(
    name="sbdf2",
    order=2,
    left=(Fraction(3, 2), Fraction(-2), Fraction(1, 2)),
    implicit=(Fraction(1), Fraction(0), Fraction(0)),
    explicit=(Fraction(0), Fraction(2), Fraction(-1)),
    real_limit=4.0 / 3.0,
)
"""Second-order backward differences, semi-implicit: Ascher, Ruuth and Wetton, SIAM J. Numer. Anal.
32 (1995) 797, table 2."""

ARS443 = ImexRungeKutta(
    name="ars443",
    order=3,
    implicit=(
        _row(0, 0, 0, 0, 0),
        _row(0, "1/2", 0, 0, 0),
        _row(0, "1/6", "1/2", 0, 0),
        _row(0, "-1/2", "1/2", "1/2", 0),
        _row(0, "3/2", "-3/2", "1/2", "1/2"),
    ),
    explicit=(
        _row(0, 0, 0, 0, 0),
        _row("1/2", 0, 0, 0, 0),
        _row("11/18", "1/18", 0, 0, 0),
        _row("5/6", "-5/6", "1/2", 0, 0),
        _row("1/4", "7/4", "3/4", "-7/4", 0),
    ),
    implicit_weights=_row(0, "3/2", "-3/2", "1/2", "1/2"),
    explicit_weights=_row("1/4", "7/4", "3/4", "-7/4", 0),
    real_limit=2.1,
)
"""Four stages, order 3, L-stable: Ascher, Ruuth and Spiteri, Appl. Numer. Math. 25 (1997) 151,
section 2.8."""

IMEX: dict[str, ImexMultistep | ImexRungeKutta] = {
    m.name: m for m in (CNAB2, CNAB2_DAMPED, SBDF2, ARS443)
}
