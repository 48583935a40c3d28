"""The row covariance is exact to first order in the noise: compared with the Jacobian itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sciml.discovery.covariance import (
    PairSums,
    Whitener,
    combine,
    response_covariance,
    trace_products,
)
from sciml.discovery.library import Library
from sciml.discovery.recording import Recording
from sciml.discovery.weak_form import WeakForm
from sciml.discovery.whitened_fit import Assembled

STEP = 1e-4


def make(periodic=(True,), fields=("u",), shape=(26, 22), missing=None, noise=0.03) -> Recording:
    """A smooth recording of random waves on a small grid."""
    rng = np.random.default_rng(4)
    axes = [np.linspace(0, 2 * np.pi, n, endpoint=False) for n in shape]
    grids = np.meshgrid(*axes, indexing="ij")
    values = {}
    for name in fields:
        phase = rng.uniform(0, 6, size=len(shape))
        waves = [np.cos(g + p) for g, p in zip(grids, phase, strict=True)]
        values[name] = np.prod(waves, axis=0) + 0.5 * np.sin(sum(grids) + phase[0])
    names = ("x", "y", "z")[: len(shape) - 1]
    return Recording(
        fields=values,
        coordinates=dict(zip((*names, "t"), axes, strict=True)),
        periodic=periodic,
        missing=missing,
        noise=dict.fromkeys(fields, noise),
        complex_fields=(),
    )


def columns_of(weak: WeakForm, fields, target="u"):
    """Features and left-hand side for fields changed under fixed windows and noise level."""
    widths = [windows.half_width for windows in weak.windows]
    run = replace(weak.recording, fields=fields)
    changed = WeakForm(run, weak.features, widths, noise=weak.noise)
    changed.windows = weak.windows  # their matrices are made once
    return np.column_stack([changed.matrix(), changed.left_side(target)])


def jacobian(weak: WeakForm, field: str, target="u"):
    """Derivative of every column by the values of a field, shape (rows, columns, grid points).

    Central differences are exact to rounding for the quadratic and accurate to 1e-8 for the cubic
    terms.
    """
    base = weak.recording.fields
    out = []
    for position in np.ndindex(base[field].shape):
        both = []
        for sign in (1, -1):
            values = base[field].copy()
            values[position] += sign * STEP
            both.append(columns_of(weak, {**base, field: values}, target))
        out.append((both[0] - both[1]) / (2 * STEP))
    return np.moveaxis(np.array(out), 0, -1)


def relative(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


CASES = {
    "periodic": (make(), Library(), [6, 5]),
    "edges": (make(periodic=(False,)), Library(), [6, 5]),
    "two fields": (make(fields=("u", "v")), Library(degree=2, order=2), [6, 5]),
    "two axes": (
        make(periodic=(True, False), shape=(10, 11, 10)),
        Library(degree=2, order=2),
        [4, 4, 4],
    ),
    "coordinate factor": (
        make(periodic=(False,), shape=(18, 14)),
        Library(degree=2, order=2, extra=("x*u_x", "x^2*u^3")),
        [5, 4],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_covariance_of_the_residual_is_that_of_its_jacobian(name):
    run, library, widths = CASES[name]
    fields = tuple(run.fields)
    features = library.features(fields, run.space)
    weak = WeakForm(run, features, widths)
    rng = np.random.default_rng(0)
    support = sorted(rng.choice(len(features) - 1, size=5, replace=False) + 1)
    coefficients = rng.normal(size=5)
    mixing = np.concatenate([-coefficients, [1.0]])
    assembled = Assembled([weak], "u", [weak.matrix()])
    exact = 0.0
    for field in fields:
        slopes = jacobian(weak, field)[:, [*support, -1]]
        residual = np.einsum("rcn,c->rn", slopes, mixing)
        exact = exact + weak.noise[field] ** 2 * residual @ residual.T
    found = assembled.covariance(0, support, coefficients)
    assert found.shape == (weak.n_rows,) * 2
    assert relative(found, exact) < 1e-7


def test_covariance_of_rows_that_touch_no_missing_value():
    missing = np.zeros((26, 22), dtype=bool)
    missing[3, 4] = True
    whole, holed = make(), make(missing=missing)
    features = Library().features(("u",), ("x",))
    widths = [6, 5]
    full, kept = WeakForm(whole, features, widths), WeakForm(holed, features, widths)
    support, coefficients = [4, 5], np.array([-0.5, 0.1])
    every = Assembled([full], "u", [full.matrix()]).covariance(0, support, coefficients)
    part = Assembled([kept], "u", [kept.matrix()]).covariance(0, support, coefficients)
    assert 0 < kept.n_rows < full.n_rows
    np.testing.assert_allclose(part, every[np.ix_(kept.kept, kept.kept)], rtol=1e-12)


def test_product_of_derivatives_is_nearly_exact():
    """Leibniz' rule for the smoothing filters is approximate: a few percent."""
    run = make(shape=(48, 26))
    features = Library(terms=("u_xx", "u_x^2")).features(("u",), ("x",))
    weak = WeakForm(run, features, [12, 8])
    slopes = jacobian(weak, "u")[:, 1]
    pairs = PairSums(weak)
    found = response_covariance(pairs, combine([weak.response(1, "u")], [1.0]))
    assert relative(found, slopes @ slopes.T) < 0.05


