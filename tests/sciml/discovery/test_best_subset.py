"""The default estimator: what it finds, and the evidence it gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xarray as xr

import pdes
import sciml
from sciml.discovery import DiscoveryWarning, WhitenedBestSubset

BURGERS = {"u*u_x": -1.0, "u_xx": 0.1}


@pytest.fixture(scope="module")
def fitted(burgers, noisy):
    """Burgers' equation from data with 10 % noise."""
    return WhitenedBestSubset().fit(noisy(burgers, 0.1, seed=1))


@pytest.mark.parametrize("level", [0.0, 0.01, 0.05, 0.2])
def test_equation_and_coefficients(burgers, noisy, level):
    model = WhitenedBestSubset().fit(noisy(burgers, level))
    assert set(model.terms_["u"]) == set(BURGERS)
    for term, true in BURGERS.items():
        assert model.terms_["u"][term] == pytest.approx(true, rel=1e-4 + 0.15 * level)
        error = model.standard_errors_["u"][term]
        if level:
            assert abs(model.terms_["u"][term] - true) < 4 * error
            assert error < 0.1 * level * abs(true) + 1e-4


def test_reaction_diffusion(reaction, noisy):
    model = WhitenedBestSubset().fit(noisy(reaction, 0.05))
    assert set(model.terms_["u"]) == {"u", "u^3", "u_xx"}
    for term, true in {"u": 1.0, "u^3": -1.0, "u_xx": 0.05}.items():
        assert model.terms_["u"][term] == pytest.approx(true, rel=0.03)


def test_attributes_agree_with_each_other(fitted):
    terms, errors = fitted.terms_["u"], fitted.standard_errors_["u"]
    assert list(errors) == list(terms)
    np.testing.assert_allclose(np.sqrt(np.diag(fitted.cov_["u"])), list(errors.values()))
    assert fitted.equation_.terms()["u"] == pytest.approx(terms)
    assert fitted.support_ == {"u": ("(u^2)_x", "u_xx")}
    column = fitted.feature_names_.index("(u^2)_x")
    assert 2 * fitted.coef_["u"][column] == pytest.approx(terms["u*u_x"])
    assert np.count_nonzero(fitted.coef_["u"]) == 2


def test_noise_and_fit_are_judged(fitted, burgers):
    assert fitted.noise_estimate_["u"] == pytest.approx(0.1 * float(burgers.std()), rel=0.03)
    assert fitted.field_scale_["u"] == pytest.approx(float(burgers.std()), rel=0.02)
    assert fitted.chi2_["u"] == pytest.approx(1.0, abs=4 * np.sqrt(2 / fitted.n_rows_))
    assert fitted.adequate_ == {"u": True}
    assert fitted.identifiability_["u"].verdict == "identified"


def test_path_holds_the_best_equation_of_every_size(fitted):
    path = fitted.path_["u"]
    assert [step.size for step in path] == list(range(len(path)))
    residuals = [step.residual for step in path]
    assert residuals[0] == 1.0 and all(np.diff(residuals) <= 0)
    chosen = min(path, key=lambda step: step.score)
    assert set(chosen.terms) == {"(u^2)_x", "u_xx"}


def test_rivals_do_without_one_term(fitted):
    rivals = fitted.rivals_["u"]
    assert [rival["without"] for rival in rivals] == ["(u^2)_x", "u_xx"]
    ratios = fitted.identifiability_["u"].terms
    for rival in rivals:
        assert rival["ratio"] == ratios[rival["without"]] > 3
        assert rival["verdict"] == "identified"
        assert len(rival["terms"]) > 0
    assert "u_xx" not in rivals[1]["terms"]


def test_detection_limit_forecasts_more_noise_than_there_is(fitted):
    limits = fitted.detection_limit()["u"]
    assert list(limits) == ["(u^2)_x", "u_xx"]
    assert min(limits.values()) > 0.2  # at 20 % both terms are found


def test_detection_limit_of_clean_data_is_unknown(burgers):
    limits = WhitenedBestSubset().fit(burgers).detection_limit()["u"]
    assert all(np.isnan(value) for value in limits.values())


def test_score_and_prediction(fitted, burgers):
    assert fitted.score(burgers) > 0.999
    predicted = fitted.predict(burgers)
    assert predicted.ndim == 1 and len(predicted) > 100
    other = pdes.simulate(pdes.get("heat", stored_points=128, times=np.linspace(0, 2, 101)))
    assert fitted.score(other.u) < 0.9


def test_statement_of_the_result(fitted):
    (line,) = fitted.equations(2)
    assert line == "u_t = -1.0*u*u_x + 0.10*u_xx"
    assert r"\partial" in fitted.latex() or "u_{xx}" in fitted.latex()
    summary = fitted.summary()
    for word in ("u*u_x", "u_xx", "identified", "chi2/n", "galilean", "std. error"):
        assert word in summary


def test_symmetry_restricts_the_library_only_if_the_data_are_compatible(burgers, reaction, noisy):
    model = WhitenedBestSubset(symmetry="galilean").fit(noisy(burgers, 0.1))
    assert model.symmetry_["u"].applied == "galilean"
    assert set(model.terms_["u"]) == set(BURGERS)
    tried = {name for step in model.path_["u"] for name in step.terms}
    assert tried <= {"1", "u_x", "(u^2)_x", "u_xx", "u_xxx", "u_xxxx"}
    model = WhitenedBestSubset(symmetry="galilean").fit(noisy(reaction, 0.1))
    assert model.symmetry_["u"].applied is None
    assert set(model.terms_["u"]) == {"u", "u^3", "u_xx"}


