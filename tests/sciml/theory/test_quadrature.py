import itertools
import math

import numpy as np
import pytest

from sciml.theory import (
    FaceMoments,
    equal_weight_gap,
    left_mean_error,
    lipschitz_constant,
    midpoint_error,
    transfer_bound,
    trapezoid_error,
)
from sciml.theory.quadrature import trapezoid_mean


def smooth(*places):
    x, y, z = (*places, 0.0, 0.0)[:3]
    return np.exp(x * y) * np.cos(2 * x + y) + 0.5 * x + np.sin(z) * (1 + x)


def sample(shape):
    return smooth(*np.meshgrid(*[np.linspace(0, 1, n) for n in shape], indexing="ij"))


@pytest.mark.parametrize("shape", [(7,), (5, 9), (4, 6, 5)])
def test_gap_of_equal_weights_is_exact(shape):
    values = sample(shape)
    faces = {}
    axes = range(len(shape))
    for chosen in [c for n in (1, 2, 3) for c in itertools.combinations(axes, n)]:
        part = values
        for axis in reversed(chosen):
            part = 0.5 * (np.take(part, 0, axis) + np.take(part, -1, axis))
        faces[chosen] = trapezoid_mean(part) if np.ndim(part) else float(part)
    gap = equal_weight_gap(trapezoid_mean(values), faces, shape)
    assert gap == pytest.approx(values.mean() - trapezoid_mean(values), abs=1e-15)
    with pytest.raises(ValueError, match="faces: no mean"):
        equal_weight_gap(0.0, {}, shape)


def test_leading_errors_of_the_rules():
    mean = math.e - 1
    for n in (32, 64):
        nodes, cells = np.linspace(0, 1, n + 1), (np.arange(n) + 0.5) / n
        node = trapezoid_mean(np.exp(nodes)) - mean
        assert trapezoid_error(1.0, math.e, 1.0, n + 1) == pytest.approx(node, rel=1e-3)
        middle = np.exp(cells).mean() - mean
        assert midpoint_error(1.0, math.e, 1.0, n) == pytest.approx(middle, rel=1e-3)
        left = np.exp(np.arange(n) / n).mean() - mean
        assert left_mean_error(1.0, math.e, n) == pytest.approx(left, rel=1.0 / n)


def test_mismatch_of_a_normalized_field():
    moments = FaceMoments.of(sample((513, 513)))
    wanted = {17: 6.27e-2, 33: 3.26e-2, 65: 1.663e-2, 129: 8.405e-3, 257: 4.225e-3}
    mean, spread = moments.mean, math.sqrt(moments.variance)
    for n, published in wanted.items():
        values = sample((n, n))
        off = (values - values.mean()) / values.std() - (values - mean) / spread
        measured = math.sqrt(trapezoid_mean(off**2))
        assert measured == pytest.approx(published, rel=1e-3)
        assert moments.mismatch((n, n)) == pytest.approx(measured, rel=0.4 / n + 1e-3)
    assert moments.mismatch((17, 17), (17, 17)) == 0.0
    between = moments.mean_gap((17, 17)) - moments.mean_gap((65, 65))
    assert moments.mean_gap((17, 17), (65, 65)) == pytest.approx(between, rel=1e-12)


def test_field_that_vanishes_on_the_boundary():
    s = np.linspace(0, 1, 513)
    moments = FaceMoments.of(np.sin(np.pi * s)[:, None] * np.sin(np.pi * s) ** 2)
    n, mean, variance = 40, moments.mean, moments.variance
    assert moments.mean_gap((n, n)) == pytest.approx(-2 * mean / n, rel=1e-9)
    assert moments.variance_gap((n, n)) == pytest.approx(2 * (mean**2 - variance) / n, rel=1e-9)


def test_left_axes_and_those_without_a_gap():
    s = np.linspace(0, 1, 4097)
    moments = FaceMoments.of(np.exp(s))
    n = 64
    left = np.exp(np.arange(n) / n)
    assert moments.mean_gap([n], axis_kinds="left") == pytest.approx(
        left.mean() - moments.mean, rel=0.02
    )
    assert moments.variance_gap([n], axis_kinds="left") == pytest.approx(
        left.var() - moments.variance, rel=0.05
    )
    assert moments.mismatch([n], axis_kinds="cell") == 0.0
    with pytest.raises(ValueError, match="no formula for 'chebyshev'"):
        moments.mean_gap([n], axis_kinds="chebyshev")
    with pytest.raises(ValueError, match="2 numbers of points"):
        moments.mean_gap([n, n])


def test_jacobian_is_a_scaled_projection():
    rng = np.random.default_rng(3)
    n = 12
    w = np.full(n, 1 / (n - 1))
    w[[0, -1]] /= 2
    x = rng.normal(size=n)
    mean, scale = w @ x, 1 / math.sqrt(w @ (x - w @ x) ** 2)
    hat = (x - mean) * scale
    jacobian = scale * (np.eye(n) - np.outer(np.ones(n), w) - np.outer(hat, w * hat))
    root = np.sqrt(w)
    norm = np.linalg.norm(root[:, None] * jacobian / root, 2)
    assert norm == pytest.approx(lipschitz_constant(w @ (x - mean) ** 2, 0.0), rel=1e-12)
    with pytest.raises(ValueError, match="not both 0"):
        lipschitz_constant(0.0, 0.0)


def test_bound_through_the_depth():
    assert transfer_bound([1.0, 2.0, 4.0], [5.0, 3.0, 2.0]) == 1.0 * 3 * 2 + 2.0 * 2 + 4.0
    with pytest.raises(ValueError, match="wanted pairs"):
        transfer_bound([1.0], [])


def test_bad_samples():
    for values in (np.ones((2, 9)), np.array([1.0, np.nan, 2.0]), np.float64(1.0)):
        with pytest.raises(ValueError, match="values: got shape"):
            FaceMoments.of(values)
