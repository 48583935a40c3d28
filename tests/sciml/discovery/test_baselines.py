"""Common sparse regressions on weak-form rows: their rules, and their standard errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LassoCV

import sciml
from sciml.discovery import WeakLasso, WeakMSTLS, WeakSTLSQ
from sciml.discovery.recording import as_recordings
from sciml.discovery.sparse_supports import (
    Choice,
    lasso_support,
    mstls_support,
    path_by_size,
    stlsq_support,
)
from sciml.discovery.subset_search import GramSystem
from sciml.metrics import coefficient_error, support_f1

ESTIMATORS = [WeakLasso, WeakSTLSQ, WeakMSTLS]


def orthogonal(coefficients) -> GramSystem:
    """A regression on orthonormal columns with given coefficients and no residual."""
    count = len(coefficients)
    return GramSystem.of(np.eye(count + 3)[:, :count], np.append(coefficients, np.zeros(3)))


class TestRules:
    def test_stlsq_drops_parts_below_the_threshold(self):
        system = orthogonal([1.0, 0.2, 0.09])
        # the norm of the left-hand side is 1.024
        assert stlsq_support(system, 0.1).support == (0, 1)
        assert stlsq_support(system, 0.08).support == (0, 1, 2)
        assert stlsq_support(system, 0.2).support == (0,)
        assert stlsq_support(system, 0.99).support == ()

    def test_stlsq_judges_again_after_each_fit(self):
        # the second column is large only as long as the third corrects it
        matrix = np.array([[1.0, 0.0, 0.0], [0.0, 0.5**0.5, 0.0], [0.0, 0.5**0.5, 1.0]])
        left = np.array([1.0, 0.1, 0.02])
        choice = stlsq_support(GramSystem.of(matrix, left), 0.09)
        assert [support for support, _ in choice.steps] == [(0, 1, 2), (0, 1), (0,)]
        assert choice.support == (0,)

    def test_mstls_minimizes_its_loss(self):
        coefficients = np.array([1.0, 0.5, 0.01, 0.001])
        choice = mstls_support(orthogonal(coefficients))
        size = np.linalg.norm(coefficients)
        losses = {
            support: np.linalg.norm(np.delete(coefficients, support)) / size + len(support) / 4
            for support in [(), (0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]
        }
        assert choice.support == min(losses, key=losses.get) == (0, 1)
        for support, loss in choice.steps:
            assert loss == pytest.approx(losses[support])

    def test_mstls_also_drops_what_is_too_large(self):
        # at a threshold of 1 only coefficients of size |y|/|G_j| = 1 pass, none does here
        choice = mstls_support(orthogonal([2.0, 3.0]), n_thresholds=2)
        assert choice.steps[-1][0] == ()

    def test_lasso_is_that_of_coordinate_descent(self):
        rng = np.random.default_rng(3)
        matrix = rng.normal(size=(100, 8))
        left = matrix[:, 1] + 0.3 * matrix[:, 5] + rng.normal(size=100)
        choice = lasso_support(matrix, left)
        scaled = matrix / np.linalg.norm(matrix, axis=0) * 10.0
        model = LassoCV(cv=5, alphas=100, eps=1e-3, fit_intercept=False, tol=1e-10)
        model.fit(scaled, left / np.linalg.norm(left) * 10.0)
        assert choice.support == tuple(np.flatnonzero(model.coef_))
        errors = [score for _, score in choice.steps]
        theirs = model.mse_path_.mean(axis=1)[:: 1 if model.alphas_[0] > model.alphas_[-1] else -1]
        np.testing.assert_allclose(np.array(errors) * 100.0, theirs, rtol=1e-6)

    def test_lasso_of_nothing_is_empty(self):
        assert lasso_support(np.eye(10)[:, :3], np.zeros(10)).support == ()

    def test_path_keeps_the_best_support_of_each_size(self):
        system = orthogonal([2.0, 1.0])
        choice = Choice((0, 1), (((0,), 0.5), ((1,), 0.9), ((0, 1), 0.1)))
        steps = path_by_size(choice, system, ["first", "second"])
        assert [(step.size, step.terms, step.score) for step in steps] == [
            (1, ("first",), 0.5),
            (2, ("first", "second"), 0.1),
        ]
        assert [step.residual for step in steps] == pytest.approx([0.2, 0.0])

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: stlsq_support(orthogonal([1.0]), 0.0), "threshold must be positive"),
            (lambda: mstls_support(orthogonal([1.0]), 0), "n_thresholds must be a positive"),
            (lambda: lasso_support(np.eye(9), np.ones(9), folds=1), "folds must be a whole"),
            (
                lambda: lasso_support(np.eye(9), np.ones(9), smallest_penalty=1.0),
                "smallest_penalty must lie",
            ),
        ],
    )
    def test_parameters_out_of_range_are_named(self, call, message):
        with pytest.raises(ValueError, match=message):
            call()


class TestEstimators:
    @pytest.mark.parametrize("estimator", ESTIMATORS)
    def test_find_the_heat_equation_in_clean_data(self, heat, estimator):
        model = estimator()
        assert model.fit(heat) is model
        assert list(model.terms_["u"]) == ["u_xx"]
        assert model.terms_["u"]["u_xx"] == pytest.approx(0.1, rel=1e-6)
        assert model.adequate_["u"]
        assert model.score(heat) == pytest.approx(1.0, abs=1e-6)

    def test_thresholding_finds_burgers_in_noise_and_the_lasso_adds_terms(self, burgers, noisy):
        data = noisy(burgers, 0.05, seed=1)
        truth = {"u*u_x": -1.0, "u_xx": 0.1}
        for estimator in (WeakSTLSQ, WeakMSTLS):
            model = estimator().fit(data)
            assert set(model.terms_["u"]) == set(truth)
            assert coefficient_error(model.terms_["u"], truth) < 0.05
            assert 0.8 < model.chi2_["u"] < 1.2
        lasso = WeakLasso().fit(data)
        assert set(truth) < set(lasso.terms_["u"])
        assert support_f1(lasso.support_["u"], ["(u^2)_x", "u_xx"]) < 0.9

    def test_standard_errors_are_those_of_repeated_noise(self, heat, noisy):
        found, promised, misfit = [], [], []
        for seed in range(40):
            model = WeakSTLSQ(["u_xx", "u"]).fit(noisy(heat, 0.05, seed))
            assert list(model.terms_["u"]) == ["u_xx"]
            found.append(model.terms_["u"]["u_xx"])
            promised.append(model.standard_errors_["u"]["u_xx"])
            misfit.append(model.chi2_["u"])
        # 40 draws tell a standard deviation to 11 percent
        assert np.std(found) == pytest.approx(np.mean(promised), rel=0.35)
        assert np.mean(misfit) == pytest.approx(1.0, abs=0.1)
        inside = np.abs(np.array(found) - 0.1) < 1.96 * np.array(promised)
        assert inside.mean() >= 0.85

    def test_an_equation_outside_the_library_is_declared(self, reaction, noisy):
        with pytest.warns(sciml.discovery.DiscoveryWarning, match="outside the library"):
            model = WeakSTLSQ(["u", "u_xx"]).fit(noisy(reaction, 0.05))
        assert not model.adequate_["u"]
        assert model.chi2_["u"] > 2.0

    def test_known_terms_are_part_of_the_equation(self, burgers, noisy):
        data = noisy(burgers, 0.02)
        model = WeakSTLSQ(known={"u_xx": 0.1}).fit(data)
        assert model.terms_["u"]["u_xx"] == 0.1
        assert model.terms_["u"]["u*u_x"] == pytest.approx(-1.0, abs=0.02)
        assert model.support_["u"] == ("(u^2)_x",)

    @pytest.mark.parametrize("estimator", ESTIMATORS)
    def test_follow_the_conventions_of_scikit_learn(self, estimator):
        model = estimator(["u", "u_xx"], periodic=True, half_widths=(9, 9))
        copy = clone(model)
        assert copy.get_params() == model.get_params()
        assert copy.set_params(periodic=False) is copy
        assert copy.periodic is False

    @pytest.mark.parametrize(
        ("name", "estimator"), [("lasso", WeakLasso), ("stlsq", WeakSTLSQ), ("mstls", WeakMSTLS)]
    )
    def test_are_known_at_the_front_door(self, heat, name, estimator):
        model = sciml.discover(heat, library=["u_xx", "u"], estimator=name)
        assert type(model) is estimator
        assert model.support_ == {"u": ("u_xx",)}

    def test_rows_of_several_runs_are_used_together(self, heat_modes, noisy):
        runs = [
            noisy(heat_modes(modes=(1, 3)), 0.05, 0),
            noisy(heat_modes(times=60, modes=(2, 4)), 0.05, 1),
        ]
        single, both = WeakSTLSQ().fit(runs[0]), WeakSTLSQ().fit(runs)
        assert both.n_rows_ == single.n_rows_ + WeakSTLSQ().fit(runs[1]).n_rows_
        assert both.support_ == {"u": ("u_xx",)}
        assert both.standard_errors_["u"]["u_xx"] < single.standard_errors_["u"]["u_xx"]
        assert len(as_recordings(runs)) == 2
