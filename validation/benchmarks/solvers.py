"""Speed of the pseudo-spectral solvers beside exponax, py-pde and bare FFTs, as ratios in one run.

One process, one thread on one processor, CPU seconds, best of several repetitions, compilation and
set-up left out and listed apart::

    python validation/benchmarks/solvers.py --peers build/peers --output validation/results

``--peers FOLDER`` makes a virtual environment there, installs exponax and py-pde into it and runs
there; without it they have to be importable. Nothing else of the project needs them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import time
import venv
import warnings
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

PEERS = ("jax", "exponax", "equinox", "py-pde")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
XLA = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def _prepared() -> None:
    """Start again with one thread, in the environment of the peers if one is asked for."""
    python = sys.executable
    if "--peers" in sys.argv:
        folder = Path(sys.argv[sys.argv.index("--peers") + 1]).resolve()
        python = str(folder / "bin" / "python")
        if not Path(python).exists():
            venv.create(folder, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "-q", *PEERS], check=True)
        (site,) = folder.glob("lib/python*/site-packages")
        root = Path(__file__).resolve().parents[2]
        ours = [str(root), *(p for p in sys.path if p.endswith("site-packages"))]
        (site / "ours.pth").write_text("\n".join(ours), encoding="utf-8")
    wanted = {**dict.fromkeys(THREADS, "1"), "XLA_FLAGS": XLA, "JAX_ENABLE_X64": "1"}
    if python != sys.executable or any(os.environ.get(k) != v for k, v in wanted.items()):
        os.environ.update(wanted)
        arguments = list(sys.argv)
        if "--peers" in arguments:
            place = arguments.index("--peers")
            os.environ["SOLVER_BENCHMARK"] = " ".join(arguments)
            del arguments[place : place + 2]
        os.execv(python, [python, *arguments])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


Row = dict[str, Any]

KS_LENGTH, KS_STEP = 64.0, 0.1
NS_VISCOSITY, NS_STEP = 1e-2, 0.005
MOST_KS, MOST_NS, MOST_FLOOR, LEAST_PYPDE = 1.5, 1.3, 1.8, 5.0
"""Ratios that are promised."""


def cpu_seconds(*works: Callable[[], Any], repeats: int = 5) -> list[float]:
    """Smallest CPU time of each, taken in turns so that a busy machine is unfair to none."""
    best = [float("inf")] * len(works)
    for work in works:
        work()
    for _ in range(repeats):
        for place, work in enumerate(works):
            start = time.process_time()
            work()
            best[place] = min(best[place], time.process_time() - start)
    return best


def seconds_once(work: Callable[[], Any]) -> float:
    """CPU time of the first call."""
    start = time.process_time()
    work()
    return time.process_time() - start


# --- The solvers ---------------------------------------------------------------------------------


def ours(equation: Any, grid: Any, initial: dict, step: float, count: int) -> Callable[[], dict]:
    """Run of `count` steps as `pdes.simulate` takes them."""
    from pdes.solvers.kernels import kernel_class
    from pdes.solvers.march import March
    from pdes.solvers.rollout import keep_heap
    from pdes.time import ETDRK4

    keep_heap()
    kernel = kernel_class(equation)(equation, grid)
    state = kernel.forward(initial)
    march = March(kernel, ETDRK4(), 0.0, step, None, state, True)
    march.to(step)

    def run() -> dict:
        march.state, march.time = state, 0.0
        march.to(count * step)
        return kernel.backward(march.state)

    return run


def exponax_run(stepper: Any, initial: np.ndarray, count: int) -> Callable[[], np.ndarray]:
    """Run of `count` steps compiled by jax; a batch over the leading axis if there is one."""
    exponax, jax = importlib.import_module("exponax"), importlib.import_module("jax")

    single = stepper.num_spatial_dims + 1
    run = exponax.repeat(stepper, count)
    compiled = jax.jit(run if initial.ndim == single else jax.vmap(run))
    start = jax.numpy.asarray(initial)
    return lambda: np.asarray(compiled(start).block_until_ready())


def kuramoto_sivashinsky(points: int, samples: int) -> tuple[Any, Any, np.ndarray]:
    """Equation, grid and initial fields; no batch axis for one sample."""
    import pdes

    grid = pdes.Grid.periodic(x=(0.0, KS_LENGTH, points))
    phase = 2.0 * np.pi * grid.coordinates()["x"] / KS_LENGTH
    fields = [np.cos((1 + i % 3) * phase) * (1.0 + np.sin(phase + i)) for i in range(samples)]
    u = np.stack(fields) if samples > 1 else fields[0]
    return pdes.get("ks").equation, grid, u


def ks_row(points: int, samples: int, repeats: int) -> Row:
    """Both solvers on a batch; microseconds for a step of one trajectory, and their difference."""
    exponax = importlib.import_module("exponax")
    equation, grid, u = kuramoto_sivashinsky(points, samples)
    count = 500 if samples == 1 else max(50, 3200 // samples)
    # The speed over the spacing bounds the step of both.
    step = KS_STEP * min(1.0, 256 / points)
    stepper = exponax.stepper.KuramotoSivashinskyConservative(1, KS_LENGTH, points, step, order=4)
    mine = ours(equation, grid, {"u": u}, step, count)
    theirs = exponax_run(stepper, u[..., None, :], count)
    compiling = seconds_once(theirs)
    spectrum, field = np.fft.rfft(u), u

    def floor() -> None:
        for _ in range(4 * count):
            np.fft.irfft(spectrum, n=points)
            np.fft.rfft(field)

    best = cpu_seconds(mine, theirs, floor, repeats=repeats)
    per = 1e6 / (count * samples)
    return {
        "points": points,
        "batch": samples,
        "ours, us": best[0] * per,
        "exponax, us": best[1] * per,
        "FFTs alone, us": best[2] * per,
        "ours/exponax": best[0] / best[1],
        "ours/FFTs": best[0] / best[2],
        "difference": float(np.abs(mine()["u"] - theirs()[..., 0, :]).max()),
        "exponax compiles, s": compiling,
    }


def ns_row(points: int, samples: int, repeats: int) -> Row:
    """Both solvers on decaying turbulence; milliseconds for a step of one trajectory."""
    import pdes
    from pdes.incompressible import VorticityEquation
    from pdes.initial import RandomFourier

    exponax = importlib.import_module("exponax")
    length = 2.0 * np.pi
    grid = pdes.Grid.periodic(x=(0.0, length, points), y=(0.0, length, points))
    draw = RandomFourier(modes=5, fields=("w",))
    fields = [draw(grid, np.random.default_rng(i))["w"] for i in range(samples)]
    w = np.stack(fields) if samples > 1 else fields[0]
    count = max(20, 100 * 128**2 // points**2 // samples)
    stepper = exponax.stepper.NavierStokesVorticity(
        2, length, points, NS_STEP, diffusivity=NS_VISCOSITY, order=4
    )
    mine = ours(VorticityEquation.of(viscosity=NS_VISCOSITY), grid, {"w": w}, NS_STEP, count)
    # Its vorticity has the opposite sign.
    axis = 0 if samples == 1 else 1
    theirs = exponax_run(stepper, -np.expand_dims(w, axis), count)
    compiling = seconds_once(theirs)
    pair = np.stack([w, w], axis=-3)
    spectrum = np.fft.rfftn(pair, axes=(-2, -1))

    def floor() -> None:
        for _ in range(4 * count):
            np.fft.irfftn(spectrum, s=(points, points), axes=(-2, -1))
            np.fft.rfftn(pair, axes=(-2, -1))

    best = cpu_seconds(mine, theirs, floor, repeats=repeats)
    per = 1e3 / (count * samples)
    return {
        "points": f"{points}^2",
        "batch": samples,
        "ours, ms": best[0] * per,
        "exponax, ms": best[1] * per,
        "16 real FFTs, ms": best[2] * per,
        "ours/exponax": best[0] / best[1],
        "ours/FFTs": best[0] / best[2],
        "difference": float(np.abs(mine()["w"] + np.take(theirs(), 0, axis=axis)).max()),
        "exponax compiles, s": compiling,
    }


# --- py-pde --------------------------------------------------------------------------------------


def pypde_rows(stop: float, repeats: int) -> list[Row]:
    """Finite differences of second order, and our cheapest run that is at least as exact."""
    pde = importlib.import_module("pde")
    equation, grid, u = kuramoto_sivashinsky(1024, 1)
    reference = ours(equation, grid, {"u": u}, 0.01, round(stop / 0.01))()["u"]
    rows = []
    for points in (256, 512):
        every = 1024 // points
        box = pde.CartesianGrid([[0.0, KS_LENGTH]], points, periodic=True)
        # Its points are the middles of cells: give it the field there, and compare there.
        shift = np.exp(1j * np.pi * np.fft.rfftfreq(1024, 1 / 1024) / points)
        there = np.fft.irfft(np.fft.rfft(reference) * shift, n=1024)[::every]
        start = pde.ScalarField(box, np.fft.irfft(np.fft.rfft(u) * shift, n=1024)[::every])
        flow = pde.PDE({"u": "-u*d_dx(u) - laplace(u + laplace(u))"})
        for method in ("BDF", "LSODA"):

            def run(method: str = method, start: Any = start, flow: Any = flow) -> Any:
                return flow.solve(start, t_range=stop, tracker=None, solver="scipy", method=method)

            (seconds,) = cpu_seconds(run, repeats=repeats)
            error = float(np.abs(run().data - there).max())
            mine, label, own = _coarsest(reference, stop, error, repeats)
            rows.append(
                {
                    "time": stop,
                    "py-pde": f"{points} points, {method}",
                    "its error": error,
                    "its ms": 1e3 * seconds,
                    "ours": label,
                    "our error": own,
                    "our ms": 1e3 * mine,
                    "py-pde/ours": seconds / mine,
                }
            )
    return rows


def _coarsest(
    reference: np.ndarray, stop: float, error: float, repeats: int
) -> tuple[float, str, float]:
    """Cheapest of our runs whose error is at most `error`."""
    from pdes.solvers import SolverDivergence, StabilityError

    found = (float("inf"), "", 0.0)
    for points in (64, 128, 256):
        for step in (0.5, 0.25, 0.125, 0.0625):
            equation, grid, u = kuramoto_sivashinsky(points, 1)
            try:
                run = ours(equation, grid, {"u": u}, step, round(stop / step))
                own = float(np.abs(run()["u"] - reference[:: 1024 // points]).max())
            except (StabilityError, SolverDivergence):
                continue
            if own <= error:
                (seconds,) = cpu_seconds(run, repeats=repeats)
                found = min(found, (seconds, f"{points} points, step {step:g}", own))
                break
    return found


# --- Report --------------------------------------------------------------------------------------


def main() -> int:
    """Run, print, write if asked to; 1 if a promise does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peers", type=Path, help="environment for the peers, made if absent")
    parser.add_argument("--output", type=Path, help="folder for benchmark-solvers.md and .json")
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the best counts")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    missing = [name for name in ("exponax", "pde") if not _importable(name)]
    if missing:
        print(f"{', '.join(missing)} missing: run with --peers FOLDER to install them there")
        return 2
    repeats = options.repeats
    ks = [ks_row(256, samples, repeats) for samples in (1, 4, 16, 64, 256)]
    ks_points = [ks_row(points, 64, repeats) for points in (64, 128, 512, 1024)]
    ns = [ns_row(points, 1, repeats) for points in (64, 128, 256)]
    ns += [ns_row(64, samples, repeats) for samples in (4, 16)]
    slow = [row for stop in (10.0, 20.0) for row in pypde_rows(stop, repeats)]
    batched = next(row for row in ks if row["batch"] == 64)
    plane = next(row for row in ns if row["points"] == "128^2")
    least = min(row["py-pde/ours"] for row in slow)
    promises = {
        f"batch of 64 Kuramoto-Sivashinsky, at most {MOST_KS} of exponax": (
            batched["ours/exponax"],
            batched["ours/exponax"] <= MOST_KS,
        ),
        f"Navier-Stokes 128^2, at most {MOST_NS} of exponax": (
            plane["ours/exponax"],
            plane["ours/exponax"] <= MOST_NS,
        ),
        f"Navier-Stokes 128^2, at most {MOST_FLOOR} of its FFTs": (
            plane["ours/FFTs"],
            plane["ours/FFTs"] <= MOST_FLOOR,
        ),
        f"py-pde at equal error, at least {LEAST_PYPDE:g}": (least, least >= LEAST_PYPDE),
    }
    result = {
        "command": os.environ.get("SOLVER_BENCHMARK", " ".join(sys.argv)),
        "machine": machine(),
        "Kuramoto-Sivashinsky": ks + ks_points,
        "Navier-Stokes": ns,
        "py-pde": slow,
        "promises": {name: {"ratio": r, "holds": kept} for name, (r, kept) in promises.items()},
    }
    text = markdown(result)
    print(text)
    if options.output:
        from sciml import _atomic

        _atomic.write(options.output / "benchmark-solvers.md", text)
        _atomic.write(options.output / "benchmark-solvers.json", json.dumps(result, indent=1))
    return 0 if all(kept for _, kept in promises.values()) else 1