def test_one_wave_of_the_heat_equation_is_ambiguous(heat_modes, noisy):
    """u, u_xx and u_xxxx are the same column."""
    for level in (0.0, 0.05):
        with pytest.warns(DiscoveryWarning, match="ambiguous"):
            model = WhitenedBestSubset().fit(noisy(heat_modes(modes=(2,)), level))
        evidence = model.identifiability_["u"]
        assert evidence.verdict == "ambiguous"
        assert evidence.ratio < 1.25


@pytest.fixture(scope="module")
def soliton():
    """One soliton of u_t = -6 u u_x - u_xxx, which moves at speed 2."""
    x, t = np.linspace(-20, 20, 256, endpoint=False), np.linspace(0, 2, 101)
    u = 1 / np.cosh(np.sqrt(2) / 2 * (x - 2 * (t[:, None] - 1))) ** 2
    axis = xr.DataArray(x, dims="x", attrs={"periodic": 1})
    return xr.DataArray(u, dims=("time", "x"), coords={"time": t, "x": axis}, name="u")


@pytest.mark.parametrize("symmetry", ["report", "galilean"])
@pytest.mark.parametrize("level", [0.0, 0.01, 0.2])
def test_one_soliton_is_a_traveling_wave(soliton, noisy, level, symmetry):
    with pytest.warns(DiscoveryWarning, match="moves at one speed without changing shape"):
        model = WhitenedBestSubset(symmetry=symmetry).fit(noisy(soliton, level))
    assert model.support_ == {"u": ("u_x",)}
    assert model.terms_["u"]["u_x"] == pytest.approx(-2.0, rel=1e-3 + 0.02 * level)
    assert model.identifiability_["u"].verdict != "identified"


def test_advection_of_many_waves_is_no_traveling_wave_of_something_else(noisy):
    advection = pdes.simulate(pdes.get("advection", times=np.linspace(0, 2, 101))).u
    for level in (0.0, 0.05):
        model = WhitenedBestSubset().fit(noisy(advection, level))
        assert model.support_ == {"u": ("u_x",)}
        assert model.identifiability_["u"].verdict == "identified"
        assert not any("moves at one speed" in notice for notice in model.notices_["u"])


@pytest.fixture(scope="module")
def variable_speed():
    """u_t = -x u_x: solutions are f(x exp(-t))."""
    x, t = np.linspace(1, 3, 160), np.linspace(0, 1, 120)
    grid = x * np.exp(-t[:, None])
    u = np.sin(3 * grid) + 0.5 * np.cos(5 * grid)
    return xr.DataArray(u, dims=("time", "x"), coords={"time": t, "x": x}, name="u")


@pytest.mark.parametrize("level", [0.0, 0.05])
def test_an_equation_outside_the_library_is_declared_so(variable_speed, noisy, level):
    with pytest.warns(DiscoveryWarning, match=r"more than discretization explains|outside the lib"):
        model = WhitenedBestSubset().fit(noisy(variable_speed, level))
    assert model.adequate_ == {"u": False}


@pytest.mark.parametrize("level", [0.0, 0.05, 0.2])
def test_an_explicit_coordinate_is_found_once_it_is_offered(variable_speed, noisy, level):
    library = sciml.Library(extra=["x*u_x"])
    model = WhitenedBestSubset(library).fit(noisy(variable_speed, level))
    assert list(model.terms_["u"]) == ["u_x*x"]
    assert next(iter(model.terms_["u"].values())) == pytest.approx(-1.0, rel=0.02)
    assert model.adequate_ == {"u": True}


def test_larger_equations_than_asked_for_are_tried_while_the_largest_wins(reaction):
    model = WhitenedBestSubset(max_terms=2).fit(reaction)
    assert set(model.terms_["u"]) == {"u", "u^3", "u_xx"}


def test_given_half_widths_are_used(burgers):
    model = WhitenedBestSubset(half_widths=[16, 20]).fit(burgers)
    assert model.half_widths_ == [(16, 20)]
    assert set(model.terms_["u"]) == set(BURGERS)


def test_more_than_thirty_terms_are_compared_as_far_as_that_is_feasible(burgers, noisy):
    """Of 36 columns all triples are compared: an equation of two terms needs no warning."""
    model = WhitenedBestSubset(sciml.Library(degree=5, order=6)).fit(noisy(burgers, 0.05))
    assert len(model.feature_names_) == 36
    assert set(model.terms_["u"]) == set(BURGERS)
    assert not any("not all supports" in notice for notice in model.notices_["u"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"max_terms": 0}, "max_terms must be a positive whole number, got 0"),
        ({"max_terms": 2.5}, "max_terms must be a positive whole number, got 2.5"),
        ({"symmetry": "gauge"}, "symmetry must be 'report' or one of"),
    ],
)
def test_parameters_are_checked_when_fitting(burgers, arguments, words):
    with pytest.raises(ValueError, match=words):
        WhitenedBestSubset(**arguments).fit(burgers)


def test_pure_noise_has_no_equation():
    rng = np.random.default_rng(0)
    axes = {"x": np.linspace(0, 1, 80), "t": np.linspace(0, 1, 80)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = WhitenedBestSubset().fit(rng.normal(size=(80, 80)), coords=axes)
    evidence = model.identifiability_["u"]
    assert model.adequate_["u"] is False or evidence.verdict != "identified"
    assert any(isinstance(w.message, DiscoveryWarning) for w in caught)


def test_a_symmetry_that_cannot_be_tested_is_refused(burgers):
    library = sciml.Library(extra=["x*u_x"])
    with pytest.raises(ValueError, match=r"'galilean' cannot be tested.*\['conservation'"):
        WhitenedBestSubset(library, symmetry="galilean").fit(burgers)
    two = xr.Dataset({"u": burgers, "v": burgers**2})
    with pytest.raises(ValueError, match="needs a single field"):
        WhitenedBestSubset(symmetry="galilean").fit(two)
