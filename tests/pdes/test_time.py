"""Phi-functions to many digits, integrators on problems with known answers."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from pdes.time import ETDRK4, INTEGRATORS, RK4, phi_functions


def _phi(z: complex, digits: int = 50) -> tuple[complex, complex, complex]:
    with mpmath.workdps(digits):
        w = mpmath.mpmathify(z)
        first = (mpmath.exp(w) - 1) / w
        second = (first - 1) / w
        third = (second - mpmath.mpf(1) / 2) / w
        return complex(first), complex(second), complex(third)


MODULI = np.concatenate([np.logspace(-10, 4, 43), [0.9, 0.99, 1.0, 1.01, 1.1, 2.0]])


@pytest.mark.parametrize("direction", [-1.0, 1j, -1j, np.exp(0.75j * np.pi), np.exp(-0.6j * np.pi)])
def test_phi_functions_match_fifty_digits(direction: complex) -> None:
    z = MODULI * direction
    found = phi_functions(z)
    assert all(np.iscomplexobj(values) == np.iscomplexobj(z) for values in found)
    wanted = np.array([_phi(value) for value in z.tolist()]).T
    for values, exact in zip(found, wanted, strict=True):
        assert np.max(np.abs(values - exact) / np.abs(exact)) < 1e-11


def test_phi_functions_at_zero() -> None:
    for values, exact in zip(phi_functions(np.zeros(1)), (1.0, 0.5, 1.0 / 6.0), strict=True):
        assert abs(values[0] - exact) < 1e-15


@pytest.mark.parametrize("rate", [-1e4, -1.0, 0.0, 2.0, 3j, -1.0 + 5j])
def test_etdrk4_is_exact_for_linear_and_for_constant_terms(rate: complex) -> None:
    linear = np.array([rate])
    forcing = 0.7
    step = ETDRK4().stepper(linear, 0.3)
    found = step(np.array([1.0 + 0j]), 0.0, lambda v, t: np.full_like(v, forcing))
    growth = np.exp(0.3 * rate)
    extra = 0.3 if rate == 0.0 else (growth - 1.0) / rate
    assert abs(found[0] - (growth + forcing * extra)) < 1e-13


@pytest.mark.parametrize("method", INTEGRATORS.values(), ids=INTEGRATORS.keys())
def test_time_dependent_terms_are_taken_at_the_stages(method) -> None:
    """v' = t^(p-1): a method of order p integrates it exactly only with the right stage times."""
    power = method.order - 1
    step = method.stepper(np.array([0.0]), 0.5)
    found = step(np.array([0.0]), 1.0, lambda v, t: np.array([t**power]))
    assert abs(found[0] - (1.5 ** (power + 1) - 1.0) / (power + 1)) < 1e-14


def test_runge_kutta_treats_the_linear_part_explicitly() -> None:
    step = RK4.stepper(np.array([-2.0]), 0.1)
    z = -0.2
    found = step(np.array([1.0]), 0.0, lambda v, t: 0.0 * v)[0]
    assert abs(found - (1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24)) < 1e-15


def test_stability_limits_are_where_the_region_ends() -> None:
    for method in (RK4, INTEGRATORS["ssprk3"]):
        for limit, direction in ((method.real_limit, -1.0), (method.imaginary_limit, 1j)):
            for factor, stable in ((0.999, True), (1.002, False)):
                step = method.stepper(np.array([factor * limit * direction]), 1.0)
                size = abs(step(np.array([1.0 + 0j]), 0.0, lambda v, t: 0.0 * v)[0])
                assert (size <= 1.0) == stable