def _importable(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def machine() -> dict[str, str]:
    """What the numbers depend on."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(named, platform.processor() or platform.machine()),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "jax", "exponax", "py-pde")},
    }


def markdown(result: dict[str, Any]) -> str:
    """The tables as a page."""
    lines = [
        "# Speed of the pseudo-spectral solvers beside exponax, py-pde and bare FFTs",
        "",
        f"`{result['command']}`. One process, one thread on one processor, CPU time, best of "
        "several runs taken in turns; double precision; compilation and set-up left out.",
        "",
        ", ".join(f"{name} {value}" for name, value in result["machine"].items()),
        "",
        "## Kuramoto-Sivashinsky, ETDRK4, microseconds for a step of one trajectory",
        "",
        *_table(result["Kuramoto-Sivashinsky"]),
        "",
        "Both solve the conservative form with four stages. FFTs alone: four pairs of real "
        "transforms by `numpy.fft`, in the same process.",
        "",
        "## Navier-Stokes in vorticity form, ETDRK4, milliseconds for a step of one trajectory",
        "",
        *_table(result["Navier-Stokes"]),
        "",
        "## py-pde on Kuramoto-Sivashinsky, 64 long: equal error",
        "",
        *_table(result["py-pde"]),
        "",
        "Finite differences of second order with an implicit or switching integrator of scipy; "
        "ours is the cheapest run whose error is no larger.",
        "",
        "## Promises",
        "",
        *[
            f"- {name}: {entry['ratio']:.2f}, {'holds' if entry['holds'] else 'FAILS'}"
            for name, entry in result["promises"].items()
        ],
        "",
    ]
    return "\n".join(lines)


def _table(rows: Sequence[Row]) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    body = ["| " + " | ".join(_cell(row.get(name)) for name in names) + " |" for row in rows]
    return ["| " + " | ".join(names) + " |", "| " + " | ".join("---" for _ in names) + " |", *body]


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    _prepared()
    sys.exit(main())
