"""Values of extreme size are fitted in a unit of their own, where no square overflows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.radial_terms import RadialTerm
from sciml.powerlaw.separable_fit import SeparableFit


def unit_of(values: NDArray) -> float:
    """Unit for values beyond 1e-100 to 1e100, a power of two, which costs no digits; else 1.

    Examples
    --------
    >>> unit_of(np.array([3.0, 1e9])), unit_of(np.array([2.0**900, 1.0])) == 2.0**900
    (1.0, True)
    """
    most = float(np.abs(values).max())
    if most == 0.0 or 1e-100 < most < 1e100:
        return 1.0
    return float(2.0 ** np.floor(np.log2(most)))


def in_unit(
    fit: SeparableFit, terms: Sequence[RadialTerm], unit: float
) -> tuple[SeparableFit, tuple[RadialTerm, ...]]:
    """A fit of values divided by `unit`, and its terms, as of the values themselves."""
    scale = np.ones(fit.full_jacobian.shape[1])
    scale[len(fit.coefficients) :] = unit
    whole = replace(
        fit,
        coefficients=fit.coefficients * unit,
        residual=fit.residual * unit,
        jacobian=fit.jacobian * unit,
        full_jacobian=fit.full_jacobian * scale,
    )
    return whole, tuple(
        replace(
            term,
            coefficient=term.coefficient * unit,
            coefficient_error=term.coefficient_error * unit,
        )
        for term in terms
    )
