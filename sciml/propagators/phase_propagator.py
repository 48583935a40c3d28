"""What every propagator on phase space does with its phase and amplitude."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import xarray as xr

from pdes.problem import check_times
from sciml.propagators.base import AbstractGenerator, AbstractPropagator
from sciml.propagators.initial_state import InitialState, prepare
from sciml.propagators.spectrum import Field, Window

if TYPE_CHECKING:
    from sciml.propagators.certificate import Certificate

__all__ = ["AbstractPhasePropagator", "certificate_variable"]

_DENSEST = 1000


class AbstractPhasePropagator(AbstractPropagator, AbstractGenerator, ABC):
    """A generator that reconstructs, propagates and certifies.

    Subclasses give what `AbstractGenerator` asks for, and ``n_modes``, the default window. They
    call `check_setting` once that is known.
    """

    n_modes: int

    def check_setting(self) -> None:
        """Refuse settings and coefficients that the method cannot work with.

        Raises
        ------
        ValueError
            For a final time that is not positive, an empty window, or a wave speed that is not
            positive somewhere, which is named.
        """
        if not (math.isfinite(self.final_time) and self.final_time > 0.0):
            raise ValueError(f"final_time is {self.final_time}: it must be positive and finite")
        if int(self.n_modes) != self.n_modes or self.n_modes < 1:
            raise ValueError(f"n_modes is {self.n_modes}: wanted a whole number of at least 1")
        if self.symbols.time_order == 2:
            self._check_speed()

    def forward(self, u: Field, dt: float) -> torch.Tensor:
        """Fields a time `dt` later.

        Parameters
        ----------
        u : Tensor, shape (batch, channel, *grid), or a field
            Samples on the equidistant grid of the domain. An equation of second order in time
            takes one channel (at rest), or two, field and velocity, and returns as many. Other
            fields (see `propagate`) are returned on the default grid.
        dt : float
            Time, in [0, final_time].

        Returns
        -------
        Tensor, shape (batch, channel, *grid), of the kind of `u`
        """
        velocity = None
        if isinstance(u, torch.Tensor) and self.symbols.time_order == 2 and u.ndim > 2:
            if u.shape[1] not in (1, 2):
                raise ValueError(
                    f"u has {u.shape[1]} channels: wanted the field, or it and its rate"
                )
            velocity = u[:, 1:] if u.shape[1] == 2 else None
            u = u[:, :1]
        self.check_time(dt)
        state = self.prepare(u, v0=velocity, until=float(dt))
        axes = self.output_axes(u)
        points = _product(axes)
        parts = [state.value(float(dt), points)]
        if velocity is not None:
            parts.append(state.rate(float(dt), points))
        shape = tuple(len(axis) for axis in axes)
        found = torch.stack([part.reshape(len(part), *shape) for part in parts], dim=1)
        if isinstance(u, torch.Tensor):
            dtype = torch.promote_types(u.dtype, found.dtype) if found.is_complex() else u.dtype
            found = found.to(dtype=dtype, device=u.device)
        return found

    def propagate(
        self,
        u0: Field | Sequence[Field],
        times: Sequence[float] | np.ndarray | float,
        *,
        v0: Field | Sequence[Field] | None = None,
        x: np.ndarray | None = None,
        n_modes: int | None = None,
        period: float | None = None,
        window: Window = "sharp",
        low_modes: int | None = None,
        max_step: float | None = None,
        check: bool = True,
        certificate: bool = False,
    ) -> xr.Dataset:
        """Fields at several times.

        Parameters
        ----------
        u0 : field or sequence of fields
            `Box`, `Gaussian`, ... with exact coefficients, a family of `pdes.initial`, samples as
            a tensor ``(batch, 1, *grid)``, an array ``(*grid)`` or a DataArray.
        times : array_like, shape (n,)
            Increasing.
        v0 : field or sequence of fields, optional
            Initial velocity, for equations of second order in time; zero if left out.
        x : array, shape (m,), optional
            Points of output, in one dimension; a uniform grid by default.
        n_modes : int, optional
            Highest mode on the domain's length; the propagator's window by default.
        period : float, optional
            Period of the sum on the line; large enough by default.
        window : {"sharp", "lanczos"}
            Lanczos' window takes the overshoot at jumps from 9% to 1.2%.
        low_modes : int, optional
            Modes up to this one are moved by a spectral solver instead: the error of a wave in a
            varying medium is largest there.
        max_step : float, optional
            Compose steps of at most this length, which passes caustics and goes beyond
            `final_time`.
        check : bool
            Refuse a period at which images of the field arrive in the domain.
        certificate : bool
            Also compute the bound of the error; see `certify`.

        Returns
        -------
        Dataset
            ``u(sample, time, x[, y])``; with a certificate also ``certificate(sample, time)``, the
            bound of the relative error. The attribute ``floor`` is the relative tail of every
            field.
        """
        moments = check_times(np.atleast_1d(np.asarray(times, dtype=float)))
        axes = [torch.as_tensor(np.asarray(x, dtype=float))] if x is not None else None
        axes = axes or self.output_axes(u0, n_modes)
        options = {"n_modes": n_modes, "period": period, "window": window}
        if max_step is not None:
            from sciml.propagators.caustics import compose

            if v0 is not None or low_modes is not None:
                raise ValueError("max_step composes equations of first order in time, all modes")
            return compose(self, u0, moments, axes, max_step=max_step, check=check, **options)
        self.check_time(moments[-1])
        last = float(moments[-1])
        state = self.prepare(u0, v0=v0, until=last, low_modes=low_modes, check=check, **options)
        points = _product(axes)
        shape = tuple(len(axis) for axis in axes)
        frames = []
        for t in moments:
            state.check(float(t), points, check)
            frames.append(_finite(state.value(float(t), points), self, float(t)))
        u = torch.stack([f.reshape(len(f), *shape) for f in frames], dim=1)
        bound = self.certify(u0, moments, v0=v0, **options) if certificate else None
        return self.dataset(u, moments, axes, state, bound)

    def certify(
        self,
        u0: Field | Sequence[Field],
        times: Sequence[float] | np.ndarray | float,
        *,
        v0: Field | Sequence[Field] | None = None,
        n_modes: int | None = None,
        period: float | None = None,
        window: Window = "sharp",
        **accuracy: Any,
    ) -> Certificate:
        """Bound of the error at several times, without a reference; see `certificate.certify`."""
        from sciml.propagators.certificate import certify

        moments = check_times(np.atleast_1d(np.asarray(times, dtype=float)))
        self.check_time(moments[-1])
        options = {"n_modes": n_modes, "period": period, "window": window}
        state = self.prepare(u0, v0=v0, until=float(moments[-1]), **options)
        return certify(self, state, moments, **accuracy)

    def choose_window(self, u0: Field, tolerance: float, largest: int = 2**20) -> int:
        """Smallest ``n_modes`` whose relative tail is at most a tolerance.

        Parameters
        ----------
        u0 : field
            With a closed form, or samples.
        tolerance : float
            Wanted relative tail, in (0, 1).
        largest : int
            Where the search ends.

        Returns
        -------
        int
        """
        if not 0.0 < tolerance < 1.0:
            raise ValueError(f"tolerance is {tolerance}: wanted a number in (0, 1)")

        def tail(n_modes: int) -> float:
            state = self.prepare(u0, n_modes=n_modes)
            return float((state.spectrum.tail / state.spectrum.norm).max())

        high = 1
        while tail(high) > tolerance:
            high *= 2
            if high > largest:
                raise ValueError(f"tolerance is {tolerance}: not reached with {largest} modes")
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if tail(middle) <= tolerance else (middle, high)
        return high

    def canonical_relation(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> dict[str, torch.Tensor]:
        """Where a wave packet is taken: ``(foot, xi)`` to ``(x, grad phi)``, in one dimension.

        Returns
        -------
        dict
            ``"position"``, ``"momentum"`` (gradient of the phase in x), ``"foot"`` (derivative in
            xi), and ``"stretch"``, the mixed derivative, which must not vanish.
        """
        if self.symbols.dimension != 1:
            raise NotImplementedError("canonical_relation is given in one dimension")
        axis = self.symbols.equation.coordinates[0]
        t, x, xi = torch.broadcast_tensors(t, x, xi)

        def momentum(x, xi):
            return self.phase_jet(t, x, xi, branch, (f"phi_{axis}",))[f"phi_{axis}"]

        one = torch.ones_like(xi)
        moved: Any = torch.func.jvp(lambda xi: momentum(x, xi), (xi.clone(),), (one,))
        p, stretch = moved
        foot = torch.func.jvp(lambda xi: self.phase(t, x, xi, branch), (xi.clone(),), (one,))[1]
        return {"position": x, "momentum": p, "foot": foot, "stretch": stretch}

    def prepare(self, u0: Field | Sequence[Field], **options: Any) -> InitialState:
        """Coefficients of initial fields on every branch, ready to be moved."""
        return prepare(self, u0, **options)

    def check_time(self, t: float) -> None:
        """Refuse times outside [0, final_time]."""
        if not (math.isfinite(t) and 0.0 <= t <= self.final_time * (1.0 + 1e-12)):
            raise ValueError(
                f"t is {t:.6g}: the generator holds for times in [0, {self.final_time:.6g}]. For "
                f"longer times use propagate(..., max_step={self.final_time:.6g}), which composes"
            )

    def output_axes(self, u0: Any = None, n_modes: int | None = None) -> list[torch.Tensor]:
        """Coordinates of the output: the grid of samples, else a uniform one."""
        one = len(self.domain) == 1
        points = [max(512 if one else 64, (8 if one else 4) * (n_modes or self.n_modes))]
        points = points * len(self.domain)
        if isinstance(u0, torch.Tensor):
            points = list(u0.shape[2:])
        elif isinstance(u0, np.ndarray):
            points = list(u0.shape)
        elif isinstance(u0, xr.DataArray):
            points = [u0.sizes[c] for c in self.symbols.equation.coordinates]
        if len(points) != len(self.domain):
            given = tuple(getattr(u0, "shape", ()))
            axes = ", ".join(self.symbols.equation.coordinates)
            raise ValueError(
                f"u0 has the shape {given}: wanted samples along {axes}, as an array with "
                f"{len(self.domain)} axes or a tensor (batch, 1, {axes})"
            )
        return [
            torch.as_tensor(np.linspace(a, b, n, endpoint=not self.periodic))
            for (a, b), n in zip(self.domain, points, strict=True)
        ]

    def dataset(self, u, times, axes, state: InitialState, bound: Any = None) -> xr.Dataset:
        """Fields ``(sample, time, *grid)`` with coordinates and what is known of their error."""
        equation = self.symbols.equation
        names = equation.coordinates
        spectrum = state.spectrum
        attributes: dict[str, Any] = {
            "equation": str(equation),
            "propagator": type(self).__name__,
            "n_modes": spectrum.n_modes,
            "floor": (spectrum.tail / spectrum.norm).numpy(),
            "floor_note": spectrum.note,
        }
        coordinates = {"time": times} | {n: a.numpy() for n, a in zip(names, axes, strict=True)}
        field = equation.fields[0] if self.symbols.time_order == 1 else _first_field(equation)
        variables: dict[str, Any] = {field: (("sample", "time", *names), u.detach().cpu().numpy())}
        if bound is not None:
            variables["certificate"] = certificate_variable(bound)
        return xr.Dataset(variables, coords=coordinates, attrs=attributes)

    def _check_speed(self) -> None:
        axes = [
            np.linspace(a, b, _DENSEST if len(self.domain) == 1 else 64) for a, b in self.domain
        ]
        points = _product([torch.as_tensor(a) for a in axes])
        names = self.symbols.equation.coordinates
        parts = [points] if len(names) == 1 else list(points.unbind(-1))
        jets = {
            f"phi_{n}": torch.full_like(p, 1.0 if i == 0 else 0.0)
            for i, (n, p) in enumerate(zip(names, parts, strict=True))
        }
        values = dict(zip(names, parts, strict=True)) | {"t": torch.zeros_like(parts[0])}
        speed = self.symbols.compile("hamiltonian")(jets, values)["hamiltonian"].expand(len(points))
        bad = ~(speed > 1e-9)
        if bool(bad.any()):
            where = points[int(torch.nonzero(bad)[0])]
            raise ValueError(
                f"equation {self.symbols.equation.name!r}: the wave speed is "
                f"{float(speed[bad][0]):.4g} at {', '.join(names)} = {where.tolist()}. Formulas "
                "divide by it: wanted a positive speed, as in v_t = (1 + 0.3*sin(x))^2*u_xx"
            )


def certificate_variable(bound: Certificate) -> tuple[tuple[str, str], np.ndarray, dict[str, str]]:
    """Bound of the relative error as a variable ``(sample, time)`` of a dataset."""
    about = {
        "long_name": "bound of the relative error, computed without a reference",
        "units": "1",
        "note": bound.quadrature_note,
    }
    return ("sample", "time"), np.asarray(bound.relative.T), about


def _first_field(equation: Any) -> str:
    """Of ``u_t = v, v_t = ...`` the field that is not a velocity."""
    for name in equation.fields:
        others = [n for n in equation.fields if n != name]
        if equation.terms()[name] == {others[0]: 1.0}:
            return name
    return equation.fields[0]


def _product(axes: Sequence[torch.Tensor]) -> torch.Tensor:
    if len(axes) == 1:
        return axes[0].to(torch.float64)
    grids = torch.meshgrid(*axes, indexing="ij")
    return torch.stack([g.reshape(-1) for g in grids], dim=-1).to(torch.float64)


def _finite(values: torch.Tensor, owner: Any, t: float) -> torch.Tensor:
    real = torch.view_as_real(values) if values.is_complex() else values
    if not bool(torch.isfinite(real).all()):
        raise ValueError(
            f"t is {t:.6g}: rays of {type(owner).__name__} cross before it (a caustic), so that "
            "no single phase describes the field. Use propagate(..., max_step=...) with a step "
            "that ends before the first caustic"
        )
    return values
