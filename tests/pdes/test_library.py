"""The benchmark as it was defined, ranges, linear growth and what each equation conserves."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pdes
from pdes.exact import growth_rates
from pdes.registry import entry_of

PI = np.pi

# Text, length, end of the run, number of times, steps per stored time, initial field.
BENCHMARK = {
    "heat": ("u_t = 0.1*u_xx", 2 * PI, 2, 201, 20, (6, 1, 0.0, 1.0)),
    "advection_diffusion": ("u_t = -u_x + 0.05*u_xx", 2 * PI, 3, 201, 20, (6, 2, 0.0, 1.0)),
    "burgers": ("u_t = -u*u_x + 0.1*u_xx", 2 * PI, 2, 201, 20, (4, 3, 0.0, 1.0)),
    "kdv": ("u_t = -6*u*u_x - u_xxx", 40.0, 8, 201, 200, None),
    "kuramoto_sivashinsky": ("u_t = -u*u_x - u_xx - u_xxxx", 32 * PI, 100, 251, 20, None),
    "fisher_kpp": ("u_t = u - u^2 + 0.1*u_xx", 4 * PI, 5, 201, 20, (5, 5, 0.45, 0.18)),
    "allen_cahn": ("u_t = u - u^3 + 0.05*u_xx", 4 * PI, 4, 201, 20, (6, 6, 0.0, 0.6)),
    "kdv_burgers": (
        "u_t = -u*u_x + 0.1*u_xx - 0.05*u_xxx",
        2 * PI,
        2,
        201,
        100,
        (3, 7, 0.0, 1.0),
    ),
}


def _random_field(length: float, modes: int, seed: int, x: np.ndarray) -> np.ndarray:
    """The definition, written out."""
    rng = np.random.default_rng(seed)
    total = np.zeros_like(x)
    for k in range(1, modes + 1):
        a, b = rng.normal(size=2)
        total += a * np.cos(2 * PI * k * x / length) + b * np.sin(2 * PI * k * x / length)
    return total / total.std()


@pytest.mark.parametrize("name", BENCHMARK)
def test_benchmark_is_as_defined(name: str) -> None:
    text, length, stop, count, substeps, random = BENCHMARK[name]
    problem = pdes.get(name)
    assert str(problem.equation) == text
    assert problem.grid.lengths == (length,)
    assert problem.grid.shape == (512,)
    assert problem.stored_points == 256
    np.testing.assert_allclose(problem.times, np.linspace(0, stop, count))
    assert problem.time_step == pytest.approx(stop / (count - 1) / substeps)
    assert problem.discard == (40.0 if name == "kuramoto_sivashinsky" else 0.0)
    data = pdes.simulate(pdes.get(name, discard=0.0), [0.0, problem.times[1]])
    assert json.loads(data.attrs["solver"])["dealias"] == {
        "heat": [256],
        "advection_diffusion": [256],
        "allen_cahn": [127],
    }.get(name, [170])
    linear = name in ("heat", "advection_diffusion")
    assert json.loads(data.attrs["solver"])["steps"] == (1 if linear else substeps)
    x = length * np.arange(512) / 512
    if random is not None:
        modes, seed, mean, amplitude = random
        wanted = mean + amplitude * _random_field(length, modes, seed, x)
    elif name == "kdv":
        wanted = 2 / np.cosh(x - 10) ** 2 + 0.6 / np.cosh(0.55 * (x - 22)) ** 2
    else:
        wanted = np.cos(x / 16) * (1 + np.sin(x / 16))
    assert np.max(np.abs(data.u.values[0] - wanted[::2])) < 1e-8


def test_every_problem_simulates_without_complaint() -> None:
    """The first two stored times of everything, with its own grid and step."""
    evolving = [name for name in pdes.available() if isinstance(pdes.get(name), pdes.Problem)]
    for name in evolving:
        problem = pdes.get(name, **({} if pdes.get(name).solver == "exact" else {"discard": 0.0}))
        data = pdes.simulate(problem, problem.times[:2])
        assert data.attrs["status"] == "ok", name
        for field in data.data_vars:
            assert np.all(np.isfinite(data[field])), name


@pytest.mark.parametrize("name", pdes.available())
def test_parameters_out_of_range_are_refused(name: str) -> None:
    for parameter in entry_of(name).parameters:
        for value in (1e9, float("nan")):
            with pytest.raises(ValueError, match=parameter):
                pdes.get(name, **{parameter: value})


GROWING = {
    "kuramoto_sivashinsky": ({"u": 0.0}, 2.0 * PI / 9.0, 9.0),
    "potential_kuramoto_sivashinsky": ({"u": 0.0}, 2.0 * PI / 9.0, 9.0),
    "swift_hohenberg": ({"u": 0.0}, 1.0, 2 * PI),
    "cahn_hilliard": ({"u": 0.2}, 3.0, 2 * PI),
    "allen_cahn": ({"u": 0.0}, 2.0, 2 * PI),
    "fisher_kpp": ({"u": 1.0}, 1.0, 2 * PI),
    "nagumo": ({"u": 0.3}, 2.0, 2 * PI),
    "keller_segel": ({"u": 1.0, "v": 1.0}, 0.5, 4 * PI),
    "kdv_burgers": ({"u": 0.7}, 2.0, 2 * PI),
    "nonlinear_diffusion_2d": ({"u": 1.0}, (1.0, 2.0), 2 * PI),
    "lambda_omega": ({"u": 0.0, "v": 0.0}, (1.0, 1.0), 2 * PI),
}


@pytest.mark.parametrize("name", GROWING)
def test_small_disturbances_grow_at_the_predicted_rate(name: str) -> None:
    """Evolve an eigenvector of tiny amplitude and compare with its eigenvalue."""
    state, wave, length = GROWING[name]
    problem = pdes.get(name)
    axes = problem.grid.names
    grid = pdes.Grid.periodic(**dict.fromkeys(axes, (0.0, length, 32)))
    waves = (wave,) if isinstance(wave, float) else wave
    phase = sum(k * x for k, x in zip(waves, grid.mesh().values(), strict=True))
    shape, tiny, time = np.exp(1j * phase), 1e-6, 0.4
    fields = problem.equation.fields
    vectors = _eigenvectors(name, state, wave)
    for rate, vector in vectors:
        initial = {
            f: state[f] + tiny * np.real(vector[i] * shape) + 0.0 * phase
            for i, f in enumerate(fields)
        }
        run = pdes.simulate(
            pdes.get(name, grid=grid, stored_points=None, discard=0.0, initial=initial),
            [time],
            time_step=0.01,
        )
        drift = _uniform_drift(name, state, time)
        for i, f in enumerate(fields):
            wanted = tiny * np.real(vector[i] * np.exp(rate * time) * shape)
            assert np.max(np.abs(run[f].values[0] - drift[f] - wanted)) < 3e-11 + 2e-5 * tiny


def _eigenvectors(name: str, state: dict, wave) -> list[tuple[complex, np.ndarray]]:
    """Eigenvalues from the library, vectors from differences of the compiled right-hand side."""
    equation = pdes.get(name).equation
    compiled = equation.compile()
    waves = (wave,) if isinstance(wave, float) else wave
    base = {}
    parsed = {j: equation.space.parse(pdes.equation.parameter(j)) for j in equation.jets}
    for jet, (field, orders) in parsed.items():
        base[jet] = np.array(state[field] if not any(orders) else 0.0)
    matrix = np.zeros((len(equation.fields),) * 2, dtype=complex)
    for j, (field, orders) in parsed.items():
        shift = 1e-6
        up, down = ({**base, j: base[j] + s * shift} for s in (1.0, -1.0))
        factor = np.prod([(1j * k) ** o for k, o in zip(waves, orders, strict=True)])
        for row, target in enumerate(equation.fields):
            slope = (compiled(up)[target] - compiled(down)[target]) / (2 * shift)
            matrix[row, equation.fields.index(field)] += slope * factor
    values, vectors = np.linalg.eig(matrix)
    order = np.argsort(-values.real)
    predicted = growth_rates(equation, state, wave)
    np.testing.assert_allclose(np.sort(predicted.real), np.sort(values.real), atol=1e-6)
    return [(predicted[np.argmin(np.abs(predicted - values[i]))], vectors[:, i]) for i in order]


def _uniform_drift(name: str, state: dict, time: float) -> dict[str, float]:
    """None of the states moves by itself."""
    return dict(state)


# Invariants


def _full(name: str, stop: float, count: int = 6) -> tuple[dict, float, np.ndarray]:
    """Run at full resolution; fields, cell size and wave numbers."""
    problem = pdes.get(name, stored_points=None, discard=0.0)
    data = pdes.simulate(problem, np.linspace(0.0, stop, count))
    fields = {n: data[n].values for n in data.data_vars}
    n, length = problem.grid.shape[0], problem.grid.lengths[0]
    return fields, length / n, 2 * PI * np.fft.fftfreq(n, length / n)


def _slope(u: np.ndarray, k: np.ndarray) -> np.ndarray:
    found = np.fft.ifft(1j * k * np.fft.fft(u))
    return found if np.iscomplexobj(u) else found.real


def test_kdv_keeps_mass_momentum_and_energy() -> None:
    fields, h, k = _full("kdv", 2.0)
    u = fields["u"]
    energy = u**3 - _slope(u, k) ** 2 / 2
    for density, limit in ((u, 1e-12), (u**2, 1e-10), (energy, 1e-9)):
        total = h * density.sum(axis=-1)
        assert np.max(np.abs(total / total[0] - 1.0)) < limit


def test_nls_keeps_mass_and_hamiltonian() -> None:
    fields, h, k = _full("nls", 0.7)
    u = fields["h"]
    hamiltonian = np.abs(_slope(u, k)) ** 2 / 2 - np.abs(u) ** 4 / 2
    for density, limit in ((np.abs(u) ** 2, 1e-9), (hamiltonian, 1e-7)):
        total = h * density.sum(axis=-1)
        assert np.max(np.abs(total - total[0])) < limit * h * np.abs(density[0]).sum()


@pytest.mark.parametrize(
    "name", ["burgers", "kuramoto_sivashinsky", "cahn_hilliard", "mkdv", "gardner", "kdv_burgers"]
)
def test_conservation_laws_keep_the_mean(name: str) -> None:
    fields, _, _ = _full(name, 0.5)
    means = fields["u"].mean(axis=-1)
    assert np.max(np.abs(means - means[0])) < 1e-13


def test_keller_segel_keeps_its_cells() -> None:
    fields, _, _ = _full("keller_segel", 1.0)
    means = fields["u"].mean(axis=-1)
    assert np.max(np.abs(means - means[0])) < 1e-13
    assert fields["u"].min() > 0.0


def test_phase_separation_lowers_the_energy() -> None:
    for name, coefficient in (("allen_cahn", 0.05), ("cahn_hilliard", 0.05)):
        fields, h, k = _full(name, 1.0, 21)
        u = fields["u"]
        energy = h * (coefficient * _slope(u, k) ** 2 / 2 + (1 - u**2) ** 2 / 4).sum(axis=-1)
        assert np.all(np.diff(energy) < 0.0), name


def test_allen_cahn_stays_between_the_phases() -> None:
    field = pdes.initial.RandomFourier(modes=4, amplitude=0.3)
    data = pdes.simulate(pdes.get("allen_cahn", initial=field), [0.0, 2.0, 4.0])
    assert float(np.abs(data.u[0]).max()) < 1.0
    assert float(np.abs(data.u).max()) <= 1.0


def test_kuramoto_sivashinsky_balances_its_energy() -> None:
    """d/dt of half the square is the gain from u_x^2 minus the loss to u_xx^2."""
    fields, _, k = _full("kuramoto_sivashinsky", 0.02, 3)
    u = fields["u"]
    energy = 0.5 * (u**2).mean(axis=-1)
    rate = (energy[2] - energy[0]) / 0.02
    slope = _slope(u[1], k)
    gain = (slope**2 - _slope(slope, k) ** 2).mean()
    assert rate == pytest.approx(gain, rel=1e-5)


def test_short_circles_are_quiet() -> None:
    """Below a length of 2 pi every mode of the Kuramoto-Sivashinsky equation decays."""
    grid = pdes.Grid.periodic(x=(0.0, 5.0, 64))
    field = pdes.initial.RandomFourier(modes=3)
    problem = pdes.get("ks", grid=grid, stored_points=None, discard=0.0, initial=field)
    data = pdes.simulate(problem, [0.0, 40.0])
    assert float(np.abs(data.u[1]).max()) < 1e-6


def test_galilean_boost_of_burgers() -> None:
    """u(x - c t) + c solves the equation when u does."""
    problem = pdes.get("burgers", stored_points=None)
    rest = pdes.simulate(problem, [0.5])
    start = problem.initial(problem.grid, np.random.default_rng(3))["u"]
    step = problem.grid.spacings[0]
    boost = 32 * step / 0.5
    moved = pdes.simulate(problem, [0.5], initial={"u": start + boost})
    assert np.max(np.abs(np.roll(rest.u.values[0], 32) + boost - moved.u.values[0])) < 1e-9
