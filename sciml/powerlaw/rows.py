"""Rows of a radial fit: values, or an ordinary differential equation in the radius, each weighted.

A row demands ``a0 F + a1 E F + a2 E^2 F = y`` at one radius, with Euler's operator ``E = r d/dr``;
every linear equation of second order has this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class RadialRows:
    """Rows ``a0 F + a1 E F + a2 E^2 F = y``.

    Attributes
    ----------
    r, y, weights : ndarray, shape (rows,)
        Radii, right-hand sides, and what the rows are multiplied by.
    operator : ndarray, shape (3, rows), or None
        ``a0, a1, a2``; None if all rows are values.

    Examples
    --------
    The equation ``x u'' + u'/2 = 0`` with ``u(1) = 1``:

    >>> x = np.linspace(0.1, 1.0, 10)
    >>> rows = stack([equation(x, 0.0, second=x, first=0.5), values([1.0], [1.0])])
    >>> rows.operator.shape
    (3, 11)
    """

    r: NDArray
    y: NDArray
    weights: NDArray
    operator: NDArray | None = None

    def __len__(self) -> int:
        return len(self.r)

    def take(self, members: NDArray) -> RadialRows:
        """Return some of the rows."""
        operator = None if self.operator is None else self.operator[:, members]
        return RadialRows(self.r[members], self.y[members], self.weights[members], operator)

    def scaled(self, scale: float) -> RadialRows:
        """Return the rows in radii measured in units of ``scale``.

        Euler's operator does not know the unit.
        """
        return RadialRows(self.r / scale, self.y, self.weights, self.operator)


def values(r: ArrayLike, y: ArrayLike, weight: ArrayLike = 1.0) -> RadialRows:
    """Rows ``F(r) = y``.

    Parameters
    ----------
    r, y : array_like, shape (rows,)
        Radii and values; ``y`` may be one number.
    weight : array_like, default 1
        Rows are multiplied by it.

    Raises
    ------
    ValueError
        For what is not finite, negative radii, or weights that are not positive.
    """
    return _rows(r, y, weight, None)


def equation(
    r: ArrayLike,
    y: ArrayLike,
    *,
    second: ArrayLike = 0.0,
    first: ArrayLike = 0.0,
    zeroth: ArrayLike = 0.0,
    weight: ArrayLike = 1.0,
) -> RadialRows:
    """Rows ``second*F'' + first*F' + zeroth*F = y``.

    Parameters
    ----------
    r, y : array_like, shape (rows,)
        Positive radii, and right-hand sides or one number.
    second, first, zeroth : array_like
        Coefficients, one number or one per row.
    weight : array_like, default 1
        Rows are multiplied by it.

    Raises
    ------
    ValueError
        As `values`, and for radii of 0.

    Examples
    --------
    >>> equation([2.0], [0.0], second=1.0).operator.tolist()
    [[0.0], [-0.25], [0.25]]
    """
    radii = np.atleast_1d(np.asarray(r, float))
    if np.any(radii <= 0):
        raise ValueError(
            f"r holds {radii[radii <= 0][0]}: an equation needs positive radii; leave "
            "the center out"
        )
    a, b, c = (np.broadcast_to(np.asarray(v, float), radii.shape) for v in (second, first, zeroth))
    # F' = E F / r and F'' = (E^2 - E) F / r^2
    operator = np.stack([c, b / radii - a / radii**2, a / radii**2])
    return _rows(r, y, weight, operator)


def stack(parts: Sequence[RadialRows]) -> RadialRows:
    """Put rows one below the other.

    Parameters
    ----------
    parts : sequence of RadialRows

    Returns
    -------
    RadialRows
    """
    if not parts:
        raise ValueError("rows: got none, wanted at least one RadialRows")
    if all(part.operator is None for part in parts):
        operator = None
    else:
        operator = np.concatenate([_operator(part) for part in parts], axis=1)
    r, y, weights = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("r", "y", "weights")
    )
    return RadialRows(r, y, weights, operator)


def _operator(rows: RadialRows) -> NDArray:
    if rows.operator is not None:
        return rows.operator
    return np.stack([np.ones(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))])


def _rows(r: ArrayLike, y: ArrayLike, weight: ArrayLike, operator: NDArray | None) -> RadialRows:
    radii = np.atleast_1d(np.asarray(r, float))
    if radii.ndim != 1:
        raise ValueError(f"r has shape {radii.shape}: wanted one radius a row")
    sides, weights = (_column(name, v, radii) for name, v in (("y", y), ("weights", weight)))
    for name, column in (("r", radii), ("y", sides), ("weights", weights)):
        bad = ~np.isfinite(column)
        if np.any(bad):
            raise ValueError(
                f"{name} holds {column[bad][0]} at row {int(np.argmax(bad))}: wanted finite "
                "numbers; leave such rows out"
            )
    if np.any(radii < 0):
        raise ValueError(f"r holds {radii.min()}: a radius is not negative")
    if np.any(weights <= 0):
        raise ValueError(
            f"weights hold {weights.min()} at row {int(np.argmin(weights))}: wanted positive "
            "numbers; leave out rows that shall not count"
        )
    return RadialRows(radii, sides, weights, operator)


def _column(name: str, values: ArrayLike, radii: NDArray) -> NDArray:
    column = np.asarray(values, float)
    if column.ndim == 0:
        return np.full(radii.shape, float(column))
    if column.shape != radii.shape:
        raise ValueError(
            f"{name} has shape {column.shape} and r {radii.shape}: wanted one number, or "
            "one per row"
        )
    return column
