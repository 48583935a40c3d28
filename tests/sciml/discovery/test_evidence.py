"""Rivals, the growth of the residual when a term is dropped, and what it forecasts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sciml.discovery.evidence import (
    find_rivals,
    noise_limits,
    residual_growth,
    verdict,
)
from sciml.discovery.library import Library
from sciml.discovery.recording import as_recordings
from sciml.discovery.subset_search import GramSystem, SearchResult, choose_size, search
from sciml.discovery.weak_form import WeakForm
from sciml.discovery.whitened_fit import Assembled, EquationFit, whitened_best_subset
from sciml.theory.detection import critical_growth


def fit_of(matrix, left, support, floor=0.0):
    """Least squares with unit noise, dressed as a fit."""
    system = GramSystem.of(matrix, left)
    columns = matrix[:, list(support)]
    coefficients, residual = system.solve(support)
    covariance = np.linalg.inv(columns.T @ columns)
    return EquationFit(
        support=support,
        coefficients=coefficients,
        covariance=covariance,
        chi2=residual / (len(left) - len(support)),
        result=search(system, 5),
        system=system,
        floor=floor,
        clean=False,
        corrected=True,
        relative_residual=float(np.sqrt(residual / system.square)),
    )


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(150, 8)) + 0.6 * rng.normal(size=(150, 1))
    left = matrix[:, [1, 4, 6]] @ [1.0, -0.4, 0.25] + rng.normal(size=150)
    return matrix, left


@pytest.fixture(scope="module")
def noisy_fit(burgers, noisy):
    (run,) = as_recordings(noisy(burgers, 0.05))
    weak = WeakForm(run, Library().features(("u",), ("x",)))
    return whitened_best_subset(Assembled([weak], "u", [weak.matrix()]), 5)


def test_verdicts():
    assert [verdict(r) for r in (1.0, 1.249, 1.25, 2.99, 3.0, 1e4)] == [
        "ambiguous", "ambiguous", "weak", "weak", "identified", "identified",
    ]  # fmt: skip


def test_growth_is_an_identity_for_least_squares(planted):
    matrix, left = planted
    fit = fit_of(matrix, left, (1, 4, 6))
    _, chosen = fit.system.solve(fit.support)
    for position, predicted in enumerate(residual_growth(fit)):
        rest = tuple(k for p, k in enumerate(fit.support) if p != position)
        _, without = fit.system.solve(rest)
        assert predicted == pytest.approx(without / chosen, rel=1e-10)


def test_growth_of_a_real_fit(noisy_fit):
    """The correction for noise in the features moves it by less than five percent."""
    _, chosen = noisy_fit.system.solve(noisy_fit.support)
    for position, predicted in enumerate(residual_growth(noisy_fit)):
        rest = tuple(k for p, k in enumerate(noisy_fit.support) if p != position)
        _, without = noisy_fit.system.solve(rest)
        assert predicted == pytest.approx(without / chosen, rel=0.05)


def test_rivals_are_the_best_that_do_without_a_term(planted):
    matrix, left = planted
    fit = fit_of(matrix, left, (1, 4, 6))
    _, chosen = fit.system.solve(fit.support)
    for rival, column in zip(find_rivals(fit), fit.support, strict=True):
        rest = [k for k in range(8) if k != column]
        supports = [s for size in range(5) for s in itertools.combinations(rest, size)]
        residuals = [fit.system.solve(s)[1] for s in supports]
        best = int(np.argmin(residuals))
        assert (rival.without, rival.support) == (column, supports[best])
        assert rival.ratio == pytest.approx(residuals[best] / chosen, rel=1e-9)
        expected = np.linalg.lstsq(matrix[:, list(rival.support)], left, rcond=None)[0]
        np.testing.assert_allclose(rival.coefficients, expected, rtol=1e-8)


def test_the_floor_makes_rivals_of_what_discretization_cannot_tell_apart(planted):
    matrix, _ = planted
    left = matrix[:, 2] + 1e-6 * matrix[:, 5]
    exact, floored = (
        find_rivals(fit_of(matrix, left, (2, 5), floor))[1].ratio for floor in (0.0, 3e-3)
    )
    assert exact > 1e6
    assert floored == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("rows", "size"), [(60, 1), (400, 2), (2000, 3)])
def test_growth_at_which_the_choice_of_size_loses_a_term(rows, size):
    """Just above it the term stays, just below it goes."""
    columns, growth = 16, critical_growth(rows, 16, size)
    system = GramSystem.of(np.random.default_rng(0).normal(size=(rows, columns)), np.ones(rows))
    for factor, kept in ((1.001, size), (0.999, size - 1)):
        # smaller supports leave far more, so only the last step is in question
        residuals = [1e9] * (size - 1) + [growth * factor, 1.0]
        result = SearchResult(tuple(((), r) for r in residuals), [])
        assert choose_size(result, system, 0.0) == kept


def test_noise_limit_is_where_the_growth_has_fallen_that_far(noisy_fit):
    limits = noise_limits(noisy_fit)
    system = noisy_fit.system
    needed = critical_growth(system.rows, system.size, len(noisy_fit.support))
    grown = 1 + (residual_growth(noisy_fit) - 1) / limits**2
    np.testing.assert_allclose(grown, needed, rtol=1e-10)
    assert np.all(limits > 4)
