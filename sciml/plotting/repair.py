"""Error of a forecaster against the step, for each way to repair it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sciml.plotting.style import QUIET, TARGETS

__all__ = ["plot_variants"]


def plot_variants(
    errors: Mapping[str, np.ndarray], *, chosen: str = "", ax: Axes | None = None
) -> Axes:
    """Draw the mean squared error of every variant, and the middle half of the trajectories.

    Parameters
    ----------
    errors : mapping of str to ndarray, shape (trajectories, steps)
        By name of the variant.
    chosen : str
        Which is drawn in bold.
    ax : Axes, optional
        Drawn into; a new figure by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_variants({"raw": np.array([[1.0, 2.0]]), "post_hoc": np.array([[0.5, 0.6]])})
    >>> len(ax.lines)
    2
    """
    if ax is None:
        ax = Figure(figsize=(6.0, 4.0), layout="constrained").subplots()
    assert isinstance(ax, Axes)
    for place, (name, values) in enumerate(errors.items()):
        steps = np.arange(1, values.shape[1] + 1)
        color = QUIET if name == "raw" else TARGETS[(place - 1) % len(TARGETS)]
        shown = np.where(np.isfinite(values), values, np.nan)
        ax.plot(
            steps,
            shown.mean(0),
            color=color,
            linestyle="--" if name.startswith("relaxed") else "-",
            linewidth=2.5 if name == chosen else 1.2,
            label=name.replace("_", " "),
        )
        if len(values) >= 4 and not name.startswith("relaxed"):
            low, high = np.nanquantile(shown, [0.25, 0.75], axis=0)
            ax.fill_between(steps, low, high, color=color, alpha=0.12, linewidth=0)
    positive = any(bool((values > 0.0).any()) for values in errors.values())
    ax.set_yscale("log" if positive else "linear")
    ax.set(xlabel="step", ylabel="mean squared error")
    ax.legend(frameon=False)
    return ax
