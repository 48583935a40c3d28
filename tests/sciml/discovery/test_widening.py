"""Equations of many terms, and products when the default library does not explain the data."""

from __future__ import annotations

import numpy as np
import pytest

import pdes
import sciml
from sciml.discovery import DiscoveryWarning
from sciml.discovery.library import library_with_products
from sciml.metrics import support_f1


@pytest.fixture(scope="module")
def flame():
    return pdes.simulate(pdes.get("potential_kuramoto_sivashinsky")).u


@pytest.mark.parametrize(("level", "accuracy"), [(0.0, 5e-3), (0.05, 0.03)])
def test_products_are_offered_when_the_default_library_fails(flame, level, accuracy):
    spread = float((flame - flame.mean("x")).std())
    noisy = flame + level * spread * np.random.default_rng(1).normal(size=flame.shape)
    with pytest.warns(DiscoveryWarning, match="with products of derivatives"):
        model = sciml.discover(noisy)
    expected = {"u_x^2": -0.5, "u_xx": -1.0, "u_xxxx": -1.0}
    assert set(model.terms_["u"]) == set(expected)
    for term, value in expected.items():
        assert model.terms_["u"][term] == pytest.approx(value, rel=accuracy)
    assert model.adequate_ == {"u": True}


def test_a_given_library_is_not_widened(flame):
    with pytest.warns(DiscoveryWarning, match="more than discretization"):
        model = sciml.discover(flame, library=sciml.Library())
    assert model.adequate_ == {"u": False}
    assert "u_x^2" not in model.feature_names_


def test_equations_of_seven_terms_are_found_once_they_are_complete():
    """No six of the seven terms explain much, so a search by steps would stop at one."""
    recording = pdes.simulate(pdes.get("lambda_omega"))
    model = sciml.discover(recording)
    for field, entries in pdes.get("lambda_omega").equation.terms().items():
        assert support_f1(set(model.terms_[field]), set(entries)) == 1.0
        for term, value in entries.items():
            assert model.terms_[field][term] == pytest.approx(value, rel=1e-4)


def test_products_replace_what_they_span():
    names = library_with_products(("u", "v"), ("x",)).names(("u", "v"), ("x",))
    assert {"(u*v_x)_x", "(v*u_x)_x", "u*v_x", "v*u_x", "u_x*v_x", "u_x^2"} <= set(names)
    assert not {"(u*v)_x", "(u*v)_xx"} & set(names)
    assert len(set(names)) == len(names)
