"""Fields from which nothing, or something wrong, would be found: refused or pointed out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

LARGEST, SMALLEST = 1e100, 1e-100
"""Magnitudes beyond which powers of a field leave the range of float64."""

REPEATED = 0.05
"""Share of identical consecutive frames from which they are pointed out."""

FLAT = 1e-9
"""Variation along a space axis, relative to the field's size, below which there is none."""

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
DERIVATIVE = re.compile(r".*_[xyzt]+|[xyzt]")


def check_names(names: Iterable[str]) -> None:
    """Refuse names that could not be told from derivatives or operators in an equation.

    Parameters
    ----------
    names : iterable of str
        Names of the fields.

    Raises
    ------
    ValueError
        For a name other than a letter followed by letters, digits and underscores, and for one
        that reads as a coordinate or as a derivative.

    Examples
    --------
    >>> check_names(["u", "h_re"])
    >>> check_names(["u_x"])
    Traceback (most recent call last):
    ValueError: field 'u_x' reads as a derivative or a coordinate in an equation: ...
    """
    for name in names:
        if NAME.fullmatch(name) is None:
            problem = "cannot stand in an equation (a letter, then letters, digits and underscores)"
        elif DERIVATIVE.fullmatch(name) is not None:
            problem = "reads as a derivative or a coordinate in an equation"
        else:
            continue
        raise ValueError(
            f"field {name!r} {problem}: rename it, data.rename({{{name!r}: 'w'}}) for a Dataset, "
            "data.rename('w') for a DataArray"
        )


def check_size(fields: Mapping[str, NDArray]) -> None:
    """Refuse fields whose powers overflow or underflow.

    Parameters
    ----------
    fields : mapping of str to ndarray
        Fields, missing values NaN; none of them NaN everywhere.

    Raises
    ------
    ValueError
        If the largest magnitude is above 1e100, or below 1e-100 without being zero.

    Examples
    --------
    >>> check_size({"u": np.array([1e120, 1.0])})
    Traceback (most recent call last):
    ValueError: field 'u' has magnitudes up to 1e+120, ...
    """
    for name, values in fields.items():
        size = _size(values)
        if size == 0.0 or SMALLEST <= size <= LARGEST:
            continue
        raise ValueError(
            f"field {name!r} has magnitudes up to {size:.3g}, wanted between {SMALLEST:g} and "
            f"{LARGEST:g}: rescale it, for instance data / {size:.0e}"
        )


def check_constant(fields: Mapping[str, NDArray]) -> None:
    """Refuse fields that are the same everywhere, and recordings that stand still.

    Parameters
    ----------
    fields : mapping of str to ndarray
        Fields, time last, missing values NaN.

    Raises
    ------
    ValueError
        If a field is constant, or if no field changes in time.

    Examples
    --------
    >>> check_constant({"u": np.ones((4, 5)) * np.arange(4)[:, None]})
    Traceback (most recent call last):
    ValueError: field 'u' does not change in time, so there is nothing to find: ...
    """
    for name, values in fields.items():
        spread = float(np.nanstd(values))
        if not spread > 1e-12 * _size(values) or spread == 0.0:
            raise ValueError(
                f"field {name!r} is constant ({float(np.nanmean(values)):g} everywhere): nothing "
                "moves, so no equation can be found; check that the right variable was read"
            )
    if len(_still(fields)) == len(fields):
        names = ", ".join(repr(name) for name in fields)
        verb = "does" if len(fields) == 1 else "do"
        raise ValueError(
            f"field {names} {verb} not change in time, so there is nothing to find: check that "
            "the frames are not copies of the first one, or record the time before it comes to rest"
        )


def doubts(fields: Mapping[str, NDArray], space: tuple[str, ...]) -> Iterator[str]:
    """What a careful reader should know about fields that are not refused.

    Parameters
    ----------
    fields : mapping of str to ndarray
        Fields, axes (space..., time), missing values NaN.
    space : tuple of str
        Names of the space axes.

    Yields
    ------
    str
        One sentence for each doubt.

    Examples
    --------
    >>> list(doubts({"u": np.ones((4, 1)) * np.arange(5.0)}, ("x",)))
    ["field 'u' does not vary along 'x': ..."]
    """
    for name in _still(fields):
        yield (
            f"field {name!r} does not change in time: there is no equation to find for it; name "
            "the fields that change with target="
        )
    for name, values in fields.items():
        for axis, coordinate in enumerate(space):
            if _range(values, axis) < FLAT * _size(values):
                yield (
                    f"field {name!r} does not vary along {coordinate!r}: no derivative along it "
                    "can be seen, so terms with one can neither be found nor excluded"
                )
    repeated, pairs = _repeated_frames(fields)
    if repeated > REPEATED * pairs:
        stride = max(2, round(pairs / max(pairs - repeated, 1)))
        yield (
            f"{repeated} of {pairs} consecutive frames are identical although the field changes in "
            "time, which makes rates of change and with them the coefficients wrong: drop the "
            f"repeats, for instance data.isel(time=slice(None, None, {stride}))"
        )


def _size(values: NDArray) -> float:
    return float(np.nanmax(np.abs(values)))


def _range(values: NDArray, axis: int) -> float:
    """Largest range along an axis, over the lines that hold a value."""
    return float(np.nanmax(np.fmax.reduce(values, axis=axis) - np.fmin.reduce(values, axis=axis)))


def _still(fields: Mapping[str, NDArray]) -> list[str]:
    return [name for name, values in fields.items() if _range(values, -1) <= 1e-12 * _size(values)]


def _repeated_frames(fields: Mapping[str, NDArray]) -> tuple[int, int]:
    """How many frames equal the one before in every value that both hold, and how many could."""
    same, seen = True, False
    for values in fields.values():
        now, before = values[..., 1:], values[..., :-1]
        both = ~(np.isnan(now) | np.isnan(before))
        over = tuple(range(values.ndim - 1))
        same = same & np.all((now == before) | ~both, axis=over)
        seen = seen | np.any(both, axis=over)
    repeated = np.asarray(same & seen)
    return int(repeated.sum()), repeated.size
