"""Choices in constructed cases whose best answer is known."""

import math

import pytest
import torch

from sciml.repair import (
    AffineProjection,
    Intersection,
    LerayProjection,
    MismatchedLeray,
    Relaxed,
    recommend,
    rollout,
)
from sciml.theory.projection import LinearRollout, relaxed_error

DOUBLE = torch.float64
STATE = (2, 8, 8)
LERAY = LerayProjection((1.0, 1.0))


def _noise(*shape, seed):
    return torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))


def _steady(trajectories=12, times=6, seed=0):
    """Flows without divergence that do not change, and so are known at all times."""
    first = LERAY(_noise(trajectories, 1, *STATE, seed=seed))
    return first.expand(-1, times, *STATE)


def _gradient():
    """A field that the projection takes away whole, of mean square 1/2 in one component."""
    x = torch.arange(8, dtype=DOUBLE) / 8
    push = torch.zeros(STATE, dtype=DOUBLE)
    push[0] = torch.sin(2 * math.pi * x)[:, None]
    return push


def _shear():
    x = torch.arange(8, dtype=DOUBLE) / 8
    push = torch.zeros(STATE, dtype=DOUBLE)
    push[0] = torch.sin(2 * math.pi * x)
    return push


class Linear(torch.nn.Module):
    """A step whose error obeys the two-block recursion along one admissible, one broken mode."""

    def __init__(self, flow, truth):
        super().__init__()
        self.flow, self.truth = flow, truth
        self.s, self.d = _shear(), _gradient()

    def forward(self, u):
        truth = self.truth[:, 0]
        if len(u) != len(truth):  # half of the trajectories, found by what they are made of
            index = [int(torch.argmin(((truth - one) ** 2).sum((1, 2, 3)))) for one in u]
            truth = truth[index]
        error = u - truth
        s = (error * self.s).sum((1, 2, 3)) / (self.s**2).sum()
        d = (error * self.d).sum((1, 2, 3)) / (self.d**2).sum()
        flow = self.flow
        new_s = flow.ss * s + flow.sd * d + flow.bias_s
        new_d = flow.ds * s + flow.dd * d + flow.bias_d
        return truth + new_s[:, None, None, None] * self.s + new_d[:, None, None, None] * self.d


@pytest.mark.parametrize("sd", [-0.1, 0.0, 0.1])
def test_rollouts_follow_the_closed_form(sd):
    truth = _steady()
    flow = LinearRollout(ss=0.98, sd=sd, ds=0.02, dd=1.0, bias_s=0.01, bias_d=0.05)
    step = Linear(flow, truth)
    per_entry = float((_shear() ** 2).mean())
    for where, expected in (
        ("raw", flow.raw),
        ("post_hoc", flow.post_hoc),
        ("in_loop", flow.in_loop),
    ):
        repair = None if where == "raw" else LERAY
        found = rollout(step, truth[:, 0], 5, repair=repair, where=where)
        error = ((found.states - truth) ** 2).mean((0, 2, 3, 4))
        for n in range(6):
            wanted = per_entry * expected(n)
            assert float(error[n]) == pytest.approx(wanted, rel=1e-8, abs=1e-20)


def _with_flow(**changes):
    numbers = {"ss": 1.0, "sd": 0.0, "ds": 0.0, "dd": 1.0, "bias_s": 0.01, "bias_d": 0.05}
    truth = _steady()
    return recommend(Linear(LinearRollout(**(numbers | changes)), truth), LERAY, truth)


def test_exact_repair_without_leak_goes_after_the_loop():
    report = _with_flow()
    assert (report.choice.where, report.choice.strength) == ("post_hoc", 1.0)
    assert report.at_horizon.repaired == pytest.approx(report.predicted_post_hoc, rel=1e-10)
    assert report.gain.breaking < 0.2  # one mode of many


def test_exact_repair_with_a_harmful_leak_goes_into_the_loop():
    report = _with_flow(sd=0.3)
    assert (report.choice.where, report.choice.strength) == ("in_loop", 1.0)


def test_exact_repair_that_would_hurt_in_the_loop_stays_after_it():
    report = _with_flow(sd=-0.08)
    errors = {variant.name: variant.mean_errors[-1] for variant in report.variants}
    assert errors["in_loop"] > errors["post_hoc"]
    assert report.choice.where == "post_hoc"
    assert "higher, beyond chance" in report.choice.reason


def test_error_that_obeys_the_rule_is_left_raw():
    report = _with_flow(bias_d=0.0005)
    assert (report.choice.where, report.choice.strength) == ("raw", 0.0)


def test_inexact_repair_that_distorts_much_is_relaxed():
    truth = _steady(24)
    wrong = MismatchedLeray((1.0, 1.0), aspect=1.6)
    push = 0.3 * _gradient()

    def step(u):
        return u + 0.1 * push

    report = recommend(step, wrong, truth)
    assert report.choice.where == "post_hoc"
    assert 0.02 < report.choice.strength < 0.9
    errors = {variant.name: variant.mean_errors[-1] for variant in report.variants}
    assert errors["relaxed post_hoc"] < errors["raw"] < errors["post_hoc"]


