"""Arguments of a batch of fits, checked before anything is computed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from array_api_compat import device

from sciml.powerlaw.arguments import check_noise, check_rtol
from sciml.powerlaw.arrays import namespace
from sciml.powerlaw.masked import refuse_masked
from sciml.powerlaw.samples import R_MIN


def read_batch(r: Any, y: Any, low: float) -> tuple[Any, Any]:
    """Radii and values as arrays of one library.

    Parameters
    ----------
    r, y : array or list
        Lists become NumPy arrays.
    low : float
        Lowest exponent, which says whether the center may be among the radii.

    Returns
    -------
    r, y : array

    Raises
    ------
    ValueError

    Examples
    --------
    >>> read_batch([0.5, 1.0], [[1.0, 2.0]], -3.0)[1].shape
    (1, 2)
    """
    r, y = _array("r", r), _array("y", y)
    if hasattr(r, "detach") != hasattr(y, "detach"):
        raise ValueError("r and y are of NumPy and torch: wanted both of one library")
    _check_devices({"r": r, "y": y})
    if len(y.shape) != 2 or r.shape[-1:] != y.shape[-1:] or r.shape[:-1] not in ((), y.shape[:1]):
        raise ValueError(
            f"r has shape {tuple(r.shape)} and y {tuple(y.shape)}: wanted y (batch, rows) and r "
            "(rows,) or (batch, rows)"
        )
    if 0 in y.shape:
        raise ValueError(f"y has shape {tuple(y.shape)}: wanted at least one recording with rows")
    xp = namespace(r, y)
    r, y = _in_double_precision(r, y)
    if y.dtype != xp.float64 or r.dtype != xp.float64:
        raise ValueError(f"r is {r.dtype} and y {y.dtype}: wanted float64 for both")
    for name, array in (("r", r), ("y", y)):
        if not bool(xp.all(xp.isfinite(array))):
            raise ValueError(f"{name} holds NaN or infinity: leave such samples out")
    least = float(xp.min(r))
    if least < 0.0 or (least < R_MIN and low <= 0.0):
        raise ValueError(
            f"r comes down to {least:.3g}: wanted radii of at least {R_MIN}; leave the center out, "
            "or set bounds above 0"
        )
    return r, y


def read_weights(weights: Any, y: Any) -> Any:
    """Weights as a float64 array of the library and device of the values, or None.

    Parameters
    ----------
    weights : array or list, shape (rows,) or (batch, rows), or None
    y : array, shape (batch, rows)

    Returns
    -------
    array or None

    Raises
    ------
    ValueError
        For another shape or device, and for weights that are not positive and finite.

    Examples
    --------
    >>> read_weights([1, 2], np.ones((3, 2)))
    array([1., 2.])
    """
    if weights is None:
        return None
    weights = _array("weights", weights)
    shape = tuple(weights.shape)
    if shape not in (tuple(y.shape[1:]), tuple(y.shape)):
        raise ValueError(
            f"weights have shape {shape} and y {tuple(y.shape)}: wanted one weight per row, "
            f"{tuple(y.shape[1:])}, or one per row and member, {tuple(y.shape)}"
        )
    if hasattr(weights, "detach"):
        both = {"weights": weights, "y": y} if hasattr(y, "detach") else {"weights": weights}
        _check_devices(both)
    host = to_numpy(weights)
    if host.dtype.kind not in "fiu":
        raise ValueError(f"weights are {host.dtype}: wanted real numbers")
    host = host.astype(np.float64)
    bad = ~(np.isfinite(host) & (host > 0.0))
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"weights hold {host[place]} at {place}: wanted positive finite numbers; leave out "
            "rows that shall not count"
        )
    return namespace(y).asarray(host, device=device(y))


def read_seed_of_batch(seed: Any) -> Any:
    """Return the seed, or refuse what seeds no generator.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> read_seed_of_batch(3)
    3
    """
    try:
        np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ValueError(f"seed={seed!r}, wanted a whole number from 0") from None
    return seed


def to_numpy(array: Any) -> Any:
    """Array on the host."""
    return array.detach().cpu().numpy() if hasattr(array, "detach") else np.asarray(array)


def _in_double_precision(r: Any, y: Any) -> tuple[Any, Any]:
    """Single precision of both in float64, with one warning; anything else as it is."""
    names = {str(array.dtype).removeprefix("torch.") for array in (r, y)}
    if len(names) > 1 or not names & {"float32", "float16", "bfloat16"}:
        return r, y
    warnings.warn(
        f"{names.pop()} samples are fitted in float64; their own rounding limits the exponents",
        UserWarning,
        stacklevel=4,
    )
    xp = namespace(r, y)
    return tuple(xp.asarray(array, dtype=xp.float64) for array in (r, y))


def _check_devices(arrays: dict[str, Any]) -> None:
    """Refuse tensors of several devices, and of one that holds no numbers."""
    places = {name: str(a.device) for name, a in arrays.items() if hasattr(a, "detach")}
    names = " and ".join(arrays)
    if len(set(places.values())) > 1:
        raise ValueError(f"{names} are on devices {', '.join(places.values())}: wanted one")
    if "meta" in places.values():
        raise ValueError(f"{names} are on device meta, which holds no numbers: wanted cpu or cuda")


def check_batch(r: Any, order: Any, noise: Any, starts: Any, rtol: Any) -> None:
    """Refuse an order, noise, number of starts or tolerance that cannot be used.

    Raises
    ------
    ValueError
    """
    whole = isinstance(order, (int, np.integer)) and not isinstance(order, bool)
    if not (whole and order >= 1):
        raise ValueError(
            f"order={order!r}, wanted a whole number, at least 1; PowerLawFit finds the order of "
            "one recording by 'auto'"
        )
    if not (isinstance(starts, (int, np.integer)) and starts >= 0):
        raise ValueError(f"starts={starts!r}, wanted a number of random starts from 0")
    check_noise(noise)
    check_rtol(rtol)
    table = np.atleast_2d(r.detach().cpu().numpy() if hasattr(r, "detach") else r)
    distinct = min(len(np.unique(row)) for row in table)
    if distinct < 2 * order:
        raise ValueError(
            f"r has {distinct} different radii for {order} exponents with their coefficients: "
            f"wanted at least {2 * order}"
        )


def _array(name: str, given: Any) -> Any:
    refuse_masked(name, given)
    if hasattr(given, "detach") or isinstance(given, np.ndarray):
        return given
    if hasattr(given, "__array_namespace__"):
        return given
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is no array of numbers: wanted equal rows") from None
