"""Every block in closed form against mpmath, and its derivatives against each other."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch

from sciml.powerlaw.blocks import (
    angle,
    harmonic,
    legendre,
    legendre_function,
    log_primitive,
    pair_block,
    pair_harmonic,
    power,
    raise_to,
)
from sciml.powerlaw.blocks.entire import pair_functions, phi1_slope

R = np.geomspace(1e-3, 1.0, 13)
THETA = np.linspace(0.05, 2.6, 13)


def exact(function, *arguments, order=None, digits=40):
    """Value of a function of mpmath numbers, or a partial derivative, at every place."""
    with mpmath.workdps(digits):
        found = []
        for place in zip(*(np.broadcast_arrays(*arguments)), strict=True):
            point = tuple(mpmath.mpf(float(x)) for x in place)
            found.append(function(*point) if order is None else mpmath.diff(function, point, order))
        return np.array([float(mpmath.re(value)) for value in found])


def euler(function):
    """``r df/dr`` of a function whose first argument is ``r``."""
    return lambda r, *p: r * mpmath.diff(lambda x: function(x, *p), r)


def pair_mp(which):
    def function(r, s, q):
        log = mpmath.log(r)
        root = mpmath.sqrt(q)
        if which == 0:
            return r**s * mpmath.cosh(root * log)
        return r**s * (log if q == 0 else mpmath.sinh(root * log) / root)

    return function


RADIAL = {
    "power": (power, [lambda r, mu: r**mu], (0.7,)),
    "negative power": (power, [lambda r, mu: r**mu], (-1.3,)),
    "primitive": (log_primitive, [lambda r, mu: (r**mu - 1) / mu], (0.3,)),
    "primitive near the log": (log_primitive, [lambda r, mu: (r**mu - 1) / mu], (1e-9,)),
    "two powers": (pair_block, [pair_mp(0), pair_mp(1)], (0.5, 0.2)),
    "oscillation": (pair_block, [pair_mp(0), pair_mp(1)], (0.5, -0.3)),
    "close pair": (pair_block, [pair_mp(0), pair_mp(1)], (0.5, 1e-8)),
}


@pytest.mark.parametrize("name", RADIAL)
def test_radial_values_and_derivatives(name):
    block, functions, parameters = RADIAL[name]
    jets = block(R, *parameters)
    jets = (jets,) if hasattr(jets, "euler") else jets
    for jet, function in zip(jets, functions, strict=True):
        chain = [function, euler(function), euler(euler(function))]
        for k, expected in enumerate(chain):
            np.testing.assert_allclose(
                jet.euler[k], exact(expected, R, *parameters), rtol=2e-14, atol=1e-14
            )
        for j in range(len(parameters)):
            order = tuple(int(i == j + 1) for i in range(len(parameters) + 1))
            np.testing.assert_allclose(
                jet.parameters[j][0],
                exact(function, R, *parameters, order=order),
                rtol=1e-11,  # a derivative by differences at 40 digits
                atol=1e-12,
            )


@pytest.mark.parametrize("parameters", [(0.5, 0.3), (0.5, 0.0), (0.4, -0.2)])
def test_derivatives_of_euler_terms_of_pairs_by_differences(parameters):
    step = 1e-6
    for j in range(2):
        up, down = list(parameters), list(parameters)
        up[j] += step
        down[j] -= step
        for jet, above, below in zip(
            pair_block(R, *parameters), pair_block(R, *up), pair_block(R, *down), strict=True
        ):
            for k in range(3):
                slope = (above.euler[k] - below.euler[k]) / (2 * step)
                np.testing.assert_allclose(jet.parameters[j][k], slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_gradient_and_laplacian_agree_with_autograd(d):
    x = torch.from_numpy(np.random.default_rng(d).uniform(0.05, 0.6, (20, d))).requires_grad_()
    blocks = [
        lambda r: power(r, 0.7),
        lambda r: log_primitive(r, 0.0),
        lambda r: pair_block(r, 0.5, 0.04)[1],
        lambda r: pair_block(r, 0.5, -0.5)[0],
    ]
    for block in blocks:
        r = torch.linalg.norm(x, dim=1)
        jet = block(r)
        (gradient,) = torch.autograd.grad(jet.value.sum(), x, create_graph=True)
        parts = [
            torch.autograd.grad(gradient[:, i].sum(), x, retain_graph=True)[0][:, i]
            for i in range(d)
        ]
        torch.testing.assert_close(jet.gradient(x, r), gradient, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(jet.laplacian(r, d), sum(parts), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("mu", [-1.0, -0.1, -1e-8, 0.0, 1e-8, 0.01, 0.5, 3.0])
def test_log_primitive_keeps_full_precision(mu):
    r = np.geomspace(1e-6, 0.999, 40)
    with mpmath.workdps(40):
        m = mpmath.mpf(mu)
        expected = [
            float(mpmath.log(x) if mu == 0 else mpmath.expm1(m * mpmath.log(x)) / m)
            for x in map(mpmath.mpf, r)
        ]
    np.testing.assert_allclose(log_primitive(r, mu).value, expected, rtol=1e-15)


def test_branches_agree_at_the_switch():
    for sign in (1.0, -1.0):
        below, above = np.array([sign * (1 - 1e-15)]), np.array([sign])
        np.testing.assert_allclose(phi1_slope(below), phi1_slope(above), rtol=1e-14)
        for inner, outer in zip(pair_functions(below), pair_functions(above), strict=True):
            np.testing.assert_allclose(inner, outer, rtol=1e-14)
        near = pair_functions(below.astype(complex))
        for inner, outer in zip(near, pair_functions(above.astype(complex)), strict=True):
            np.testing.assert_allclose(inner, outer, rtol=1e-14)


def test_pair_columns_stay_well_conditioned_as_exponents_merge():
    r = np.linspace(1e-3, 1, 2000)
    for gap, powers in ((1e-1, 20), (1e-3, 2e3)):
        pair = np.stack([jet.value for jet in pair_block(r, 0.5, (gap / 2) ** 2)], axis=1)
        naive = np.stack([r ** (0.5 - gap / 2), r ** (0.5 + gap / 2)], axis=1)
        conditions = [np.linalg.cond(a / np.linalg.norm(a, axis=0)) for a in (pair, naive)]
        assert conditions[0] < 4
        assert conditions[1] > powers


HARMONIC = {
    "harmonic": (harmonic, (0.7,)),
    "pair": (pair_harmonic, (0.6, 0.04)),
    "resonant pair": (pair_harmonic, (2.0, 0.0)),
    "oscillating pair": (pair_harmonic, (0.5, -0.01)),
}


@pytest.mark.parametrize("name", HARMONIC)
def test_planar_blocks_are_harmonic_and_match_autograd(name):
    block, parameters = HARMONIC[name]
    x = torch.from_numpy(np.random.default_rng(0).uniform(0.1, 0.7, (20, 2))).requires_grad_()
    p = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in parameters]
    r, theta = torch.linalg.norm(x, dim=1), angle(x)
    for jet in block(r, theta, *p):
        (gradient,) = torch.autograd.grad(jet.value.sum(), x, create_graph=True)
        torch.testing.assert_close(jet.gradient(x, r), gradient, rtol=1e-11, atol=1e-11)
        laplacian = sum(
            torch.autograd.grad(gradient[:, i].sum(), x, retain_graph=True)[0][:, i]
            for i in range(2)
        )
        assert float(laplacian.abs().max()) < 1e-11
        slopes = torch.autograd.grad(jet.value.sum(), p, retain_graph=True)
        for closed, slope in zip(jet.slopes, slopes, strict=True):
            torch.testing.assert_close(closed.sum(), slope, rtol=1e-11, atol=1e-11)
        for k, part in enumerate((jet.euler, jet.angular)):
            slopes = torch.autograd.grad(part.sum(), p, retain_graph=True)
            for closed, slope in zip(jet.parameters, slopes, strict=True):
                torch.testing.assert_close(closed[k + 1].sum(), slope, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("nu", [0.4630985617801064733715, 1.81322787311021558, 2.0, -0.3])
def test_legendre_function(nu):
    theta = np.radians([1.0, 60.0, 135.0])
    value, slope, by_nu, _ = legendre_function(theta, nu)

    def p(t, n):
        return mpmath.hyp2f1(-n, n + 1, 1, (1 - mpmath.cos(t)) / 2)

    np.testing.assert_allclose(value, exact(p, theta, nu, digits=20), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        slope, exact(p, theta, nu, order=(1, 0), digits=20), rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(
        by_nu, exact(p, theta, nu, order=(0, 1), digits=20), rtol=1e-11, atol=1e-11
    )


def test_legendre_block_is_harmonic():
    x = torch.from_numpy(np.random.default_rng(0).uniform(0.1, 0.7, (10, 3))).requires_grad_()
    r = torch.linalg.norm(x, dim=1)
    theta = torch.arccos(x[:, 2] / r)
    jet = legendre(r, theta, 0.463)
    (gradient,) = torch.autograd.grad(jet.value.sum(), x, create_graph=True)
    torch.testing.assert_close(jet.gradient(x, r), gradient, rtol=1e-12, atol=1e-12)
    total = sum(
        torch.autograd.grad(gradient[:, i].sum(), x, retain_graph=True)[0][:, i] for i in range(3)
    )
    assert float(total.abs().max()) < 1e-11


def test_legendre_refuses_what_the_series_cannot_reach():
    with pytest.raises(ValueError, match="0 to 170 degrees"):
        legendre_function(np.array([3.1]), 0.5)


def test_center():
    r = np.array([0.0, 0.5])
    assert raise_to(r, 0.5)[0] == 0.0
    assert raise_to(r, 0.0)[0] == 1.0
    assert raise_to(r, -1.0)[0] == np.inf
    jet = power(r, 1.5)
    np.testing.assert_array_equal(jet.gradient(np.array([[0.0], [0.5]]), r)[0], 0.0)
    assert np.isfinite(jet.slopes[0]).all()
    assert all(np.isfinite(part.value).all() for part in pair_block(r, 0.5, 0.01))
    mu = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    raise_to(torch.tensor([0.0, 0.5], dtype=torch.float64), mu).sum().backward()
    assert torch.isfinite(mu.grad)


def test_angle_keeps_to_its_branch():
    turns = np.linspace(-6.0, 6.0, 97)
    x = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    for start in (0.0, -np.pi, 1.0):
        theta = angle(x, start)
        assert np.all((theta >= start) & (theta < start + 2 * np.pi))
        np.testing.assert_allclose(np.cos(theta), x[:, 0], atol=1e-14)
        np.testing.assert_allclose(np.sin(theta), x[:, 1], atol=1e-14)
