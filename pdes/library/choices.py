"""Checks of parameters that are one of a few words or values."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeGuard, TypeVar

import numpy as np

from pdes.library.limits import Limits, note_limits
from pdes.tokens import closest

Choice = TypeVar("Choice")


def check_choice(problem: str, name: str, value: Choice, choices: Collection[Choice]) -> Choice:
    """The value, or an error that names the parameter and what it can be.

    Parameters
    ----------
    problem : str
        Name of the problem.
    name : str
        Name of the parameter.
    value : object
        What was given.
    choices : collection
        What is allowed; ``(True, False)`` for a switch.

    Returns
    -------
    object
        The value.

    Raises
    ------
    ValueError
        If it is none of the choices.

    Examples
    --------
    >>> check_choice("lame_cylinder", "cell_type", "quad", ("triangle", "quad"))
    'quad'
    """
    note_limits(Limits(name=name, choices=tuple(choices)))
    switch = isinstance(value, bool | np.bool_)
    for choice in choices:
        # True is no 1, and 1 no True.
        if isinstance(choice, bool) == switch and np.isscalar(value) and value == choice:
            return choice
    hint = closest(value, [c for c in choices if isinstance(c, str)]) if _is_text(value) else ""
    raise ValueError(f"{problem}: {name}={value!r}, wanted one of {list(choices)}.{hint}")


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)
