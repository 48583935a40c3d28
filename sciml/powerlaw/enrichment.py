"""An ordinary network with the terms of a corner beside it, for Poisson's equation.

The solution at a corner is a sum of powers plus something smoother (Kondratiev 1967). A network is
slow to learn the powers and quick to learn the rest; given both, it leaves the powers their
coefficients, of which the first is the stress-intensity coefficient. No cutoff is needed: boundary
data are rows of the same least-squares problem (singular functions beside a smooth basis: Fix,
Gulati and Wakoff, J. Comput. Phys. 13, 209, 1973).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pdes.steady import SteadyProblem
from sciml.nn.model_registry import register_model
from sciml.powerlaw import blocks
from sciml.powerlaw.enrichment_rows import CornerProblem, Rows
from sciml.powerlaw.msn_pinn import MSNPinn
from sciml.powerlaw.network import ValueGradLap, check_count
from sciml.powerlaw.separable_fit import SparseDerivatives
from sciml.powerlaw.varpro import variable_projection


@register_model
class EnrichedNetwork(nn.Module):
    """One hidden layer of tanh, plus the wedge form of power laws.

    Parameters
    ----------
    width : int
        Of the hidden layer.
    singular : MSNPinn or None
        Terms of the corner at the origin; None leaves the ordinary network alone.
    generator : torch.Generator, optional
        Draws the start.

    Examples
    --------
    >>> model = EnrichedNetwork(8, MSNPinn(2, angle=1.5 * math.pi).double())
    >>> model(torch.ones(3, 2, dtype=torch.float64)).shape
    torch.Size([3, 1])
    """

    def __init__(
        self, width: int, singular: MSNPinn | None, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        check_count("width", width, 1)
        self.singular = singular
        # Each unit bends along a line through a random place, at a length of about one half.
        weight = 2.0 * torch.randn(width, 2, generator=generator, dtype=torch.float64)
        place = 2.0 * torch.rand(width, 2, generator=generator, dtype=torch.float64) - 1.0
        self.weight = nn.Parameter(weight)
        self.shift = nn.Parameter(-(weight * place).sum(1))
        self.outer = nn.Parameter(torch.zeros(width, 1, dtype=torch.float64))
        self.bias = nn.Parameter(torch.zeros(1, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        """Shape (..., 2) to (..., 1)."""
        smooth = torch.tanh(x @ self.weight.T + self.shift) @ self.outer + self.bias
        return smooth if self.singular is None else smooth + self.singular(x)

    def value_grad_lap(self, x: Tensor) -> ValueGradLap:
        """Value, gradient and Laplacian in closed form."""
        bent = torch.tanh(x @ self.weight.T + self.shift)
        slope = 1.0 - bent.square()
        gradient = (slope * self.outer[:, 0]) @ self.weight
        second = -2.0 * bent * slope * self.weight.square().sum(1)
        found = ValueGradLap(bent @ self.outer + self.bias, gradient, second @ self.outer)
        if self.singular is None:
            return found
        other = self.singular.value_grad_lap(x)
        return ValueGradLap(*(a + b for a, b in zip(found, other, strict=True)))


@dataclass(frozen=True, eq=False)
class EnrichedSolution:
    """Solution of a corner problem by an enriched network.

    Attributes
    ----------
    model : EnrichedNetwork
    exponents : ndarray, shape (K,)
        Of the corner.
    coefficients : ndarray, shape (K,)
        Of the angular functions that the conditions on the edges admit, such as
        ``r^mu sin(mu (theta - theta0))`` between Dirichlet edges; the first is the
        stress-intensity coefficient.
    relative_residual : float
        Of all rows.
    converged : bool
    iterations : int
    """

    model: EnrichedNetwork
    exponents: NDArray
    coefficients: NDArray
    relative_residual: float
    converged: bool
    iterations: int

    def predict(self, x: Any) -> NDArray:
        """Values at points, shape (rows,); the corner itself gets the smooth part alone."""
        points = torch.as_tensor(np.asarray(x, float))
        with torch.no_grad():
            return self.model(points)[:, 0].numpy()


def solve_enriched(
    problem: SteadyProblem,
    *,
    width: int = 200,
    exponents: Sequence[float] | int | None = 1,
    free: bool = False,
    train_hidden: bool = False,
    resolution: int = 10,
    boundary_weight: float = 30.0,
    iterations: int = 200,
    seed: int = 0,
) -> EnrichedSolution:
    """Solve ``-lap u = f`` at a corner by a network with singular terms beside it.

    Everything is least squares in double precision: outer weights and the coefficients of the
    corner are eliminated, and what is left (free exponents, hidden weights if they are trained) is
    iterated by Levenberg-Marquardt.

    Parameters
    ----------
    problem : SteadyProblem
        Such as ``pdes.get("laplace_l_shape")``: on a fan about its corner at the origin, with
        Dirichlet and Neumann sides.
    width : int, default 200
        Of the hidden layer.
    exponents : int, sequence of float or None, default 1
        So many terms of the corner, whose exponents follow from its opening and the conditions on
        its edges; or these exponents; None or 0 for the ordinary network alone.
    free : bool, default False
        Whether the exponents are fitted too, from these as start.
    train_hidden : bool, default False
        Whether the hidden weights move. Random ones (a random-feature network; Huang, Zhu and Siew,
        Neurocomputing 70, 489, 2006) are enough for what is smooth, and leave a linear problem;
        trained ones do with a tenth of the width, and take a thousand times as long.
    resolution : int, default 10
        Of the mesh that gives the points.
    boundary_weight : float, default 30
        Weight of boundary rows against the equation.
    iterations : int, default 200
        Most steps.
    seed : int, default 0
        Of the start of the network.

    Returns
    -------
    EnrichedSolution

    Raises
    ------
    ValueError
        For other equations, domains and conditions, and too few points for so wide a network.

    Examples
    --------
    >>> import pdes
    >>> solution = solve_enriched(pdes.get("laplace_l_shape"), width=20)
    >>> solution.exponents, solution.coefficients
    (array([0.6667]), array([1.]))
    """
    if not (math.isfinite(boundary_weight) and boundary_weight > 0.0):
        raise ValueError(f"boundary_weight is {boundary_weight}, wanted a positive number")
    width = check_count("width", width, 1)
    corner = CornerProblem.of(problem, check_count("resolution", resolution, 2))
    mu = _exponents(exponents, corner)
    singular = None
    if len(mu):
        bounds = (0.01, max(4.0, 2.0 * float(mu.max())))
        singular = MSNPinn(len(mu), angle=corner.angle, theta0=corner.theta0, bounds=bounds)
        singular = singular.double()
        singular.families[0].exponents.set(mu)  # pyright: ignore
    model = EnrichedNetwork(width, singular, torch.Generator().manual_seed(seed))
    hidden = torch.cat([model.weight, model.shift[:, None]], 1).detach().numpy()
    form = _Columns(corner, hidden, mu, free=free, train_hidden=train_hidden)
    weights = np.concatenate([
        np.full(len(rows.x), (1.0 if rows.kind == "laplacian" else boundary_weight)
                / math.sqrt(len(rows.x))) for rows in corner.rows
    ])  # fmt: skip
    target = np.concatenate([rows.target for rows in corner.rows])
    start = np.concatenate([hidden.ravel() if train_hidden else mu[:0], mu if free else mu[:0]])
    moving = len(start) - (len(mu) if free else 0)
    lower = np.concatenate([np.full(moving, -60.0), np.full(len(start) - moving, 0.01)])
    fit = variable_projection(
        form, target, start, lower=lower, upper=60.0, weights=weights, rtol=1e-9,
        max_iterations=check_count("iterations", iterations, 1), max_trials=12,
    )  # fmt: skip
    found = fit.parameters[moving:] if free else mu
    if train_hidden:
        hidden = fit.parameters[:moving].reshape(width, 3)
    _write(model, hidden, found, fit.coefficients)
    order = np.argsort(found)
    return EnrichedSolution(
        model=model,
        exponents=found[order],
        coefficients=_admitted(fit.coefficients[1 + width :], found, corner)[order],
        relative_residual=float(fit.relative_residual),
        converged=bool(fit.converged),
        iterations=int(fit.iterations),
    )


def _exponents(exponents: Any, corner: CornerProblem) -> NDArray:
    if exponents is None or (hasattr(exponents, "__index__") and int(exponents) == 0):
        return np.zeros(0)
    if hasattr(exponents, "__index__"):
        count = check_count("exponents", exponents, 0)
        shift = 0.5 if corner.conditions in ("DN", "ND") else 0.0
        return (np.arange(1, count + 1) - shift) * math.pi / corner.angle
    found = np.asarray(exponents, float)
    if found.ndim != 1 or not np.all(np.isfinite(found)) or np.any(found <= 0.0):
        raise ValueError(f"exponents: got {exponents!r}, wanted positive numbers")
    if len(np.unique(found)) < len(found):
        raise ValueError(f"exponents: got {exponents!r}, wanted different numbers")
    return found


def _admitted(coefficients: NDArray, exponents: NDArray, corner: CornerProblem) -> NDArray:
    """Coefficients of the angular functions that vanish, or have no flux, on the first edge."""
    cosine, sine = coefficients.reshape(-1, 2).T
    turn = exponents * corner.theta0
    if corner.conditions[0] == "D":
        return sine * np.cos(turn) - cosine * np.sin(turn)
    return cosine * np.cos(turn) + sine * np.sin(turn)


def _write(
    model: EnrichedNetwork, hidden: NDArray, exponents: NDArray, coefficients: NDArray
) -> None:
    width = len(model.shift)
    table = torch.as_tensor(hidden)
    with torch.no_grad():
        model.weight.copy_(table[:, :2])
        model.shift.copy_(table[:, 2])
        model.bias.copy_(torch.as_tensor(coefficients[:1]))
        model.outer.copy_(torch.as_tensor(coefficients[1 : 1 + width, None]))
        if model.singular is not None:
            family: Any = model.singular.families[0]
            family.exponents.set(exponents)
            family.coefficients.copy_(torch.as_tensor(coefficients[1 + width :].reshape(-1, 2)))


class _Columns:
    """Columns of all rows: a constant, the hidden units, and the corner's terms."""

    def __init__(
        self,
        corner: CornerProblem,
        hidden: NDArray,
        exponents: NDArray,
        *,
        free: bool,
        train_hidden: bool,
    ) -> None:
        self.corner, self.hidden, self.exponents, self.free = corner, hidden, exponents, free
        width = len(hidden)
        which = [3 * j + k for j in range(width) for k in range(3)] if train_hidden else []
        column = [1 + j for j in range(width) for _ in range(3)] if train_hidden else []
        self._moving = len(which)
        if free:
            which += [self._moving + k for k in range(len(exponents)) for _ in range(2)]
            column += [1 + width + j for j in range(2 * len(exponents))]
        self._layout = tuple(which), tuple(column)
        # Hidden units that rest need not be computed again.
        self._resting = None if train_hidden else [
            _hidden_columns(rows, hidden)[0] for rows in corner.rows
        ]  # fmt: skip

    def __call__(self, parameters: NDArray) -> tuple[NDArray, SparseDerivatives]:
        parts = [self._member(row) for row in parameters]
        columns = np.stack([columns for columns, _ in parts])
        return columns, SparseDerivatives(np.stack([s for _, s in parts]), *self._layout)

    def _member(self, row: NDArray) -> tuple[NDArray, NDArray]:
        mu = row[self._moving :] if self.free else self.exponents
        columns, slopes = [], []
        for place, rows in enumerate(self.corner.rows):
            if self._resting is None:
                smooth, turned = _hidden_columns(rows, row[: self._moving].reshape(-1, 3))
            else:
                smooth, turned = self._resting[place], np.zeros((0, len(rows.x)))
            singular, moved = _corner_columns(rows, mu)
            ones = np.full((len(rows.x), 1), 1.0 if rows.kind == "value" else 0.0)
            columns.append(np.concatenate([ones, smooth, singular], axis=1))
            slopes.append(np.concatenate([turned, moved], axis=0) if self.free else turned)
        return np.concatenate(columns), np.concatenate(slopes, axis=1)


