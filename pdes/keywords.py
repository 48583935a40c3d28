"""Unknown keyword arguments, answered with the closest one that exists."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from pdes.tokens import closest

__all__ = ["offers_closest_keyword"]

# What other packages call the same.
_SYNONYMS = {
    "dt": "time_step",
    "n": "samples",
    "n_samples": "samples",
    "path": "store",
    "random_state": "seed",
    "t": "times",
    "t_eval": "times",
    "tol": "rtol",
}

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def offers_closest_keyword(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate a function so that an unknown keyword is answered with the closest known one.

    Parameters
    ----------
    function : callable
        Without ``**`` in its signature.

    Returns
    -------
    callable
        With the same signature.

    Raises
    ------
    TypeError
        When called with a keyword that it does not have.

    Examples
    --------
    >>> @offers_closest_keyword
    ... def march(time_step=0.1):
    ...     return time_step
    >>> march(timestep=0.2)
    Traceback (most recent call last):
    ...
    TypeError: march has no argument 'timestep'. Did you mean 'time_step'? It takes time_step
    """
    known: list[str] = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        for name in options:
            if name not in known:
                meant = _SYNONYMS.get(name, "")
                hint = f" Did you mean {meant!r}?" if meant in known else closest(name, known)
                raise TypeError(
                    f"{function.__name__} has no argument {name!r}.{hint} It takes "
                    f"{', '.join(known)}"
                )
        return function(*arguments, **options)

    return call
