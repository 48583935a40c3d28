"""Scores and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sciml.metrics import coefficient_error, observed_order, relative_l2, support_f1

supports = st.sets(st.sampled_from(["u", "u_x", "u_xx", "u*u_x", "u^2", "1"]))


@given(found=supports, true=supports)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(found, true):
    score = support_f1(found, true)
    right = len(found & true)
    if right:
        precision, recall = right / len(found), right / len(true)
        assert score == pytest.approx(2 * precision * recall / (precision + recall))
    else:
        assert score == float(not found and not true)
    assert score == support_f1(sorted(true), dict.fromkeys(found, 1.0))


def test_f1_of_systems_counts_terms_in_their_own_equation():
    true = {"u": {"v": 1.0}, "v": {"u": -1.0}}
    assert support_f1({"u": {"v": 0.9}, "v": {"u": -1.1}}, true) == 1.0
    assert support_f1({"u": {"u": 0.9}, "v": {"v": -1.1}}, true) == 0.0
    assert support_f1({"u": ["v"], "v": []}, true) == pytest.approx(2 / 3)


def test_a_zero_coefficient_is_an_absent_term():
    assert support_f1({"u_xx": 0.1, "u": 0.0}, {"u_xx": 0.1}) == 1.0


def test_coefficient_error_takes_the_worst_true_term():
    true = {"u": {"u*u_x": -1.0, "u_xx": 0.1}}
    assert coefficient_error({"u": {"u*u_x": -1.01, "u_xx": 0.104}}, true) == pytest.approx(0.04)
    assert coefficient_error({"u": {"u*u_x": -1.0}}, true) == 1.0
    assert coefficient_error({"h": {"h": 1j}}, {"h": {"h": 1.0}}) == pytest.approx(math.sqrt(2))
    assert math.isnan(coefficient_error({"u": 1.0}, {}))


@pytest.mark.parametrize("call", [lambda: support_f1("u_xx", ["u_xx"]), lambda: support_f1(3, [])])
def test_a_name_is_no_support(call):
    with pytest.raises(TypeError, match="set, list or mapping of terms"):
        call()


def test_coefficient_error_needs_coefficients():
    with pytest.raises(TypeError, match="must map terms to numbers"):
        coefficient_error(["u_xx"], {"u_xx": 0.1})


@given(scale=st.floats(1e-6, 1e6), seed=st.integers(0, 99))
def test_relative_l2_does_not_change_with_units(scale, seed):
    first, second = np.random.default_rng(seed).normal(size=(2, 3, 4))
    assert relative_l2(scale * first, scale * second) == pytest.approx(relative_l2(first, second))


def test_relative_l2_per_sample_and_in_torch():
    truth = np.array([[3.0, 4.0], [0.0, 2.0]])
    guess = np.array([[3.0, 4.5], [1.0, 2.0]])
    np.testing.assert_allclose(relative_l2(guess, truth, axis=1), [0.1, 0.5])
    tensor = torch.tensor(guess, requires_grad=True)
    error = relative_l2(tensor, torch.tensor(truth))
    error.backward()
    assert error.item() == pytest.approx(relative_l2(guess, truth))
    assert tensor.grad is not None and bool(tensor.grad.abs().sum() > 0)
    assert relative_l2(np.array([1j]), np.array([1.0])) == pytest.approx(math.sqrt(2))


def test_relative_l2_broadcasts_nothing_and_divides_by_no_zero():
    with pytest.raises(ValueError, match=r"shape \(2,\) and truth \(2, 1\)"):
        relative_l2(np.ones(2), np.ones((2, 1)))
    with pytest.raises(ValueError, match="truth is 0 everywhere"):
        relative_l2(np.ones(2), np.zeros(2))


@given(order=st.floats(0.5, 8.0), constant=st.floats(1e-3, 1e3))
def test_order_of_an_exact_power_law(order, constant):
    steps = np.array([0.1, 0.05, 0.02])
    assert observed_order(steps, constant * steps**order) == pytest.approx(order, rel=1e-9)


def test_order_means_nothing_without_errors():
    assert math.isnan(observed_order([0.1, 0.05], [1e-3, 0.0]))
    assert math.isnan(observed_order([0.1, 0.05], [1e-3, np.inf]))
    with pytest.raises(ValueError, match="at least two different positive"):
        observed_order([0.1, 0.1], [1e-3, 1e-3])
    with pytest.raises(ValueError, match="one error for each step"):
        observed_order([0.1, 0.2], [1e-3])


def test_weighted_relative_error_is_that_of_functions():
    import torch

    from sciml.nn import quadrature_weights

    def error(points, weighted):
        x = np.linspace(0, 1, points)
        weights = quadrature_weights((points,), axis_kinds="node") if weighted else None
        return relative_l2(np.exp(x) + x**4, np.exp(x), weights=weights)

    exact = np.sqrt((1 / 9) / ((np.exp(2) - 1) / 2))
    # The trapezoid rule is h^2/12 (8 x^7)' off in the square of the numerator, 1/9.
    assert error(33, True) == pytest.approx(exact, rel=3e-3)
    assert error(129, True) == pytest.approx(exact, rel=2e-4)
    assert abs(error(33, False) / exact - 1) > 0.03
    truth = torch.tensor([[3.0, 4.0], [0.0, 1.0]])
    found = relative_l2(truth + 1, truth, axis=1, weights=torch.tensor([1.0, 3.0]))
    assert torch.allclose(found, torch.tensor([(4 / 57) ** 0.5, (4 / 3) ** 0.5]))
    with pytest.raises(ValueError, match=r"weights have shape \(3,\)"):
        relative_l2(truth + 1, truth, weights=np.ones(3))
    with pytest.raises(ValueError, match="not negative"):
        relative_l2(truth + 1, truth, weights=np.array([1.0, -1.0]))
