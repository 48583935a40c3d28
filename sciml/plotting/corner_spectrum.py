"""Exponents at a corner: exact ones, and learned ones with their error bars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from pdes.exact import CornerSpectrum
from sciml.plotting.style import FAINT, INK, QUIET, TARGETS, heading, new_figure, tidy_frame

SIGMAS = 2.0
"""Half-length of the error bars in standard errors."""
REGULAR = 1.0
"""Exponents below have an infinite gradient at the corner."""


def plot_corner_spectrum(
    spectrum: CornerSpectrum,
    axes: Axes | None = None,
    learned: ArrayLike | None = None,
    errors: ArrayLike | None = None,
) -> Axes:
    """Draw the exponents of a corner in the complex plane, or on a line if all are real.

    Parameters
    ----------
    spectrum : CornerSpectrum
        From :func:`pdes.exact.corner_spectrum`.
    axes : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    learned : array_like, shape (n,), optional
        Learned exponents, such as ``WedgeFit.exponents_``; drawn beside the exact ones.
    errors : array_like, shape (n,), optional
        Their standard errors; bars show two of them where they can be seen.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there are not as many errors as learned exponents.

    Examples
    --------
    >>> import math
    >>> from pdes.exact import Wedge, corner_spectrum
    >>> plot_corner_spectrum(corner_spectrum(Wedge(1.5 * math.pi))).get_xlabel()
    'exponent'
    """
    exact: Any = np.array([complex(value) for value in spectrum.exponents])
    found: Any = None if learned is None else np.atleast_1d(np.asarray(learned, dtype=complex))
    bars = None if errors is None else np.atleast_1d(np.asarray(errors, dtype=float))
    if bars is not None and (found is None or found.shape != bars.shape):
        raise ValueError(f"errors: shape {bars.shape}, wanted one for each learned exponent")
    axes = new_figure(6.0, 2.6).add_subplot() if axes is None else axes
    heading(axes, str(spectrum.problem))
    flat = not np.any(exact.imag) and (found is None or not np.any(found.imag))
    everything: Any = exact if found is None else np.concatenate([exact, found])
    left, right = float(everything.real.min()), float(everything.real.max())
    pad = 0.08 * max(right - left, 0.5)
    axes.set_xlim(min(left - pad, 0.0), right + 2 * pad)
    axes.axvspan(axes.get_xlim()[0], REGULAR, color=TARGETS[1], alpha=0.08, lw=0, zorder=0)
    axes.annotate(
        "infinite gradient",
        (min(REGULAR, axes.get_xlim()[1]), 0.98),
        xycoords=axes.get_xaxis_transform(),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=7.5,
        color=TARGETS[1],
    )
    _draw_exact(axes, spectrum, exact, flat)
    if found is not None:
        _draw_learned(axes, found, bars, flat)
    _scales(axes, flat, found is not None)
    return axes


def _draw_exact(axes: Axes, spectrum: CornerSpectrum, exact: Any, flat: bool) -> None:
    heights = np.zeros(len(exact)) if flat else exact.imag
    close = 0.09 * (axes.get_xlim()[1] - axes.get_xlim()[0])
    lifts: list[int] = []
    for place, (value, height, count, label) in enumerate(
        zip(exact, heights, spectrum.multiplicities, spectrum.labels, strict=True)
    ):
        # Labels of neighbors go on top of each other.
        near = place > 0 and abs(value.real - exact[place - 1].real) < close
        lifts.append(lifts[-1] + (2 if label else 1) if near else 0)
        color = TARGETS[2] if label == "mode 2" else TARGETS[0]
        axes.plot(value.real, height, "o", ms=9, mfc="white", mec=color, mew=1.8, zorder=3)
        if not flat and value.imag:
            axes.plot(value.real, -height, "o", ms=9, mfc="white", mec=color, mew=1.0, alpha=0.5)
        words = f"{value.real:.4g}" + (f" ({count}-fold)" if count > 1 else "")
        words += f"\n{label}" if label else ""
        axes.annotate(
            words,
            (value.real, height),
            xytext=(0, 9 + 11 * lifts[-1]),
            textcoords="offset points",
            ha="center",
            color=INK,
            fontsize=8,
        )


def _draw_learned(axes: Axes, found: Any, bars: Any, flat: bool) -> None:
    heights = np.full(len(found), -0.5) if flat else found.imag
    width = None
    if bars is not None:
        width = SIGMAS * np.where(np.isfinite(bars), bars, 0.0)
    axes.errorbar(
        found.real,
        heights,
        xerr=width,
        fmt="o",
        color=TARGETS[1],
        ms=5,
        capsize=4,
        elinewidth=1.5,
        zorder=4,
        label="learned",
    )


def _scales(axes: Axes, flat: bool, learned: bool) -> None:
    axes.set_xlabel("exponent" if flat else "real part of the exponent", color=INK, fontsize=9)
    axes.grid(axis="x", color=FAINT, lw=0.6, alpha=0.7)
    if flat:
        axes.set_ylim(-1.0 if learned else -0.6, 0.9)
        axes.set_yticks([0.0, -0.5] if learned else [0.0])
        axes.set_yticklabels(["exact", "learned"] if learned else ["exact"], color=INK, fontsize=9)
        tidy_frame(axes, keep=("bottom",))
        axes.tick_params(axis="y", length=0)
        return
    axes.axhline(0.0, color=QUIET, lw=0.8, zorder=0)
    low, high = axes.get_ylim()
    room = 0.35 * max(high - low, 10.0 ** math.floor(math.log10(max(high - low, 1e-3))))
    axes.set_ylim(low - 0.3 * room, high + room)
    axes.set_ylabel("imaginary part", color=INK, fontsize=9)
    tidy_frame(axes)
