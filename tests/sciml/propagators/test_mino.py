"""Learned propagators: exact structure, training, certificates, files, bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from pdes import Equation
from sciml.propagators import Box, Gaussian, MiNO, RayPropagator, Tent
from sciml.propagators.derivatives import letters, partial_derivatives
from sciml.propagators.gated_mlp import GatedMLP, closed_words
from sciml.theory import multiplier_bound, multiplier_error, phase_factor
from sciml.training import TrainingInterruptedError

CIRCLE = [(0.0, 2 * np.pi)]
WIND = "u_t = -(1 + 0.5*sin(x))*u_x"
MEDIUM = "u_t = v; v_t = (1 + 0.3*sin(x))^2*u_xx"
SMALL = {"hidden_channels": 8, "n_layers": 2}
SCHROEDINGER = Equation.from_text("h_t = I/2*h_xx - I/2*x^2*h", complex_fields=("h",))
EQUATIONS = {
    "foot": (WIND, CIRCLE, {}),
    "damped": ("u_t = -u_x - 0.3*u*cos(x)", CIRCLE, {}),
    "wave": (MEDIUM, CIRCLE, {"amplitude_order": 1}),
    "generic": (WIND, CIRCLE, {"parametrization": "generic"}),
    "line": ("u_t = -u_x", [(-1.0, 1.0)], {"parametrization": "generic", "periodic": False}),
    "multiplier": ("u_t = -u_xxx", CIRCLE, {"exact": False}),
    "exact multiplier": ("u_t = -u_xxx - 0.2*u", CIRCLE, {}),
    "exact wave": ("u_t = v; v_t = u_xx - 4*u", CIRCLE, {}),
    "complex": (SCHROEDINGER, [(-2.0, 2.0)], {"periodic": False}),
    "plane wind": ("u_t = -(1 + 0.2*sin(y))*u_x - u_y", CIRCLE * 2, {}),
    "half-wave": ("u_t = v; v_t = (1 + 0.3*sin(x)*cos(y))^2*(u_xx + u_yy)", CIRCLE * 2, {}),
}


def made(name, **more):
    equation, domain, options = EQUATIONS[name]
    settings: dict[str, Any] = {**SMALL, **options, **more}
    return MiNO(equation, domain, 0.5, 4, **settings).double()


def drawn(model, count=7, seed=0):
    rng = torch.Generator().manual_seed(seed)
    d = model.symbols.dimension
    shape = (count,) if d == 1 else (count, d)
    t = 0.5 * torch.rand(count, generator=rng, dtype=torch.float64)
    x = torch.rand(shape, generator=rng, dtype=torch.float64)
    xi = 4.0 * torch.rand(shape, generator=rng, dtype=torch.float64) + 0.3
    return t, x, xi


# -- structure ---------------------------------------------------------------------------------


def test_the_network_has_the_published_number_of_weights():
    generic = MiNO("u_t = -u_x", [(-3.0, 3.0)], 1.5, 28, "generic", periodic=False)
    assert generic.n_parameters == 26_626
    small = MiNO("u_t = -u_x", [(-3, 3)], 1.5, 28, "auto", 16, 2, periodic=False)
    assert small.n_parameters == 433
    assert MiNO(WIND, CIRCLE, 2.0, 32, "auto", 32, 4).n_parameters == 3585
    assert MiNO(WIND, CIRCLE, 2.0, 32, "generic").n_parameters == 27_010


def test_tangents_of_the_network_are_its_derivatives():
    net = GatedMLP(2, 3, 6, 3, seed=1).double()
    assert closed_words(["xxx", "t"]) == ("", "t", "x", "xx", "xxx")

    def plain(t, x):
        return net(torch.stack([t, torch.sin(x)], dim=-1)).sum(-1)

    t, x = torch.rand(2, 5, dtype=torch.float64)
    words = closed_words(["tt", "txx", "xxx"])
    zero, one = torch.zeros_like(t), torch.ones_like(t)
    inputs = {}
    for word in words:
        first = {"": t, "t": one}.get(word, zero)
        turned = torch.sin(x + 0.5 * math.pi * len(word)) if "t" not in word else zero
        inputs[word] = torch.stack([first, turned], dim=-1)
    found = net.jet(inputs)
    wanted = partial_derivatives(plain, t, x, words)
    for word in words:
        torch.testing.assert_close(found[word].sum(-1), wanted[word], rtol=1e-10, atol=1e-12)


def by_reverse_mode(function, t, x, word, axes):
    """Derivative of a pointwise function in the directions of a word, one after the other."""

    def plain(t, x, part):
        value = function(t, x)
        return part(value if value.is_complex() else value.to(torch.complex128))

    parts = []
    for part in (torch.real, torch.imag):
        t, x = t.detach().requires_grad_(), x.detach().requires_grad_()
        value = plain(t, x, part) + 0.0 * t  # so that constants can be differentiated, too
        for letter in word:
            place = t if letter == "t" else x
            (slope,) = torch.autograd.grad(
                value.sum(), place, create_graph=True, materialize_grads=True
            )
            one = letter == "t" or x.ndim == t.ndim
            value = (slope if one else slope[..., axes.index(letter)]) + 0.0 * t
        parts.append(value.detach())
    return torch.complex(*parts) if function(t, x).is_complex() else parts[0]


@pytest.mark.parametrize("name", EQUATIONS)
def test_jets_are_derivatives_and_the_start_is_exact(name):
    model = made(name)
    t, x, xi = drawn(model)
    symbols = model.symbols
    axes = symbols.equation.coordinates
    for branch in model.branches:
        for jet, function, names in (
            (model.phase_jet, model.phase, symbols.phase_jets),
            (model.amplitude_jet, model.amplitude, symbols.amplitude_jets),
        ):
            found = jet(t, x, xi, branch, names)
            for n in names:
                wanted = by_reverse_mode(
                    lambda t, x, f=function, b=branch: f(t, x, xi, b), t, x, letters(n), axes
                )
                torch.testing.assert_close(found[n], wanted, rtol=1e-9, atol=1e-10)
        zero = torch.zeros_like(t)
        start = x * xi if symbols.dimension == 1 else (x * xi).sum(-1)
        torch.testing.assert_close(model.phase(zero, x, xi, branch), start)
        unit = model.amplitude(zero, x, xi, branch)
        torch.testing.assert_close(unit, torch.ones_like(unit))


def test_a_homogeneous_phase_is_homogeneous_and_branches_mirror_each_other():
    model = made("half-wave")
    t, x, xi = drawn(model)
    torch.testing.assert_close(model.phase(t, x, 3.0 * xi), 3.0 * model.phase(t, x, xi))
    torch.testing.assert_close(model.phase(t, x, -xi, -1), -model.phase(t, x, xi, 1))


def test_phases_of_real_equations_are_odd_in_the_frequency():
    model = made("generic")
    t, x, xi = drawn(model)
    torch.testing.assert_close(model.phase(t, x, -xi), -model.phase(t, x, xi))
    assert bool((model.phase(t, x, 0.0 * xi) == 0.0).all())


@pytest.mark.parametrize("name", EQUATIONS)
def test_a_saved_model_is_the_same_bit_for_bit(name, tmp_path):
    model = made(name, seed=3)
    model.save(tmp_path)
    again = MiNO.load(tmp_path)
    t, x, xi = drawn(model)
    assert torch.equal(model.phase(t, x, xi), again.phase(t, x, xi))
    assert torch.equal(model.amplitude(t, x, xi), again.amplitude(t, x, xi))
    assert str(again.symbols.equation) == str(model.symbols.equation)
    assert again.collocation == model.collocation


def test_fields_in_single_and_double_precision_in_any_layout():
    model = made("foot")
    u = torch.sin(torch.arange(32) * 2 * math.pi / 32).expand(3, 1, 32)
    double = model(u.double(), 0.1)
    single = model(u.float(), 0.1)
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), double, atol=1e-6, rtol=0.0)
    strided = torch.zeros(3, 1, 64, dtype=torch.float64)[..., ::2].copy_(u)
    torch.testing.assert_close(model(strided, 0.1), double)
    torch.testing.assert_close(model(u[:1].double(), 0.1), double[:1])


def test_seeds_decide_weights():
    one, same, other = made("foot", seed=1), made("foot", seed=1), made("foot", seed=2)
    t, x, _ = drawn(one)
    assert torch.equal(one.foot(t, x), same.foot(t, x))
    assert not torch.equal(one.foot(t, x), other.foot(t, x))


# -- training ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained():
    model = MiNO("u_t = -u_x", [(-3.0, 3.0)], 1.5, 28, "auto", 16, 2, periodic=False)
    return model.fit(500, batch_size=256, polish=1, progress=False)


def staggered(a, b, count=4096):
    return a + (np.arange(count) + 0.37) * (b - a) / count


def test_one_generator_moves_fields_it_never_saw(trained):
    x = staggered(-3.0, 3.0)
    for field, most in ((Box(-1.5, -0.5), 0.1446), (Gaussian(-1.0, 0.3), 1e-3)):
        moved = trained.propagate(field, [1.5], x=x)
        exact = field.value(x - 1.5)
        error = np.linalg.norm(moved.u.values[0, 0] - exact) / np.linalg.norm(exact)
        assert error < most
    assert trained.collocation == ((-4.5, 3.0),)


def test_the_certificate_bounds_the_error_and_splits_it(trained):
    fields = [Box(-1.5, -0.5), Gaussian(-1.0, 0.3), Tent(-1.0, 0.5)]
    bound = trained.certify(fields, [0.75, 1.5])
    x = staggered(-3.0, 3.0)
    moved = trained.propagate(fields, [0.75, 1.5], x=x)
    for n, field in enumerate(fields):
        for when, t in enumerate((0.75, 1.5)):
            square = (moved.u.values[n, when] - field.value(x - t)) ** 2
            error = math.sqrt(square.mean() * 6.0)
            assert error <= bound.l2[when, n]
    assert bound.trained_enough is False or bool((bound.trainable <= 0.14 * bound.tail).all())
    assert trained.certificate(fields[0], 1.5).total.shape == (1, 1)


def test_training_stops_when_the_certificate_says_so():
    model = MiNO("u_t = -u_x", CIRCLE, 0.5, 4, "auto", **SMALL)
    model.fit(900, batch_size=128, polish=3, fields=Box(2.0, 3.5), check_every=100, progress=False)
    assert len(model.records) == 1
    assert model.records[0].steps < 900
    assert "of what the window cuts" in model.records[0].reason
    assert model.certify(Box(2.0, 3.5), [0.5]).trained_enough


def test_an_interrupted_training_goes_on_bit_for_bit(tmp_path):
    options = {"batch_size": 32, "progress": False}
    whole = made("foot").fit(30, **options)

    def stop(state):
        if state.step == 17:
            raise KeyboardInterrupt

    cut = made("foot")
    with pytest.raises((KeyboardInterrupt, TrainingInterruptedError)):
        cut.fit(30, **{**options, "progress": stop}, checkpoint=tmp_path)
    again = made("foot").fit(30, **options, checkpoint=tmp_path, resume=True)
    for one, other in zip(whole.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("name", ["damped", "wave"])
def test_every_kind_learns(name):
    record = made(name).fit(150, batch_size=64, progress=False).records[0]
    assert np.mean(record.losses[-20:]) < 0.2 * record.losses[0]
    assert len(record.parts) == {"damped": 2, "wave": 3}[name]


def test_a_trained_foot_is_that_of_the_rays():
    model = MiNO(WIND, CIRCLE, 1.0, 16, "auto", 16, 2)
    model.fit(300, batch_size=256, polish=1, progress=False)
    rays = RayPropagator(Equation.from_text(WIND), CIRCLE, 1.0)
    x = torch.linspace(0.0, 6.0, 50, dtype=torch.float64)
    t = torch.tensor(1.0, dtype=torch.float64)
    assert float((model.foot(t, x) - rays.foot(t, x)).abs().max()) < 5e-3


def test_a_multiplier_in_closed_form_needs_no_training(caplog):
    model = made("exact multiplier")
    assert model.n_parameters == 0 and model.kind == "multiplier"
    with caplog.at_level("INFO", logger="sciml.propagators.mino"):
        assert model.fit(10, progress=False) is model
    assert "nothing is trained" in caplog.text and not model.records
    x = np.arange(64) * 2 * np.pi / 64
    moved = model.propagate(np.cos(2 * x) + np.sin(3 * x), [0.4]).u.values[0, 0]
    exact = np.exp(-0.08) * (np.cos(2 * x + 0.4 * 8) + np.sin(3 * x + 0.4 * 27))
    np.testing.assert_allclose(moved, exact, atol=1e-12)
    bound = model.certify(Box(2.0, 3.5), [0.4])
    assert bound.trainable.max() + bound.parametrix.max() < 1e-10 and bound.tail.min() > 0.1
    with pytest.raises(ValueError, match=r"exact is True .*'homogeneous'.* closed form"):
        made("foot", exact=True)
    assert made("multiplier").n_parameters > 0


def test_a_learned_multiplier_keeps_to_its_bound_and_its_equality():
    model = made("multiplier").fit(150, batch_size=128, polish=1, progress=False)
    field, time = Box(2.0, 3.5), 0.5
    spectrum = model.prepare(field).spectrum
    (xi,) = spectrum.frequencies
    zero, clock = torch.zeros_like(xi), torch.full_like(xi, time)
    with torch.no_grad():
        turned = model.phase(clock, zero, xi) - time * xi**3
        grown = model.amplitude(clock, zero, xi) - 1.0
    factor = phase_factor(turned.numpy(), grown.numpy())
    c = spectrum.coefficients[0].numpy()
    error = multiplier_error(float(spectrum.tail[0]), factor, c, length=2 * np.pi)
    exact = made("multiplier", exact=True)
    x = staggered(0.0, 2 * np.pi, 512)
    far, near = (m.propagate(field, [time], x=x).u.values[0, 0] for m in (model, exact))
    trained = math.sqrt(((far - near) ** 2).mean() * 2 * np.pi)
    assert trained**2 + float(spectrum.tail[0]) ** 2 == pytest.approx(error**2, rel=1e-9)
    bound = multiplier_bound(turned.numpy(), grown.numpy()) * float(spectrum.norm[0])
    assert 1e-6 < trained <= bound < 0.05
    assert trained <= model.certify(field, [time]).trainable[0, 0]


# -- bad input ---------------------------------------------------------------------------------


def test_settings_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"parametrization is 'homogenous', did you mean"):
        MiNO(WIND, CIRCLE, 1.0, 8, "homogenous")
    with pytest.raises(ValueError, match=r"parametrization is 'multiplier'.*depend on position"):
        MiNO(WIND, CIRCLE, 1.0, 8, "multiplier")
    with pytest.raises(ValueError, match=r"not of degree 1"):
        MiNO("u_t = -u_xxx", CIRCLE, 1.0, 8, "homogeneous")
    with pytest.raises(ValueError, match=r"nonlinear"):
        MiNO("u_t = -u*u_x", CIRCLE, 1.0, 8)
    with pytest.raises(ValueError, match=r"the wave speed is"):
        MiNO("u_t = v; v_t = sin(x)^2*u_xx", CIRCLE, 1.0, 8)
    with pytest.raises(ValueError, match=r"amplitude_order is 2"):
        MiNO(MEDIUM, CIRCLE, 1.0, 8, amplitude_order=2)
    with pytest.raises(ValueError, match=r"hidden_channels is 0"):
        MiNO(WIND, CIRCLE, 1.0, 8, hidden_channels=0)
    with pytest.raises(TypeError, match=r"equation is a int"):
        MiNO(3, CIRCLE, 1.0, 8)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"rays of .* more than 100 times its size"):
        MiNO("u_t = x*u_x", [(1.0, 2.0)], 9.0, 8, periodic=False)


def test_training_arguments_that_do_not_fit_are_refused():
    model = made("foot")
    with pytest.raises(ValueError, match=r"polish is -1"):
        model.fit(5, polish=-1, progress=False)
    with pytest.raises(ValueError, match=r"resume=True needs checkpoint"):
        model.fit(5, resume=True, progress=False)
    with pytest.raises(ValueError, match=r"batch_size is 0"):
        model.fit(5, batch_size=0, progress=False)
    with pytest.raises(ValueError, match=r"check_every is 0"):
        model.fit(5, check_every=0, fields=Box(2.0, 3.5), progress=False)


def test_fields_that_do_not_fit_are_refused():
    model = made("foot")
    with pytest.raises(ValueError, match=r"(?i)nan|finite"):
        model.propagate(np.full(64, np.nan), [0.1])
    with pytest.raises(ValueError, match=r"complex"):
        model.propagate(np.ones(64) * 1j, [0.1])
    for wrong in (np.ones((64, 8)), torch.ones(64), torch.ones(1, 1, 16, 16)):
        with pytest.raises(ValueError, match=r"u0 has the shape .*along x.*\(batch, 1, x\)"):
            model.propagate(wrong, [0.1])
    with pytest.raises(ValueError, match=r"t is 2.*propagate"):
        model(torch.zeros(1, 1, 32), 2.0)
    with pytest.raises(ValueError, match=r"n_modes"):
        model.propagate(np.ones(8), [0.1], n_modes=4)


def test_a_generic_phase_is_not_used_beyond_its_window():
    with pytest.raises(ValueError, match=r"trained up to 4 only"):
        made("generic").propagate(Box(2.0, 3.5), [0.1], n_modes=5)
    assert made("foot").propagate(Box(2.0, 3.5), [0.05], n_modes=9).u.shape == (1, 1, 512)


def test_a_phase_that_is_off_at_the_edge_is_said():
    with pytest.warns(UserWarning, match=r"only known to .* radians.*best edge.*n_modes="):
        made("foot").propagate(Box(2.0, 3.5), [0.5], n_modes=64)


def test_a_phase_that_folds_space_says_why():
    model = made("foot")
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(8.0)
    with pytest.raises(ValueError, match=r"folds space.*training was too short"):
        model.propagate(Box(2.0, 3.5), [0.5])
    assert model.propagate(Box(2.0, 3.5), [0.5], check=False).u.shape == (1, 1, 512)


def test_a_caustic_is_told_from_short_training():
    swing = MiNO(SCHROEDINGER, [(-1.0, 1.0)], 1.9, 2, **SMALL, periodic=True)
    swing = swing.double()

    def folded(t, x, xi, branch=1):
        return {"stretch": -torch.ones_like(x), "position": x, "momentum": xi, "foot": x}

    swing.canonical_relation = folded  # type: ignore[method-assign]
    with pytest.raises(ValueError, match=r"caustic.*max_step"):
        swing.propagate(np.ones(32) + 0j, [1.8])
    with pytest.raises(ValueError, match=r"training was too short"):
        swing.propagate(np.ones(32) + 0j, [0.3])


def test_a_phase_without_digits_is_refused():
    model = made("foot")
    x = torch.full((3,), 6.0)
    with pytest.raises(ValueError, match=r"float32.*float64"):
        model.phase(torch.zeros(3), x, torch.full((3,), 1e4))
    assert model.phase(torch.zeros(3), x, torch.ones(3)).dtype == torch.float32


def test_many_points_are_taken_in_parts(monkeypatch):
    from sciml.propagators import features

    model = made("generic")
    t, x, xi = drawn(model, count=12)
    whole = model.phase_jet(t.reshape(3, 4), x.reshape(3, 4), xi.reshape(3, 4), 1, ("phi_t",))
    monkeypatch.setattr(features, "_CHUNK", 5)
    with torch.no_grad():
        parts = model.phase_jet(t.reshape(3, 4), x.reshape(3, 4), xi.reshape(3, 4), 1, ("phi_t",))
    torch.testing.assert_close(parts["phi_t"], whole["phi_t"])
