"""Symmetric sparse systems and projections applied in the loop, differentiably."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu
from torch import Tensor

__all__ = ["LARGEST_DIRECT", "Factors", "SymmetricSystem", "apply_symmetric"]

LARGEST_DIRECT = 100_000
"""Unknowns up to which a system is factored once; beyond, algebraic multigrid solves it anew."""


class Factors:
    """LU factors of a sparse matrix that copies and files make anew, since they hold none.

    Parameters
    ----------
    matrix : scipy.sparse matrix, shape (n, n)
        Regular.
    **options
        Of `scipy.sparse.linalg.splu`.

    Examples
    --------
    >>> import copy
    >>> factors = copy.deepcopy(Factors(sp.csc_matrix([[2.0, 0.0], [0.0, 4.0]])))
    >>> factors.solve(np.ones(2))
    array([0.5 , 0.25])
    """

    def __init__(self, matrix: Any, **options: Any) -> None:
        self._matrix, self._options = matrix, options

    @functools.cached_property
    def computed(self) -> Any:
        """What `splu` returns."""
        return splu(self._matrix, **self._options)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solutions of the shape of the right-hand sides."""
        return self.computed.solve(right)

    def __getstate__(self) -> dict[str, Any]:
        return {"_matrix": self._matrix, "_options": self._options}


class SymmetricSystem:
    """Positive semidefinite matrix, prepared once for many right-hand sides.

    Up to `LARGEST_DIRECT` unknowns it is factored; above, conjugate gradients preconditioned by
    algebraic multigrid run to `tolerance`. Where a connected part of the matrix has zero row sums,
    as a pressure without an open side has, a constant is free: the mean there is set to zero, and
    the mean of the right-hand side, which has no solution, is ignored.

    Parameters
    ----------
    matrix : scipy.sparse matrix, shape (n, n)
        Symmetric, not indefinite.
    tolerance : float, default 1e-13
        Relative residual at which iterations stop.

    Examples
    --------
    >>> chain = sp.csr_matrix(np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]))
    >>> p = SymmetricSystem(chain)(torch.tensor([1.0, 0.0, -1.0], dtype=torch.float64))
    >>> [round(float(value), 12) for value in p]
    [1.0, 0.0, -1.0]
    """

    def __init__(self, matrix: Any, *, tolerance: float = 1e-13) -> None:
        self.matrix: Any = sp.csc_matrix(matrix, dtype=np.float64)
        self.size = int(self.matrix.shape[0])
        self.tolerance = float(tolerance)
        count, self._part = connected_components(self.matrix, directed=False)
        sums = np.abs(np.asarray(self.matrix.sum(axis=1)).ravel())
        diagonal = self.matrix.diagonal()
        loose = np.ones(count, dtype=bool)
        np.logical_and.at(loose, self._part, sums <= 1e-12 * np.maximum(diagonal, 1e-300))
        self._loose = loose
        self._counts = np.bincount(self._part, minlength=count)
        self.direct = self.size <= LARGEST_DIRECT
        # One unknown of each loose part is held at zero; the mean is taken off afterwards.
        first = np.unique(self._part, return_index=True)[1]
        self._kept = np.setdiff1d(np.arange(self.size), first[loose])
        self._regular = self.matrix[self._kept][:, self._kept].tocsc()
        self._factors = Factors(
            self._regular, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}
        )

    @functools.cached_property
    def _multigrid(self) -> Any:
        import pyamg

        return pyamg.ruge_stuben_solver(self._regular.tocsr())

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solutions of shape (n, k) for right-hand sides of that shape."""
        right = self._centered(right)
        found = np.zeros_like(right)
        if self.direct:
            found[self._kept] = self._factors.solve(np.ascontiguousarray(right[self._kept]))
        else:
            for column in range(right.shape[1]):
                found[self._kept, column] = self._iterate(right[self._kept, column])
        return self._centered(found)

    def _iterate(self, right: np.ndarray) -> np.ndarray:
        residuals: list[float] = []
        found = self._multigrid.solve(
            right, tol=self.tolerance, accel="cg", maxiter=200, residuals=residuals
        )
        size = float(np.linalg.norm(right))
        reached = float(np.linalg.norm(right - self._regular @ found)) / size if size else 0.0
        # Rounding sets a floor of its own, which grows with the condition of the matrix.
        if reached > max(1e3 * self.tolerance, 1e-10):
            raise RuntimeError(
                f"multigrid stopped at a relative residual of {reached:.1e} after "
                f"{len(residuals)} iterations, wanted {self.tolerance:.1e}; coarsen the grid"
            )
        return found

    def _centered(self, values: np.ndarray) -> np.ndarray:
        if not self._loose.any():
            return values
        sums = np.zeros((self._loose.size, values.shape[1]))
        np.add.at(sums, self._part, values)
        means = sums / self._counts[:, None] * self._loose[:, None]
        return values - means[self._part]

    def __call__(self, right: Tensor) -> Tensor:
        """Solutions of shape ``(*batch, n)`` on the device and in the type of `right`.

        The system is solved in double precision on the CPU.
        """
        return apply_symmetric(self.solve, right)


def apply_symmetric(operator: Callable[[np.ndarray], np.ndarray], values: Tensor) -> Tensor:
    """Apply a symmetric linear map of numpy arrays to tensors, differentiably.

    Such a map is its own adjoint and its own tangent, so that nothing has to be recorded.

    Parameters
    ----------
    operator : callable
        Takes and returns double-precision arrays of shape (n, k), column by column.
    values : Tensor, shape (*batch, n)
        On any device, of any real type.

    Returns
    -------
    Tensor
        Like `values`.

    Examples
    --------
    >>> x = torch.ones(2, 3, requires_grad=True)
    >>> apply_symmetric(lambda columns: 2.0 * columns, x).sum().backward()
    >>> x.grad
    tensor([[2., 2., 2.],
            [2., 2., 2.]])
    """
    found = _Symmetric.apply(values, operator)
    assert isinstance(found, Tensor)
    return found


class _Symmetric(torch.autograd.Function):
    @staticmethod
    def forward(values: Tensor, operator: Any) -> Tensor:
        columns = values.detach().reshape(-1, values.shape[-1]).double().cpu().numpy().T
        found = np.ascontiguousarray(operator(np.ascontiguousarray(columns)).T)
        return torch.from_numpy(found).to(values).reshape(values.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.operator = inputs[1]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return apply_symmetric(ctx.operator, gradients[0]), None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> tuple[Any, int]:
        values, operator = args
        return _Symmetric.apply(values.movedim(in_dims[0], 0), operator), 0

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        return apply_symmetric(ctx.operator, tangents[0])