def test_inexact_repair_with_nothing_to_gain_is_left_raw():
    truth = _steady(24)
    report = recommend(
        lambda u: u + 0.05 * _shear(), MismatchedLeray((1.0, 1.0), aspect=1.3), truth
    )
    assert report.choice.where == "raw"


def test_inexact_repair_with_a_harmful_leak_is_relaxed_in_the_loop():
    truth = _steady(24)
    flow = LinearRollout(ss=1.0, sd=0.5, ds=0.0, dd=1.0, bias_s=0.0, bias_d=0.3)
    wrong = MismatchedLeray((1.0, 1.0), aspect=1.01)
    report = recommend(Linear(flow, truth), wrong, truth)
    assert report.choice.where == "in_loop"
    assert 0.5 < report.choice.strength < 1.0


def test_claim_of_exactness_is_checked():
    truth = _steady() + 0.01 * _gradient()
    with pytest.warns(UserWarning, match="claims to be exact, but changes the true states"):
        report = recommend(lambda u: u + 0.05 * _gradient(), LERAY, truth)
    assert report.claimed_exact
    assert not report.exact
    assert "first trajectory 0, time 0" in report.warning
    assert report.choice.strength < 1.0


def test_relaxed_error_is_predicted_on_held_out_trajectories():
    wrong = MismatchedLeray((1.0, 1.0), aspect=1.3)
    truth = _steady(400)[:, 0]
    noisy = truth + 0.3 * _noise(*truth.shape, seed=4)
    from sciml.repair import error_split

    fitted = error_split(wrong, noisy[:200], truth[:200])
    held = error_split(wrong, noisy[200:], truth[200:])
    measured = ((Relaxed(wrong, fitted.strength)(noisy[200:]) - truth[200:]) ** 2).mean()
    assert float(measured) < held.error
    predicted = relaxed_error(
        fitted.error, fitted.removed, fitted.distortion, fitted.strength, fitted.cross
    )
    assert float(measured) == pytest.approx(predicted, rel=0.05)
    assert held.relaxed(fitted.strength) == pytest.approx(float(measured), rel=1e-10)


def test_report_prints_and_plots():
    report = _with_flow()
    text = str(report)
    assert text.startswith("LerayProjection, 12 trajectories, horizon 5: post_hoc")
    assert "exact repair after the loop never hurts" in text
    ax = report.plot()
    assert [line.get_label() for line in ax.lines] == [
        "raw", "post hoc", "in loop", "relaxed post hoc", "relaxed in loop",
    ]  # fmt: skip
    assert ax.lines[1].get_linewidth() > ax.lines[0].get_linewidth()


def test_same_seed_same_report():
    assert str(_with_flow(sd=0.3)) == str(_with_flow(sd=0.3))


def test_few_trajectories_warn():
    with pytest.warns(UserWarning, match="fewer than 8"):
        recommend(lambda u: u, LERAY, _steady(3))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda t: recommend(lambda u: u, LERAY, t[:1]), "holds 1 trajectories"),
        (lambda t: recommend(lambda u: u, LERAY, t, horizon=9), "horizon=9: wanted .* 1 to 5"),
        (lambda t: recommend(lambda u: u, LERAY, t, horizon=0), "horizon=0"),
        (lambda t: recommend(lambda u: u, LERAY, t, n_bootstrap=0), "n_bootstrap=0"),
        (lambda t: recommend(lambda u: u, LERAY, t[:, 0]), "wanted .trajectories, times"),
        (lambda t: recommend(lambda u: 50 * u, LERAY, t), "stopped at step 2 of 5"),
        (lambda t: recommend(lambda u: u / 0.0, LERAY, t), "cease to be finite"),
        (lambda t: rollout(lambda u: u, t[:, 0], 0), "steps=0"),
        (lambda t: rollout(lambda u: u, t[:, 0], 2, every=0), "every=0"),
        (lambda t: rollout(lambda u: u, t[:, 0], 2, where="in_lop"), "Did you mean 'in_loop'"),
        (lambda t: rollout(lambda u: u, t[:, 0], 2, where="in_loop"), "repair is needed"),
        (lambda t: rollout(lambda u: u[:, :1], t[:, 0], 2), "returned shape"),
        (lambda t: Relaxed(LERAY, 1.5), "strength=1.5"),
    ],
)
def test_bad_arguments_are_named(call, match):
    with pytest.raises(ValueError, match=match):
        call(_steady())


def test_rollout_records_few_states_and_stops():
    u0 = torch.ones(2, 1, 4)
    found = rollout(lambda u: 2.0 * u, u0, 20, every=3)
    assert found.status == "blow-up"
    assert found.steps == (0, 3, 6)
    assert found.message.startswith("stopped at step 7 of 20: values reach 128")


def test_intersection_reports_what_is_left():
    planes = Intersection(
        [AffineProjection([[1.0, 0.0]], [1.0]), AffineProjection([[1.0, 1e-3]], [0.0])],
        iterations=3,
    )
    planes(torch.zeros(2, dtype=DOUBLE))
    assert planes.rounds == 3
    assert planes.residual > 0.1
