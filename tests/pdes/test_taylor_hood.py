"""Steady flow past a cylinder against its benchmark; exactness; what is refused."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
import xarray as xr

import pdes
from pdes.boundary import Dirichlet, Neumann, NoSlip, Outflow
from pdes.cylinder_channel import CylinderChannel
from pdes.mesh import Rectangle
from pdes.solvers.convergence import ConvergenceError
from pdes.solvers.flow_equations import flow_residual
from pdes.symbols import coordinate

Y = coordinate("y")


@pytest.fixture(scope="module")
def cylinder() -> xr.Dataset:
    return pdes.solve(pdes.get("cylinder_flow"), resolution=15)


def _pressure_at(data: xr.Dataset, angle: float) -> float:
    """Pressure on the cylinder by a parabola through the nearest points around it."""
    x, y = data.x.values - 0.2, data.y.values - 0.2
    wall = np.flatnonzero(np.abs(np.hypot(x, y) - 0.05) < 1e-9)
    turn = np.angle(np.exp(1j * (np.arctan2(y[wall], x[wall]) - angle)))
    near = np.argsort(np.abs(turn))[:5]
    return float(np.polyfit(turn[near], data.p.values[wall][near], 2)[-1])


def test_cylinder_at_reynolds_20(cylinder: xr.Dataset) -> None:
    """Intervals within which the groups of Schaefer and Turek (1996) agreed."""
    force = np.array(json.loads(cylinder.attrs["solver"])["forces"]["cylinder"])
    drag, lift = force * 2.0 / (0.2**2 * 0.1)
    assert 5.57 < drag < 5.59
    assert 0.0104 < lift < 0.0110
    drop = _pressure_at(cylinder, np.pi) - _pressure_at(cylinder, 0.0)
    assert 0.1172 < drop < 0.1176


def test_what_flows_in_flows_out(cylinder: xr.Dataset) -> None:
    def through(level: float) -> float:
        line = cylinder.isel(point=np.flatnonzero(np.abs(cylinder.x.values - level) < 1e-12))
        order = np.argsort(line.y.values)
        y, u = line.y.values[order], line.u.values[order]
        return float(((y[2::2] - y[:-2:2]) / 6.0) @ (u[:-2:2] + 4.0 * u[1::2] + u[2::2]))

    assert through(0.0) == pytest.approx(0.2 * 0.41, rel=1e-12)
    assert through(2.2) == pytest.approx(0.2 * 0.41, rel=1e-9)


def _channel(**changes: Any) -> pdes.SteadyProblem:
    base = pdes.SteadyProblem(
        name="channel",
        residual=flow_residual(),
        parameters={"viscosity": 0.1},
        domain=Rectangle(x=(0.0, 2.0)),
        boundary={
            "x-": {"u": Dirichlet(4 * Y * (1 - Y)), "v": Dirichlet(), "p": Outflow()},
            "x+": Outflow(),
            "y-": NoSlip(),
            "y+": NoSlip(),
        },
        solver="taylor_hood",
    )
    return dataclasses.replace(base, **changes)


def test_poiseuille_flow_is_exact() -> None:
    data = pdes.solve(_channel(), resolution=3)
    np.testing.assert_allclose(data.u, 4 * data.y * (1 - data.y), atol=1e-12)
    np.testing.assert_allclose(data.v, 0.0 * data.y, atol=1e-12)
    # Pressure falls by 8 viscosity a length, to zero at the outlet.
    np.testing.assert_allclose(data.p, 0.8 * (2.0 - data.x), atol=1e-11)
    # Walls meet inlet and outlet in nodes that are both: no force is told.
    assert json.loads(data.attrs["solver"])["forces"] == {}


def test_forces_drive_a_flow() -> None:
    """The same parabola between walls, driven by a force instead of a pressure."""
    x_momentum, y_momentum, continuity = flow_residual().values()
    driven = {"u": x_momentum - 0.8, "v": y_momentum, "p": continuity}
    data = pdes.solve(_channel(residual=driven), resolution=3)
    np.testing.assert_allclose(data.p, 0.0 * data.x, atol=1e-11)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"parameters": {"viscosity": -1.0}}, "viscosity=-1.0 must be positive"),
        ({"domain": Rectangle(x=(0.0, 2.0), cell_type="quad")}, "want triangles"),
        (
            {"residual": {**flow_residual(), "p": flow_residual()["p"] - 1}},
            "residual of 'p' is not that of a steady flow",
        ),
        (
            {"boundary": {"x-": Neumann(), "x+": Outflow(), "y-": NoSlip(), "y+": NoSlip()}},
            "flows take NoSlip, Dirichlet and Outflow",
        ),
    ],
)
def test_what_is_no_flow_is_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        pdes.solve(_channel(**changes), resolution=2)


def test_too_few_iterations_raise_with_the_history() -> None:
    with pytest.raises(ConvergenceError, match="Newton's method") as caught:
        pdes.solve(pdes.get("steady_kovasznay"), resolution=4, iterations=3)
    assert len(caught.value.history) == 3


def test_mesh_bends_around_the_cylinder() -> None:
    recipe = CylinderChannel()
    mesh = recipe(4)
    wall = mesh.points[np.unique(mesh.sides["cylinder"])] - 0.2
    np.testing.assert_allclose(np.hypot(*wall.T), 0.05, rtol=1e-12)
    chord = 0.5 * (
        mesh.points[mesh.sides["cylinder"][0, 0]] + mesh.points[mesh.sides["cylinder"][0, 1]]
    )
    bent = recipe.bent(chord[None])[0] - 0.2
    assert np.hypot(*bent) == pytest.approx(0.05, rel=1e-12)
    np.testing.assert_allclose(recipe.bent(mesh.points), mesh.points, rtol=0, atol=1e-15)
