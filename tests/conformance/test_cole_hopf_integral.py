"""The Cole-Hopf integral against closed forms, a spectral run, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import pdes
from pdes.exact import burgers_from

TIMES = [0.0, 0.3, 1.0]


@pytest.mark.parametrize("viscosity", [0.05, 0.2])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("key", ["cole_hopf", "shock"])
def test_closed_forms_are_reproduced(key: str, given: bool, viscosity: float) -> None:
    solution = pdes.get("burgers", viscosity=viscosity).exact[key]
    grid = pdes.Grid.periodic(x=(0.0, 2.0 * np.pi, 40))
    if key == "cole_hopf":

        def field(y: np.ndarray) -> np.ndarray:
            return 2.0 * viscosity * np.sin(y) / (1.05 + np.cos(y))

        def total(y: np.ndarray) -> np.ndarray:
            return -2.0 * viscosity * np.log(1.05 + np.cos(y))

    else:

        def field(y: np.ndarray) -> np.ndarray:
            return 0.5 - 0.5 * np.tanh(y / (4.0 * viscosity))

        def total(y: np.ndarray) -> np.ndarray:
            # log cosh z = |z| + log(1 + exp(-2|z|)) - log 2, without overflow
            z = np.abs(y / (4.0 * viscosity))
            return 0.5 * y - 2.0 * viscosity * (z + np.log1p(np.exp(-2.0 * z)))

    x = grid.coordinates()["x"]
    found = burgers_from(
        field, x, TIMES, viscosity=viscosity, antiderivative=total if given else None
    )
    assert np.abs(found - solution.evaluate(grid, TIMES)["u"]).max() < 1e-10


def test_spectral_run_agrees() -> None:
    """A field without closed form: two sines."""

    def field(y: np.ndarray) -> np.ndarray:
        return np.sin(y) + 0.5 * np.cos(2.0 * y + 0.3)

    grid = pdes.Grid.periodic(x=(0.0, 2.0 * np.pi, 512))
    x = grid.coordinates()["x"]
    problem = pdes.get(
        "burgers", grid=grid, stored_points=None, initial=lambda grid, rng: {"u": field(x)}
    )
    run = pdes.simulate(problem, TIMES, time_step=0.002)
    assert np.abs(run.u.values - burgers_from(field, x, TIMES, viscosity=0.1)).max() < 1e-9


def test_small_viscosity_is_no_overflow() -> None:
    """Exponents of a thousand and more: what stays is the characteristic through each place."""
    found = burgers_from(np.sin, [0.3, 1.0], [0.02], viscosity=1e-4)[0]
    y = np.array([0.3, 1.0])
    for _ in range(50):
        y = np.array([0.3, 1.0]) - 0.02 * np.sin(y)
    assert np.abs(found - np.sin(y)).max() < 1e-4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"viscosity": 0.0}, "viscosity=0.0 must be positive"),
        ({"viscosity": float("nan")}, "viscosity=nan must be positive"),
        ({"times": [-1.0]}, "times=-1"),
        ({"times": [float("inf")]}, "times holds numbers that are not finite"),
        ({"x": [[0.0]]}, "x has shape"),
        ({"x": ["a"]}, "x has shape"),
        ({"nodes": 99}, r"nodes=99, wanted a whole number in \[100, 2000\]"),
        ({"nodes": 150.5}, "nodes=150.5"),
        ({"tolerance": -1.0}, "tolerance=-1.0"),
        ({"field": lambda y: 1.0}, "field returned"),
        ({"field": np.sqrt, "x": [-1.0]}, "field returned"),
        ({"antiderivative": lambda y: 1j * y}, "antiderivative returned complex"),
        ({"viscosity": 1e-4, "times": [2.0]}, "nodes=200 do not resolve"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_bad_input_is_named(options: dict, message: str) -> None:
    given = {"field": np.sin, "x": [0.0, 1.0], "times": [0.5], "viscosity": 0.1} | options
    with pytest.raises(ValueError, match=message):
        burgers_from(**given)
