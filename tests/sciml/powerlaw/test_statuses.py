"""Fits that cannot be relied on say so, each kind by its own word."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pdes.exact import Wedge
from sciml.powerlaw import PowerLawFit, WedgeFit
from sciml.powerlaw.diagnosis import convergence
from sciml.powerlaw.radial_sum import RadialSum
from sciml.powerlaw.search import Candidate
from sciml.powerlaw.structure import Structure
from sciml.powerlaw.varpro import variable_projection
from sciml.powerlaw.wedge_model import WedgeModel
from sciml.powerlaw.wedge_samples import as_samples, row_system
from sciml.powerlaw.wedge_status import judge

R = np.linspace(0.1, 1.0, 40)
CLEAN = R**0.5 - 0.4 * R**2.2


def after(steps: int) -> Candidate:
    noisy = CLEAN + 1e-3 * np.random.default_rng(0).normal(size=R.size)
    structure = Structure(2)
    start = np.array([-1.0, 3.0])
    fit = variable_projection(RadialSum(R, structure), noisy, start, max_iterations=steps)
    return Candidate(structure, fit, "start")


def test_iterations_that_ran_out_are_said():
    words = [finding.status for finding in convergence(after(1), (-3.0, 5.0))]
    assert words == ["not_converged"]
    assert convergence(after(200), (-3.0, 5.0)) == []


def test_wedge_iterations_that_ran_out_are_said():
    omega = 1.5 * np.pi
    theta, corner = np.linspace(0.0, omega, 60), Wedge(omega, "DD")
    system = row_system(corner, as_samples((theta, theta * (omega - theta))), 0.0, 20, 1.0)
    model = WedgeModel(corner, system, False)
    statuses = []
    for steps in (1, 200):
        fit = variable_projection(
            model, system.values, np.array([1.4]), weights=system.weights, max_iterations=steps
        )
        errors = fit.standard_errors()[0]
        statuses.append(judge(fit, fit.parameters, errors, False, (0.05, 7.0), len(theta)))
    assert statuses == ["not_converged", "ok"]


@pytest.mark.parametrize("count", [30, 40, 60])
@pytest.mark.parametrize("order", [2, 3])
def test_more_powers_than_exact_data_hold_are_never_silent(count, order):
    r = np.linspace(0.1, 1.0, count)
    fit = PowerLawFit(order=order).fit(r, np.sqrt(r))
    # Rounding decides whether the further powers vanish, run to a bound, or cancel.
    assert fit.status_ in ("rank_deficient", "bound_active", "unresolved")
    assert any("lower order" in sentence for sentence in fit.advice_)


def test_constant_data_are_one_power_of_exponent_zero():
    fit = PowerLawFit().fit(R, np.full(R.size, 3.0))
    assert (fit.status_, fit.blocks_) == ("ok", ("power",))
    assert fit.exponents_ == pytest.approx([0.0], abs=1e-15)
    assert fit.coefficients_ == pytest.approx([3.0], rel=1e-14)


def test_tensors_of_two_devices_are_refused():
    with pytest.raises(ValueError, match="on devices cpu, meta: wanted one"):
        PowerLawFit().fit(torch.ones(5, device="meta"), torch.ones(5))


def test_zero_angle_wedges_and_wide_ones_are_refused():
    for angle in (0.0, -1.0, 2 * np.pi + 1e-3):
        with pytest.raises(ValueError, match="wanted an angle in"):
            WedgeFit(angle).fit(arc=(np.ones(10), np.ones(10)))
