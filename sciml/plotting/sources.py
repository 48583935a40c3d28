"""Where the sources of a field are, over what they leave unexplained."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes

from sciml.plotting.coefficients import SIGMAS
from sciml.plotting.style import (
    INK,
    QUIET,
    TARGETS,
    ColorScale,
    heading,
    new_figure,
    say,
    tidy_frame,
)


class Sources(Protocol):
    """What a source map needs; results of `sciml.powerlaw.fit_sources` have it."""

    @property
    def centers(self) -> Any:
        """Shape (J, d)."""

    @property
    def centers_error(self) -> Any:
        """Shape (J, d)."""

    @property
    def exponents(self) -> Any:
        """Shape (J,)."""

    @property
    def strengths(self) -> Any:
        """Shape (J,)."""

    @property
    def x(self) -> Any:
        """Points, shape (rows, d)."""

    @property
    def residual(self) -> Any:
        """Shape (rows,)."""


def plot_sources(fit: Sources, axes: Axes | None = None) -> Axes:
    r"""Draw the points colored by their residual, and the sources with their error bars.

    Positive sources are filled circles, negative ones open; the area grows with the strength. Bars
    of two standard errors show where errors are large enough to be seen. Sources in space are
    projected along the third coordinate.

    Parameters
    ----------
    fit : SourceFit
        From :func:`sciml.powerlaw.fit_sources`.
    axes : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> fit = SimpleNamespace(
    ...     centers=np.array([[0.2, 0.1]]), centers_error=np.array([[0.01, 0.01]]),
    ...     exponents=np.array([0.0]), strengths=np.array([1.0]),
    ...     x=np.random.default_rng(0).uniform(-1, 1, (50, 2)), residual=np.zeros(50),
    ... )
    >>> [text.get_text() for text in plot_sources(fit).texts]
    ['$\\mu = 0.00$']
    """
    axes = new_figure(5.4, 4.4).add_subplot() if axes is None else axes
    heading(axes, "sources")
    dimension = fit.x.shape[1]
    if not len(fit.exponents) or not np.all(np.isfinite(fit.centers)):
        say(axes, "no source was found" if not len(fit.exponents) else "the data leave them open")
        return axes
    if dimension == 1:
        _along_a_line(fit, axes)
    else:
        _in_the_plane(fit, axes)
    tidy_frame(axes)
    return axes


def _in_the_plane(fit: Sources, axes: Axes) -> None:
    scale = ColorScale.of(fit.residual, diverging=True, share=0.99)
    dots = axes.scatter(
        fit.x[:, 0],
        fit.x[:, 1],
        c=fit.residual,
        cmap=scale.colormap,
        vmin=scale.lowest,
        vmax=scale.highest,
        s=6,
        lw=0,
        zorder=1,
    )
    figure = axes.get_figure()
    if figure is not None:
        bar = figure.colorbar(dots, ax=axes, shrink=0.8)
        bar.set_label("residual", color=INK, fontsize=9)
        bar.outline.set_visible(False)  # pyright: ignore
    errors = SIGMAS * np.nan_to_num(fit.centers_error)
    axes.errorbar(
        fit.centers[:, 0],
        fit.centers[:, 1],
        xerr=errors[:, 0],
        yerr=errors[:, 1],
        fmt="none",
        ecolor=INK,
        elinewidth=1.2,
        zorder=3,
    )
    strongest = float(np.max(np.abs(fit.strengths))) or 1.0
    for center, exponent, strength in zip(fit.centers, fit.exponents, fit.strengths, strict=True):
        color = TARGETS[0] if strength > 0 else TARGETS[1]
        axes.scatter(
            *center[:2],
            s=40 + 160 * abs(strength) / strongest,
            facecolor=color if strength > 0 else "white",
            edgecolor=color,
            lw=2,
            zorder=4,
        )
        _label(axes, (center[0], center[1]), exponent)
    axes.set_aspect("equal")
    axes.set_xlabel("x", color=INK, fontsize=9)
    axes.set_ylabel("y", color=INK, fontsize=9)


def _along_a_line(fit: Sources, axes: Axes) -> None:
    axes.plot(fit.x[:, 0], fit.residual, ".", color=QUIET, ms=4)
    top = float(np.max(np.abs(fit.residual))) or 1.0
    for center, error, exponent, strength in zip(
        fit.centers[:, 0], fit.centers_error[:, 0], fit.exponents, fit.strengths, strict=True
    ):
        color = TARGETS[0] if strength > 0 else TARGETS[1]
        reach = SIGMAS * float(np.nan_to_num(error))
        axes.axvspan(center - reach, center + reach, color=color, alpha=0.2, lw=0)
        axes.axvline(center, color=color, lw=1.5)
        _label(axes, (float(center), top), exponent)
    axes.set_xlabel("x", color=INK, fontsize=9)
    axes.set_ylabel("residual", color=INK, fontsize=9)


def _label(axes: Axes, place: tuple[float, float], exponent: float) -> None:
    axes.annotate(
        rf"$\mu = {round(float(exponent), 2) + 0.0:.2f}$",  # + 0.0 turns -0.0 into 0.0
        place,
        xytext=(8, 8),
        textcoords="offset points",
        color=INK,
        fontsize=9,
        zorder=5,
    )
