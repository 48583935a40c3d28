"""Our projection of periodic flows beside neuraloperator's, and what projections cost.

One process, one thread. Both projections get the same fields; nothing is trained::

    python -m pip install neuraloperator==2.0.0   # in an environment of its own
    python validation/benchmarks/repair.py --output validation/results

Times are CPU time of the process, medians of calls taken in turn, as ratios in one run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from processor_time import in_turn, one_thread
from tables import markdown_table

GRIDS = ((16, 16), (15, 15), (16, 24), (15, 21))
MEAN = (0.3, -0.2)
ROUNDING, MOST_OF_STEP, LEAST_SPEED = 1e-12, 0.05, 5.0
"""What is allowed for rounding, and the ratios that are promised."""
BATCH = 8

Row = dict[str, Any]


# --- beside neuraloperator -----------------------------------------------------------------------


def flow(points: tuple[int, int], *, mean: bool) -> Any:
    """A flow without divergence, component j along axis j, with a part that changes if swapped."""
    import torch

    x, y = (2.0 * math.pi * torch.arange(n, dtype=torch.float64) / n for n in points)
    u = torch.sin(x)[:, None] * torch.cos(y) + 0.5 * torch.sin(2.0 * y)
    v = -torch.cos(x)[:, None] * torch.sin(y)
    found = torch.stack([u, v])[None]
    return found + found.new_tensor(MEAN)[:, None, None] if mean else found


def against_peer() -> list[Row]:
    """Rows of the comparison, one for each grid."""
    import torch

    from sciml.repair import LerayProjection

    module = import_module("neuralop.layers.spectral_projection")
    lengths = (2.0 * math.pi, 2.0 * math.pi)
    ours = LerayProjection(lengths)
    rows = []
    for points in GRIDS:

        def theirs(u: Any, points: tuple[int, int] = points) -> Any:
            return module.spectral_projection_divergence_free(u, lengths, points)

        def swapped(u: Any, theirs: Callable[[Any], Any] = theirs) -> Any:
            return theirs(u.flip(1)).flip(1)

        generator = torch.Generator().manual_seed(0)
        noise = torch.randn(BATCH, 2, *points, dtype=torch.float64, generator=generator)
        row: Row = {"points": f"{points[0]} x {points[1]}"}
        for name, call in (("ours", ours), ("theirs", theirs), ("theirs, swapped", swapped)):
            for kind in ("no mean", "mean"):
                u = flow(points, mean=kind == "mean")
                row[f"distortion, {kind}: {name}"] = float((call(u) - u).square().mean())
            if name != "theirs, swapped":
                once = call(noise)
                row[f"idempotence: {name}"] = float((call(once) - once).abs().max())
                row[f"defect: {name}"] = float(ours.defect(once).max())
        row["holds"] = max(value for key, value in row.items() if key.endswith(": ours")) < ROUNDING
        rows.append(row)
    return rows


# --- cost ----------------------------------------------------------------------------------------


def against_step(repeats: int) -> list[Row]:
    """Rows of one projection over one step of a Fourier neural operator at 64^2."""
    import torch

    from sciml.operators import FNO
    from sciml.repair import (
        LerayProjection,
        PoissonCleanup,
        RangeProjection,
        StaggeredProjection,
    )

    n, h = (64, 64), (1 / 64, 1 / 64)
    generator = torch.Generator().manual_seed(0)
    network = FNO(2, 2, 20, (24, 24), 4, axis_kinds="periodic", seed=0)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)
    u = torch.randn(BATCH, 2, *n, generator=generator)

    def training_step() -> None:
        optimizer.zero_grad(set_to_none=True)
        (u + network(u) - u).square().mean().backward()
        optimizer.step()

    def forward_step() -> None:
        with torch.no_grad():
            network(u)

    projections = {
        "Leray": LerayProjection((1.0, 1.0)),
        "staggered, walls": StaggeredProjection(n, h, ("wall", "wall")),
        "Poisson cleanup": PoissonCleanup(h),
        "range, walls": RangeProjection(n, h, ("wall", "wall")),
    }
    calls: dict[str, Callable[[], Any]] = {"train": training_step, "forward": forward_step}
    for name, projection in projections.items():
        shape = (2, 65, 65) if "staggered" in name else (2, *n)
        state = torch.randn(BATCH, *shape, generator=generator)
        calls[f"{name}, forward"] = _forward(projection, state)
        calls[f"{name}, train"] = _backward(projection, state.clone().requires_grad_())
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times = in_turn(calls, repeats)
    rows = []
    for name in projections:
        forward, train = times[f"{name}, forward"], times[f"{name}, train"]
        ratio = train / times["train"]
        rows.append(
            {
                "projection": name,
                "forward, ms": forward,
                "over rollout step": forward / times["forward"],
                "forward and backward, ms": train,
                "over training step": ratio,
                "holds": ratio <= MOST_OF_STEP,
            }
        )
    step = {"projection": "(step of the operator)", "forward, ms": times["forward"]}
    step |= {"over rollout step": 1.0, "forward and backward, ms": times["train"]}
    return [step | {"over training step": 1.0, "holds": None}, *rows]


def _forward(projection: Any, state: Any) -> Callable[[], None]:
    import torch

    def call() -> None:
        with torch.no_grad():
            projection(state)

    return call


def _backward(projection: Any, state: Any) -> Callable[[], None]:
    return lambda: projection(state).sum().backward()


def against_sparse(repeats: int) -> list[Row]:
    """Rows of the fast transforms against sparse solutions of the same Poisson equation."""
    import numpy as np
    import scipy.sparse as sp
    import torch
    from scipy.sparse.linalg import splu, spsolve

    from pdes.solvers.fast_poisson import fast_poisson
    from sciml.repair.box_faces import box_faces

    options: Any = {"permc_spec": "MMD_AT_PLUS_A", "options": {"SymmetricMode": True}}
    rows = []
    for n in (64, 128):
        h, walls = (1.0 / n, 1.0 / n), ("wall", "wall")
        matrix: Any = box_faces((n, n), h, walls).divergence_matrix()[0]
        laplacian: Any = sp.csc_matrix(matrix @ matrix.T)
        regular: Any = laplacian[1:, 1:].tocsc()  # one pressure is held at zero
        factors = splu(regular, **options)
        right = torch.randn(BATCH, n, n, dtype=torch.float64, generator=torch.manual_seed(0))
        right = right - right.mean((1, 2), keepdim=True)
        columns = np.ascontiguousarray(right.reshape(BATCH, -1).numpy().T[1:])
        fast: Any = -fast_poisson(right, h, ("neumann", "neumann"))
        slow = np.concatenate([np.zeros((1, BATCH)), factors.solve(columns)])
        difference = np.abs((slow - slow.mean(0)).T.reshape(right.shape) - fast.numpy()).max()
        times = in_turn(
            {
                "fast": lambda right=right, h=h: fast_poisson(right, h, ("neumann", "neumann")),
                "factored once": lambda f=factors, columns=columns: f.solve(columns),
                "factored anew": lambda a=regular, c=columns: splu(a, **options).solve(c),
                "spsolve": lambda a=regular, c=columns: spsolve(a, c[:, 0]),
            },
            repeats,
        )
        for name in ("factored once", "factored anew", "spsolve"):
            ratio = times[name] / times["fast"]
            promised = n == 128 and name != "factored once"
            rows.append(
                {
                    "cells": f"{n} x {n}",
                    "sparse solve": f"{name}, {1 if name == 'spsolve' else BATCH} fields",
                    "sparse, ms": times[name],
                    f"fast, {BATCH} fields, ms": times["fast"],
                    "ratio": ratio,
                    "largest difference over largest": float(difference / np.abs(slow).max()),
                    "holds": ratio >= LEAST_SPEED if promised else None,
                }
            )
    return rows


# --- pages ---------------------------------------------------------------------------------------


def section(title: str, rows: list[Row]) -> str:
    """Title and table in Markdown."""
    lines = markdown_table(rows, 2) or ["not measured: neuraloperator is not installed"]
    return "\n".join([f"## {title}", "", *lines, ""])


def main() -> int:
    """Measure, print and write the tables; 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    one_thread()
    import torch

    torch.set_num_threads(1)
    before = os.getloadavg()[0]
    try:
        against = against_peer()
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("neuralop"):
            raise
        print(f"{error}: python -m pip install neuraloperator==2.0.0", file=sys.stderr)
        against = []
    tables = {
        "Periodic flows beside neuraloperator's spectral_projection_divergence_free": against,
        "Cost of a projection over a step of a Fourier neural operator": against_step(
            arguments.repeats
        ),
        "Fast transforms against sparse solutions": against_sparse(arguments.repeats),
    }
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    if against:
        versions["neuraloperator"] = metadata.version("neuraloperator")
    load = f"{before:.1f} before and {os.getloadavg()[0]:.1f} after, {os.cpu_count()} processors"
    command = f"python validation/benchmarks/repair.py --repeats {arguments.repeats}"
    head = f"# Projections beside others, and their cost\n\n`{command}`\n\n"
    head += f"{', '.join(map(' '.join, versions.items()))}. Flows sin x cos y + sin 2y / 2, "
    head += f"-cos x sin y, with and without the mean {MEAN}; unit noise of seed 0 for "
    head += "idempotence, and for the spectral divergence over the gradient that is left "
    head += "(defect). Swapped: components given in the other order. Cost at 64^2, batch "
    head += f"{BATCH}, width 20, 12 modes, four layers, one thread, CPU time, medians of calls "
    head += f"taken in turn. Load of the machine: {load}.\n\n"
    page = head + "\n".join(section(title, rows) for title, rows in tables.items())
    print(page)
    if arguments.output:
        from sciml import _atomic

        record = {"command": command, "versions": versions, "load": load, "tables": tables}
        _atomic.write(arguments.output / "benchmark-repair.md", page)
        _atomic.write(
            arguments.output / "benchmark-repair.json", json.dumps(record, indent=1) + "\n"
        )
    kept = all(row.get("holds") is not False for rows in tables.values() for row in rows)
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
