"""Where the windows of a recording lie: their widths and their distances along each axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod

from sciml.discovery.recording import Recording
from sciml.discovery.terms import Feature
from sciml.discovery.windows import FEWEST, AxisWindows, choose_half_width, mean_spectrum

MAX_ROWS = 2000
"""Most windows that are used; their covariance is dense."""


def place_windows(
    recording: Recording,
    features: tuple[Feature, ...],
    half_widths: Sequence[int] | None,
    max_rows: int,
    time_order: int,
) -> tuple[AxisWindows, ...]:
    """Choose the windows along every axis.

    Parameters
    ----------
    recording : Recording
        The data.
    features : tuple of Feature
        The library; its derivatives set how smooth the bumps must be.
    half_widths : sequence of int, optional
        Half-widths to use, time last; by default from the spectrum.
    max_rows : int
        Most windows. Where more would fit, they are first widened, then moved apart.
    time_order : int
        Order of the time derivative.

    Returns
    -------
    tuple of AxisWindows
        Space axes, then time.

    Raises
    ------
    ValueError
        If an axis is too short for one window, or given half-widths do not fit.
    """
    dimensions = len(recording.space)
    orders = [
        max([feature.max_order[axis] for feature in features] + [1]) for axis in range(dimensions)
    ] + [time_order]
    if half_widths is None:
        widths = []
        for axis, points in enumerate(recording.shape):
            spectra = [mean_spectrum(values, axis) for values in recording.fields.values()]
            widths.append(choose_half_width(points, spectra, orders[axis]))
    else:
        if len(half_widths) != dimensions + 1:
            raise ValueError(
                f"half_widths needs one number per axis {tuple(recording.coordinates)}, got "
                f"{tuple(half_widths)}"
            )
        widths = [int(width) for width in half_widths]
    names = (*recording.space, "t")
    for name, points, width, order in zip(names, recording.shape, widths, orders, strict=True):
        least = max(order + 2, FEWEST)
        if half_widths is not None and (2 * width + 1 > points or width < least):
            raise ValueError(
                f"half_widths gives {width} for axis {name!r}: with {points} points and "
                f"derivatives up to order {order} it must lie between {least} and "
                f"{(points - 1) // 2}"
            )
        if 2 * width + 1 > points:
            advice = "record more points"
            if name != "t" and order > 2:
                advice += " or lower the order, for instance library=sciml.Library(order=2)"
            raise ValueError(
                f"axis {name!r} has {points} points, too few for one window: derivatives up to "
                f"order {order} need at least {2 * least + 1}; {advice}"
            )
    periodic = (*recording.periodic, False)

    def place(factor: float) -> tuple[AxisWindows, ...]:
        return tuple(
            AxisWindows(
                points=points,
                spacing=spacing,
                half_width=width,
                order=order,
                stride=max(1.0, factor * width / 3),
                periodic=wraps,
            )
            for points, spacing, width, order, wraps in zip(
                recording.shape, recording.spacings, widths, orders, periodic, strict=True
            )
        )

    windows = place(1.0)
    # more data than rows: wider windows average more of them, further apart ones would skip some
    while half_widths is None and _count(windows) > max_rows:
        wider = [
            max(width, min(math.ceil(1.1 * width), points // 6))
            for width, points in zip(widths, recording.shape, strict=True)
        ]
        if wider == widths:
            break
        widths = wider
        windows = place(1.0)
    factor = 1.0
    needed = min(max_rows, 4 * len(features))
    while _count(windows) > max_rows:
        factor *= max(1.02, (_count(windows) / max_rows) ** (0.9 / len(windows)))
        windows = place(factor)
    while _count(windows) < needed and factor > 0.4:
        factor *= 0.8
        windows = place(factor)
    return windows


def _count(windows: tuple[AxisWindows, ...]) -> int:
    return prod(len(item.centers) for item in windows)
