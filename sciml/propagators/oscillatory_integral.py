"""Fields from coefficients: sums of ``exp(i phi) a c`` over frequencies and branches.

Three ways, chosen by what the generator says of its phase. A multiplier moves coefficients, which
are then summed at any point by a non-uniform fast Fourier transform. A phase that is linear in the
frequency is the same transform, taken at the feet of the rays. Any other phase is summed directly,
in chunks. Phases are always formed in double precision.

The antecedents are E. Candes, L. Demanet and L. Ying, Multiscale Model. Simul. 7, 1727 (2009), for
the fast evaluation of Fourier integral operators, and A. Barnett, J. Magland and L. af Klinteberg,
SIAM J. Sci. Comput. 41, C479 (2019), for the non-uniform transform.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import finufft
import numpy as np
import torch

from sciml.propagators.base import AbstractGenerator
from sciml.propagators.spectrum import Spectrum

__all__ = [
    "AliasedReconstruction",
    "Method",
    "check_period",
    "direct_sum",
    "fourier_sum",
    "moved_sum",
    "reconstruct",
    "reconstruct_rate",
    "required_period",
]

Method = Literal["auto", "direct", "nufft"]

_TOLERANCE = 1e-13
_CHUNK = 2**20
"""Phases that a direct sum forms at a time."""


class AliasedReconstruction(ValueError):  # noqa: N818
    """Periodic images of the field would arrive within the domain, at order one and silently."""


def fourier_sum(
    coefficients: torch.Tensor, periods: tuple[float, ...], points: torch.Tensor
) -> torch.Tensor:
    """Sum of ``c_k exp(2 pi i k.x/P)`` at any points, by a non-uniform fast transform.

    Parameters
    ----------
    coefficients : Tensor, shape (batch, 2K + 1) or (batch, 2K + 1, 2K + 1)
        For the modes ``-K..K``.
    periods : tuple of float
        Period along each axis.
    points : Tensor, shape (m,) or (m, 2)
        Where; anywhere on the line or in the plane.

    Returns
    -------
    Tensor, shape (batch, m), complex128
        Accurate to about 1e-12 of the largest value. Not differentiable.

    Examples
    --------
    >>> c = torch.tensor([[0.0, 0.0, 1.0]], dtype=torch.complex128)
    >>> fourier_sum(c, (4.0,), torch.tensor([1.0]))          # exp(i pi/2)
    tensor([[...+1.0000j]], dtype=torch.complex128)
    """
    c = np.ascontiguousarray(coefficients.detach().cpu().to(torch.complex128).numpy())
    x = points.detach().cpu().to(torch.float64).reshape(len(points), -1).numpy()
    angles = [np.ascontiguousarray(2.0 * math.pi * x[:, i] / p) for i, p in enumerate(periods)]
    # The library folds angles into one period; far away it would lose digits in doing so.
    angles = [np.mod(angle + math.pi, 2.0 * math.pi) - math.pi for angle in angles]
    options: dict[str, Any] = {
        "eps": _TOLERANCE,
        "isign": 1,
        "nthreads": max(1, torch.get_num_threads()),
    }
    transform: Any = finufft.nufft1d2 if len(periods) == 1 else finufft.nufft2d2
    values = np.asarray(transform(*angles, c, **options)).reshape(len(c), len(x))
    return torch.as_tensor(values).to(coefficients.device)


def reconstruct(
    generator: AbstractGenerator,
    spectrum: Spectrum,
    t: float,
    x: torch.Tensor,
    *,
    branches: Mapping[int, torch.Tensor] | None = None,
    method: Method = "auto",
) -> torch.Tensor:
    """Fields at a time and at any points.

    Parameters
    ----------
    generator : AbstractGenerator
        Phase and amplitude.
    spectrum : Spectrum
        Initial fields.
    t : float
        Time.
    x : Tensor, shape (m,) or (m, d)
        Points.
    branches : mapping of int to Tensor, optional
        Coefficients of every branch, each of the shape of ``spectrum.coefficients``; by default
        these themselves on the branch +1.
    method : {"auto", "direct", "nufft"}
        How to sum. ``"auto"`` takes the fast transform where the phase allows it.

    Returns
    -------
    Tensor, shape (batch, m)
        Real for real fields.
    """
    branches = branches or {1: spectrum.coefficients}
    fast = method != "direct" and (generator.kind == "multiplier" or generator.has_foot)
    if method == "nufft" and not fast:
        raise ValueError(
            f"method is 'nufft', but the phase of {type(generator).__name__} is "
            f"{generator.kind}: only multipliers and phases with a foot have a fast transform"
        )
    total = torch.zeros((), dtype=torch.complex128)
    for branch, c in branches.items():
        make = moved_sum if fast else _direct_field
        total = total + make(generator, spectrum, c, t, x, branch)
    return total.real if spectrum.real else total


def moved_sum(
    generator: AbstractGenerator,
    spectrum: Spectrum,
    c: torch.Tensor,
    t: float,
    x: torch.Tensor,
    branch: int,
) -> torch.Tensor:
    """One branch by the fast transform: coefficients turned, or points moved to their feet."""
    time = _time(t, x)
    if generator.kind == "multiplier":
        xi = frequency_points(spectrum, x.device)
        origin = torch.zeros_like(xi)
        times = time.expand(xi.shape[:1])
        phase = generator.phase(times, origin, xi, branch)
        factor = torch.exp(1j * phase) * generator.amplitude(times, origin, xi, branch)
        # The symbol of an equation of second order has no sign at the frequency 0, which is apart.
        factor = torch.where((c == 0).all(0), 0.0, factor.reshape(c.shape[1:]))
        return fourier_sum(c * factor, spectrum.periods, x)
    times = time.expand(len(x))
    foot = generator.foot(times, x, branch)
    total = torch.zeros((), dtype=torch.complex128, device=x.device)
    for power, term in enumerate(generator.amplitude_terms(times, x, branch)):
        total = total + term * fourier_sum(powered(c, spectrum, -power), spectrum.periods, foot)
    return total


def reconstruct_rate(
    generator: AbstractGenerator,
    spectrum: Spectrum,
    t: float,
    x: torch.Tensor,
    *,
    branches: Mapping[int, torch.Tensor] | None = None,
) -> torch.Tensor:
    """Derivatives in time of the fields of `reconstruct`, shape (batch, m)."""
    total = torch.zeros((), dtype=torch.complex128)
    for branch, c in (branches or {1: spectrum.coefficients}).items():
        if generator.has_foot and spectrum.dimension == 1:
            total = total + _foot_rate(generator, spectrum, c, t, x, branch)
            continue

        def rate(time, x, xi, branch=branch):
            turn = generator.phase_jet(time, x, xi, branch, ("phi_t",))["phi_t"]
            jets = generator.amplitude_jet(time, x, xi, branch, ("a", "a_t"))
            return {"rate": 1j * turn * jets["a"] + jets["a_t"]}

        total = total + direct_sum(generator, spectrum, c, t, x, branch, rate)["rate"]
    return total.real if spectrum.real else total


def _foot_rate(generator, spectrum, c, t, x, branch):
    times = _time(t, x).expand(len(x)).clone()
    foot = generator.foot(times, x, branch)
    turn = generator.foot_jet(times, x, branch, ("phi_t",))["phi_t"]
    total = torch.zeros((), dtype=torch.complex128)
    for j, jets in enumerate(generator.amplitude_terms_jet(times, x, branch, ("a", "a_t"))):
        for power, weight in ((1 - j, turn * jets["a"]), (-j, jets["a_t"])):
            moved = fourier_sum(powered(c, spectrum, power), spectrum.periods, foot)
            total = total + weight * moved
    return total


def powered(c: torch.Tensor, spectrum: Spectrum, power: int) -> torch.Tensor:
    """Coefficients times ``(i xi)^power`` in one dimension; the mean is dropped if divided by 0."""
    if power == 0:
        return c
    (xi,) = spectrum.frequencies
    zero = xi == 0.0
    factor = torch.where(zero, 0.0, (1j * torch.where(zero, 1.0, xi)) ** power)
    return c * factor.to(c.device)


def _direct_field(generator, spectrum, c, t, x, branch):
    def amplitude(time, x, xi):
        return {"u": generator.amplitude(time, x, xi, branch)}

    return direct_sum(generator, spectrum, c, t, x, branch, amplitude)["u"]


def direct_sum(
    generator: AbstractGenerator,
    spectrum: Spectrum,
    c: torch.Tensor,
    t: float,
    x: torch.Tensor,
    branch: int,
    weights: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], dict[str, torch.Tensor]],
) -> dict[str, torch.Tensor]:
    """Sums of ``exp(i phi) w c`` over the frequencies, directly, for several weights ``w``.

    Parameters
    ----------
    generator, spectrum
        As in `reconstruct`.
    c : Tensor, shape (batch, 2K + 1) or (batch, 2K + 1, 2K + 1)
        Coefficients.
    t : float
        Time.
    x : Tensor, shape (m,) or (m, d)
        Points.
    branch : int
        Branch.
    weights : callable
        ``f(t, x, xi) -> {name: weight}`` on points by frequencies.

    Returns
    -------
    dict of str to Tensor, shape (batch, m), complex128
        Differentiable. A real field is summed over positive frequencies, twice the real part.
    """
    xi = frequency_points(spectrum, x.device)
    c = c.reshape(len(c), -1).to(x.device)
    kept = (c != 0).any(0)
    if spectrum.real and spectrum.dimension == 1:
        c = c * torch.where(xi > 0.0, 2.0, 1.0)
        kept &= xi >= 0.0
    xi, c = xi[kept], c[:, kept]
    time = _time(t, x)
    totals: dict[str, list[torch.Tensor]] = {}
    rows = max(1, _CHUNK // max(1, len(xi)))
    for start in range(0, len(x), rows):
        here = x[start : start + rows, None]
        there = xi[None]
        phase = generator.phase(time.expand(len(here), 1), here, there, branch)
        turned = torch.exp(1j * phase.to(torch.float64))
        for name, weight in weights(time.expand(len(here), 1), here, there).items():
            totals.setdefault(name, []).append(c @ (turned * weight).mT)
    return {name: torch.cat(parts, dim=1) for name, parts in totals.items()}


def frequency_points(spectrum: Spectrum, device: Any = None) -> torch.Tensor:
    """All frequencies of the sum in the order of the flattened coefficients: (n,) or (n, d)."""
    if spectrum.dimension == 1:
        return spectrum.frequencies[0].to(device)
    grids = torch.meshgrid(*spectrum.frequencies, indexing="ij")
    return torch.stack([g.reshape(-1) for g in grids], dim=-1).to(device)


def required_period(
    generator: AbstractGenerator, spectrum: Spectrum, t: float, x: torch.Tensor
) -> float:
    """Period of the sum from which on no periodic image of the field arrives at the points.

    Frequencies of spacing ``2 pi/P`` stand for a torus of period ``P``. The image at distance
    ``m P`` has its stationary points where ``d phi/d xi`` is in its support; none is reached if
    ``P >= sup |d phi/d xi| + R`` for a field that vanishes outside ``|x| <= R``. Sufficient, not
    sharp. Derived here.

    Parameters
    ----------
    generator, spectrum, t, x
        As in `reconstruct`. The supremum is taken over the points and 65 frequencies.

    Returns
    -------
    float
    """
    (xi,) = spectrum.frequencies
    few = torch.linspace(float(xi[0]), float(xi[-1]), 65, dtype=torch.float64, device=x.device)
    time, here = _time(t, x).expand(len(x), 1), x[:, None]
    reach = 0.0
    for branch in generator.branches:
        slope = torch.func.jvp(
            lambda xi, branch=branch: generator.phase(time, here, xi, branch),
            (few[None].expand(len(x), -1).clone(),),
            (torch.ones(len(x), len(few), dtype=torch.float64, device=x.device),),
        )[1]
        reach = max(reach, float(slope.detach().abs().max()))
    return reach + spectrum.radius


def check_period(
    generator: AbstractGenerator, spectrum: Spectrum, t: float, x: torch.Tensor
) -> None:
    """Refuse a sum over frequencies that are too far apart for a field on the line.

    Raises
    ------
    AliasedReconstruction
        A ValueError with the period that is needed. A torus needs no check.
    """
    if generator.periodic or generator.symbols.dimension > 1:
        return
    needed, period = required_period(generator, spectrum, t, x), spectrum.periods[0]
    if period < needed:
        factor = needed / period
        raise AliasedReconstruction(
            f"period is {period:.6g} at t={float(t):.6g}: images of the field may arrive within "
            f"the domain. Wanted at least {needed:.6g}: give period={needed:.6g} with "
            f"{factor:.3g} times as many modes, or a shorter time step; check=False computes it "
            "all the same"
        )


def _time(t: float, x: torch.Tensor) -> torch.Tensor:
    return torch.as_tensor(t, dtype=torch.float64, device=x.device)
