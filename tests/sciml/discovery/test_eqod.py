"""EqOD: the gate, what passes it, and the fallback."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from sklearn.base import clone

import pdes
import sciml
from sciml.discovery import DiscoveryWarning, EqOD, WeakLasso, WeakSTLSQ

INVARIANT = {"1", "u_x", "(u^2)_x", "u_xx", "u_xxx", "u_xxxx"}

pytestmark = pytest.mark.filterwarnings("ignore::sciml.discovery.DiscoveryWarning")


@pytest.fixture(scope="module")
def benchmark_heat():
    return pdes.simulate(pdes.get("heat")).u


@pytest.mark.parametrize("level", [0.0, 0.01, 0.05, 0.1, 0.2])
def test_heat_equation_is_found_at_every_noise(benchmark_heat, noisy, level):
    for seed in range(3):
        model = EqOD(baseline="lasso", final="stability").fit(noisy(benchmark_heat, level, seed))
        assert list(model.terms_["u"]) == ["u_xx"]
        assert model.terms_["u"]["u_xx"] == pytest.approx(0.1, rel=0.03)
        assert model.gate_ == {"u": "open"}
        assert model.fallback_ == {"u": False}


def test_heat_is_where_the_lasso_fails(benchmark_heat, noisy):
    found = [len(WeakLasso().fit(noisy(benchmark_heat, 0.2, s)).terms_["u"]) for s in range(3)]
    assert min(found) > 1
    assert max(found) >= 4


def test_open_gate_leaves_the_invariant_terms(heat, noisy):
    model = EqOD().fit(noisy(heat, 0.05))
    report = model.symmetry_["u"]
    assert report.gate_open
    assert report.applied == "galilean"
    assert set(report.tests["galilean"].excluded) == set(model.feature_names_) - INVARIANT
    inclusion = model.inclusion_["u"]
    assert list(inclusion) == model.feature_names_
    assert inclusion["u_xx"] == 1.0
    assert all(inclusion[name] == 0.0 for name in set(inclusion) - INVARIANT)
    assert model.stability_["u"].frequencies.shape[1] == len(INVARIANT)


def test_closed_gate_keeps_the_library_and_falls_back(reaction, noisy):
    data = noisy(reaction, 0.05)
    with pytest.warns(DiscoveryWarning, match="on the whole library"):
        model = EqOD(baseline="stlsq").fit(data)
    assert model.gate_ == {"u": "closed"}
    assert model.symmetry_["u"].applied is None
    assert model.symmetry_["u"].tests["galilean"].statistic > 1000
    assert model.stability_["u"].frequencies.shape[1] == 16
    assert model.fallback_ == {"u": True}
    baseline = WeakSTLSQ().fit(data)
    assert model.support_ == baseline.support_ == {"u": ("u", "u^3", "u_xx")}
    np.testing.assert_allclose(model.coef_["u"], baseline.coef_["u"])


def test_fallback_is_the_chosen_baseline(reaction, noisy):
    data = noisy(reaction, 0.05)
    model = EqOD(baseline="lasso").fit(data)
    assert model.fallback_ == {"u": True}
    assert model.support_ == WeakLasso().fit(data).support_
    assert len(model.support_["u"]) > 3


def test_final_method_works_on_the_reduced_library(burgers, noisy):
    data = noisy(burgers, 0.05)
    full = len(WeakLasso().fit(data).support_["u"])
    lasso = EqOD(baseline="lasso", final="lasso").fit(data)
    assert set(lasso.support_["u"]) <= INVARIANT
    assert {"(u^2)_x", "u_xx"} <= set(lasso.support_["u"])
    assert len(lasso.support_["u"]) < full
    assert lasso.inclusion_ == {}
    stlsq = EqOD(baseline="lasso", final="stlsq").fit(data)
    assert stlsq.support_ == {"u": ("(u^2)_x", "u_xx")}
    assert stlsq.path_["u"][-1].size == 6


def test_plain_gate_compares_residuals(burgers, reaction, noisy):
    opened = EqOD(gate="rss_ratio").fit(noisy(burgers, 0.05))
    closed = EqOD(gate="rss_ratio").fit(noisy(reaction, 0.05))
    assert opened.gate_ == {"u": "open"}
    assert opened.symmetry_["u"].applied == "galilean"
    assert closed.gate_ == {"u": "closed"}
    assert closed.symmetry_["u"].applied is None


def test_both_gates_open_on_clean_data(heat):
    # the residuals are rounding errors there, and their ratio means nothing
    assert EqOD(gate="rss_ratio").fit(heat).gate_ == {"u": "open"}
    assert EqOD(gate="whitened").fit(heat).gate_ == {"u": "open"}


def test_gate_does_not_apply_to_several_fields(heat_modes):
    data = xr.Dataset({"u": heat_modes(), "v": heat_modes(modes=(1, 2, 4), diffusivity=0.2)})
    model = EqOD(["u", "v", "u_xx", "v_xx"]).fit(data)
    assert model.gate_ == {"u": "not applicable", "v": "not applicable"}
    assert model.terms_["u"] == {"u_xx": pytest.approx(0.1, rel=1e-3)}
    assert model.terms_["v"] == {"v_xx": pytest.approx(0.2, rel=1e-3)}


def test_equation_of_one_field_does_not_depend_on_the_other_targets(heat_modes, noisy):
    fields = {"u": heat_modes(), "v": heat_modes(modes=(1, 2, 4), diffusivity=0.2)}
    data = xr.Dataset({name: noisy(field, 0.1) for name, field in fields.items()})
    both = EqOD(["u", "v", "u_xx", "v_xx"]).fit(data)
    alone = EqOD(["u", "v", "u_xx", "v_xx"], target="v").fit(data)
    assert alone.inclusion_["v"] == both.inclusion_["v"]
    assert set(alone.gate_) == {"v"}


def test_seed_decides_the_frequencies(reaction, noisy):
    data = noisy(reaction, 0.1)
    first, again, other = (EqOD(random_state=s).fit(data).inclusion_["u"] for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_parameters_reach_the_selection(heat, noisy):
    model = EqOD(n_subsamples=10, threshold=0.9, expected_false=0.5).fit(noisy(heat, 0.05))
    path = model.stability_["u"]
    assert path.threshold == 0.9
    np.testing.assert_allclose(path.frequencies * 10, np.round(path.frequencies * 10))
    assert path.false_term_bound <= 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"baseline": "ridge"}, "baseline must be one of"),
        ({"final": "best"}, "final must be one of"),
        ({"gate": "open"}, "gate must be one of"),
        ({"threshold": 0.4}, "threshold is 0.4"),
    ],
)
def test_parameters_out_of_range_are_named(heat, parameters, message):
    with pytest.raises(ValueError, match=message):
        EqOD(**parameters).fit(heat)


def test_follows_the_conventions_of_scikit_learn(heat):
    model = EqOD(final="stlsq", n_subsamples=20)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.fit(heat) is copy
    found = sciml.discover(heat, estimator="eqod", n_subsamples=20)
    assert type(found) is EqOD
    assert found.equations() == ["u_t = 0.1000*u_xx"]


def test_accepting_more_false_terms_lets_longer_equations_stand(burgers, noisy):
    data = noisy(burgers, 0.05)
    strict = EqOD(baseline="lasso").fit(data)
    assert strict.gate_ == {"u": "open"}
    assert strict.fallback_ == {"u": True}
    assert strict.stability_["u"].mean_selected[-1] < 2.0
    lenient = EqOD(baseline="lasso", expected_false=4.0).fit(data)
    assert lenient.fallback_ == {"u": False}
    assert lenient.support_ == {"u": ("(u^2)_x", "u_xx")}
