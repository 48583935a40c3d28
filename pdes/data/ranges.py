"""Parameters drawn anew for every sample."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

_WANTED = (
    "wanted (low, high) for uniform numbers, {'log': [low, high]} for uniform logarithms, or "
    "{'choices': [...]}"
)


def normalized(name: str, given: Any) -> dict[str, list[float]]:
    """One way of writing a range down, or an error that says what is wrong with it.

    Parameters
    ----------
    name : str
        Parameter, for messages.
    given : sequence or mapping
        ``(low, high)``, ``{"uniform": [low, high]}``, ``{"log": [low, high]}`` or
        ``{"choices": [...]}``.

    Returns
    -------
    dict
        With the one key ``uniform``, ``log`` or ``choices``.

    Raises
    ------
    ValueError
        If it is none of these, not finite, or empty.

    Examples
    --------
    >>> normalized("viscosity", (1e-3, 0.1))
    {'uniform': [0.001, 0.1]}
    """
    if isinstance(given, Mapping):
        if len(given) != 1 or next(iter(given)) not in ("uniform", "log", "choices"):
            raise ValueError(f"the range of {name!r} is {dict(given)}; {_WANTED}")
        ((kind, numbers),) = given.items()
    else:
        kind, numbers = "uniform", given
    try:
        values = [float(value) for value in numbers]
    except (TypeError, ValueError):
        raise ValueError(f"the range of {name!r} is {reprlib.repr(given)}; {_WANTED}") from None
    if not values or not all(math.isfinite(value) for value in values):
        raise ValueError(
            f"the range of {name!r} is {reprlib.repr(given)}: its numbers must be finite"
        )
    if kind != "choices":
        if len(values) != 2 or values[0] > values[1]:
            raise ValueError(
                f"the range of {name!r} is {reprlib.repr(given)}; {_WANTED}, low first"
            )
        if kind == "log" and values[0] <= 0.0:
            raise ValueError(
                f"the range of {name!r} is {reprlib.repr(given)}: a logarithm needs low > 0"
            )
    return {kind: values}


def sample_parameters(
    ranges: Mapping[str, Mapping[str, list[float]]], rng: np.random.Generator
) -> dict[str, float]:
    """Draw every parameter once, in alphabetical order of their names.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sample_parameters({"a": {"uniform": [2.0, 2.0]}, "b": {"choices": [5.0]}}, rng)
    {'a': 2.0, 'b': 5.0}
    """
    found = {}
    for name in sorted(ranges):
        ((kind, values),) = ranges[name].items()
        if kind == "choices":
            found[name] = values[int(rng.integers(len(values)))]
        elif kind == "log":
            low, high = np.log(values)
            # Rounding of the exponential must not leave the range.
            found[name] = min(max(float(np.exp(rng.uniform(low, high))), values[0]), values[1])
        else:
            found[name] = float(rng.uniform(values[0], values[1]))
    return found
