"""How much worse the data are explained without each term."""

from __future__ import annotations

from matplotlib.axes import Axes

from sciml.plotting.evidence import Evidence, color_of, label_rows, rows_of
from sciml.plotting.style import FAINT, INK, QUIET, VERDICTS, heading, new_figure, say, tidy_frame
from sciml.plotting.typeset import number

AMBIGUOUS, WEAK = 1.25, 3.0
"""Ratios of residuals below which a rival leaves the equation ambiguous or weakly identified."""

NARROW = 0.04
"""Share of the width below which a zone is too narrow for its name."""

BEYOND_ALL = 1e16
"""Ratios above this are drawn as this: no rival comes near."""


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
    rows = rows_of({target: [r["without"] for r in found] for target, found in rivals.items()})
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
    label_rows(axes, rows, model)
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
    rows = rows_of({target: list(entries) for target, entries in shares.items()})
    for target, term, height in rows:
        chosen = term in model.support_[target]
        axes.barh(
            height,
            shares[target][term],
            height=0.5,
            color=color_of(model, target) if chosen else FAINT,
        )
    axes.set_xlim(0.0, 1.0)
    tidy_frame(axes, keep=("bottom",))
    label_rows(axes, rows, model)
    axes.set_xlabel("share of the subsamples", color=INK, fontsize=9)
    return axes
