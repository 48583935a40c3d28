"""The evidence: bars, rings and zones stand at the numbers of the estimator."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from sciml.discovery import evidence
from sciml.plotting import (
    plot_coefficients,
    plot_evidence,
    plot_path,
    plot_rivals,
    rivals,
)
from sciml.plotting.style import TARGETS, VERDICTS

from .conftest import fitted, step


def bars(axes):
    """Ends of the error bars, from the top row down."""
    return [container.lines[2][0].get_segments()[0][:, 0] for container in axes.containers]


def texts(axes):
    return [text.get_text() for text in axes.texts]


def rows(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_error_bars_span_two_standard_errors_each_way(model):
    axes = plot_coefficients(model)
    np.testing.assert_allclose(bars(axes), [[-7.0, -5.0], [-1.5, -0.5]])
    assert rows(axes) == [r"$u\,u_{x}$", "$u_{xxx}$"]
    assert texts(axes) == [r"$-6.00 \pm 0.50$", r"$-1.00 \pm 0.25$"]
    left, right = axes.get_xlim()
    assert left < -7.0
    assert right > 0.0


def test_coefficients_of_one_size_stand_on_a_linear_scale(model):
    assert plot_coefficients(model).get_xscale() == "linear"


def test_coefficients_of_very_different_size_can_all_be_told_from_zero(system):
    axes = plot_coefficients(system)
    assert axes.get_xscale() == "symlog"
    place = axes.transData.transform([[0.001, 0.0], [0.0, 0.0], [0.5, 0.0]])[:, 0]
    assert abs(place[0] - place[1]) > 0.05 * abs(place[2] - place[1])


def test_the_rows_of_a_system_are_grouped_and_colored_by_equation(system):
    axes = plot_coefficients(system)
    heights = axes.get_yticks()
    assert heights[0] - heights[1] > heights[1] - heights[2]
    colors = [to_hex(label.get_color()) for label in axes.get_yticklabels()]
    assert colors == [TARGETS[0], TARGETS[1], TARGETS[1]]


def test_without_terms_a_sentence_takes_the_place_of_the_coefficients():
    axes = plot_coefficients(fitted(terms_={"u": {}}, standard_errors_={"u": {}}))
    assert texts(axes) == ["no term was chosen"]


def test_an_unknown_error_draws_no_bar():
    axes = plot_coefficients(fitted(standard_errors_={"u": {"u*u_x": float("nan"), "u_xxx": 0.25}}))
    assert texts(axes)[0] == "$-6.000$"
    assert not axes.containers[0].lines[2]


def test_bars_of_rivals_end_at_their_ratio_in_the_color_of_the_verdict(model):
    axes = plot_rivals(model)
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2]
    assert [tuple(line.get_xdata()) for line in lines] == [(1.0, 40.0), (1.0, 2.0)]
    assert [line.get_color() for line in lines] == [VERDICTS["identified"], VERDICTS["weak"]]
    assert rows(axes) == ["$(u^{2})_{x}$", "$u_{xxx}$"]


def test_the_zones_are_those_of_the_verdicts():
    assert (rivals.AMBIGUOUS, rivals.WEAK) == (evidence.AMBIGUOUS, evidence.WEAK)


def test_ratios_beyond_all_measure_stay_on_the_paper(system):
    axes = plot_rivals(system)
    assert axes.get_xlim()[1] < 1e21
    assert max(max(line.get_xdata()) for line in axes.lines) == rivals.BEYOND_ALL


def test_methods_without_rivals_show_how_often_a_term_was_chosen():
    axes = plot_rivals(
        fitted(rivals_={"u": []}, inclusion_={"u": {"1": 0.1, "(u^2)_x": 0.9, "u_xxx": 0.7}})
    )
    assert [bar.get_width() for bar in axes.patches] == [0.9, 0.7, 0.1]
    assert rows(axes) == ["$(u^{2})_{x}$", "$u_{xxx}$", "$1$"]
    assert to_hex(axes.patches[0].get_facecolor()) == TARGETS[0]
    assert to_hex(axes.patches[2].get_facecolor()) != TARGETS[0]


def test_methods_without_any_evidence_say_so():
    bare = fitted(rivals_={"u": []}, path_={"u": []})
    assert texts(plot_rivals(bare)) == ["this method compares no rivals"]
    assert texts(plot_path(bare)) == ["this method compares no sizes"]


def test_the_chosen_size_is_ringed(model):
    axes = plot_path(model)
    curve, ring = axes.lines
    np.testing.assert_allclose(curve.get_ydata(), [1.0, 0.1, 1e-4, 9e-5])
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (2, 1e-4)
    assert texts(axes) == ["chosen: 2 terms"]


def test_a_vanishing_residual_still_has_a_place_on_the_logarithmic_scale(system):
    axes = plot_path(system)
    assert axes.lines[2].get_ydata()[-1] == 1e-32
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["$u_{t}$", "$v_{t}$"]


def test_nearly_equal_residuals_keep_a_readable_scale():
    low, high = plot_path(fitted(path_={"u": [step(2, 0.0155), step(16, 0.0152)]})).get_ylim()
    assert low < 0.0152 / 3 < 0.0155 * 3 < high


def test_two_axes_show_coefficients_and_path_three_also_the_rivals(model):
    two = plot_evidence(model, Figure().subplots(1, 2))
    assert [axes.get_title(loc="left") for axes in two] == ["coefficients", "how many terms"]
    places = Figure().subplots(3, 1)
    three = plot_evidence(model, places)
    assert three[1].get_title(loc="left") == "without each term"
    assert all(a is b for a, b in zip(three, places, strict=True))


def test_another_number_of_axes_is_refused(model):
    with pytest.raises(ValueError, match="axes has 4 entries, wanted two or three"):
        plot_evidence(model, Figure().subplots(2, 2))
