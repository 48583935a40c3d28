"""How the number of terms was chosen."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sciml.plotting.evidence import Evidence, color_of
from sciml.plotting.style import FAINT, INK, heading, new_figure, say, tidy_frame
from sciml.plotting.typeset import term_label


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
        color = color_of(model, target)
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
    low, high = axes.get_ylim()
    if high < 10.0 * low:  # ticks of a logarithmic axis need room
        axes.set_ylim(low / 3.0, high * 3.0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("terms in the equation", color=INK, fontsize=9)
    axes.set_ylabel("unexplained share of $\\partial_t$", color=INK, fontsize=9)
    axes.grid(axis="y", color=FAINT, lw=0.6, alpha=0.7)
    tidy_frame(axes)
    return axes
