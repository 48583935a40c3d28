"""Checks of parameters that are one of a few words or values."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

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
    if not any(value is choice or value == choice for choice in choices):
        raise ValueError(f"{problem}: {name}={value!r}, wanted one of {list(choices)}")
    return value
