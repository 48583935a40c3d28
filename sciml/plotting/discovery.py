"""The evidence for a found equation: its coefficients, its rivals, and the choice of its size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from sciml.plotting.space_time import axes_for
from sciml.plotting.style import (
    FAINT,
    INK,
    QUIET,
    TARGETS,
    VERDICTS,
    heading,
    new_figure,
    say,
    tidy_frame,
)
from sciml.plotting.typeset import number, number_label, term_label

AMBIGUOUS, WEAK = 1.25, 3.0
"""Ratios of residuals below which a rival leaves the equation ambiguous or weakly identified."""

SIGMAS = 2.0
"""Half-length of the error bars in standard errors."""

NARROW = 0.04
"""Share of the width below which a zone is too narrow for its name."""

BEYOND_ALL = 1e16
"""Ratios above this are drawn as this: no rival comes near."""


class Evidence(Protocol):
    """What a fitted discoverer shows; mappings go from the field to its equation's entry."""

    targets_: Sequence[str]
    path_: Mapping[str, Sequence[Any]]
    inclusion_: Mapping[str, Mapping[str, float]]
    support_: Mapping[str, Sequence[str]]

    @property
    def terms_(self) -> Mapping[str, Mapping[str, float]]:
        """Field -> term -> coefficient."""
        ...

    @property
    def standard_errors_(self) -> Mapping[str, Mapping[str, float]]:
        """Field -> term -> standard error."""
        ...

    @property
    def rivals_(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Field -> best equations that do without one of its terms."""
        ...


def plot_evidence(model: Evidence, axes: Any = None) -> NDArray:
    """Draw what speaks for an equation.

    Parameters
    ----------
    model : fitted estimator
        From :func:`sciml.discover`.
    axes : sequence of two or three matplotlib.axes.Axes, optional
        For the coefficients, the rivals and the choice of size; two leave out the rivals. A new
        figure with three by default.

    Returns
    -------
    ndarray of matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If another number of axes is given.

    Examples
    --------
    >>> import pdes, sciml
    >>> model = sciml.discover(pdes.simulate(pdes.get("burgers")))
    >>> [axes.get_title(loc="left") for axes in plot_evidence(model)]
    ['coefficients', 'without each term', 'how many terms']
    """
    draw = [plot_coefficients, plot_rivals, plot_path]
    if axes is None:
        rows = max(sum(len(terms) for terms in model.terms_.values()), 2)
        figure = new_figure(13.0, 2.2 + 0.45 * rows)
        places = np.asarray(figure.subplots(1, 3, width_ratios=(1.25, 1.0, 1.0)))
    else:
        count = np.size(np.asarray(axes, dtype=object))
        if count == 2:
            draw.remove(plot_rivals)
        elif count != 3:
            raise ValueError(f"axes has {count} entries, wanted two or three")
        places = axes_for(np.ravel(np.asarray(axes, dtype=object)), (count,), width=4, height=3)
    for draw_one, place in zip(draw, places, strict=True):
        draw_one(model, place)
    return places


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
    rows = _rows({name: list(model.terms_[name]) for name in model.targets_})
    if not rows:
        say(axes, "no term was chosen")
        return axes
    values = np.array([model.terms_[target][term] for target, term, _ in rows])
    errors = np.array([model.standard_errors_[target][term] for target, term, _ in rows])
    _coefficient_scale(axes, values, errors)
    axes.axvline(0.0, color=QUIET, lw=0.8, zorder=0)
    for (target, _, height), value, error in zip(rows, values, errors, strict=True):
        color = _color(model, target)
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
    _label_rows(axes, rows, model)
    axes.set_xlabel(f"coefficient, bars of {SIGMAS:.0f} standard errors", color=INK, fontsize=9)
    return axes


def plot_rivals(model: Evidence, axes: Axes | None = None) -> Axes:
    """Draw how much worse the best equation without each term explains the data.

    Methods that compare no rivals but count how often a term is chosen show these frequencies.

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
    >>> plot_rivals(model).get_xscale()
    'log'
    """
    axes = new_figure(5.0, 3.4).add_subplot() if axes is None else axes
    rivals = {target: model.rivals_.get(target, ()) for target in model.targets_}
    if not any(rivals.values()):
        return _plot_inclusion(model, axes)
    heading(axes, "without each term")
    rows = _rows({target: [r["without"] for r in found] for target, found in rivals.items()})
    found = [rival for target in model.targets_ for rival in rivals[target]]
    highest = max(10.0, *(min(r["ratio"], BEYOND_ALL) for r in found))
    axes.set_xscale("log")
    axes.set_xlim(1.0, highest**1.22)
    for edge, word in ((AMBIGUOUS, "ambiguous"), (WEAK, "weak")):
        axes.axvspan(1.0, edge, color=VERDICTS[word], alpha=0.13, lw=0, zorder=0)
        if edge > axes.get_xlim()[1] ** NARROW:
            axes.text(
                edge / 1.03,
                0.02,
                word,
                rotation=90,
                ha="right",
                va="bottom",
                fontsize=7.5,
                color=VERDICTS[word],
                transform=axes.get_xaxis_transform(),
            )
    for (_, _, height), rival in zip(rows, found, strict=True):
        ratio = min(float(rival["ratio"]), BEYOND_ALL)
        color = VERDICTS.get(rival["verdict"], QUIET)
        end = max(ratio, 1.0)
        axes.plot([1.0, end], [height, height], color=color, lw=5, alpha=0.85)
        axes.plot(end, height, "o", color=color, ms=7, clip_on=False)
        axes.annotate(
            f"${number(ratio, 3)}$ times",
            (end, height),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=INK,
            fontsize=9,
        )
    tidy_frame(axes, keep=("bottom",))
    _label_rows(axes, rows, model)
    axes.set_xlabel("residual of the best rival over that of the equation", color=INK, fontsize=9)
    return axes


def _plot_inclusion(model: Evidence, axes: Axes) -> Axes:
    """Frequencies with which terms were chosen, the chosen ones in color."""
    heading(axes, "how often chosen")
    shares = {
        target: dict(sorted(entries.items(), key=lambda item: -item[1])[:8])
        for target, entries in model.inclusion_.items()
        if target in model.targets_
    }
    if not any(shares.values()):
        say(axes, "this method compares no rivals")
        return axes
    rows = _rows({target: list(entries) for target, entries in shares.items()})
    for target, term, height in rows:
        chosen = term in model.support_[target]
        axes.barh(
            height,
            shares[target][term],
            height=0.5,
            color=_color(model, target) if chosen else FAINT,
        )
    axes.set_xlim(0.0, 1.0)
    tidy_frame(axes, keep=("bottom",))
    _label_rows(axes, rows, model)
    axes.set_xlabel("share of the subsamples", color=INK, fontsize=9)
    return axes


def plot_path(model: Evidence, axes: Axes | None = None) -> Axes:
    """Draw the residual of the best equation of every size, the chosen size ringed.

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
    >>> plot_path(model).get_yscale()
    'log'
    """
    axes = new_figure(5.0, 3.4).add_subplot() if axes is None else axes
    heading(axes, "how many terms")
    if not any(model.path_.get(target) for target in model.targets_):
        say(axes, "this method compares no sizes")
        return axes
    axes.set_yscale("log")
    for target in model.targets_:
        steps = model.path_.get(target, ())
        sizes = [step.size for step in steps]
        residuals = [max(step.residual, 1e-32) for step in steps]
        color = _color(model, target)
        axes.plot(
            sizes, residuals, "o-", color=color, lw=1.6, ms=5, label=term_label(f"{target}_t")
        )
        size = len(model.support_[target])
        if size in sizes:
            at = residuals[sizes.index(size)]
            axes.plot(size, at, "o", ms=14, mfc="none", mec=color, mew=1.6)
            if len(model.targets_) == 1:
                axes.annotate(
                    f"chosen: {size} term{'s' * (size != 1)}",
                    (size, at),
                    xytext=(10, 12),
                    textcoords="offset points",
                    color=color,
                    fontsize=9,
                )
    if len(model.targets_) > 1:
        axes.legend(frameon=False, fontsize=9)
    axes.margins(x=0.08, y=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("terms in the equation", color=INK, fontsize=9)
    axes.set_ylabel("unexplained share of $\\partial_t$", color=INK, fontsize=9)
    axes.grid(axis="y", color=FAINT, lw=0.6, alpha=0.7)
    tidy_frame(axes)
    return axes


def _rows(labels: Mapping[str, Sequence[str]]) -> list[tuple[str, str, float]]:
    """Target, label and height of every row, from the top; systems get a gap between equations."""
    rows, height = [], 0.0
    for target, entries in labels.items():
        for entry in entries:
            rows.append((target, entry, height))
            height -= 1.0
        height -= 0.4 if entries else 0.0
    return rows


def _label_rows(axes: Axes, rows: Sequence[tuple[str, str, float]], model: Evidence) -> None:
    heights = [height for _, _, height in rows]
    axes.set_yticks(heights, [term_label(term) for _, term, _ in rows])
    axes.tick_params(axis="y", length=0, pad=8)
    for label, (target, _, _) in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_fontsize(12 if len(rows) <= 10 else 9)
        label.set_color(_color(model, target) if len(model.targets_) > 1 else INK)
    axes.set_ylim(min(heights) - 0.9, max(heights) + 0.7)


def _color(model: Evidence, target: str) -> str:
    return TARGETS[list(model.targets_).index(target) % len(TARGETS)]


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
