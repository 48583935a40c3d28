"""Powers of a noisy field without bias, by scaled Hermite polynomials.

For ``U = u + e`` with Gaussian ``e`` of standard deviation ``s`` the mean of ``U^2`` is ``u^2 +
s^2``, and higher powers are worse. The scaled Hermite polynomial ``He_j(U; s)`` has mean ``u^j``
exactly: it is what the heat flow run backwards by ``s^2/2`` makes of ``U^j``.
"""

from __future__ import annotations

from typing import Any

import sympy


def hermite_power(field: Any, noise: Any, degree: int) -> Any:
    """Return ``He_degree(field; noise)``, whose mean over the noise is the clean power.

    ``He_2 = U^2 - s^2``, ``He_3 = U^3 - 3 s^2 U``, ``He_4 = U^4 - 6 s^2 U^2 + 3 s^4``, from the
    recursion ``He_(j+1) = U He_j - j s^2 He_(j-1)``. Its derivative in ``U`` is ``j He_(j-1)``.

    Parameters
    ----------
    field
        Noisy field ``U``: a SymPy expression, a number or an array of any library.
    noise
        Standard deviation ``s`` of the noise, in the unit of the field.
    degree
        Power ``j``, 0 or more.

    Returns
    -------
    Any
        Same kind as ``field``.

    Examples
    --------
    >>> U, s = sympy.symbols("U s")
    >>> sympy.expand(hermite_power(U, s, 4))
    U**4 - 6*U**2*s**2 + 3*s**4
    """
    if degree < 0:
        raise ValueError(f"degree is {degree}: it must be 0 or more")
    previous, current = field * 0, field * 0 + 1
    for j in range(degree):
        previous, current = current, field * current - j * noise**2 * previous
    return current


def gaussian_mean(expression: sympy.Expr, error: sympy.Symbol, noise: Any) -> sympy.Expr:
    """Return the exact mean of a polynomial over a centered Gaussian error.

    Parameters
    ----------
    expression
        Polynomial in ``error``.
    error
        Symbol of the Gaussian error ``e``.
    noise
        Its standard deviation ``s``: the mean of ``e^(2m)`` is ``(2m - 1)!! s^(2m)``, that of odd
        powers 0.

    Returns
    -------
    sympy.Expr
        Expanded.

    Raises
    ------
    ValueError
        If ``expression`` is not a polynomial in ``error``.

    Examples
    --------
    The plain square is biased, the Hermite one is not:

    >>> u, e, s = sympy.symbols("u e s")
    >>> gaussian_mean((u + e)**2, e, s)
    s**2 + u**2
    >>> gaussian_mean(hermite_power(u + e, s, 2), e, s)
    u**2
    """
    expanded = sympy.expand(expression)
    if not expanded.is_polynomial(error):
        raise ValueError(
            f"expression {expression} is not a polynomial in {error}: only polynomials have a mean "
            "in closed form here"
        )
    terms = sympy.Poly(expanded, error).terms()
    return sympy.expand(
        sum(c * sympy.factorial2(k - 1) * noise**k for (k,), c in terms if k % 2 == 0)
    )
