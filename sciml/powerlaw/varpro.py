"""Separable least squares: coefficients are eliminated, only the nonlinear parameters iterate.

Rows ``Phi(p) c ~ y`` are linear in the coefficients ``c``. For given parameters ``p`` the best
``c`` is a linear least-squares solution, which leaves the reduced residual
``r(p) = y - Phi(p) c(p)``. Its Jacobian is ``-(P_perp Phi' c + Phi^(+T) Phi'^T r)`` (Golub and
Pereyra, SIAM J. Numer. Anal. 10 (1973) 413); Kaufman (BIT 15 (1975) 49) drops the second term.
Levenberg-Marquardt with columns scaled as by Marquardt (J. SIAM 11 (1963) 431) then iterates ``p``
alone.

A leading axis runs many starts, or many independent fits, as one batch. Arrays are NumPy's or
torch's, on any device that has float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import device

from sciml.powerlaw.separable_fit import SeparableFit, SeparableModel
from sciml.powerlaw.separable_iteration import STATIONARY, Iteration, Rest


def variable_projection(
    model: SeparableModel,
    y: Any,
    start: Any,
    *,
    lower: Any = None,
    upper: Any = None,
    weights: Any = None,
    rtol: float = 1e-15,
    max_trials: int = 40,
    max_iterations: int = 200,
    kaufman: bool = True,
    target: float | None = None,
    stationary: float = STATIONARY,
) -> SeparableFit:
    """Fit ``Phi(p) c ~ y`` over coefficients ``c`` and parameters ``p`` by variable projection.

    Parameters
    ----------
    model : callable
        ``model(parameters) -> (columns, derivatives)`` for parameters of shape ``(batch, p)``:
        columns of shape ``(batch, rows, n)``, and derivatives of shape ``(batch, p, rows, n)`` or
        as `SparseDerivatives` (cheaper by far: a parameter usually moves one or two columns). A
        start without batch axis is passed as a batch of one. The batch shrinks as members come to
        rest; a model whose members differ (other radii, say) offers ``model.take(members)``, the
        model of these members (an array of indices) alone.
    y : array, shape (rows,) or (batch, rows), float64
        Right-hand side, shared or one per member.
    start : array, shape (p,) or (batch, p), float64
        Start values. ``p`` may be 0: then this is linear least squares.
    lower, upper : array, shape (p,) or (batch, p), or float, optional
        Bounds; steps are clipped to them, and a parameter that pushes against its bound rests.
    weights : array, shape (rows,) or (batch, rows), optional
        Rows are multiplied by it: the inverse of the standard deviation of their noise.
    rtol : float, default 1e-15
        A member rests when its step is below ``rtol*(1 + |p|)``.
    max_trials : int, default 40
        It also rests after so many trial steps in a row that did not lower its residual; after five
        if the residual is rounding; and when the gradient has vanished to rounding.
    max_iterations : int, default 200
        Most accepted steps.
    kaufman : bool, default True
        Use the first term of the Jacobian only, which costs less and converges as far.
    target : float, optional
        End as soon as one member's relative residual is below it: for a race of starts.
    stationary : float, default 1e-26
        A member also rests when a full step promises to remove less than this share of its squared
        residual. The default is rounding; a search that only ranks starts is content with more.

    Returns
    -------
    SeparableFit

    Raises
    ------
    ValueError
        If shapes do not agree or there are fewer rows than unknowns.

    Examples
    --------
    The exponent of ``3 sqrt(x)``, from a start at 2:

    >>> from sciml.powerlaw.separable_fit import SparseDerivatives
    >>> x = np.linspace(0.01, 1.0, 50)
    >>> def model(p):
    ...     columns = x[:, None] ** p[:, None, :]
    ...     return columns, SparseDerivatives((columns[..., 0] * np.log(x))[:, None], (0,), (0,))
    >>> fit = variable_projection(model, 3.0 * np.sqrt(x), np.array([2.0]))
    >>> fit.parameters, fit.coefficients
    (array([0.5]), array([3.]))
    """
    # what overflows is a failed trial
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        run = Iteration(model, y, start, lower, upper, weights, kaufman)
        run.iterate(Rest(rtol, max_trials, max_iterations, stationary), target)
        return run.result(batched=len(start.shape) == 2)


def reduced_residuals(model: SeparableModel, y: Any, parameters: Any, weights: Any = None) -> Any:
    """Relative residual at given parameters with the best coefficients, nothing iterated.

    Parameters
    ----------
    model, y, weights
        As in `variable_projection`.
    parameters : array, shape (batch, p)

    Returns
    -------
    array, shape (batch,)
        Infinite where the model is.

    Examples
    --------
    >>> x = np.linspace(0.1, 1.0, 5)
    >>> model = lambda p: (x[:, None] ** p[:, None, :], None)
    >>> reduced_residuals(model, x**2, np.array([[1.0], [2.0]])) < 1e-12
    array([False,  True])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        run = Iteration(model, y, parameters, None, None, weights, kaufman=True)
        xp = run.xp
        state = run.evaluate(run.parameters, xp.arange(run.batch, device=device(y)))
    size = xp.where(run.size > 0, run.size, xp.ones_like(run.size))
    return xp.sqrt(state.cost) / size
