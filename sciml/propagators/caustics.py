"""Past caustics by composition: steps that end before rays meet.

Where rays cross, no single phase describes the field, and near it the phase asks for ever more
frequencies. A step that ends earlier is exact, the field is transformed anew, and the next step
starts with straight phases. The quarter turn that a caustic leaves in the phase (V. P. Maslov)
comes out by itself. Branches need no bookkeeping. Derived here.
"""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
import torch
import xarray as xr

__all__ = ["compose", "largest_stretch"]

_LOG = logging.getLogger(__name__)
_LARGEST_STRETCH = 4.0
_HALVINGS = 12


def compose(
    propagator: Any,
    u0: Any,
    times: np.ndarray,
    axes: list[torch.Tensor],
    *,
    max_step: float,
    check: bool = True,
    n_modes: int | None = None,
    period: float | None = None,
    window: Any = "sharp",
    largest: float = _LARGEST_STRETCH,
) -> xr.Dataset:
    """Fields at several times by steps; the work of ``propagate(..., max_step=...)``.

    Parameters
    ----------
    propagator : AbstractPhasePropagator
        For an autonomous equation of first order in time.
    u0 : field or sequence of fields
        Initial fields.
    times : ndarray, shape (n,)
        Increasing, of any length.
    axes : list of Tensor
        Points of output.
    max_step : float
        Longest step. A step is halved while the guard of the period fails, or while the mixed
        derivative of the phase exceeds `largest` or is not positive.
    check : bool
        Whether the guard is asked.
    n_modes, period, window
        As in `propagate`.
    largest : float
        Bound of ``|phi_x,xi|``: the factor by which the field is compressed.

    Returns
    -------
    Dataset
    """
    if not (math.isfinite(max_step) and max_step > 0.0):
        raise ValueError(f"max_step is {max_step}: it must be positive and finite")
    symbols = propagator.symbols
    if symbols.time_order != 1 or symbols.dimension != 1 or not symbols.autonomous:
        raise ValueError(
            f"max_step composes steps of {symbols.equation.name!r}: this is built for autonomous "
            "equations of first order in time, in one dimension"
        )
    options = {"n_modes": n_modes, "period": period, "window": window}
    grid = _sampling_grid(propagator, n_modes)
    step = min(float(max_step), propagator.final_time)
    first = propagator.prepare(u0, until=step, **options)
    fields: Any = u0
    frames, now = [], 0.0
    for goal in times:
        while goal - now > 1e-12 * max(1.0, goal):
            count = math.ceil((goal - now) / step - 1e-9)
            wanted = (goal - now) / count
            length, state = _sound_step(propagator, fields, wanted, grid, check, largest, options)
            step = length if length < wanted else step
            fields = state.value(length, grid)[:, None]
            now += length
        state = propagator.prepare(fields, **options)
        points = axes[0].to(torch.float64)
        value = state.value(0.0, points)
        frames.append(value)
    return propagator.dataset(torch.stack(frames, dim=1), times, axes, first)


def largest_stretch(
    propagator: Any, t: float, x: torch.Tensor, cutoff: float
) -> tuple[float, float]:
    """Smallest and largest mixed derivative of the phase over points and frequencies, 1D.

    Examples
    --------
    >>> from sciml.propagators import HarmonicOscillator
    >>> x = torch.zeros(1, dtype=torch.float64)
    >>> low, high = largest_stretch(HarmonicOscillator(), 1.0, x, 5.0)
    >>> round(high, 4)                                               # 1/cos 1
    1.8508
    """
    xi = torch.linspace(-cutoff, cutoff, 9, dtype=torch.float64)[None]
    time = torch.full((len(x), 1), float(t), dtype=torch.float64)
    with torch.no_grad():
        found = propagator.canonical_relation(time, x[:, None], xi)["stretch"]
    return float(found.min()), float(found.max())


def _sound_step(propagator, fields, length, grid, check, largest, options):
    """Halve a step until its phase is single and its period reaches far enough."""
    few = grid[:: max(1, len(grid) // 32)]
    for _ in range(_HALVINGS):
        state = propagator.prepare(fields, until=length, **options)
        low, high = largest_stretch(propagator, length, few, state.spectrum.cutoff)
        sound = low > 0.0 and high <= largest
        if sound:
            try:
                state.check(length, few, check)
                return length, state
            except ValueError as error:
                if options["period"] is None:
                    raise
                _LOG.info("step %g halved: %s", length, error)
        else:
            _LOG.info("step %g halved: the mixed derivative reaches %g", length, high)
        length = 0.5 * length
    raise ValueError(
        f"max_step: no step down to {length:.3g} keeps the phase single and the period sufficient; "
        "give a longer period, or leave it out"
    )


def _sampling_grid(propagator: Any, n_modes: int | None) -> torch.Tensor:
    """Grid on which the field is handed from step to step: four points for the shortest wave."""
    points = 4 * int(n_modes or propagator.n_modes) + 1
    (start, stop), *_ = propagator.domain
    periodic = propagator.periodic
    return torch.as_tensor(np.linspace(start, stop, points - periodic, endpoint=not periodic))
