"""Numbers that say how well something was found, fitted or solved."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np


def support_f1(found: Any, true: Any) -> float:
    """Return the F1 score of a set of terms, ``2 TP/(|found| + |true|)``.

    Parameters
    ----------
    found, true
        The terms: a set or list of names, a mapping of term to coefficient, or a mapping of field
        to either of these for systems. A coefficient of exactly 0 counts as an absent term.

    Returns
    -------
    float
        1 for the right support, 0 if nothing right was found. Two empty supports agree: 1.

    Examples
    --------
    >>> support_f1({"u": {"u*u_x": -1.02, "u_xx": 0.1}}, {"u": {"u*u_x": -1.0, "u_xx": 0.1}})
    1.0
    >>> support_f1(["u_xx", "u", "u^2"], ["u_xx"])
    0.5
    """
    first, second = set(_coefficients(found)), set(_coefficients(true))
    if not first and not second:
        return 1.0
    return 2.0 * len(first & second) / (len(first) + len(second))


def coefficient_error(found: Any, true: Any) -> float:
    """Return the largest relative error of a coefficient over the true terms.

    Parameters
    ----------
    found, true
        Mappings of term to coefficient, or of field to such mappings.

    Returns
    -------
    float
        ``max |found - true|/|true|``; a true term that was not found has error 1. Not-a-number if
        there are no true terms.

    Examples
    --------
    >>> round(coefficient_error({"u_xx": 0.11, "u": 3.0}, {"u_xx": 0.1}), 6)
    0.1
    """
    measured, wanted = _coefficients(found), _coefficients(true)
    if not all(_is_number(value) for value in [*measured.values(), *wanted.values()]):
        raise TypeError(
            "found and true must map terms to numbers: a support alone has no coefficients"
        )
    errors = [abs(measured.get(term, 0.0) - value) / abs(value) for term, value in wanted.items()]
    return float(max(errors)) if errors else math.nan


def relative_l2(
    prediction: Any,
    truth: Any,
    axis: int | tuple[int, ...] | None = None,
    weights: Any = None,
) -> Any:
    """Return ``||prediction - truth||/||truth||`` in the discrete L2 norm, or in that of functions.

    Parameters
    ----------
    prediction, truth
        Arrays of the same shape, real or complex; NumPy or another array library (PyTorch stays
        differentiable and on its device).
    axis
        Axes to sum over, all if None. To have one number per sample of a ``(sample, x)`` array
        use 1.
    weights
        Quadrature weights of the points, not negative, that broadcast against the last axes; or a
        `sciml.nn.Quadrature`. Then the norms are integrals, the same on every grid that resolves
        the fields. All alike if None.

    Returns
    -------
    float or array
        A float for NumPy input without ``axis``.

    Raises
    ------
    ValueError
        If the shapes differ (nothing is broadcast), if weights do not fit, or if a norm of
        ``truth`` is 0.

    Examples
    --------
    >>> relative_l2(np.array([3.0, 4.5]), np.array([3.0, 4.0]))
    0.1
    >>> relative_l2(np.array([1.0, 1.5]), np.array([1.0, 1.0]), weights=np.array([3.0, 1.0]))
    0.25
    """
    from array_api_compat import array_namespace

    prediction, truth = (
        value if hasattr(value, "shape") else np.asarray(value) for value in (prediction, truth)
    )
    if tuple(prediction.shape) != tuple(truth.shape):
        raise ValueError(
            f"prediction has shape {tuple(prediction.shape)} and truth {tuple(truth.shape)}: "
            "they must be equal, nothing is broadcast"
        )
    xp = array_namespace(prediction, truth)

    share = None if weights is None else _checked_weights(weights, truth, xp)

    def norm(values: Any) -> Any:
        squares = xp.abs(values) ** 2
        return xp.sqrt(xp.sum(squares if share is None else share * squares, axis=axis))

    scale = norm(truth)
    if bool(xp.any(scale == 0)):
        raise ValueError("truth is 0 everywhere (on a sample): its relative error is undefined")
    error = norm(prediction - truth) / scale
    return float(error) if axis is None and isinstance(truth, np.ndarray) else error


def _checked_weights(weights: Any, truth: Any, xp: Any) -> Any:
    """Weights in the library, type and place of the fields."""
    given = weights.full() if hasattr(weights, "full") else weights
    plain = given.detach().cpu().numpy() if hasattr(given, "detach") else np.asarray(given)
    shape, wanted = plain.shape, tuple(truth.shape)
    fits = len(shape) <= len(wanted) and all(
        n in (1, m) for n, m in zip(shape[::-1], wanted[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"weights have shape {shape}, and the fields {wanted}: wanted the shape of the last "
            f"{len(shape) or 1} axes"
        )
    if plain.dtype.kind not in "fiu" or not np.all(np.isfinite(plain) & (plain >= 0)):
        raise ValueError("weights must be finite and not negative")
    real = xp.abs(truth[:0])
    place = {} if isinstance(truth, np.ndarray) else {"device": truth.device}
    return xp.asarray(plain, dtype=real.dtype, **place)


def observed_order(steps: Sequence[float], errors: Sequence[float]) -> float:
    """Return the slope of ``log(error)`` against ``log(step)``, by least squares.

    Parameters
    ----------
    steps
        Step sizes or grid spacings, positive, at least two different ones.
    errors
        Error at each, not negative.

    Returns
    -------
    float
        The observed order of convergence. Not-a-number if an error is 0 or not finite, where a
        slope means nothing.

    Examples
    --------
    >>> round(observed_order([0.1, 0.05, 0.025], [1e-2, 2.5e-3, 6.25e-4]), 6)
    2.0
    """
    h, e = np.asarray(steps, dtype=float), np.asarray(errors, dtype=float)
    if h.ndim != 1 or h.shape != e.shape:
        raise ValueError(f"steps has shape {h.shape} and errors {e.shape}: one error for each step")
    if np.unique(h).size < 2 or not np.all(h > 0):
        raise ValueError(f"steps are {h.tolist()}: at least two different positive ones are needed")
    if not np.all(np.isfinite(e) & (e > 0)):
        return math.nan
    return float(np.polyfit(np.log(h), np.log(e), 1)[0])


def _coefficients(terms: Any) -> dict[Hashable, Any]:
    """Flatten the accepted forms to {term or (field, term): coefficient or None}."""
    if isinstance(terms, str) or not isinstance(terms, Iterable):
        raise TypeError(f"terms are {terms!r}: a set, list or mapping of terms is needed")
    if not isinstance(terms, Mapping):
        return dict.fromkeys(terms)
    flat: dict[Hashable, Any] = {}
    for key, value in terms.items():
        if _is_number(value):
            if value != 0:
                flat[key] = value
        else:
            flat.update({(key, term): number for term, number in _coefficients(value).items()})
    return flat


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.number))
