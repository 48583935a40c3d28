"""Random fields have the variances of their formulas, and refinement only adds to them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pdes import Axis, Grid
from pdes.initial import (
    DecayingFourier,
    GaussianClusters,
    GaussianRandomField,
    TurbulentVelocity,
    WindowedSines,
    gaussian_random_field,
)
from pdes.initial.modes import ModeAxis, draw, synthesize

DRAWS = 4000
SETTINGS = {"tau": 5.0, "alpha": 2.0, "sigma": 25.0}


def basis(kind, k, parity, x, length):
    """Orthonormal function of one axis, written out."""
    scale = np.sqrt((1.0 if k == 0 else 2.0) / length)
    angle = (2.0 if kind == "periodic" else 1.0) * np.pi * k / length * x
    sine = kind == "dirichlet" or parity == "sin"
    return scale * (np.sin(angle) if sine else np.cos(angle))


def weights(kind, points, length, centered):
    """Nodes and quadrature weights that are exact for products of two retained modes."""
    if centered:
        h = length / points
        return h * (np.arange(points) + 0.5), np.full(points, h)
    if kind == "periodic":
        h = length / points
        return h * np.arange(points), np.full(points, h)
    h = length / (points - 1)
    w = np.full(points, h)
    w[[0, -1]] *= 0.5
    return h * np.arange(points), w


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("kind", ["periodic", "dirichlet", "neumann"])
def test_variance_of_each_mode_follows_the_formula(kind, centered):
    points, length = 24, 1.5
    x, w = weights(kind, points, length, centered)
    rng = np.random.default_rng(7)
    fields = np.stack(
        [
            gaussian_random_field(
                points, boundary=kind, lengths=length, centered=centered, rng=rng, **SETTINGS
            )
            for _ in range(DRAWS)
        ]
    )
    axis = ModeAxis(kind, points, length, centered)
    checked = 0
    for position, k in enumerate(axis.frequencies):
        parity = "sin" if kind == "periodic" and position >= axis.cutoff else "cos"
        found = np.mean((fields @ (w * basis(kind, k, parity, x, length))) ** 2)
        wave = (2.0 if kind == "periodic" else 1.0) * np.pi * k / length
        expected = 0.0 if k == 0 else 625.0 * (wave**2 + 25.0) ** -2.0
        # The mean of n squared normal numbers has the standard error sqrt(2/n).
        assert abs(found - expected) <= 4.0 * np.sqrt(2.0 / DRAWS) * expected + 1e-25
        checked += 1
    assert checked == axis.frequencies.size >= 22


def test_variance_of_each_mode_in_two_dimensions_with_two_kinds_of_boundary():
    grid = Grid((Axis("x", 0.0, 1.0, 12), Axis("y", 0.0, 2.0, 9, periodic=False)))
    family = GaussianRandomField(alpha=2.0, tau=3.0, sigma=2.0, boundary={"y": "neumann"})
    rng = np.random.default_rng(3)
    fields = np.stack([family(grid, rng)["u"] for _ in range(DRAWS)])
    x, wx = weights("periodic", 12, 1.0, False)
    y, wy = weights("neumann", 9, 2.0, False)
    outside = 0
    pairs = list(itertools.product(range(6), range(8)))
    for k, m in pairs:
        f = np.outer(wx * basis("periodic", k, "cos", x, 1.0), wy * basis("neumann", m, "", y, 2.0))
        found = np.mean(np.einsum("sxy,xy->s", fields, f) ** 2)
        wave = (2 * np.pi * k) ** 2 + (np.pi * m / 2.0) ** 2
        expected = 0.0 if k == m == 0 else 4.0 * (wave + 9.0) ** -2.0
        outside += abs(found - expected) > 4.0 * np.sqrt(2.0 / DRAWS) * expected + 1e-25
    assert outside == 0, f"{outside} of {len(pairs)}"


@pytest.mark.parametrize("shape", [(64,), (12, 16), (6, 8, 10)])
@pytest.mark.parametrize("kind", ["periodic", "dirichlet", "neumann"])
def test_the_same_seed_on_a_finer_grid_agrees_on_shared_modes(kind, shape):
    fine_shape = tuple(2 * n for n in shape)
    if kind != "periodic":
        shape, fine_shape = (tuple(n + 1 for n in s) for s in (shape, fine_shape))
    coarse, fine = (tuple(ModeAxis(kind, n, 1.0) for n in s) for s in (shape, fine_shape))
    few, many = (draw(axes, np.random.default_rng(5)) for axes in (coarse, fine))
    picks = []
    for a, b in zip(coarse, fine, strict=True):
        rows = np.arange(a.frequencies.size)
        if kind == "periodic":
            rows = np.where(rows >= a.cutoff, rows - a.cutoff + b.cutoff, rows)
        picks.append(rows)
    shared = many[np.ix_(*picks)]
    assert np.array_equal(shared, few)
    # The coarse points are among the fine ones, and the field restricted to shared modes is equal.
    kept = np.zeros_like(many)
    kept[np.ix_(*picks)] = shared
    on_fine = synthesize(fine, kept)[(slice(None, None, 2),) * len(shape)]
    np.testing.assert_allclose(on_fine, synthesize(coarse, few), rtol=0, atol=1e-12)


def test_dirichlet_vanishes_and_neumann_is_flat_at_the_ends():
    rng = np.random.default_rng(0)
    settings = {"tau": 3.0, "alpha": 6.0, "rng": rng}
    u = gaussian_random_field((33, 33), boundary="dirichlet", **settings)
    assert np.abs(u[[0, -1]]).max() == np.abs(u[:, [0, -1]]).max() == 0.0 < np.abs(u).max()
    v = gaussian_random_field(257, boundary="neumann", **settings)
    slope = (-3 * v[0] + 4 * v[1] - v[2]) * 128
    assert abs(slope) < 1e-3 * np.abs(np.diff(v)).max() * 256


@pytest.mark.parametrize(("shape", "alpha"), [((8,), 0.5), ((8, 8), 1.0), ((8, 8, 8), 1.5)])
def test_alpha_of_half_the_dimension_is_refused(shape, alpha):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=rf"alpha={alpha} in {len(shape)}D.*alpha > {alpha:g}"):
        gaussian_random_field(shape, tau=1.0, alpha=alpha, rng=rng)
    assert gaussian_random_field(shape, tau=1.0, alpha=alpha + 0.1, rng=rng).shape == shape


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tau": -1.0}, "tau=-1.0"),
        ({"sigma": np.nan}, "sigma=nan"),
        ({"tau": 0.0, "zero_mean": False}, "constant mode"),
        ({"boundary": "robin"}, "robin"),
        ({"boundary": ("periodic", "neumann")}, "one entry for each axis"),
    ],
)
def test_bad_parameters_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        gaussian_random_field(
            16, **{"tau": 1.0, "alpha": 2.0, "rng": np.random.default_rng(0), **change}
        )


def test_an_axis_that_is_not_periodic_must_be_named():
    grid = Grid((Axis("x", 0.0, 1.0, 17, periodic=False),))
    with pytest.raises(ValueError, match="'x' is not periodic"):
        GaussianRandomField(alpha=2.0, tau=1.0)(grid, np.random.default_rng(0))
    with pytest.raises(ValueError, match="boundary='periodic' on axis 'x'"):
        GaussianRandomField(alpha=2.0, tau=1.0, boundary="periodic")(grid, np.random.default_rng(0))


def test_the_compat_flag_reproduces_wave_numbers_that_do_not_close():
    grid = Grid.periodic(x=(0.0, 1.0, 64))
    ours, theirs = (
        WindowedSines(terms=1, fold_probability=0, window_probability=0, compat=flag)(
            grid, np.random.default_rng(2)
        )["u"]
        for flag in (False, True)
    )
    closed, open_ = (np.sort(np.abs(np.fft.rfft(u)))[::-1] for u in (ours, theirs))
    assert closed[1] < 1e-12 * closed[0]
    assert open_[1] > 1e-2 * open_[0]
    # Their sine is ours with n waves on the distance from the first point to the last.
    k = int(np.argmax(np.abs(np.fft.rfft(ours))))
    x = grid.coordinates()["x"]
    design = np.stack([np.sin(2 * np.pi * k * x * 64 / 63), np.cos(2 * np.pi * k * x * 64 / 63)], 1)
    rest = np.linalg.lstsq(design, theirs, rcond=None)[1]
    assert rest[0] < 1e-24 * 64


def test_folding_and_windows_come_as_often_as_asked():
    grid = Grid.periodic(x=(0.0, 1.0, 64))
    rng = np.random.default_rng(0)
    draws = [WindowedSines(window_probability=0.0)(grid, rng)["u"] for _ in range(2000)]
    folded = np.mean([u.min() >= 0.0 or u.max() <= 0.0 for u in draws])
    assert abs(folded - 0.1) < 4 * np.sqrt(0.1 * 0.9 / 2000)
    windowed = WindowedSines(fold_probability=0.0, window_probability=1.0)(grid, rng)["u"]
    assert np.abs(windowed[[0, -1]]).max() < 1e-7


def test_decaying_fourier_has_its_spectrum():
    grid = Grid.periodic(x=(0.0, 3.0, 16))
    rng = np.random.default_rng(1)
    fields = np.stack(
        [DecayingFourier(modes=4, decay=1.5, amplitude=2.0)(grid, rng)["u"] for _ in range(DRAWS)]
    )
    spectrum = np.fft.rfft(fields) / 16
    for k in range(1, 5):
        found = np.mean(2.0 * spectrum[:, k].real ** 2)
        expected = (2.0 * k**-1.5) ** 2
        assert abs(found - expected) < 4.0 * np.sqrt(2.0 / DRAWS) * expected
    assert np.abs(spectrum[:, [0, 5, 6, 7, 8]]).max() < 1e-12


@pytest.mark.parametrize("dimension", [2, 3])
def test_turbulence_is_solenoidal_with_the_energy_of_its_shells(dimension):
    points, draws = (32, 400) if dimension == 2 else (16, 200)
    names = "xyz"[:dimension]
    grid = Grid.periodic(**dict.fromkeys(names, (0.0, 1.0, points)))
    family = TurbulentVelocity(lowest=2, highest=6, speed=1.5, fields=("u", "v", "w")[:dimension])
    rng = np.random.default_rng(0)
    waves = np.meshgrid(*[np.fft.fftfreq(points, 1 / points)] * dimension, indexing="ij")
    shell = np.floor(np.sqrt(sum(k**2 for k in waves)) + 0.5).astype(int)
    energies = []
    for _ in range(draws):
        flow = np.stack(list(family(grid, rng).values()))
        spectrum = np.fft.fftn(flow, axes=range(1, dimension + 1)) / points**dimension
        divergence = sum(k * part for k, part in zip(waves, spectrum, strict=True))
        assert np.abs(divergence).max() < 1e-13
        power = 0.5 * np.sum(np.abs(spectrum) ** 2, axis=0)
        energies.append(np.bincount(shell.ravel(), power.ravel(), minlength=8)[:8])
    energies = np.array(energies)
    error = energies.std(axis=0, ddof=1) / np.sqrt(draws)
    expected = np.zeros(8)
    expected[2:7] = family.shell_energies()
    assert np.all(np.abs(energies.mean(axis=0) - expected) <= 4.0 * error + 1e-25)
    ratio = expected[6] / expected[2]
    assert ratio == pytest.approx(3.0 ** (-5.0 / 3.0))
    assert 2.0 * expected.sum() == pytest.approx(1.5**2)


def test_clusters_are_smooth_across_the_seam_and_bounded():
    grid = Grid.periodic(x=(-1.0, 1.0, 128), y=(-1.0, 1.0, 128))
    family = GaussianClusters(fields={"A": (1.0, -0.5), "B": (0.0, 0.25)}, fewest=1, most=1)
    for seed in range(20):
        found = family(grid, np.random.default_rng(seed))
        assert 0.2 < found["B"].max() <= 0.25
        assert found["B"].min() >= 0.0
        spectrum = np.abs(np.fft.fft2(found["B"]))
        assert spectrum[64].max() < 1e-6 * spectrum.max()
    crowd = GaussianClusters(fields={"A": (1.0, -0.5)}, fewest=60, most=60, widest=0.2)
    assert crowd(grid, np.random.default_rng(0))["A"].min() >= 0.5


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: WindowedSines(terms=0), "terms=0"),
        (lambda: WindowedSines(window_probability=1.5), "window_probability=1.5"),
        (lambda: WindowedSines(edge=0.0), "edge=0.0"),
        (lambda: GaussianClusters(fields={}, fewest=5, most=4), "fewest=5"),
        (lambda: GaussianClusters(fields={}, widest=0.5), "widest=0.5"),
        (lambda: DecayingFourier(modes=0, decay=1.0), "modes"),
        (lambda: DecayingFourier(modes=1, decay=np.inf), "finite"),
        (lambda: TurbulentVelocity(lowest=3, highest=2), "lowest=3"),
        (lambda: TurbulentVelocity(lowest=1, highest=2, speed=0.0), "speed=0.0"),
        (lambda: TurbulentVelocity(lowest=1, highest=2, fields=("u",)), "two or three"),
    ],
)
def test_families_refuse_what_makes_no_sense(build, words):
    with pytest.raises(ValueError, match=words):
        build()


@pytest.mark.parametrize(
    "family",
    [
        WindowedSines(highest=8),
        DecayingFourier(modes=8, decay=1.0),
        TurbulentVelocity(lowest=1, highest=8),
    ],
)
def test_a_grid_that_is_too_coarse_is_refused(family):
    axes = {"x": (0.0, 1.0, 16)}
    if isinstance(family, TurbulentVelocity):
        axes["y"] = (0.0, 1.0, 16)
    with pytest.raises(ValueError, match="16"):
        family(Grid.periodic(**axes), np.random.default_rng(0))
