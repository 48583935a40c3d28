"""A speed recovered from noisy fields."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sciml.propagators import WaveSpeedInversion, spectrum_of

LENGTH = 2 * np.pi


def speed(x):
    return 1 + 0.3 * np.sin(x) + 0.1 * np.cos(2 * x)


def experiment(wave, noise):
    x, t = LENGTH * np.arange(24) / 24, np.linspace(0.4, 2.4, 6)
    grid = LENGTH * np.arange(256) / 256
    u0 = np.sin(grid) + 0.5 * np.cos(2 * grid) + 0.5 * np.sin(3 * grid + 1)
    fine = WaveSpeedInversion(domain=(0.0, LENGTH), n_modes=24, n_steps=40, wave=wave)
    true = torch.tensor([1.0, 0, 0.1, 0, 0, 0.3, 0, 0, 0], dtype=torch.float64)
    spectrum = spectrum_of(u0, domain=[(0.0, LENGTH)], n_modes=24)
    data = fine.simulated(true, spectrum, torch.as_tensor(t), torch.as_tensor(x)).numpy()
    data = data + noise * np.random.default_rng(0).normal(size=data.shape)
    return u0, t, x, data


@pytest.mark.parametrize(("wave", "noise", "within"), [(False, 0.0, 1e-3), (False, 0.01, 0.01)])
def test_speed_is_found(wave, noise, within):
    fit = WaveSpeedInversion(domain=(0.0, LENGTH), n_speed_modes=4, wave=wave)
    seen = []
    found = fit(*experiment(wave, noise), guess=1.0, callback=lambda n, loss: seen.append(loss))
    assert found.error(speed) <= within
    assert found.misfit == pytest.approx(noise, abs=0.002)
    assert len(seen) == found.evaluations and seen[-1] < seen[0]
    assert "4 modes" in str(found) and found.plot().get_ylabel() == "speed"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": np.ones((2, 2))}, r"data has shape \(2, 2\)"),
        ({"data": np.full((6, 24), np.nan)}, "data holds NaN"),
        ({"guess": 0.0}, "guess is 0"),
        ({"times": np.zeros(6)}, "positive times"),
    ],
)
def test_bad_input(change, message):
    u0, times, x, data = np.ones(64), np.linspace(0.4, 1, 6), np.arange(24.0), np.ones((6, 24))
    arguments = {"times": times, "x": x, "data": data, "guess": 1.0} | change
    with pytest.raises(ValueError, match=message):
        WaveSpeedInversion(domain=(0.0, LENGTH))(u0, **arguments)
