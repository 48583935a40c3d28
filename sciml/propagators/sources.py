"""The source that a generator leaves in the equation: what a certificate is made of."""

from __future__ import annotations

import torch

from sciml.propagators.base import AbstractGenerator, Residuals, evaluate_residuals
from sciml.propagators.oscillatory_integral import (
    direct_sum,
    fourier_sum,
    frequency_points,
    powered,
)
from sciml.propagators.spectrum import Spectrum

__all__ = ["PARTS", "sources"]

PARTS = ("eikonal", "transport", "parametrix")


def sources(
    generator: AbstractGenerator,
    spectrum: Spectrum,
    branches: dict[int, torch.Tensor],
    times: torch.Tensor,
    x: torch.Tensor,
) -> dict[str, torch.Tensor]:
    """Sum over branches and frequencies of ``exp(i phi)`` times each part of the source.

    The residual symbol is evaluated once for each time and applied to all fields.

    Parameters
    ----------
    generator, spectrum, branches
        As in `oscillatory_integral.reconstruct`.
    times : Tensor, shape (n,)
        Times.
    x : Tensor, shape (m,) or (m, d)
        Points.

    Returns
    -------
    dict
        ``"eikonal"``, ``"transport"``, ``"parametrix"``: Tensor of shape (n, batch, m).
    """
    total: dict[str, torch.Tensor] = {}
    for branch, c in branches.items():
        if generator.has_foot and spectrum.dimension == 1:
            found = _by_foot(generator, spectrum, c, times, x, branch)
        else:
            make = _by_multiplier if generator.kind == "multiplier" else _directly
            rows = [make(generator, spectrum, c, float(t), x, branch) for t in times]
            found = {part: torch.stack([row[part] for row in rows]) for part in PARTS}
        total = {part: total.get(part, 0.0) + found[part] for part in PARTS}
    return {part: v.real if spectrum.real else v for part, v in total.items()}


def _directly(generator, spectrum, c, t, x, branch):
    def weights(time, x, xi):
        shape = torch.broadcast_shapes(time.shape, x.shape[: time.ndim], xi.shape[: time.ndim])
        here = x.expand(*shape, *x.shape[time.ndim :]).contiguous()
        found = generator.residuals(time.expand(shape).contiguous(), here, xi, branch)
        return {part: getattr(found, part) for part in PARTS}

    return direct_sum(generator, spectrum, c, t, x, branch, weights)


def _by_multiplier(generator, spectrum, c, t, x, branch):
    xi = frequency_points(spectrum, x.device)
    times = torch.full(xi.shape[:1], float(t), dtype=torch.float64, device=x.device)
    origin = torch.zeros_like(xi)
    turned = torch.exp(1j * generator.phase(times, origin, xi, branch))
    found = generator.residuals(times, origin, xi, branch)
    moved = {}
    for part in PARTS:
        factor = (turned * getattr(found, part)).expand(len(xi)).reshape(c.shape[1:])
        # The symbol of an equation of second order has no sign at the frequency 0, which is apart.
        factor = torch.where((c == 0).all(0), 0.0, factor)
        moved[part] = fourier_sum(c * factor, spectrum.periods, x)
    return moved


def _by_foot(generator, spectrum, c, times, x, branch):
    """Powers of the frequency times functions of position, summed at the feet of all times.

    With ``phi = xi X`` and ``a = sum of a_j/(i xi)^j`` each part of the source of a term is one
    power of the frequency. The remainder of a term is what the next one is there to cancel: both
    count as transport, and only the last remainder as parametrix.
    """
    clock = times[:, None].expand(-1, len(x)).reshape(-1)
    here = x[None].expand(len(times), -1).reshape(-1)
    foot, terms = foot_residuals(generator, clock, here, branch)
    r = generator.symbols.time_order
    sums: dict[int, torch.Tensor] = {}
    total = {p: torch.zeros(len(c), len(here), dtype=torch.complex128) for p in PARTS}
    for j, found in enumerate(terms):
        last = j == len(terms) - 1
        rows = (
            ("eikonal", r - j, found.eikonal / 1j**r),
            ("transport", r - 1 - j, found.transport / 1j ** (r - 1)),
            ("parametrix" if last else "transport", max(r - 2, 0) - j, found.parametrix),
        )
        for part, power, weight in rows:
            if bool((weight != 0).any()):
                if power not in sums:
                    moved = powered(c, spectrum, power)
                    sums[power] = fourier_sum(moved, spectrum.periods, foot)
                total[part] = total[part] + weight * sums[power]
    shape = (len(c), len(times), len(x))
    return {part: value.reshape(shape).movedim(1, 0) for part, value in total.items()}


def foot_residuals(
    generator: AbstractGenerator, t: torch.Tensor, x: torch.Tensor, branch: int
) -> tuple[torch.Tensor, list[Residuals]]:
    """Foot, and residuals at the frequency 1 of every term of the amplitude."""
    symbols = generator.symbols
    names = ("phi", *symbols.phase_jets)
    phase, series = generator.foot_series_jet(t, x, branch, names, symbols.amplitude_jets)
    found = [evaluate_residuals(symbols, phase | jets, t, x, branch) for jets in series]
    return phase["phi"], found
