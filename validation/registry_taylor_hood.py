"""Flow by Taylor-Hood elements: orders on Kovasznay's flow, a cylinder at Reynolds 20 and 100."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from scipy.interpolate import LinearNDInterpolator

import pdes
from pdes.solvers.finite_element_space import make_space
from pdes.solvers.taylor_hood import ORDERS
from pdes.solvers.taylor_hood_march import march_flow
from sciml.metrics import observed_order
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

_BENCHMARK = "M. Schaefer, S. Turek, Notes Numer. Fluid Mech. 52, 547 (1996)"
_FINE = 16
_FIELDS = {"u": "velocity", "v": "velocity", "p": "pressure"}


def _row(entry: str, predicted: Any, measured: Any, error: float) -> dict[str, Any]:
    return {
        "entry": entry,
        "solver": "taylor_hood",
        "predicted order": predicted,
        "measured order": measured,
        "error": error,
        "invariant drift": math.nan,
    }


def _kovasznay() -> Measurements:
    resolutions = (6, 12, 24)
    problem = pdes.get("steady_kovasznay")
    errors = [json.loads(pdes.solve(problem, resolution=n).attrs["errors"]) for n in resolutions]
    values, table = {}, []
    for name, kind in _FIELDS.items():
        for norm, predicted in ORDERS[kind].items():
            order = observed_order([1 / n for n in resolutions], [e[name][norm] for e in errors])
            values[f"{name}, {norm}"] = order
            table.append(
                _row(f"steady_kovasznay, {name}, {norm}", predicted, order, errors[-1][name][norm])
            )
    return Measurements(values=values, table=table)


KOVASZNAY = Case(
    name="kovasznay",
    title="Orders of velocity and pressure on Kovasznay's flow",
    description="Reynolds number 40, three meshes, errors by quadrature.",
    run=_kovasznay,
    predictions=tuple(
        Prediction(
            name=f"{name}, {norm}",
            value=value,
            kind="order",
            source="V. Girault, P.-A. Raviart, Finite Element Methods for Navier-Stokes (1986)",
        )
        for name, kind in _FIELDS.items()
        for norm, value in ORDERS[kind].items()
    ),
)


def _pressure_at(data: Any, angle: float) -> float:
    """Pressure on the cylinder, by a parabola through the nearest points."""
    x, y = data.x.values - 0.2, data.y.values - 0.2
    wall = np.flatnonzero(np.abs(np.hypot(x, y) - 0.05) < 1e-9)
    turn = np.angle(np.exp(1j * (np.arctan2(y[wall], x[wall]) - angle)))
    near = np.argsort(np.abs(turn))[:5]
    return float(np.polyfit(turn[near], data.p.values[wall][near], 2)[-1])


def _steady_cylinder() -> Measurements:
    data = pdes.solve(pdes.get("cylinder_flow"), resolution=16)
    force = np.array(json.loads(data.attrs["solver"])["forces"]["cylinder"])
    drag, lift = force * 2.0 / (0.2**2 * 0.1)
    drop = _pressure_at(data, math.pi) - _pressure_at(data, 0.0)
    table = [
        _row("cylinder_flow, Re 20, drag", "", "", abs(drag - 5.57953523384)),
        _row("cylinder_flow, Re 20, lift", "", "", abs(lift - 0.010618948146)),
        _row("cylinder_flow, Re 20, pressure difference", "", "", abs(drop - 0.11752016697)),
    ]
    return Measurements(
        values={"drag": float(drag), "lift": float(lift), "pressure difference": drop},
        table=table,
        note="Errors against J. John, G. Matthies, Int. J. Numer. Meth. Fluids 37, 885 (2001).",
    )


def _between(name: str, low: float, high: float) -> Prediction:
    return Prediction(
        name=name,
        value=0.5 * (low + high),
        kind="equals",
        atol=0.5 * (high - low),
        source=f"{_BENCHMARK}: {low:g} to {high:g}",
    )


STEADY = Case(
    name="cylinder-re20",
    title="Drag, lift and pressure of a cylinder at Reynolds number 20",
    description="16 cells on each side of the square around the cylinder.",
    run=_steady_cylinder,
    predictions=(
        _between("drag", 5.57, 5.59),
        _between("lift", 0.0104, 0.0110),
        _between("pressure difference", 0.1172, 0.1176),
    ),
)


def _street() -> Measurements:
    problem = pdes.get("cylinder_flow", reynolds=100.0)
    # A coarse street, grown from slow flow, starts the fine one near its cycle.
    coarse = march_flow(problem, resolution=8, time_step=1e-3, end=3.5)
    nodes = make_space(problem, _FINE, 2).basis.doflocs.T
    spread = LinearNDInterpolator(
        np.stack([coarse.x, coarse.y], axis=1), np.stack([coarse.u, coarse.v], axis=1)
    )
    initial = np.nan_to_num(spread(nodes)).T
    data = march_flow(problem, resolution=_FINE, time_step=5e-4, end=3.5, initial=initial)
    drag, lift = (data.force_cylinder.values * 2.0 / 0.1).T
    late = data.time.values > 2.5
    time, lift, drag = data.time.values[late], lift[late], drag[late]
    rising = np.flatnonzero((lift[:-1] < 0.0) & (lift[1:] >= 0.0))
    crossings = time[rising] - lift[rising] * np.diff(time)[rising] / np.diff(lift)[rising]
    strouhal = 0.1 / float(np.mean(np.diff(crossings)))
    values = {"Strouhal number": strouhal, "drag": float(drag.max()), "lift": float(lift.max())}
    return Measurements(
        values=values,
        table=[
            _row(f"cylinder_flow, Re 100, {k}", "", "", math.nan) | {"value": v}
            for k, v in values.items()
        ],
    )


STREET = Case(
    name="cylinder-re100",
    title="Vortex street of a cylinder at Reynolds number 100",
    description="Steps of 0.0005 from a coarser street; largest coefficients of the last second.",
    run=_street,
    predictions=(
        _between("Strouhal number", 0.295, 0.305),
        _between("drag", 3.22, 3.24),
        _between("lift", 0.99, 1.01),
    ),
    tier="full",
)

CASES = [KOVASZNAY, STEADY, STREET]
