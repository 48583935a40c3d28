"""One figure that says what was found in a recording, and why one may believe it."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from sciml.plotting.comparison import plot_comparison
from sciml.plotting.discovery import plot_evidence
from sciml.plotting.space_time import plot_recording, real_fields
from sciml.plotting.style import INK, QUIET, VERDICTS, new_figure
from sciml.plotting.typeset import equation_text, number

WIDTH = 13.5

NOISELESS = 1e-5
"""Noise relative to the spread below which it is left unsaid: rounding, or a solver's own error."""


def plot_report(
    model: Any,
    recording: Any,
    simulation: Any = None,
    *,
    fitted_until: float | None = None,
    title: str = "",
) -> Figure:
    """Draw the equation, the data, what the equation predicts, and the evidence.

    Parameters
    ----------
    model : fitted estimator
        From :func:`sciml.discover`.
    recording : Dataset or DataArray
        What was measured.
    simulation : Dataset or DataArray, optional
        What the equation predicts, from ``model.simulate``; without it only the data are drawn.
    fitted_until : float, optional
        Last time that the fit saw; a line separates what was held out.
    title : str, optional
        Name of the recording.

    Returns
    -------
    matplotlib.figure.Figure
        Unknown to ``pyplot``; save it with ``figure.savefig``.

    Raises
    ------
    ValueError
        If recording and simulation do not fit together.

    Examples
    --------
    >>> import pdes, sciml
    >>> data = pdes.simulate(pdes.get("heat"))
    >>> model = sciml.discover(data)
    >>> figure = plot_report(model, data, model.simulate(data.isel(time=0), data.time))
    >>> len(figure.get_axes())
    6
    """
    equations = equation_text(model.equations(), model.latex())
    drawn = real_fields(recording)
    fields, space = len(drawn), drawn[0].dims[1:]
    terms = max(sum(len(entries) for entries in model.terms_.values()), 3)
    rows = 1 if simulation is None else fields
    heights = (0.55 + 0.42 * len(equations), 3.9 * rows, 1.4 + 0.5 * min(terms, 12))
    figure = new_figure(WIDTH, sum(heights))
    parts = figure.subfigures(3, 1, height_ratios=heights)
    head, middle, foot = np.ravel(np.asarray(parts))
    _write_head(head, equations, _sentence(model, title), heights[0], all(model.adequate_.values()))
    if simulation is None:
        places = np.ravel(middle.subplots(1, fields, squeeze=False))
        plot_recording(recording, places)
    else:
        places = middle.subplots(fields, 3, squeeze=False)
        plot_comparison(recording, simulation, places)
    if fitted_until is not None and len(space) == 1:
        for index, place in enumerate(np.ravel(places)):
            _mark_held_out(place, fitted_until, words=index == 0)
    plot_evidence(model, foot.subplots(1, 3, width_ratios=(1.25, 1.0, 1.0)))
    return figure


def _write_head(
    head: SubFigure, equations: list[str], sentence: str, height: float, adequate: bool
) -> None:
    longest = max(len(line) for line in equations)
    size = float(np.clip(22.0 * 110.0 / max(longest, 1), 9.0, 22.0))
    step = 0.42 / height
    for row, line in enumerate(equations):
        head.text(0.015, 1.0 - (row + 0.62) * step, line, fontsize=size, color=INK, va="center")
    color = QUIET if adequate else VERDICTS["ambiguous"]
    head.text(0.015, 0.2 / height, sentence, fontsize=10.5, color=color, va="center")


def _sentence(model: Any, title: str) -> str:
    parts = [title] if title else []
    for target in model.targets_:
        name = f"{target}: " if len(model.targets_) > 1 else ""
        share = model.noise_estimate_[target] / model.field_scale_[target]
        word = model.identifiability_[target].verdict
        noise = (
            f"noise found ${number(100 * share, 2)}$ %" if share > NOISELESS else "no noise found"
        )
        parts.append(name + (noise if word == "unknown" else f"{word}, {noise}"))
        if not model.adequate_[target]:
            parts.append(f"{name}does not explain the data")
    return "   ·   ".join(parts)


def _mark_held_out(place: Axes, time: float, *, words: bool) -> None:
    """Line above which the fit had seen no data."""
    outlined = [patheffects.withStroke(linewidth=2.6, foreground=INK)]
    place.axhline(time, color="white", lw=1.2, ls=(0, (5, 4)), path_effects=outlined)
    for word, offset, side in (("held out", 5, "bottom"), ("used for the fit", -5, "top")):
        if words:
            place.annotate(
                word,
                (0.985, time),
                xycoords=place.get_yaxis_transform(),
                xytext=(0, offset),
                textcoords="offset points",
                ha="right",
                va=side,
                color="white",
                fontsize=9,
                path_effects=outlined,
            )
