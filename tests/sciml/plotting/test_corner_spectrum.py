"""Pictures of corner exponents."""

from __future__ import annotations

import math

import pytest

from pdes.exact import Sectors, Wedge, Williams, corner_spectrum
from sciml.plotting import plot_corner_spectrum


def labels(axes):
    return [text.get_text() for text in axes.texts if text.get_text() != "infinite gradient"]


def test_real_exponents_lie_on_a_line():
    axes = plot_corner_spectrum(corner_spectrum(Wedge(1.5 * math.pi), 3))
    assert labels(axes) == ["0.6667", "1.333", "2"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["exact"]
    assert [line.get_xdata()[0] for line in axes.lines] == pytest.approx([2 / 3, 4 / 3, 2])


def test_learned_exponents_have_error_bars():
    spectrum = corner_spectrum(Wedge(1.5 * math.pi), 2)
    axes = plot_corner_spectrum(spectrum, learned=[0.67, 1.3], errors=[0.01, 0.05])
    (bars,) = axes.containers
    ((first, second),) = [c.get_segments() for c in bars.lines[2]]
    assert first[:, 0] == pytest.approx([0.65, 0.69])
    assert second[:, 0] == pytest.approx([1.2, 1.4])
    with pytest.raises(ValueError, match=r"errors: shape \(1,\)"):
        plot_corner_spectrum(spectrum, learned=[0.67, 1.3], errors=[0.01])


def test_complex_exponents_show_their_conjugates():
    axes = plot_corner_spectrum(corner_spectrum(Williams(1.5 * math.pi), 4))
    heights = sorted(
        float(line.get_ydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1
    )
    assert heights[0] == pytest.approx(-heights[-1])
    assert axes.get_ylabel() == "imaginary part"
    assert "mode 1" in labels(axes)[0]


def test_close_exponents_keep_their_labels_apart():
    board = Sectors([(math.pi / 2, 161.4476), (math.pi / 2, 1.0)] * 2, "periodic")
    axes = plot_corner_spectrum(corner_spectrum(board, 5))
    texts = [text for text in axes.texts if text.get_text() != "infinite gradient"]
    assert len({(text.xy, text.xyann) for text in texts}) == 5
    assert texts[3].xyann[1] > texts[2].xyann[1]
    assert "2-fold" in texts[3].get_text()
