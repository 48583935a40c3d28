"""Errors that radial, additive and whole-mode models cannot avoid."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy

from sciml.theory import (
    additive_and_radial,
    additive_distance,
    crack_floor,
    predict_radial_floor,
    product_of_sines_floor,
)


@pytest.mark.parametrize(
    ("power", "distance"), [(-1.0, 0.604), (0.5, 0.0612), (1.0, 0.0635), (4.0, 0.194)]
)
def test_radial_powers_are_not_additive(power, distance):
    found = additive_distance(lambda x, y: np.hypot(x, y) ** power)
    assert found == pytest.approx(distance, rel=5e-3)


def test_squared_radius_alone_is_additive():
    r = sympy.Symbol("r", positive=True)
    assert additive_and_radial().has(r**2)
    assert additive_distance(lambda x, y: 3 * (x**2 + y**2) - 1) < 1e-15
    assert additive_distance(np.zeros((4, 5))) == 0.0


def test_crack_floor_is_what_least_squares_leaves():
    # The jump at the crack leaves an error of second order in the spacing.
    theta = (np.arange(40_000) + 0.5) / 40_000 * 2 * np.pi - np.pi
    wanted = np.sin(theta / 2)
    for modes in (1, 4):
        columns = [f(n * theta) for n in range(modes + 1) for f in (np.cos, np.sin)]
        matrix = np.column_stack(columns)
        rest = wanted - matrix @ np.linalg.lstsq(matrix, wanted, rcond=None)[0]
        left = np.linalg.norm(rest) / np.linalg.norm(wanted)
        assert crack_floor(modes) == pytest.approx(left, rel=1e-6)
    assert crack_floor(0) == 1.0
    assert crack_floor(10_000) * np.pi * 100 / 2 == pytest.approx(1.0, rel=1e-3)


def test_product_of_sines_on_the_disc():
    """Against a projection on the disc by Gauss points and a Fourier sum."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    r, weight = 0.5 + 0.5 * nodes, 0.5 * weights * (0.5 + 0.5 * nodes)
    theta = np.arange(64) * 2 * np.pi / 64
    x, y = r[:, None] * np.cos(theta), r[:, None] * np.sin(theta)
    field = np.sin(np.pi * x) * np.sin(np.pi * y)
    amplitude = 2 * (field * np.sin(2 * theta)).mean(1, keepdims=True)
    rest = field - amplitude * np.sin(2 * theta)
    norm = np.sqrt(np.sum(weight[:, None] * rest**2) / np.sum(weight[:, None] * field**2))
    assert product_of_sines_floor([2]) == pytest.approx(norm, rel=1e-10)
    assert mpmath.nstr(product_of_sines_floor([2], digits=20), 10) == f"{norm:.10g}"
    assert product_of_sines_floor([2, 6, 10, 14]) < 1e-5
    assert abs(field.mean(1)).max() < 1e-15  # nothing for a radial model
    assert predict_radial_floor().judge(product_of_sines_floor()).passed


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: additive_distance(np.ones(4)), r"field: shape \(4,\)"),
        (lambda: additive_distance(np.full((2, 2), np.inf)), "wanted finite values"),
        (lambda: additive_distance(lambda x, y: x, points=1), "points=1"),
        (lambda: crack_floor(-1), "modes=-1"),
        (lambda: crack_floor(1.5), "modes=1.5"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
