"""The exclusion theorem: what Galilean invariance leaves of a library.

Let ``u_t = F(u, u_x, u_xx, ...)`` be autonomous and unchanged by the boosts ``u(x, t) -> u(x - q
c t, t) + c`` for all small ``c``. Differentiating the boosted equation in ``c`` at 0 gives
``dF/du = -q u_x`` with the derivatives of ``u`` held fixed, hence ``F = -q u u_x + H(u_x, u_xx,
...)``: no term with an undifferentiated ``u`` but ``u u_x``. For ``q = 0`` the boost is a shift
of ``u``. Here the condition is solved for the coefficients of any library.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy


def jet(order: int) -> sympy.Symbol:
    """Return the symbol of the ``order``-th x-derivative of ``u``.

    Examples
    --------
    >>> jet(0), jet(2)
    (u, u_xx)
    """
    return sympy.Symbol("u" if order == 0 else "u_" + "x" * order, real=True)


def total_derivative(expression: sympy.Expr) -> sympy.Expr:
    """Differentiate an expression in the jets with respect to ``x``.

    Examples
    --------
    >>> total_derivative(jet(0)**2)
    2*u*u_x
    """
    names = [str(symbol) for symbol in expression.free_symbols]
    orders = [len(name) - 2 if "_" in name else 0 for name in names]
    return sympy.expand(
        sum((sympy.diff(expression, jet(k)) * jet(k + 1) for k in orders), start=sympy.Integer(0))
    )


def conservative_terms(degree: int = 3, order: int = 4) -> dict[str, sympy.Expr]:
    """Return the library ``1`` and ``d_x^k(u^j)`` as expressions in the jets.

    Parameters
    ----------
    degree
        Largest power ``j`` of the field.
    order
        Largest derivative ``k``.

    Returns
    -------
    dict
        Name, such as ``(u^2)_xx``, to expression; 1 + degree*(order + 1) terms.

    Examples
    --------
    >>> conservative_terms(degree=2, order=1)
    {'1': 1, 'u': u, 'u_x': u_x, 'u^2': u**2, '(u^2)_x': 2*u*u_x}
    """
    terms: dict[str, sympy.Expr] = {"1": sympy.Integer(1)}
    for j in range(1, degree + 1):
        power = "u" if j == 1 else f"u^{j}"
        expression: sympy.Expr = jet(0) ** j
        for k in range(order + 1):
            name = power if k == 0 else (f"{power}_" if j == 1 else f"({power})_") + "x" * k
            terms[name] = expression
            expression = total_derivative(expression)
    return terms


def invariant_terms(terms: Mapping[str, sympy.Expr]) -> tuple[str, ...]:
    """Return the terms that a Galilean-invariant equation in this library can hold.

    ``dF/du + q u_x = 0`` is linear in the coefficients and in ``q``; a term is left if some
    solution has a nonzero coefficient on it.

    Parameters
    ----------
    terms
        Name to expression in the symbols of `jet`; polynomial.

    Returns
    -------
    tuple of str
        Names in the order of ``terms``.

    Examples
    --------
    >>> invariant_terms(conservative_terms(degree=2, order=2))
    ('1', 'u_x', 'u_xx', '(u^2)_x')
    """
    names = list(terms)
    changes = [sympy.expand(sympy.diff(terms[name], jet(0))) for name in names]
    changes.append(jet(1))  # the column of q
    monomials = sorted({m for change in changes for m in change.as_coefficients_dict()}, key=str)
    system = sympy.Matrix(
        [[change.as_coefficients_dict()[monomial] for change in changes] for monomial in monomials]
    )
    solutions = system.nullspace()
    return tuple(name for i, name in enumerate(names) if any(basis[i] != 0 for basis in solutions))
