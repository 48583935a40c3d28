"""Short recordings, and data for which a first search goes wrong."""

from __future__ import annotations

import numpy as np
import pytest

import sciml

HEAT = 0.1


def heat(frames):
    x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, frames)
    u = sum(np.exp(-HEAT * k * k * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
    return u, {"x": x, "t": t}


@pytest.mark.parametrize("frames", [9, 10, 13, 17, 20, 23, 24, 29])
def test_few_frames_give_the_right_coefficient(frames):
    u, coords = heat(frames)
    model = sciml.discover(u, coords=coords)
    assert set(model.terms_["u"]) == {"u_xx"}
    assert model.terms_["u"]["u_xx"] == pytest.approx(HEAT, rel=1e-2 if frames < 13 else 1e-4)


@pytest.mark.parametrize("frames", [13, 20, 29])
def test_few_noisy_frames_have_honest_errors(frames):
    u, coords = heat(frames)
    deviations = []
    for seed in range(8):
        noisy = u + 0.05 * np.random.default_rng(seed).normal(size=u.shape)
        model = sciml.discover(noisy, coords=coords, library=["u_xx"])
        error = model.standard_errors_["u"]["u_xx"]
        deviations.append((model.terms_["u"]["u_xx"] - HEAT) / error)
    assert np.sqrt(np.mean(np.square(deviations))) < 2.0


def test_fewer_frames_than_a_window_needs_are_refused():
    u, coords = heat(8)
    with pytest.raises(ValueError, match=r"axis 't' has 8 points.*at least 9"):
        sciml.discover(u, coords=coords)


@pytest.fixture(scope="module")
def radial_decay():
    """u_t = u_xx / 4 - u_x / x, which a first search takes for u_t = -3 u."""
    from scipy.integrate import solve_ivp

    x = np.linspace(1, 2, 100)
    h = x[1] - x[0]

    def rate(_, u):
        out = np.zeros_like(u)
        second = (u[2:] - 2 * u[1:-1] + u[:-2]) / h**2
        first = (u[2:] - u[:-2]) / (2 * h)
        out[1:-1] = 0.25 * second - first / x[1:-1]
        return out

    t = np.linspace(0, 1, 200)
    start = -np.sin(np.pi * x)
    run = solve_ivp(rate, (0, 1), start, t_eval=t, method="LSODA", rtol=1e-9, atol=1e-11)
    return run.y, {"x": x, "t": t}


@pytest.mark.parametrize("level", [0.01, 0.05])
@pytest.mark.filterwarnings("ignore::sciml.discovery.DiscoveryWarning")
def test_an_equation_that_explains_the_data_beats_one_that_does_not(radial_decay, level):
    u, coords = radial_decay
    noisy = u + level * u.std() * np.random.default_rng(0).normal(size=u.shape)
    model = sciml.discover(noisy, coords=coords, library=["u_xx", "u_x/x", "u", "u*u_x"])
    assert set(model.terms_["u"]) == {"u_xx", "u_x/x"}
    assert model.terms_["u"]["u_x/x"] == pytest.approx(-1.0, abs=0.05)
    assert model.adequate_ == {"u": True}


def test_a_mapping_is_no_library():
    u, coords = heat(40)
    with pytest.raises(ValueError, match="library is a mapping"):
        sciml.discover(u, coords=coords, library={"u": ["u_xx"]})


def test_noise_that_is_not_white_widens_the_errors():
    u, coords = heat(80)
    rng = np.random.default_rng(0)
    white = u + 0.05 * rng.normal(size=u.shape)
    smooth = rng.normal(size=u.shape)
    smooth = u + 0.05 * (smooth + np.roll(smooth, 1, axis=1) + np.roll(smooth, 2, axis=1))
    plain = sciml.discover(white, coords=coords, library=["u_xx"])
    with pytest.warns(sciml.discovery.DiscoveryWarning, match=r"times what (white|the) noise"):
        wide = sciml.discover(smooth, coords=coords, library=["u_xx"])
    assert wide.chi2_["u"] > 1.5
    assert wide.standard_errors_["u"]["u_xx"] > plain.standard_errors_["u"]["u_xx"]
