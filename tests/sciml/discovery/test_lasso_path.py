"""The LASSO path against its optimality conditions and against coordinate descent."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import lasso_path as coordinate_descent

from sciml.discovery.lasso_path import largest_penalty, lasso_path


def regression(columns: int, rows: int = 120, seed: int = 0, dependence: float = 0.0):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(rows, columns)) * (1 - dependence)
    matrix += dependence * rng.normal(size=(rows, 1))
    matrix /= np.linalg.norm(matrix, axis=0)
    left = matrix[:, :3] @ np.array([2.0, -1.0, 0.5]) + 0.02 * rng.normal(size=rows)
    return matrix, left


def violation(gram, moment, coefficients, penalty):
    """Largest violation of the optimality conditions, relative to the penalty."""
    rest = moment - gram @ coefficients
    active = coefficients != 0
    inside = np.abs(rest[active] - penalty * np.sign(coefficients[active]))
    outside = np.maximum(np.abs(rest[~active]) - penalty, 0.0)
    return max(np.max(inside, initial=0.0), np.max(outside, initial=0.0)) / penalty


def test_orthogonal_columns_are_soft_thresholded():
    moment = np.array([3.0, -2.0, 0.4])
    penalties = [3.5, 2.5, 1.0, 0.1]
    path = lasso_path(np.eye(3)[None], moment[None], penalties)
    for penalty, (found,) in zip(penalties, path, strict=True):
        expected = np.sign(moment) * np.maximum(np.abs(moment) - penalty, 0.0)
        np.testing.assert_allclose(found, expected, atol=1e-11)


def test_agrees_with_coordinate_descent():
    matrix, left = regression(10, dependence=0.3)
    penalties = largest_penalty(matrix.T @ left) * np.geomspace(1.0, 1e-3, 20)
    grams, moments = (matrix.T @ matrix)[None], (matrix.T @ left)[None]
    ours = np.array([found[0] for found in lasso_path(grams, moments, penalties)])
    _, theirs, _ = coordinate_descent(
        matrix, left, alphas=penalties / len(left), tol=1e-12, max_iter=100_000
    )
    np.testing.assert_allclose(ours, theirs.T, atol=1e-7)


def test_is_optimal_for_nearly_dependent_columns():
    # monomials on an interval: the usual trouble of a polynomial library
    z = np.linspace(0.2, 1.2, 60)
    matrix = z[:, None] ** np.arange(1, 11)
    matrix /= np.linalg.norm(matrix, axis=0)
    gram = matrix.T @ matrix
    assert np.linalg.cond(gram) > 1e10
    lefts = [np.sin(speed * z) for speed in range(1, 21)]
    moments = np.array([matrix.T @ left for left in lefts])
    penalties = largest_penalty(moments) * np.geomspace(1.0, 1e-4, 25)
    sizes = []
    path = lasso_path(np.array([gram] * len(lefts)), moments, penalties)
    for penalty, found in zip(penalties, path, strict=True):
        for moment, coefficients in zip(moments, found, strict=True):
            assert violation(gram, moment, coefficients, penalty) < 1e-6
        sizes.append(int((found != 0).sum(axis=1).max()))
    assert max(sizes) >= 4


def test_terms_also_leave_the_path_and_come_back_with_the_other_sign():
    # the third column stands in for the first two until both are chosen; in the end it is needed
    # for the part of the left-hand side that they lack, with a negative coefficient
    proxy = np.array([1.0, 1.0, 0.6]) / np.sqrt(2.36)
    matrix = np.column_stack([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], proxy])
    left = np.array([1.0, 1.0, -0.1])
    grams, moments = (matrix.T @ matrix)[None], (matrix.T @ left)[None]
    penalties = np.geomspace(1.2, 1e-4, 200)
    coefficients = np.array([found[0] for found in lasso_path(grams, moments, penalties)])
    signs = np.sign(coefficients).astype(int).tolist()
    distinct = [s for k, s in enumerate(signs) if k == 0 or s != signs[k - 1]]
    assert distinct == [[0, 0, 1], [1, 1, 1], [1, 1, 0], [1, 1, -1]]
    expected = np.linalg.solve(matrix, left)
    np.testing.assert_allclose(coefficients[-1], expected, atol=2e-3)


def test_repeated_columns_fit_like_one():
    matrix, left = regression(4)
    doubled = np.column_stack([matrix, matrix[:, 0]])
    penalties = [0.5, 0.05]

    def fitted(columns):
        path = lasso_path((columns.T @ columns)[None], (columns.T @ left)[None], penalties)
        return [columns @ found[0] for found in path]

    np.testing.assert_allclose(fitted(doubled), fitted(matrix), atol=1e-6)


def test_regressions_do_not_influence_each_other():
    matrix, left = regression(6)
    other, side = regression(6, seed=1)
    grams = np.array([matrix.T @ matrix, other.T @ other])
    moments = np.array([matrix.T @ left, other.T @ side])
    penalties = [1.0, 0.1, 0.01]
    together = list(lasso_path(grams, moments, penalties))
    alone = list(lasso_path(grams[1:], moments[1:], penalties))
    np.testing.assert_allclose([step[1] for step in together], [step[0] for step in alone])


@pytest.mark.parametrize("penalties", [[0.1, 0.2], [0.1, 0.1], [0.1, -0.1]])
def test_penalties_must_fall_and_stay_positive(penalties):
    with pytest.raises(ValueError, match="decreasing"):
        list(lasso_path(np.eye(1)[None], np.ones((1, 1)), penalties))
