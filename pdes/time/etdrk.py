"""Fourth-order exponential time differencing Runge-Kutta method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from array_api_compat import array_namespace, is_numpy_namespace

from pdes.time.phi_functions import phi_functions

Array = Any


@dataclass(frozen=True)
class ETDRK4:
    """ETDRK4: the linear part exactly, the nonlinear part by four stages.

    Integrates ``v' = linear * v + nonlinear(v, t)`` where `linear` acts on each component of
    ``v`` separately, as constant-coefficient operators do on Fourier coefficients. However stiff,
    the linear part never limits the time step.

    Parameters
    ----------
    contour_points : int, default 32
        Points on the half circle for the phi-functions, twice as many when `linear` is complex.

    Notes
    -----
    Cox and Matthews, J. Comput. Phys. 176 (2002) 430, equations 26 to 29, in the stable
    evaluation of Kassam and Trefethen, SIAM J. Sci. Comput. 26 (2005) 1214.

    Examples
    --------
    One step of the logistic equation ``v' = v - v^2`` from 1/2, against its exact solution:

    >>> import numpy as np
    >>> step = ETDRK4().stepper(np.array([1.0]), 0.1)
    >>> value = step(np.array([0.5]), 0.0, lambda v, t: -v * v)
    >>> abs(value[0] - 1 / (1 + np.exp(-0.1))) < 1e-7
    np.True_
    """

    contour_points: int = 32
    name: str = field(default="etdrk4", init=False)
    order: int = field(default=4, init=False)

    def stepper(
        self, linear: Array, time_step: float, dtype: Any = None
    ) -> Callable[[Array, float, Callable[[Array, float], Array]], Array]:
        """Compute the coefficients for one time step and return the step function.

        Parameters
        ----------
        linear : array
            Diagonal linear part, real or complex, broadcasting against the state. Give it in
            double precision even when the state is single.
        time_step : float
            Size of the step.
        dtype : dtype, optional
            Real or complex dtype of the coefficients handed to the step; that of `linear` by
            default.

        Returns
        -------
        callable
            ``step(state, time, nonlinear) -> state`` one `time_step` later, where
            ``nonlinear(state, time)`` returns an array like `state`.
        """
        xp = array_namespace(linear)
        z = time_step * linear
        half = 0.5 * z
        phi_1, phi_2, phi_3 = phi_functions(z, points=self.contour_points)
        (phi_1_half, _, _) = phi_functions(half, points=self.contour_points)
        coefficients = (
            xp.exp(z),
            xp.exp(half),
            0.5 * time_step * phi_1_half,
            time_step * (phi_1 - 3.0 * phi_2 + 4.0 * phi_3),
            2.0 * time_step * (phi_2 - 2.0 * phi_3),
            time_step * (4.0 * phi_3 - phi_2),
        )
        if dtype is not None:
            coefficients = tuple(xp.astype(value, dtype) for value in coefficients)
        fold = _Folded(coefficients) if is_numpy_namespace(xp) else None
        decay, decay_half, q, f_1, f_2, f_3 = coefficients
        q_double, half_step = 2.0 * q, 0.5 * time_step

        def step(state: Array, time: float, nonlinear: Callable[[Array, float], Array]) -> Array:
            factored = getattr(nonlinear, "factored", None)
            if fold is not None and factored is not None:
                return fold.step(state, time, time_step, *factored)
            # Sums go into products made here: arrays of a small state fit the cache then.
            n_0 = nonlinear(state, time)
            base, increment = decay_half * state, q * n_0
            a = base + increment
            n_a = nonlinear(a, time + half_step)
            b = q * n_a
            b += base
            n_b = nonlinear(b, time + half_step)
            c = q_double * n_b
            c -= increment
            c += decay_half * a
            n_c = nonlinear(c, time + time_step)
            result = decay * state
            result += f_1 * n_0
            result += f_2 * (n_a + n_b)
            result += f_3 * n_c
            return result

        return step


class _Folded:
    """The same step where the nonlinear part is a multiplier times what it computes.

    The multiplier goes into the coefficients, and what is computed is overwritten: a third of the
    passes over the state are saved. For numpy, where nothing else holds these arrays.
    """

    def __init__(self, coefficients: tuple[Array, ...]) -> None:
        self._decay_half, self._plain = coefficients[1], coefficients[2:]
        self._multiplier: Any = None
        self._folded: tuple[Array, ...] = ()

    def step(
        self,
        state: Array,
        time: float,
        time_step: float,
        products: Callable[[Array, float], Array],
        multiplier: Array,
    ) -> Array:
        """State one step later; `products` returns arrays of its own."""
        if multiplier is not self._multiplier:
            q, f_1, f_2, f_3 = (value * multiplier for value in self._plain)
            self._folded, self._multiplier = (q, 2.0 * q, f_1, f_2, f_3), multiplier
        q, q_double, f_1, f_2, f_3 = self._folded
        decay_half, middle = self._decay_half, time + 0.5 * time_step
        n_0 = products(state, time)
        result, increment = decay_half * state, q * n_0
        n_0 *= f_1
        a = result + increment
        n_a = products(a, middle)
        b = q * n_a
        b += result
        # The decay over the whole step is that over a half, twice.
        result *= decay_half
        result += n_0
        n_b = products(b, middle)
        c = q_double * n_b
        c -= increment
        a *= decay_half
        c += a
        n_a += n_b
        n_a *= f_2
        result += n_a
        n_c = products(c, time + time_step)
        n_c *= f_3
        result += n_c
        return result