def _hidden_columns(rows: Rows, hidden: NDArray) -> tuple[NDArray, NDArray]:
    """Columns ``(n, width)`` of tanh units, and derivatives ``(3 width, n)`` in their weights."""
    weight, x = hidden[:, :2], rows.x
    t = np.tanh(x @ weight.T + hidden[:, 2])
    first = 1.0 - t**2
    second = -2.0 * t * first
    if rows.kind == "value":
        values, by_argument = t, first
        extra = np.zeros((2, *t.shape))
    elif rows.kind == "flux":
        across = rows.normal @ weight.T
        values, by_argument = first * across, second * across
        extra = first[None] * rows.normal.T[:, :, None]
    else:
        square = np.sum(weight**2, axis=1)
        third = first * (6.0 * t**2 - 2.0)
        values, by_argument = -second * square, -third * square
        extra = -2.0 * second[None] * weight.T[:, None, :]
    slopes = np.stack(
        [by_argument * x[:, :1] + extra[0], by_argument * x[:, 1:] + extra[1], by_argument], axis=-1
    )
    return values, np.moveaxis(slopes, 0, -1).reshape(-1, len(x))


def _corner_columns(rows: Rows, exponents: NDArray) -> tuple[NDArray, NDArray]:
    """Columns ``(n, 2K)`` of the corner's terms, and derivatives ``(2K, n)`` in the exponents."""
    count = len(exponents)
    if not count or rows.kind == "laplacian":  # harmonic for every exponent
        return np.zeros((len(rows.x), 2 * count)), np.zeros((2 * count, len(rows.x)))
    radius = np.hypot(*rows.x.T)
    columns, slopes = [], []
    for mu in exponents:
        for jet in blocks.harmonic(radius, rows.theta, float(mu)):
            (value, euler, angular), (moved, moved_euler, moved_angular) = (
                (jet.value, jet.euler, jet.angular),
                jet.parameters[0],
            )
            if rows.kind == "value":
                columns.append(value)
                slopes.append(moved)
            else:
                columns.append(_flux(rows, radius, euler, angular))
                slopes.append(_flux(rows, radius, moved_euler, moved_angular))
    return np.stack(columns, axis=1), np.stack(slopes)


def _flux(rows: Rows, radius: NDArray, euler: NDArray, angular: NDArray) -> NDArray:
    x, normal = rows.x, rows.normal
    along = np.sum(x * normal, axis=1)
    across = -x[:, 1] * normal[:, 0] + x[:, 0] * normal[:, 1]
    return (euler * along + angular * across) / radius**2
