"""Exponents learned about corners: clean, noisy, truncated, several materials, cones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from pdes.exact import Cone, Sectors, Wedge, corner_spectrum, kellogg_contrast, kellogg_phase
from pdes.exact.corner_constants import MOTZ_COEFFICIENTS
from sciml.powerlaw import WedgeFit, WedgeSamples, admissible_exponent, characteristic_matrix
from sciml.powerlaw.admissible import angular_factors
from sciml.powerlaw.blocks import legendre
from sciml.powerlaw.wedge_model import WedgeModel
from sciml.powerlaw.wedge_samples import as_samples, row_system

PI = math.pi
NOTCH = 1.5 * PI


def arc(omega=NOTCH, points=120):
    return np.linspace(0.0, omega, points)


def mode(bc, mu, theta):
    return np.sin(mu * theta) if bc[0] == "D" else np.cos(mu * theta)


def motz_samples(n=40):
    side = 0.5 + 0.5 * np.polynomial.legendre.leggauss(n)[0]
    wide = np.polynomial.legendre.leggauss(2 * n)[0]
    return [
        WedgeSamples(np.hypot(1, side), np.arctan2(side, 1), np.full(n, 500.0)),
        WedgeSamples(np.hypot(wide, 1), np.arctan2(1, wide), np.zeros(2 * n), direction=PI / 2),
        WedgeSamples(np.hypot(1, side), np.arctan2(side, -1), np.zeros(n), direction=PI),
    ]


@pytest.mark.parametrize("degrees", [90, 270, 360])
@pytest.mark.parametrize("bc", ["DD", "NN", "DN", "ND"])
def test_one_mode_is_found_without_a_start(degrees, bc):
    omega = math.radians(degrees)
    mu = (1.0 if bc in ("DD", "NN") else 0.5) * PI / omega
    fit = WedgeFit(omega, bc).fit(arc=(arc(omega), 2.0 * mode(bc, mu, arc(omega))))
    assert fit.exponents_ == pytest.approx([mu], rel=1e-13)
    assert abs(fit.amplitudes_[0]) == pytest.approx(2.0, rel=1e-12)
    assert fit.status_ == "ok"
    assert fit.quantize().exponents_ == pytest.approx([mu], rel=4e-15)


def test_three_modes_jointly():
    mus, sizes = np.array([1, 2, 3]) * 2 / 3, (1.0, -0.4, 0.25)
    data = sum(c * np.sin(mu * arc()) for c, mu in zip(sizes, mus, strict=True))
    fit = WedgeFit(NOTCH, "DD", order=3).fit(arc=(arc(), data))
    assert fit.exponents_ == pytest.approx(mus, rel=1e-12)
    assert fit.amplitudes_ == pytest.approx(sizes, rel=1e-11)


def test_order_is_found():
    mus = np.array([0.5, 1.5]) * PI / NOTCH
    data = np.cos(mus[0] * arc()) + 0.3 * np.cos(mus[1] * arc())
    fit = WedgeFit(NOTCH, "ND", order="auto").fit(arc=(arc(), data))
    assert fit.exponents_ == pytest.approx(mus, rel=1e-12)
    noisy = data + 1e-3 * np.random.default_rng(1).normal(size=data.size)
    fit = WedgeFit(NOTCH, "ND", order="auto").fit(arc=(arc(), noisy))
    assert fit.exponents_.size == 2


def test_neumann_corner_keeps_its_constant():
    fit = WedgeFit(NOTCH, "NN").fit(arc=(arc(), 5.0 + np.cos(2 / 3 * arc())))
    assert fit.constant_ == pytest.approx(5.0, abs=1e-12)
    assert fit.exponents_ == pytest.approx([2 / 3], rel=1e-13)
    assert fit.quantize().constant_ == pytest.approx(5.0, abs=1e-12)


@pytest.mark.parametrize("data", ["quadratic", "skew"])
def test_truncated_data_are_quantized(data):
    values = arc() * (NOTCH - arc()) * (np.exp(arc() / 3) if data == "skew" else 1.0)
    fit = WedgeFit(NOTCH, "DD", order=2).fit(arc=(arc(), values), W=100.0)
    exact = fit.quantize()
    multiples = exact.exponents_ / (2 / 3)
    assert multiples == pytest.approx([1, 3] if data == "quadratic" else [1, 2], abs=1e-13)
    assert exact.terms_ == ("quantized", "quantized")
    assert exact.status_ == "poor_fit"  # the rest of the series is no noise
    assert np.all(exact.standard_errors_ == 0.0)
    assert 1e-8 < abs(exact.shifts_[0]) < 1e-3  # the learned one was close, not exact


def test_quantizing_hides_nothing():
    theta, rng = arc(), np.random.default_rng(3)
    wrong = np.sin(2 / 3 * theta) + 0.2 * np.sin(8 / 3 * theta)  # a mode more than asked for
    fit = WedgeFit(NOTCH, "DD").fit(arc=(theta, wrong), W=10.0, noise=1e-3)
    assert (fit.status_, fit.quantize().status_) == ("poor_fit", "poor_fit")
    assert fit.quantize().terms_ == ("quantized",)
    assert "times the noise" in fit.quantize().advice_ and "extend()" in fit.quantize().advice_
    full = fit.quantize().extend(4)
    assert (full.status_, full.residual_) == ("quantized", pytest.approx(0.0, abs=1e-12))
    noisy = np.sin(2 / 3 * theta) + 1e-3 * rng.normal(size=theta.size)
    good = WedgeFit(NOTCH, "DD").fit(arc=(theta, noisy), W=10.0)
    assert (good.status_, good.quantize().status_) == ("ok", "quantized")
    twice = WedgeFit(NOTCH, "DD", order=2).fit(arc=(theta, noisy), W=10.0)
    assert (twice.status_, twice.quantize().status_) == ("superfluous", "superfluous")
    assert twice.quantize().terms_ == ("quantized", "quantized")
    one = WedgeFit(NOTCH, "DD").fit(arc=(theta[5:6], noisy[5:6]))
    assert one.quantize().status_ == "saturated"


def test_weak_edges_let_exponents_drift():
    theta = arc(points=200)
    values = theta * (NOTCH - theta) * np.exp(theta / 3)
    fit = WedgeFit(NOTCH, "DD", order=2).fit(arc=(theta, values), W=1.0)
    assert fit.exponents_[0] / (2 / 3) - 1 == pytest.approx(0.13, abs=0.01)
    quantized = fit.quantize()
    assert quantized.status_ == "unquantized"
    assert quantized.terms_ == ("quantized", "unquantized")
    assert "raise W" in quantized.advice_


@pytest.mark.parametrize(
    "sectors", [[(PI / 2, 1), (PI, 10)], [(PI, 1), (PI / 2, 10)], [(PI / 2, 1), (PI, 100)]]
)
def test_two_materials(sectors):
    mu = corner_spectrum(Sectors(sectors), 1)[0]
    (first, _), (second, _) = sectors
    theta = arc()
    data = np.where(
        theta < first,
        np.sin(mu * theta) * np.sin(mu * second),
        np.sin(mu * first) * np.sin(mu * (NOTCH - theta)),
    )
    fit = WedgeFit(sectors, "DD").fit(arc=(theta, data))
    assert fit.exponents_ == pytest.approx([mu], abs=1e-12)
    assert fit.predict(1.0, theta) == pytest.approx(data, abs=1e-12)
    assert fit.quantize().predict(0.5, theta) == pytest.approx(0.5**mu * data, abs=1e-12)


def test_kellogg_from_four_sectors():
    g, rho, sigma = 0.1, PI / 4, float(kellogg_phase("0.1"))
    theta = np.linspace(0.0, 2 * PI, 240, endpoint=False)
    parts = [
        math.cos((PI / 2 - sigma) * g) * np.cos((theta - PI / 2 + rho) * g),
        math.cos(rho * g) * np.cos((theta - PI + sigma) * g),
        math.cos(sigma * g) * np.cos((theta - PI - rho) * g),
        math.cos((PI / 2 - rho) * g) * np.cos((theta - 3 * PI / 2 - sigma) * g),
    ]
    quarter = np.minimum(theta // (PI / 2), 3).astype(int)
    data = np.choose(quarter, parts)
    contrast = float(kellogg_contrast("0.1"))
    fit = WedgeFit([(PI / 2, contrast), (PI / 2, 1.0)] * 2, "periodic").fit(arc=(theta, data))
    assert fit.exponents_ == pytest.approx([0.1], abs=1e-13)
    assert fit.constant_ == pytest.approx(0.0, abs=1e-12)
    assert fit.quantize().residual_ < 1e-13


def test_cone():
    half = 0.75 * PI
    nus = [float(nu) for nu in corner_spectrum(Cone(half), 2).exponents]
    theta = np.linspace(0.0, half, 60)
    one = np.ones(60)
    data = legendre(one, theta, nus[0]).value - 0.4 * legendre(one, theta, nus[1]).value
    fit = WedgeFit(Cone(half), order=2, bounds=(0.05, 3)).fit(arc=(theta, data), edges=20)
    assert fit.exponents_ == pytest.approx(nus, rel=1e-12)
    assert fit.coefficients_.shape == (2, 1, 1)
    exact = fit.quantize()
    assert exact.exponents_ == pytest.approx(nus, rel=1e-14)
    assert exact.predict(1.0, theta) == pytest.approx(data, abs=1e-13)


def test_motz_from_unknown_exponents_to_fifty_terms():
    fit = WedgeFit(PI, "ND", order=4).fit(arc=motz_samples(), W=1e6)
    assert fit.exponents_ == pytest.approx([0.5, 1.5, 2.5, 3.5], abs=1e-5)
    series = fit.quantize().extend(50)
    printed = [float(text) for text in MOTZ_COEFFICIENTS[:4]]
    assert series.amplitudes_[:4] == pytest.approx(printed, rel=1e-12)
    assert series.exponents_.size == 50
    assert series.predict(math.hypot(1, 0.5), math.atan2(0.5, 1)) == pytest.approx(500, rel=1e-12)


def test_start_of_the_sector_and_branch():
    """A notch that opens to the lower right, its data in the branch of atan2."""
    theta = arc()
    turned = (theta + 0.7 + PI) % (2 * PI) - PI
    fit = WedgeFit(NOTCH, "DD", start=0.7).fit(arc=(turned, np.sin(2 / 3 * theta)))
    assert fit.exponents_ == pytest.approx([2 / 3], rel=1e-13)
    assert fit.predict(1.0, turned) == pytest.approx(np.sin(2 / 3 * theta), abs=1e-12)


def test_full_angle_keeps_both_sides_of_a_crack():
    theta = np.linspace(0.0, 2 * PI, 80)
    fit = WedgeFit(2 * PI, "NN").fit(arc=(theta, np.cos(theta / 2)))
    assert fit.exponents_ == pytest.approx([0.5], rel=1e-13)
    assert fit.predict([1.0, 1.0], [0.0, 2 * PI]) == pytest.approx([1.0, -1.0], abs=1e-12)


def test_noisy_edges_give_honest_error_bars():
    rng, sigma = np.random.default_rng(5), 1e-3
    radii = np.geomspace(1e-3, 1.0, 40)
    pulls = []
    for _ in range(20):
        data = np.sin(2 / 3 * arc()) + sigma * rng.normal(size=120)
        edges = (radii, sigma * rng.normal(size=(2, 40)))
        fit = WedgeFit(NOTCH, "DD").fit(arc=(arc(), data), edges=edges, noise=sigma)
        pulls.append((fit.exponents_[0] - 2 / 3) / fit.standard_errors_[0])
    assert np.std(pulls) == pytest.approx(1.0, abs=4 / math.sqrt(2 * 19))
    assert abs(np.mean(pulls)) < 4 / math.sqrt(20)


def test_derivatives_of_the_columns():
    """Against central differences, for values, fluxes and slanted derivatives."""
    corner = Sectors([(1.0, 2.0), (2.0, 5.0)], "DN")
    theta = np.linspace(0.1, 2.9, 7)
    samples = [
        *as_samples((np.full(7, 0.5), theta, theta)),
        WedgeSamples(0.7, theta, theta, direction=0.3),
    ]
    model = WedgeModel(corner, row_system(corner, samples, 0.0, 5, 1.0), False)
    mu, step = np.array([[0.6, 1.7]]), 1e-5
    columns, slopes = model(mu)
    for place, (j, k) in enumerate(zip(slopes.parameter, slopes.column, strict=True)):
        shift = step * np.eye(2)[j]
        numeric = (model(mu + shift)[0] - model(mu - shift)[0])[0, :, k] / (2 * step)
        assert slopes.values[0, place] == pytest.approx(numeric, abs=1e-8)
    # The slanted derivative of each column, from values at displaced points.
    for k in range(8):
        ends = []
        for sign in (1, -1):
            x = 0.7 * np.cos(theta) + sign * step * math.cos(0.3)
            y = 0.7 * np.sin(theta) + sign * step * math.sin(0.3)
            moved = as_samples((np.hypot(x, y), np.arctan2(y, x), theta))
            ends.append(
                WedgeModel(corner, row_system(corner, moved, 0.0, None, 1.0), False)(mu)[0][0]
            )
        assert columns[0, 7:14, k] == pytest.approx(
            (ends[0] - ends[1])[:, k] / (2 * step), abs=1e-8
        )


def test_characteristic_matrix_is_singular_on_the_spectrum():
    corner = Sectors([(PI / 2, 1.0), (PI, 10.0)])
    mu = corner_spectrum(corner, 1)[0]
    matrix, slope = characteristic_matrix(corner, mu)
    assert matrix.shape == (4, 4)
    assert np.linalg.svd(matrix)[1][-1] < 1e-15
    ahead, _ = characteristic_matrix(corner, mu + 1e-6)
    assert (ahead - matrix) / 1e-6 == pytest.approx(slope, abs=1e-5)
    assert np.linalg.svd(ahead)[1][-1] > 1e-8


def test_admissible_exponents_of_double_multiplicity():
    ring = Sectors([(PI, 3.0), (PI, 3.0)], "periodic")
    assert admissible_exponent(ring, 1.07) == pytest.approx(1.0, abs=1e-14)
    factors = angular_factors(ring, 1.0)
    assert factors.shape == (2, 4)
    matrix, _ = characteristic_matrix(ring, 1.0)
    assert np.abs(matrix @ factors.T).max() < 1e-13


def test_statuses_are_never_silent():
    theta = arc()
    assert WedgeFit(NOTCH).fit(arc=(theta, 0 * theta)).status_ == "zero"
    constant = WedgeFit(NOTCH, "NN").fit(arc=(theta, 0 * theta + 3))
    assert (constant.status_, constant.constant_) == ("constant", pytest.approx(3.0))
    assert constant.predict(0.3, 1.0) == pytest.approx(3.0)
    bound = WedgeFit(NOTCH, bounds=(1.0, 1.2)).fit(arc=(theta, np.sin(2 / 3 * theta)))
    assert bound.status_ == "at_bound"
    assert "widen bounds" in bound.advice_
    twice = WedgeFit(NOTCH, order=2).fit(arc=(theta, np.sin(2 / 3 * theta)))
    assert twice.status_ == "superfluous"
    assert "fewer terms" in twice.advice_
    close = np.sin(0.6 * theta) + np.sin(0.75 * theta)
    noise = np.random.default_rng(1).normal(size=theta.size)
    clean = WedgeFit(NOTCH, order=2).fit(arc=(theta, close), edges=None)
    assert (clean.status_, clean.exponents_) == ("ok", pytest.approx([0.6, 0.75], abs=1e-9))
    noisy = WedgeFit(NOTCH, order=2).fit(arc=(theta, close + 0.05 * noise), edges=None)
    assert noisy.status_ == "unresolved"
    assert "four standard errors" in noisy.advice_


def test_samples_of_one_angle_and_radius_determine_nothing():
    """A single ray crossed at one radius: the Jacobian has no full rank."""
    fit = WedgeFit(NOTCH, "DD").fit(arc=(np.full(10, 1.0), np.full(10, 0.3)), edges=None)
    assert fit.status_ == "unidentifiable"
    assert np.all(np.isnan(fit.exponents_))
    assert np.all(np.isinf(fit.standard_errors_))
    assert "edge rows" in fit.advice_
    assert fit.quantize().status_ == "unidentifiable"
    with pytest.raises(ValueError, match="no exponent to draw"):
        fit.plot()


def test_prints_clones_and_plots():
    fit = WedgeFit(NOTCH, "DD").fit(arc=(arc(), np.sin(2 / 3 * arc())))
    assert "0.666666666667 +- " in str(fit)
    assert str(clone(fit)).startswith("WedgeFit(")
    assert clone(fit).get_params()["bc"] == "DD"
    assert fit.conditions() == ["first edge value", "last edge value"]
    assert fit.table()[0]["exponent"] == pytest.approx(2 / 3)
    axes = fit.plot()
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["exact", "learned"]
    with pytest.raises(NotFittedError, match="call fit"):
        WedgeFit(NOTCH).predict(1.0, 0.5)
    same = WedgeFit(Wedge(NOTCH, "DD")).fit(arc=(arc(), np.sin(2 / 3 * arc())))
    assert same.exponents_ == fit.exponents_
    assert WedgeFit.quantise is WedgeFit.quantize


def test_single_precision_is_widened_with_one_warning():
    data = np.sin(2 / 3 * arc()).astype(np.float32)
    with pytest.warns(UserWarning, match="float64") as caught:
        fit = WedgeFit(NOTCH).fit(arc=(arc().astype(np.float32), data))
    assert fit.exponents_ == pytest.approx([2 / 3], abs=1e-6)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t, y: WedgeFit(7.0).fit(arc=(t, y)), "angle=7.0, wanted an angle"),
        (lambda t, y: WedgeFit("wide").fit(arc=(t, y)), "sectors='wide'"),
        (lambda t, y: WedgeFit(NOTCH, "DX").fit(arc=(t, y)), "bc='DX'"),
        (lambda t, y: WedgeFit(NOTCH, order=0).fit(arc=(t, y)), "order=0"),
        (lambda t, y: WedgeFit(NOTCH, order="most").fit(arc=(t, y)), "order='most'"),
        (lambda t, y: WedgeFit(NOTCH, bounds=(2, 1)).fit(arc=(t, y)), r"bounds=\(2, 1\)"),
        (lambda t, y: WedgeFit(NOTCH, bounds=(-1, 1)).fit(arc=(t, y)), "0 < low < high"),
        (lambda t, y: WedgeFit(NOTCH, bounds=3).fit(arc=(t, y)), "bounds=3"),
        (lambda t, y: WedgeFit(NOTCH, start=math.inf).fit(arc=(t, y)), "start=inf"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y), W=0.0), "W=0.0, wanted a positive"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y), noise=-1), "noise=-1"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t + 2, y)), "outside the corner"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y * np.nan)), "values: 120 of 120 are NaN"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y[:5])), r"angle: shape \(120,\)"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y + 1j)), "values: dtype complex128"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(0.0, t, y)), "leave the corner itself out"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=y), "arc: got ndarray"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y), edges=-1), "edges=-1"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y), edges=[0.0]), "edges: radius 0"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y), edges=([1.0], [1.0])), r"edges: values"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t[:2], y[:2]), edges=None), "wanted at least 3"),
        (lambda t, y: WedgeSamples(1.0, t, y, weight=0.0), "weight=0.0"),
        (lambda t, y: WedgeSamples(1.0, t[:0], y[:0]), r"values: shape \(0,\)"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y)).extend(3), "call quantize"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y)).quantize().extend(0), "order=0"),
        (lambda t, y: WedgeFit(NOTCH).fit(arc=(t, y)).predict(-1.0, 0.0), "radii not negative"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call(arc(), np.sin(2 / 3 * arc()))
