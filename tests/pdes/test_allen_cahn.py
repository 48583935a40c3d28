"""Allen-Cahn: grids that are refused, a disc that shrinks, and a published reference."""

from __future__ import annotations

import numpy as np
import pytest

import pdes
from pdes.invariant import drift
from pdes.library.allen_cahn import allen_cahn_equation, interface_width
from pdes.library.allen_cahn_2d import circle_radius, crossing

from ..conftest import public_data


@pytest.mark.parametrize(
    ("name", "parameters", "width", "length"),
    [
        ("allen_cahn", {"diffusivity": 0.01}, 0.1, 4.0 * np.pi),
        ("allen_cahn_cosine", {}, np.sqrt(2e-5), 2.0),
        ("allen_cahn_2d", {"width": 0.1}, 0.1, 2.0),
    ],
)
def test_spacings_above_the_width_of_an_interface_are_refused(
    name: str, parameters: dict[str, float], width: float, length: float
) -> None:
    problem = pdes.get(name, **parameters)
    assert problem.largest_spacing == pytest.approx(width)
    enough = int(np.ceil(length / width)) // 2 * 2 + 2
    coarse = {a.name: (a.start, a.stop, enough - 4) for a in problem.grid.axes}
    fine = {a.name: (a.start, a.stop, enough) for a in problem.grid.axes}
    with pytest.raises(ValueError, match=r"axis 'x' .* has spacing .* use at least \d+ points"):
        pdes.simulate(
            pdes.get(name, **parameters, grid=pdes.Grid.periodic(**coarse), stored_points=None)
        )
    made = pdes.get(name, **parameters, grid=pdes.Grid.periodic(**fine), stored_points=None)
    data = pdes.simulate(made, problem.times[:1], strict=False, initial=_zero)
    assert data.attrs["status"] == "ok"


def _zero(grid: pdes.Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"u": np.zeros(grid.shape)}


def test_a_limit_on_spacings_is_a_length() -> None:
    for value in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="largest_spacing"):
            pdes.get("heat", largest_spacing=value)
    assert interface_width(allen_cahn_equation(0.5, 2.0)) == 0.5


def test_disc_shrinks_by_its_curvature() -> None:
    """R^2 falls by 2 e^2 t, up to e^2 times a number; the energy falls, the bounds hold."""
    errors, widths = [], (0.08, 0.056)
    for width, points in zip(widths, (64, 96), strict=True):
        grid = pdes.Grid.periodic(x=(-1.0, 1.0, points), y=(-1.0, 1.0, points))
        problem = pdes.get("allen_cahn_2d", width=width, grid=grid)
        times = np.linspace(0.0, 0.1, 5) / width**2
        with pytest.warns(pdes.solvers.errors.ResolutionWarning):
            data = pdes.simulate(problem, times)
        found = np.array([crossing(grid, u) for u in data.u.values])
        assert np.all(np.diff(found) < 0.0)
        # The law itself is a change of 0.2, forty times the correction.
        errors.append(abs(found**2 - circle_radius(times, 0.6, width) ** 2).max())
        assert 0.3 * width**2 < errors[-1] < 0.8 * width**2
        (energy,) = problem.invariants
        assert drift(energy, problem, data) == 0.0
        assert float(abs(data.u).max()) < 1.0 + 1e-3
    order = np.log(errors[0] / errors[1]) / np.log(widths[0] / widths[1])
    assert 1.85 < order < 2.3


def test_a_vanished_disc_has_no_radius() -> None:
    with pytest.raises(ValueError, match="vanished at 50"):
        circle_radius(np.array([49.0, 50.0]), 0.5, 0.05)
    grid = pdes.Grid.periodic(x=(-1.0, 1.0, 16), y=(-1.0, 1.0, 16))
    assert np.isnan(crossing(grid, -np.ones(grid.shape)))


def test_thin_interfaces_against_the_published_reference() -> None:
    with np.load(public_data("pinn") / "computed_allen_cahn.npz") as stored:
        wanted, times, x = stored["u"], stored["t"], stored["x"]
    problem = pdes.get("allen_cahn_cosine")
    data = pdes.simulate(problem, times)
    np.testing.assert_allclose(data.x, x, rtol=0.0, atol=1e-14)
    late = times >= 0.05
    error = np.linalg.norm(data.u.values - wanted) / np.linalg.norm(wanted)
    smooth = np.linalg.norm((data.u.values - wanted)[late]) / np.linalg.norm(wanted[late])
    # At first the kink where the period closes is cut off at a finite mode.
    assert error < 3e-6
    assert smooth < 2e-7
    (energy,) = problem.invariants
    assert drift(energy, problem, data) < 1e-13
