"""Coefficients with their error bars."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from sciml.plotting.evidence import Evidence, color_of, label_rows, rows_of
from sciml.plotting.style import INK, QUIET, heading, new_figure, say, tidy_frame
from sciml.plotting.typeset import number_label

SIGMAS = 2.0
"""Half-length of the error bars in standard errors."""


def plot_coefficients(model: Evidence, axes: Axes | None = None) -> Axes:
    """Draw every coefficient with an error bar of two standard errors.

    Parameters
    ----------
    model : fitted estimator
        From :func:`sciml.discover`.
    axes : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import pdes, sciml
    >>> model = sciml.discover(pdes.simulate(pdes.get("heat")))
    >>> [label.get_text() for label in plot_coefficients(model).get_yticklabels()]
    ['$u_{xx}$']
    """
    axes = new_figure(5.0, 3.4).add_subplot() if axes is None else axes
    heading(axes, "coefficients")
    rows = rows_of({name: list(model.terms_[name]) for name in model.targets_})
    if not rows:
        say(axes, "no term was chosen")
        return axes
    values = np.array([model.terms_[target][term] for target, term, _ in rows])
    errors = np.array([model.standard_errors_[target][term] for target, term, _ in rows])
    _coefficient_scale(axes, values, errors)
    axes.axvline(0.0, color=QUIET, lw=0.8, zorder=0)
    for (target, _, height), value, error in zip(rows, values, errors, strict=True):
        color = color_of(model, target)
        axes.plot([0.0, value], [height, height], color=color, lw=2.0, alpha=0.35)
        axes.errorbar(
            value,
            height,
            xerr=SIGMAS * error if math.isfinite(error) else None,
            fmt="o",
            color=color,
            ms=7,
            capsize=4,
            elinewidth=1.5,
        )
        axes.annotate(
            number_label(value, error),
            (value, height),
            xytext=(0, 9),
            textcoords="offset points",
            ha=_side(axes, value),
            color=INK,
            fontsize=9,
        )
    tidy_frame(axes, keep=("bottom",))
    label_rows(axes, rows, model)
    axes.set_xlabel(f"coefficient, bars of {SIGMAS:.0f} standard errors", color=INK, fontsize=9)
    return axes


def _coefficient_scale(axes: Axes, values: NDArray, errors: NDArray) -> None:
    """Linear while all coefficients can be told from zero on it, else logarithmic by sign."""
    sizes = np.abs(values[values != 0.0])
    if sizes.size and sizes.max() > 50.0 * sizes.min():
        axes.set_xscale("symlog", linthresh=10.0 ** math.floor(math.log10(sizes.min())))
    reach = SIGMAS * np.where(np.isfinite(errors), errors, 0.0)
    low = min(0.0, float(np.min(values - reach)))
    high = max(0.0, float(np.max(values + reach)))
    to_axis, from_axis = axes.transData.transform, axes.transData.inverted().transform
    left, right = (float(to_axis((edge, 0.0))[0]) for edge in (low, high))
    pad = 0.08 * max(right - left, 1.0)
    axes.set_xlim(float(from_axis((left - pad, 0.0))[0]), float(from_axis((right + pad, 0.0))[0]))


def _side(axes: Axes, value: float) -> str:
    """Alignment that keeps a label over this value inside the axes."""
    place = float(axes.transAxes.inverted().transform(axes.transData.transform((value, 0.0)))[0])
    return "left" if place < 0.4 else "right" if place > 0.6 else "center"
