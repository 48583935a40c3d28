"""Equations of second order in time: u_tt = c^2 u_xx."""

from __future__ import annotations

import numpy as np
import pytest

import sciml

SPEED = 1.5


@pytest.fixture(scope="module")
def standing_waves():
    x, t = np.arange(96) * 2 * np.pi / 96, np.linspace(0, 3, 160)
    rng = np.random.default_rng(0)
    u = sum(
        rng.normal()
        * np.cos(k * x[:, None] + rng.uniform(0, 6))
        * np.cos(SPEED * k * t + rng.uniform(0, 6))
        for k in range(1, 5)
    )
    return u, {"x": x, "t": t}


@pytest.mark.parametrize(("level", "accuracy"), [(0.0, 1e-8), (0.1, 5e-3)])
def test_the_wave_equation_is_found(standing_waves, level, accuracy):
    u, coords = standing_waves
    noisy = u + level * u.std() * np.random.default_rng(1).normal(size=u.shape)
    model = sciml.discover(noisy, coords=coords, periodic=True, time_order=2)
    assert list(model.terms_["u"]) == ["u_xx"]
    assert model.terms_["u"]["u_xx"] == pytest.approx(SPEED**2, rel=accuracy)
    assert model.adequate_ == {"u": True}
    assert model.equations()[0].startswith("u_tt = 2.2")
    assert model.latex().startswith("u_{tt} =")
    assert set(model.equation_.fields) == {"u", "u_rate"}
    assert model.score(noisy, coords=coords) > 0.98


def test_first_order_says_that_the_order_may_be_wrong(standing_waves):
    u, coords = standing_waves
    with pytest.warns(sciml.discovery.DiscoveryWarning, match="second order in time"):
        model = sciml.discover(u, coords=coords, periodic=True)
    assert model.adequate_ == {"u": False}


def test_other_orders_are_refused(standing_waves):
    u, coords = standing_waves
    with pytest.raises(ValueError, match="time_order must be 1 or 2, got 3"):
        sciml.discover(u, coords=coords, time_order=3)


def test_the_found_system_simulates(standing_waves):
    u, coords = standing_waves
    model = sciml.discover(u, coords=coords, periodic=True, time_order=2)
    rate = np.gradient(u, coords["t"], axis=1, edge_order=2)[:, 0]
    start = {"u": u[:, 0], "u_rate": rate}
    found = model.simulate(start, coords["t"][:80])
    error = np.linalg.norm(found.u.values.T - u[:, :80]) / np.linalg.norm(u[:, :80])
    assert error < 2e-2
