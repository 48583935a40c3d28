"""Terms whose coefficients are known move to the left-hand side."""

from __future__ import annotations

import numpy as np
import pytest

import sciml


@pytest.fixture(scope="module")
def diffusing_wave():
    """u_t = -u_x + 0.1 u_xx."""
    x, t = np.arange(96) * 2 * np.pi / 96, np.linspace(0, 2, 80)
    u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * (x[:, None] - t) + k**2) for k in range(1, 5))
    return u + 0.05 * np.random.default_rng(0).normal(size=u.shape), {"x": x, "t": t}


@pytest.mark.parametrize("known", [{"u_x": -1.0}, {"u": {"u_x": -1.0}}], ids=["flat", "by field"])
def test_known_terms_are_part_of_the_equation_without_error(diffusing_wave, known):
    u, coords = diffusing_wave
    model = sciml.discover(u, coords=coords, periodic=True, known=known)
    assert model.support_ == {"u": ("u_xx",)}
    assert model.terms_["u"]["u_x"] == -1.0
    assert model.standard_errors_["u"]["u_x"] == 0.0
    assert model.terms_["u"]["u_xx"] == pytest.approx(0.1, rel=0.02)
    assert model.chi2_["u"] == pytest.approx(1.0, abs=0.25)
    assert model.score(u, coords=coords) > 0.99


def test_known_products_keep_the_coefficient_as_written():
    """(u^2)_x and u*u_x differ by a factor of two; a known term outside the library is fine too."""
    x, t = np.arange(128) * 2 * np.pi / 128, np.linspace(0, 1, 100)
    e = np.exp(-0.1 * t)
    u = 0.2 * e * np.sin(x[:, None]) / (1.3 + e * np.cos(x[:, None]))
    for known in ({"u*u_x": -1.0}, {"(u^2)_x": -0.5}):
        library = sciml.Library(terms=["u", "u_x", "u_xx", "u_xxx"])
        model = sciml.discover(
            u, coords={"x": x, "t": t}, periodic=True, known=known, library=library
        )
        assert model.terms_["u"]["u*u_x"] == -1.0
        assert model.terms_["u"]["u_xx"] == pytest.approx(0.1, rel=1e-3)


def test_unknown_fields_are_refused(diffusing_wave):
    u, coords = diffusing_wave
    with pytest.raises(ValueError, match=r"known names 'w', but the targets are \['u'\]"):
        sciml.discover(u, coords=coords, known={"w": {"u_x": 1.0}})
