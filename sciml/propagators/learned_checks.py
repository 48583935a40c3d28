"""Whether a learned phase can be used: it must not fold space, and its error must be small."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import torch

from sciml.propagators.rays import RayPropagator
from sciml.theory.wave_phase import best_window

if TYPE_CHECKING:
    from sciml.propagators.mino import MiNO

__all__ = ["check_learned", "phase_error_bound"]

_TIMES, _PLACES, _WAVES = 17, 257, 9


def check_learned(model: MiNO, t: float, n_modes: int) -> None:
    """Refuse a phase that folds space; warn of one that is off at the edge of the window.

    Parameters
    ----------
    model : MiNO
        In one dimension; others are not checked.
    t : float
        Longest time.
    n_modes : int
        Window.

    Raises
    ------
    ValueError
        If the mixed derivative of the phase is not positive somewhere.
    """
    if model.symbols.dimension > 1 or model.kind == "multiplier":
        return
    with torch.no_grad():
        _check_stretch(model, t)
        (start, stop), *_ = model.domain
        edge = 2.0 * math.pi * n_modes / (stop - start)
        # Of a foot the bound is in units of length, of other phases in radians.
        error = phase_error_bound(model, t)
    radians = edge * error if model.has_foot else error
    if radians > 1.0:
        advice = "train longer (polish=3), or use a smaller window"
        if model.has_foot:
            best = best_window(error)
            advice += (
                f": for fields with jumps {best:.3g} is the best edge with this bound, "
                f"n_modes={max(1, math.floor(best * (stop - start) / (2.0 * math.pi)))}"
            )
        warnings.warn(
            f"n_modes is {n_modes}, up to the frequency {edge:.4g}: there the phase is only known "
            f"to {radians:.2g} radians at t={t:.4g}; {advice}",
            UserWarning,
            stacklevel=4,
        )


def phase_error_bound(model: MiNO, t: float) -> float:
    """``t sup|r|``: bound of the error of the foot, or of the phase, before caustics.

    By the comparison principle for Hamilton-Jacobi equations; the supremum is taken over a grid.

    Parameters
    ----------
    model : MiNO
        In one dimension.
    t : float
        Time.

    Returns
    -------
    float
    """
    (a, b), *_ = model.collocation
    times = torch.linspace(0.0, t, _TIMES, dtype=torch.float64)
    symbols, worst = model.symbols, 0.0
    for branch in model.branches:
        if model.has_foot:
            x = torch.linspace(a, b, _PLACES, dtype=torch.float64)
            clock, here = (g.reshape(-1) for g in torch.meshgrid(times, x, indexing="ij"))
            xi = torch.ones_like(here)
        else:
            x = torch.linspace(a, b, 65, dtype=torch.float64)
            edge = model.window_frequency
            low = edge / _WAVES if symbols.real else -edge
            xi = torch.linspace(low, edge, _WAVES, dtype=torch.float64)
            grids = torch.meshgrid(times, x, xi, indexing="ij")
            clock, here, xi = (g.reshape(-1) for g in grids)
        found = model.residuals(clock, here, xi, branch).phase
        worst = max(worst, float(found.abs().max()))
    return t * worst


def _check_stretch(model: MiNO, t: float) -> None:
    (a, b), *_ = model.domain
    axis = model.symbols.equation.coordinates[0]
    x = torch.linspace(a, b, _PLACES, dtype=torch.float64)
    time = torch.full_like(x, t)
    for branch in model.branches:
        if model.has_foot:
            stretch = model.foot_jet(time, x, branch, (f"phi_{axis}",))[f"phi_{axis}"]
        else:
            xi = torch.full_like(x, 0.5 * model.window_frequency)
            stretch = model.canonical_relation(time, x, xi, branch)["stretch"]
        least = float(stretch.min())
        if least <= 0.0:
            where = float(x[int(torch.argmin(stretch))])
            raise ValueError(
                f"the learned phase folds space: its mixed derivative is {least:.3g} at "
                f"t={t:.4g}, x={where:.4g}. {_which(model, t, x, branch)}"
            )


def _which(model: MiNO, t: float, x: torch.Tensor, branch: int) -> str:
    """Whether rays cross, or training was too short, by tracing the rays."""
    rays = RayPropagator(
        model.symbols.equation, model.domain, model.final_time, periodic=model.periodic, n_steps=64
    )
    time = torch.full_like(x, t)
    crossed = False
    if not rays.has_foot:
        xi = torch.full_like(x, 0.5 * model.window_frequency)
        traced = rays.trace(time, x, xi, branch)
        crossed = bool((traced.determinant <= 0.0).any())
    if crossed:
        return (
            "Traced rays cross before that time too: a caustic, which no single phase passes. Use "
            "propagate(..., max_step=...) with a step that ends before it"
        )
    return (
        "Traced rays do not cross: training was too short. Fit with more steps or polish=3; "
        "check=False computes it all the same"
    )
