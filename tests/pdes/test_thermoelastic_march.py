"""Coupled thermoelasticity in time: the law of energy, the known rate, the orders, the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import pdes
from pdes.boundary import Neumann
from pdes.exact.thermoelastic_mode import warming_rate
from pdes.solvers.thermoelastic_march import ORDER, march_thermoelastic

BODY = {"heat_capacity": 0.5, "reference_temperature": 2.0}
WARMED = pdes.get("thermoelastic_mode", expansion=0.5)
LEFT = pdes.get("thermoelastic_mode", expansion=0.5, temperature=0.0)
RATE = warming_rate(0.5, 1.0, 0.3, **BODY)
END = 0.1


def _mode(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.sin(np.pi * x) * np.sin(np.pi * y)


def _gap(data: xr.Dataset) -> np.ndarray:
    """What the law of energy misses in each step, relative to the largest energy."""
    missed = np.diff(data.energy) + (data.dissipation - data.supply).values[1:]
    return missed / float(data.energy.max())


def _error(data: xr.Dataset, factor: float, field: str) -> float:
    exact = WARMED.exact["mode"].evaluate(x=data.x.values, y=data.y.values)[field]
    return float(np.sqrt(np.mean((data[field].values - factor * exact) ** 2)))


def test_stretching_slows_warming() -> None:
    """``lambda + 2 mu = 35/26``, ``m = 5/4``: capacity ``1/2 + 2 (25/16) (26/35)``."""
    assert pytest.approx(2 * np.pi**2 / (0.5 + 2 * 25 / 16 * 26 / 35), rel=1e-14) == RATE


def test_the_rate_solves_the_equation_of_heat() -> None:
    """``rate (c T + T0 m div u) = 2 pi^2 T`` for the mode, in its own closed form."""
    exact = WARMED.exact["mode"]
    place = {"x": np.array([0.2, 0.45, 0.7]), "y": np.array([0.3, 0.6, 0.15])}
    heat, slopes, coupling = exact.evaluate(**place)["T"], exact.gradient(**place), 5.0 / 4.0
    spread = slopes["u"][0] + slopes["v"][1]
    taken = RATE * (0.5 * heat + 2.0 * coupling * spread)
    np.testing.assert_allclose(taken, 2.0 * np.pi**2 * heat, rtol=1e-13)


@pytest.mark.parametrize("step", [1e-3, 0.02, 0.1])
def test_left_alone_energy_falls_by_what_conduction_takes(step: float) -> None:
    data = march_thermoelastic(
        LEFT, resolution=4, time_step=step, end=END, initial=lambda x, y: x**2 * y, **BODY
    )
    assert np.abs(_gap(data)).max() < 1e-14
    assert float(abs(data.supply).max()) == 0.0
    assert np.all(np.diff(data.energy) < 0.0)


@pytest.mark.parametrize("cell_type", ["triangle", "quad"])
def test_energy_on_a_heated_cylinder_balances_and_comes_to_rest(cell_type: str) -> None:
    problem = pdes.get("thermoelastic_cylinder", expansion=0.5, cell_type=cell_type)
    data = march_thermoelastic(problem, resolution=3, time_step=0.02, end=12.0, **BODY)
    assert np.abs(_gap(data)).max() < 1e-13
    # At rest the hot side feeds what conduction takes.
    assert float(data.supply[-1]) == pytest.approx(float(data.dissipation[-1]), rel=1e-6)
    steady = pdes.solve(problem, resolution=3)
    for field in "Tuv":
        assert float(abs(data[field] - steady[field]).max()) < 1e-6


def test_pushed_sides_do_work() -> None:
    problem = pdes.get("thermoelastic_cylinder", expansion=0.5)
    outer = {**problem.boundary["outer"], "u": Neumann(-0.2), "T": Neumann(0.3)}
    pushed = replace(problem, boundary={**problem.boundary, "outer": outer}, exact_name=None)
    data = march_thermoelastic(pushed, resolution=3, time_step=0.02, end=0.4, **BODY)
    assert np.abs(_gap(data)).max() < 1e-13


def test_order_in_time() -> None:
    """Against tiny steps on one mesh: space drops out. Its fastest modes need short steps."""

    def end(steps: int) -> np.ndarray:
        data = march_thermoelastic(
            LEFT, resolution=4, time_step=END / steps, end=END, initial=_mode, **BODY
        )
        return np.concatenate([data[n].values for n in "Tuv"])

    reference = end(2048)
    errors = [np.abs(end(n) - reference).max() for n in (32, 64, 128)]
    orders = -np.diff(np.log2(errors))
    assert abs(orders[-1] - ORDER) < 0.05, (orders, errors)


@pytest.mark.parametrize(("degree", "power"), [(1, 1.0), (2, 1.5)])
def test_order_against_the_closed_form(degree: int, power: float) -> None:
    """Steps like ``h`` or ``h^1.5``, so that time and space have the same order."""
    factor = 1.0 - np.exp(-RATE * END)
    errors: dict[str, list[float]] = {"T": [], "u": []}
    for n in (4, 8, 16):
        step = END / round(8 * (n / 4) ** power)
        data = march_thermoelastic(
            WARMED, resolution=n, time_step=step, end=END, degree=degree, **BODY
        )
        for field, found in errors.items():
            found.append(_error(data, factor, field))
    for found in errors.values():
        assert np.log2(found[1] / found[2]) > degree + 1 - 0.15, errors


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="wanted 0 < time_step <= end"):
        march_thermoelastic(LEFT, resolution=2, time_step=0.0, end=1.0)
    with pytest.raises(ValueError, match=r"reference_temperature=0\.0: wanted both positive"):
        march_thermoelastic(LEFT, resolution=2, time_step=0.1, end=1.0, reference_temperature=0.0)
    with pytest.raises(ValueError, match=r"wanted \('T', 'u', 'v'\)"):
        march_thermoelastic(pdes.get("lame_cylinder"), resolution=2, time_step=0.1, end=1.0)
