"""Our selection of terms inside a user's own PySINDy model.

``WhitenedBestSubsetOptimizer`` is a PySINDy optimizer. PySINDy is optional, so the class is made
when its name is first asked for; importing this module does not import PySINDy.

Examples
--------
>>> import pysindy as ps
>>> from sciml.discovery import WeakRowCovariance, WhitenedBestSubsetOptimizer
>>> x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
>>> u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
>>> u = (u + 0.02 * np.random.default_rng(0).normal(size=u.shape))[..., None]
>>> library = ps.WeakPDELibrary(
...     function_library=ps.PolynomialLibrary(degree=2, include_bias=False),
...     derivative_order=2,
...     spatiotemporal_grid=np.stack(np.meshgrid(x, t, indexing="ij"), axis=-1),
...     K=60,
...     H_xt=[1.0, 0.4],
... )
>>> optimizer = WhitenedBestSubsetOptimizer(covariance=WeakRowCovariance(library, u))
>>> model = ps.SINDy(optimizer=optimizer, feature_library=library)
>>> model.fit(u, t=t, feature_names=["u"]).equations(precision=1)
[' 0.1 u_11']
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.covariance import Whitener
from sciml.discovery.pysindy_adapter import require_pysindy
from sciml.discovery.subset_search import (
    GramSystem,
    choose_size,
    search,
    smallest_adequate_size,
)

RowCovariance = Callable[[NDArray, int], NDArray]
"""Covariance of the residual rows, given the coefficients of a target and its number."""

FLOOR = 1e-2
"""PySINDy takes the field as linear between grid points and differentiates some of it by finite
differences: with a percent of error from the grid, smaller improvements mean nothing."""

ROUNDS = 2


def select_terms(
    matrix: NDArray,
    left: NDArray,
    max_terms: int = 5,
    covariance: Callable[[NDArray], NDArray] | None = None,
    floor: float = FLOOR,
) -> NDArray:
    """Coefficients of the best subset of columns, its size chosen by the tempered EBIC.

    Parameters
    ----------
    matrix : ndarray, shape (rows, columns)
        Features.
    left : ndarray, shape (rows,)
        Left-hand side.
    max_terms : int
        Largest support.
    covariance : callable, optional
        Gives the covariance of the residual rows, up to a factor, for given coefficients; rows
        count as independent without it.
    floor : float
        Relative error that no model is expected to beat.

    Returns
    -------
    ndarray, shape (columns,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> matrix = rng.normal(size=(200, 6))
    >>> left = 2 * matrix[:, 1] - matrix[:, 4] + 0.1 * rng.normal(size=200)
    >>> select_terms(matrix, left).round(1).tolist()
    [0.0, 2.0, 0.0, 0.0, -1.0, 0.0]
    """
    coefficients = np.zeros(matrix.shape[1])
    if not np.any(left):
        return coefficients
    system = GramSystem.of(matrix, left)
    result = search(system, max_terms)
    if covariance is None:
        support = result.best[choose_size(result, system, floor)][0]
    else:
        support = result.best[smallest_adequate_size(result)][0]
        for _ in range(ROUNDS):
            coefficients = np.zeros(matrix.shape[1])
            coefficients[list(support)] = system.solve(support)[0]
            whitener = Whitener.of(_checked(covariance(coefficients), len(left)))
            white = whitener.whiten(np.column_stack([matrix, left]))
            system = GramSystem.of(white[:, :-1], white[:, -1])
            result = search(system, max_terms)
            support = result.best[choose_size(result, system, floor)][0]
    coefficients = np.zeros(matrix.shape[1])
    coefficients[list(support)] = system.solve(support)[0]
    return coefficients


def _checked(covariance: NDArray, rows: int) -> NDArray:
    covariance = np.asarray(covariance, float)
    if covariance.shape != (rows, rows):
        raise ValueError(
            f"covariance has shape {covariance.shape} for {rows} rows, wanted ({rows}, {rows}); "
            "with several trajectories give a block for each, and fill missing values before the "
            "fit, since PySINDy drops rows that hold any"
        )
    return covariance


@cache
def _optimizer_class() -> type:
    """The optimizer, a subclass of PySINDy's base class."""
    base = require_pysindy().optimizers.BaseOptimizer

    class WhitenedBestSubsetOptimizer(base):  # type: ignore[valid-type,misc]
        """PySINDy optimizer that compares all supports and chooses the size by a tempered EBIC.

        Parameters
        ----------
        max_terms : int, default 5
            Largest equation.
        covariance : ndarray of shape (rows, rows), callable, or None
            Covariance of the residual rows up to a factor, for whitening: an array, or a function
            of the coefficients and the number of the target such as
            :class:`sciml.discovery.WeakRowCovariance`. Rows count as independent by default.
        floor : float, default 1e-2
            Relative error that no model is expected to beat: that of PySINDy's quadrature.
        copy_X : bool, default True
            As for every PySINDy optimizer.

        Attributes
        ----------
        coef_ : ndarray, shape (targets, features)
        ind_ : ndarray of bool, shape (targets, features)
        """

        def __init__(
            self,
            max_terms: int = 5,
            covariance: Any = None,
            floor: float = FLOOR,
            copy_X: bool = True,
        ) -> None:
            # the coefficients are those of generalized least squares: PySINDy's refit on plain rows
            # would undo the whitening
            super().__init__(copy_X=copy_X, unbias=False)
            self.max_terms = max_terms
            self.covariance = covariance
            self.floor = floor

        def set_params(self, **params: Any) -> Any:
            """Set parameters and return self, as scikit-learn expects."""
            super().set_params(**params)
            return self

        def _reduce(self, x: NDArray, y: NDArray) -> None:
            if not isinstance(self.max_terms, (int, np.integer)) or self.max_terms < 1:
                raise ValueError(
                    f"max_terms must be a positive whole number, got {self.max_terms!r}"
                )
            x, y = np.asarray(x, float), np.asarray(y, float)
            rows = [
                select_terms(
                    x, y[:, k], self.max_terms, _for_target(self.covariance, k), self.floor
                )
                for k in range(y.shape[1])
            ]
            self.coef_ = np.array(rows)
            self.history_.append(self.coef_)

    WhitenedBestSubsetOptimizer.__module__ = __name__
    WhitenedBestSubsetOptimizer.__qualname__ = "WhitenedBestSubsetOptimizer"
    return WhitenedBestSubsetOptimizer


def _for_target(covariance: Any, target: int) -> Callable[[NDArray], NDArray] | None:
    if covariance is None:
        return None
    if callable(covariance):
        given = cast(RowCovariance, covariance)
        return lambda coefficients: given(coefficients, target)
    fixed = np.asarray(covariance, float)
    return lambda coefficients: fixed


def __getattr__(name: str) -> Any:
    if name == "WhitenedBestSubsetOptimizer":
        return _optimizer_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
