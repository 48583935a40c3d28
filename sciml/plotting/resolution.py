"""What a model does on other grids than its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sciml.plotting.style import INK, QUIET, TARGETS, heading, new_figure, tidy_frame

__all__ = ["plot_resolution_diagnosis", "plot_resolution_gap"]


def plot_resolution_gap(gap: Any, ax: Axes | None = None) -> Axes:
    """Draw errors, self-inconsistency and the predicted share of normalizations over grids.

    Parameters
    ----------
    gap : ResolutionGap
        Of `sciml.operators.resolution_gap`.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    axes = new_figure(5.4, 3.6).add_subplot() if ax is None else ax
    first = gap.rows[0]
    rows = sorted(gap.rows, key=lambda row: -row.step)
    points = np.array([max(row.points) for row in rows])
    series = (
        ("error", [row.error for row in rows], INK, "o-"),
        ("distance from the first grid", [row.inconsistency for row in rows], TARGETS[0], "s-"),
        (
            "of it normalization, predicted",
            [row.predicted_normalization for row in rows],
            TARGETS[1],
            "D:",
        ),
    )
    for label, numbers, color, style in series:
        values = np.array(numbers, float)
        shown = np.isfinite(values) & (values > 0.0)
        if shown.any():
            axes.plot(points[shown], values[shown], style, color=color, label=label, ms=4)
    axes.axvline(max(first.points), color=QUIET, lw=0.8, ls="--")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(points, [str(n) for n in points])
    axes.minorticks_off()
    axes.set_xlabel("points along an axis (dashed: the first grid)")
    axes.set_ylabel("relative $L^2$")
    order = "" if np.isnan(gap.order) else f", outputs of order {gap.order:.2f}"
    heading(axes, f"across resolutions{order}")
    axes.legend(frameon=False, fontsize=8)
    tidy_frame(axes)
    return axes


def plot_resolution_diagnosis(diagnosis: Any, ax: Axes | None = None) -> Axes:
    """Draw how far each layer moves the output if it is freed from the grid.

    Parameters
    ----------
    diagnosis : ResolutionDiagnosis
        Of `sciml.operators.diagnose_resolution`.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    layers = diagnosis.layers
    axes = new_figure(5.4, 0.8 + 0.24 * max(len(layers), 4)).add_subplot() if ax is None else ax
    kinds = list(dict.fromkeys(layer.kind for layer in layers))
    for kind, color in zip(kinds, (TARGETS * len(kinds))[: len(kinds)], strict=True):
        rows = [i for i, layer in enumerate(layers) if layer.kind == kind]
        axes.barh(rows, [layers[i].moves_output for i in rows], color=color, label=kind)
    axes.axvline(diagnosis.gap, color=INK, lw=0.8, ls="--", label="whole model")
    axes.set_yticks(range(len(layers)), [layer.name for layer in layers], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("moves the output by (relative $L^2$)")
    shapes = (" x ".join(map(str, s)) for s in (diagnosis.coarse, diagnosis.fine))
    heading(axes, " against ".join(shapes))
    axes.legend(frameon=False, fontsize=8)
    tidy_frame(axes)
    return axes
