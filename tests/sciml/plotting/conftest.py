"""A fitted estimator in miniature, whose numbers the pictures must show."""

from __future__ import annotations

from types import SimpleNamespace

import pytest


def step(size, residual, score=float("nan")):
    return SimpleNamespace(size=size, residual=residual, score=score, terms=())


def fitted(**changes):
    """What pictures read of a fitted estimator; changes replace attributes."""
    model = SimpleNamespace(
        targets_=("u",),
        terms_={"u": {"u*u_x": -6.0, "u_xxx": -1.0}},
        standard_errors_={"u": {"u*u_x": 0.5, "u_xxx": 0.25}},
        rivals_={
            "u": [
                {"without": "(u^2)_x", "ratio": 40.0, "verdict": "identified", "terms": {}},
                {"without": "u_xxx", "ratio": 2.0, "verdict": "weak", "terms": {}},
            ]
        },
        path_={"u": [step(0, 1.0), step(1, 0.1), step(2, 1e-4), step(3, 9e-5)]},
        support_={"u": ("(u^2)_x", "u_xxx")},
        inclusion_={},
        identifiability_={"u": SimpleNamespace(verdict="weak", ratio=2.0)},
        noise_estimate_={"u": 0.02},
        field_scale_={"u": 0.4},
        adequate_={"u": True},
        equations=lambda: ["u_t = -6.000*u*u_x - 1.000*u_xxx"],
        latex=lambda: "u_t = -6 u u_x - u_{xxx}",
    )
    for name, value in changes.items():
        setattr(model, name, value)
    return model


@pytest.fixture
def model():
    return fitted()


@pytest.fixture
def system():
    """Two equations."""
    return fitted(
        targets_=("u", "v"),
        terms_={"u": {"v_xx": 0.5}, "v": {"u_xx": -0.5, "v": 0.001}},
        standard_errors_={"u": {"v_xx": 0.01}, "v": {"u_xx": 0.02, "v": 1e-5}},
        rivals_={
            "u": [{"without": "v_xx", "ratio": 1.1, "verdict": "ambiguous", "terms": {}}],
            "v": [
                {"without": "u_xx", "ratio": 5.0, "verdict": "identified", "terms": {}},
                {"without": "v", "ratio": 1e30, "verdict": "identified", "terms": {}},
            ],
        },
        path_={
            "u": [step(0, 1.0), step(1, 1e-3)],
            "v": [step(0, 1.0), step(1, 1e-2), step(2, 0.0)],
        },
        support_={"u": ("v_xx",), "v": ("u_xx", "v")},
        identifiability_={
            "u": SimpleNamespace(verdict="ambiguous", ratio=1.1),
            "v": SimpleNamespace(verdict="identified", ratio=5.0),
        },
        noise_estimate_={"u": 0.0, "v": 0.1},
        field_scale_={"u": 1.0, "v": 2.0},
        adequate_={"u": True, "v": False},
        equations=lambda: ["u_t = 0.5000*v_xx", "v_t = -0.5000*u_xx + 0.001000*v"],
        latex=lambda: "u_t = 0.5 v_{xx} \\\\\nv_t = -0.5 u_{xx} + 0.001 v",
    )
