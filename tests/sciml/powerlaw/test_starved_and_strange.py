"""Fits about corners and of sources with too few data, strange units, types and arguments."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from sciml.powerlaw import MSN, MSNPinn, RMNDirect, WedgeFit, fit_sources, fit_wedges
from sciml.powerlaw.blocks import harmonic, legendre, log_primitive, pair_block, power

OPENING = 1.5 * math.pi
THETA = np.linspace(0.0, OPENING, 100)
MODE = np.sin(2 * THETA / 3)
POINTS = np.random.default_rng(0).uniform(-1.0, 1.0, (300, 2))
FIELD = np.log(np.hypot(*(POINTS - [0.3, 0.1]).T)) - 2 * np.log(
    np.hypot(*(POINTS - [-0.4, -0.2]).T)
)


# --- Too few samples -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "theta", "values"),
    [(1, [1.0], [1.0]), (1, [1.0, 2.0, 3.0], [0.7, 0.9, 1.0]), (2, [1.0, 2.0], [1.0, 0.3]),
     (3, [1.0, 2.0, 3.0], [1.0, 0.3, -0.4])],
)  # fmt: skip
def test_homogeneous_edges_are_no_samples(order, theta, values):
    fit = WedgeFit(OPENING, order=order).fit((np.array(theta), np.array(values)))
    assert fit.status_ == "saturated" and np.all(np.isnan(fit.standard_errors_))
    assert "more samples" in fit.advice_ and fit.quantize().status_ != "quantized"


def test_one_sample_more_than_unknowns_is_enough():
    theta = np.linspace(0.5, 4.0, 4)
    fit = WedgeFit(OPENING).fit((theta, np.sin(2 * theta / 3)))
    assert fit.status_ == "ok" and fit.exponents_ == pytest.approx([2 / 3], abs=1e-12)
    (one,) = fit_wedges(WedgeFit(OPENING), (theta[:3], MODE[None, 20:23]))
    assert one.status_ == "saturated"


def test_measured_edges_are_samples():
    radii = np.geomspace(1e-2, 1.0, 10)
    bump = np.stack([radii**0.7, np.zeros(10)])  # a value on one edge tells of the field
    fit = WedgeFit(OPENING).fit(([1.0], [0.4]), edges=(radii, bump))
    assert fit.status_ != "saturated" and np.all(np.isfinite(fit.standard_errors_))


# --- NaN, and the source itself ------------------------------------------------------------------


def test_nan_comes_out_of_networks_and_blocks():
    bad = torch.tensor([[math.nan], [0.5]])
    for model in (MSNPinn(3), MSN([1, 8, 1])):
        value = model(bad)
        assert torch.isnan(value[0]).all() and torch.isfinite(value[1]).all()
    nan = np.array([math.nan, 0.5, 0.0])
    for jet in (power(nan, 0.7), log_primitive(nan, 0.7), *pair_block(nan, 0.7, 0.1)):
        for part in (*jet.euler, *jet.slopes, jet.laplacian(nan, 2)):
            assert np.isnan(part[0]) and np.all(np.isfinite(part[1:]))
    for jet in (*harmonic(nan, 1.0 + 0 * nan, 0.7), legendre(nan, np.ones(3), 0.7)):
        assert np.isnan(jet.value[0]) and np.all(np.isfinite(jet.value[1:]))


def test_sources_have_no_value_at_themselves():
    fit = fit_sources(POINTS, FIELD, 2)
    for place in (fit.centers, fit.centers + 1e-13):
        with pytest.raises(ValueError, match=r"x: 2 of 2|x: 1 of 2.*r_min=1e-12 of the source"):
            fit.predict(place)
    with pytest.raises(ValueError, match="x contains 600 values that are not finite"):
        fit.predict(POINTS * math.nan)
    assert fit.predict(POINTS) == pytest.approx(FIELD, abs=1e-12)
    r = np.hypot(*(POINTS - [0.3, 0.1]).T)
    root = fit_sources(POINTS, r**0.5, 1)
    assert root.predict(root.centers) == pytest.approx(0.0, abs=1e-7)  # sqrt(0) has one


# --- Units ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-300, 1e-165, 1e-160, 1e90])
def test_exponents_do_not_depend_on_the_unit_of_values(scale):
    fit = WedgeFit(OPENING).fit((THETA, MODE * scale))
    assert fit.status_ == "ok" and fit.exponents_ == pytest.approx([2 / 3], abs=1e-14)
    assert fit.standard_errors_[0] < 1e-15
    assert fit.amplitudes_[0] / scale == pytest.approx(1.0, abs=1e-12)
    assert fit.predict(1.0, THETA) / scale == pytest.approx(MODE, abs=1e-12)
    exact = fit.quantize()
    assert exact.status_ == "quantized" and exact.amplitudes_[0] / scale == pytest.approx(1.0)
    noisy = MODE + 1e-3 * np.random.default_rng(1).normal(size=100)
    one, other = (
        WedgeFit(OPENING).fit((THETA, noisy * s), noise=1e-3 * s) for s in (1.0, 2.0**-1000)
    )
    assert one.exponents_ == other.exponents_ and one.standard_errors_ == other.standard_errors_


def test_denormal_values_are_refused():
    with pytest.raises(ValueError, match=r"values: the largest is 1e-310, wanted at least 2\.2"):
        WedgeFit(OPENING).fit((THETA[:5], np.full(5, 1e-310)))


@pytest.mark.parametrize("length", [1e-80, 1e-12, 1e12])
def test_sources_do_not_depend_on_the_unit_of_length(length):
    fit = fit_sources(POINTS * length, FIELD, 2)
    assert fit.status == "ok"
    assert fit.centers / length == pytest.approx(np.array([[-0.4, -0.2], [0.3, 0.1]]), abs=1e-12)
    assert fit.strengths == pytest.approx([-2.0, 1.0], abs=1e-10)
    assert fit.bias == pytest.approx(math.log(length), rel=1e-10)  # of log r in that unit
    assert fit.predict(POINTS * length) == pytest.approx(FIELD, abs=1e-12)
    shown = str(fit).splitlines()[1].split("+-")[1].split()[0]
    assert float(shown) < 1e-13 * length


def test_errors_in_another_unit_of_length_are_those_of_a_fit_there():
    """The carried errors against the Cramer-Rao bound of the same field, computed in that unit."""
    from sciml.powerlaw.source_model import SourceModel

    noisy = FIELD + 1e-3 * np.random.default_rng(2).normal(size=300)
    x = 8.0 * POINTS
    fit = fit_sources(x, noisy, 2, noise=1e-3)
    model = SourceModel(x, 2)
    columns, slopes = model(np.concatenate([fit.exponents, fit.centers.ravel()])[None])
    full = [columns[0]]
    strengths = np.concatenate([[fit.bias], fit.strengths])
    for j in range(6):
        rows = [k for k, p in enumerate(slopes.parameter) if p == j]
        moved = np.stack([slopes.values[0, k] * strengths[slopes.column[k]] for k in rows])
        full.append(moved.sum(axis=0)[:, None])
    jacobian = np.hstack(full) / 1e-3
    bound = np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian)))
    assert fit.bias_error == pytest.approx(bound[0], rel=1e-6)
    assert fit.strengths_error == pytest.approx(bound[1:3], rel=1e-6)
    assert fit.exponents_error == pytest.approx(bound[3:5], rel=1e-6)
    assert fit.centers_error.ravel() == pytest.approx(bound[5:], rel=1e-6)


def test_lengths_beyond_all_powers_are_refused():
    with pytest.raises(ValueError, match=r"x: the points span .* another unit"):
        fit_sources(POINTS * 1e-100, FIELD, 2)


# --- Types ---------------------------------------------------------------------------------------

SINGLE = FIELD.astype(np.float32)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fit_sources(POINTS, SINGLE, 2), "x is float64, y is float32"),
        (lambda: fit_sources(torch.tensor(POINTS), SINGLE, 2), "x is float64, y is float32"),
        (lambda: RMNDirect(2).fit(torch.tensor(POINTS), torch.tensor(SINGLE)), "y is float32"),
        (lambda: WedgeFit(OPENING).fit((THETA.astype("f4"), MODE)), "angle is float32"),
        (lambda: fit_sources(torch.tensor(POINTS), torch.tensor(FIELD).to("meta"), 2), "device"),
        (lambda: WedgeFit(OPENING).fit((torch.tensor(THETA), torch.tensor(MODE).to("meta"))),
         "device"),
    ],
)  # fmt: skip
def test_mixed_types_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_single_precision_is_said_once():
    arc = (np.ones(100, "f4"), THETA.astype("f4"), MODE.astype("f4"))
    for call in (
        lambda: WedgeFit(OPENING).fit(arc),
        lambda: fit_wedges(WedgeFit(OPENING), [arc, arc]),
        lambda: fit_sources(POINTS.astype("f4"), SINGLE, 2),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert ["float64" in str(w.message) for w in caught] == [True]


# --- Arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fit_sources(POINTS, FIELD, random_state="a"), "random_state='a'"),  # type: ignore
        (lambda: fit_sources(POINTS, FIELD, noise=[1, 2]), r"noise has shape \(2,\)"),
        (lambda: fit_sources(POINTS, FIELD, noise="a"), "noise is 'a'"),
        (lambda: fit_sources(POINTS, FIELD, starts="a"), "starts is 'a'"),
        (lambda: fit_sources(POINTS, FIELD, exponents=["a"]), "exponents is"),  # type: ignore
        (lambda: fit_sources(POINTS, FIELD, sources="atuo"), "mean 'auto'"),  # type: ignore
        (lambda: WedgeFit(OPENING).fit((THETA, MODE), W="a"), "W='a'"),  # type: ignore
        (lambda: WedgeFit(OPENING).fit((THETA, MODE), edges=60.0), "edges=60.0"),
        (lambda: WedgeFit(OPENING).fit(([[1.0], [1.0, 2.0]], [1.0, 2.0])), "angle is no array"),
        (lambda: WedgeFit(OPENING, "peridoic").fit((THETA, MODE)), "mean 'periodic'"),
        (lambda: WedgeFit(OPENING, "D").fit((THETA, MODE)), "or 'periodic'. Did you mean 'DD'"),
    ],
)
def test_errors_name_the_argument(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("center", ["a", [math.nan, 0.0]])
def test_a_center_that_is_no_point_is_named(center):
    from sciml.powerlaw import PowerLawFit

    with pytest.raises(ValueError, match="center="):
        PowerLawFit(order=1, center=center).fit(POINTS, FIELD)
    with pytest.raises(ValueError, match=r"^x: "):
        PowerLawFit(order=1).fit(["a", "b", "c"], [1.0, 2.0, 3.0])


# --- What is shown -------------------------------------------------------------------------------


def test_empty_fits_can_be_drawn():
    axes = WedgeFit(OPENING).fit((THETA, 0 * MODE)).plot()
    assert any("the data are zero" in text.get_text() for text in axes.texts)


def test_the_result_of_a_network_is_short():
    model = RMNDirect(2, K=1, log_term=False).double()
    x = torch.tensor(POINTS)
    shown = repr(model.fit(x, 3.0 * x.norm(dim=1).sqrt()))
    assert len(shown) < 200 and "300 rows" in shown and "tensor" not in shown


def test_the_command_refuses_radii_for_sources_and_a_coordinate_as_value(tmp_path):
    from sciml.cli.app import app

    file = tmp_path / "rad.csv"
    r = np.linspace(0.1, 1.0, 30)
    file.write_text("r,u\n" + "\n".join(f"{a},{a**0.5}" for a in r))
    for options, words in (
        (["--sources", "1"], "the coordinates x, y, z of the points"),
        (["--value", "r"], "'r' is a coordinate"),
    ):
        result = CliRunner().invoke(app, ["powerlaw", str(file), *options])
        assert result.exit_code != 0 and words in " ".join(result.output.split())
