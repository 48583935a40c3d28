"""A separable model and the result of fitting it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sciml.powerlaw.arrays import namespace

RANK_CUTOFF = 1e-14
"""Singular values of the columns, scaled to norm one, below this share of the largest are zero."""


class SparseDerivatives(NamedTuple):
    """The derivatives of a model that are not zero, one after the other.

    Attributes
    ----------
    values : array, shape (..., count, rows)
        ``d Phi[:, column[i]] / d p[parameter[i]]``.
    parameter, column : tuple of int, length count
        Which parameter, and which column.
    """

    values: Any
    parameter: tuple[int, ...]
    column: tuple[int, ...]


SeparableModel = Callable[[Any], tuple[Any, Any]]
"""``model(parameters) -> (columns, derivatives)``; shapes as in `variable_projection`."""


@dataclass(frozen=True, repr=False)
class SeparableFit:
    """Result of `variable_projection`; every array has the batch axis of ``start``, if it had one.

    Attributes
    ----------
    parameters : array, shape (..., p)
        The nonlinear parameters.
    coefficients : array, shape (..., n)
        The linear ones, of least norm if the columns are dependent.
    residual : array, shape (..., rows)
        ``weights*(y - Phi c)``.
    relative_residual : array, shape (...)
        Its norm over that of ``weights*y``.
    jacobian : array, shape (..., rows, p)
        Of the (weighted) reduced residual.
    full_jacobian : array, shape (..., rows, n + p)
        ``weights*[Phi, Phi' c]``: of the fitted values, coefficients first.
    converged : array of bool, shape (...)
        Whether the iteration came to rest.
    iterations : array of int, shape (...)
        Accepted steps.
    at_bound : array of bool, shape (..., p)
        Which parameters ended on their bound.
    message : str or tuple of str
        Why the iteration ended.
    """

    parameters: Any
    coefficients: Any
    residual: Any
    relative_residual: Any
    jacobian: Any
    full_jacobian: Any
    converged: Any
    iterations: Any
    at_bound: Any
    message: Any
    _arrays: tuple[str, ...] = field(
        default=(
            "parameters",
            "coefficients",
            "residual",
            "relative_residual",
            "jacobian",
            "full_jacobian",
            "converged",
            "iterations",
            "at_bound",
        ),
        repr=False,
    )

    def __repr__(self) -> str:
        """Sizes and outcome: the arrays themselves may hold millions of numbers."""
        rows, unknowns = self.full_jacobian.shape[-2:]
        nonlinear = self.parameters.shape[-1]
        sizes = f"{rows} rows, {unknowns - nonlinear} coefficients, {nonlinear} parameters"
        worst = float(np.max(_to_numpy(self.relative_residual), initial=0.0))
        if isinstance(self.message, str):
            return f"SeparableFit({sizes}, relative residual {worst:.2g}, {self.message})"
        rest = int(np.sum(_to_numpy(self.converged)))
        return (
            f"SeparableFit({len(self)} fits of {sizes}, largest relative residual {worst:.2g}, "
            f"{rest} converged)"
        )

    def __getitem__(self, member: int) -> SeparableFit:
        """Return one member of the batch."""
        if isinstance(self.message, str):
            raise IndexError("this fit has no batch axis: its start was one vector")
        parts = {name: getattr(self, name)[member] for name in self._arrays}
        return SeparableFit(**parts, message=self.message[member])

    def __len__(self) -> int:
        if isinstance(self.message, str):
            raise TypeError("this fit has no batch axis: its start was one vector")
        return len(self.message)

    def best(self) -> SeparableFit:
        """Return the member with the smallest residual (the fit itself without a batch axis)."""
        if isinstance(self.message, str):
            return self
        residuals = _to_numpy(self.relative_residual)
        return self[int(np.argmin(np.where(np.isfinite(residuals), residuals, np.inf)))]

    def covariance(self, noise: float | None = None) -> Any:
        """Covariance of ``[coefficients, parameters]``, inverse of the Fisher information.

        Parameters
        ----------
        noise : float, optional
            Standard deviation of the weighted rows. Estimated from the residual if left out, on
            ``rows - n - p`` degrees of freedom; NaN if there are none.

        Returns
        -------
        array, shape (..., n + p, n + p)
            Infinite where the rows do not determine a combination.
        """
        xp = namespace(self.residual)
        rows, unknowns = self.full_jacobian.shape[-2:]
        scale = xp.linalg.vector_norm(self.full_jacobian, axis=-2)
        scale = xp.where(scale > 0, scale, xp.ones_like(scale))
        _, upper = xp.linalg.qr(self.full_jacobian / scale[..., None, :])
        _, singular, right = xp.linalg.svd(upper, full_matrices=False)
        small = singular <= RANK_CUTOFF * singular[..., :1]
        inverse = 1.0 / xp.where(small, xp.full_like(singular, 1e-150), singular)
        half = xp.matrix_transpose(right) * inverse[..., None, :]
        unit = half @ xp.matrix_transpose(half) / (scale[..., :, None] * scale[..., None, :])
        if noise is not None:
            return unit * noise**2
        variance = xp.sum(self.residual**2, axis=-1)
        variance = variance / (rows - unknowns if rows > unknowns else float("nan"))
        return unit * variance[..., None, None]

    def standard_errors(self, noise: float | None = None) -> tuple[Any, Any]:
        """Standard errors of the parameters and of the coefficients.

        Parameters
        ----------
        noise : float, optional
            As in `covariance`.

        Returns
        -------
        (array, shape (..., p)), (array, shape (..., n))
        """
        xp = namespace(self.residual)
        covariance = self.covariance(noise)
        deviations = xp.sqrt(xp.linalg.diagonal(covariance))
        n = self.coefficients.shape[-1]
        return deviations[..., n:], deviations[..., :n]


def _to_numpy(values: Any) -> Any:
    return values.detach().cpu().numpy() if hasattr(values, "detach") else np.asarray(values)
