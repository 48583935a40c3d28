"""Exponents with their error bars, and what a sum of powers leaves over."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes

from sciml.plotting.style import FAINT, INK, QUIET, TARGETS, heading, new_figure, say, tidy_frame

SIGMAS = 2.0
"""Half-length of the error bars in standard errors."""

KINDS = {
    "power": ("power", TARGETS[0], "o"),
    "fixed": ("known power", QUIET, "s"),
    "logarithm": ("with logarithm", TARGETS[1], "D"),
    "oscillation": ("oscillation", TARGETS[3], "^"),
}


class FittedPowers(Protocol):
    """What the pictures read of a fit."""

    terms_: Any
    fit_: Any
    status_: str
    _rows: Any


def plot_exponents(model: FittedPowers, ax: Axes | None = None) -> Axes:
    """Draw exponents against the size of their coefficients, with two standard errors.

    Parameters
    ----------
    model : PowerLawFit
        Fitted.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from sciml.powerlaw import PowerLawFit
    >>> r = np.linspace(0.01, 1.0, 100)
    >>> plot_exponents(PowerLawFit().fit(r, r**0.5 + 2 * r)).get_xlabel()
    'exponent, bars of 2 standard errors'
    """
    axes = new_figure(5.0, 3.4).add_subplot() if ax is None else ax
    heading(axes, f"exponents ({model.status_.replace('_', ' ')})")
    if not model.terms_:
        say(axes, "no exponent was identified")
        return axes
    named: set[str] = set()
    for term in model.terms_:
        label, color, marker = KINDS[term.kind]
        place, size = complex(term.exponent), abs(term.coefficient)
        axes.vlines(place.real, 0.0, size, color=color, lw=2.0, alpha=0.35)
        axes.errorbar(
            place.real,
            size,
            xerr=SIGMAS * complex(term.exponent_error).real,
            yerr=SIGMAS * abs(term.coefficient_error),
            fmt=marker,
            color=color,
            ms=7,
            capsize=4,
            label=None if label in named else label,
        )
        named.add(label)
        text = f"{place.real:.4g}" + (f" {place.imag:+.3g}i" if place.imag else "")
        axes.annotate(
            text,
            (place.real, size),
            xytext=(0, 9),
            textcoords="offset points",
            ha="center",
            color=INK,
            fontsize=9,
        )
    axes.margins(x=0.2, y=0.2)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel(f"exponent, bars of {SIGMAS:.0f} standard errors", color=INK, fontsize=9)
    axes.set_ylabel("size of the coefficient", color=INK, fontsize=9)
    if len(named) > 1:
        axes.legend(frameon=False, fontsize=8)
    tidy_frame(axes)
    return axes


def plot_radial_residual(model: FittedPowers, ax: Axes | None = None) -> Axes:
    """Draw the weighted residual against the radius: noise has no shape, a wrong model has.

    Parameters
    ----------
    model : PowerLawFit
        Fitted.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from sciml.powerlaw import PowerLawFit
    >>> r = np.linspace(0.01, 1.0, 100)
    >>> plot_radial_residual(PowerLawFit().fit(r, np.sqrt(r))).get_xscale()
    'log'
    """
    axes = new_figure(5.0, 3.0).add_subplot() if ax is None else ax
    heading(axes, "residual")
    if not model.terms_:
        say(axes, "nothing was fitted")
        return axes
    r, residual = np.asarray(model._rows.r), np.asarray(model.fit_.residual)
    axes.axhline(0.0, color=FAINT, lw=0.8, zorder=0)
    inside = r > 0
    axes.plot(r[inside], residual[inside], ".", color=TARGETS[0], ms=4)
    free = max(len(residual) - 2 * len(model.terms_), 1)
    deviation = float(np.sqrt(residual @ residual / free))
    axes.axhspan(-2 * deviation, 2 * deviation, color=FAINT, alpha=0.4, zorder=0, lw=0)
    axes.set_xscale("log")
    axes.set_xlabel("distance from the center", color=INK, fontsize=9)
    axes.set_ylabel("residual", color=INK, fontsize=9)
    tidy_frame(axes)
    return axes
