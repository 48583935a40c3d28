"""Our selection as a PySINDy optimizer, and the covariance of PySINDy's rows."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone

from sciml.discovery import PySINDyWeak, WeakRowCovariance, pysindy_optimizer
from sciml.discovery.pysindy_optimizer import select_terms


@pytest.fixture(scope="module")
def ps():
    return pytest.importorskip("pysindy", reason="PySINDy is not installed")


@pytest.fixture
def optimizer(ps):
    return pysindy_optimizer.WhitenedBestSubsetOptimizer


def weak_library(ps, x, t, degree=3, order=3, windows=120, reach=(1.0, 0.4)):
    np.random.seed(0)  # noqa: NPY002
    return ps.WeakPDELibrary(
        function_library=ps.PolynomialLibrary(degree=degree, include_bias=False),
        derivative_order=order,
        spatiotemporal_grid=np.stack(np.meshgrid(x, t, indexing="ij"), axis=-1),
        include_bias=True,
        K=windows,
        H_xt=np.array(reach),
    )


def fitted(ps, library, optimizer, u, t):
    model = ps.SINDy(optimizer=optimizer, feature_library=library)
    return model.fit(u, t=t, feature_names=["u"])


class TestSelection:
    def test_size_is_chosen_against_noise(self):
        rng = np.random.default_rng(0)
        matrix = rng.normal(size=(300, 12))
        left = matrix @ np.eye(12)[3] - 0.5 * matrix[:, 7] + 0.2 * rng.normal(size=300)
        found = select_terms(matrix, left)
        assert tuple(np.flatnonzero(found)) == (3, 7)
        np.testing.assert_allclose(found[[3, 7]], [1.0, -0.5], atol=0.05)

    def test_known_covariance_finds_what_colored_noise_hides(self):
        rng = np.random.default_rng(1)
        rows = 200
        distance = np.abs(np.arange(rows)[:, None] - np.arange(rows))
        covariance = np.exp(-((distance / 6.0) ** 2)) + 1e-3 * np.eye(rows)
        noise = np.linalg.cholesky(covariance)
        matrix = noise @ rng.normal(size=(rows, 8))
        matrix[:, 2] = rng.normal(size=rows)
        plain, white = 0, 0
        for _ in range(20):
            left = 0.2 * matrix[:, 2] + noise @ rng.normal(size=rows)
            plain += tuple(np.flatnonzero(select_terms(matrix, left))) == (2,)
            found = select_terms(matrix, left, covariance=lambda _: covariance)
            white += tuple(np.flatnonzero(found)) == (2,)
        assert white >= 18
        assert plain <= 2

    def test_nothing_to_explain_gives_no_terms(self):
        assert not select_terms(np.eye(8)[:, :3], np.zeros(8)).any()

    def test_covariance_of_wrong_size_is_refused(self):
        rng = np.random.default_rng(0)
        with pytest.raises(ValueError, match=r"shape \(3, 3\) for 50 rows"):
            select_terms(
                rng.normal(size=(50, 3)), rng.normal(size=50), covariance=lambda _: np.eye(3)
            )


class TestOptimizer:
    def test_is_a_pysindy_optimizer(self, ps, optimizer):
        assert issubclass(optimizer, ps.optimizers.BaseOptimizer)
        assert optimizer is pysindy_optimizer.WhitenedBestSubsetOptimizer

    def test_missing_pysindy_is_explained(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pysindy", None)
        pysindy_optimizer._optimizer_class.cache_clear()
        with pytest.raises(ImportError, match=r'pip install "sciml-pdes\[pysindy\]"'):
            _ = pysindy_optimizer.WhitenedBestSubsetOptimizer
        with pytest.raises(AttributeError, match="has no attribute 'Optimizer'"):
            _ = pysindy_optimizer.Optimizer

    def test_works_on_an_ordinary_differential_equation(self, ps, optimizer):
        t = np.linspace(0, 6, 400)
        x = np.column_stack([np.cos(2 * t), -2 * np.sin(2 * t)]) * np.exp(0.1 * t)[:, None]
        derivative = np.gradient(x, t, axis=0, edge_order=2)
        model = ps.SINDy(
            optimizer=optimizer(floor=1e-3), feature_library=ps.PolynomialLibrary(degree=2)
        )
        model.fit(x, t=t, x_dot=derivative)
        support = model.coefficients() != 0
        np.testing.assert_array_equal(np.flatnonzero(support[0]), [1, 2])
        np.testing.assert_array_equal(np.flatnonzero(support[1]), [1, 2])
        np.testing.assert_allclose(model.coefficients()[0, 1:3], [0.1, 1.0], atol=0.01)
        np.testing.assert_allclose(model.coefficients()[1, 1:3], [-4.0, 0.1], atol=0.03)
        assert model.complexity == 4

    def test_finds_in_a_weak_library_what_thresholding_misses(self, ps, optimizer, burgers, noisy):
        data = noisy(burgers, 0.1).transpose("x", "time")
        x, t, u = data.x.values, data.time.values, data.values[..., None]
        library = weak_library(ps, x, t)
        names = library.fit(u).get_feature_names(["u"])
        best = optimizer(covariance=WeakRowCovariance(library, u))
        found = fitted(ps, library, best, u, t).coefficients()[0]
        assert {names[k] for k in np.flatnonzero(found)} == {"u_11", "uu_1"}
        assert found[names.index("u_11")] == pytest.approx(0.1, rel=0.1)
        assert found[names.index("uu_1")] == pytest.approx(-1.0, rel=0.1)
        thresholded = fitted(ps, library, ps.STLSQ(threshold=0.05), u, t).coefficients()[0]
        assert np.count_nonzero(np.round(thresholded, 3)) > 2

    def test_serves_the_adapter(self, optimizer, heat, noisy):
        model = PySINDyWeak(
            K=80, derivative_order=3, half_widths=(9, 13), optimizer=optimizer(max_terms=3)
        )
        model.fit(noisy(heat, 0.05))
        assert model.terms_["u"] == {"u_xx": pytest.approx(0.1, rel=0.05)}

    def test_follows_the_conventions_of_scikit_learn(self, optimizer):
        model = optimizer(max_terms=3, covariance=np.eye(4), floor=1e-3)
        copy = clone(model)
        assert copy.get_params()["max_terms"] == 3
        np.testing.assert_array_equal(copy.covariance, np.eye(4))
        assert copy.set_params(max_terms=2) is copy
        assert pickle.loads(pickle.dumps(copy)).max_terms == 2

    def test_size_out_of_range_is_named(self, optimizer):
        with pytest.raises(ValueError, match="max_terms must be a positive whole number, got 0"):
            optimizer(max_terms=0).fit(np.eye(5)[:, :2], np.ones(5))


@pytest.fixture(scope="module")
def perturbed(ps):
    """A small weak library, a field, and how its rows answer to noise at each grid point."""
    x, t = np.linspace(0, 2 * np.pi, 18), np.linspace(0, 2, 16)
    u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2))[..., None]
    library = weak_library(ps, x, t, order=2, windows=6, reach=(2.2, 0.7))
    library.fit(u)

    def rows(values):
        axes = ps.utils.AxesArray(values, ps.utils.comprehend_axes(values))
        left = np.asarray(library.convert_u_dot_integral(values))
        return np.column_stack([left, np.asarray(library.transform(axes))])

    slopes = []
    for point in np.ndindex(u.shape):
        step = np.zeros(u.shape)
        step[point] = 1e-4
        slopes.append((rows(u + step) - rows(u - step)) / 2e-4)
    return library, u, np.array(slopes)


class TestRowCovariance:
    @pytest.mark.parametrize(
        ("terms", "tolerance"),
        [
            ({}, 1e-9),
            ({"1": 1.0, "u_11": 0.1}, 1e-9),
            ({"u": 1.0, "u^3": -1.0, "u_11": 0.05}, 1e-5),
            # products: all derivatives on the window, where PySINDy shares them with the field
            ({"uu_1": -1.0, "u_11": 0.1}, 0.03),
        ],
    )
    def test_is_that_of_small_noise(self, perturbed, terms, tolerance):
        library, u, slopes = perturbed
        names = library.get_feature_names(["u"])
        assert set(terms) <= set(names)
        coefficients = np.array([terms.get(name, 0.0) for name in names])
        residual = slopes @ np.append(1.0, -coefficients)
        exact = 0.02**2 * residual.T @ residual
        ours = WeakRowCovariance(library, u, noise=[0.02])(coefficients)
        assert np.linalg.norm(ours - exact) < tolerance * np.linalg.norm(exact)

    def test_noise_is_estimated_and_never_zero(self, ps, heat, noisy):
        data = noisy(heat, 0.1).transpose("x", "time")
        library = weak_library(ps, data.x.values, data.time.values, windows=20)
        level = 0.1 * float(heat.std())
        estimated = WeakRowCovariance(library, data.values[..., None])
        assert estimated.noise == pytest.approx([level], rel=0.05)
        clean = WeakRowCovariance(library, heat.transpose("x", "time").values[..., None], [0.0])
        library.fit(data.values[..., None])
        matrix = clean(np.zeros(library.n_output_features_))
        assert np.diag(matrix).min() > 0.0

    def test_field_on_another_grid_is_refused(self, ps, heat):
        data = heat.transpose("x", "time")
        library = weak_library(ps, data.x.values, data.time.values, windows=5)
        with pytest.raises(ValueError, match=r"the library's grid \(64, 80\)"):
            WeakRowCovariance(library, data.values)

    def test_equation_of_another_library_is_refused(self, ps, heat):
        data = heat.transpose("x", "time")
        library = weak_library(ps, data.x.values, data.time.values, windows=5)
        library.fit(data.values[..., None])
        with pytest.raises(ValueError, match="coefficients has 3 entries, the library 16"):
            WeakRowCovariance(library, data.values[..., None])(np.zeros(3))
