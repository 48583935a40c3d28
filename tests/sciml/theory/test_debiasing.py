"""Hermite polynomials give powers without bias, exactly."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from sciml.theory import gaussian_mean, hermite_power

u, e, s = sympy.symbols("u e s")


@pytest.mark.parametrize("degree", range(9))
def test_mean_over_the_noise_is_the_clean_power(degree):
    assert gaussian_mean(hermite_power(u + e, s, degree), e, s) == u**degree


@pytest.mark.parametrize("degree", range(1, 7))
def test_derivative_lowers_the_degree(degree):
    derivative = sympy.diff(hermite_power(u, s, degree), u)
    assert sympy.expand(derivative - degree * hermite_power(u, s, degree - 1)) == 0


def test_product_of_two_fields_factorizes():
    v, f, r = sympy.symbols("v f r")
    product = hermite_power(u + e, s, 2) * hermite_power(v + f, r, 3)
    assert gaussian_mean(gaussian_mean(product, e, s), f, r) == u**2 * v**3


def test_arrays_are_taken_and_no_noise_changes_nothing():
    field = np.linspace(-2.0, 2.0, 9)
    np.testing.assert_allclose(hermite_power(field, 0.0, 3), field**3, rtol=1e-15)
    np.testing.assert_allclose(hermite_power(field, 0.5, 2), field**2 - 0.25, rtol=1e-15)
    np.testing.assert_array_equal(hermite_power(field, 0.5, 0), np.ones(9))


def test_what_has_no_closed_form_is_refused():
    with pytest.raises(ValueError, match="not a polynomial in e"):
        gaussian_mean(sympy.exp(e), e, s)
    with pytest.raises(ValueError, match="degree is -1"):
        hermite_power(u, s, -1)
