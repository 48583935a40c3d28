"""Columns of a field about a corner: every exponent with free angular functions in every sector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdes.exact import Cone, Sectors, Wedge
from pdes.tokens import closest
from sciml.powerlaw.blocks import harmonic, legendre
from sciml.powerlaw.separable_fit import SparseDerivatives
from sciml.powerlaw.wedge_samples import Part, RowSystem, condition_names, condition_parts

PLAIN = ("DD", "NN", "DN", "ND")
"""Conditions on two edges."""


@dataclass(frozen=True, eq=False)
class WedgeModel:
    """Rows of a system for given exponents, with derivatives: a model of `variable_projection`.

    A term ``r^mu`` has the columns ``cos mu theta`` and ``sin mu theta`` of every sector, the
    angle counted from the start of the sector; in a cone it has ``P_mu(cos theta)`` alone. A
    constant comes last where the corner admits one.

    Parameters
    ----------
    corner : Sectors or Cone
    system : RowSystem
    constant : bool
        Whether a constant is among the columns.
    """

    corner: Sectors | Cone
    system: RowSystem
    constant: bool

    @property
    def per_term(self) -> int:
        """Columns of one exponent."""
        return 1 if isinstance(self.corner, Cone) else 2 * len(self.corner.sectors)

    def __call__(self, exponents: NDArray) -> tuple[NDArray, SparseDerivatives]:
        """Columns and their derivatives for exponents of shape (batch, terms)."""
        batch, terms = exponents.shape
        rows, size = len(self.system.values), self.per_term
        columns = np.zeros((batch, rows, terms, size))
        slopes = np.zeros((batch, rows, terms, size))
        for part in self.system.parts if terms else ():
            for place, (values, moved) in enumerate(part_rows(self.corner, part, exponents)):
                at = self._column(part.sector, place)
                columns[..., at][:, part.rows] += values
                slopes[..., at][:, part.rows] += moved
        flat = columns.reshape(batch, rows, terms * size)
        if self.constant:
            flat = np.concatenate([flat, self._constant(batch)], axis=-1)
        order = range(terms * size)
        moved = np.moveaxis(slopes.reshape(batch, rows, terms * size), -1, 1)
        return flat, SparseDerivatives(
            np.ascontiguousarray(moved), tuple(k // size for k in order), tuple(order)
        )

    def _column(self, sector: int, place: int) -> int:
        return place if self.per_term == 1 else 2 * sector + place

    def _constant(self, batch: int) -> NDArray:
        column = np.zeros(len(self.system.values))
        for part in self.system.parts:
            column[part.rows] += part.value
        return np.broadcast_to(column[None, :, None], (batch, column.size, 1))


def part_rows(
    corner: Sectors | Cone, part: Part, exponents: NDArray
) -> list[tuple[NDArray, NDArray]]:
    """Rows of a part for each angular function, and their derivatives by the exponent.

    Parameters
    ----------
    corner : Sectors or Cone
    part : Part
    exponents : ndarray, shape (batch, terms)

    Returns
    -------
    list of (ndarray, ndarray), each of shape (batch, rows, terms)
    """
    mu = exponents[:, None, :]
    r, theta = part.radius[:, None], part.angle[:, None]
    jets: tuple[Any, ...] = (
        (legendre(r, theta, mu),) if isinstance(corner, Cone) else harmonic(r, theta, mu)
    )
    value, euler, turn = part.value[:, None], part.euler[:, None], part.turn[:, None]
    found = []
    for jet in jets:
        ((by_mu, euler_by_mu, turn_by_mu),) = jet.parameters
        found.append(
            (
                value * jet.value + euler * jet.euler + turn * jet.angular,
                value * by_mu + euler * euler_by_mu + turn * turn_by_mu,
            )
        )
    return found


def characteristic_matrix(corner: Sectors | Cone, exponent: float) -> tuple[NDArray, NDArray]:
    """Conditions of a corner on the angular functions of one exponent, and their derivative.

    One row for every homogeneous edge or interface condition, one column for every angular
    function. A power is a solution exactly if the matrix is singular; its null vectors are the
    angular factor.

    Parameters
    ----------
    corner : Sectors, Wedge or Cone
    exponent : float
        Positive.

    Returns
    -------
    E, dE : ndarray, shape (n, n)

    Examples
    --------
    >>> from pdes.exact import Wedge
    >>> E, _ = characteristic_matrix(Wedge(1.5 * np.pi, "DD"), 2 / 3)
    >>> bool(np.linalg.svd(E)[1][-1] < 1e-15)
    True
    """
    rows = len(condition_names(corner))
    parts = tuple(condition_parts(corner, np.ones(1)))
    model = WedgeModel(corner, RowSystem(parts, np.zeros(rows), np.ones(rows), rows), False)
    columns, slopes = model(np.array([[float(exponent)]]))
    return columns[0], slopes.values[0].T


def as_corner(sectors: Any, bc: str) -> Sectors | Cone:
    """The corner that an opening, a list of sectors or a corner itself describes.

    Raises
    ------
    ValueError
    """
    if isinstance(sectors, (Sectors, Cone)):
        return sectors
    _check_conditions(bc)
    if isinstance(sectors, (int, float, np.number)):
        return Sectors([(float(sectors), 1.0)], bc) if bc == "periodic" else Wedge(sectors, bc)  # pyright: ignore
    if isinstance(sectors, (list, tuple, np.ndarray)):
        return Sectors([tuple(pair) if np.ndim(pair) else pair for pair in sectors], bc)  # pyright: ignore
    raise ValueError(
        f"sectors={sectors!r}, wanted an angle in radians, pairs (angle, coefficient), or a "
        "Wedge, Sectors or Cone"
    )


def _check_conditions(bc: Any) -> None:
    """Refuse unknown edge conditions with those that exist, and the one that may be meant."""
    if isinstance(bc, str) and (bc.upper() in PLAIN or bc == "periodic"):
        return
    word = bc.strip() if isinstance(bc, str) else ""
    if len(word) == 1 and word.upper() in "DN":  # one letter for both edges
        hint = f" Did you mean {word.upper() * 2!r}?"
    elif len(word) == 2:  # as likely the one as the other
        hint = ""
    else:
        hint = closest(word.lower(), ["periodic"])
    raise ValueError(
        f"bc={bc!r}, wanted one of {', '.join(PLAIN)} (D for a value of zero, N for zero flux, "
        f"first edge first) or 'periodic'.{hint}"
    )


def largest(terms: NDArray) -> NDArray:
    """Coefficient of largest size of each term, with its sign."""
    flat = terms.reshape(len(terms), -1)
    return flat[np.arange(len(flat)), np.argmax(np.abs(flat), axis=1)] if flat.size else flat[:, 0]


def least_squares(columns: NDArray, system: RowSystem) -> tuple[NDArray, float]:
    """Coefficients, and the residual relative to the data; columns are scaled to unit length."""
    weights, values = system.weights, system.values
    weighted, wanted = columns * weights[:, None], values * weights
    if weighted.shape[0] < weighted.shape[1]:
        raise ValueError(
            f"order: {weighted.shape[0]} data rows for {weighted.shape[1]} coefficients; give more "
            "samples, or ask for fewer terms"
        )
    scale = np.linalg.norm(weighted, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    found = np.linalg.lstsq(weighted / scale, wanted, rcond=1e-15)[0]
    residual = np.linalg.norm(wanted - weighted / scale @ found)
    return found / scale, float(residual / np.linalg.norm(wanted))
