"""Sources: recovery, error bars, order, statuses, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from sciml.plotting import plot_sources
from sciml.powerlaw import fit_sources


def field(x, centers, exponents, strengths, bias=0.0):
    total = np.full(len(x), bias)
    for center, mu, q in zip(centers, exponents, strengths, strict=True):
        r = np.linalg.norm(x - np.asarray(center), axis=1)
        total += q * (np.log(r) if mu == 0 else (r**mu - 1.0) / mu)
    return total


def points(count=500, dimension=2, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (count, dimension))


CENTERS = [[-0.5, 0.2], [0.1, -0.6], [0.6, 0.5]]
MIXED = [0.0, -1.0, 0.4]
STRENGTHS = [1.0, -0.5, 2.0]


def test_three_sources_with_unknown_exponents():
    x = points()
    fit = fit_sources(x, field(x, CENTERS, MIXED, STRENGTHS, bias=0.7), sources=3)
    assert fit.status == "ok" and fit.advice == ()
    np.testing.assert_allclose(fit.centers, CENTERS, atol=1e-11)
    np.testing.assert_allclose(fit.exponents, MIXED, atol=1e-11)
    np.testing.assert_allclose(fit.strengths, STRENGTHS, atol=1e-11)
    assert fit.bias == pytest.approx(0.7, abs=1e-11)
    new = points(50, seed=9)
    np.testing.assert_allclose(
        fit.predict(new), field(new, CENTERS, MIXED, STRENGTHS, 0.7), atol=1e-10
    )


def test_charges_in_space():
    x = points(600, 3)
    centers = [[-0.4, 0.1, 0.3], [0.5, -0.2, -0.1]]
    fit = fit_sources(x, field(x, centers, [-1.0, -1.0], [1.0, -2.0]), sources=2)
    np.testing.assert_allclose(fit.centers, centers, atol=1e-11)
    np.testing.assert_allclose(fit.exponents, -1.0, atol=1e-11)


def test_kinks_on_a_line():
    x = points(300, 1)
    fit = fit_sources(x[:, 0], field(x, [[-0.3], [0.5]], [0.5, 0.7], [1.0, -1.0]), sources=2)
    np.testing.assert_allclose(fit.centers[:, 0], [-0.3, 0.5], atol=1e-10)


def test_opposite_sources_close_together():
    x = points(800)
    centers = [[0.1, 0.1], [0.12, 0.1]]
    fit = fit_sources(x, field(x, centers, [0.0, 0.0], [1.0, -1.0]), sources=2)
    np.testing.assert_allclose(fit.centers, centers, atol=1e-9)


def test_known_exponents_have_no_error():
    x = points(300)
    y = field(x, CENTERS, [0.0] * 3, STRENGTHS)
    fit = fit_sources(x, y, sources=3, exponents="log")
    np.testing.assert_allclose(fit.centers, CENTERS, atol=1e-12)
    assert fit.exponents.tolist() == [0.0] * 3 == fit.exponents_error.tolist()


def test_which_source_has_which_known_exponent_is_found():
    x = points(400)
    y = field(x, CENTERS, [0.0, -1.0, 0.0], STRENGTHS)
    fit = fit_sources(x, y, sources=3, exponents=[-1.0, 0.0, 0.0])
    np.testing.assert_allclose(fit.centers, CENTERS, atol=1e-10)
    assert fit.exponents.tolist() == [0.0, -1.0, 0.0]


@pytest.mark.parametrize("noise", [None, 1e-3])
def test_the_number_of_sources_is_found(noise):
    x = points()
    y = field(x, CENTERS, [0.0] * 3, STRENGTHS)
    if noise is not None:
        y = y + noise * np.random.default_rng(1).normal(size=len(x))
    fit = fit_sources(x, y, sources="auto", noise=noise)
    assert len(fit.exponents) == 3 and fit.status == "ok"


def test_errors_are_those_of_the_noise():
    """Over many draws the deviations divided by the standard errors have variance one."""
    x = points(150)
    clean = field(x, CENTERS[:1], [0.0], STRENGTHS[:1])
    rng = np.random.default_rng(2)
    scores = []
    for _ in range(30):
        fit = fit_sources(x, clean + 1e-3 * rng.normal(size=len(x)), sources=1, noise=1e-3)
        scores += [*((fit.centers - CENTERS[:1]) / fit.centers_error).ravel()]
        scores += [*((fit.exponents - [0.0]) / fit.exponents_error)]
    # 90 scores: four deviations of chi^2 about its mean
    assert np.mean(np.square(scores)) == pytest.approx(1.0, abs=4 * math.sqrt(2 / 90))
    assert np.max(np.abs(scores)) < 4.5


def test_noise_is_estimated_where_it_is_not_given():
    x = points(500)
    y = field(x, CENTERS[:1], [0.0], [1.0]) + 0.01 * np.random.default_rng(3).normal(size=500)
    fit = fit_sources(x, y, sources=1)
    assert fit.noise == pytest.approx(0.01, rel=0.15)
    given = fit_sources(x, y, sources=1, noise=np.full(500, 0.01))
    np.testing.assert_allclose(fit.centers_error, given.centers_error, rtol=0.15)


def test_more_sources_than_there_are_is_said():
    x = points(400)
    fit = fit_sources(x, field(x, CENTERS[:1], [0.0], [1.0]), sources=2)
    assert fit.status == "unidentifiable" and "ask for fewer" in fit.advice[0]
    assert np.all(np.isnan(fit.centers)) and math.isnan(fit.bias)
    assert np.all(np.isnan(fit.predict(x[:2])))


def test_a_field_that_is_no_source_is_said():
    x = points(400)
    fit = fit_sources(x, np.sin(3.0 * x[:, 0]) * x[:, 1], sources=1, noise=1e-3)
    assert fit.status != "ok"
    assert any("times the noise" in sentence for sentence in fit.advice)


def test_constant_data_have_no_source():
    x = points(50)
    for values, bias in ((np.full(50, 2.5), 2.5), (np.zeros(50), 0.0)):
        fit = fit_sources(x, values, sources=2)
        assert (fit.status, len(fit.exponents), fit.bias) == ("empty", 0, bias)
        np.testing.assert_allclose(fit.predict(x), bias)


def test_results_repeat_and_take_tensors():
    x = points(2100)
    y = field(x, CENTERS[:1], [0.0], [1.0]) + 1e-3 * np.random.default_rng(4).normal(size=2100)
    first, second = (fit_sources(x, y, sources=1, random_state=1) for _ in range(2))
    assert np.array_equal(first.centers, second.centers)
    third = fit_sources(torch.tensor(x), torch.tensor(y), sources=1, random_state=1)
    assert np.array_equal(first.centers, third.centers)


def test_starts_are_used():
    x = points(300)
    y = field(x, CENTERS[:2], [0.0, 0.0], [1.0, -1.0])
    fit = fit_sources(x, y, sources=2, starts=CENTERS[:2])
    np.testing.assert_allclose(fit.centers, CENTERS[:2], atol=1e-12)


X = points(60)
Y = field(X, CENTERS[:1], [0.0], [1.0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y": np.where(np.arange(60) == 3, np.nan, Y)}, "y contains 1 values that are not finite"),
        ({"x": np.where(np.arange(60)[:, None] == 3, np.inf, X)}, "x contains 2 values"),
        ({"y": Y[:-1]}, r"y has shape \(59,\), wanted \(60,\)"),
        ({"x": np.ones((60, 4))}, "x has 4 coordinates, wanted 1 to 3"),
        ({"x": np.c_[X[:, 0], np.ones(60)]}, r"same coordinate \[1\]"),
        ({"x": X[:6], "y": Y[:6], "sources": 2}, "wanted at least 9 rows"),
        ({"sources": 0}, "sources is 0, wanted a whole number"),
        ({"sources": "all"}, "sources is 'all'"),
        ({"sources": 1.5}, "sources is 1.5"),
        ({"exponents": "fre"}, r"exponents is 'fre'.*Did you mean 'free'"),
        ({"exponents": 7.0}, "wanted numbers from -3 to 3"),
        ({"exponents": [0.0, 0.0, 0.0]}, "got 3 for 2 sources"),
        ({"noise": 0.0}, "noise: got values from 0, wanted positive"),
        ({"noise": -1.0}, "noise: got values from -1"),
        ({"starts": [[2.0, 0.0]]}, r"starts: \[\[2.0, 0.0\]\] lie outside the box"),
        ({"starts": [[0.0, 0.0, 0.0]]}, r"wanted \(J, 2\)"),
    ],
)
def test_bad_input_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        fit_sources(**{"x": X, "y": Y, "sources": 2, **arguments})


def test_the_table_names_every_number():
    fit = fit_sources(X, Y, sources=1)
    (row,) = fit.table()
    assert list(row)[:2] == ["x", "x error"] and row["strength"] == pytest.approx(1.0)
    text = str(fit)
    assert "exponent" in text and "status ok" in text and "+-" in text


def test_the_map_shows_every_source():
    x = points(300)
    fit = fit_sources(x, field(x, CENTERS, [0.0] * 3, STRENGTHS), sources=3, exponents="log")
    axes = fit.plot()
    assert [text.get_text() for text in axes.texts] == [r"$\mu = 0.00$"] * 3
    single = [c for c in axes.collections if isinstance(c, PathCollection)]
    marks = [c.get_offsets()[0].tolist() for c in single if len(c.get_offsets()) == 1]
    np.testing.assert_allclose(marks, CENTERS, atol=1e-9)
    own = Figure().add_subplot()
    assert fit.plot(own) is own
    line = fit_sources(points(200, 1), field(points(200, 1), [[0.2]], [0.5], [1.0]), sources=1)
    assert line.plot().get_xlabel() == "x"
    empty = fit_sources(X, np.ones(60), sources=1)
    assert [t.get_text() for t in plot_sources(empty).texts] == ["no source was found"]
