"""Nearest states that satisfy linear equations: totals, boundary values, symmetries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from sciml.repair.arguments import number, real_array, whole
from sciml.repair.projection import AbstractProjection, check_fields
from sciml.repair.sparse_solve import Factors, apply_symmetric

__all__ = [
    "AffineProjection",
    "boundary_projection",
    "end_points_projection",
    "mirror_projection",
    "total_projection",
]

_RANK = 1e-12
_CONSISTENT = 1e-9
_LARGEST_DENSE = 1000


class AffineProjection(AbstractProjection):
    """Nearest state with ``A x = b``, in a metric of positive weights or a matrix.

    ``x - W^-1 A^T (A W^-1 A^T)^+ (A x - b)``. Equations that repeat each other are found by their
    rank and left out; equations that contradict each other are refused.

    Parameters
    ----------
    constraint : array_like or scipy.sparse matrix, shape (m, n)
        ``A``, on the entries of a state in C order.
    rhs : array_like, shape (m,), optional
        ``b``; zero by default.
    metric : array_like, shape (n,) or (n, n), optional
        ``W``: positive weights, or a symmetric positive definite matrix. Equal weights by default.
    shape : tuple of int, optional
        Shape of a state with n entries; ``(n,)`` by default.

    Attributes
    ----------
    rank : int
        Number of independent equations.

    Raises
    ------
    ValueError
        If shapes do not fit, values are not finite, weights are not positive, or the equations
        contradict each other.

    Examples
    --------
    >>> fixed_sum = AffineProjection([[1.0, 1.0]], [3.0])
    >>> fixed_sum(torch.tensor([0.0, 1.0]))
    tensor([1., 2.])
    """

    _rhs: Tensor
    _weights: Tensor

    def __init__(
        self,
        constraint: Any,
        rhs: Any = None,
        *,
        metric: Any = None,
        shape: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        a = _matrix(constraint)
        m, n = a.shape
        wanted = "one number for each equation"
        b = np.zeros(m) if rhs is None else real_array("rhs", rhs, wanted)
        if b.shape != (m,) or not np.isfinite(b).all():
            raise ValueError(
                f"rhs has shape {b.shape}: wanted {m} finite numbers, one for each equation"
            )
        self.shape = (n,) if shape is None else _sizes(shape)
        if int(np.prod(self.shape)) != n:
            raise ValueError(
                f"shape={self.shape} has {int(np.prod(self.shape))} entries, but constraint has "
                f"{n} columns"
            )
        self.sample_axes = len(self.shape)
        inverse, weights = _metric(metric, n)
        self.register_buffer("_weights", torch.from_numpy(weights), persistent=False)
        self.register_buffer("_rhs", torch.from_numpy(b), persistent=False)
        self._equations = (
            _FactoredEquations(a, inverse)
            if sp.issparse(a) and inverse.ndim == 1 and m > _LARGEST_DENSE
            else _DenseEquations(a.toarray() if sp.issparse(a) else a, inverse)
        )
        self.rank = self._equations.rank
        shift = self(torch.zeros(self.shape, dtype=torch.float64)).reshape(-1).numpy()
        residual = float(np.abs(a @ shift - b).max(initial=0.0))
        if residual > _CONSISTENT * max(1.0, float(np.abs(b).max(initial=0.0))):
            raise ValueError(
                f"the {m} equations contradict each other: their rank is {self.rank}, and the "
                f"nearest right-hand side is off by {residual:.3g}; check constraint and rhs"
            )

    def forward(self, u: Tensor) -> Tensor:
        """States that satisfy the equations."""
        flat = self._flat(u)
        excess = self._equations.apply(flat) - self._rhs.to(u)
        return (flat - self._equations.lift(excess)).reshape(u.shape)

    def defect(self, u: Tensor) -> Tensor:
        """Largest violation of an equation, relative to the sizes of its terms."""
        flat, b = self._flat(u), self._rhs.to(u)
        scale = self._equations.apply(flat.abs(), absolute=True) + b.abs()
        excess = (self._equations.apply(flat) - b).abs()
        return (excess / scale.clamp_min(torch.finfo(u.dtype).tiny)).amax(-1)

    def metric(self, u: Tensor) -> Tensor | None:
        """Weights of the entries, if the metric is diagonal."""
        if self._weights.ndim == 2:
            return None
        return self._weights.to(u).reshape(self.shape)

    def inner(self, a: Tensor, b: Tensor) -> Tensor:
        """Inner product in the metric."""
        if self._weights.ndim == 1:
            return super().inner(a, b)
        return ((self._flat(a) @ self._weights.to(a)) * self._flat(b)).sum(-1)

    def _flat(self, u: Tensor) -> Tensor:
        wanted = f"(*batch, {', '.join(map(str, self.shape))})"
        check_fields("u", u, self.sample_axes, wanted)
        if tuple(u.shape[-self.sample_axes :]) != self.shape:
            raise ValueError(f"u has shape {tuple(u.shape)}: wanted {wanted}")
        return u.flatten(-self.sample_axes)


class _DenseEquations:
    """Equations of any rank, by a singular value decomposition."""

    def __init__(self, a: np.ndarray, inverse: np.ndarray) -> None:
        lifted = inverse @ a.T if inverse.ndim == 2 else inverse[:, None] * a.T
        root = _root(inverse, a)
        _, sizes, right = np.linalg.svd(root, full_matrices=False)
        kept = sizes > _RANK * max(float(sizes.max(initial=0.0)), 1e-300)
        self.rank = int(kept.sum())
        # (A W^-1 A^T)^+ = V S^-2 V^T with the singular values of W^-1/2 A^T = U S V^T.
        gram = (right[kept].T / sizes[kept] ** 2) @ right[kept]
        self._a, self._lifted = torch.from_numpy(a), torch.from_numpy(lifted @ gram)

    def apply(self, flat: Tensor, *, absolute: bool = False) -> Tensor:
        a = self._a.abs() if absolute else self._a
        return flat @ a.to(flat).T

    def lift(self, excess: Tensor) -> Tensor:
        return excess @ self._lifted.to(excess).T


class _FactoredEquations:
    """Many independent sparse equations, by one factorization."""

    def __init__(self, a: Any, inverse: np.ndarray) -> None:
        gram = (a.multiply(inverse[None, :]) @ a.T).tocsc()
        self.rank = int(a.shape[0])
        self._factors = Factors(gram)
        try:
            pivots = np.abs(self._factors.computed.U.diagonal())
        except RuntimeError:
            pivots = np.zeros(1)
        if pivots.min() <= _RANK * pivots.max(initial=0.0):
            raise ValueError(
                f"constraint: the {self.rank} sparse equations depend on each other; leave the "
                "dependent ones out, or pass a dense matrix, whose rank is found"
            )
        self._a = _torch_sparse(a)
        self._lifted = _torch_sparse(sp.csr_matrix(a.multiply(inverse[None, :]).T))

    def apply(self, flat: Tensor, *, absolute: bool = False) -> Tensor:
        return _sparse_product(self._a.abs() if absolute else self._a, flat)

    def lift(self, excess: Tensor) -> Tensor:
        return _sparse_product(self._lifted, apply_symmetric(self._factors.solve, excess))


def _torch_sparse(matrix: Any) -> Tensor:
    found = sp.coo_matrix(matrix)
    index = torch.from_numpy(np.stack([found.row, found.col]).astype(np.int64))
    values = torch.from_numpy(found.data)
    return torch.sparse_coo_tensor(index, values, found.shape, check_invariants=True).coalesce()


def _sparse_product(matrix: Tensor, flat: Tensor) -> Tensor:
    columns = flat.reshape(-1, flat.shape[-1]).T
    found = torch.sparse.mm(matrix.to(dtype=flat.dtype, device=flat.device), columns).T
    return found.reshape(*flat.shape[:-1], -1)


def total_projection(
    shape: Sequence[int], total: float | None = None, *, weights: Any = None
) -> AffineProjection:
    """Projection to states of a given total, or mean.

    Parameters
    ----------
    shape : sequence of int
        Of a state.
    total : float, optional
        Weighted sum to set; zero by default.
    weights : array_like, shape `shape`, optional
        Positive cell sizes or quadrature weights, which are also the metric: every entry is then
        moved by the same amount. Ones by default; weights that sum to one fix the mean.

    Returns
    -------
    AffineProjection

    Examples
    --------
    >>> total_projection((2, 2), 4.0)(torch.zeros(2, 2))
    tensor([[1., 1.],
            [1., 1.]])
    """
    sizes, wanted = _sizes(shape), "positive sizes of cells"
    w = np.ones(sizes) if weights is None else real_array("weights", weights, wanted)
    if w.shape != sizes:
        raise ValueError(f"weights have shape {w.shape}: wanted {sizes}")
    goal = 0.0 if total is None else number("total", total, "a finite number, or None")
    return AffineProjection(w.reshape(1, -1), [goal], metric=w.ravel(), shape=shape)


def boundary_projection(shape: Sequence[int], values: Any) -> AffineProjection:
    """Projection to states with given values at some entries.

    Parameters
    ----------
    shape : sequence of int
        Of a state.
    values : array_like, shape `shape`
        The values, and NaN where none is given.

    Returns
    -------
    AffineProjection

    Examples
    --------
    >>> boundary_projection((3,), [1.0, float("nan"), 0.0])(torch.full((3,), 5.0))
    tensor([1., 5., 0.])
    """
    sizes, wanted = _sizes(shape), "numbers where a value is given, and NaN elsewhere"
    given = real_array("values", values, wanted)
    if given.shape != sizes or np.isinf(given).any():
        raise ValueError(
            f"values have shape {given.shape}: wanted {sizes}, finite where a value is given and "
            "NaN elsewhere"
        )
    places = np.flatnonzero(~np.isnan(given))
    if not places.size:
        raise ValueError("values are NaN everywhere: wanted one number or more")
    rows = np.zeros((places.size, given.size))
    rows[np.arange(places.size), places] = 1.0
    return AffineProjection(rows, given.ravel()[places], shape=shape)


def mirror_projection(shape: Sequence[int], axis: int, *, odd: bool = False) -> AffineProjection:
    """Projection to states that are even, or odd, under reflection of an axis.

    Parameters
    ----------
    shape : sequence of int
        Of a state.
    axis : int
        Which is reflected about its middle.
    odd : bool, default False
        Whether the sign changes.

    Returns
    -------
    AffineProjection

    Examples
    --------
    >>> mirror_projection((3,), 0)(torch.tensor([1.0, 5.0, 3.0]))
    tensor([2., 5., 2.])
    """
    index = _entries(shape, axis)
    image = np.flip(index, axis).ravel()
    first = index.ravel() < image if not odd else index.ravel() <= image
    rows = np.zeros((int(first.sum()), index.size))
    at = np.arange(rows.shape[0])
    rows[at, index.ravel()[first]] = 1.0
    rows[at, image[first]] += 1.0 if odd else -1.0
    return AffineProjection(rows, shape=shape)


def end_points_projection(shape: Sequence[int], axis: int) -> AffineProjection:
    """Projection to states whose two ends along an axis are equal: periodic with both ends stored.

    Examples
    --------
    >>> end_points_projection((3,), 0)(torch.tensor([1.0, 5.0, 3.0]))
    tensor([2., 5., 2.])
    """
    index = _entries(shape, axis)
    low, high = index.take(0, axis).ravel(), index.take(-1, axis).ravel()
    rows = np.zeros((low.size, index.size))
    rows[np.arange(low.size), low] = 1.0
    rows[np.arange(low.size), high] = -1.0
    return AffineProjection(rows, shape=shape)


def _entries(shape: Sequence[int], axis: int) -> np.ndarray:
    """Places of the entries of a state, in its shape; the axis must be one of its own."""
    sizes = _sizes(shape)
    d = len(sizes)
    whole("axis", axis, -d, d - 1, f", since shape={sizes} has {d} axes")
    if sizes[axis] < 2:
        raise ValueError(f"axis={axis}: shape={sizes} has one entry along it, wanted two or more")
    return np.arange(int(np.prod(sizes))).reshape(sizes)


def _sizes(shape: Any) -> tuple[int, ...]:
    """Shape of a state, checked."""
    if not isinstance(shape, Sequence) or isinstance(shape, str) or not shape:
        raise ValueError(f"shape={shape!r}: wanted the sizes of a state, such as (2, 64, 64)")
    return tuple(whole("shape", size, 1) for size in shape)


def _matrix(constraint: Any) -> Any:
    try:
        a: Any = sp.csr_matrix(constraint) if sp.issparse(constraint) else np.asarray(constraint)
    except ValueError:
        raise ValueError("constraint: its rows have different lengths") from None
    if a.ndim != 2 or not np.issubdtype(a.dtype, np.number) or a.dtype.kind == "c":
        raise ValueError(
            f"constraint has shape {a.shape} and dtype {a.dtype}: wanted a real matrix with one "
            "row for each equation"
        )
    if 0 in a.shape:
        raise ValueError(f"constraint has shape {a.shape}: wanted one equation or more")
    if not np.isfinite(a.data if sp.issparse(a) else a).all():
        raise ValueError("constraint holds NaN or infinite values")
    return a.astype(float)


def _metric(metric: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Inverse of the metric, and the metric."""
    if metric is None:
        return np.ones(n), np.ones(n)
    wanted = f"{n} weights, or a matrix"
    w = real_array("metric", metric.toarray() if sp.issparse(metric) else metric, wanted)
    if w.shape not in ((n,), (n, n)) or not np.isfinite(w).all():
        raise ValueError(
            f"metric has shape {w.shape}: wanted {n} weights or a matrix of shape {(n, n)}, finite"
        )
    if w.ndim == 1:
        if (w <= 0.0).any():
            raise ValueError(f"metric holds the weight {w.min():g}: wanted positive weights")
        return 1.0 / w, w
    if not np.allclose(w, w.T, rtol=1e-10, atol=0.0):
        raise ValueError("metric is not symmetric")
    smallest = float(np.linalg.eigvalsh(w)[0])
    if smallest <= 0.0:
        raise ValueError(
            f"metric is not positive definite: its smallest eigenvalue is {smallest:.3g}"
        )
    return np.linalg.inv(w), w


def _root(inverse: np.ndarray, a: np.ndarray) -> np.ndarray:
    """``F A^T`` with a factor ``F^T F`` of the inverse metric."""
    if inverse.ndim == 1:
        return np.sqrt(inverse)[:, None] * a.T
    return np.linalg.cholesky(inverse).T @ a.T
