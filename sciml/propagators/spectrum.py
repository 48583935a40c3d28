"""Fourier coefficients of initial fields within a window, with what the window cuts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
import xarray as xr

from pdes.grid import Axis, Grid
from sciml.propagators.fields import AbstractField
from sciml.theory import sampled_tail

__all__ = ["Field", "Spectrum", "Window", "spectrum_of"]

Field = Any
"""A field with a closed form, a family of `pdes.initial`, a tensor, an array or a DataArray."""

Window = Literal["sharp", "lanczos"]

_SAMPLES = 4096
"""Points on which a family without a closed form is sampled, at least."""


@dataclass(frozen=True, kw_only=True)
class Spectrum:
    """Coefficients ``c_k = (1/P) int u exp(-i xi x) dx`` for the modes ``-K..K`` of each axis.

    Parameters
    ----------
    coefficients : Tensor, shape (batch, 2K + 1) or (batch, 2K + 1, 2K + 1), complex128
        In several dimensions zero outside the ball ``|k| <= K``.
    periods : tuple of float
        Period along each axis; on the line that of the torus the sum stands for.
    real : bool
        Whether the equation is real, so that its fields stay so.
    tail, norm : Tensor, shape (batch,)
        Norms of what the window cuts and of the fields.
    radius : float
        Largest coordinate at which a field is not zero.
    note : str
        What the tail knows of: everything, or only the samples.
    fields : tuple
        The fields with a closed form, if all have one; else empty.
    """

    coefficients: torch.Tensor
    periods: tuple[float, ...]
    real: bool
    tail: torch.Tensor
    norm: torch.Tensor
    radius: float = 0.0
    note: str = "exact"
    fields: tuple[AbstractField, ...] = ()

    @property
    def n_modes(self) -> int:
        """Highest mode ``K``."""
        return (self.coefficients.shape[-1] - 1) // 2

    @property
    def dimension(self) -> int:
        """Number of axes."""
        return len(self.periods)

    @property
    def frequencies(self) -> tuple[torch.Tensor, ...]:
        """Angular wave numbers along each axis, float64, shape (2K + 1,)."""
        device = self.coefficients.device
        # Whole numbers are turned into doubles before they meet a Python number, which would
        # otherwise make them single precision.
        k = torch.arange(-self.n_modes, self.n_modes + 1, device=device).to(torch.float64)
        return tuple(k * (2.0 * math.pi / period) for period in self.periods)

    @property
    def cutoff(self) -> float:
        """Frequency at which the window ends, half a mode beyond the last."""
        return 2.0 * math.pi * (self.n_modes + 0.5) / max(self.periods)

    def windowed(self, window: Window) -> Spectrum:
        """Same fields seen through another window.

        ``"sharp"`` leaves the coefficients as they are; ``"lanczos"`` multiplies them by
        ``sinc(k/(K + 1/2))``, which takes the overshoot beside a jump from 9% to 1.2% and raises
        the squared tail of jumps by half. The tail becomes ``sqrt(tail^2 + what was damped)``.
        """
        if window == "sharp":
            return self
        if window != "lanczos":
            raise ValueError(f"window is {window!r}: wanted 'sharp' or 'lanczos'")
        k = torch.arange(-self.n_modes, self.n_modes + 1).to(torch.float64)
        factor = torch.sinc(k / (self.n_modes + 0.5)).to(self.coefficients.device)
        if self.dimension == 2:
            factor = factor[:, None] * factor[None, :]
        damped = self.energy((1.0 - factor) * self.coefficients)
        return replace(
            self,
            coefficients=self.coefficients * factor,
            tail=torch.sqrt(self.tail**2 + damped),
        )

    def energy(self, coefficients: torch.Tensor) -> torch.Tensor:
        """Squared norm of the fields with these coefficients, shape (batch,)."""
        return math.prod(self.periods) * coefficients.abs().square().flatten(1).sum(1)

    def __len__(self) -> int:
        return len(self.coefficients)


def spectrum_of(
    fields: Field | Sequence[Field],
    *,
    domain: Sequence[tuple[float, float]],
    n_modes: int,
    periods: Sequence[float] | None = None,
    periodic: bool = True,
    real: bool = True,
    name: str = "u0",
) -> Spectrum:
    """Coefficients of one or several initial fields.

    Parameters
    ----------
    fields : field or sequence of fields
        A field of `sciml.propagators.fields` (exact coefficients); a family of `pdes.initial`,
        sampled on a fine grid with the seed 0; samples on the equidistant grid of the domain as a
        tensor ``(batch, channel, *grid)``, an array ``(*grid)``, or a DataArray.
    domain : sequence of (start, stop)
        The box: one period, or where samples on the line were taken (both ends included).
    n_modes : int
        Highest mode ``K``.
    periods : sequence of float, optional
        Periods of the sum; the lengths of the domain if left out.
    periodic : bool
        Whether the domain is a torus.
    real : bool
        Whether the equation is real; complex fields are refused then.
    name : str
        What messages call the fields.

    Returns
    -------
    Spectrum

    Raises
    ------
    ValueError
        For NaN, complex fields of a real equation, wrong shapes, a grid that is not uniform, or
        samples that do not reach the highest mode.

    Examples
    --------
    >>> from sciml.propagators.fields import Box
    >>> spectrum = spectrum_of(Box(2.0, 3.5), domain=[(0.0, 6.0)], n_modes=2)
    >>> round(spectrum.coefficients[0, 2].real.item(), 12)        # the mean, 1.5/6
    0.25
    """
    if int(n_modes) != n_modes or n_modes < 1:
        raise ValueError(f"n_modes is {n_modes}: wanted a whole number of at least 1")
    lengths = tuple(stop - start for start, stop in domain)
    periods = tuple(periods or lengths)
    make = _Maker(tuple(domain), int(n_modes), periods, periodic, real, name)
    given = list(fields) if isinstance(fields, list | tuple) else [fields]
    if not given:
        raise ValueError(f"{name} is empty: wanted at least one field")
    return _joined([make(field) for field in given])


@dataclass(frozen=True)
class _Maker:
    domain: tuple[tuple[float, float], ...]
    n_modes: int
    periods: tuple[float, ...]
    periodic: bool
    real: bool
    name: str

    def __call__(self, field: Field) -> Spectrum:
        if isinstance(field, AbstractField):
            return self.closed_form(field)
        if isinstance(field, xr.DataArray):
            return self.sampled(self._checked_array(field))
        if isinstance(field, torch.Tensor):
            return self.sampled(self._batched(field))
        if isinstance(field, np.ndarray | list):
            return self.sampled(torch.as_tensor(np.asarray(field))[None])
        if isinstance(field, Callable):
            return self.family(field)
        raise TypeError(
            f"{self.name} is {type(field).__name__}: wanted a field such as Box(0, 1), a family of "
            "pdes.initial, a tensor (batch, channel, *grid), an array (*grid) or a DataArray"
        )

    def closed_form(self, field: AbstractField) -> Spectrum:
        if field.dimension != len(self.domain):
            raise ValueError(
                f"{self.name} is {field}, of dimension {field.dimension}; the domain has "
                f"{len(self.domain)}"
            )
        grids = np.meshgrid(*self._frequencies(), indexing="ij")
        c = torch.as_tensor(field.transform(*grids) / math.prod(self.periods))
        low, high = field.support
        if not self.periodic and high - low > min(self.periods):
            raise ValueError(
                f"{self.name} covers {high - low:.4g}, more than the period {min(self.periods):.4g}"
            )
        tail = field.tail(length=max(self.periods), n_modes=self.n_modes)
        return Spectrum(
            coefficients=self._ball(c[None]),
            periods=self.periods,
            real=self.real,
            tail=torch.tensor([tail], dtype=torch.float64),
            norm=torch.tensor([self._periodic_norm(field, c)], dtype=torch.float64),
            radius=max(abs(low), abs(high)),
            fields=(field,),
        )

    def _periodic_norm(self, field: AbstractField, c: torch.Tensor) -> float:
        low, high = field.support
        if high - low <= min(self.periods):
            return field.norm
        inner = math.prod(self.periods) * float(c.abs().square().sum())
        return math.sqrt(inner + field.tail(length=max(self.periods), n_modes=self.n_modes) ** 2)

    def family(self, field: Callable) -> Spectrum:
        points = max(_SAMPLES if len(self.domain) == 1 else 256, 8 * self.n_modes)
        axes = [
            Axis(letter, start, stop, points, periodic=self.periodic)
            for letter, (start, stop) in zip("xyz", self.domain, strict=False)
        ]
        values = field(Grid(tuple(axes)), np.random.default_rng(0))
        first = next(iter(values.values())) if not hasattr(values, "shape") else values
        return self.sampled(torch.as_tensor(np.asarray(first))[None])

    def sampled(self, values: torch.Tensor) -> Spectrum:
        self._check_samples(values)
        values = values.to(torch.complex128 if values.is_complex() else torch.float64)
        measure, norms = self._measure(values.shape[1:]), values.abs().square().flatten(1)
        kept = self._transformed(values)
        c = self._ball(kept)
        norm = torch.sqrt(measure * norms.sum(1))
        if self.periodic and len(self.domain) == 1:
            lost = torch.as_tensor(sampled_tail(values.cpu().numpy(), self.n_modes))
            tail = lost.to(norm) * math.sqrt(self.periods[0])
        else:
            inner = math.prod(self.periods) * c.abs().square().flatten(1).sum(1)
            tail = torch.sqrt(torch.clamp(norm**2 - inner, min=0.0))
        return Spectrum(
            coefficients=c,
            periods=self.periods,
            real=self.real,
            tail=tail,
            norm=norm,
            radius=max(max(abs(a), abs(b)) for a, b in self.domain),
            note="energy beyond the Nyquist frequency of the samples is unknown",
        )

    def _transformed(self, values: torch.Tensor) -> torch.Tensor:
        """Coefficients of samples: FFT on a torus, sums over the points on the line."""
        for place, (start, stop) in enumerate(self.domain):
            points = values.shape[1 + place]
            # Angles are formed in double precision: modes times positions grow large.
            k = torch.arange(-self.n_modes, self.n_modes + 1).to(torch.float64)
            values = torch.movedim(values, 1 + place, -1)
            if self.periodic:
                spectrum = torch.fft.fft(values, dim=-1) / points
                kept = spectrum[..., torch.arange(-self.n_modes, self.n_modes + 1) % points]
                kept = kept * torch.exp(-2j * math.pi / (stop - start) * start * k)
            else:
                x = torch.linspace(start, stop, points, dtype=torch.float64)
                step = (stop - start) / (points - 1)
                kernel = torch.exp(-2j * math.pi / self.periods[place] * x[:, None] * k)
                kept = values.to(torch.complex128) @ kernel * (step / self.periods[place])
            values = torch.movedim(kept, -1, 1 + place)
        return values

    def _measure(self, shape: Sequence[int]) -> float:
        """Volume that a sample stands for."""
        ends = 0 if self.periodic else 1
        pairs = zip(self.domain, shape, strict=True)
        return math.prod((stop - start) / (n - ends) for (start, stop), n in pairs)

    def _frequencies(self) -> list[np.ndarray]:
        k = np.arange(-self.n_modes, self.n_modes + 1)
        return [2.0 * math.pi / period * k for period in self.periods]

    def _ball(self, c: torch.Tensor) -> torch.Tensor:
        if len(self.domain) == 1:
            return c
        squares = sum(
            torch.as_tensor(g) ** 2 for g in np.meshgrid(*self._frequencies(), indexing="ij")
        )
        edge = (2.0 * math.pi * (self.n_modes + 0.5) / max(self.periods)) ** 2
        return c * (torch.as_tensor(squares) <= edge)

    def _batched(self, values: torch.Tensor) -> torch.Tensor:
        wanted = len(self.domain) + 2
        if values.ndim != wanted or values.shape[1] != 1:
            raise ValueError(
                f"{self.name} has shape {tuple(values.shape)}: wanted (batch, 1, "
                f"{', '.join('xyz'[: len(self.domain)])}); for one field u use u[None, None]"
            )
        return values[:, 0].detach().cpu()

    def _checked_array(self, field: xr.DataArray) -> torch.Tensor:
        letters = "xyz"[: len(self.domain)]
        batch = [d for d in field.dims if str(d) not in letters]
        if len(batch) > 1 or any(letter not in field.dims for letter in letters):
            raise ValueError(
                f"{self.name} has dimensions {field.dims}: wanted {', '.join(letters)}, and at "
                "most one more, such as sample; choose one time with .isel(time=0)"
            )
        field = field.transpose(*batch, *letters)
        for letter, (start, stop) in zip(letters, self.domain, strict=True):
            _check_uniform(self.name, letter, field[letter].values, start, stop, self.periodic)
        values = torch.as_tensor(np.asarray(field.values))
        return values if batch else values[None]

    def _check_samples(self, values: torch.Tensor) -> None:
        if values.ndim != len(self.domain) + 1:
            raise ValueError(
                f"{self.name} has {values.ndim - 1} grid dimensions: wanted {len(self.domain)}"
            )
        if not bool(
            torch.isfinite(torch.view_as_real(values) if values.is_complex() else values).all()
        ):
            raise ValueError(f"{self.name} holds NaN or infinity: wanted finite samples")
        if values.is_complex() and self.real:
            raise ValueError(
                f"{self.name} is complex, but the equation is real: give its real part, or list "
                "the field in complex_fields of the Equation"
            )
        for points, (start, stop), period in zip(
            values.shape[1:], self.domain, self.periods, strict=True
        ):
            nyquist = 0.5 * points * period / (stop - start)
            if self.n_modes >= nyquist:
                raise ValueError(
                    f"n_modes is {self.n_modes} for {self.name} with {points} samples, whose "
                    f"Nyquist mode is {nyquist:g}: give more samples, or at most "
                    f"n_modes={math.ceil(nyquist) - 1}"
                )


def _check_uniform(
    name: str, letter: str, x: np.ndarray, start: float, stop: float, periodic: bool
) -> None:
    steps = np.diff(x)
    if len(steps) == 0 or np.ptp(steps) > 1e-6 * abs(steps.mean()):
        raise ValueError(
            f"{name} is not on a uniform grid along {letter}: steps from {steps.min():.6g} to "
            f"{steps.max():.6g}. Interpolate it to equidistant points first"
        )
    end = x[-1] + (steps.mean() if periodic else 0.0)
    slack = 1e-6 * (stop - start)
    if abs(x[0] - start) > slack or abs(end - stop) > slack:
        raise ValueError(
            f"{name} covers [{x[0]:.6g}, {end:.6g}] along {letter}: wanted the domain "
            f"[{start:.6g}, {stop:.6g}]" + (", the end point left out" if periodic else "")
        )


def _joined(parts: list[Spectrum]) -> Spectrum:
    if len(parts) == 1:
        return parts[0]
    notes = {part.note for part in parts} - {"exact"}
    return replace(
        parts[0],
        coefficients=torch.cat([p.coefficients for p in parts]),
        tail=torch.cat([p.tail for p in parts]),
        norm=torch.cat([p.norm for p in parts]),
        real=all(p.real for p in parts),
        radius=max(p.radius for p in parts),
        note="; ".join(sorted(notes)) or "exact",
        fields=tuple(f for p in parts for f in p.fields) if all(p.fields for p in parts) else (),
    )
