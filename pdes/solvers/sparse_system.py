"""Sparse linear systems: factorization for small ones, multigrid for large ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from pdes.solvers.convergence import ConvergenceError

# Measured with diffusion that jumps: above about 150^2 unknowns multigrid is faster.
DIRECT_LIMIT = 150**2


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
        Norm of the residual relative to the right-hand side.

    Returns
    -------
    SparseSolution

    Raises
    ------
    ValueError
        If the method is unknown, or multigrid is asked for a system that is not symmetric.
    ConvergenceError
        If the residual is above the tolerance, or the matrix is singular.

    Examples
    --------
    >>> matrix = sparse.diags_array([[-1.0] * 4, [2.0] * 5, [-1.0] * 4], offsets=[-1, 0, 1])
    >>> solved = solve_sparse(matrix.tocsr(), np.zeros(5), np.array([0, 4]), np.array([0.0, 4.0]))
    >>> solved.values
    array([0., 1., 2., 3., 4.])
    """
    if method not in ("auto", "direct", "multigrid"):
        raise ValueError(f"linear_solver={method!r}, wanted 'auto', 'direct' or 'multigrid'")
    if method == "multigrid" and not symmetric:
        raise ValueError("linear_solver='multigrid' needs a symmetric system; use 'direct'")
    u = np.zeros(len(load))
    u[fixed] = values
    free = np.setdiff1d(np.arange(len(load)), fixed)
    rest = (load - matrix @ u)[free]
    inner = matrix.tocsr()[free][:, free]
    if method == "auto":
        large = symmetric and blocks == 1 and free.size > DIRECT_LIMIT
        method = "multigrid" if large else "direct"
    if method == "direct":
        found, count = _factorized(inner, rest, symmetric), 0
    else:
        found, count = _multigrid(inner, rest, tolerance)
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
        return splu(sparse.csc_matrix(matrix), **options).solve(load)
    except RuntimeError as error:
        raise ConvergenceError(
            f"the matrix is singular ({error})", history=[], tolerance=0.0
        ) from error


def _multigrid(matrix: Any, load: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    import pyamg

    history: list[float] = []
    plain = sparse.csr_matrix(matrix)
    plain.indices, plain.indptr = plain.indices.astype(np.int32), plain.indptr.astype(np.int32)
    hierarchy = pyamg.ruge_stuben_solver(plain)
    found = hierarchy.solve(load, tol=tolerance, maxiter=200, accel="cg", residuals=history)
    scale = float(np.linalg.norm(load)) or 1.0
    if not history[-1] <= 2 * tolerance * scale:
        raise ConvergenceError(
            "multigrid with conjugate gradients",
            history=[h / scale for h in history],
            tolerance=tolerance,
        )
    return np.asarray(found), len(history) - 1
