"""The compiled, the spectral, the numpy and the torch form of every equation agree."""

from __future__ import annotations

import importlib
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
import pytest

import pdes
from pdes.solvers import PseudoSpectral
from pdes.time import INTEGRATORS

# Coarse grids on purpose: what is compared are the forms, not the fields.
pytestmark = pytest.mark.filterwarnings("ignore::pdes.solvers.errors.ResolutionWarning")

EVOLVING = [name for name in pdes.available() if isinstance(pdes.get(name), pdes.Problem)]
COARSE: dict[str, Any] = {"stored_points": None, "discard": 0.0, "largest_spacing": None}
# Flows have constraints that no product of jets expresses: their own tests compare their forms.
FLOWS = set(pdes.available("flow"))
NAMES = [
    name
    for name in EVOLVING
    if pdes.get(name).solver in INTEGRATORS
    and name not in FLOWS
    # The box of these tests has not the period of coefficients that depend on place.
    and not pdes.get(name).equation.compile().explicit
]


def _smooth(name: str, samples: int | None = None) -> tuple[pdes.Problem, pdes.Grid, dict]:
    """A problem on a coarse grid with a field in its lowest modes, so that no product is cut."""
    problem = pdes.get(name)
    points = 32
    grid = pdes.Grid.periodic(**{a.name: (0.0, 5.0, points) for a in problem.grid.axes})
    rng = np.random.default_rng(7)
    family = pdes.initial.RandomFourier(
        modes=2, amplitude=0.4, mean=0.6, fields=tuple(problem.equation.fields)
    )
    draws = [family(grid, rng) for _ in range(samples or 1)]
    fields = {n: np.stack([d[n] for d in draws]) for n in draws[0]}
    if problem.equation.complex_fields:
        fields = {n: _cut(v * np.exp(1j * v), modes=2) for n, v in fields.items()}
    return problem, grid, fields if samples else {n: v[0] for n, v in fields.items()}


def _cut(values: np.ndarray, modes: int) -> np.ndarray:
    spectrum = np.fft.fft(values)
    numbers = np.abs(np.fft.fftfreq(values.shape[-1], 1.0 / values.shape[-1]))
    return np.fft.ifft(spectrum * (numbers <= modes))


def _derivative(values: np.ndarray, grid: pdes.Grid, orders: tuple[int, ...]) -> np.ndarray:
    """Derivative by a full complex transform, written independently of the solver's."""
    spectrum = np.fft.fftn(values)
    for axis, (n, length, order) in enumerate(zip(grid.shape, grid.lengths, orders, strict=True)):
        k = 2.0 * np.pi * np.fft.fftfreq(n, length / n)
        shape = [-1 if i == axis else 1 for i in range(len(grid.shape))]
        spectrum = spectrum * ((1j * k) ** order).reshape(shape)
    found = np.fft.ifftn(spectrum)
    return found if np.iscomplexobj(values) else found.real


@pytest.mark.parametrize("name", NAMES)
def test_spectral_form_equals_compiled_form(name: str) -> None:
    problem, grid, fields = _smooth(name)
    equation = problem.equation
    jets = {}
    for jet in equation.jets:
        field, orders = equation.space.parse(pdes.equation.parameter(jet))
        jets[jet] = _derivative(fields[field], grid, orders)
    wanted = equation.compile()(jets)
    kernel = PseudoSpectral(equation, grid)
    state = kernel.forward(fields)
    found = kernel.backward(kernel.linear * state + kernel.nonlinear(state, 0.0))
    scale = max(float(np.max(np.abs(v))) for v in wanted.values())
    for field in equation.fields:
        assert np.max(np.abs(found[field] - wanted[field])) < 1e-11 * scale


@pytest.mark.parametrize("name", NAMES)
def test_torch_and_numpy_agree(name: str) -> None:
    torch = pytest.importorskip("torch")
    xp = importlib.import_module("array_api_compat.torch")
    problem, grid, fields = _smooth(name, samples=2)
    results = []
    for namespace, convert in ((xnp, np.asarray), (xp, torch.from_numpy)):
        kernel = PseudoSpectral(problem.equation, grid, xp=namespace)
        state = kernel.forward({n: convert(v) for n, v in fields.items()})
        rate = kernel.backward(kernel.linear * state + kernel.nonlinear(state, 0.0))
        results.append({n: np.asarray(v) for n, v in rate.items()})
    for field, values in results[0].items():
        scale = np.max(np.abs(values))
        assert np.max(np.abs(results[1][field] - values)) < 1e-12 * scale


@pytest.mark.parametrize("name", NAMES)
def test_trajectories_of_both_backends_and_precisions_agree(name: str) -> None:
    problem, grid, fields = _smooth(name)
    problem = pdes.get(name, grid=grid, **COARSE, time_step=0.002)
    times = [0.0, 0.02]
    double = pdes.simulate(problem, times, initial=fields)
    other = pdes.simulate(problem, times, initial=fields, backend="torch")
    single = pdes.simulate(problem, times, initial=fields, dtype="float32")
    for field in double.data_vars:
        scale = float(np.abs(double[field]).max())
        assert float(np.abs(other[field] - double[field]).max()) < 1e-12 * scale
        assert single[field].dtype in (np.float32, np.complex64)
        assert float(np.abs(single[field] - double[field]).max()) < 2e-5 * scale


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_equals_single_runs(name: str) -> None:
    problem, grid, fields = _smooth(name, samples=3)
    problem = pdes.get(name, grid=grid, **COARSE)
    times = [0.0, 0.02]
    batch = pdes.simulate(problem, times, initial=fields, time_step=0.002)
    assert batch.sizes["sample"] == 3
    for i in range(3):
        one = {n: v[i] for n, v in fields.items()}
        single = pdes.simulate(problem, times, initial=one, time_step=0.002)
        for field in single.data_vars:
            assert np.abs(single[field] - batch[field][i]).max() < 1e-13
