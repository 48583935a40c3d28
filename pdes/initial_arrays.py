"""Initial fields of a problem as arrays: what is accepted, and how it is drawn and checked."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pdes.tokens import closest

if TYPE_CHECKING:
    from pdes.problem import Problem

__all__ = ["check_initial", "draw", "initial_arrays", "refuse_mask", "to_host"]

Array = Any


def check_initial(given: Any, fields: tuple[str, ...]) -> None:
    """Refuse what is neither a mapping of arrays nor a function of grid and generator.

    Parameters
    ----------
    given : object
        What was passed as ``initial``.
    fields : tuple of str
        Fields of the equation, for the message.

    Raises
    ------
    ValueError
        Saying what was given and what would do.

    Examples
    --------
    >>> check_initial([0.0, 1.0], ("u",))
    Traceback (most recent call last):
    ...
    ValueError: initial: got list, wanted a mapping of field to array, {'u': array}, or a ...
    """
    wanted = (
        f"wanted a mapping of field to array, {{{fields[0]!r}: array}}, or a function (grid, rng) "
        "that returns one, such as pdes.initial.RandomFourier(modes=4)"
    )
    if isinstance(given, Mapping):
        return
    if isinstance(given, type):
        raise ValueError(
            f"initial: got the class {given.__name__}, wanted one of its kind: call it first, "
            f"{given.__name__}(...)"
        )
    if not callable(given) or isinstance(given, np.ufunc):
        raise ValueError(f"initial: got {_kind(given)}, {wanted}")
    try:
        inspect.signature(given).bind(None, None)
    except TypeError:
        name = getattr(given, "__name__", type(given).__name__)
        raise ValueError(
            f"initial: {name}{inspect.signature(given)} does not take the two arguments "
            f"(grid, rng); {wanted}"
        ) from None
    except ValueError:
        return  # some builtins have no signature


def draw(problem: Problem, family: Any, rng: np.random.Generator) -> dict[str, Array]:
    """Fields that a function of grid and generator returns, refused unless it is a mapping."""
    found = family(problem.grid, rng)
    if not isinstance(found, Mapping):
        raise ValueError(
            f"initial: the function returned {_kind(found)}, wanted a mapping of field to array, "
            f"{{{problem.equation.fields[0]!r}: array}}"
        )
    return dict(found)


def initial_arrays(
    problem: Problem, initial: Any, samples: int | None, seed: int
) -> dict[str, Array]:
    """Initial fields of the grid's shape, with a leading axis for a batch.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    initial : mapping, callable or None
        In place of the problem's own.
    samples : int, optional
        Number of draws.
    seed : int
        Of the draws.

    Returns
    -------
    dict of str to array

    Raises
    ------
    ValueError
        If fields, shapes or values do not fit.
    """
    given: Any = problem.initial if initial is None else initial
    check_initial(given, problem.equation.fields)
    if callable(given):
        return _checked(problem, _drawn(problem, given, samples, seed))
    if samples is not None:
        raise ValueError(
            f"samples={samples} needs a random initial field, a function of (grid, rng); "
            "arrays with a leading axis make a batch by themselves"
        )
    return _checked(problem, dict(given))


def _drawn(problem: Problem, family: Any, samples: int | None, seed: int) -> dict[str, Array]:
    if samples is None:
        return draw(problem, family, np.random.default_rng(seed))
    sequences = [np.random.SeedSequence(seed, spawn_key=(i,)) for i in range(samples)]
    draws = [
        _checked(problem, draw(problem, family, np.random.default_rng(s)), batch=False)
        for s in sequences
    ]
    drawn = {name: np.stack([one[name] for one in draws]) for name in draws[0]}
    if samples > 1 and all(np.array_equal(a[0], a[1]) for a in drawn.values()):
        raise ValueError(
            f"samples={samples} of {problem.equation.name!r} would all be the same: its "
            "initial field is not random; pass initial=pdes.initial.RandomFourier(...)"
        )
    return drawn


def _checked(problem: Problem, fields: dict[str, Array], batch: bool = True) -> dict[str, Array]:
    equation, shape = problem.equation, tuple(problem.grid.shape)
    if set(fields) != set(equation.fields):
        unknown = sorted(set(map(str, fields)) - set(equation.fields))
        raise ValueError(
            f"initial has fields {sorted(map(str, fields))}, the equation has "
            f"{list(equation.fields)}.{closest(unknown[0], equation.fields) if unknown else ''}"
        )
    fields = {name: _as_array(name, values) for name, values in fields.items()}
    shapes = {tuple(values.shape) for values in fields.values()}
    if len(shapes) > 1:
        raise ValueError(f"initial fields have different shapes {sorted(shapes)}; make them equal")
    (found,) = shapes
    lengths = (len(shape), len(shape) + 1) if batch else (len(shape),)
    if found[-len(shape) :] != shape or len(found) not in lengths or 0 in found:
        raise ValueError(
            f"initial fields have shape {found}, the grid has {shape}: give that shape"
            + (", or (samples, ...) for a batch" if batch else "")
            + "; resample, or replace the problem's grid"
        )
    for name, values in fields.items():
        complex_values = "complex" in str(values.dtype)
        if complex_values and name not in equation.complex_fields:
            raise ValueError(
                f"initial field {name!r} is complex but the equation declares it real; name it in "
                "complex_fields, or give its real part"
            )
        host = to_host(values)
        if not np.all(np.isfinite(host)):
            raise ValueError(
                f"initial field {name!r} has {int(np.sum(~np.isfinite(host)))} values that are "
                "not finite; fill or cut them"
            )
    return fields


def _as_array(name: str, values: Any) -> Array:
    """Array of numbers; lists and DataArrays become numpy arrays, tensors stay what they are."""
    if hasattr(values, "detach"):
        return values
    refuse_mask(name, values)
    try:
        found = np.asarray(values)
    except ValueError:
        found = np.asarray(None)
    if found.dtype.kind not in "iufc":
        kind = _kind(values) if found.dtype.kind == "O" else f"an array of {found.dtype}"
        raise ValueError(f"initial field {name!r} is {kind}, wanted an array of numbers")
    return found


def refuse_mask(name: str, values: Any) -> None:
    """Refuse an array some of whose values are masked: a field has a value at every point."""
    if isinstance(values, list | tuple):
        for part in values:
            refuse_mask(name, part)
    if np.ma.is_masked(values):
        count = int(np.ma.count_masked(values))
        raise ValueError(
            f"initial field {name!r} is a masked array with {count} of {np.size(values)} values "
            "masked, wanted a value at every point: fill them, such as with values.filled(0.0)"
        )


def to_host(values: Array) -> np.ndarray:
    """Numpy array, whatever device and gradient it had."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _kind(given: Any) -> str:
    """What something is, in a few words."""
    if isinstance(given, str):
        return f"the text {given!r}"
    name = type(given).__name__
    shape = getattr(given, "shape", None)
    return name + (f" of shape {tuple(shape)}" if shape is not None else "")
