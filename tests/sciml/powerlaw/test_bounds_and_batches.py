"""Exponents keep to their bounds, tables to the fitted function, and batches are never silent."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

from sciml.powerlaw import PowerLawFit, fit_power_laws, variable_projection
from sciml.powerlaw.radial_sum import RadialSum
from sciml.powerlaw.structure import Structure

R = np.linspace(0.01, 1.0, 200)


def table_sum(model: PowerLawFit, r: np.ndarray) -> np.ndarray:
    """What the printed terms add up to."""
    parts = [
        term.coefficient * r**term.exponent * (np.log(r) if term.kind == "logarithm" else 1.0)
        for term in model.terms_
    ]
    return np.real(np.sum(parts, axis=0))


# ---- bounds ---------------------------------------------------------------------------------


def test_no_iterations_leave_the_start():
    fit = variable_projection(RadialSum(R, Structure(1)), R**2, np.array([1.0]), max_iterations=0)
    assert fit.parameters[0] == 1.0 and int(fit.iterations) == 0
    assert fit.message == "the iterations ran out"


@pytest.mark.parametrize(("bounds", "mu"), [((0, 1), 2.0), ((0, 2), 2.5), ((0.5, 2), 0.2)])
def test_single_exponents_keep_to_their_bounds(bounds, mu):
    fit = PowerLawFit(order=1, bounds=bounds).fit(R, R**mu)
    wall = bounds[0] if mu < bounds[0] else bounds[1]
    assert fit.exponents_.tolist() == [wall]
    assert fit.status_ == "bound_active"
    # the best coefficient at that exponent
    column = R**wall
    assert np.real(fit.coefficients_[0]) == pytest.approx(column @ R**mu / (column @ column))


@pytest.mark.parametrize("blocks", ["auto", "powers", ("pair",)])
@pytest.mark.parametrize(
    ("bounds", "mu"), [((0.0, 1.0), 2.0), ((0.0, 1.5), 1.8), ((0.5, 2.0), 0.1)]
)
def test_pairs_keep_to_their_bounds(blocks, bounds, mu):
    fit = PowerLawFit(order=2, blocks=blocks, bounds=bounds).fit(R, R**mu)
    real = np.real(fit.exponents_)
    assert np.all(real >= bounds[0] - 1e-11) and np.all(real <= bounds[1] + 1e-11)
    assert fit.status_ in ("bound_active", "rank_deficient")
    assert any("stand on the bounds" in sentence for sentence in fit.advice_)
    if blocks == ("pair",):
        assert fit.blocks_ == ("pair",)


def test_pairs_within_the_bounds_stay():
    fit = PowerLawFit(bounds=(0.0, 0.6)).fit(R, R**0.5 + R**0.6)
    np.testing.assert_allclose(fit.exponents_, [0.5, 0.6], atol=1e-9)


# ---- the center -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_constants_keep_their_value_in_the_center(seed):
    r = np.sort(np.random.default_rng(seed).uniform(0.01, 1.0, 80))
    fit = PowerLawFit().fit(r, 3.0 + np.sqrt(r))
    np.testing.assert_allclose(fit.predict([0.0, 1e-13, 0.25]), [3.0, 3.0, 3.5], atol=1e-6)


def test_center_of_other_powers():
    assert PowerLawFit().fit(R, 2.0 * R**0.5).predict([0.0]) == 0.0
    assert PowerLawFit(blocks=(0.0, 1.0)).fit(R, 2.0 + R).predict([0.0]) == pytest.approx(2.0)
    noise = 1e-4 * np.random.default_rng(0).normal(size=R.size)
    noisy = PowerLawFit(order=2).fit(R, 3.0 + R + noise, noise=1e-4)
    assert abs(noisy.exponents_[0]) > 1e-9  # no rounding
    assert noisy.predict([0.0]) == pytest.approx(3.0, abs=1e-2)
    with pytest.raises(ValueError, match="singular"):
        PowerLawFit().fit(R, R**-0.5).predict([0.0])


# ---- words, tables, errors ------------------------------------------------------------------


def test_as_many_samples_as_unknowns_are_saturated():
    fit = PowerLawFit().fit([0.5, 1.0], [0.7, 1.0])
    assert fit.status_ == "saturated" and len(fit.advice_) == 1


def test_the_table_is_the_fitted_function():
    fit = PowerLawFit(bounds=(0, 1.5)).fit(R, R**0.5 + R**1.6)
    # coefficients that cancel cost the digits of their size
    digits = 1e-15 * np.abs(fit.coefficients_).sum()
    np.testing.assert_allclose(table_sum(fit, R), fit.predict(R), atol=max(10 * digits, 1e-12))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gap", [0.0, 0.05, 0.3])
def test_the_table_of_noisy_pairs_is_the_fitted_function(seed, gap):
    exact = R**0.5 * np.log(R) if gap == 0.0 else (R ** (0.5 + gap) - R**0.5) / gap
    y = exact + 1e-4 * np.random.default_rng(seed).normal(size=R.size)
    fit = PowerLawFit(order=2).fit(R, y)
    np.testing.assert_allclose(table_sum(fit, R), fit.predict(R), atol=1e-9)


@pytest.mark.parametrize(
    ("true", "powers", "logs"),
    [
        (lambda r: np.sqrt(r) * np.log(r) + r, {0.5: 0.0, 1.0: 1.0}, {0.5: 1.0}),
        (lambda r: 2 / r + np.log(r), {-1.0: 2.0, 0.0: 0.0}, {0.0: 1.0}),
        (lambda r: r**0.5 + r**0.52, {0.5: 1.0, 0.52: 1.0}, {}),
        (lambda r: 1 + 2 * r**0.5 - 3 * r**1.7, {0.0: 1.0, 0.5: 2.0, 1.7: -3.0}, {}),
    ],
)
@pytest.mark.parametrize("count", [60, 100, 200, 333])
def test_errors_of_exact_data_hold_their_rounding(true, powers, logs, count):
    r = np.linspace(0.01, 1.0, count)
    fit = PowerLawFit().fit(r, true(r))
    assert fit.status_ == "ok" and len(fit.terms_) == len(powers) + len(logs)
    for term in fit.terms_:
        known = logs if term.kind == "logarithm" else powers
        mu = min(known, key=lambda value: abs(value - complex(term.exponent).real))
        assert abs(term.exponent - mu) <= 3 * abs(term.exponent_error)
        assert abs(term.coefficient - known[mu]) <= 3 * abs(term.coefficient_error)
        # and they are not so large that they say nothing
        assert abs(term.coefficient_error) < 1e-7


# ---- batches --------------------------------------------------------------------------------


def test_members_of_a_batch_say_what_is_wrong():
    sides = [
        R**0.5 + 2 * R**1.5,
        np.zeros_like(R),
        np.sqrt(R) * np.log(R),
        np.exp(-R),
    ]
    batch = fit_power_laws(R, np.stack(sides), 2)
    assert batch.status[:2] == ("ok", "empty")
    assert batch.advice[0] == ()
    assert batch.status[2] in ("rank_deficient", "unresolved")
    assert any("logarithm in disguise" in sentence for sentence in batch.advice[2])
    assert batch.status[3] == PowerLawFit(order=2).fit(R, sides[3]).status_ == "not_a_power_law"
    assert np.isnan(batch.exponents[1]).all() and not batch.converged[1]
    assert (batch.coefficients[1] == 0.0).all()
    assert pickle.loads(pickle.dumps(batch)).status == batch.status
    lines = str(batch).splitlines()
    assert len(lines) == 6 and lines[3].split()[:2] == ["1", "empty"]
    there = fit_power_laws(torch.from_numpy(R), torch.from_numpy(np.stack(sides)), 2)
    assert there.status[:2] == batch.status[:2] and there.status[3] == batch.status[3]


@pytest.mark.parametrize(
    ("side", "order", "bounds"),
    [(R**2, 1, (0, 1)), (R**0.5, 1, (-3, 5)), (R**0.5 + 0.1 * R**1.5, 1, (-3, 5))],
)
def test_words_of_a_batch_are_those_of_single_fits(side, order, bounds):
    batch = fit_power_laws(R, side[None], order, bounds=bounds)
    single = PowerLawFit(order=order, bounds=bounds).fit(R, side)
    assert batch.status == (single.status_,)
    assert batch.advice[0][:1] == single.advice_[:1]
    assert bool(batch.at_bound[0, 0]) == (single.status_ == "bound_active")


def test_saturated_members_say_so():
    batch = fit_power_laws(R[::60], (R[::60] ** 0.5 + R[::60] ** 1.5)[None], 2)
    assert batch.status == ("saturated",)


@pytest.mark.parametrize("length", [1e200, 1e-9, 1e8])
def test_batches_do_not_depend_on_the_unit_of_length(length):
    sides = np.stack([R**0.5 + 2 * R, 3 / R + R**0.25])
    plain = fit_power_laws(R, sides, 2)
    far = fit_power_laws(R * length, sides, 2)
    np.testing.assert_allclose(far.exponents, plain.exponents, atol=1e-12)
    expected = plain.coefficients * length**-plain.exponents
    np.testing.assert_allclose(far.coefficients, expected, rtol=1e-10)
    assert far.status == plain.status == ("ok", "ok")
    own = fit_power_laws(R * np.array([[1.0], [length]]), sides, 2)
    np.testing.assert_allclose(own.exponents, plain.exponents, atol=1e-12)


def test_coefficient_errors_in_another_unit_of_length():
    noisy = R**0.5 + 2 * R**1.5 + 1e-3 * np.random.default_rng(0).normal(size=R.size)
    batch = fit_power_laws(7.0 * R, noisy[None], 2)
    single = PowerLawFit(order=2).fit(7.0 * R, noisy)
    errors = np.real(single.standard_errors_["coefficients"])
    np.testing.assert_allclose(batch.coefficient_errors[0], errors, rtol=1e-6)


def test_lengths_whose_coefficients_no_number_holds_are_refused():
    with pytest.raises(ValueError, match="measure r in another unit"):
        fit_power_laws(1e300 * R, (R**0.5 + R**1.5)[None], 2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weights": -R}, "weights hold -0.01"),
        ({"weights": R * np.nan}, "weights hold nan"),
        ({"weights": R[:3]}, "weights have shape \\(3,\\)"),
        ({"weights": ["a"] * 200}, "weights is no array"),
        ({"seed": "a"}, "seed='a'"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_weights_and_seeds_of_a_batch_are_checked(changes, words):
    with pytest.raises(ValueError, match=words):
        fit_power_laws(R, np.sqrt(R)[None], 1, **changes)


def test_weights_of_a_batch_may_be_a_list():
    weights = np.linspace(1.0, 2.0, 200)
    noisy = np.sqrt(R) + 1e-3 * np.random.default_rng(0).normal(size=R.size)
    one, other = (fit_power_laws(R, noisy[None], 1, weights=w) for w in (weights, weights.tolist()))
    np.testing.assert_array_equal(one.exponents, other.exponents)


def test_devices_of_a_batch_are_checked():
    r, y = torch.from_numpy(R), torch.from_numpy(np.sqrt(R)[None])
    with pytest.raises(ValueError, match="on devices cpu, meta: wanted one"):
        fit_power_laws(r, y.to("meta"), 1)
    with pytest.raises(ValueError, match="device meta, which holds no numbers"):
        fit_power_laws(r.to("meta"), y.to("meta"), 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"order": "atuo"}, "did you mean 'auto'"),
        ({"blocks": "pwer"}, "did you mean 'powers'"),
        ({"blocks": ("pwer", 0.0)}, "did you mean 'power'"),
    ],
)
def test_closest_names_are_offered(arguments, words):
    with pytest.raises(ValueError, match=words):
        PowerLawFit(**arguments).fit(R, R)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_single_precision_is_computed_in_double_with_one_warning(library):
    r, y = R.astype(np.float32), (R**0.5 + 2 * R**1.5).astype(np.float32)[None]
    given = (r, y) if library == "numpy" else (torch.from_numpy(r), torch.from_numpy(y))
    with pytest.warns(UserWarning, match="float32 samples are fitted in float64") as warned:
        batch = fit_power_laws(*given, 2)
    assert len(warned) == 1
    double = (r.astype(np.float64), y.astype(np.float64))
    wide = double if library == "numpy" else tuple(torch.from_numpy(part) for part in double)
    np.testing.assert_array_equal(
        np.asarray(batch.exponents), np.asarray(fit_power_laws(*wide, 2).exponents)
    )
    with pytest.raises(ValueError, match="r is float64 and y float32"):
        fit_power_laws(R, y, 2)
