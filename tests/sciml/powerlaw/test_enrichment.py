"""Networks with a corner's terms beside them: stress-intensity coefficients, columns, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
import torch

import pdes
from pdes.boundary import Dirichlet, Robin
from pdes.exact.kondratiev import polar
from pdes.exact.motz import motz_coefficients
from pdes.fan import l_shape
from pdes.steady import SteadyProblem, unknown
from pdes.symbols import coordinate
from sciml.powerlaw import MSNPinn
from sciml.powerlaw.enrichment import EnrichedNetwork, _Columns, solve_enriched
from sciml.powerlaw.enrichment_rows import CornerProblem

X, Y, U = coordinate("x"), coordinate("y"), unknown("u")
WAVE = sympy.sin(sympy.pi * X) * sympy.sin(sympy.pi * Y)


def poisson(**changes):
    """A corner term of strength 3/4 plus a wave, on the L-shape."""
    radius, theta = polar(3 * sympy.pi / 2)
    corner = sympy.Rational(3, 4) * radius ** sympy.Rational(2, 3) * sympy.sin(2 * theta / 3)
    source = 2 * sympy.pi**2 * WAVE
    given = {
        "name": "corner_and_wave",
        "residual": {"u": -U.diff(X, 2) - U.diff(Y, 2) - source},
        "domain": l_shape(),
        "boundary": {"start": Dirichlet(), "end": Dirichlet(), "outer": Dirichlet(corner + WAVE)},
    }
    return SteadyProblem(**{**given, **changes})


def exact(points):
    theta = np.mod(np.arctan2(points[:, 1], points[:, 0]) + 0.5, 2 * math.pi) - 0.5
    corner = 0.75 * np.hypot(*points.T) ** (2 / 3) * np.sin(2 * theta / 3)
    return corner + np.sin(math.pi * points[:, 0]) * np.sin(math.pi * points[:, 1])


def error(solution):
    points = l_shape()(12).points[1:]
    return np.linalg.norm(solution.predict(points) - exact(points)) / np.linalg.norm(exact(points))


@pytest.fixture(scope="module")
def enriched():
    return solve_enriched(poisson())


def test_the_stress_intensity_coefficient_is_recovered(enriched):
    np.testing.assert_allclose(enriched.exponents, [2 / 3])
    np.testing.assert_allclose(enriched.coefficients, [0.75], rtol=1e-4)
    assert error(enriched) < 1e-4


def test_without_the_corner_the_same_network_is_far_worse(enriched):
    plain = solve_enriched(poisson(), exponents=None)
    assert len(plain.coefficients) == 0
    assert error(plain) > 100.0 * error(enriched)


def test_the_exponent_is_learned():
    solution = solve_enriched(
        poisson(), width=120, resolution=8, exponents=[0.5], free=True, iterations=8
    )
    np.testing.assert_allclose(solution.exponents, [2 / 3], rtol=3e-3)
    np.testing.assert_allclose(solution.coefficients, [0.75], rtol=1e-2)


def test_mixed_conditions_and_fluxes_on_the_problem_of_motz():
    solution = solve_enriched(pdes.get("motz"), width=120, resolution=12, exponents=3)
    np.testing.assert_allclose(solution.exponents, [0.5, 1.5, 2.5])
    np.testing.assert_allclose(solution.coefficients[:2], motz_coefficients()[:2], rtol=1e-2)


def test_trained_hidden_weights_lower_the_residual():
    rest = solve_enriched(poisson(), width=8, resolution=4)
    moved = solve_enriched(poisson(), width=8, resolution=4, train_hidden=True, iterations=10)
    assert moved.relative_residual < 0.8 * rest.relative_residual


def test_the_network_is_what_was_solved(enriched):
    points = torch.rand(20, 2, dtype=torch.float64) * 0.9 + 0.05
    found = enriched.model.value_grad_lap(points)
    points.requires_grad_(True)
    value = enriched.model(points)
    (gradient,) = torch.autograd.grad(value.sum(), points, create_graph=True)
    laplacian = sum(
        torch.autograd.grad(gradient[:, k].sum(), points, retain_graph=True)[0][:, k]
        for k in range(2)
    )
    # Outer weights are large and cancel: the scale of rounding is theirs.
    scale = float(enriched.model.outer.detach().abs().max())
    torch.testing.assert_close(found.gradient, gradient, rtol=1e-9, atol=1e-12 * scale)
    torch.testing.assert_close(found.laplacian[:, 0], laplacian, rtol=1e-9, atol=1e-11 * scale)
    wave = 2 * math.pi**2 * torch.sin(math.pi * points).prod(1)
    assert float((wave + found.laplacian[:, 0]).detach().abs().max()) < 0.05 * 2 * math.pi**2


def test_derivatives_of_the_columns():
    corner = CornerProblem.of(pdes.get("motz"), 3)
    rng = np.random.default_rng(0)
    form = _Columns(corner, rng.normal(size=(3, 3)), np.array([0.6, 1.3]), free=True,
                    train_hidden=True)  # fmt: skip
    start = np.concatenate([form.hidden.ravel(), form.exponents])
    columns, derivatives = form(start[None])
    table = np.zeros((len(start), *columns.shape[1:]))
    for i, (j, k) in enumerate(zip(derivatives.parameter, derivatives.column, strict=True)):
        table[j, :, k] += derivatives.values[0, i]
    for place in range(len(start)):
        step = 1e-6 * np.eye(len(start))[place]
        numeric = (form((start + step)[None])[0] - form((start - step)[None])[0])[0] / 2e-6
        np.testing.assert_allclose(table[place], numeric, atol=1e-6 * max(1, abs(numeric).max()))


def test_an_enriched_network_keeps_its_parts():
    model = EnrichedNetwork(5, MSNPinn(1, angle=4.0).double(), torch.Generator().manual_seed(0))
    assert sum(p.numel() for p in model.parameters()) == 4 * 5 + 1 + 3
    again = EnrichedNetwork(5, MSNPinn(1, angle=4.0).double())
    again.load_state_dict(model.state_dict())
    x = torch.rand(4, 2, dtype=torch.float64)
    assert torch.equal(model(x), again(x))


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({"residual": {"u": -U.diff(X, 2) - 2 * U.diff(Y, 2)}}, {}, "wanted one of the form"),
        ({"residual": {"u": -U.diff(X, 2) - U.diff(Y, 2) - U}}, {}, "wanted one of the form"),
        ({"boundary": {"start": Robin(1.0, 0.0), "end": Dirichlet(), "outer": Dirichlet()}}, {},
         "side 'start' is robin, wanted Dirichlet or Neumann"),
        ({}, {"exponents": [0.5, 0.5]}, "wanted different numbers"),
        ({}, {"exponents": [-0.5]}, "wanted positive numbers"),
        ({}, {"exponents": -1}, "exponents is -1"),
        ({}, {"width": 0}, "width is 0"),
        ({}, {"resolution": 1}, "resolution is 1"),
        ({}, {"boundary_weight": 0.0}, "boundary_weight is 0.0"),
        ({}, {"width": 500, "resolution": 3}, "wanted at least"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(change, options, words):
    with pytest.raises(ValueError, match=words):
        solve_enriched(poisson(**change), **{"resolution": 4, "width": 10, **options})


def test_other_domains_are_refused():
    with pytest.raises(ValueError, match="wanted a steady problem on a fan"):
        solve_enriched(pdes.get("poisson_peak"))
    with pytest.raises(ValueError, match="problem is a Problem"):
        solve_enriched(pdes.get("burgers"))
