"""The best support of every size against brute force, and the choice of the size."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sciml.discovery.subset_search import (
    GramSystem,
    SearchResult,
    choose_size,
    search,
    smallest_adequate_size,
    tempered_ebic,
)


def regression(columns=9, rows=60, true=(1, 4, 6), noise=0.3, seed=0, correlation=0.8):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(rows, 1))
    matrix = correlation * shared + rng.normal(size=(rows, columns))
    matrix *= 10.0 ** rng.integers(-6, 7, size=columns)  # terms have units of their own
    weights = np.zeros(columns)
    weights[list(true)] = [1.0, -0.8, 0.5][: len(true)] / np.linalg.norm(
        matrix[:, list(true)], axis=0
    )
    left = matrix @ weights + noise * rng.normal(size=rows) / math.sqrt(rows)
    return matrix, left


def residual_of(matrix, left, support):
    if not support:
        return float(left @ left)
    columns = matrix[:, list(support)] / np.linalg.norm(matrix[:, list(support)], axis=0)
    solution = np.linalg.lstsq(columns, left, rcond=None)[0]
    return float(np.sum((left - columns @ solution) ** 2))


@pytest.mark.parametrize("seed", range(4))
def test_best_support_of_every_size(seed):
    matrix, left = regression(seed=seed)
    result = search(GramSystem.of(matrix, left), 5)
    assert result.exhaustive_size == len(result.best) - 1
    for size, (support, residual) in enumerate(result.best):
        every = {s: residual_of(matrix, left, s) for s in itertools.combinations(range(9), size)}
        best = min(every, key=every.__getitem__)
        assert support == best
        assert residual == pytest.approx(every[best], rel=1e-8)


def test_best_support_without_a_column():
    matrix, left = regression()
    result = search(GramSystem.of(matrix, left), 4)
    for column in range(9):
        rest = [c for c in range(9) if c != column]
        every = {
            s: residual_of(matrix, left, s)
            for size in range(5)
            for s in itertools.combinations(rest, size)
        }
        best = min(every, key=every.__getitem__)
        support, residual = result.best_without(column, 4)
        assert support == best
        assert residual == pytest.approx(every[best], rel=1e-8)


def test_normal_equations_solve_as_least_squares():
    matrix, left = regression()
    system = GramSystem.of(matrix, left)
    assert (system.size, system.rows) == (9, 60)
    coefficients, residual = system.solve((1, 4, 6))
    expected = np.linalg.lstsq(matrix[:, [1, 4, 6]], left, rcond=None)[0]
    np.testing.assert_allclose(coefficients, expected, rtol=1e-9)
    assert residual == pytest.approx(residual_of(matrix, left, (1, 4, 6)), rel=1e-10)
    empty, square = system.solve(())
    assert len(empty) == 0 and square == pytest.approx(float(left @ left))


def test_residuals_of_exact_data_keep_their_digits():
    """A residual of 1e-10 of the data does not drown in the squares of the normal equations."""
    matrix, _ = regression()
    matrix = matrix / np.linalg.norm(matrix, axis=0)
    left = matrix[:, 2] - 2 * matrix[:, 5] + 1e-10 * np.sin(np.arange(60))
    _, residual = GramSystem.of(matrix, left).solve((2, 5))
    assert math.sqrt(residual) == pytest.approx(
        math.sqrt(residual_of(matrix, left, (2, 5))), rel=1e-3
    )


def test_dependent_and_empty_columns_do_no_harm():
    matrix, left = regression()
    matrix[:, 7] = 3 * matrix[:, 1]
    matrix[:, 8] = 0.0
    result = search(GramSystem.of(matrix, left), 5)
    support, residual = result.best[3]
    assert set(support) in ({1, 4, 6}, {7, 4, 6})
    assert residual == pytest.approx(residual_of(matrix, left, (1, 4, 6)), rel=1e-6)
    assert all(np.isfinite(r) for _, r in result.best)


def test_many_columns_are_searched_by_a_beam_that_says_so():
    matrix, left = regression(columns=40, rows=200, true=(3, 17, 31))
    result = search(GramSystem.of(matrix, left), 5)
    assert result.exhaustive_size < len(result.best) - 1
    assert result.best[3][0] == (3, 17, 31)
    residuals = [r for _, r in result.best]
    assert all(a >= b for a, b in itertools.pairwise(residuals))


def test_supports_are_no_larger_than_the_data_allow():
    matrix, left = regression(columns=4, rows=60, true=(1,))
    assert len(search(GramSystem.of(matrix, left), 10).best) == 5
    matrix, left = regression(columns=9, rows=4, true=(1,))
    assert len(search(GramSystem.of(matrix, left), 5).best) == 4


def test_score_by_hand():
    effective = 500 * 25 / 525
    expected = effective * math.log(0.3 + 1e-8 * 2.0) + 2 * math.log(effective)
    expected += 2 * math.log(math.comb(16, 2))
    assert tempered_ebic(0.3, 2, 16, 500, 2.0, 1e-4) == pytest.approx(expected, rel=1e-12)


def test_more_rows_sharpen_the_choice_only_so_far():
    gaps = [
        tempered_ebic(0.3, 2, 16, n, 1.0, 0.0) - tempered_ebic(0.3, 3, 16, n, 1.0, 0.0)
        for n in (50, 5_000, 500_000)
    ]
    assert abs(gaps[2] - gaps[1]) < 0.05 < abs(gaps[1] - gaps[0])


@pytest.mark.parametrize("seed", range(5))
def test_size_of_a_planted_support(seed):
    matrix, left = regression(columns=12, rows=300, noise=0.2, seed=seed, correlation=0.3)
    system = GramSystem.of(matrix, left)
    result = search(system, 5)
    size = choose_size(result, system, 1e-4)
    assert result.best[size][0] == (1, 4, 6)


def test_the_floor_keeps_tiny_improvements_out():
    """On exact data a second term that repairs 1e-6 of the residual is not worth its place."""
    matrix, _ = regression()
    matrix = matrix / np.linalg.norm(matrix, axis=0)
    left = matrix[:, 2] + 1e-4 * matrix[:, 5]
    system = GramSystem.of(matrix, left)
    result = search(system, 4)
    assert choose_size(result, system, 3e-3) == 1
    assert choose_size(result, system, 1e-8) == 2


def test_smallest_adequate_size():
    best = tuple(((), r) for r in (10.0, 4.0, 1.25, 1.1, 1.0))
    result = SearchResult(best, [])
    assert smallest_adequate_size(result) == 2
    assert smallest_adequate_size(result, allowance=1.05) == 4
    assert smallest_adequate_size(result, allowance=20.0) == 0
