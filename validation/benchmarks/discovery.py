"""Speed of equation discovery beside PySINDy's weak form, as ratios in one run.

One process, one thread, CPU seconds, best of several repetitions::

    python validation/benchmarks/discovery.py --output validation/results

Three tables: Burgers' equation from a published recording with 5 % noise; growth of our time with
the number of grid points up to 2048 x 2048, and the memory that takes; a field in the plane.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
NOISE = 0.05
LEAST_FEATURES, LEAST_WHOLE = 200.0, 10.0
"""Ratios that are promised, at K = 1000."""

Row = dict[str, Any]


def one_thread() -> None:
    """Start again with one thread: numerical libraries read these settings when they load."""
    if any(os.environ.get(name) != "1" for name in THREADS):
        os.environ.update(dict.fromkeys(THREADS, "1"))
        os.execv(sys.executable, [sys.executable, *sys.argv])


def cpu_seconds(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Smallest CPU time of several runs, and what the last one returned."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def peak_memory() -> float:
    """Largest memory of this process so far, in GiB."""
    status = Path("/proc/self/status")
    if status.is_file():  # the other way counts what the parent process held before the start
        text = status.read_text(encoding="utf-8")
        return int(text.partition("VmHWM:")[2].split()[0]) / 1024**2
    unit = 1024**3 if sys.platform == "darwin" else 1024**2
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def with_noise(clean: Any, seed: int) -> Any:
    """A field with 5 % noise."""
    noise = np.random.default_rng([0, seed]).normal(size=clean.shape)
    return clean.copy(data=clean.values + NOISE * float(clean.std()) * noise).rename("u")


# --- PySINDy -------------------------------------------------------------------------------------


def weak_library(field: Any, windows: int, degree: int, order: int) -> Any:
    """PySINDy's weak form on random windows."""
    pysindy = importlib.import_module("pysindy")
    axes = [field[name].values for name in (*field.dims[1:], "time")]
    np.random.seed(0)  # noqa: NPY002 - PySINDy draws from the global generator
    return pysindy.WeakPDELibrary(
        function_library=pysindy.PolynomialLibrary(degree=degree, include_bias=False),
        derivative_order=order,
        spatiotemporal_grid=np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1),
        K=windows,
        diff_kwargs={"is_uniform": True, "periodic": True},
    )


def values_of(field: Any) -> np.ndarray:
    """Values as PySINDy wants them: space, time, field."""
    return np.moveaxis(field.values, 0, -1)[..., None]


def pysindy_fit(field: Any, windows: int, degree: int, order: int) -> Any:
    """The whole of PySINDy, from the array to the equation."""
    pysindy = importlib.import_module("pysindy")
    model = pysindy.SINDy(
        optimizer=pysindy.STLSQ(threshold=0.05, alpha=1e-12),
        feature_library=weak_library(field, windows, degree, order),
    )
    return model.fit(values_of(field), t=field["time"].values, feature_names=["u"])


def pysindy_terms(model: Any, space: tuple[str, ...]) -> set[str]:
    """Terms of a fitted PySINDy model, those that its printed equation shows."""
    from sciml.discovery.pysindy_adapter import product_features

    library = model.feature_library
    derivatives = [tuple(int(k) for k in orders) for orders in library.multiindices]
    powers = np.asarray(library.function_library.powers_)
    features = product_features(("u",), space, powers, derivatives, constant=False)
    coefficients = np.ravel(model.coefficients())
    return {f.name for f, c in zip(features, coefficients, strict=True) if round(float(c), 3)}


# --- Ours ----------------------------------------------------------------------------------------


def windows_of(field: Any, half_widths: list[int] | None = None) -> Any:
    """Read the field, choose the windows and make their matrices, for the default library."""
    from sciml.discovery.library import Library
    from sciml.discovery.recording import as_recordings
    from sciml.discovery.weak_form import WeakForm

    (run,) = as_recordings(field)
    weak = WeakForm(run, Library().features(("u",), run.space), half_widths)
    for windows in weak.windows:
        _ = windows.matrices
    return weak


def ours_fit(field: Any) -> Any:
    """The whole of the default estimator, from the array to coefficients with errors."""
    import sciml

    return sciml.discover(field)


# --- Burgers' equation ---------------------------------------------------------------------------


