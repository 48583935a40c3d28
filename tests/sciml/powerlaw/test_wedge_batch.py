"""Many corners as one batch come out as one after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pdes.exact import Cone
from sciml.powerlaw import WedgeFit, WedgeSamples, fit_wedges
from sciml.powerlaw.blocks import legendre

NOTCH = 1.5 * math.pi
THETA = np.linspace(0.0, NOTCH, 80)
MODE = np.sin(2 * THETA / 3)


def same(batch: WedgeFit, alone: WedgeFit) -> None:
    assert batch.status_ == alone.status_
    assert batch.advice_ == alone.advice_
    np.testing.assert_allclose(batch.exponents_, alone.exponents_, rtol=1e-10)
    np.testing.assert_allclose(batch.coefficients_, alone.coefficients_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(batch.constant_, alone.constant_, atol=1e-12)


def test_noisy_recordings_at_the_same_places():
    rng = np.random.default_rng(4)
    values = np.array([1.0, -2.0, 0.5])[:, None] * MODE + 1e-2 * rng.normal(size=(3, 80))
    radii = np.geomspace(1e-3, 1.0, 30)
    tables = 1e-2 * rng.normal(size=(3, 2, 30))
    fits = fit_wedges(WedgeFit(NOTCH, "DD"), (THETA, values), edges=(radii, tables), noise=1e-2)
    assert len({float(fit.exponents_[0]) for fit in fits}) == 3
    for fit, row, table in zip(fits, values, tables, strict=True):
        alone = WedgeFit(NOTCH, "DD").fit((THETA, row), edges=(radii, table), noise=1e-2)
        same(fit, alone)
        np.testing.assert_allclose(fit.standard_errors_, alone.standard_errors_, rtol=1e-6)


def test_forty_wedges_in_one_call():
    members, arcs, exact = [], [], []
    for degrees in range(90, 361, 30):
        omega = math.radians(degrees)
        theta = np.linspace(0.0, omega, 60)
        for bc in ("DD", "NN", "DN", "ND"):
            mu = (1.0 if bc in ("DD", "NN") else 0.5) * math.pi / omega
            members.append(WedgeFit(omega, bc, bounds=(0.05, 3.0)))
            arcs.append((theta, np.sin(mu * theta) if bc[0] == "D" else np.cos(mu * theta)))
            exact.append(mu)
    fits = fit_wedges(members, arcs)
    assert fits[7] is members[7]
    assert [fit.status_ for fit in fits] == ["ok"] * 40
    found = [float(fit.exponents_[0]) for fit in fits]
    np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_orders_constants_materials_and_cones_side_by_side():
    two = [(math.pi / 2, 1.0), (math.pi, 10.0)]
    half = 0.75 * math.pi
    angles = np.linspace(0.0, half, 60)
    members = [
        WedgeFit(NOTCH, "ND", order="auto"),
        WedgeFit(NOTCH, "NN"),
        WedgeFit(two, "DD"),
        WedgeFit(Cone(half), bounds=(0.05, 3.0)),
        WedgeFit(NOTCH, "DD"),
        WedgeFit(NOTCH, "NN"),
        WedgeFit(NOTCH, "ND", order="auto"),
    ]
    arcs = [
        (THETA, np.cos(THETA / 3) + 0.3 * np.cos(THETA)),
        (THETA, 5.0 + np.cos(2 * THETA / 3)),
        (THETA, MODE),
        (angles, legendre(np.ones(60), angles, 0.7).value),
        (THETA, 0.0 * MODE),
        (0.5, THETA, 3.0 + 0.0 * MODE),
        WedgeSamples(1.0, THETA, np.cos(THETA / 3)),
    ]
    fits = fit_wedges(members, arcs)
    assert [len(fit.exponents_) for fit in fits] == [2, 1, 1, 1, 0, 0, 1]
    assert [fit.status_ for fit in fits[4:6]] == ["zero", "constant"]
    for fit, arc in zip(fits, arcs, strict=True):
        same(fit, WedgeFit(**fit.get_params(deep=False)).fit(arc))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((WedgeFit(NOTCH), (THETA, MODE)), r"values have shape \(80,\), wanted \(batch, n\)"),
        ((WedgeFit(NOTCH), (THETA, np.empty((0, 80)))), "at least one"),
        ((WedgeFit(NOTCH), MODE), "arcs: got ndarray"),
        ((WedgeFit(NOTCH), []), "arcs: got list"),
        (([WedgeFit(NOTCH)], (THETA, np.stack([MODE, MODE]))), "1 for 2 recordings"),
        (([WedgeFit(NOTCH)] * 2, (THETA, np.stack([MODE, MODE]))), "one appears twice"),
        ((["a"], [(THETA, MODE)]), "estimators hold 'a'"),
        ((WedgeFit(NOTCH), [(THETA, MODE), (THETA, MODE * np.nan)]), "recording 1: values: 80"),
        ((WedgeFit(NOTCH), (THETA, np.ma.array([MODE], mask=[MODE > 0.5]))), "masked"),
        (
            (WedgeFit(NOTCH), [(THETA, MODE)], (np.ones(2), np.zeros((3, 2, 2)))),
            "3 tables of values for 1 recordings",
        ),
    ],
)
def test_what_is_no_batch(arguments, words):
    with pytest.raises(ValueError, match=words):
        fit_wedges(*arguments)
