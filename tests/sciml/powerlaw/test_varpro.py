"""Variable projection against known minima, other solvers and itself on torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import least_squares

from sciml.powerlaw.radial_sum import RadialSum
from sciml.powerlaw.separable_fit import SparseDerivatives
from sciml.powerlaw.structure import Structure
from sciml.powerlaw.varpro import reduced_residuals, variable_projection

X = np.linspace(0.1, 1.0, 120) ** 2
TWO = Structure(powers=2)


def dense(model):
    """The same model with dense derivatives."""

    def call(parameters):
        columns, sparse = model(parameters)
        full = np.zeros((len(parameters), parameters.shape[1], *columns.shape[1:]))
        for i, (j, k) in enumerate(zip(sparse.parameter, sparse.column, strict=True)):
            full[:, j, :, k] = sparse.values[:, i]
        return columns, full

    return call


def noisy(seed=0, sigma=0.01):
    rng = np.random.default_rng(seed)
    return X**0.4 - 0.5 * X**1.7 + sigma * rng.normal(size=len(X))


def test_exact_sum():
    fit = variable_projection(RadialSum(X, TWO), 2 * X**0.5 - X**0.8, np.array([0.1, 2.0]))
    np.testing.assert_allclose(np.sort(fit.parameters), [0.5, 0.8], atol=1e-13)
    assert fit.relative_residual < 1e-15
    assert fit.converged


@pytest.mark.parametrize("kaufman", [True, False])
def test_same_minimum_as_joint_least_squares(kaufman):
    y = noisy()
    fit = variable_projection(RadialSum(X, TWO), y, np.array([0.0, 2.0]), kaufman=kaufman)

    def residual(p):
        return p[2] * X ** p[0] + p[3] * X ** p[1] - y

    joint = least_squares(residual, [0.3, 1.5, 1, -0.5], xtol=1e-15, ftol=1e-15, gtol=1e-15)
    np.testing.assert_allclose(fit.parameters, joint.x[:2], rtol=1e-6)
    np.testing.assert_allclose(fit.coefficients, joint.x[2:], rtol=1e-6)
    # standard errors of the joint problem
    variance = 2 * joint.cost / (len(X) - 4)
    errors = np.sqrt(np.diag(np.linalg.inv(joint.jac.T @ joint.jac)) * variance)
    np.testing.assert_allclose(fit.standard_errors()[0], errors[:2], rtol=1e-4)
    np.testing.assert_allclose(fit.standard_errors()[1], errors[2:], rtol=1e-4)


def test_minimum_is_stationary_to_rounding():
    fit = variable_projection(RadialSum(X, TWO), noisy(), np.array([0.0, 2.0]))
    gradient = fit.jacobian.T @ fit.residual
    size = np.linalg.norm(fit.jacobian, axis=0) * np.linalg.norm(fit.residual)
    assert np.all(np.abs(gradient) < 1e-10 * size)


def test_jacobian_of_the_reduced_residual_by_differences():
    model, y, p, step = RadialSum(X, TWO), noisy(), np.array([0.3, 1.2]), 1e-6

    def residual(parameters):
        # one clipped step cannot move: the residual at the parameters themselves
        return variable_projection(
            model, y, parameters, lower=parameters, upper=parameters, kaufman=False
        )

    jacobian = residual(p).jacobian
    for j in range(2):
        shift = step * np.eye(2)[j]
        slope = (residual(p + shift).residual - residual(p - shift).residual) / (2 * step)
        np.testing.assert_allclose(jacobian[:, j], slope, atol=1e-8)


def test_dense_and_sparse_derivatives_agree():
    for kaufman in (True, False):
        fits = [
            variable_projection(model, noisy(), np.array([0.0, 2.0]), kaufman=kaufman)
            for model in (RadialSum(X, TWO), dense(RadialSum(X, TWO)))
        ]
        np.testing.assert_allclose(fits[0].parameters, fits[1].parameters, rtol=1e-12)


def test_batch_is_as_good_as_one_by_one():
    sides = np.stack([noisy(seed) for seed in range(4)])
    starts = np.tile([0.0, 2.0], (4, 1))
    model = RadialSum(X, TWO)
    together = variable_projection(model, sides, starts)
    assert len(together) == 4
    for i in range(4):
        alone = variable_projection(model, sides[i], starts[i])
        np.testing.assert_allclose(together[i].parameters, alone.parameters, rtol=1e-10)
        np.testing.assert_allclose(together[i].residual, alone.residual, atol=1e-12)


def test_members_with_radii_of_their_own():
    radii = np.stack([X, X**0.5, 0.3 * X])
    sides = radii ** np.array([[0.5], [-1.0], [2.0]])
    fit = variable_projection(RadialSum(radii, Structure(1)), sides, np.ones((3, 1)))
    np.testing.assert_allclose(fit.parameters[:, 0], [0.5, -1.0, 2.0], atol=1e-13)


def test_torch_agrees_with_numpy():
    sides, starts = np.stack([noisy(1, 1e-3), noisy(2, 1e-3)]), np.tile([0.2, 1.5], (2, 1))
    weights = np.linspace(0.5, 2.0, len(X))
    here = variable_projection(RadialSum(X, TWO), sides, starts, weights=weights, lower=-1, upper=3)
    there = variable_projection(
        RadialSum(torch.from_numpy(X), TWO),
        torch.from_numpy(sides),
        torch.from_numpy(starts),
        weights=torch.from_numpy(weights),
        lower=-1,
        upper=3,
    )
    np.testing.assert_allclose(there.parameters.numpy(), here.parameters, rtol=1e-10)
    np.testing.assert_allclose(there.coefficients.numpy(), here.coefficients, rtol=1e-10)
    for ours, theirs in zip(here.standard_errors(), there.standard_errors(), strict=True):
        np.testing.assert_allclose(theirs.numpy(), ours, rtol=1e-8)


def test_weights_are_inverse_deviations():
    y = noisy()
    doubled = np.concatenate([X, X]), np.concatenate([y, y])
    start = np.array([0.0, 2.0])
    weighted = variable_projection(
        RadialSum(X, TWO), y, start, weights=np.full(len(X), np.sqrt(2.0))
    )
    repeated = variable_projection(RadialSum(doubled[0], TWO), doubled[1], start)
    np.testing.assert_allclose(weighted.parameters, repeated.parameters, rtol=1e-8)
    np.testing.assert_allclose(
        weighted.standard_errors(noise=1.0)[0], repeated.standard_errors(noise=1.0)[0], rtol=1e-8
    )


def test_bounds_hold_and_free_parameters_still_find_their_minimum():
    y = X**0.5 + X**0.8
    fit = variable_projection(RadialSum(X, TWO), y, np.array([0.1, 0.6]), lower=0.0, upper=0.7)
    assert fit.parameters[1] == 0.7
    assert fit.at_bound.tolist() == [False, True]
    free = variable_projection(
        RadialSum(X, TWO), y, np.array([0.1, 0.7]), lower=[0, 0.7], upper=[1, 0.7]
    )
    np.testing.assert_allclose(fit.parameters, free.parameters, atol=1e-9)


def test_covariance_is_the_scatter():
    rng = np.random.default_rng(3)
    clean = X**0.4 - 0.5 * X**1.7
    sides = clean + 1e-3 * rng.normal(size=(400, len(X)))
    fit = variable_projection(RadialSum(X, TWO), sides, np.tile([0.4, 1.7], (400, 1)))
    measured = fit.parameters.std(axis=0)
    bound = fit[0].standard_errors(noise=1e-3)[0]
    np.testing.assert_allclose(measured, bound, rtol=4 / np.sqrt(800))


def test_no_parameters_is_linear_least_squares():
    y = noisy()
    fit = variable_projection(RadialSum(X, Structure(fixed=(0.4, 1.7))), y, np.zeros(0))
    columns = np.stack([X**0.4, X**1.7], axis=1)
    np.testing.assert_allclose(fit.coefficients, np.linalg.lstsq(columns, y)[0], rtol=1e-12)


@pytest.mark.parametrize("batch", [(), (1,), (3,)])
@pytest.mark.parametrize("kaufman", [True, False])
def test_sparse_derivatives_of_no_parameter_are_linear_least_squares(batch, kaufman):
    y, weights = noisy(), np.linspace(1.0, 2.0, len(X))
    columns = np.stack([X**0.4, X**1.7], axis=1)

    def model(parameters):
        count = len(parameters)
        none = SparseDerivatives(np.zeros((count, 0, len(X))), (), ())
        return np.broadcast_to(columns, (count, *columns.shape)), none

    fit = variable_projection(model, y, np.zeros((*batch, 0)), weights=weights, kaufman=kaufman)
    wanted = np.linalg.lstsq(columns * weights[:, None], y * weights, rcond=None)[0]
    np.testing.assert_allclose(fit.coefficients, np.broadcast_to(wanted, (*batch, 2)), rtol=1e-12)
    assert fit.jacobian.shape == (*batch, len(X), 0)
    assert fit.full_jacobian.shape == (*batch, len(X), 2)
    assert np.all(fit.converged)


def test_a_start_that_overflows_is_said_and_not_chosen():
    starts = np.array([[-200.0, -300.0], [0.1, 2.0]])
    fit = variable_projection(RadialSum(X, TWO), X**0.5 + X, starts)
    assert fit.message[0] == "the model is not finite at the start"
    assert not fit.converged[0]
    np.testing.assert_allclose(np.sort(fit.best().parameters), [0.5, 1.0], atol=1e-13)


def test_a_race_ends_with_the_first_at_the_target():
    starts = np.array([[0.45, 1.1], [-3.0, 5.0]])
    fit = variable_projection(RadialSum(X, TWO), X**0.5 + X, starts, target=1e-6)
    assert "the residual reached the target" in fit.message
    assert fit.best().relative_residual <= 1e-6


def test_reduced_residuals():
    found = reduced_residuals(RadialSum(X, Structure(1)), X**2, np.array([[2.0], [1.0]]))
    assert found[0] < 1e-15
    assert found[1] > 0.05


def test_too_few_rows_and_wrong_shapes():
    model = RadialSum(X[:3], TWO)
    with pytest.raises(ValueError, match="3 rows for 2 columns and 2 nonlinear parameters"):
        variable_projection(model, X[:3], np.array([0.1, 2.0]))
    with pytest.raises(ValueError, match="start has shape"):
        variable_projection(model, X[:3], np.zeros((1, 1, 2)))
    with pytest.raises(ValueError, match="lower exceeds upper"):
        variable_projection(RadialSum(X, TWO), X, np.zeros(2), lower=1, upper=0)
    with pytest.raises(ValueError, match="y has 3 members and start 2"):
        variable_projection(RadialSum(X, TWO), np.stack([X] * 3), np.zeros((2, 2)))


def test_sparse_derivatives_may_name_a_parameter_of_several_columns():
    # both columns share one exponent: x^mu and x^(mu+1)
    def model(p):
        columns = np.stack([X ** p[:, :1], X ** (p[:, :1] + 1)], axis=-1)
        slopes = np.swapaxes(columns, 1, 2) * np.log(X)
        return columns, SparseDerivatives(slopes, (0, 0), (0, 1))

    fit = variable_projection(model, X**0.3 + 2 * X**1.3, np.array([1.0]))
    np.testing.assert_allclose(fit.parameters, [0.3], atol=1e-13)
