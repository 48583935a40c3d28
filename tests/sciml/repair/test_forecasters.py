"""Forecasters and repairs of every kind: in place, in training mode, wrong at an inlet."""

import warnings

import pytest
import torch

from sciml.repair import (
    EnergyProjection,
    EnstrophyProjection,
    GatedRepair,
    LerayProjection,
    MismatchedLeray,
    Reconciliation,
    StaggeredProjection,
    error_split,
    off_manifold_gain,
    recommend,
    rollout,
)

DOUBLE = torch.float64
LERAY = LerayProjection((1.0, 1.0))


def _noise(*shape, seed=0):
    return torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(scope="module")
def truth():
    return LERAY(_noise(9, 4, 2, 8, 8))


def _fresh(u):
    return 0.9 * u + 0.1


def _in_place(u):
    return u.mul_(0.9).add_(0.1)


def test_forecasters_may_work_in_place(truth):
    before = truth.clone()
    for where in ("raw", "post_hoc", "in_loop"):
        repair = None if where == "raw" else LERAY
        found, wanted = (
            rollout(forecaster, truth[:, 0], 3, repair=repair, where=where).states
            for forecaster in (_in_place, _fresh)
        )
        assert torch.equal(found, wanted)
        assert not torch.equal(found[:, 1], found[:, 2])
    assert str(recommend(_in_place, LERAY, truth)) == str(recommend(_fresh, LERAY, truth))
    gains = [
        off_manifold_gain(forecaster, LERAY, truth[:, 0]) for forecaster in (_in_place, _fresh)
    ]
    assert gains[0].breaking == pytest.approx(0.9) == gains[1].breaking
    assert torch.equal(truth, before)


def test_repairs_may_work_in_place(truth):
    found = rollout(
        lambda u: u, truth[:, 0], 3, repair=lambda u: u.mul_(2.0), where="post_hoc"
    ).states
    assert torch.equal(found[:, 3], 2.0 * truth[:, 0])


def test_forecasters_in_training_mode_are_warned_of(truth):
    network = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.BatchNorm2d(2).double())
    for call in (
        lambda: recommend(network, LERAY, truth),
        lambda: rollout(network, truth[:, 0], 1),
        lambda: off_manifold_gain(network, LERAY, truth[:, 0]),
    ):
        with pytest.warns(UserWarning, match=r"training mode with BatchNorm2d, Dropout.*\.eval\("):
            call()
    network.eval()
    plain = torch.nn.Conv2d(2, 2, 1, dtype=DOUBLE)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*training mode")
        recommend(network, LERAY, truth)
        recommend(plain.train(), LERAY, truth)


def test_single_states_are_refused_where_the_repair_tells(truth):
    with pytest.raises(ValueError, match=r"u0 has shape \(2, 8, 8\).*u0\[None\]"):
        rollout(_fresh, truth[0, 0], 2, repair=LERAY, where="in_loop")
    for measure in (error_split, off_manifold_gain):
        with pytest.raises(TypeError, match="projection is of type function"):
            measure(*{error_split: (_fresh, truth, truth)}.get(measure, (_fresh, _fresh, truth)))


def test_a_wrong_inlet_can_make_the_repair_hurt():
    box = StaggeredProjection((8, 7), (0.1, 0.1), (("inlet", "open"), "wall"))
    flow, error = box(_noise(4, 2, 9, 8)), _noise(4, 2, 9, 8, seed=1) * box.layout.mask()
    at_inlet = torch.zeros_like(error)
    at_inlet[:, 0, 0, :7] = error[:, 0, 0, :7]
    inside = error_split(box, flow + error - at_inlet, flow)
    assert inside.repaired == pytest.approx(inside.error - inside.removed)  # Pythagoras
    outside = error_split(box, flow + at_inlet, flow)
    assert outside.repaired > 2.0 * outside.error
    assert not box.exact
    assert StaggeredProjection((8, 7), (0.1, 0.1), (("wall", "open"), "wall")).exact


def test_oblique_repairs_are_not_said_to_distort():
    down = Reconciliation([[1, 1], [1, 0], [0, 1]], "bottom_up")
    truth = down(_noise(12, 3, 3))[:, :1].expand(-1, 3, -1)
    push = torch.tensor([0.5, 0.1, 0.0], dtype=DOUBLE)
    report = recommend(lambda u: u + push, down, truth)
    assert report.choice.where == "post_hoc"
    assert "leaves true states alone, but is no orthogonal projection" in report.choice.reason


def test_a_sphere_may_lie_away_from_the_truth(truth):
    sphere = EnergyProjection(1.0, dimension=2)
    states = sphere(truth)[:, :1].expand(-1, 4, -1, -1, -1)
    report = recommend(lambda u: 0.7 * u + 0.01 * u.flip(-1), sphere, states)
    assert report.at_horizon.share > 0.02
    assert "never hurts" not in report.choice.reason
    shrunk = recommend(lambda u: -0.3 * u, sphere, states)
    assert shrunk.choice.where == "raw"
    assert "adds" in shrunk.choice.reason and "no convex set" in shrunk.choice.reason


@pytest.mark.parametrize(
    "repair", [LERAY, MismatchedLeray((1.0, 1.0)), EnstrophyProjection(1.0, (1.0, 1.0))]
)
def test_empty_batches_and_half_precision(repair):
    nothing = torch.zeros(0, 2, 8, 8)
    assert repair(nothing).shape == nothing.shape
    assert repair.defect(nothing).shape == (0,)
    with pytest.raises(TypeError, match=r"dtype torch.bfloat16.*convert with \.float\(\)"):
        repair(torch.ones(1, 2, 8, 8, dtype=torch.bfloat16))


def test_gates_of_modes_know_their_grid():
    gate = GatedRepair(MismatchedLeray((1.0, 1.0), aspect=1.2), "mode")
    gate.fit(_noise(4, 2, 8, 8), _noise(4, 2, 8, 8, seed=1))
    assert gate(torch.zeros(0, 2, 8, 8)).shape == (0, 2, 8, 8)
    with pytest.raises(ValueError, match=r"its \(10, 6\) modes are not the \(8, 5\)"):
        gate(_noise(1, 2, 10, 10))


def test_errors_of_nothing_are_finite(truth):
    still = truth[:, :1].expand(-1, 4, -1, -1, -1)
    report = recommend(lambda u: u, LERAY, still)
    assert report.choice.where == "raw"
    assert {interval.change for interval in report.intervals.values()} == {0.0}
    assert "not better beyond chance" in report.choice.reason
