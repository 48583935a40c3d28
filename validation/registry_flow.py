"""Incompressible flow: registry entries against closed forms, balances and published cavities."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pdes
from sciml.metrics import observed_order
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

from ._discovery import public_recordings

# --- Periodic flow -------------------------------------------------------------------------------


def _row(entry: str, solver: str, predicted: Any, order: Any, error: float, drift: Any) -> dict:
    return {
        "entry": entry,
        "solver": solver,
        "predicted order": predicted,
        "measured order": order,
        "error": f"{error:.2e}",
        "invariant drift": drift,
    }


def _taylor_green() -> Measurements:
    rows, worst = [], 0.0
    for name in ("taylor_green", "taylor_green_velocity"):
        run, exact = pdes.simulate(pdes.get(name)), pdes.simulate(pdes.get(name), solver="exact")
        error = max(float(np.abs(run[f] - exact[f]).max()) for f in run.data_vars)
        worst = max(worst, error)
        rows.append(_row(name, "etdrk4", "exact", "exact", error, ""))
    return Measurements(values={"largest error": worst}, table=rows)


def _random_vorticity(points: int, amplitude: float = 1.0) -> tuple[pdes.Grid, np.ndarray]:
    from pdes.initial import RandomFourier

    box = (0.0, 2.0 * np.pi, points)
    grid = pdes.Grid.periodic(x=box, y=box)
    w = RandomFourier(modes=3, fields=("w",))(grid, np.random.default_rng(0))["w"]
    return grid, amplitude * w


def _order_in_time() -> Measurements:
    from pdes.incompressible import VorticityEquation
    from pdes.solvers import rollout

    grid, w = _random_vorticity(48, 2.0)
    equation = VorticityEquation.of(viscosity=0.02)

    def end(count: int) -> np.ndarray:
        run = rollout(equation, grid, {"w": w}, np.array([0.5]), time_step=0.5 / count)
        return run.fields["w"][-1]

    counts = (40, 80, 160)
    reference = end(1280)
    errors = [float(np.abs(end(count) - reference).max()) for count in counts]
    order = observed_order([1.0 / c for c in counts], errors)
    return Measurements(
        values={"order in time": order},
        table=[_row("navier_stokes", "etdrk4", 4, f"{order:.2f}", errors[-1], "")],
    )


def _inviscid_invariants() -> Measurements:
    """Drift of energy and enstrophy with hardly any viscosity, beyond what it takes away."""
    from pdes.incompressible import VorticityEquation
    from pdes.solvers import rollout

    grid, w = _random_vorticity(64)
    viscosity, times = 1e-7, np.linspace(0.0, 0.5, 11)
    run = rollout(VorticityEquation.of(viscosity=viscosity), grid, {"w": w}, times, time_step=0.01)
    k = np.fft.fftfreq(64, 1.0 / 64)
    size = k[:, None] ** 2 + k**2
    spectra = np.abs(np.fft.fft2(run.fields["w"]) / 64**2) ** 2
    energy = 0.5 * np.sum(spectra / np.where(size > 0, size, 1.0), axis=(-2, -1))
    enstrophy = 0.5 * np.sum(spectra, axis=(-2, -1))
    loss = 2 * viscosity * np.trapezoid(enstrophy, times)
    drift_e = abs(float(energy[-1] - energy[0] + loss)) / float(energy[0])
    palinstrophy = 0.5 * np.sum(spectra * size, axis=(-2, -1))
    loss = 2 * viscosity * np.trapezoid(palinstrophy, times)
    drift_z = abs(float(enstrophy[-1] - enstrophy[0] + loss)) / float(enstrophy[0])
    drift = f"energy {drift_e:.1e}, enstrophy {drift_z:.1e}"
    return Measurements(
        values={"drift of the energy": drift_e, "drift of the enstrophy": drift_z},
        table=[_row("navier_stokes", "etdrk4", 4, "", 0.0, drift)],
    )


# Waves exp(i x) on the laminar Kolmogorov flow: modes m and m +- n couple through sin(n y).
_VISCOSITY, _DRAG, _FORCED = 0.06, 0.05, 4


@functools.cache
def _growth() -> tuple[float, np.ndarray]:
    modes = np.arange(-15, 16)
    size = 1.0 + modes**2
    amplitude = 1.0 / (_VISCOSITY * _FORCED**2 + _DRAG)
    shear = (np.eye(31, k=-_FORCED) - np.eye(31, k=_FORCED)) * (amplitude / 2j)
    matrix = -shear * (1j * (1.0 - _FORCED**2 / size)) - np.diag(_VISCOSITY * size + _DRAG)
    values, vectors = np.linalg.eig(matrix)
    best = int(np.argmax(np.real(values)))
    return float(np.real(values[best])), vectors[:, best]


def _kolmogorov() -> Measurements:
    problem = pdes.get("kolmogorov_flow", viscosity=_VISCOSITY, drag=_DRAG, forced_mode=_FORCED)
    grid, _ = _random_vorticity(48)
    laminar = problem.exact["laminar"].initial(grid)["w"]
    x, y = grid.mesh()["x"], grid.mesh()["y"]
    profile = np.exp(1j * np.arange(-15, 16) * y[..., None]) @ _growth()[1]
    start = {"w": laminar + 1e-7 * np.real(np.exp(1j * x) * profile)}
    problem = pdes.get(
        "kolmogorov_flow",
        viscosity=_VISCOSITY,
        drag=_DRAG,
        forced_mode=_FORCED,
        grid=grid,
        initial=start,
    )
    run = pdes.simulate(problem, [1.0, 4.0], time_step=0.02)
    size = [float(np.sqrt(np.mean((run.w.values[i] - laminar) ** 2))) for i in (0, 1)]
    rate = float(np.log(size[1] / size[0]) / 3.0)
    return Measurements(
        values={"growth rate": rate},
        table=[_row("kolmogorov_flow", "etdrk4", "", "", abs(rate - _growth()[0]), "")],
    )


# --- Boxes ---------------------------------------------------------------------------------------


def _box(nx: int, ny: int, x: Sequence[float], y: Sequence[float], periodic: bool) -> pdes.Grid:
    return pdes.Grid(
        (
            pdes.Axis("x", x[0], x[1], nx + 1, False),
            pdes.Axis("y", y[0], y[1], ny + (not periodic), periodic),
        )
    )


def _kovasznay() -> Measurements:
    from pdes.solvers.staggered import FlowMarch, StaggeredFlow

    counts, errors, worst = (12, 24, 48), [], 0.0
    for n in counts:
        grid = _box(3 * n // 2, n, (-0.5, 1.0), (-0.5, 0.5), True)
        problem = pdes.get("kovasznay", grid=grid)
        solution = problem.exact["kovasznay"]
        flow = StaggeredFlow(problem.equation, grid, problem.boundary)
        march = FlowMarch(flow, flow.from_functions(solution.initial, 0.0))
        march.to_steady(1e-6, 6.0)
        worst = max(worst, march.divergence)
        wanted = solution.evaluate(flow.box.face_grid(0), [0.0])["u"][0]
        found = march.state[0][:, :n]
        errors.append(float(np.sqrt(np.mean((found - wanted) ** 2))))
    order = observed_order([1.0 / n for n in counts], errors)
    return Measurements(
        values={"order in space": order, "largest divergence": worst},
        table=[
            _row("kovasznay", "mac_rk3", 2, f"{order:.2f}", errors[-1], f"divergence {worst:.1e}")
        ],
    )


def _poiseuille() -> Measurements:
    problem = pdes.get("channel_flow")
    run = pdes.simulate(problem)
    exact = pdes.simulate(problem, solver="exact")
    error = max(float(np.abs(run[name] - exact[name]).max()) for name in ("u", "v", "p"))
    return Measurements(
        values={"largest error": error},
        table=[_row("channel_flow", "mac_rk3", "exact", "exact", error, "")],
    )


# --- Bodies --------------------------------------------------------------------------------------


def _disc_error(n: int) -> tuple[float, float]:
    """Error of the steady flow around a disc on its faces, and the largest divergence."""
    from pdes.solvers.staggered import FlowMarch, StaggeredFlow

    grid = _box(n, n, (-1.0, 1.0), (-1.0, 1.0), False)
    problem = pdes.get("circular_couette", grid=grid, viscosity=0.5)
    exact = problem.exact["circular_couette"]
    flow = StaggeredFlow(problem.equation, grid, problem.boundary)
    march = FlowMarch(flow, flow.from_functions(exact.initial, 0.0))
    march.to_steady(1e-5, 2.0)
    total = 0.0
    for place, name in enumerate("uv"):
        wanted = exact.evaluate(flow.box.face_grid(place), [0.0])[name][0]
        total += float(np.sum((march.state[place] - wanted) ** 2))
    return (total / (2 * n * n)) ** 0.5, march.divergence


def _disc() -> Measurements:
    counts = range(12, 65, 4)
    found = [_disc_error(n) for n in counts]
    errors, divergence = [error for error, _ in found], max(left for _, left in found)
    order = observed_order([1.0 / n for n in counts], errors)
    drift = f"divergence {divergence:.1e}"
    return Measurements(
        values={"order in space": order, "largest divergence": divergence},
        table=[_row("circular_couette", "mac_rk3", 1, f"{order:.2f}", errors[-1], drift)],
    )


def _layer_error(n: int, edge: float) -> float:
    """Error of a decaying shear flow over a solid layer below `edge`."""
    from pdes.boundary import NoSlip, Obstacle
    from pdes.equation import coordinate
    from pdes.incompressible import VelocityEquation
    from pdes.solvers.staggered import FlowMarch, StaggeredFlow

    k = np.pi / (1.0 - edge)
    grid = pdes.Grid((pdes.Axis("x", 0.0, 1.0, 8), pdes.Axis("y", 0.0, 1.0, n + 1, False)))
    boundary = {"y-": NoSlip(), "y+": NoSlip(), "layer": Obstacle(coordinate("y") - edge)}
    flow = StaggeredFlow(VelocityEquation.of(viscosity=0.1), grid, boundary)

    def start(box: pdes.Grid) -> dict[str, np.ndarray]:
        y = box.mesh()["y"] + 0.0 * box.mesh()["x"]
        return {"u": np.where(y > edge, np.sin(k * (y - edge)), 0.0), "v": 0.0 * y}

    march = FlowMarch(flow, flow.from_functions(start, 0.0))
    march.to(0.2)
    wanted = start(flow.box.face_grid(0))["u"] * np.exp(-0.02 * k**2)
    return float(np.abs(march.state[0][:-1] - wanted).max())


def _staircase() -> Measurements:
    counts = (16, 32, 64)
    along = [_layer_error(n, 0.25) for n in counts]
    places = 0.2 + 0.1 * (np.arange(16) + 0.5) / 16 + 0.003
    across = [float(np.mean([_layer_error(n, float(e)) for e in places])) for n in counts]
    steps = [1.0 / n for n in counts]
    orders = [observed_order(steps, along), observed_order(steps, across)]
    names = ("surface along faces", "surface anywhere")
    return Measurements(
        values=dict(zip(names, orders, strict=True)),
        table=[
            _row(
                f"shear over a layer, {name}", "mac_rk3", 2 - i, f"{orders[i]:.2f}", errors[-1], ""
            )
            for i, (name, errors) in enumerate(zip(names, (along, across), strict=True))
        ],
    )


def _block() -> Measurements:
    """Flow past a block from coarse to fine, against the finest; what leaks and diverges."""
    from pdes.solvers.staggered import FlowMarch, StaggeredFlow

    counts, profiles, worst, leak = (16, 32, 64, 128), [], 0.0, 0.0
    for n in counts:
        grid = _box(4 * n, n, (0.0, 4.0), (0.0, 1.0), False)
        problem = pdes.get("channel_block", grid=grid, reynolds=20.0)
        flow = StaggeredFlow(problem.equation, grid, problem.boundary)
        start = problem.initial(grid, None)  # type: ignore[operator]
        march = FlowMarch(flow, flow.from_nodes(start))
        march.to(0.5)
        worst = max(worst, march.divergence)
        leak = max(leak, float(np.ptp(np.sum(march.state[0], axis=-1)) / n))
        # Volume that passes over the block in quarters of the gap, and behind it.
        u = march.state[0]
        quarter = n // 16
        lines = [u[n, 5 * n // 8 :], u[2 * n, n // 2 :]]
        profiles.append(np.concatenate([p.reshape(-1, 2 * quarter).mean(axis=1) for p in lines]))
    errors = [float(np.abs(p - profiles[-1]).max()) for p in profiles[:-1]]
    order = observed_order([1.0 / n for n in counts[:-1]], errors)
    drift = f"divergence {worst:.1e}"
    return Measurements(
        values={"order in space": order, "largest divergence": worst, "leak": leak},
        table=[_row("channel_block", "mac_rk3", ">= 1", f"{order:.2f}", errors[-1], drift)],
    )


@functools.cache
def cavity(reynolds: int, n: int, limit: float, tolerance: float = 1e-6) -> dict[str, Any]:
    """Steady profiles through the middle of a driven cavity of ``n`` by ``n`` cells.

    Faces lie on the lines ``x = 1/2`` and ``y = 1/2``; along them the values sit in the middles of
    the faces.
    """
    from pdes.solvers.staggered import FlowMarch, StaggeredFlow

    grid = _box(n, n, (0.0, 1.0), (0.0, 1.0), False)
    problem = pdes.get("lid_driven_cavity", reynolds=float(reynolds), grid=grid)
    flow = StaggeredFlow(problem.equation, grid, problem.boundary)
    rest = {name: np.zeros(grid.shape) for name in "uv"}
    march = FlowMarch(flow, flow.from_nodes(rest), method="mac_ab2")
    rate = march.to_steady(tolerance, limit)
    middles = np.concatenate([[0.0], (np.arange(n) + 0.5) / n, [1.0]])
    u = np.concatenate([[0.0], march.state[0][n // 2], [1.0]])
    v = np.concatenate([[0.0], march.state[1][:, n // 2], [0.0]])
    return {
        "coordinates": middles,
        "u_at_x=0.5": u,
        "v_at_y=0.5": v,
        "divergence": march.divergence,
        "rate": rate,
        "time": march.time,
    }


def _extremes(found: dict[str, Any]) -> dict[str, float]:
    """Least and largest velocities on the middle lines, by splines."""
    from scipy.interpolate import CubicSpline

    inside = np.linspace(0.02, 0.98, 20001)
    # Near the lid the horizontal velocity is largest: its least value lies below.
    u = CubicSpline(found["coordinates"], found["u_at_x=0.5"])(inside)
    v = CubicSpline(found["coordinates"], found["v_at_y=0.5"])(inside)
    return {"min u": float(u.min()), "max v": float(v.max()), "min v": float(v.min())}


SPECTRAL = {
    100: {"min u": -0.2140424, "max v": 0.1795728, "min v": -0.2538030},
    1000: {"min u": -0.3885698, "max v": 0.3769447, "min v": -0.5270771},
}
"""Extremes on the middle lines: Botella and Peyret, Comput. Fluids 27 (1998) 421, whose lid moves
the other way. At Re 1000 they lie at y = 0.1717, x = 0.1578 and x = 0.9092."""


def _cavity_extremes(
    reynolds: int, counts: Sequence[int], limit: float, tolerance: float
) -> Measurements:
    table: list[dict[str, Any]] = []
    errors: list[dict[str, float]] = []
    worst = 0.0
    for n in counts:
        found = cavity(reynolds, n, limit, tolerance)
        worst = max(worst, found["divergence"])
        off = {}
        for name, value in _extremes(found).items():
            exact = SPECTRAL[reynolds][name]
            off[name] = abs(value - exact)
            table.append(
                {
                    "entry": f"lid_driven_cavity, Re {reynolds}, {n}^2",
                    "solver": "mac_ab2",
                    "quantity": name,
                    "found": f"{value:.5f}",
                    "spectral": exact,
                    "error": f"{off[name]:.2e}",
                }
            )
        errors.append(off)
    order = observed_order([1.0 / n for n in counts], [off["min u"] for off in errors])
    return Measurements(
        values={
            **{f"error of {name}": error for name, error in errors[-1].items()},
            "order in space": order,
            "largest divergence": worst,
        },
        table=table,
    )


def _ghia(reynolds: int) -> dict[str, np.ndarray]:
    import csv

    with (public_recordings("flows") / "ghia1982_cavity.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if int(row["Re"]) == reynolds]
    kept = [row for row in rows if row["suspect"] == "0"]
    return {
        profile: np.array(
            [(float(r["coordinate"]), float(r["value"])) for r in kept if r["profile"] == profile]
        )
        for profile in ("u_at_x=0.5", "v_at_y=0.5")
    }


def _cavity_profiles(reynolds: int, n: int, limit: float) -> Measurements:
    from scipy.interpolate import CubicSpline

    found, values = cavity(reynolds, n, limit), {}
    for profile, table in _ghia(reynolds).items():
        curve = CubicSpline(found["coordinates"], found[profile])(table[:, 0])
        values[f"rms, {profile}"] = float(np.sqrt(np.mean((curve - table[:, 1]) ** 2)))
    return Measurements(
        values=values,
        table=[
            {"entry": f"lid_driven_cavity, Re {reynolds}, {n}^2", "profile": k, "rms": f"{v:.2e}"}
            for k, v in values.items()
        ],
    )


def _profile_case(reynolds: int, n: int, limit: float, rms: Sequence[float], source: str) -> Case:
    return Case(
        name=f"cavity-{reynolds}-profiles",
        title=f"Driven cavity at Reynolds number {reynolds} against the published profiles",
        description=(
            f"{n} x {n} cells to the steady state; both middle lines against the tables of Ghia, "
            "Ghia and Shin, one point of which is a misprint and left out."
        ),
        tier="full",
        run=lambda: _cavity_profiles(reynolds, n, limit),
        predictions=tuple(
            Prediction(
                name=f"rms, {profile}",
                value=value,
                kind="at_most",
                source=source,
            )
            for profile, value in zip(("u_at_x=0.5", "v_at_y=0.5"), rms, strict=True)
        ),
    )


def _extremes_case(
    reynolds: int, counts: Sequence[int], limit: float, tolerance: float, error: float
) -> Case:
    return Case(
        name=f"cavity-{reynolds}-extremes",
        title=f"Driven cavity at Reynolds number {reynolds} against spectral values",
        description=(
            "Extremes of the velocity on both middle lines, on "
            f"{', '.join(f'{n} x {n}' for n in counts)} cells."
        ),
        tier="full",
        run=lambda: _cavity_extremes(reynolds, counts, limit, tolerance),
        predictions=(
            *(
                Prediction(
                    name=f"error of {name}",
                    value=error,
                    kind="at_most",
                    source="Botella and Peyret (1998); second order in the size of the cells",
                )
                for name in SPECTRAL[reynolds]
            ),
            Prediction(
                name="order in space",
                value=2,
                kind="order",
                atol=0.15,
                source="central differences; the corners of the lid cost a part",
            ),
            _DIVERGENCE,
        ),
    )


def _simple(
    name: str, title: str, why: str, run: Callable[[], Measurements], *predictions: Prediction
) -> Case:
    return Case(name=name, title=title, description=why, run=run, predictions=predictions)


_DIVERGENCE = Prediction(
    name="largest divergence",
    value=1e-11,
    kind="at_most",
    source="the projection is a direct solution: rounding over the size of a cell",
)


def _bound(name: str, value: float, source: str) -> Prediction:
    return Prediction(name=name, value=value, kind="at_most", source=source)


CASES = [
    _simple(
        "taylor-green",
        "Decaying vortices, in vorticity and in velocity",
        "A single shell of wave numbers: advection vanishes and the exponential is exact.",
        _taylor_green,
        _bound("largest error", 1e-13, "rounding"),
    ),
    _simple(
        "order-in-time",
        "Order in time of the vorticity form",
        "Random vorticity, 48 x 48 points, against a run with an eighth of the smallest step.",
        _order_in_time,
        Prediction(name="order in time", value=4, kind="order", source="declared by ETDRK4"),
    ),
    _simple(
        "inviscid-invariants",
        "Energy and enstrophy with hardly any viscosity",
        "Dealiased quadratic products conserve both; what is left is the error in time.",
        _inviscid_invariants,
        _bound("drift of the energy", 1e-8, "fourth order in a step of 0.01"),
        _bound("drift of the enstrophy", 1e-7, "fourth order in a step of 0.01"),
    ),
    _simple(
        "kolmogorov-growth",
        "Growth of a long wave on the laminar Kolmogorov flow",
        "The eigenvalue of the linearized equation, a matrix that couples every fourth mode.",
        _kolmogorov,
        Prediction(
            name="growth rate",
            value=_growth()[0],
            kind="equals",
            atol=2e-5,
            source="largest eigenvalue; Meshalkin and Sinai (1961)",
        ),
    ),
    _simple(
        "kovasznay",
        "Kovasznay flow on a staggered grid",
        "Velocities of the closed form at both ends; 12, 24 and 48 cells across.",
        _kovasznay,
        Prediction(name="order in space", value=2, kind="order", source="central differences"),
        _DIVERGENCE,
    ),
    _simple(
        "poiseuille",
        "Poiseuille flow on a staggered grid, with its pressure",
        "Second differences, also those next to a wall, are exact for parabolas.",
        _poiseuille,
        _bound("largest error", 1e-13, "rounding"),
    ),
    Case(
        name="disc",
        title="Flow around a disc at rest in a turning fluid",
        description=(
            "Steady circular Couette flow on 12, 16, ... 64 cells across; a cell is solid when its "
            "center is. The surface jumps with the grid, so that only the trend has an order."
        ),
        tier="full",
        run=_disc,
        predictions=(
            Prediction(
                name="order in space",
                value=1.0,
                kind="equals",
                atol=0.25,
                source="surface displaced by up to half a cell; scatter of the trend",
            ),
            _DIVERGENCE,
        ),
    ),
    Case(
        name="staircase",
        title="A solid layer: order two when its surface runs along faces, one on average",
        description=(
            "Decaying shear flow over a layer, 16, 32 and 64 cells; the mean error over sixteen "
            "heights of the surface, or a surface at a quarter of the height."
        ),
        tier="full",
        run=_staircase,
        predictions=(
            Prediction(
                name="surface along faces",
                value=2.0,
                kind="equals",
                atol=0.15,
                source="mirror images put the zero on the wall: central differences",
            ),
            Prediction(
                name="surface anywhere",
                value=1.0,
                kind="equals",
                atol=0.15,
                source="surface displaced by a quarter of a cell on average",
            ),
        ),
    ),
    Case(
        name="channel-block",
        title="A square block in a channel",
        description=(
            "At Reynolds number 20 to t = 1/2 on 16, 32 and 64 cells across the channel, against "
            "128; velocities over and behind the block, in means over an eighth of the channel."
        ),
        tier="full",
        run=_block,
        predictions=(
            Prediction(
                name="order in space",
                value=1.0,
                kind="order",
                source="two from central differences, less at the corners of the block",
            ),
            _DIVERGENCE,
            Prediction(
                name="leak",
                value=1e-11,
                kind="at_most",
                source="the same volume passes every section: divergence is rounding",
            ),
        ),
    ),
    _profile_case(
        100,
        64,
        60.0,
        (2.5e-3, 5e-3),
        "the tables: their least v, -0.2453, is 8.5e-3 above the spectral -0.2538",
    ),
    _profile_case(400, 64, 80.0, (5e-3, 5e-3), "second order, and the accuracy of the tables"),
    _extremes_case(100, (32, 64), 60.0, 1e-6, 2e-3),
    _extremes_case(1000, (64, 128), 150.0, 1e-5, 8e-3),
]