def burgers_table(repeats: int) -> tuple[list[Row], dict[str, float]]:
    """CPU seconds and F1 of both on the published recording, and the ratios at K = 1000."""
    import pdes
    from sciml import _resources
    from sciml.metrics import support_f1

    path = _resources.folder("datasets") / "burgers" / "burgers.mat"
    field, true = with_noise(pdes.data.read(path).usol, 0), {"u*u_x", "u_xx"}
    rows: list[Row] = []
    for count in (100, 1000, 2000):
        setup, library = cpu_seconds(lambda k=count: weak_library(field, k, 3, 4), 3)
        features, _ = cpu_seconds(lambda b=library: b.fit_transform([values_of(field)]), 3)
        whole, model = cpu_seconds(lambda k=count: pysindy_fit(field, k, 3, 4), 3)
        f1 = support_f1(pysindy_terms(model, ("x",)), true)
        rows.append(_row(f"PySINDy, K = {count}", count, setup, features, whole, f1))
    ours_fit(field)  # the first call imports what is heavy
    whole, model = cpu_seconds(lambda: ours_fit(field), repeats)
    f1 = support_f1(model.terms_["u"], true)
    for name, widths in (("ours", None), ("ours, narrow windows", [6, 4])):
        setup, weak = cpu_seconds(lambda w=widths: windows_of(field, w), repeats)
        features, matrix = cpu_seconds(weak.matrix, 1)  # products are kept after the first time
        for _ in range(repeats):
            again = windows_of(field, widths)
            features = min(features, cpu_seconds(again.matrix, 1)[0])
        rows.append(_row(name, len(matrix), setup, features, None, None))
    rows[-2] |= {"array to equation": whole, "F1": f1}
    theirs, narrow = rows[1], rows[-1]
    together = ("set-up", "features")
    return rows, {
        "features": theirs["features"] / narrow["features"],
        "set-up and features": sum(theirs[k] for k in together) / sum(narrow[k] for k in together),
        "array to equation": theirs["array to equation"] / whole,
    }


def _row(
    method: str, rows: int, setup: float, features: float, whole: float | None, f1: float | None
) -> Row:
    return {
        "method": method,
        "rows": rows,
        "set-up": setup,
        "features": features,
        "array to equation": whole,
        "F1": f1,
    }


# --- Growth with the number of grid points -------------------------------------------------------


def large_burgers(points: int) -> Any:
    """Burgers' equation on ``points`` positions and times with 5 % noise."""
    import pdes

    problem = pdes.get(
        "burgers",
        grid=pdes.Grid.periodic(x=(0.0, 2 * np.pi, points)),
        stored_points=points,
        times=np.linspace(0.0, 2.0, points),
        time_step=1e-3,
    )
    return with_noise(pdes.simulate(problem).u, 2)


def growth_table(field: Any, repeats: int) -> tuple[list[Row], dict[str, float]]:
    """CPU seconds on every 8th, 4th, 2nd and every point, and the slopes over grid points."""
    rows: list[Row] = []
    counts = []
    for step in (8, 4, 2, 1):
        part = field.isel(time=slice(None, None, step), x=slice(None, None, step))
        features, matrix = cpu_seconds(lambda p=part: windows_of(p).matrix(), repeats)
        whole, model = cpu_seconds(lambda p=part: ours_fit(p), min(repeats, 3))
        counts.append(part.size)
        rows.append(
            {
                "points": " x ".join(map(str, part.shape)),
                "rows": len(matrix),
                "set-up and features": features,
                "array to equation": whole,
                "found": ", ".join(model.terms_["u"]),
            }
        )
    slopes = {
        key: float(np.polyfit(np.log(counts), np.log([row[key] for row in rows]), 1)[0])
        for key in ("set-up and features", "array to equation")
    }
    return rows, slopes


# --- Processes of their own, for memory ----------------------------------------------------------


