"""The torch backend gives what numpy gives."""

from __future__ import annotations

import numpy as np
import pytest

import sciml


@pytest.fixture(scope="module")
def recording():
    x, t = np.arange(96) * 2 * np.pi / 96, np.linspace(0, 2, 80)
    u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in range(1, 5))
    return u + 0.1 * np.random.default_rng(0).normal(size=u.shape), {"x": x, "t": t}


@pytest.mark.parametrize("extra", [(), ("u_x^2",)], ids=["conservative", "products"])
@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with gaps"])
@pytest.mark.filterwarnings("ignore::sciml.discovery.DiscoveryWarning")
def test_torch_agrees_with_numpy(recording, extra, gaps):
    u, coords = recording
    if gaps:
        u = u.copy()
        u[10:13, 20] = np.nan
    fits = [
        sciml.discover(
            u,
            coords=coords,
            periodic=True,
            backend=backend,
            library=sciml.Library(order=2, extra=extra),
        )
        for backend in ("numpy", "torch")
    ]
    assert fits[0].support_ == fits[1].support_ == {"u": ("u_xx",)}
    for name in ("chi2_", "coef_"):
        one, other = (getattr(fit, name)["u"] for fit in fits)
        np.testing.assert_allclose(one, other, rtol=1e-10)
    one, other = (fit.standard_errors_["u"]["u_xx"] for fit in fits)
    assert one == pytest.approx(other, rel=1e-10)


def test_unknown_backends_and_devices_are_refused(recording):
    u, coords = recording
    with pytest.raises(ValueError, match="backend must be 'numpy' or 'torch', got 'jax'"):
        sciml.discover(u, coords=coords, backend="jax")
    with pytest.raises(ValueError, match="needs backend='torch'"):
        sciml.discover(u, coords=coords, device="cuda")
