"""Small recordings with known equations, and the pieces of the weak form on them."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import pdes
from sciml.discovery.recording import Recording, as_recordings


@pytest.fixture(scope="session")
def noisy():
    """Function that adds white noise of ``level`` times the field's standard deviation."""

    def add(field: xr.DataArray, level: float, seed: int = 0) -> xr.DataArray:
        noise = np.random.default_rng(seed).normal(size=field.shape)
        return field.copy(data=field.values + level * float(field.std()) * noise)

    return add


@pytest.fixture(scope="session")
def heat_modes():
    """Function that sums decaying waves: an exact solution of ``u_t = diffusivity u_xx``."""

    def make(points=64, times=80, modes=(1, 2, 3), diffusivity=0.1) -> xr.DataArray:
        x = np.linspace(0, 2 * np.pi, points, endpoint=False)
        t = np.linspace(0, 2, times)
        u = sum(
            np.exp(-diffusivity * k**2 * t)[:, None] * np.cos(k * x + k) / (1 + 0.3 * k)
            for k in modes
        )
        axis = xr.DataArray(x, dims="x", attrs={"periodic": 1})
        return xr.DataArray(u, dims=("time", "x"), coords={"time": t, "x": axis}, name="u")

    return make


@pytest.fixture(scope="session")
def heat(heat_modes) -> xr.DataArray:
    """Three waves of the heat equation."""
    return heat_modes()


@pytest.fixture(scope="session")
def burgers() -> xr.DataArray:
    """Burgers' equation with viscosity 0.1 on 128 points."""
    problem = pdes.get("burgers", stored_points=128, times=np.linspace(0, 2, 101))
    return pdes.simulate(problem).u


@pytest.fixture(scope="session")
def reaction() -> xr.DataArray:
    """The bistable reaction-diffusion equation ``u_t = 0.05 u_xx + u - u^3``."""
    problem = pdes.Problem(
        equation=pdes.Equation.from_text("u_t = 0.05*u_xx + u - u^3", name="reaction"),
        grid=pdes.Grid.periodic(x=(0.0, 4 * np.pi, 128)),
        initial=pdes.initial.RandomFourier(modes=6, amplitude=0.6),
        initial_seed=6,
        times=np.linspace(0, 4, 101),
    )
    return pdes.simulate(problem).u


@pytest.fixture(scope="session")
def recording_of():
    """Function that makes a recording of arrays whose axes are in the order of ``axes``."""

    def make(
        fields: dict[str, np.ndarray], axes: dict[str, np.ndarray], periodic: bool = True
    ) -> Recording:
        dims = tuple("time" if name == "t" else name for name in axes)
        coords = dict(zip(dims, axes.values(), strict=True))
        dataset = xr.Dataset({k: (dims, values) for k, values in fields.items()}, coords=coords)
        (run,) = as_recordings(dataset, periodic=periodic)
        return run

    return make
