"""Sparse linear systems: factorization for small ones, multigrid for large ones."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from pdes.solvers.convergence import ConvergenceError, check_tolerance

logger = logging.getLogger(__name__)

# Above so many unknowns multigrid is faster: Ruge and Stuben's for matrices of elements of degree
# 1, measured with diffusion that jumps, and smoothed aggregation for others.
DIRECT_LIMIT = 150**2
AGGREGATION_LIMIT = 350**2


@dataclass(frozen=True)
class SparseSolution:
    """Values of all unknowns, and how they were found."""

    values: np.ndarray
    method: str
    residual_norm: float
    iterations: int


def solve_sparse(
    matrix: Any,
    load: np.ndarray,
    fixed: np.ndarray,
    values: np.ndarray,
    *,
    blocks: int = 1,
    symmetric: bool = False,
    method: str = "auto",
    tolerance: float = 1e-10,
) -> SparseSolution:
    """Solve ``matrix @ u = load`` with some unknowns given.

    Parameters
    ----------
    matrix : sparse matrix, shape (n, n)
        Rows of given unknowns are ignored.
    load : ndarray, shape (n,)
        Right-hand side.
    fixed : ndarray of int, shape (m,)
        Numbers of the given unknowns.
    values : ndarray, shape (m,)
        Their values.
    blocks : int, default 1
        Number of fields.
    symmetric : bool
        Whether the matrix is symmetric and, where nothing is wrong, positive definite.
    method : {"auto", "direct", "multigrid"}
        "auto" takes multigrid for a large symmetric system of one field.
    tolerance : float
        Norm of the residual relative to the right-hand side, at most 0.01.

    Returns
    -------
    SparseSolution

    Raises
    ------
    ValueError
        If the method is unknown, the tolerance is no number in ``(0, 0.01]``, or multigrid is asked
        for a system that is not symmetric.
    ConvergenceError
        If the residual is above the tolerance, or the matrix is singular.

    Examples
    --------
    >>> matrix = sparse.diags_array([[-1.0] * 4, [2.0] * 5, [-1.0] * 4], offsets=[-1, 0, 1])
    >>> solved = solve_sparse(matrix.tocsr(), np.zeros(5), np.array([0, 4]), np.array([0.0, 4.0]))
    >>> solved.values
    array([0., 1., 2., 3., 4.])
    """
    tolerance = check_tolerance(tolerance)
    if method not in ("auto", "direct", "multigrid"):
        raise ValueError(f"linear_solver={method!r}, wanted 'auto', 'direct' or 'multigrid'")
    if method == "multigrid" and not symmetric:
        raise ValueError("linear_solver='multigrid' needs a symmetric system; use 'direct'")
    kind = np.result_type(
        matrix.dtype, load, np.asarray(values, dtype=None if len(values) else "f8")
    )
    if method == "multigrid" and kind.kind == "c":
        raise ValueError("linear_solver='multigrid' is for real systems; use 'direct'")
    u = np.zeros(len(load), dtype=kind)
    u[fixed] = values
    free = np.setdiff1d(np.arange(len(load)), fixed)
    rest = (load - matrix @ u)[free]
    inner = _pruned(matrix.tocsr()[free][:, free].astype(kind))
    chosen = method
    if method == "auto" and kind.kind == "c":
        chosen = "direct"
    elif method == "auto":
        limit = DIRECT_LIMIT if _mostly_negative(inner) else AGGREGATION_LIMIT
        chosen = "multigrid" if symmetric and blocks == 1 and free.size > limit else "direct"
    found, count = np.zeros(0), 0
    if chosen == "multigrid":
        try:
            found, count = _multigrid(inner, rest, tolerance)
        except ConvergenceError as error:
            if method != "auto":
                raise
            logger.info("factorization instead of multigrid: %s", error)
            chosen = "direct"
    if chosen == "direct":
        found = _factorized(inner, rest, symmetric)
    method = chosen
    norm = float(np.linalg.norm(inner @ found - rest)) / (float(np.linalg.norm(rest)) or 1.0)
    # A direct solution of a badly scaled system is accurate though its residual is not tiny.
    if not norm <= (max(tolerance, 1e-8) if method == "direct" else 2 * tolerance):
        raise ConvergenceError(method, history=[norm], tolerance=tolerance)
    u[free] = found
    return SparseSolution(u, method, norm, count)


def _factorized(matrix: Any, load: np.ndarray, symmetric: bool) -> np.ndarray:
    options: dict[str, Any] = {}
    if symmetric:
        options = {"permc_spec": "MMD_AT_PLUS_A", "options": {"SymmetricMode": True}}
    if not load.size:
        return load
    try:
        return splu(sparse.csc_matrix(matrix), **options).solve(load.astype(matrix.dtype))
    except RuntimeError as error:
        raise ConvergenceError(
            f"the matrix is singular ({error})", history=[], tolerance=0.0
        ) from error


def _multigrid(matrix: Any, load: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    import pyamg

    history: list[float] = []
    if _mostly_negative(matrix):
        hierarchy = pyamg.ruge_stuben_solver(matrix)
    else:
        strength: Any = ("symmetric", {"theta": 0.05})
        hierarchy = pyamg.smoothed_aggregation_solver(matrix, strength=strength)
    found = hierarchy.solve(load, tol=tolerance, maxiter=200, accel="cg", residuals=history)
    scale = float(np.linalg.norm(load)) or 1.0
    # The recursion's residual drifts from the true one: what counts is the latter, refined once.
    rest = load - matrix @ found
    if np.linalg.norm(rest) > 2 * tolerance * scale:
        found = found + hierarchy.solve(rest, tol=1e-3, maxiter=50, accel="cg")
        rest = load - matrix @ found
    norms = [h / scale for h in history] + [float(np.linalg.norm(rest)) / scale]
    if not norms[-1] <= 2 * tolerance:
        raise ConvergenceError(
            "multigrid with conjugate gradients", history=norms, tolerance=tolerance
        )
    return np.asarray(found), len(history) - 1


def _pruned(matrix: Any) -> Any:
    """Matrix without entries that are zero but for rounding, which mislead multigrid."""
    entries = matrix.tocoo()
    diagonal = np.abs(matrix.diagonal())
    kept = np.abs(entries.data) > 1e-14 * np.sqrt(diagonal[entries.row] * diagonal[entries.col])
    places = entries.row[kept].astype(np.int32), entries.col[kept].astype(np.int32)
    return sparse.csr_matrix((entries.data[kept], places), shape=matrix.shape)


def _mostly_negative(matrix: Any) -> bool:
    """Whether positive entries off the diagonal weigh next to nothing."""
    off = matrix - sparse.diags_array(matrix.diagonal())
    return float(off.data.clip(min=0.0).sum()) <= 0.01 * float(np.abs(off.data).sum())
