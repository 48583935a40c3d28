"""Stability selection: what it keeps, where its path ends, and what it costs."""

from __future__ import annotations

import time

import numpy as np
import pytest

from sciml.discovery.stability import stability_selection
from sciml.theory.stability_selection import largest_selection


def regression(columns: int = 16, rows: int = 300, noise: float = 0.5, seed: int = 0):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(rows, columns))
    left = matrix[:, 4] - matrix[:, 9] + noise * rng.normal(size=rows)
    return matrix, left


def test_keeps_the_true_columns_only():
    path = stability_selection(*regression())
    assert path.support == (4, 9)
    assert path.max_frequencies[[4, 9]].min() == 1.0
    assert np.delete(path.max_frequencies, [4, 9]).max() < 0.6


def test_path_ends_before_too_many_terms_are_chosen():
    matrix, left = regression()
    limit = largest_selection(16, 0.8, 1.0)
    path = stability_selection(matrix, left)
    assert path.mean_selected[-1] <= limit
    assert path.false_term_bound <= 1.0
    longer = stability_selection(matrix, left, expected_false=4.0)
    assert limit < longer.mean_selected[-1] <= largest_selection(16, 0.8, 4.0)
    assert len(longer.penalties) > len(path.penalties)
    np.testing.assert_array_equal(longer.frequencies[: len(path.penalties)], path.frequencies)


def test_false_terms_stay_below_the_bound_where_it_applies():
    false = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        matrix, left = rng.normal(size=(100, 12)), rng.normal(size=100)
        path = stability_selection(matrix, left, n_subsamples=50, threshold=0.7, random_state=seed)
        false.append(len(path.support))
    # every column is a false one here, and they are exchangeable: the theorem holds
    assert np.mean(false) <= 1.0


def test_scale_of_columns_and_left_side_does_not_matter():
    matrix, left = regression()
    scaled = stability_selection(matrix * np.geomspace(1e-6, 1e6, 16), 1e3 * left)
    plain = stability_selection(matrix, left)
    np.testing.assert_allclose(scaled.frequencies, plain.frequencies)


def test_random_weights_share_the_votes_of_twins():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(300, 6))
    matrix[:, 1] = matrix[:, 0] + 0.05 * rng.normal(size=300)
    left = matrix[:, 0] + 0.1 * rng.normal(size=300)
    plain = stability_selection(matrix, left, weakness=1.0)
    shared = stability_selection(matrix, left, weakness=0.5)
    assert plain.support == (0,)
    # a weight below the twin's by more than their difference sends the vote to the wrong one
    assert shared.support == ()
    first, second = shared.frequencies[6, :2]
    assert first + second == pytest.approx(1.0, abs=0.02)
    assert 0.4 < second < 0.6


def test_seed_decides():
    matrix, left = regression(noise=3.0)
    first = stability_selection(matrix, left, random_state=1).frequencies
    again = stability_selection(matrix, left, random_state=np.random.default_rng(1)).frequencies
    other = stability_selection(matrix, left, random_state=2).frequencies
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or not np.array_equal(first, other)


def test_nothing_to_explain_keeps_nothing():
    matrix, _ = regression()
    path = stability_selection(matrix, np.zeros(len(matrix)))
    assert path.support == ()
    assert path.max_frequencies.shape == (16,)
    assert path.false_term_bound == 0.0


def test_a_hundred_halves_take_well_under_a_second():
    matrix, left = regression(rows=2000)
    stability_selection(matrix, left, n_subsamples=2)
    start = time.process_time()
    stability_selection(matrix, left, expected_false=16.0)
    assert time.process_time() - start < 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_subsamples": 0}, "n_subsamples must be a positive whole number, got 0"),
        ({"threshold": 0.5}, "threshold is 0.5"),
        ({"expected_false": 0.0}, "false_terms is 0.0"),
        ({"weakness": 0.0}, r"weakness must lie in \(0, 1\]"),
    ],
)
def test_parameters_out_of_range_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        stability_selection(*regression(), **parameters)
