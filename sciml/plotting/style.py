"""One look for all pictures: colors, frames, and how a field gets its color scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK = "#22303c"
QUIET = "#7b8794"
FAINT = "#d5dbe1"
TARGETS = ("#1f6f8b", "#c0562f", "#5b7f3b", "#7a5195")
"""Colors of the equations of a system, in order."""
VERDICTS = {
    "identified": "#1f6f8b",
    "weak": "#d99a2b",
    "ambiguous": "#b5413a",
    "unknown": QUIET,
}
"""Colors of the words for how well the data single out an equation."""

SEQUENTIAL = "magma"
DIVERGING = "RdBu_r"
BOTH_SIGNS = 0.15
"""A field whose weaker sign reaches this share of the stronger one gets a diverging map."""


@dataclass(frozen=True)
class ColorScale:
    """Color map and its limits.

    Attributes
    ----------
    colormap : str
        Perceptually uniform for fields of one sign, diverging around zero otherwise.
    lowest, highest : float
        Values at the ends.
    """

    colormap: str
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Any, *, diverging: bool | None = None, share: float = 1.0) -> ColorScale:
        """Scale that shows these values; NaN is left out.

        Parameters
        ----------
        values : array_like
            What will be drawn.
        diverging : bool, optional
            Whether zero is the middle of the scale; by default if both signs matter.
        share : float, default 1
            Share of the values that a diverging scale must span.

        Returns
        -------
        ColorScale

        Examples
        --------
        >>> ColorScale.of([0.0, 1.0, 3.0]).colormap
        'magma'
        >>> ColorScale.of([-2.0, 1.0])
        ColorScale(colormap='RdBu_r', lowest=-2.0, highest=2.0)
        """
        finite = np.asarray(values)[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        weaker, stronger = sorted((max(-low, 0.0), max(high, 0.0)))
        if diverging is None:
            diverging = stronger > 0.0 and weaker >= BOTH_SIGNS * stronger
        if diverging:
            reach = float(np.quantile(np.abs(finite), share)) if finite.size else 0.0
            # A field that is zero throughout still needs an interval.
            return cls(DIVERGING, -(reach or 1.0), reach or 1.0)
        return cls(SEQUENTIAL, low, high if high > low else low + 1.0)

    def cuts(self, values: Any) -> bool:
        """Whether some values lie outside the scale by more than a hundredth of its length.

        Examples
        --------
        >>> ColorScale("magma", 0.0, 1.0).cuts([0.5, 1.5])
        True
        """
        finite = np.asarray(values)[np.isfinite(values)]
        slack = 0.01 * (self.highest - self.lowest)
        return bool(np.any((finite < self.lowest - slack) | (finite > self.highest + slack)))


def new_figure(width: float, height: float) -> Figure:
    """Figure of its own, unknown to ``pyplot``, which nobody needs to close.

    Parameters
    ----------
    width, height : float
        In inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.06)  # pyright: ignore
    return figure


def heading(axes: Axes, text: str) -> None:
    """Title at the left, where reading begins."""
    axes.set_title(text, loc="left", fontsize=10, color=INK, fontweight="bold")


def tidy_frame(axes: Axes, *, keep: tuple[str, ...] = ("bottom", "left")) -> None:
    """Take away the frame's sides that carry no scale, and quieten the rest."""
    for side, spine in axes.spines.items():
        spine.set_visible(side in keep)
        spine.set_color(FAINT)
    axes.tick_params(colors=INK, which="both", labelsize=9, width=0.8)
    axes.tick_params(which="both", color=FAINT)


def say(axes: Axes, text: str) -> None:
    """Write a sentence in place of a drawing that cannot be made."""
    axes.set_axis_off()
    axes.text(
        0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=QUIET, wrap=True
    )
