"""The front door: every form in which people hold their data, and every way to ask."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import xarray as xr

import pdes
import sciml
from sciml.discovery import DiscoveryWarning, WhitenedBestSubset

HEAT = {"u": {"u_xx": pytest.approx(0.1, rel=1e-6)}}
ROUNDED = {"u": {"u_xx": pytest.approx(0.1, rel=1e-3)}}


def axes(field, *order):
    values = {"x": field.x.values, "t": field.time.values}
    return {name: values[name] for name in order}


def test_data_array(heat):
    assert sciml.discover(heat).terms_ == HEAT


def test_dataset_and_its_field_names(heat):
    model = sciml.discover(heat.rename("temperature").to_dataset())
    assert model.terms_ == {"temperature": {"temperature_xx": pytest.approx(0.1, rel=1e-6)}}
    assert model.equations() == ["temperature_t = 0.1000*temperature_xx"]


@pytest.mark.parametrize("order", ["tx", "xt"])
def test_arrays_in_either_axis_order(heat, order):
    array = heat.values if order == "tx" else heat.values.T
    assert sciml.discover(array, coords=axes(heat, *order), periodic=True).terms_ == HEAT


def test_swapped_axes_are_set_right_by_their_lengths(heat):
    model = sciml.discover(heat.values, coords=axes(heat, "x", "t"), periodic=True)
    assert model.terms_ == HEAT


def test_lists_of_numbers_and_tensors(heat):
    coords = axes(heat, "t", "x")
    assert sciml.discover(heat.values.tolist(), coords=coords, periodic=True).terms_ == HEAT
    tensor = torch.tensor(heat.values, requires_grad=True)
    assert sciml.discover(tensor, coords=coords, periodic=True).terms_ == HEAT


def test_the_periodic_attribute_and_the_argument_agree(heat):
    bare = heat.copy()
    bare["x"].attrs.clear()
    inside = sciml.discover(bare)
    wrapped = sciml.discover(bare, periodic="x")
    assert wrapped.n_rows_ == sciml.discover(heat).n_rows_ > inside.n_rows_
    assert inside.terms_ == {"u": {"u_xx": pytest.approx(0.1, rel=1e-5)}}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_precision_of_the_data(heat, dtype):
    assert sciml.discover(heat.astype(dtype)).terms_ == ROUNDED


def test_integer_data_carry_their_rounding_as_noise(heat):
    counts = (1000 * heat).round().astype("int32")
    assert sciml.discover(counts).terms_ == ROUNDED


@pytest.mark.parametrize("axis", ["x", "time"])
def test_descending_axes_are_turned_around(heat, axis):
    transport = heat.copy(data=np.cos(heat.x.values - 2 * heat.time.values[:, None]) + heat.values)
    expected = sciml.discover(transport)
    turned = sciml.discover(transport.isel({axis: slice(None, None, -1)}))
    assert turned.support_ == expected.support_
    np.testing.assert_allclose(turned.coef_["u"], expected.coef_["u"], rtol=1e-9)


def test_several_runs_along_a_sample_dimension(heat_modes, noisy):
    runs = [heat_modes(modes=m) for m in ((1, 2), (2, 3), (1, 3))]
    stacked = xr.concat([noisy(r, 0.1, k) for k, r in enumerate(runs)], dim="sample")
    model = sciml.discover(stacked)
    assert model.terms_ == {"u": {"u_xx": pytest.approx(0.1, rel=0.02)}}
    lone = sciml.discover(stacked.isel(sample=0))
    assert model.n_rows_ == 3 * lone.n_rows_ or model.n_rows_ > 2 * lone.n_rows_


def test_a_list_of_runs_on_different_grids(heat_modes, noisy):
    runs = [
        noisy(heat_modes(points=64, times=80), 0.05, 0),
        noisy(heat_modes(points=48, times=100, modes=(1, 2, 4)), 0.05, 1),
    ]
    model = sciml.discover(runs)
    assert model.terms_ == {"u": {"u_xx": pytest.approx(0.1, rel=0.01)}}
    assert len(model.half_widths_) == 2
    arrays = sciml.discover(
        [r.values for r in runs], coords=[axes(r, "t", "x") for r in runs], periodic=True
    )
    np.testing.assert_allclose(arrays.coef_["u"], model.coef_["u"], rtol=1e-12)


def test_one_run_twice_halves_the_variance_and_moves_nothing(heat, noisy):
    run = noisy(heat, 0.1)
    one, two = sciml.discover(run), sciml.discover([run, run])
    np.testing.assert_allclose(two.coef_["u"], one.coef_["u"], rtol=1e-9)
    np.testing.assert_allclose(two.cov_["u"], one.cov_["u"] / 2, rtol=1e-9)


def test_missing_values(heat, noisy):
    """Scattered ones are bridged; a sensor that is silent for long costs the windows around it."""
    holed = noisy(heat, 0.05).copy()
    rng = np.random.default_rng(0)
    holed.values[rng.integers(5, 75, 40), rng.integers(0, 64, 40)] = np.nan
    with pytest.warns(DiscoveryWarning, match=r"0\.8% of the values are missing"):
        scattered = sciml.discover(holed)
    assert scattered.terms_ == {"u": {"u_xx": pytest.approx(0.1, rel=0.02)}}
    holed.values[30:45, 20] = np.nan
    with pytest.warns(DiscoveryWarning, match="are missing"):
        silent = sciml.discover(holed)
    assert silent.terms_ == {"u": {"u_xx": pytest.approx(0.1, rel=0.02)}}
    assert silent.n_rows_ < scattered.n_rows_


def test_a_masked_array_has_missing_values(heat):
    masked = np.ma.masked_array(heat.values, mask=np.zeros(heat.shape, bool))
    masked.mask[40, 30] = True
    with pytest.warns(DiscoveryWarning, match="are missing"):
        model = sciml.discover(masked, coords=axes(heat, "t", "x"), periodic=True)
    assert model.terms_ == HEAT


@pytest.fixture(scope="module")
def schroedinger():
    """h_t = i h_xx/2 on a circle: decaying it is not, so parts mix."""
    x, t = np.linspace(0, 2 * np.pi, 96, endpoint=False), np.linspace(0, 2, 120)
    h = sum(
        a * np.exp(1j * (k * x - 0.5 * k**2 * t[:, None]))
        for k, a in ((1, 1.0), (-2, 0.7j), (3, 0.4), (0, 0.3))
    )
    axis = xr.DataArray(x, dims="x", attrs={"periodic": 1})
    return xr.DataArray(h, dims=("time", "x"), coords={"time": t, "x": axis}, name="h")


@pytest.mark.parametrize("level", [0.0, 0.05])
def test_complex_field(schroedinger, level):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2, *schroedinger.shape)) * level * float(schroedinger.real.std())
    data = schroedinger + noise[0] + 1j * noise[1]
    model = sciml.discover(data.rename("h"))
    assert set(model.terms_["h_re"]) == {"h_im_xx"}
    assert set(model.terms_["h_im"]) == {"h_re_xx"}
    assert model.terms_["h_re"]["h_im_xx"] == pytest.approx(-0.5, rel=0.02)
    (line,) = model.equations(2)
    assert line == "h_t = 0.50*I*h_xx"
    assert model.complex_fields_ == ("h",)


def test_complex_numbers_without_imaginary_part_are_real(heat):
    assert sciml.discover(heat.astype(complex)).terms_ == HEAT


def test_coupled_fields():
    x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 3, 90)
    waves = [(1, 0.3), (2, 1.1), (3, 2.0)]
    # wave equation as a system: u_t = v_x, v_t = u_x
    u = sum(np.cos(k * (x + t[:, None]) + p) for k, p in waves)
    u, v = u + np.cos(2 * (x - t[:, None])), u - np.cos(2 * (x - t[:, None]))
    dataset = xr.Dataset(
        {"u": (("time", "x"), u), "v": (("time", "x"), v)}, coords={"time": t, "x": x}
    )
    model = sciml.discover(dataset, periodic=True)
    assert model.terms_ == {
        "u": {"v_x": pytest.approx(1.0, rel=1e-5)},
        "v": {"u_x": pytest.approx(1.0, rel=1e-5)},
    }
    only = sciml.discover(dataset, periodic=True, target="v")
    assert only.terms_ == {"v": {"u_x": pytest.approx(1.0, rel=1e-5)}}
    with pytest.raises(ValueError, match=r"no equation was sought for \['u'\]"):
        _ = only.equation_


def test_two_space_axes():
    x = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    y = np.linspace(0, 4 * np.pi, 44, endpoint=False)
    t = np.linspace(0, 2, 50)
    u = np.zeros((50, 40, 44))
    for k, j, p in ((1, 1, 0.2), (2, 1, 1.0), (1, 3, 2.0), (3, 2, 0.7)):
        decay = 0.1 * k**2 + 0.05 * (j / 2) ** 2
        wave = np.cos(k * x[:, None] + j / 2 * y + p)
        u += np.exp(-decay * t)[:, None, None] * wave
    model = sciml.discover(u, coords={"t": t, "x": x, "y": y}, periodic=True)
    assert model.terms_ == {
        "u": {"u_xx": pytest.approx(0.1, rel=1e-5), "u_yy": pytest.approx(0.05, rel=1e-5)}
    }
    swapped = sciml.discover(u.transpose(2, 0, 1), coords={"y": y, "t": t, "x": x}, periodic=True)
    assert swapped.terms_["u"]["u_yy"] == pytest.approx(0.05, rel=1e-5)


@pytest.mark.parametrize(
    "library",
    [["u_xx", "u", "u*u_x"], sciml.Library(degree=1), sciml.Library(extra=["u_x^2"]), None],
)
def test_libraries(heat, library):
    assert sciml.discover(heat, library=library).terms_ == HEAT


def test_a_library_without_the_true_terms_is_not_adequate(heat, noisy):
    with pytest.warns(DiscoveryWarning):
        model = sciml.discover(noisy(heat, 0.05), library=["u", "u^2", "u_x", "u*u_x"])
    assert model.adequate_ == {"u": False}
    assert model.chi2_["u"] > 1.3


def test_an_estimator_object_is_cloned_and_given_the_arguments(heat):
    own = WhitenedBestSubset(max_terms=3)
    model = sciml.discover(heat, estimator=own, library=["u_xx", "u"])
    assert model is not own and not hasattr(own, "terms_")
    assert (model.max_terms, model.library) == (3, ["u_xx", "u"])
    assert model.terms_ == HEAT


def test_unknown_estimators_and_targets_get_the_closest_name(heat):
    with pytest.raises(ValueError, match="did you mean 'whitened'"):
        sciml.discover(heat, estimator="whitend")
    with pytest.raises(ValueError, match="did you mean 'temperature'"):
        sciml.discover(heat.rename("temperature"), target="temprature")


def test_parameters_reach_the_estimator(heat):
    model = sciml.discover(heat, max_terms=2, half_widths=[10, 12], random_state=7)
    assert (model.max_terms, model.half_widths_, model.random_state) == (2, [(10, 12)], 7)


def test_given_data_are_left_as_they_are(heat, noisy):
    data = noisy(heat, 0.05)
    data.values[3, 4] = np.nan
    before = data.copy(deep=True)
    with pytest.warns(DiscoveryWarning):
        sciml.discover(data)
    assert before.identical(data)


@pytest.mark.parametrize(("name", "options"), [("burgers", {}), ("kdv", {"stored_points": 256})])
def test_the_found_equation_reproduces_the_part_it_was_not_shown(name, options):
    recording = pdes.simulate(pdes.get(name, times=np.linspace(0, 2, 201), **options))
    shown, held_out = recording.isel(time=slice(0, 121)), recording.isel(time=slice(120, None))
    model = sciml.discover(shown)
    solved = model.simulate(held_out.isel(time=0), held_out.time.values)
    error = np.linalg.norm(solved.u.values - held_out.u.values)
    assert error < 0.02 * np.linalg.norm(held_out.u.values)


def test_public_recordings(equation_recordings):
    """Burgers' equation from a file as it was published, with and without noise."""
    data = pdes.data.read(equation_recordings / "pdefind_burgers.mat")
    for level in (0.0, 0.05):
        field = data.usol
        noise = np.random.default_rng(3).normal(size=field.shape)
        model = sciml.discover(field + level * float(field.std()) * noise)
        (terms,) = model.terms_.values()
        assert set(terms) == {"usol*usol_x", "usol_xx"}
        assert terms["usol*usol_x"] == pytest.approx(-1.0, rel=0.02)
        assert terms["usol_xx"] == pytest.approx(0.1, rel=0.02)
