"""The evidence for a found equation: its coefficients, its rivals, and the choice of its size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciml.plotting.coefficients import plot_coefficients
from sciml.plotting.evidence import Evidence
from sciml.plotting.path import plot_path
from sciml.plotting.rivals import plot_rivals
from sciml.plotting.space_time import axes_for
from sciml.plotting.style import new_figure


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
