"""Arguments that used to pass unseen or to end in an internal error."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import pdes
from pdes.exact import Wedge
from sciml.powerlaw import (
    PowerLawFit,
    RMNDirect,
    WedgeFit,
    admissible_exponent,
    fit_power_laws,
    fit_sources,
    solve_enriched,
)
from sciml.powerlaw.radial_terms import RadialTerm, table

R = np.linspace(0.1, 1.0, 40)
Y = R**0.5 + 0.5 / R
NOTCH = 1.5 * math.pi
THETA = np.linspace(0.0, NOTCH, 60)
MASKED = np.ma.array(Y, mask=R > 0.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rtol": "a"}, "rtol='a'"),
        ({"blocks": 5}, "blocks=5"),
        ({"blocks": [None]}, "blocks hold None"),
        ({"random_state": "a"}, "random_state='a'"),
        ({"center": 0.5}, "center= goes with points"),
    ],
)
def test_options_of_a_fit(options, words):
    with pytest.raises(ValueError, match=words):
        PowerLawFit(**options).fit(R, Y)


@pytest.mark.parametrize(
    ("x", "y", "noise", "words"),
    [
        (1.0, 2.0, None, "x is the number 1"),
        (R, 2.0, None, "y has shape"),
        (R, MASKED, None, "y is a masked array"),
        (R, Y, np.ones(40), "noise has shape"),
    ],
)
def test_samples_of_a_fit(x, y, noise, words):
    with pytest.raises(ValueError, match=words):
        PowerLawFit().fit(x, y, noise=noise)


def test_masked_samples_of_sources_and_corners():
    x = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    with pytest.raises(ValueError, match="y is a masked array with"):
        fit_sources(x, MASKED, sources=1)
    values = np.ma.array(np.sin(2 * THETA / 3), mask=THETA > 4.0)
    with pytest.raises(ValueError, match="values is a masked array"):
        WedgeFit(NOTCH).fit(arc=(THETA, values))
    assert PowerLawFit(order=2).fit(R, np.ma.array(Y)).status_ == "ok"


@pytest.mark.parametrize("height", [1e200, 1e-200])
def test_results_do_not_depend_on_the_unit_of_the_values(height):
    noisy = Y + 1e-3 * np.random.default_rng(0).normal(size=40)
    plain = PowerLawFit(order=2).fit(R, noisy, noise=1e-3)
    scaled = PowerLawFit(order=2).fit(R, noisy * height, noise=1e-3 * height)
    assert scaled.status_ == plain.status_
    np.testing.assert_allclose(scaled.exponents_, plain.exponents_, rtol=1e-9)
    np.testing.assert_allclose(scaled.coefficients_ / height, plain.coefficients_, rtol=1e-9)
    for name, errors in plain.standard_errors_.items():
        unit = height if name == "coefficients" else 1.0
        np.testing.assert_allclose(scaled.standard_errors_[name] / unit, errors, rtol=1e-6)
    np.testing.assert_allclose(scaled.predict(R) / height, plain.predict(R), rtol=1e-9)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"noise": 0.0}, "noise=0.0"),
        ({"noise": -1.0}, "noise=-1.0"),
        ({"r": np.linspace(0.0, 1.0, 40)}, "leave the center out"),
        ({"starts": -1}, "starts=-1"),
        ({"r": np.full(40, 0.5)}, "1 different radii"),
        ({"order": "auto"}, "order='auto'"),
        ({"r": torch.from_numpy(R)}, "both of one library"),
        ({"y": np.empty((0, 40))}, "at least one recording"),
        ({"y": np.where(R > 0.5, np.nan, Y)[None]}, "y holds NaN"),
        ({"rtol": -1.0}, "rtol=-1.0"),
        ({"y": [["a"] * 40]}, "y is no array"),
    ],
)
def test_arguments_of_a_batch(changes, words):
    arguments = {"r": R, "y": np.stack([Y, 2 * Y]), "order": 2} | changes
    with pytest.raises(ValueError, match=words):
        fit_power_laws(**arguments)


@pytest.mark.parametrize("length", [1e-6, 1e6])
@pytest.mark.parametrize("height", [1.0, 1e200, 1e-200])
@pytest.mark.parametrize("noise", [None, 1e-3])
def test_batches_do_not_depend_on_units(length, height, noise):
    drawn = 1e-3 * np.random.default_rng(0).normal(size=(2, 40))
    sides = np.stack([Y, R**0.8 - 0.5 * R**2.1]) + drawn
    plain = fit_power_laws(R, sides, 2, noise=noise)
    # The second member keeps its height: each has a unit of its own.
    unit = np.array([[height], [1.0]])
    other = None if noise is None or height != 1.0 else noise
    scaled = fit_power_laws(R * length, sides * unit, 2, noise=other)
    assert np.all(scaled.converged) and np.all(plain.converged)
    np.testing.assert_allclose(scaled.exponents, plain.exponents, rtol=1e-9)
    factor = unit * length**-plain.exponents
    np.testing.assert_allclose(scaled.coefficients / factor, plain.coefficients, rtol=1e-8)
    if other == noise:
        np.testing.assert_allclose(scaled.exponent_errors, plain.exponent_errors, rtol=1e-6)


def test_noise_of_a_batch_is_in_the_unit_of_its_values():
    sides = np.stack([Y, 2.0 * Y]) + 1e-3 * np.random.default_rng(0).normal(size=(2, 40))
    plain = fit_power_laws(R, sides, 2, noise=1e-3)
    scaled = fit_power_laws(R, 1e200 * sides, 2, noise=1e197)
    np.testing.assert_allclose(scaled.exponent_errors, plain.exponent_errors, rtol=1e-6)
    np.testing.assert_allclose(
        scaled.coefficient_errors / 1e200, plain.coefficient_errors, rtol=1e-6
    )


def test_lists_make_a_batch():
    batch = fit_power_laws(R.tolist(), [np.sqrt(R).tolist()], order=1)
    assert batch.exponents[0, 0] == pytest.approx(0.5, abs=1e-12)


def test_arguments_of_corners():
    data = (THETA, np.sin(2 * THETA / 3))
    with pytest.raises(ValueError, match="rtol=-1"):
        WedgeFit(NOTCH, rtol=-1.0).fit(arc=data)
    with pytest.raises(ValueError, match="radius: the largest is 1e"):
        WedgeFit(NOTCH).fit(arc=(1e100, *data))
    with pytest.raises(ValueError, match="corner='notch'"):
        admissible_exponent("notch", 0.7)
    with pytest.raises(ValueError, match="start='a'"):
        admissible_exponent(Wedge(NOTCH, "DD"), "a")


def test_angles_in_single_precision_may_round_beyond_the_edge():
    opening = next(w for w in np.linspace(4.0, 5.0, 50) if float(np.float32(w)) > w + 2e-8)
    theta = np.linspace(0.0, opening, 60)
    mu = math.pi / opening
    single = theta.astype(np.float32)
    values = np.sin(mu * theta).astype(np.float32)
    with pytest.warns(UserWarning, match="single precision"):
        fit = WedgeFit(float(opening), "DD").fit(arc=(single, values))
    assert fit.exponents_ == pytest.approx([mu], abs=1e-5)


def test_printed_errors_are_no_smaller_than_rounding():
    text = table([RadialTerm("power", -1.0, 2.0, 1e-20, 1e-20, 0)])
    assert "8.9e-16" in text and "1.8e-15" in text and "e-20" not in text
    known = table([RadialTerm("fixed", -1.0, 2.0, 0.0, 1e-20, 0)])
    assert known.splitlines()[1].split()[2] == "0"
    fit = WedgeFit(NOTCH, "DD").fit(arc=(THETA, np.sin(2 * THETA / 3)))
    error = max(fit.table()[0]["standard error"], 4 * np.finfo(float).eps)
    assert f"+- {error:.2g}  " in str(fit)


@pytest.mark.parametrize("r_min", [-1.0, math.nan, "a"])
def test_smallest_radius_of_a_network(r_min):
    with pytest.raises(ValueError, match="r_min is"):
        RMNDirect(3, r_min=r_min)


def test_width_of_an_enriched_network_is_checked_first():
    with pytest.raises(ValueError, match="width is 0"):
        solve_enriched(pdes.get("laplace_l_shape"), width=0)


@pytest.mark.parametrize("unit", [2.0**660, 2.0**-660])
def test_sources_do_not_depend_on_the_unit_of_the_values(unit):
    x = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    noise = 0.01 * np.random.default_rng(1).normal(size=100)
    y = 2.0 * np.log(np.hypot(*(x - np.array([0.3, 0.1])).T)) + noise
    plain, scaled = (fit_sources(x, u * y, 1, "log", noise=0.01 * u) for u in (1.0, unit))
    assert scaled.status == plain.status == "ok"
    np.testing.assert_allclose(scaled.centers, plain.centers, rtol=1e-9)
    np.testing.assert_allclose(scaled.strengths / unit, plain.strengths, rtol=1e-9)
    np.testing.assert_allclose(scaled.strengths_error / unit, plain.strengths_error, rtol=1e-6)
