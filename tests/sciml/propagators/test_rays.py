"""Rays against closed forms, spectral solutions and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from pdes import Equation
from sciml.propagators import Box, Gaussian, HarmonicOscillator, Packet, RayPropagator
from sciml.theory import GIBBS_OVERSHOOT, box_tail, periodic_tail, wave_jumps

CIRCLE = [(0.0, 2 * np.pi)]
WIND = Equation.from_text("u_t = -(1 + 0.5*sin(x))*u_x")
WAVE = Equation.from_text("u_t = v; v_t = u_xx")
MEDIUM = Equation.from_text("u_t = v; v_t = (1 + 0.3*sin(x))^2*u_xx")


def tensor(value):
    return torch.as_tensor(value, dtype=torch.float64)


def travel_time(x):
    """Antiderivative of 1/(1 + sin(x)/2) on (-pi, pi)."""
    root = math.sqrt(0.75)
    return 2 / root * np.arctan((np.tan(x / 2) + 0.5) / root)


def test_feet_are_a_travel_time_away():
    rays = RayPropagator(WIND, CIRCLE, 2.0, n_steps=64)
    x = np.linspace(1.9, 2.9, 11)
    foot = rays.foot(tensor(1.0), tensor(x)).numpy()
    np.testing.assert_allclose(travel_time(x) - travel_time(foot), 1.0, atol=1e-8)
    (amplitude,) = rays.amplitude_terms(tensor(1.0), tensor(x))
    assert torch.equal(amplitude, torch.ones_like(amplitude))


def test_density_is_squeezed_as_the_flow():
    density = Equation.from_text("u_t = -((1 + 0.5*sin(x))*u)_x")
    rays = RayPropagator(density, CIRCLE, 2.0, n_steps=32)
    t, x = tensor(1.3).expand(9), torch.linspace(0, 6, 9, dtype=torch.float64)
    stretch = rays.foot_jet(t, x, 1, ("phi_x",))["phi_x"]
    (amplitude,) = rays.amplitude_terms(t, x)
    torch.testing.assert_close(amplitude, stretch, atol=1e-6, rtol=0)


def test_wave_amplitude_is_the_root_of_the_speed_ratio():
    rays = RayPropagator(MEDIUM, CIRCLE, 1.5, n_steps=64, amplitude_order=1)
    x = torch.linspace(0, 6, 9, dtype=torch.float64)
    for s in (1, -1):
        foot = rays.foot(tensor(1.2), x, s)
        first, second = rays.amplitude_terms(tensor(1.2), x, s)
        speed = [1 + 0.3 * torch.sin(z) for z in (x, foot)]
        torch.testing.assert_close(first, torch.sqrt(speed[0] / speed[1]), atol=1e-9, rtol=0)
        # The integral of sqrt(c)(sqrt c)'' over the way from the foot.
        y = foot + (x - foot) * torch.linspace(0, 1, 2001, dtype=torch.float64)[:, None]
        c, dc, ddc = 1 + 0.3 * torch.sin(y), 0.3 * torch.cos(y), -0.3 * torch.sin(y)
        way = torch.trapezoid(0.5 * ddc - 0.25 * dc**2 / c, y, dim=0)
        torch.testing.assert_close(second, -first * way / (2 * speed[1]), atol=1e-7, rtol=0)


@pytest.mark.parametrize("time", [0.0, 0.7, 1.5])
def test_constant_speed_error_is_the_floor(time):
    rays = RayPropagator(Equation.from_text("u_t = -u_x"), [(0.0, 6.0)], 1.5, n_modes=28, n_steps=2)
    box, x = Box(1.0, 2.0), (np.arange(40_000) + 0.37) * 6.0 / 40_000
    u = rays.propagate(box, [time], x=x).u.values[0, 0]
    error = math.sqrt(((u - box.value(x - time)) ** 2).mean() * 6.0)
    assert error == pytest.approx(box_tail(1.0, length=6.0, n_modes=28), rel=1e-3)
    assert u.max() - 1.0 == pytest.approx(GIBBS_OVERSHOOT, abs=0.01)


def test_wave_error_is_the_floor_of_half_jumps():
    rays = RayPropagator(WAVE, CIRCLE, 1.5, n_modes=32)
    box, x = Box(2.0, 3.5), (np.arange(40_000) + 0.37) * 2 * np.pi / 40_000
    u = rays.propagate(box, [1.0], x=x).u.values[0, 0]
    exact = 0.5 * (box.value(x - 1.0) + box.value(x + 1.0))
    error = math.sqrt(((u - exact) ** 2).mean() * 2 * np.pi)
    floor = periodic_tail(*wave_jumps([2.0, 3.5], [1.0, -1.0], 1.0), length=2 * np.pi, n_modes=32)
    assert error == pytest.approx(floor, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "frequency"),
    [("v_t = 4*u_xx", lambda k: 2 * k), ("v_t = u_xx - 9*u", lambda k: np.sqrt(k**2 + 9))],
)
def test_waves_with_velocity_and_mean(text, frequency):
    rays = RayPropagator(Equation.from_text("u_t = v; " + text), CIRCLE, 2.0, n_modes=8)
    x = 2 * np.pi * np.arange(64) / 64
    found = rays.propagate(1 + np.cos(3 * x), [0.9], v0=0.5 + np.sin(2 * x), x=x).u.values[0, 0]
    w0, w2, w3 = (float(frequency(k)) for k in (0.0, 2.0, 3.0))
    mean = np.cos(0.9 * w0) + 0.5 * (np.sin(0.9 * w0) / w0 if w0 else 0.9)
    exact = mean + np.cos(3 * x) * np.cos(0.9 * w3) + np.sin(2 * x) * np.sin(0.9 * w2) / w2
    np.testing.assert_allclose(found, exact, atol=1e-12)


def test_forward_takes_field_and_velocity():
    rays = RayPropagator(WAVE, CIRCLE, 2.0, n_modes=8, n_steps=4)
    x = torch.arange(32) * 2 * np.pi / 32
    state = torch.stack([torch.cos(2 * x), 2 * torch.sin(2 * x)]).repeat(3, 1, 1)
    moved = rays(state, 0.4)
    assert moved.dtype == state.dtype and moved.shape == state.shape
    torch.testing.assert_close(moved[1, 0], torch.cos(2 * (x - 0.4)), atol=1e-5, rtol=0)
    torch.testing.assert_close(moved[1, 1], 2 * torch.sin(2 * (x - 0.4)), atol=1e-5, rtol=0)
    rolled = rays.rollout(state, 2, 0.2)
    torch.testing.assert_close(rolled[:, -1], moved, atol=1e-5, rtol=0)


def test_direct_and_fast_sums_agree():
    rays = RayPropagator(WIND, CIRCLE, 2.0, n_modes=40, n_steps=16)
    from sciml.propagators.oscillatory_integral import reconstruct

    state = rays.prepare([Box(2.0, 3.5), Gaussian(3.0, 0.2)])
    x = torch.linspace(-9, 9, 57, dtype=torch.float64)
    fast, direct = (
        reconstruct(rays, state.spectrum, 1.1, x, method=m) for m in ("nufft", "direct")
    )
    torch.testing.assert_close(fast, direct, atol=1e-11, rtol=0)


def test_dispersion_is_exact():
    airy = RayPropagator(Equation.from_text("u_t = -u_xxx + 0.1*u_xx"), CIRCLE, 2.0, n_modes=8)
    x = 2 * np.pi * np.arange(64) / 64
    u = airy.propagate(np.cos(3 * x), [1.1], x=x).u.values[0, 0]
    np.testing.assert_allclose(u, np.exp(-0.99) * np.cos(3 * x + 27 * 1.1), atol=1e-11)


def test_newton_finds_the_oscillators_rays():
    exact = HarmonicOscillator([(-4.0, 4.0)])
    traced = RayPropagator(exact.symbols.equation, exact.domain, 1.2, periodic=False, n_steps=16)
    t, x, xi = tensor(0.8), torch.linspace(-2, 2, 5, dtype=torch.float64), tensor(1.3)
    torch.testing.assert_close(traced.phase(t, x, xi), exact.phase(t, x, xi), atol=1e-6, rtol=0)
    torch.testing.assert_close(
        traced.amplitude(t, x, xi), exact.amplitude(t, x, xi), atol=1e-6, rtol=0
    )
    found = exact.residuals(t, x, xi)
    assert float(found.source.abs().max()) < 1e-12
    with pytest.raises(NotImplementedError, match="Newton's method and has no residuals"):
        traced.residuals(t, x, xi)


def test_half_wave_in_the_plane():
    wave = Equation.from_text("u_t = v; v_t = (1 + 0.3*sin(x)*cos(y))^2*(u_xx + u_yy)")
    rays = RayPropagator(wave, CIRCLE * 2, 0.8, n_modes=4, n_steps=6)
    rng = torch.Generator().manual_seed(0)
    y, xi = (torch.randn(6, 2, generator=rng, dtype=torch.float64) for _ in range(2))
    ray = rays.trace(tensor(0.8), y, xi)
    # For a Hamiltonian of degree 1 the phase is constant along rays.
    torch.testing.assert_close(ray.phase, (y * xi).sum(-1), atol=1e-12, rtol=0)
    torch.testing.assert_close(
        rays.phase(tensor(0.8), ray.position, xi), ray.phase, atol=1e-7, rtol=0
    )

    def speed(z):
        return 1 + 0.3 * torch.sin(z[..., 0]) * torch.cos(z[..., 1])

    wanted = speed(ray.position) / speed(y) / ray.determinant.sqrt()
    torch.testing.assert_close(torch.exp(-ray.loss), wanted, atol=1e-5, rtol=0)


def test_transport_in_the_plane():
    wind = Equation.from_text("u_t = -(cos(y)*u_x + 0.5*u_y)")
    rays = RayPropagator(wind, CIRCLE * 2, 1.0, n_modes=3, n_steps=16)
    grid = 2 * np.pi * np.arange(16) / 16
    X, Y = np.meshgrid(grid, grid, indexing="ij")
    u = rays.propagate(np.cos(X) * np.sin(2 * Y), [0.9]).u.values[0, 0]
    y0 = Y - 0.45
    x0 = X - (np.sin(Y) - np.sin(y0)) / 0.5
    np.testing.assert_allclose(u, np.cos(x0) * np.sin(2 * y0), atol=1e-6)


def test_caustics_are_passed_by_composition():
    swing = HarmonicOscillator([(-12.0, 12.0)], n_modes=48)
    packet = Packet(1.0, 0.9, 1.5)
    u = swing.propagate(packet, [np.pi], max_step=np.pi / 4).h
    exact = np.exp(-0.5j * np.pi) * packet.value(-u.x.values)
    np.testing.assert_allclose(u.values[0, 0], exact, atol=1e-10)
    # A step that would reach the caustic is halved until the field is not compressed too much.
    longer = swing.propagate(packet, [np.pi], max_step=1.5).h
    np.testing.assert_allclose(longer.values, u.values, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RayPropagator(WIND, [(0, 1)] * 2, 1.0), "domain has 2 intervals"),
        (lambda: RayPropagator(WIND, [(1, 0)], 1.0), "start < stop"),
        (lambda: RayPropagator(WIND, CIRCLE, -1.0), "final_time is -1"),
        (lambda: RayPropagator(WIND, CIRCLE, 1.0, n_modes=0), "n_modes is 0"),
        (lambda: RayPropagator(WIND, CIRCLE, 1.0, n_steps=0), "n_steps is 0"),
        (lambda: RayPropagator(WIND, CIRCLE, 1.0, amplitude_order=2), "amplitude_order is 2"),
        (lambda: RayPropagator(WIND, CIRCLE, 1.0, amplitude_order=1), "u_tt = c"),
        (
            lambda: RayPropagator(Equation.from_text("u_t = v; v_t = sin(x)^2*u_xx"), CIRCLE, 1.0),
            r"the wave speed is 0 at x = 0\.0",
        ),
        (
            lambda: RayPropagator(WIND, CIRCLE, 1.0).propagate(Box(1, 2), [2.0]),
            r"t is 2: .*propagate\(\.\.\., max_step=1\)",
        ),
        (lambda: RayPropagator(WIND, CIRCLE, 1.0).propagate(Box(1, 2), [0.5], period=9.0), "torus"),
        (
            lambda: RayPropagator(WIND, CIRCLE, 1.0).propagate(Box(1, 2), [0.5], v0=Box(1, 2)),
            "v0 is given",
        ),
        (lambda: RayPropagator(WAVE, CIRCLE, 1.0)(torch.ones(1, 3, 64), 0.5), "3 channels"),
        (lambda: RayPropagator(WIND, CIRCLE, 1.0).choose_window(Box(1, 2), 0.0), "tolerance is 0"),
        (lambda: HarmonicOscillator(final_time=1.6), "below the caustic"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_aliased_periods_are_refused():
    from sciml.propagators import AliasedReconstruction

    swing = HarmonicOscillator([(-8.0, 8.0)], n_modes=32)
    packet, x = Packet(1.0, 0.9, 1.5), np.linspace(-8, 8, 65)
    good = swing.propagate(packet, [1.0], x=x).h.values
    for period in (18.0, 21.0, 25.0, 30.0, 36.0, 60.0):
        forced = swing.propagate(packet, [1.0], x=x, period=period, check=False).h.values
        wrong = np.abs(forced - good).max() > 1e-6
        if wrong:
            with pytest.raises(AliasedReconstruction, match="Wanted at least"):
                swing.propagate(packet, [1.0], x=x, period=period)
        if period == 18.0:
            assert wrong
        if period == 60.0:
            assert np.array_equal(swing.propagate(packet, [1.0], x=x, period=period).h, forced)


def test_coefficients_that_change_in_time_are_followed():
    rays = RayPropagator(Equation.from_text("u_t = -2*t*u_xxx"), [(0.0, 6.0)], 1.0, 4, n_steps=16)
    t, x, xi = (torch.tensor([v], dtype=torch.float64) for v in (0.5, 1.0, 2.0))
    assert rays.phase(t, x, xi).item() == pytest.approx(1.0 * 2.0 + 0.5**2 * 2.0**3, rel=1e-10)
