"""Flows of our staggered solver in a cavity and a channel, and the repairs they are given."""

from __future__ import annotations

import functools
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

CELLS = 32
FRAME = 0.2
SKIPPED = 5
"""Frames before a trajectory is recorded: from rest all flows look alike."""
STRENGTHS = (0.1, 0.25, 0.5, 1.0)
SCREENED = (100.0, 1000.0)
CENTERS, FACES = "centers", "faces"


@dataclass(frozen=True)
class Flows:
    """Trajectories of one problem, in double precision.

    Attributes
    ----------
    faces : Tensor, shape (samples, times, 2, nx + 1, ny + 1)
        In the order of `sciml.repair.FaceLayout`.
    centers : Tensor, shape (samples, times, 2, nx, ny)
        Means of the two faces of each cell: as public collections store velocities.
    conditions : Tensor, shape (samples, 2)
        Speed of the lid or stream, viscosity.
    """

    faces: Any
    centers: Any
    conditions: Any


def _recorded(flow: Any, start: Any, times: np.ndarray) -> Any:
    """States of a staggered run at some times, packed."""
    import torch

    from pdes.solvers.staggered import FlowMarch
    from sciml.repair import FaceLayout

    march, found = FlowMarch(flow, start, method="mac_ab2", end=float(times[-1])), []
    layout = FaceLayout(flow.box.cells, (False, False))
    for time in times:
        march.to(float(time))
        found.append(layout.pack([torch.from_numpy(np.array(part)) for part in march.state]))
    return torch.stack(found)


def at_centers(faces: Any) -> Any:
    """Velocities at the centers of cells from packed faces."""
    import torch

    u = 0.5 * (faces[..., 0, 1:, :-1] + faces[..., 0, :-1, :-1])
    v = 0.5 * (faces[..., 1, :-1, 1:] + faces[..., 1, :-1, :-1])
    return torch.stack([u, v], dim=-3)


@functools.cache
def cavities(samples: int, frames: int, seed: int, cells: int = CELLS) -> Flows:
    """Cavities from rest: lid speeds in [0.6, 1.4], viscosities from 1/400 to 1/100."""
    import torch

    import pdes
    from pdes.boundary import NoSlip
    from pdes.grid import Axis, Grid
    from pdes.solvers.staggered import StaggeredFlow

    rng = np.random.default_rng(seed)
    grid = Grid(tuple(Axis(name, 0.0, 1.0, cells + 1, False) for name in "xy"))
    times = FRAME * (SKIPPED + np.arange(frames))
    found, conditions = [], []
    for _ in range(samples):
        speed = float(rng.uniform(0.6, 1.4))
        viscosity = float(np.exp(rng.uniform(math.log(1 / 400), math.log(1 / 100))))
        problem = pdes.get("lid_driven_cavity", reynolds=1.0 / viscosity, grid=grid)
        boundary = {**problem.boundary, "y+": NoSlip((speed, 0.0))}
        flow = StaggeredFlow(problem.equation, grid, boundary)
        rest = flow.from_nodes({name: np.zeros(grid.shape) for name in "uv"})
        found.append(_recorded(flow, rest, times))
        conditions.append([speed, viscosity])
    faces = torch.stack(found)
    return Flows(faces, at_centers(faces), torch.tensor(conditions, dtype=torch.float64))


@functools.cache
def channels(frames: int = 11) -> tuple[Flows, np.ndarray]:
    """Disturbed streams in a channel with an open end, and the velocity through the inlet."""
    import pdes
    from pdes.grid import Axis, Grid
    from pdes.solvers.staggered import StaggeredFlow

    grid = Grid((Axis("x", 0.0, 2.0, 49, False), Axis("y", 0.0, 1.0, 25, False)))
    problem = pdes.get("channel_flow", viscosity=0.01, grid=grid)
    flow = StaggeredFlow(problem.equation, grid, problem.boundary)
    rng = np.random.default_rng(0)
    start = problem.initial(grid, rng)
    disturbed = {
        name: np.asarray(u) + 0.3 * rng.normal(size=grid.shape) for name, u in start.items()
    }
    faces = _recorded(flow, flow.from_nodes(disturbed), FRAME * np.arange(frames))[None]
    inlet = faces[0, 0, 0, 0, : grid.shape[1] - 1].numpy()
    return Flows(faces, at_centers(faces), None), inlet


def cavity_repairs(cells: int = CELLS) -> dict[str, dict[str, Any]]:
    """Repairs of cavity flow by storage and name."""
    from sciml.repair import LerayProjection, PoissonCleanup, RangeProjection, StaggeredProjection

    n, h, walls = (cells, cells), (1.0 / cells,) * 2, ("wall", "wall")
    found: dict[str, Any] = {
        **{f"Poisson {s:g}": PoissonCleanup(h, strength=s) for s in STRENGTHS},
        **{f"screened {a:g}": PoissonCleanup(h, screened=a) for a in SCREENED},
        "Fourier misapplied": LerayProjection((1.0, 1.0)),
        "range (exact)": RangeProjection(n, h, walls),
    }
    return {CENTERS: found, FACES: {"staggered (exact)": StaggeredProjection(n, h, walls)}}


def unwarned(call: Any) -> Any:
    """Apply a periodic projection to flows between walls, which it warns of."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="u does not look periodic")
        return call()
