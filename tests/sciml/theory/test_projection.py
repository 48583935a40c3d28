import numpy as np
import pytest

from sciml.theory import projection
from sciml.theory.projection import LinearRollout


def _orthogonal(rng, size=12, rank=5):
    basis = np.linalg.qr(rng.normal(size=(size, rank)))[0]
    return basis @ basis.T


def _sizes(rng, K, correlated=0.0):
    e, u = rng.normal(size=(2, 12))
    u = u + correlated * e
    return e, u, [float(v @ v) for v in (e, K @ e, K @ u)] + [float((K @ e) @ (K @ u))]


@pytest.mark.parametrize("correlated", [0.0, 0.8, -3.0])
def test_error_of_relaxed_projections_is_exact(correlated):
    rng = np.random.default_rng(1)
    K = _orthogonal(rng)
    e, u, (error, removed, distortion, cross) = _sizes(rng, K, correlated)
    for strength in (0.0, 0.3, 1.0, 1.7):
        measured = e - strength * K @ (e + u)
        predicted = projection.relaxed_error(error, removed, distortion, strength, cross)
        assert predicted == pytest.approx(float(measured @ measured), rel=1e-12)
    full = projection.post_hoc_error(error, removed, distortion)
    assert full == pytest.approx(float(np.sum((e - K @ (e + u)) ** 2)), rel=1e-12)


def test_best_strength_is_the_minimum():
    rng = np.random.default_rng(2)
    K = _orthogonal(rng)
    _, _, (error, removed, distortion, cross) = _sizes(rng, K, 0.4)
    best = projection.optimal_strength(removed, distortion, cross)
    at_best = projection.relaxed_error(error, removed, distortion, best, cross)
    assert error - at_best == pytest.approx(projection.strongest_gain(removed, distortion, cross))
    for step in (-1e-3, 1e-3):
        near = projection.relaxed_error(error, removed, distortion, best + step, cross)
        assert near - at_best == pytest.approx(1e-6 * (removed + distortion + 2 * cross), rel=1e-6)
    assert projection.optimal_strength(0.0, 0.0) == 0.0
    assert projection.optimal_strength(2.0, 0.0) == 1.0


def test_harm_begins_where_distortion_exceeds_what_is_removed():
    assert projection.repair_harms(1.0, 1.0001)
    assert not projection.repair_harms(1.0, 0.9999)


@pytest.mark.parametrize("dd", [1.0, 0.9, 1.05, -0.4])
def test_rollout_agrees_with_the_recursion(dd):
    flow = LinearRollout(
        ss=1.01, sd=-0.2, ds=0.03, dd=dd, bias_s=0.02, bias_d=-0.05, distortion=0.004
    )
    s = d = inside = 0.0
    for n in range(30):
        assert flow.raw(n) == pytest.approx(s**2 + d**2, rel=1e-12, abs=1e-18)
        after = s + (flow.distortion if n else 0.0)
        assert flow.post_hoc(n) == pytest.approx(after**2, rel=1e-12, abs=1e-18)
        assert flow.in_loop(n) == pytest.approx(inside**2, rel=1e-12, abs=1e-18)
        s, d = flow.ss * s + flow.sd * d + flow.bias_s, flow.ds * s + dd * d + flow.bias_d
        inside = flow.ss * inside + flow.bias_s + flow.distortion


def test_an_exact_repair_in_the_loop_can_lose():
    flow = LinearRollout(ss=1.0, sd=-0.1, ds=0.0, dd=1.0, bias_s=0.01, bias_d=0.05)
    assert flow.in_loop(4) > flow.post_hoc(4)
    other = LinearRollout(ss=1.0, sd=0.1, ds=0.0, dd=1.0, bias_s=0.01, bias_d=0.05)
    assert other.in_loop(4) < other.post_hoc(4)


@pytest.mark.parametrize("gain", [0.0, 0.5, 1.0 - 1e-12, 1.0, 1.2, -0.7, 3.0])
def test_drift_is_the_geometric_sum(gain):
    size = 0.0
    for n in range(12):
        assert projection.drift(0.3, gain, n) == pytest.approx(size, rel=1e-12, abs=1e-15)
        size = gain * size + 0.3


def test_prediction_passes_and_fails():
    prediction = projection.predict_post_hoc(2.0, 0.5, 0.1)
    assert prediction.judge(1.6).passed
    assert not prediction.judge(1.6001).passed


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: projection.post_hoc_error(-1.0, 0.0), "error=-1.0"),
        (lambda: projection.optimal_strength(1.0, float("nan")), "distortion=nan"),
        (lambda: projection.relaxed_error(1.0, 1.0, 1.0, float("inf")), "strength=inf"),
        (lambda: projection.drift(1.0, 1.0, -1), "steps=-1"),
        (lambda: projection.drift(1.0, 1.0, True), "steps=True"),
    ],
)
def test_bad_numbers_are_named(call, match):
    with pytest.raises(ValueError, match=match):
        call()
