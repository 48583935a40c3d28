"""Forecasts of totals and parts made to add up: reconciliation of hierarchies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from pdes.tokens import closest
from sciml.repair.arguments import real_array, share
from sciml.repair.projection import AbstractProjection, check_fields

__all__ = [
    "METHODS",
    "BlendedTopDown",
    "Reconciliation",
    "TopDown",
    "shrunk_covariance",
    "summing_matrix",
]

METHODS = ("ols", "wls", "structural", "mint", "bottom_up")
_SINGULAR = 1e-12


def summing_matrix(
    labels: Sequence[Sequence[str]], levels: Sequence[Sequence[int]]
) -> tuple[np.ndarray, list[str]]:
    """Matrix that adds bottom series up to every total, and the names of all series.

    Parameters
    ----------
    labels : sequence of sequence of str
        For each bottom series its labels, such as ``("Victoria", "Business")``.
    levels : sequence of sequence of int
        Which labels each level of totals keeps: ``()`` is the grand total, ``(0,)`` one total for
        each first label.

    Returns
    -------
    matrix : ndarray, shape (series, bottom series)
        Zeros and ones; the bottom series come last, as an identity.
    names : list of str

    Raises
    ------
    ValueError
        If two series have the same labels, or a level names a label that is not there.

    Examples
    --------
    >>> matrix, names = summing_matrix([("a", "x"), ("a", "y"), ("b", "x")], [(), (0,)])
    >>> names
    ['total', 'a', 'b', 'a|x', 'a|y', 'b|x']
    >>> matrix[:3]
    array([[1., 1., 1.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    keys = [tuple(str(part) for part in label) for label in labels]
    if not keys or len(set(keys)) < len(keys):
        raise ValueError("labels: wanted one or more bottom series with different labels")
    width = min(len(key) for key in keys)
    rows, names = [], []
    for level in levels:
        if any(not 0 <= place < width for place in level):
            raise ValueError(f"levels: {tuple(level)!r} leaves the {width} labels of the series")
        groups: dict[tuple[str, ...], list[int]] = {}
        for column, key in enumerate(keys):
            groups.setdefault(tuple(key[place] for place in level), []).append(column)
        for group, members in groups.items():
            row = np.zeros(len(keys))
            row[members] = 1.0
            rows.append(row)
            names.append("|".join(group) or "total")
    matrix = np.vstack([*rows, np.eye(len(keys))])
    return matrix, [*names, *("|".join(key) for key in keys)]


def shrunk_covariance(
    residuals: Any, *, shrinkage: float | None = None
) -> tuple[np.ndarray, float]:
    """Covariance of forecast residuals, its correlations shrunk towards zero.

    Parameters
    ----------
    residuals : array_like, shape (times, series)
        Errors of forecasts of one step.
    shrinkage : float, optional
        Weight of the diagonal in [0, 1]. Estimated from the scatter of the correlations if left
        out.

    Returns
    -------
    covariance : ndarray, shape (series, series)
    shrinkage : float

    Raises
    ------
    ValueError
        With fewer than two residuals, values that are not finite, or a series without any error.

    References
    ----------
    J. Schaefer and K. Strimmer, Stat. Appl. Genet. Mol. Biol. 4 (2005) 32.

    Examples
    --------
    >>> covariance, weight = shrunk_covariance([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    >>> covariance.round(12), weight
    (array([[1., 0.],
           [0., 1.]]), 1.0)
    """
    r = real_array("residuals", residuals, "(times, series)")
    if r.ndim != 2 or r.shape[0] < 2:
        raise ValueError(
            f"residuals have shape {r.shape}: wanted (times, series) with two or more times"
        )
    if not np.isfinite(r).all():
        raise ValueError("residuals hold NaN or infinite values: leave these times out")
    if shrinkage is not None:
        shrinkage = share("shrinkage", shrinkage)
    times = r.shape[0]
    r = r - r.mean(0)
    variance = (r**2).mean(0)
    if still := np.flatnonzero(variance <= 0.0).tolist():
        raise ValueError(
            f"residuals of series {still} never vary: their weight would be infinite; leave these "
            "series out or give them the residuals of real forecasts"
        )
    z = r / np.sqrt(variance)
    correlation = z.T @ z / times
    if shrinkage is None:
        # Scatter of every correlation, from the scatter of the products it averages.
        scatter = ((z**2).T @ (z**2) / times - correlation**2) / (times - 1)
        off = ~np.eye(r.shape[1], dtype=bool)
        size = float((correlation[off] ** 2).sum())
        shrinkage = min(1.0, float(scatter[off].sum()) / size) if size > 0.0 else 1.0
    shrunk = (1.0 - shrinkage) * correlation
    np.fill_diagonal(shrunk, 1.0)
    deviation = np.sqrt(variance)
    return shrunk * deviation[:, None] * deviation, float(shrinkage)


class Reconciliation(AbstractProjection):
    """Nearest forecasts that add up: ``S (S^T W^-1 S)^-1 S^T W^-1 y``.

    Parameters
    ----------
    summing : array_like, shape (series, bottom series)
        Zeros and ones, with the bottom series last as an identity; see `summing_matrix`.
    method : {"ols", "wls", "structural", "mint", "bottom_up"}
        ``W`` is the identity; the variances of the residuals; the number of bottom series in each
        total; their shrunk covariance; or the totals are simply dropped.
    residuals : array_like, shape (times, series), optional
        Errors of past forecasts of one step, for "wls" and "mint".
    shrinkage : float, optional
        For "mint", see `shrunk_covariance`.
    names : sequence of str, optional
        Of the series, for messages.

    Attributes
    ----------
    shrinkage : float or None
        What "mint" used.
    exact : bool
        Orthogonal in the metric ``W^-1``. Bottom-up is not: it leaves forecasts alone that add up,
        but it is an oblique projection, and can raise the error.

    Raises
    ------
    ValueError
        If the matrix is no summing matrix, residuals are missing or too few, or their covariance is
        close to singular.

    References
    ----------
    R. J. Hyndman et al., Comput. Stat. Data Anal. 55 (2011) 2579; S. L. Wickramasuriya,
    G. Athanasopoulos and R. J. Hyndman, J. Am. Stat. Assoc. 114 (2019) 804.

    Examples
    --------
    >>> reconcile = Reconciliation([[1, 1], [1, 0], [0, 1]])
    >>> reconcile(torch.tensor([4.0, 1.0, 2.0], dtype=torch.float64))
    tensor([3.6667, 1.3333, 2.3333], dtype=torch.float64)
    """

    _map: Tensor
    _metric: Tensor
    _totals: Tensor

    def __init__(
        self,
        summing: Any,
        method: Literal["ols", "wls", "structural", "mint", "bottom_up"] = "ols",
        *,
        residuals: Any = None,
        shrinkage: float | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        s = _summing(summing)
        series, bottom = s.shape
        if names is not None and len(names) != series:
            raise ValueError(f"names: got {len(names)}, wanted {series}, one for each series")
        if method not in METHODS:
            raise ValueError(
                f"method={method!r}.{closest(str(method), METHODS)} Methods are "
                f"{', '.join(METHODS)}"
            )
        self.method, self.shrinkage = method, None
        self.exact = method != "bottom_up"
        weights = self._inverse_metric(s, residuals, shrinkage, names)
        if method == "bottom_up":
            gather = np.hstack([np.zeros((bottom, series - bottom)), np.eye(bottom)])
        else:
            gather = np.linalg.solve(s.T @ weights @ s, s.T @ weights)
        self.register_buffer("_map", torch.from_numpy(s @ gather), persistent=False)
        self.register_buffer("_metric", torch.from_numpy(weights), persistent=False)
        self.register_buffer("_totals", torch.from_numpy(s[: series - bottom]), persistent=False)

    def forward(self, u: Tensor) -> Tensor:
        """Forecasts that add up, shape ``(*batch, series)``."""
        self._check(u)
        return u @ self._map.to(u).T

    def defect(self, u: Tensor) -> Tensor:
        """Largest difference of a total from its parts, relative to the sum of their sizes."""
        self._check(u)
        totals = self._totals.to(u)
        count, bottom = totals.shape
        parts = u[..., -bottom:]
        excess = (u[..., :count] - parts @ totals.T).abs()
        scale = u[..., :count].abs() + parts.abs() @ totals.T
        return (excess / scale.clamp_min(torch.finfo(u.dtype).tiny)).amax(-1)

    def inner(self, a: Tensor, b: Tensor) -> Tensor:
        """Inner product ``a^T W^-1 b``; the plain one for bottom-up."""
        return ((a @ self._metric.to(a)) * b).sum(-1)

    def _check(self, u: Tensor) -> None:
        series = self._map.shape[0]
        check_fields("u", u, 1, f"(*batch, {series})")
        if u.shape[-1] != series:
            raise ValueError(
                f"u has shape {tuple(u.shape)}: wanted (*batch, {series}), one entry for each "
                "series of the hierarchy"
            )

    def _inverse_metric(
        self,
        s: np.ndarray,
        residuals: Any,
        shrinkage: float | None,
        names: Sequence[str] | None,
    ) -> np.ndarray:
        series = s.shape[0]
        if self.method == "structural":
            return np.diag(1.0 / s.sum(1))
        if self.method not in ("wls", "mint"):
            return np.eye(series)
        if residuals is None:
            raise ValueError(
                f"method={self.method!r} needs residuals, the errors of past forecasts of one "
                f"step, shape (times, {series}); without them use 'structural' or 'ols'"
            )
        covariance, weight = shrunk_covariance(
            residuals, shrinkage=1.0 if self.method == "wls" else shrinkage
        )
        if covariance.shape[0] != series:
            raise ValueError(
                f"residuals have {covariance.shape[0]} series, but summing has {series}"
            )
        if self.method == "wls":
            return np.diag(1.0 / np.diag(covariance))
        self.shrinkage = weight
        _check_regular(covariance, weight, names)
        return np.linalg.inv(covariance)


class TopDown(AbstractProjection):
    """Splits the grand total by fixed shares. Adds up, but does not leave the truth alone.

    Kept to compare with: its result depends on the first series alone, so that forecasts that add
    up are changed wherever their shares differ.

    Parameters
    ----------
    summing : array_like, shape (series, bottom series)
        Its first row must be the grand total.
    shares : array_like, shape (bottom series,)
        Of the total, summing to one.

    Examples
    --------
    >>> split = TopDown([[1, 1], [1, 0], [0, 1]], [0.25, 0.75])
    >>> split(torch.tensor([4.0, 2.0, 2.0]))
    tensor([4., 1., 3.])
    """

    exact = False
    _shares: Tensor

    def __init__(self, summing: Any, shares: Any) -> None:
        super().__init__()
        s = _summing(summing)
        p = real_array("shares", shares, "one number for each bottom series")
        if not (s[0] == 1.0).all():
            raise ValueError("summing: the first series must be the total of all bottom series")
        if p.shape != (s.shape[1],) or not np.isfinite(p).all() or not math.isclose(p.sum(), 1.0):
            raise ValueError(
                f"shares have shape {p.shape} and sum to {p.sum():g}: wanted {s.shape[1]} finite "
                "numbers that sum to 1"
            )
        self._reference = Reconciliation(s)
        self.register_buffer("_shares", torch.from_numpy(s @ p), persistent=False)

    def forward(self, u: Tensor) -> Tensor:
        """Forecasts that add up, made of the first series alone."""
        self._reference._check(u)
        return u[..., :1] * self._shares.to(u)

    def defect(self, u: Tensor) -> Tensor:
        """Largest difference of a total from its parts."""
        return self._reference.defect(u)


class BlendedTopDown(AbstractProjection):
    """Mixture of an exact reconciliation and top-down: ``(1 - weight) C u + weight T u``.

    Parameters
    ----------
    reconciliation : Reconciliation
        ``C``.
    top_down : TopDown
        ``T``, of the same hierarchy.
    weight : float
        Of top-down, in [0, 1].
    """

    exact = False

    def __init__(self, reconciliation: Reconciliation, top_down: TopDown, weight: float) -> None:
        super().__init__()
        for name, part, kind in (
            ("reconciliation", reconciliation, Reconciliation),
            ("top_down", top_down, TopDown),
        ):
            if not isinstance(part, kind):
                raise TypeError(f"{name} is of type {type(part).__name__}: wanted {kind.__name__}")
        if not torch.equal(reconciliation._totals, top_down._reference._totals):
            raise ValueError("top_down has another hierarchy than reconciliation: wanted one")
        share("weight", weight)
        self.reconciliation, self.top_down = reconciliation, top_down
        self.weight = float(weight)
        self.exact = reconciliation.exact and self.weight == 0.0

    def forward(self, u: Tensor) -> Tensor:
        """Forecasts that add up."""
        return torch.lerp(self.reconciliation(u), self.top_down(u), self.weight)

    def defect(self, u: Tensor) -> Tensor:
        """Largest difference of a total from its parts."""
        return self.reconciliation.defect(u)


def _summing(summing: Any) -> np.ndarray:
    s = real_array("summing", summing, "rows of zeros and ones of one length")
    if s.ndim != 2 or s.shape[0] < s.shape[1] or not s.size:
        raise ValueError(
            f"summing has shape {s.shape}: wanted (series, bottom series), all series in rows"
        )
    if not np.isin(s, (0.0, 1.0)).all():
        raise ValueError(
            f"summing holds {s[~np.isin(s, (0.0, 1.0))][0]:g}: wanted zeros and ones alone"
        )
    if not np.array_equal(s[-s.shape[1] :], np.eye(s.shape[1])):
        raise ValueError(
            f"summing: its last {s.shape[1]} rows must be an identity, the bottom series in order; "
            "see summing_matrix"
        )
    return s


def _check_regular(covariance: np.ndarray, shrinkage: float, names: Sequence[str] | None) -> None:
    deviation = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / deviation[:, None] / deviation)
    if values[0] > _SINGULAR * values[-1]:
        return
    involved = np.argsort(-np.abs(vectors[:, 0]))[:5]
    called: list[str] = [names[int(i)] if names is not None else str(i) for i in involved]
    raise ValueError(
        f"the covariance of the residuals is close to singular at shrinkage {shrinkage:.3g}: "
        f"series {', '.join(called)} nearly determine each other; pass a larger shrinkage, such as "
        "0.1, or residuals over more times"
    )
