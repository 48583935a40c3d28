"""Where the heavy linear algebra runs: numpy, or torch on any of its devices.

Products over the grid are written against the array API; only the triangular solves differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs, solve_triangular

_FACTORIZE, _INVERT = get_lapack_funcs(("potrf", "potri"), dtype=np.float64)

NOT_POSITIVE = "the covariance of the rows is not positive definite"


@dataclass(frozen=True)
class Backend:
    """Array library and device of the computation, always in double precision.

    Attributes
    ----------
    name : str
        ``"numpy"`` or ``"torch"``.
    device : str or None
        Torch device, such as ``"cuda"``.

    Examples
    --------
    >>> Backend("torch").to_numpy(Backend("torch").asarray(np.ones(2)))
    array([1., 1.])
    """

    name: str = "numpy"
    device: str | None = None

    def __post_init__(self) -> None:
        if self.name not in ("numpy", "torch"):
            raise ValueError(f"backend must be 'numpy' or 'torch', got {self.name!r}")
        if self.name == "numpy" and self.device not in (None, "cpu"):
            raise ValueError(
                f"device {self.device!r} needs backend='torch'; numpy computes on the CPU only"
            )

    @property
    def xp(self) -> ModuleType:
        """Namespace of the array API."""
        if self.name == "numpy":
            return np
        import array_api_compat.torch as xp

        return xp

    def asarray(self, values: Any) -> Any:
        """Bring numbers or indices to the device."""
        if self.name == "numpy":
            return np.asarray(values)
        return self.xp.asarray(np.ascontiguousarray(values), device=self.device)

    def to_numpy(self, values: Any) -> NDArray:
        """Bring results back."""
        return values.cpu().numpy() if hasattr(values, "cpu") else np.asarray(values)

    def cholesky(self, matrix: Any) -> Any:
        """Lower factor of a symmetric positive definite matrix.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the matrix is not positive definite.
        """
        if self.name == "numpy":
            factor, info = _FACTORIZE(matrix.T, lower=1, clean=1, overwrite_a=1)
        else:
            factor, info = self.xp.linalg.cholesky_ex(matrix)
        if int(info) != 0:
            raise np.linalg.LinAlgError(NOT_POSITIVE)
        return factor

    def solve_lower(self, factor: Any, columns: Any) -> Any:
        """Solve with a lower triangular matrix."""
        if self.name == "numpy":
            return solve_triangular(factor, columns, lower=True, check_finite=False)
        return self.xp.linalg.solve_triangular(factor, columns, upper=False)

    def inverse(self, factor: Any) -> Any:
        """Inverse of the matrix whose lower Cholesky factor is given."""
        if self.name == "torch":
            import torch

            return torch.cholesky_inverse(factor)
        lower, info = _INVERT(factor, lower=1)
        if info != 0:
            raise np.linalg.LinAlgError(NOT_POSITIVE)
        full = lower + lower.T
        full[np.diag_indices_from(full)] /= 2
        return full
