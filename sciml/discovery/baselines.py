"""Sparse regression as it is commonly used, on the same weak-form features, for comparison."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from sciml.discovery.base import AbstractDiscoverer
from sciml.discovery.plain_fit import plain_fit
from sciml.discovery.result import Selection
from sciml.discovery.sparse_supports import (
    Choice,
    lasso_support,
    mstls_support,
    path_by_size,
    stlsq_support,
)
from sciml.discovery.subset_search import GramSystem
from sciml.discovery.terms import Feature
from sciml.discovery.whitened_fit import Assembled


class _SparseRegression(AbstractDiscoverer):
    """Common part: choose on plain rows, refit by least squares."""

    @abstractmethod
    def _choose(self, matrix: NDArray, left: NDArray, system: GramSystem) -> Choice:
        """Terms on plain rows."""

    def _select(self, assembled: Assembled, features: tuple[Feature, ...]) -> Selection:
        matrix, left = assembled.plain
        system = GramSystem.of(matrix, left)
        choice = self._choose(matrix, left, system)
        fit = plain_fit(assembled, choice.support)
        return Selection(
            support=fit.support,
            coefficients=fit.coefficients,
            covariance=fit.covariance,
            chi2=fit.chi2,
            adequate=fit.adequate,
            notices=fit.notices,
            path=path_by_size(choice, system, [feature.name for feature in features]),
        )


class WeakLasso(_SparseRegression):
    """Cross-validated LASSO on weak-form rows, refitted by least squares.

    Parameters
    ----------
    library : Library, list of str, or None
        Candidate terms; see :class:`sciml.Library` for the default.
    folds : int, default 5
        Blocks of the cross-validation.
    smallest_penalty : float, default 1e-3
        End of the path of 100 penalties, relative to the largest.
    target, periodic, half_widths, known
        As for :class:`sciml.WhitenedBestSubset`.
    random_state : int, default 0
        Kept for a common interface; nothing random is drawn.

    Attributes
    ----------
    terms_, standard_errors_, cov_, chi2_, path_
        As for :class:`sciml.WhitenedBestSubset`; scores of the path are cross-validation errors.

    Examples
    --------
    >>> import numpy as np
    >>> x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
    >>> u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
    >>> model = WeakLasso(["u", "u_xx", "u^2"], periodic=True).fit(u, coords={"x": x, "t": t})
    >>> model.support_
    {'u': ('u_xx',)}
    """

    def __init__(
        self,
        library: Any = None,
        *,
        folds: int = 5,
        smallest_penalty: float = 1e-3,
        target: str | Sequence[str] | None = None,
        periodic: bool | Sequence[str] | None = None,
        half_widths: Sequence[int] | None = None,
        known: Mapping[str, Any] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.library = library
        self.folds = folds
        self.smallest_penalty = smallest_penalty
        self.target = target
        self.periodic = periodic
        self.half_widths = half_widths
        self.known = known
        self.random_state = random_state

    def _choose(self, matrix: NDArray, left: NDArray, system: GramSystem) -> Choice:
        return lasso_support(matrix, left, self.folds, self.smallest_penalty)


class WeakSTLSQ(_SparseRegression):
    """Sequentially thresholded least squares on weak-form rows.

    Parameters
    ----------
    library : Library, list of str, or None
        Candidate terms; see :class:`sciml.Library` for the default.
    threshold : float, default 0.1
        Smallest part of a term, relative to the norm of the left-hand side.
    target, periodic, half_widths, known
        As for :class:`sciml.WhitenedBestSubset`.
    random_state : int, default 0
        Kept for a common interface; nothing random is drawn.

    Attributes
    ----------
    terms_, standard_errors_, cov_, chi2_, path_
        As for :class:`sciml.WhitenedBestSubset`.

    Examples
    --------
    >>> import numpy as np
    >>> x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
    >>> u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
    >>> model = WeakSTLSQ(periodic=True).fit(u, coords={"x": x, "t": t})
    >>> model.support_
    {'u': ('u_xx',)}
    """

    def __init__(
        self,
        library: Any = None,
        *,
        threshold: float = 0.1,
        target: str | Sequence[str] | None = None,
        periodic: bool | Sequence[str] | None = None,
        half_widths: Sequence[int] | None = None,
        known: Mapping[str, Any] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.library = library
        self.threshold = threshold
        self.target = target
        self.periodic = periodic
        self.half_widths = half_widths
        self.known = known
        self.random_state = random_state

    def _choose(self, matrix: NDArray, left: NDArray, system: GramSystem) -> Choice:
        return stlsq_support(system, self.threshold)


class WeakMSTLS(_SparseRegression):
    """Modified sequentially thresholded least squares, as weak SINDy uses it.

    Parameters
    ----------
    library : Library, list of str, or None
        Candidate terms; see :class:`sciml.Library` for the default.
    n_thresholds : int, default 50
        Thresholds tried.
    target, periodic, half_widths, known
        As for :class:`sciml.WhitenedBestSubset`.
    random_state : int, default 0
        Kept for a common interface; nothing random is drawn.

    Attributes
    ----------
    terms_, standard_errors_, cov_, chi2_, path_
        As for :class:`sciml.WhitenedBestSubset`; scores of the path are losses.

    Examples
    --------
    >>> import numpy as np
    >>> x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
    >>> u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
    >>> model = WeakMSTLS(periodic=True).fit(u, coords={"x": x, "t": t})
    >>> model.support_
    {'u': ('u_xx',)}
    """

    def __init__(
        self,
        library: Any = None,
        *,
        n_thresholds: int = 50,
        target: str | Sequence[str] | None = None,
        periodic: bool | Sequence[str] | None = None,
        half_widths: Sequence[int] | None = None,
        known: Mapping[str, Any] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.library = library
        self.n_thresholds = n_thresholds
        self.target = target
        self.periodic = periodic
        self.half_widths = half_widths
        self.known = known
        self.random_state = random_state

    def _choose(self, matrix: NDArray, left: NDArray, system: GramSystem) -> Choice:
        return mstls_support(system, self.n_thresholds)