def in_a_process_of_its_own(field: Any, method: str) -> Row:
    """CPU and wall seconds and the largest memory from a file on disk to an equation."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording.npz"
        axes = {str(name): field[name].values for name in field.dims[1:]}
        np.savez(path, u=field.values, t=field.time.values, **axes)
        command = [sys.executable, str(Path(__file__).resolve()), "--measure", method, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(method: str, path: str) -> None:
    """What the process of its own does: print seconds and memory as JSON."""
    wall, cpu = time.perf_counter(), time.process_time()
    import pdes

    with np.load(path) as stored:
        space = tuple(name for name in stored.files if name not in ("u", "t"))
        # named, since the order of axes of equal length cannot be told from the file
        data = pdes.data.read(path, axes=("t", *space))
    if method == "ours":
        import sciml

        found = set(sciml.discover(data.u, periodic=True).terms_["u"])
    else:
        windows, degree, order = map(int, method.split("-"))
        found = pysindy_terms(pysindy_fit(data.u, windows, degree, order), space)
    seconds = {"CPU s": time.process_time() - cpu, "wall s": time.perf_counter() - wall}
    print(json.dumps({**seconds, "GiB": peak_memory(), "found": sorted(found)}))


def plane_table() -> list[Row]:
    """A nonlinear diffusion on 100 x 100 positions and 128 times, PySINDy at K = 200."""
    import pdes
    from sciml.metrics import support_f1

    problem = pdes.get(
        "nonlinear_diffusion_2d",
        grid=pdes.Grid.periodic(x=(0.0, 2 * np.pi, 100), y=(0.0, 2 * np.pi, 100)),
        times=np.linspace(0.0, 1.0, 128),
    )
    field = with_noise(pdes.simulate(problem).u, 3)
    methods = {
        "ours, derivatives to order 2": "ours",
        "PySINDy, K = 200, to order 2": "200-3-2",
        "PySINDy, K = 200, to order 4": "200-3-4",
    }
    rows = []
    for name, how in methods.items():
        row = in_a_process_of_its_own(field, how)
        f1 = support_f1(row.pop("found"), problem.equation.terms()["u"])
        rows.append({"method": name, **row, "F1": f1})
    return rows


# --- Report --------------------------------------------------------------------------------------


def main() -> int:
    """Run, print, write if asked to; 1 if a promise does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, help="folder for benchmark-discovery.md and .json")
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the best counts")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.measure:
        measure(*options.measure)
        return 0
    rows, ratios = burgers_table(options.repeats)
    field = large_burgers(2048)
    growth, slopes = growth_table(field, options.repeats)
    large = in_a_process_of_its_own(field, "ours")
    result = {
        "command": " ".join(["python", "validation/benchmarks/discovery.py", *sys.argv[1:]]),
        "machine": machine(),
        "burgers": rows,
        "ratios at K = 1000": ratios,
        "growth": growth,
        "slopes over grid points": slopes,
        "2048 x 2048 in a process of its own": large,
        "plane": plane_table(),
        "promises": {
            f"features at least {LEAST_FEATURES:g} times faster": ratios["features"]
            >= LEAST_FEATURES,
            f"array to equation at least {LEAST_WHOLE:g} times faster": ratios["array to equation"]
            >= LEAST_WHOLE,
            "2048 x 2048 under 2 GiB": large["GiB"] < 2.0,
            "2048 x 2048 under a minute": large["wall s"] < 60.0,
        },
    }
    text = markdown(result)
    print(text)
    if options.output:
        from sciml import _atomic

        _atomic.write(options.output / "benchmark-discovery.md", text)
        _atomic.write(options.output / "benchmark-discovery.json", json.dumps(result, indent=1))
    return 0 if all(result["promises"].values()) else 1


def machine() -> dict[str, str]:
    """What the numbers depend on."""
    import sciml

    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(named, platform.processor() or platform.machine()),
        "python": platform.python_version(),
        "sciml-pdes": sciml.__version__,
        **{name: metadata.version(name) for name in ("numpy", "scipy", "pysindy")},
    }


def markdown(result: dict[str, Any]) -> str:
    """The tables as a page."""
    ratios, slopes = result["ratios at K = 1000"], result["slopes over grid points"]
    large = result["2048 x 2048 in a process of its own"]
    lines = [
        "# Speed of equation discovery beside PySINDy",
        "",
        f"`{result['command']}`. One process, one thread, CPU seconds, best of several runs.",
        "",
        ", ".join(f"{name} {value}" for name, value in result["machine"].items()),
        "",
        "## Burgers' equation, 256 x 101, 5 % noise",
        "",
        *_table(result["burgers"]),
        "",
        "Set-up is the choice of windows and their weights, features are the columns for given "
        "windows. Ours has 16 of them, PySINDy 19. The narrow windows give more rows than K = "
        f"1000, with which they are compared: features {ratios['features']:.0f} times faster, with "
        f"set-up {ratios['set-up and features']:.0f} times, from the array to the equation "
        f"{ratios['array to equation']:.0f} times.",
        "",
        "## Growth with the number of grid points, Burgers' equation, 5 % noise",
        "",
        *_table(result["growth"]),
        "",
        f"Time grows as points^{slopes['set-up and features']:.2f} (features) and "
        f"points^{slopes['array to equation']:.2f} (the whole).",
        "",
        f"2048 x 2048 in a process of its own, from the file to the equation: {large['CPU s']:.1f}"
        f" s of CPU, {large['wall s']:.1f} s of wall time, {large['GiB']:.2f} GiB.",
        "",
        "## A field in the plane, 100 x 100 x 128, 5 % noise",
        "",
        *_table(result["plane"]),
        "",
        "Each in a process of its own, from the file to the equation, imports included.",
        "",
        "## Promises",
        "",
        *[f"- {name}: {'holds' if kept else 'FAILS'}" for name, kept in result["promises"].items()],
        "",
    ]
    return "\n".join(lines)


def _table(rows: list[Row]) -> list[str]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    body = ["| " + " | ".join(_cell(row.get(name)) for name in names) + " |" for row in rows]
    return ["| " + " | ".join(names) + " |", "| " + " | ".join("---" for _ in names) + " |", *body]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    one_thread()
    sys.exit(main())
