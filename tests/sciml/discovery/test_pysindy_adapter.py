"""PySINDy behind our interface: same data in, canonical terms out."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from sklearn.base import clone

from sciml.discovery import PySINDyWeak, WhitenedBestSubset
from sciml.discovery.pysindy_adapter import product_features, require_pysindy

SMALL = {"K": 80, "derivative_order": 2, "degree": 2, "threshold": 0.05}


@pytest.fixture
def small():
    pytest.importorskip("pysindy", reason="PySINDy is not installed")
    return PySINDyWeak(**SMALL, half_widths=(9, 13))


def test_importing_does_not_load_pysindy():
    code = (
        "import sys, sciml.discovery as d; d.PySINDyWeak(); "
        "import sciml.discovery.pysindy_optimizer; assert 'pysindy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_pysindy_is_explained(monkeypatch, heat):
    monkeypatch.setitem(sys.modules, "pysindy", None)
    with pytest.raises(ImportError, match=r'pip install "sciml-pdes\[pysindy\]"'):
        require_pysindy()
    with pytest.raises(ImportError, match=r"sciml-pdes\[pysindy\]"):
        PySINDyWeak().fit(heat)


def test_finds_the_heat_equation(small, heat):
    assert small.fit(heat) is small
    assert list(small.terms_["u"]) == ["u_xx"]
    assert small.terms_["u"]["u_xx"] == pytest.approx(0.1, rel=2e-3)
    assert small.equations(2) == ["u_t = 0.10*u_xx"]
    assert small.n_rows_ == 80
    assert np.isnan(small.standard_errors_["u"]["u_xx"])
    assert small.score(heat) == pytest.approx(1.0, abs=1e-3)


def test_terms_are_those_of_pysindys_own_equations(small, burgers, noisy):
    model = small.set_params(half_widths=(21, 17), threshold=0.02).fit(noisy(burgers, 0.02))
    ours = model.terms_["u"]
    assert {"u*u_x", "u_xx"} <= set(ours)
    assert ours["u*u_x"] == pytest.approx(-1.0, abs=0.1)
    printed = model.model_.equations(precision=3)[0].split(" + ")
    theirs = {piece.split()[1]: float(piece.split()[0]) for piece in printed}
    names = {"u_x": "u_1", "u_xx": "u_11", "u*u_x": "uu_1", "u*u_xx": "uu_11"}
    names |= {"u^2*u_x": "u^2u_1", "u^2*u_xx": "u^2u_11"}
    translated = {names.get(term, term): round(value, 3) for term, value in ours.items()}
    assert translated == theirs


def test_columns_have_pysindys_order(heat_modes):
    ps = pytest.importorskip("pysindy", reason="PySINDy is not installed")
    fields = {"u": heat_modes(), "v": heat_modes(modes=(2, 3), diffusivity=0.2)}
    data = xr.Dataset(fields)
    model = PySINDyWeak(**SMALL, constant=True, half_widths=(9, 13)).fit(data)
    assert isinstance(model.model_, ps.SINDy)
    written = [name.replace("*", "").replace("_xx", "_11") for name in model.feature_names_]
    written = [name.replace("_x", "_1") for name in written]
    assert written == [name.replace(" ", "") for name in model.model_.get_feature_names()]
    assert len(written) == 1 + 5 + 4 + 20
    assert model.terms_["v"] == {"v_xx": pytest.approx(0.2, rel=0.01)}


def test_plane_derivatives_are_named_by_axis():
    powers = np.array([[1, 0], [1, 1]])
    features = product_features(("u", "v"), ("x", "y"), powers, [(0, 1), (1, 1)], True)
    assert [feature.name for feature in features] == [
        *("1", "u", "u*v", "u_y", "v_y", "u_xy", "v_xy"),
        *("u*u_y", "u*v*u_y", "u*v_y", "u*v*v_y"),
        *("u*u_xy", "u*v*u_xy", "u*v_xy", "u*v*v_xy"),
    ]


def test_complex_fields_are_split():
    pytest.importorskip("pysindy", reason="PySINDy is not installed")
    x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 1, 80)
    # waves of i h_t = -h_xx / 2
    h = sum(np.exp(1j * (k * x[:, None] - k**2 * t / 2)) / k for k in (1, 2, 3))
    model = PySINDyWeak(**(SMALL | {"degree": 1}), half_widths=(9, 13))
    model.fit(h, coords={"x": x, "t": t})
    assert model.terms_["u_re"] == {"u_im_xx": pytest.approx(-0.5, rel=0.02)}
    assert model.terms_["u_im"] == {"u_re_xx": pytest.approx(0.5, rel=0.02)}


def test_seed_decides_and_numpys_generator_is_left_alone(small, heat, noisy):
    data = noisy(heat, 0.05)
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random(3)  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    first = small.fit(data).coef_["u"]
    np.testing.assert_array_equal(np.random.random(3), expected)  # noqa: NPY002
    np.testing.assert_array_equal(clone(small).fit(data).coef_["u"], first)
    other = clone(small).set_params(random_state=1).fit(data).coef_["u"]
    assert not np.array_equal(other, first)


def test_several_runs_on_one_grid(small, heat_modes):
    runs = [heat_modes(modes=(1, 3)), heat_modes(modes=(2, 4))]
    model = small.fit(runs)
    assert model.n_rows_ == 160
    assert model.terms_["u"] == {"u_xx": pytest.approx(0.1, rel=5e-3)}


def test_simulates_what_it_found(small, heat):
    model = small.fit(heat)
    run = model.simulate(heat.isel(time=0), heat.time.values)
    assert float(np.abs(run.u - heat).max()) < 5e-3


def test_agrees_with_the_default_estimator_on_clean_data(small, heat):
    ours = WhitenedBestSubset().fit(heat).terms_["u"]
    theirs = small.fit(heat).terms_["u"]
    assert set(ours) == set(theirs)
    assert theirs["u_xx"] == pytest.approx(ours["u_xx"], rel=2e-3)


class TestRefusals:
    def test_windows_for_which_pysindy_would_search_forever(self, heat):
        pytest.importorskip("pysindy", reason="PySINDy is not installed")
        with pytest.raises(ValueError, match=r"'x' has 16 points.* at least 31"):
            PySINDyWeak().fit(heat.isel(x=slice(0, 64, 4)))

    @pytest.mark.parametrize("widths", [(1, 13), (32, 13)])
    def test_windows_that_do_not_fit(self, heat, widths):
        pytest.importorskip("pysindy", reason="PySINDy is not installed")
        with pytest.raises(ValueError, match="between 2 and 31"):
            PySINDyWeak(half_widths=widths).fit(heat)

    def test_missing_values(self, small, heat):
        holes = heat.where(heat.x > 0.1)
        with pytest.raises(ValueError, match="missing values"), pytest.warns(match="missing"):
            small.fit(holes)

    def test_different_grids(self, small, heat_modes):
        with pytest.raises(ValueError, match="recording 1 lies on another grid"):
            small.fit([heat_modes(), heat_modes(times=90)])

    def test_unknown_target(self, small, heat):
        with pytest.raises(ValueError, match=r"target 'w' is not a field; fields are \['u'\]"):
            small.set_params(target="w").fit(heat)
