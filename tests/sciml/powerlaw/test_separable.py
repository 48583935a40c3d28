"""Networks fitted by variable projection: columns, derivatives, recovery, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from sciml.powerlaw import MSN, MSNPinn, RMNAngular, RMNDirect, RMNMultiCenter
from sciml.powerlaw.separable_fit import SparseDerivatives

TYPE = torch.float64


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def points(dimension, count=60, seed=1):
    x = 2.0 * torch.rand(count, dimension, generator=seeded(seed), dtype=TYPE) - 1.0
    return x.abs() + 0.01 if dimension == 1 else x


FORMS = {
    "direct": lambda: RMNDirect(2, K=3, generator=seeded()),
    "angular": lambda: RMNAngular(3, K_r=2, K_a=2, generator=seeded()),
    "harmonic": lambda: RMNAngular(2, K_r=0, K_a=2, frequencies="harmonic", generator=seeded()),
    "centers": lambda: RMNMultiCenter(2, J=2, K=2, generator=seeded()),
    "power sum": lambda: MSNPinn(3, generator=seeded()),
    "wedge": lambda: MSNPinn(2, angle=4.0, generator=seeded()),
    "msn": lambda: MSN((1, 2, 1), 2, 1, generator=seeded()),
}


def dense(derivatives, parameters, columns):
    if not isinstance(derivatives, SparseDerivatives):
        return derivatives
    table = columns.new_zeros((len(columns), parameters.shape[1], *columns.shape[1:]))
    for i, (j, k) in enumerate(zip(derivatives.parameter, derivatives.column, strict=True)):
        table[:, j, :, k] += derivatives.values[:, i]
    return table


@pytest.fixture(params=sorted(FORMS))
def form(request):
    model = FORMS[request.param]().double()
    return model.to_varpro(points(model.dimension))


def test_columns_times_coefficients_are_the_network(form):
    model = form.network
    columns, _ = form(form.start[None])
    if isinstance(model, MSN):
        layer = model.layers[-1]
        parts = (layer.bias, layer.even_coefficients, layer.odd_coefficients)
        coefficients = torch.cat([part.reshape(-1) for part in parts])
    else:
        coefficients = model.coefficients()
    torch.testing.assert_close(columns[0] @ coefficients, model(form.x)[:, 0], rtol=1e-12, atol=0)


def test_derivatives_of_the_columns(form):
    parameters = form.start[None]
    columns, derivatives = form(parameters)
    table = dense(derivatives, parameters, columns)
    step = 1e-6
    for place in range(parameters.shape[1]):
        shift = torch.zeros_like(parameters)
        shift[0, place] = step
        numeric = (form(parameters + shift)[0] - form(parameters - shift)[0]) / (2.0 * step)
        scale = float(numeric.abs().max()) + float(columns.abs().max())
        assert float((table[:, place] - numeric).abs().max()) < 1e-7 * scale


def test_members_of_a_batch_do_not_mix(form):
    parameters = torch.stack([form.start, form.start + 0.01])
    both, _ = form(parameters)
    alone, _ = form(parameters[1:])
    torch.testing.assert_close(both[1:], alone, rtol=1e-14, atol=0)


def test_what_is_written_is_what_was_fitted(form):
    coefficients = torch.linspace(-1.0, 1.0, form(form.start[None])[0].shape[-1], dtype=TYPE)
    parameters = form.start + 0.01
    form.write(parameters, coefficients)
    expected = form(parameters[None])[0][0] @ coefficients
    torch.testing.assert_close(form.network(form.x)[:, 0], expected, rtol=1e-12, atol=1e-13)


def test_a_power_sum_is_recovered():
    x = points(2, 300)
    r = x.norm(dim=1)
    model = RMNDirect(2, K=3, bounds=(-1.5, 3.0), log_term=False, bias=False).double()
    fit = model.fit(x, 1.0 / r + 2.0 * r**0.5 - 3.0 * r**1.7, starts=10)
    assert float(fit.relative_residual) < 1e-13
    np.testing.assert_allclose(np.sort(model.exponents().tolist()), [-1.0, 0.5, 1.7], atol=1e-11)


def test_a_crack_is_recovered_with_free_frequency():
    x = points(2, 300)
    theta = torch.atan2(x[:, 1], x[:, 0])
    y = x.norm(dim=1).sqrt() * torch.sin(0.5 * theta)
    model = RMNAngular(2, K_r=0, K_a=1, frequencies="harmonic", theta0=-math.pi, log_term=False,
                       bias=False).double()  # fmt: skip
    fit = model.fit(x, y, starts=5)
    assert float(fit.relative_residual) < 1e-13
    assert model.exponents().item() == pytest.approx(0.5, abs=1e-13)


def test_centers_are_recovered():
    x = points(2, 300)
    truth = RMNMultiCenter(2, K=0, centers=[[0.3, 0.1], [-0.4, -0.2]]).double()
    for family, charge in zip(truth.families, (1.0, -2.0), strict=True):
        family.coefficients.data.fill_(charge)
    model = RMNMultiCenter(2, K=0, centers=[[0.2, 0.2], [-0.5, -0.1]]).double()
    fit = model.fit(x, truth(x).detach())
    assert float(fit.relative_residual) < 1e-13
    np.testing.assert_allclose(model.centers.tolist(), [[0.3, 0.1], [-0.4, -0.2]], atol=1e-12)


def test_the_best_of_several_starts_is_kept_and_repeats():
    x = points(1, 200)
    y = x[:, 0] ** 0.3 + x[:, 0] ** 2.2
    first, second = MSNPinn(2, generator=seeded()), MSNPinn(2, generator=seeded())
    for model in (first, second):
        model.double().fit(x, y, starts=8, random_state=3)
    assert torch.equal(first.exponents(), second.exponents())
    np.testing.assert_allclose(np.sort(first.exponents().tolist()), [0.3, 2.2], atol=1e-11)


def test_single_precision_is_said_and_computed_in_double():
    x = points(1, 200).float()
    model = MSNPinn(1)
    with pytest.warns(UserWarning, match="single precision"):
        fit = model.fit(x, x[:, 0] ** 0.5)
    assert fit.parameters.dtype == TYPE
    assert model.exponents().item() == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x, y, w: (x, y.index_fill(0, torch.tensor([3]), math.nan), w), "y contains 1 val"),
        (lambda x, y, w: (x * math.inf, y, w), "x contains 60 values that are not finite"),
        (lambda x, y, w: (x, y[:-1], w), r"y has shape \(59,\), wanted \(60,\)"),
        (lambda x, y, w: (x, y, -w), "weights: the smallest is -1, wanted positive"),
        (lambda x, y, w: (x, y, 0 * w), "weights: the smallest is 0"),
        (lambda x, y, w: (x[:3], y[:3], w[:3]), "3 rows for 3 columns and 3 nonlinear"),
        (lambda x, y, w: (x[:0], y[:0], w[:0]), "x is empty"),
        (lambda x, y, w: (x.repeat(1, 2), y, w), r"wanted \(rows, 1\)"),
        (lambda x, y, w: (x, y.to(torch.complex128), w), "wanted real numbers"),
        (lambda x, y, w: (x.numpy().astype(str), y, w), "wanted real numbers"),
    ],
)
def test_bad_data_are_refused(change, words):
    x = points(1)
    data = change(x, x[:, 0] ** 0.5, torch.ones(60, dtype=TYPE))
    with pytest.raises(ValueError, match=words):
        MSNPinn(3).double().fit(data[0], data[1], weights=data[2])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MSNPinn(0), "K is 0, wanted a whole number, 1 or more"),
        (lambda: MSNPinn(2.5), "K is 2.5"),
        (lambda: RMNDirect(0), "dimension is 0"),
        (lambda: RMNDirect(2, K=0, log_term=False), "K is 0"),
        (lambda: RMNDirect(2, bounds=(1.0, 1.0)), r"bounds: got \(1, 1\)"),
        (lambda: RMNAngular(4), "dimension is 4, wanted 2 or 3"),
        (lambda: RMNAngular(3, frequencies="harmonic"), "needs dimension=2"),
        (lambda: RMNAngular(2, frequencies="harmonics"), "Did you mean 'harmonic'"),
        (lambda: RMNAngular(2, frequencies=[1, 1]), "different numbers"),
        (lambda: RMNAngular(2, frequencies=[-1]), "not negative"),
        (lambda: RMNAngular(3, frequencies=[0.5]), "in space wanted a whole number"),
        (lambda: RMNAngular(2, theta0=math.nan), "theta0 is nan"),
        (lambda: RMNMultiCenter(2, J=1, centers=[[2.0, 0.0]], box=([-1, -1], [1, 1])), "outside"),
        (lambda: RMNMultiCenter(2, centers=[[0.0, 0.0], [0.0, 0.0]]), "different places"),
        (lambda: RMNMultiCenter(2, J=3, centers=[[0.0, 0.0]]), "got 1, wanted J=3"),
        (lambda: RMNMultiCenter(3, centers=[[0.0, 0.0]]), r"wanted \(J, 3\)"),
        (lambda: MSNPinn(2, angle=0.0), "angle is 0 radians"),
        (lambda: MSNPinn(2, angle=270.0), "270 degrees are 4.71239 radians"),
        (lambda: MSN((1, 8)), "wanted two or more, from the dimension of space to 1"),
        (lambda: MSN((1, 0, 1)), "widths is 0"),
    ],
)
def test_bad_arguments_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_points_of_another_type_or_place_are_refused():
    model = RMNDirect(2)
    with pytest.raises(ValueError, match=r"x is torch.float64 on cpu, the parameters are"):
        model(torch.ones(3, 2, dtype=TYPE))
    with pytest.raises(ValueError, match=r"x has shape \(3, 3\), wanted \(..., 2\)"):
        model(torch.ones(3, 3))
    with pytest.raises(ValueError, match="x is a ndarray, wanted a torch tensor"):
        model(np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"x contains -0.5: x\^mu is defined for x >= 0"):
        MSNPinn(2)(torch.tensor([[-0.5]]))