@pytest.mark.parametrize("name", ["periodic", "two fields", "two axes"])
def test_trace_products_against_the_matrices_themselves(name):
    run, library, widths = CASES[name]
    features = library.features(tuple(run.fields), run.space)
    weak = WeakForm(run, features, widths)
    columns = [2, 4, 5, -1]
    random = np.random.default_rng(1).normal(size=(weak.n_rows, weak.n_rows))
    inverse = random @ random.T
    slopes = jacobian(weak, "u")[:, columns]
    exact = np.einsum("ij,ian,jbn->ab", inverse, slopes, slopes)
    responses = [weak.left_response() if c < 0 else weak.response(c, "u") for c in columns]
    found = trace_products(PairSums(weak), inverse, responses)
    assert relative(found, (exact + exact.T) / 2) < 1e-7


def test_gathering_is_the_transpose_of_scattering():
    """The sum of a symmetric matrix times a scattered one needs the pairs only."""
    weak = WeakForm(CASES["edges"][0], Library().features(("u",), ("x",)), [6, 5])
    pairs = PairSums(weak)
    one, other = pairs.pairs[0]
    counts = np.where(one == other, 1.0, 2.0)[:, None]
    first, second = (np.random.default_rng(k).normal(size=(weak.n_rows,) * 2) for k in (2, 3))
    first, second = first + first.T, second + second.T
    values = pairs.gather(first) / counts
    scattered = pairs.scatter(values)
    assert np.array_equal(scattered, scattered.T)
    assert np.count_nonzero(scattered) < scattered.size
    assert np.array_equal(scattered[scattered != 0], first[scattered != 0])
    assert np.sum(values * pairs.gather(second)) == pytest.approx(
        np.sum(scattered * second), rel=1e-12
    )


def test_whitener_makes_the_covariance_the_identity():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(30, 30))
    covariance = root @ root.T
    whitener = Whitener.of(covariance)
    jittered = covariance + 1e-4 * np.mean(np.diag(covariance)) * np.eye(30)
    np.testing.assert_allclose(whitener.factor @ whitener.factor.T, jittered, rtol=1e-10)
    white = whitener.whiten(whitener.whiten(jittered).T)
    np.testing.assert_allclose(white, np.eye(30), atol=1e-9)
    np.testing.assert_allclose(whitener.inverse() @ jittered, np.eye(30), atol=1e-8)


def test_whitener_refuses_what_is_no_covariance():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        Whitener.of(np.diag([1.0, -2.0, 1.0]))


def test_covariance_against_noise_draws():
    """Second moments of 1500 residuals; the debiased features keep their mean."""
    run = make(shape=(32, 28), noise=0.05)
    features = Library().features(("u",), ("x",))
    weak = WeakForm(run, features, [6, 5])
    support, coefficients = [4, 7], np.array([-0.5, 0.1])
    mixing = np.concatenate([-coefficients, [1.0]])
    rng = np.random.default_rng(5)
    clean = replace(run, noise={"u": 0.0})
    true = WeakForm(clean, features, [6, 5])
    base = columns_of(true, run.fields)[:, [*support, -1]] @ mixing
    draws = np.empty((1500, weak.n_rows))
    for k in range(len(draws)):
        fields = {"u": run.fields["u"] + 0.05 * rng.normal(size=(32, 28))}
        draws[k] = columns_of(weak, fields)[:, [*support, -1]] @ mixing - base
    sampled = draws.T @ draws / len(draws)
    exact = Assembled([weak], "u", [weak.matrix()]).covariance(0, support, coefficients)
    # a sample covariance of N draws is off by sqrt((|C|^2 + tr(C)^2)/N)
    scatter = np.sqrt((np.sum(exact**2) + np.trace(exact) ** 2) / len(draws))
    assert np.linalg.norm(sampled - exact) < 1.5 * scatter
    errors = draws.std(axis=0) / np.sqrt(len(draws))
    assert np.max(np.abs(draws.mean(axis=0)) / errors) < 4.5
