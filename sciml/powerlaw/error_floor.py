"""Covariance of a fit that also counts rounding, which the residual of exact data does not show."""

from __future__ import annotations

import sys
from typing import Any

from sciml.powerlaw.arrays import namespace
from sciml.powerlaw.rounding import ROUNDINGS
from sciml.powerlaw.separable_fit import SeparableFit


def covariance_with_rounding(fit: SeparableFit, noise: Any = None) -> Any:
    """Covariance of ``[coefficients, parameters]`` by noise and by rounding of the rows.

    A perturbation of the rows of norm ``e`` moves an unknown by up to ``e`` times the norm of its
    row of the pseudoinverse. Rounding is such a perturbation, of four units in the last place of
    ``|Phi| |c|``. It is not independent from row to row, so more rows do not average it out.

    Parameters
    ----------
    fit : SeparableFit
    noise : float, optional
        Standard deviation of the weighted rows, estimated from the residual by default.

    Returns
    -------
    array, shape (..., n + p, n + p)

    Examples
    --------
    >>> import numpy as np
    >>> from sciml.powerlaw.radial_sum import RadialSum
    >>> from sciml.powerlaw.structure import Structure
    >>> from sciml.powerlaw.varpro import variable_projection
    >>> r = np.linspace(0.1, 1.0, 50)
    >>> fit = variable_projection(RadialSum(r, Structure(1)), np.ones(50), np.array([0.0]))
    >>> bool(np.sqrt(covariance_with_rounding(fit)[1, 1]) > 1e-16)
    True
    """
    return fit.covariance(noise) + rounding_covariance(fit)


def rounding_covariance(fit: SeparableFit) -> Any:
    """Part of `covariance_with_rounding` that is rounding alone."""
    xp = namespace(fit.residual)
    n = fit.coefficients.shape[-1]
    sizes = xp.abs(fit.full_jacobian[..., :n]) @ xp.abs(fit.coefficients)[..., None]
    rounding = ROUNDINGS * sys.float_info.epsilon * xp.linalg.vector_norm(sizes[..., 0], axis=-1)
    return fit.covariance(1.0) * (rounding**2)[..., None, None]
