"""Networks of power laws: closed forms against autograd, counts, branches, centers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from sciml.powerlaw import MSN, MSNPinn, RMNAngular, RMNDirect, RMNMultiCenter
from sciml.powerlaw.angular_functions import SphericalFunctions
from sciml.powerlaw.polar import position

TYPE = torch.float64


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def points(dimension, count=40, seed=1):
    x = 2.0 * torch.rand(count, dimension, generator=seeded(seed), dtype=TYPE) - 1.0
    return x.abs() + 0.01 if dimension == 1 else x


NETWORKS = {
    "direct 1d": lambda g: RMNDirect(1, K=3, generator=g),
    "direct 2d": lambda g: RMNDirect(2, generator=g),
    "direct 3d": lambda g: RMNDirect(3, K=4, exponent_map="gaps", generator=g),
    "angular 2d": lambda g: RMNAngular(2, generator=g),
    "angular 3d": lambda g: RMNAngular(3, frequencies=4, generator=g),
    "angular reals": lambda g: RMNAngular(2, frequencies=[0.5, 1.3], theta0=-2.0, generator=g),
    "angular harmonic": lambda g: RMNAngular(2, frequencies="harmonic", theta0=1.0, generator=g),
    "centers 2d": lambda g: RMNMultiCenter(2, generator=g),
    "centers 3d": lambda g: RMNMultiCenter(3, J=3, K=2, exponent_map="sigmoid", generator=g),
    "power sum": lambda g: MSNPinn(4, generator=g),
    "wedge": lambda g: MSNPinn(4, angle=1.5 * math.pi, generator=g),
    "msn 1d": lambda g: MSN(generator=g),
    "msn 2d": lambda g: MSN((2, 5, 4, 1), 3, 2, bounds=(0.5, 3.0), generator=g),
}


@pytest.fixture(params=sorted(NETWORKS))
def network(request):
    model = NETWORKS[request.param](seeded()).double()
    # Saturated layers of an MSN would leave nothing but rounding errors.
    spread = 0.2 if isinstance(model, MSN) else 1.0
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "coefficients" in name or "bias" in name:
                draw = torch.randn(parameter.shape, generator=seeded(3), dtype=TYPE)
                parameter.copy_(spread * draw)
    return model


def by_autograd(model, x):
    x = x.clone().requires_grad_(True)
    value = model(x)
    (gradient,) = torch.autograd.grad(value.sum(), x, create_graph=True)
    laplacian = sum(
        torch.autograd.grad(gradient[:, axis].sum(), x, retain_graph=True)[0][:, axis]
        for axis in range(x.shape[1])
    )
    return value.detach(), gradient.detach(), laplacian[:, None]


def test_closed_forms_agree_with_autograd(network):
    x = points(network.dimension)
    value, gradient, laplacian = by_autograd(network, x)
    found = network.value_grad_lap(x)
    torch.testing.assert_close(found.value, value, rtol=1e-12, atol=1e-12)
    for mine, theirs in ((found.gradient, gradient), (found.laplacian, laplacian)):
        # Terms of opposite sign cancel: the scale of a point is that of its largest neighbor.
        scale = theirs.abs().amax(-1, keepdim=True) + found.gradient.abs().amax(-1, keepdim=True)
        error = ((mine - theirs) / scale).abs().max()
        assert float(error) < 1e-12 * max(1.0, float(1.0 / x.norm(dim=1).min()))


def test_closed_forms_are_differentiable_in_every_parameter(network):
    x = points(network.dimension, 8)
    found = network.value_grad_lap(x)
    loss = sum(part.square().sum() for part in found)
    names, parameters = zip(*network.named_parameters(), strict=True)
    for name, slope in zip(
        names, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True
    ):
        assert slope is not None and bool(torch.isfinite(slope).all()), name


def test_gradient_in_an_exponent_at_zero_is_that_of_the_series():
    model = RMNDirect(2, K=0).double()
    model.families[0].coefficients.data.fill_(1.0)
    assert model.exponents().tolist() == [0.0]
    x = torch.tensor([[0.3, 0.0]], dtype=TYPE)
    (slope,) = torch.autograd.grad(model(x).sum(), model.families[0].exponents.raw)
    assert slope.item() == pytest.approx(0.5 * math.log(0.3) ** 2, rel=1e-14)


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (lambda: RMNDirect(2), 27),
        (lambda: RMNAngular(2), 39),
        (lambda: RMNAngular(3), 55),
        (lambda: RMNMultiCenter(2), 33),
        (lambda: MSNPinn(5), 10),
        (lambda: MSNPinn(5, angle=2.0), 15),
        (lambda: MSN(), 1013),
    ],
)
def test_parameter_counts_of_the_papers(make, count):
    assert sum(parameter.numel() for parameter in make().parameters()) == count


def set_terms(model, exponents, coefficients, family=0):
    model.families[family].exponents.set(exponents)
    table = torch.as_tensor(coefficients, dtype=TYPE)
    model.families[family].coefficients.data.copy_(table.reshape(len(exponents), -1))


def test_a_radial_field_by_hand():
    model = RMNDirect(3, K=2).double()
    set_terms(model, [-1.0, 0.5], [2.0, 3.0])
    x = torch.tensor([[0.0, 3.0, 4.0]], dtype=TYPE)
    assert model(x).item() == pytest.approx(2.0 / 5.0 + 3.0 * 5.0**0.5)
    found = model.value_grad_lap(x)
    # 1/r is harmonic in space; r^(1/2) has the Laplacian 3/4 r^(-3/2)
    assert found.laplacian.item() == pytest.approx(3.0 * 0.75 * 5.0**-1.5)
    slope = -2.0 / 25.0 + 1.5 * 5.0**-0.5
    np.testing.assert_allclose(found.gradient[0].tolist(), [0.0, 0.6 * slope, 0.8 * slope])


def test_a_dipole_is_a_term_of_degree_one():
    model = RMNAngular(3, K_r=0, K_a=1, frequencies=1, log_term=False, bias=False).double()
    set_terms(model, [-2.0], [0.0, 1.0, 0.0, 0.0])
    x = points(3)
    torch.testing.assert_close(model(x)[:, 0], x[:, 2] / x.norm(dim=1) ** 3, rtol=1e-13, atol=0)
    assert float(model.value_grad_lap(x).laplacian.abs().max()) < 1e-9


def test_spherical_functions_of_one_degree_have_squares_that_sum_to_one():
    x = points(3)
    functions = SphericalFunctions(5)
    values = functions.values(position(x))
    for degree in range(6):
        part = values[:, [k for k, each in enumerate(functions.degrees) if each == degree]]
        assert part.shape[1] == 2 * degree + 1
        torch.testing.assert_close(part.square().sum(1), torch.ones(len(x), dtype=TYPE))


def test_the_branch_of_the_angle_begins_at_theta0():
    crack = RMNAngular(
        2, K_r=0, K_a=1, frequencies="harmonic", theta0=-math.pi, log_term=False, bias=False
    ).double()
    set_terms(crack, [0.5], [0.0, 1.0])
    faces = torch.tensor([[-4.0, 1e-8], [-4.0, -1e-8]], dtype=TYPE)
    np.testing.assert_allclose(crack(faces)[:, 0].tolist(), [2.0, -2.0])


def test_the_cut_of_a_wedge_lies_outside_of_it():
    wedge = MSNPinn(1, angle=1.5 * math.pi).double()
    set_terms(wedge, [2.0 / 3.0], [0.0, 1.0])
    edge = torch.tensor([[1.0, -1e-17], [1.0, 0.0], [-1e-17, -1.0]], dtype=TYPE)
    assert float(wedge(edge).abs().max()) < 1e-15


def test_values_at_the_center():
    model = RMNDirect(2, K=2, bounds=(0.0, 3.0), log_term=False).double()
    set_terms(model, [0.0, 0.5], [7.0, 3.0])
    x = torch.zeros(1, 2, dtype=TYPE, requires_grad=True)
    assert model(x).item() == 7.0
    (slope,) = torch.autograd.grad(model(x).sum(), x)
    assert slope.tolist() == [[0.0, 0.0]]
    found = model.value_grad_lap(x)
    for part in found:
        assert bool(torch.isfinite(part).all())
    gradients = torch.autograd.grad(model(x).sum(), list(model.parameters()), allow_unused=True)
    assert all(bool(torch.isfinite(g).all()) for g in gradients)


@pytest.mark.parametrize(
    "model", [RMNDirect(2, K=2), RMNAngular(2, K_r=0, log_term=False, bounds=(-1.0, 1.0))]
)
def test_a_singular_center_is_refused(model):
    with pytest.raises(ValueError, match=r"1 of 2 points lie within r_min=1e-12 of the center"):
        model(torch.tensor([[0.0, 0.0], [1.0, 0.0]]))


def test_the_moving_center_is_where_the_field_is_singular():
    model = RMNMultiCenter(2, centers=[[0.5, 0.0], [-0.5, 0.0]])
    with pytest.raises(ValueError, match=r"center \[0\.5, 0\.0\]"):
        model(torch.tensor([[0.5, 0.0]]))
    assert bool(torch.isfinite(model(torch.tensor([[0.0, 0.0]]))).all())


def test_blocks_list_exponents_and_coefficients():
    model = RMNAngular(2, K_r=1, K_a=1, frequencies=[0.5]).double()
    set_terms(model, [1.5], [2.0])
    set_terms(model, [0.5], [3.0, 4.0], family=2)
    kinds = [(block.kind, block.exponent) for block in model.blocks()]
    assert kinds == [("constant", 0.0), ("power", 1.5), ("log", 0.0), ("angular", 0.5)]
    assert model.blocks()[3].coefficients == {"cos 0.5 theta": 3.0, "sin 0.5 theta": 4.0}
    assert model.exponents().tolist() == [1.5, 0.0, 0.5]
