"""PowerLawFit: exact sums, noise, order, pairs, statuses, results."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sciml.powerlaw import PowerLawFit, fit_power_laws
from sciml.powerlaw.rows import equation, values

X = np.linspace(0.1, 1.0, 200) ** 2


def noisy(clean, sigma, seed=0):
    return clean + sigma * np.random.default_rng(seed).normal(size=clean.shape)


@pytest.mark.parametrize(
    ("clean", "exponents", "blocks"),
    [
        (X**0.5, [0.5], ("power",)),
        (2.5 + 0 * X, [0.0], ("power",)),
        (0.5 * X**0.1 + X**0.5 + 0.3 * X**1.5, [0.1, 0.5, 1.5], ("power",) * 3),
        (1 / X + 2 * X**0.5 - 3 * X**1.7, [-1, 0.5, 1.7], ("power",) * 3),
        (np.log(X), [0, 0], ("pair",)),
        (X**0.5 * np.log(X), [0.5, 0.5], ("pair",)),
        (1 / X + np.log(X), [-1, 0, 0], ("power", "pair")),
        (np.log(X) + 3 + X**0.5, [0, 0, 0.5], ("power", "pair")),
        (
            X**0.5 * np.cos(0.1 * np.log(X)) + X**1.5,
            [0.5 - 0.1j, 0.5 + 0.1j, 1.5],
            ("power", "pair"),
        ),
    ],
)
def test_exact_sums_are_found_with_order_and_blocks(clean, exponents, blocks):
    model = PowerLawFit().fit(X, clean)
    assert model.status_ == "ok"
    assert model.advice_ == ()
    assert model.blocks_ == blocks
    np.testing.assert_allclose(model.exponents_, np.array(exponents, complex), atol=1e-11)
    assert model.relative_residual_ < 1e-14
    np.testing.assert_allclose(model.predict(X), clean, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("gap", "tolerance"), [(0.3, 1e-12), (0.05, 1e-11), (0.02, 1e-10), (0.005, 1e-9), (0.001, 1e-7)]
)
def test_close_powers(gap, tolerance):
    model = PowerLawFit().fit(X, X**0.5 + X ** (0.5 + gap))
    np.testing.assert_allclose(model.exponents_, [0.5, 0.5 + gap], atol=tolerance)
    np.testing.assert_allclose(model.coefficients_, 1.0, atol=1e3 * tolerance / gap)


def test_coefficients_of_logarithms_and_oscillations_are_those_of_their_functions():
    log = PowerLawFit().fit(X, 3 * X**0.5 * np.log(X) - 2 * X**0.5)
    assert [term.kind for term in log.terms_] == ["power", "logarithm"]
    np.testing.assert_allclose(log.coefficients_, [-2, 3], rtol=1e-10)
    wave = PowerLawFit().fit(X, X**0.5 * (np.cos(2 * np.log(X)) - 0.4 * np.sin(2 * np.log(X))))
    assert [term.kind for term in wave.terms_] == ["oscillation"] * 2
    rebuilt = (wave.coefficients_ * X[:, None].astype(complex) ** wave.exponents_).sum(1)
    np.testing.assert_allclose(rebuilt.imag, 0, atol=1e-12)
    np.testing.assert_allclose(rebuilt.real, wave.predict(X), atol=1e-12)


def test_points_count_by_their_distance_from_the_center():
    x = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    center = np.array([2.0, 0.0, 0.5])
    y = 1 / np.linalg.norm(x - center, axis=1)
    model = PowerLawFit(center=center).fit(x, y)
    np.testing.assert_allclose(model.exponents_, [-1], atol=1e-12)
    assert model.score(x, y) == pytest.approx(1.0)


def test_unit_of_length_changes_coefficients_only():
    y = X**0.5 + 2 * X**1.5 * np.log(X)
    here, there = PowerLawFit().fit(X, y), PowerLawFit().fit(1e6 * X, y)
    np.testing.assert_allclose(there.exponents_, here.exponents_, atol=1e-10)
    np.testing.assert_allclose(there.coefficients_[0], here.coefficients_[0] * 1e-3, rtol=1e-8)
    np.testing.assert_allclose(there.predict(1e6 * X), y, rtol=1e-10, atol=1e-10)


def test_noise_gives_order_and_honest_errors():
    model = PowerLawFit().fit(X, noisy(0.3 / X + 2 * X**1.5, 0.01))
    assert model.status_ == "ok"
    errors = model.standard_errors_["exponents"].real
    assert len(model.exponents_) == 2
    assert np.all(np.abs(model.exponents_.real - [-1, 1.5]) < 4 * errors)
    np.testing.assert_allclose(model.fit_.residual.std(), 0.01, rtol=0.2)


def test_known_noise_sets_the_errors():
    y = noisy(X**0.5, 0.01)
    one, two = (PowerLawFit(order=1).fit(X, y, noise=sigma) for sigma in (0.01, 0.02))
    ratio = two.standard_errors_["exponents"] / one.standard_errors_["exponents"]
    np.testing.assert_allclose(ratio, 2.0, rtol=1e-9)


def test_weights_drown_bad_samples():
    y = X**0.5
    y[::10] += 5.0
    weights = np.ones(len(X))
    weights[::10] = 1e-9
    np.testing.assert_allclose(PowerLawFit().fit(X, y, weights).exponents_, [0.5], atol=1e-6)


# ---- statuses -----------------------------------------------------------------------------------


def test_unresolved_pair_is_merged_and_said():
    y = noisy(X**0.5 + X**0.6, 0.01)
    model = PowerLawFit(order=2).fit(X, y)
    assert model.status_ == "unresolved"
    assert len(model.exponents_) == 1
    assert 0.5 < model.exponents_[0].real < 0.6
    assert "one merged exponent is reported" in model.advice_[0]


def test_noisy_logarithm_is_said_to_be_ambiguous():
    model = PowerLawFit(starts=10).fit(X, noisy(X**0.5 * np.log(X), 1e-4))
    assert model.status_ == "unresolved"
    assert [term.kind for term in model.terms_] == ["power", "logarithm"]
    assert "fits as well as two powers" in model.advice_[0]


def test_meaningless_deviations_are_not_spelled_out():
    r = np.geomspace(1e-3, 1.0, 400)
    data = 1 - np.exp(-3 * r) + 0.03 * np.random.default_rng(0).standard_normal(r.size)
    model = PowerLawFit(order=3, starts=4).fit(r, data)
    assert model.status_ == "unresolved"
    assert any("deviations of more than 10, more" in advice for advice in model.advice_)
    assert not any("e+" in advice for advice in model.advice_)


def test_other_functions_are_not_power_laws():
    model = PowerLawFit(order=1, starts=10).fit(X, np.exp(-X))
    assert model.status_ == "not_a_power_law"
    assert model.drift_.excess > 3
    assert "outer half of the radii" in model.advice_[0]


def test_contamination_is_told_from_that():
    model = PowerLawFit(order=1).fit(X, X**0.5 + 0.01 * X**1.5)
    assert model.status_ == "contaminated"
    drift = model.drift_
    assert drift.half - drift.full == pytest.approx(drift.predicted, rel=0.05)


def test_contamination_is_the_closed_form_on_uniform_samples():
    from sciml.theory.power_law import contamination_bias

    r = (np.arange(4000) + 0.5) / 4000
    model = PowerLawFit(order=1).fit(r, r**0.5 + 1e-3 * r**1.5)
    bias = [contamination_bias(0.5, 1.5, 1e-3, radius) for radius in (1.0, 0.5)]
    assert model.exponents_[0].real - 0.5 == pytest.approx(bias[0], rel=0.01)
    assert model.drift_.predicted == pytest.approx(bias[1] - bias[0], rel=0.01)


def test_bounds_that_are_met_are_said():
    model = PowerLawFit(order=1, bounds=(1, 2)).fit(X, X**0.5)
    assert model.status_ in ("bound_active", "not_a_power_law")
    assert any("stand on the bounds" in advice for advice in model.advice_)


def test_one_radius_gives_no_numbers():
    model = PowerLawFit().fit(np.full(20, 0.3), np.linspace(1, 2, 20))
    assert model.status_ == "unidentifiable"
    assert len(model.exponents_) == 0
    with pytest.raises(ValueError, match=r"All samples are at one radius, 0\.3"):
        model.predict(X)


def test_few_radii_give_no_numbers():
    model = PowerLawFit(order=2).fit(np.repeat([0.3, 0.5, 1.0], 5), np.ones(15) + np.arange(15))
    assert model.status_ == "unidentifiable"
    assert "3 different radii do not determine 2 exponents" in model.advice_[0]


def test_zero_is_the_empty_model():
    model = PowerLawFit().fit(X, 0 * X)
    assert model.status_ == "empty"
    np.testing.assert_array_equal(model.predict(X), 0.0)


# ---- fixed blocks, equations --------------------------------------------------------------------


def test_known_exponents():
    model = PowerLawFit(blocks=("power", 0.0)).fit(X, 3 + X**0.5)
    assert sorted(term.kind for term in model.terms_) == ["fixed", "power"]
    np.testing.assert_allclose(model.exponents_, [0, 0.5], atol=1e-12)
    only = PowerLawFit(blocks=(0.0, 0.5)).fit(X, 3 + X**0.5)
    np.testing.assert_allclose(only.coefficients_, [3, 1], rtol=1e-12)


def test_a_pair_can_be_asked_for():
    model = PowerLawFit(blocks=("pair",)).fit(X, X**0.5 * np.log(X))
    np.testing.assert_allclose(model.fit_.parameters, [0.5, 0.0], atol=1e-12)


def test_pairs_can_be_forbidden():
    model = PowerLawFit(order=2, blocks="powers").fit(X, X**0.5 + X**0.6)
    assert model.blocks_ == ("power", "power")
    np.testing.assert_allclose(model.exponents_, [0.5, 0.6], atol=1e-10)


def test_boundary_value_problems():
    rows = [equation(X, X**-0.5, second=-1.0, weight=X), values(1.0, 0.0)]
    model = PowerLawFit(bounds=(0.01, 4)).fit_rows(rows)
    np.testing.assert_allclose(model.exponents_, [1, 1.5], atol=1e-11)
    np.testing.assert_allclose(model.coefficients_, [4 / 3, -4 / 3], rtol=1e-11)
    rows = [equation(X, 0.0, second=X, first=0.5), values(1.0, 1.0)]
    model = PowerLawFit(bounds=(0.01, 4)).fit_rows(rows)
    np.testing.assert_allclose(model.exponents_, [0.5], atol=1e-12)


# ---- batches, efficiency, results ---------------------------------------------------------------


def test_batch_agrees_with_single_fits_and_torch():
    sides = np.stack([noisy(X**0.5 - 0.5 * X**2, 1e-3, seed) for seed in range(3)])
    batch = fit_power_laws(X, sides, order=2)
    assert batch.converged.all()
    for i, side in enumerate(sides):
        single = PowerLawFit(order=2).fit(X, side)
        np.testing.assert_allclose(batch.exponents[i], single.exponents_.real, rtol=1e-7)
        errors = single.standard_errors_["exponents"].real
        np.testing.assert_allclose(batch.exponent_errors[i], errors, rtol=1e-4)
    there = fit_power_laws(torch.from_numpy(X), torch.from_numpy(sides), order=2)
    np.testing.assert_allclose(there.exponents.numpy(), batch.exponents, rtol=1e-10)


def test_batch_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="wanted y \\(batch, rows\\)"):
        fit_power_laws(X, X, order=1)
    with pytest.raises(ValueError, match="wanted float64"):
        fit_power_laws(X, X[None].astype(np.float32), order=1)
    with pytest.raises(ValueError, match="order=0"):
        fit_power_laws(X, X[None], order=0)


def test_efficiency_reaches_the_bound():
    result = PowerLawFit(order=1).fit(X, noisy(X**0.5, 0.01)).efficiency(trials=400)
    assert abs(result.ratio[0] - 1) < 4 * result.scatter
    assert result.noise == pytest.approx(0.01, rel=0.2)
    assert "variance over Cramer-Rao bound" in str(result)


def test_same_seed_same_bits():
    y = noisy(X**0.5 + X**2, 0.01)
    one, two = (PowerLawFit(order=3, starts=10).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.exponents_, two.exponents_)
    np.testing.assert_array_equal(one.coefficients_, two.coefficients_)


def test_table():
    text = str(PowerLawFit().fit(X, 2 * X**0.5))
    assert text.startswith("PowerLawFit: 1 exponent, relative residual")
    assert "r^0.5" in text
    assert str(PowerLawFit(order=2)) == "PowerLawFit(order=2)"


def test_tensors_are_taken():
    model = PowerLawFit().fit(torch.from_numpy(X), torch.from_numpy(X**0.5))
    np.testing.assert_allclose(model.exponents_, [0.5], atol=1e-12)


def test_estimator_protocol():
    model = PowerLawFit(order=1, bounds=(0, 2))
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict(X)
