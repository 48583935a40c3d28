"""Hand-carried derivatives of the Runge-Kutta map against nested forward tangents."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pdes import Equation
from sciml.propagators import RayPropagator
from sciml.propagators.derivatives import partial_derivatives
from sciml.propagators.ray_jets import CharacteristicJets

CIRCLE = [(0.0, 2 * np.pi)]
CASES = {
    "wind": ("u_t = -(1 + 0.5*sin(x))*u_x", 1, 0),
    "damped": ("u_t = -(1 + 0.5*sin(x))*u_x - 0.3*u*cos(x)", 1, 0),
    "wave": ("u_t = v; v_t = (1 + 0.3*sin(x))^2*u_xx", -1, 0),
    "two terms": ("u_t = v; v_t = (1 + 0.3*sin(x))^2*u_xx", 1, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_jets_are_derivatives_of_the_steps(name):
    text, branch, order = CASES[name]
    rays = RayPropagator(Equation.from_text(text), CIRCLE, 1.0, amplitude_order=order, n_steps=3)
    t = torch.tensor([0.2, 0.9], dtype=torch.float64)
    x = torch.tensor([1.0, 5.0], dtype=torch.float64)
    words = ["tt", "tx", "xx"]
    assert CharacteristicJets.knows(rays.symbols, words)
    found, terms = rays._jets.foot_and_terms(t, x, branch, rays.n_steps, words)
    functions = [lambda t, x: rays.foot(t, x, branch)]
    for place in range(1 + order):
        functions.append(lambda t, x, p=place: rays.amplitude_terms(t, x, branch)[p])
    for jet, function in zip([found, *terms], functions, strict=True):
        wanted = partial_derivatives(function, t, x, words)
        for word in ("", "t", "x", *words):
            torch.testing.assert_close(jet[word], wanted[word], rtol=1e-10, atol=1e-12)


def test_what_is_out_of_reach_goes_the_long_way():
    windy = RayPropagator(Equation.from_text("u_t = -(1 + t*sin(x))*u_x"), CIRCLE, 1.0, n_steps=3)
    assert not CharacteristicJets.knows(windy.symbols, ["t"])
    assert not CharacteristicJets.knows(windy.symbols, ["xxx"])
    t, x = (torch.full((1,), v, dtype=torch.float64) for v in (0.5, 1.0))
    found = windy.foot_series_jet(t, x, 1, ("phi", "phi_t"), ("a",))[0]
    step = 1e-4
    wanted = (windy.foot(t + step, x) - windy.foot(t - step, x)) / (2 * step)
    torch.testing.assert_close(found["phi_t"], wanted, rtol=1e-6, atol=0.0)
