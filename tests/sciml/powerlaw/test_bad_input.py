"""Every input that cannot be used is refused with what was got and what helps."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.utils.estimator_checks import estimator_checks_generator

from sciml.powerlaw import PowerLawFit
from sciml.powerlaw.rows import equation, stack, values

X = np.linspace(0.1, 1.0, 30)
Y = np.sqrt(X)


def spoiled(array, value, place=3):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (spoiled(X, np.nan), Y, "x holds nan"),
        (X, spoiled(Y, np.inf), "y holds inf"),
        (spoiled(X, 0.0), Y, "x comes as near as r=0 .*bounds above 0"),
        (spoiled(X, 1e-13), Y, "below r_min"),
        (spoiled(X, -0.1), Y, "x holds -0.1: a radius is not negative"),
        (X, Y[:-1], "y has 29 values and x 30"),
        (X, np.stack([Y, Y], axis=1), "fit_power_laws"),
        (np.zeros((30, 0)), Y, "wanted radii"),
        (X[:, None, None], Y, "wanted radii"),
        (X, Y.astype(complex), "Complex data not supported"),
        (X.astype(np.float32), Y, "dtypes float32, float64"),
        (X[:0], Y[:0], "0 sample"),
    ],
)
def test_samples(x, y, message):
    with pytest.raises(ValueError, match=message):
        PowerLawFit().fit(x, y)


def test_center_is_allowed_if_all_exponents_are_positive():
    model = PowerLawFit(bounds=(0.01, 4)).fit(np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** 0.5)
    np.testing.assert_allclose(model.exponents_, [0.5], atol=1e-12)
    assert model.predict([0.0])[0] == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": 0}, "order=0"),
        ({"order": -1}, "order=-1"),
        ({"order": 1.5}, "order=1.5"),
        ({"order": "best"}, "'best'"),
        ({"bounds": (2, 2)}, "lowest exponent below the highest"),
        ({"bounds": (3, -1)}, "lowest exponent below the highest"),
        ({"bounds": (0, np.inf)}, "finite"),
        ({"bounds": 3}, "two numbers"),
        ({"starts": 0}, "starts=0"),
        ({"rtol": -1.0}, "rtol=-1.0"),
        ({"blocks": "all"}, "blocks='all'"),
        ({"blocks": ()}, "blocks are empty"),
        ({"blocks": ("power", "wave")}, "'wave'"),
        ({"blocks": (1.0, "power", 1.0)}, "exponent 1.0 twice"),
        ({"center": [0.0, 0.0]}, "center has shape"),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        PowerLawFit(**arguments).fit(X, Y)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan])
def test_weights(weight):
    with pytest.raises(ValueError, match="weights"):
        PowerLawFit().fit(X, Y, weights=spoiled(np.ones(30), weight))


@pytest.mark.parametrize("noise", [0.0, -1.0, np.nan])
def test_noise(noise):
    with pytest.raises(ValueError, match="noise="):
        PowerLawFit().fit(X, Y, noise=noise)


def test_fewer_rows_than_unknowns():
    with pytest.raises(ValueError, match="5 sample\\(s\\) for 6 exponents and coefficients"):
        PowerLawFit(order=3).fit(X[:5], Y[:5])


def test_float32_is_computed_in_float64_with_one_warning():
    with pytest.warns(UserWarning, match="float32 samples are fitted in float64") as caught:
        model = PowerLawFit(order=1).fit(X.astype(np.float32), Y.astype(np.float32))
    assert len(caught) == 1
    np.testing.assert_allclose(model.exponents_, [0.5], atol=1e-6)


def test_mixed_precision_of_tensors():
    with pytest.raises(ValueError, match="dtypes float32, float64"):
        PowerLawFit().fit(torch.from_numpy(X), torch.from_numpy(Y).float())


def test_prediction_at_the_center():
    with pytest.raises(ValueError, match="negative exponents and logarithms are singular"):
        PowerLawFit().fit(X, 1 / X).predict([0.0])


def test_prediction_of_other_shape():
    model = PowerLawFit().fit(X, Y)
    with pytest.raises(ValueError, match="X has 2 features, but PowerLawFit is expecting 1"):
        model.predict(np.ones((3, 2)))


def test_rows():
    with pytest.raises(ValueError, match="an equation needs positive radii"):
        equation([0.0], 0.0, second=1.0)
    with pytest.raises(ValueError, match="y has shape"):
        values(X, Y[:-1])
    with pytest.raises(ValueError, match="got none"):
        stack([])


DO_NOT_APPLY = {
    ("check_fit1d", ""): "radii may be given as one axis",
    ("check_estimators_dtypes", ""): "single beside double precision is refused",
    # of three variants the one with points in single precision and values in double
    ("check_regressors_train", "X_dtype"): "single beside double precision is refused",
}


def scikit_learn_checks():
    """Every check of scikit-learn; those that cannot hold must fail."""
    checks = estimator_checks_generator(PowerLawFit(order=1, starts=4), legacy=True)
    for estimator, check in checks:
        name, options = check.func.__name__, check.keywords
        marks = [
            pytest.mark.xfail(reason=reason, strict=True)
            for (failing, option), reason in DO_NOT_APPLY.items()
            if name == failing and (not option or option in options)
        ]
        label = "-".join([name, *(f"{key}={value}" for key, value in options.items())])
        yield pytest.param(estimator, check, marks=marks, id=label)


@pytest.mark.parametrize(("estimator", "check"), list(scikit_learn_checks()))
def test_scikit_learn(estimator, check):
    check(estimator)
