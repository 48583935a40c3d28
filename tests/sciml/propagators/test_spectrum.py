"""Coefficients of initial fields, exact and sampled, and fields that are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import xarray as xr

from pdes import Grid
from pdes.initial import RandomFourier
from sciml.propagators import (
    Box,
    Disc,
    Gaussian,
    Packet,
    PiecewiseConstant,
    PiecewiseLinear,
    Tent,
    spectrum_of,
)

LENGTH = 6.0
FIELDS = [
    Box(1.0, 2.5, 0.7),
    PiecewiseConstant((0.5, 1.0, 2.0), (1.0, -0.6)),
    Tent(3.0, 0.5),
    PiecewiseLinear((0.2, 1.0, 4.0), (1.0, -1.0), (0.5, 2.0)),
    Gaussian(3.0, 0.2),
    Packet(3.0, 0.3, 12.0, 0.5),
]


@pytest.mark.parametrize("field", FIELDS)
def test_transform_norm_and_tail_agree_with_quadrature(field):
    n = 400_000
    x = (np.arange(n) + 0.5) * LENGTH / n
    u = field.value(x)
    for xi in (0.0, 1e-4, 1.3, 40.0):
        numeric = (u * np.exp(-1j * xi * x)).mean() * LENGTH
        assert complex(field.transform(np.asarray(xi))) == pytest.approx(numeric, abs=5e-5)
    assert field.norm**2 == pytest.approx((u**2).mean() * LENGTH, abs=5e-5)
    K = 15
    k = np.arange(-K, K + 1)
    c = field.transform(2 * np.pi * k / LENGTH) / LENGTH
    whole = field.norm**2 - LENGTH * (np.abs(c) ** 2).sum()
    assert field.tail(length=LENGTH, n_modes=K) ** 2 == pytest.approx(whole, abs=1e-12)


def test_tail_on_the_line_is_what_the_circle_tends_to():
    for field in FIELDS:
        edge = 2 * np.pi * (400 + 0.5) / 600.0
        assert field.tail(length=600.0, n_modes=400) == pytest.approx(
            field.tail(cutoff=edge), rel=2e-3
        )


def test_sampled_coefficients_match_exact_ones():
    field = Gaussian(2.0, 0.3)
    exact = spectrum_of(field, domain=[(-1.0, 5.0)], n_modes=12)
    x = -1.0 + LENGTH * np.arange(128) / 128
    sampled = spectrum_of(field.value(x), domain=[(-1.0, 5.0)], n_modes=12)
    torch.testing.assert_close(sampled.coefficients, exact.coefficients, atol=1e-12, rtol=0)
    torch.testing.assert_close(sampled.tail, exact.tail, atol=1e-9, rtol=0)
    tensor = torch.as_tensor(field.value(x), dtype=torch.float32)[None, None].expand(2, 1, -1)
    single = spectrum_of(tensor, domain=[(-1.0, 5.0)], n_modes=12)
    assert single.coefficients.dtype == torch.complex128
    assert len(single) == 2
    family = spectrum_of(RandomFourier(modes=6), domain=[(0.0, LENGTH)], n_modes=12)
    assert float(family.tail[0]) == pytest.approx(0.0, abs=1e-12)


def test_line_samples_match_exact_ones():
    field = Packet(0.3, 0.4, 5.0)
    options = {"domain": [(-4.0, 4.0)], "n_modes": 40, "periods": [13.0], "periodic": False}
    exact = spectrum_of(field, **options)
    sampled = spectrum_of(field.value(np.linspace(-4, 4, 161)), **options)
    torch.testing.assert_close(sampled.coefficients, exact.coefficients, atol=1e-12, rtol=0)


def test_disc_in_the_plane():
    disc = Disc((3.0, 3.0), 1.0)
    spectrum = spectrum_of(disc, domain=[(0.0, LENGTH)] * 2, n_modes=20)
    inside = float(spectrum.energy(spectrum.coefficients)[0])
    assert math.sqrt(disc.norm**2 - inside) == pytest.approx(float(spectrum.tail[0]), rel=0.02)


def test_lanczos_window_on_a_box():
    spectrum = spectrum_of(Box(1.0, 2.5), domain=[(0.0, LENGTH)], n_modes=200)
    damped = spectrum.windowed("lanczos")
    ratio = float(damped.tail[0] / spectrum.tail[0]) ** 2
    s = (np.arange(100_000) + 0.5) / 100_000  # damping of isolated jumps in the limit of many modes
    assert ratio == pytest.approx(1 + ((1 - np.sinc(s)) ** 2 / s**2).mean(), rel=5e-3)
    x = torch.linspace(0.9, 1.3, 4001, dtype=torch.float64)
    from sciml.propagators.oscillatory_integral import fourier_sum

    u = fourier_sum(damped.coefficients, damped.periods, x)[0].real
    assert float(u.max()) - 1.0 == pytest.approx(0.012, abs=0.001)


def test_fields_are_families_of_initial_fields():
    grid = Grid.periodic(x=(0.0, LENGTH, 64))
    u = Box(5.0, 7.0)(grid, np.random.default_rng(0))["u"]
    assert u[0] == 1.0 and u.mean() == pytest.approx(2.0 / 6.0, abs=0.02)


def _array(x, u=None):
    return xr.DataArray(np.ones(len(x)) if u is None else u, dims="x", coords={"x": x})


GRID = LENGTH * np.arange(64) / 64


@pytest.mark.parametrize(
    ("field", "options", "message"),
    [
        (np.full(64, np.nan), {}, "u0 holds NaN"),
        (np.ones(64) + 1j, {}, "u0 is complex, but the equation is real"),
        (np.ones(8), {}, "Nyquist mode is 4.*at most n_modes=3"),
        (np.ones((4, 8)), {}, "wanted 1"),
        (torch.ones(64), {}, r"wanted \(batch, 1, x\)"),
        (torch.ones(2, 3, 64), {}, r"shape \(2, 3, 64\)"),
        (_array(np.sort(np.r_[GRID[:-1], 0.01])), {}, "not on a uniform grid along x"),
        (_array(GRID + 1.0), {}, r"covers \[1, 7\] along x: wanted the domain \[0, 6\]"),
        (xr.DataArray(np.ones((3, 4, 64)), dims=("a", "time", "x")), {}, "at most one more"),
        (Disc((0, 0), 1.0), {}, "of dimension 2"),
        (Box(0, 1), {"n_modes": 0}, "n_modes is 0"),
        (Box(0, 9), {"periodic": False}, "covers 9, more than the period"),
        ([], {}, "u0 is empty"),
    ],
)
def test_bad_fields_are_refused(field, options, message):
    with pytest.raises(ValueError, match=message):
        spectrum_of(field, **{"domain": [(0.0, LENGTH)], "n_modes": 12, **options})


def test_unknown_kinds_are_refused():
    with pytest.raises(TypeError, match="u0 is str: wanted a field such as Box"):
        spectrum_of("box", domain=[(0.0, LENGTH)], n_modes=12)
    with pytest.raises(ValueError, match="half_width is 0"):
        Tent(0.0, 0.0)
    with pytest.raises(ValueError, match="wanted increasing"):
        Box(1.0, 0.0)
    with pytest.raises(ValueError, match="window is 'hann'"):
        spectrum_of(Box(0, 1), domain=[(0.0, 6.0)], n_modes=3).windowed("hann")
