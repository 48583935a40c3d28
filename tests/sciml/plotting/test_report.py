"""The report: all parts in one figure, which leaves no trace in pyplot."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from matplotlib.image import imread

from sciml.plotting import plot_report


@pytest.fixture
def data():
    t, x = np.linspace(0.0, 2.0, 21), np.linspace(-4.0, 4.0, 32)
    values = np.exp(-((x[None, :] - t[:, None]) ** 2))
    return xr.Dataset({"u": (("time", "x"), values)}, coords={"time": t, "x": x})


def panels(figure):
    """Titles of the axes that have one."""
    return [axes.get_title(loc="left") for axes in figure.get_axes() if axes.get_title(loc="left")]


def head(figure):
    return [text.get_text() for text in figure.subfigs[0].texts]


def test_the_report_holds_equation_fields_and_evidence(model, data):
    figure = plot_report(model, data, data, title="a wave")
    assert head(figure) == [
        r"$u_t = -6\,u\,u_x - u_{xxx}$",
        "a wave   ·   weak, noise found $5.0$ %",
    ]
    assert panels(figure) == [
        "recorded",
        "simulated",
        "difference, relative $L^2$ $0.0$",
        "coefficients",
        "without each term",
        "how many terms",
    ]


def test_without_a_simulation_only_the_data_are_drawn(model, data):
    assert panels(plot_report(model, data))[0] == "$u$"


def test_an_equation_that_does_not_explain_the_data_is_called_so(system, data):
    both = data.assign(v=data.u)
    sentence = head(plot_report(system, both))[-1]
    assert "v: does not explain the data" in sentence
    assert "u: does not" not in sentence
    assert "u: ambiguous, no noise found" in sentence
    assert "v: identified, noise found $5.0$ %" in sentence


def test_methods_without_a_verdict_claim_none(model, data):
    model.identifiability_["u"].verdict = "unknown"
    assert head(plot_report(model, data))[-1] == "noise found $5.0$ %"


def test_a_line_separates_what_was_held_out(model, data):
    figure = plot_report(model, data, data, fitted_until=1.0)
    drawn = [axes for axes in figure.get_axes() if axes.get_title(loc="left")][:3]
    for axes in drawn:
        assert [line.get_ydata() for line in axes.lines] == [[1.0, 1.0]]
    assert [text.get_text() for text in drawn[0].texts] == ["held out", "used for the fit"]


def test_long_equations_fit_on_the_page(model, data):
    terms = " + ".join(f"{k} u^{k}" for k in range(1, 40))
    model.equations = lambda: ["u_t = ..."]
    model.latex = lambda: f"u_t = {terms}"
    figure = plot_report(model, data)
    assert figure.subfigs[0].texts[0].get_fontsize() == pytest.approx(9.0)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_figure_can_be_saved(model, data, kind):
    stream = io.BytesIO()
    plot_report(model, data, data).savefig(stream, format=kind, dpi=50)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind]
    assert stream.getvalue().startswith(start)
    if kind == "png":
        stream.seek(0)
        pixels = imread(stream)
        # Text, two color maps and a white page: a blank or broken picture has no such variety.
        assert len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0)) > 300


def test_pyplot_is_never_loaded():
    code = """
import io, sys, numpy as np
from sciml.plotting import plot_recording
x = np.linspace(0, 1, 8)
[axes] = plot_recording(np.outer(x[:5], x), coords={"t": x[:5], "x": x})
axes.figure.savefig(io.BytesIO(), format="png")
print("matplotlib.pyplot" in sys.modules)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"
