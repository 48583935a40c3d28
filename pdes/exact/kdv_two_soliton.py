"""Two solitons of the Korteweg-de Vries equation passing through each other."""

from __future__ import annotations

import sympy

from pdes.equation import Equation, coordinate, parameter
from pdes.exact.solution import ExactSolution
from pdes.symbols import TIME


def kdv_two_soliton(
    equation: Equation,
    *,
    wavenumbers: tuple[float, float] = (1.4, 1.0),
    phases: tuple[float, float] = (0.0, 0.0),
) -> ExactSolution:
    r"""Two-soliton solution in Hirota's form.

    ``u = 12 delta/alpha * (log tau)_xx`` with
    ``tau = 1 + e_1 + e_2 + ((k_1 - k_2)/(k_1 + k_2))^2 e_1 e_2`` and
    ``e_i = exp(k_i x - delta k_i^3 t + phase_i)``. Alone each soliton has the speed
    ``delta k_i^2``.

    Parameters
    ----------
    equation : Equation
        Korteweg-de Vries equation with parameters ``steepening`` (not zero) and ``dispersion``.
    wavenumbers : tuple of float
        ``k_1`` and ``k_2``, positive and different.
    phases : tuple of float
        A positive phase moves a soliton to the left.

    Returns
    -------
    ExactSolution

    Examples
    --------
    >>> from pdes.library.kdv import kdv_equation
    >>> kdv_two_soliton(kdv_equation()).residual(points=2) < 1e-25
    True
    """
    first, second = wavenumbers
    if not (first > 0.0 and second > 0.0 and first != second):
        raise ValueError(f"wavenumbers must be positive and different, got {wavenumbers}")
    x, dispersion = coordinate("x"), parameter("dispersion")
    k_1, k_2 = parameter("first"), parameter("second")
    slopes = (sympy.S.Zero, k_1, k_2, k_1 + k_2)
    first_phase, second_phase = (
        k * x - dispersion * k**3 * TIME + parameter(phase)
        for k, phase in ((k_1, "first_phase"), (k_2, "second_phase"))
    )
    shift = sympy.log(((k_1 - k_2) / (k_1 + k_2)) ** 2)
    exponents = (sympy.S.Zero, first_phase, second_phase, first_phase + second_phase + shift)
    # The curvature of log tau is the variance of the slopes of its four exponentials, each weighted
    # with its share of tau. For each pair the product of the shares is a fraction of powers that
    # overflow only below the line, and then it is 0 as it should be: no inf/inf at late times.
    shares = [1 / sympy.Add(*(sympy.exp(f - e) for f in exponents)) for e in exponents]
    curvature = sympy.Add(
        *(
            shares[i] * shares[j] * (slopes[i] - slopes[j]) ** 2
            for i in range(4)
            for j in range(i + 1, 4)
        )
    )
    return ExactSolution(
        name="kdv_two_soliton",
        equation=equation,
        fields={"u": 12 * dispersion / parameter("steepening") * curvature},
        parameters={
            "first": first,
            "second": second,
            "first_phase": phases[0],
            "second_phase": phases[1],
        },
        source="Hirota, Phys. Rev. Lett. 27 (1971) 1192",
    )
