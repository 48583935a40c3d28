"""Random fields against their covariance, and generated datasets against interruption."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pdes.data import open_generated, verify
from pdes.grid import Axis, Grid
from pdes.initial import GaussianRandomField, TurbulentVelocity
from pdes.initial.modes import ModeAxis, draw
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

# --- Random fields -------------------------------------------------------------------------------

_DRAWS = 4000
_KINDS = ("periodic", "dirichlet", "neumann")


def _deviations(kind: str) -> np.ndarray:
    """Sample variances of all modes, as deviations from the formula in standard errors."""
    points = 33 if kind != "periodic" else 32
    grid = Grid((Axis("x", 0.0, 1.5, points, periodic=kind == "periodic"),))
    family = GaussianRandomField(alpha=2.0, tau=5.0, sigma=25.0, boundary=kind)
    (axis,) = family.axes(grid)
    rng = np.random.default_rng(7)
    fields = np.stack([family(grid, rng)["u"] for _ in range(_DRAWS)])
    x = np.linspace(0.0, 1.5, points, endpoint=kind != "periodic")
    weights = np.full(points, 1.5 / (points if kind == "periodic" else points - 1))
    if kind != "periodic":
        weights[[0, -1]] *= 0.5
    found = []
    for place, (k, wave) in enumerate(zip(axis.frequencies, axis.wavenumbers, strict=True)):
        if k == 0:
            continue
        sine = kind == "dirichlet" or (kind == "periodic" and place >= axis.cutoff)
        mode = np.sqrt(2.0 / 1.5) * (np.sin(wave * x) if sine else np.cos(wave * x))
        expected = 625.0 * (wave**2 + 25.0) ** -2.0
        # The mean of n squared normal numbers has the standard error sqrt(2/n).
        variance = np.mean((fields @ (weights * mode)) ** 2)
        found.append((variance / expected - 1.0) / np.sqrt(2.0 / _DRAWS))
    return np.array(found)


def _covariances() -> Measurements:
    deviations = {kind: _deviations(kind) for kind in _KINDS}
    return Measurements(
        values={
            f"largest deviation, {kind}": float(np.abs(d).max()) for kind, d in deviations.items()
        },
        table=[
            {"boundary": kind, "modes": d.size, "mean square deviation": float(np.mean(d**2))}
            for kind, d in deviations.items()
        ],
    )


COVARIANCE = Case(
    name="gaussian-random-field",
    title="Gaussian random fields have the variances of their formula, mode by mode",
    description=(
        f"{_DRAWS} draws of N(0, 625 (-laplacian + 25)^-2) with sines, cosines and Fourier modes; "
        "the variance of every retained mode, in standard errors from (k^2 + 25)^-2 625."
    ),
    run=_covariances,
    predictions=tuple(
        Prediction(
            name=f"largest deviation, {kind}",
            value=4.0,
            kind="at_most",
            source="a normal number exceeds 4 standard errors once in 16000",
        )
        for kind in _KINDS
    ),
)


def _refinement() -> Measurements:
    worst = {}
    for dimension in (1, 2):
        coarse, fine = (
            tuple(ModeAxis("neumann", n + 1, 1.0) for _ in range(dimension)) for n in (64, 128)
        )
        few, many = (draw(axes, np.random.default_rng(3)) for axes in (coarse, fine))
        shared = many[tuple(slice(0, n) for n in few.shape)]
        worst[f"difference on shared modes, {dimension}D"] = float(np.abs(shared - few).max())
    return Measurements(values=worst)


REFINEMENT = Case(
    name="same-field-on-finer-grids",
    title="One seed on 64 and on 128 points is one field",
    description="Coefficients are drawn from low modes to high ones: a finer grid adds to them.",
    run=_refinement,
    predictions=tuple(
        Prediction(
            name=f"difference on shared modes, {dimension}D",
            value=0.0,
            kind="equals",
            source="the same numbers in the same order",
        )
        for dimension in (1, 2)
    ),
)


def _turbulence() -> Measurements:
    grid = Grid.periodic(x=(0.0, 1.0, 64), y=(0.0, 1.0, 64))
    family = TurbulentVelocity(lowest=2, highest=20)
    rng = np.random.default_rng(0)
    k = np.fft.fftfreq(64, 1 / 64)
    shells = np.floor(np.hypot(k[:, None], k) + 0.5).astype(int)
    power, divergence = np.zeros(shells.max() + 1), 0.0
    for _ in range(200):
        u, v = (np.fft.fft2(part) / 64**2 for part in family(grid, rng).values())
        divergence = max(divergence, float(np.abs(k[:, None] * u + k * v).max()))
        energy = 0.5 * (np.abs(u) ** 2 + np.abs(v) ** 2)
        power += np.bincount(shells.ravel(), energy.ravel()) / 200
    n = np.arange(2, 21)
    slope = np.polyfit(np.log(n), np.log(power[n]), 1)[0]
    return Measurements(values={"slope of the spectrum": float(slope), "divergence": divergence})


TURBULENCE = Case(
    name="turbulent-velocity",
    title="Random velocity: Kolmogorov's slope, no divergence",
    description="200 draws with E(n) ~ n^(-5/3) on shells 2 to 20; the slope of the mean spectrum.",
    run=_turbulence,
    predictions=(
        Prediction(
            name="slope of the spectrum",
            value=-5.0 / 3.0,
            kind="equals",
            rtol=0.03,
            source="Kolmogorov's inertial range, as the shells are scaled",
        ),
        Prediction(
            name="divergence",
            value=1e-13,
            kind="at_most",
            source="rounding of the Leray projection",
        ),
    ),
)

# --- Generation ----------------------------------------------------------------------------------

_REQUEST = """
import sys, pdes
pdes.generate(
    "burgers", int(sys.argv[2]), sys.argv[1], parameters={"viscosity": 1.0}, chunk=4,
    times=[0.0, 0.25, 0.5], initial={"family": "RandomFourier", "modes": 2},
    grid={"x": [0.0, 6.283185307179586, 64]},
    settings={"time_step": 0.0125, "stored_points": 32}, scheduler=sys.argv[3], workers=2,
)
"""


def _request(path: Path, samples: int, scheduler: str = "sync") -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", _REQUEST, str(path), str(samples), scheduler]
    return subprocess.Popen(arguments, env={**os.environ, "OMP_NUM_THREADS": "1"})


def _finish(path: Path, samples: int, scheduler: str = "sync") -> None:
    if _request(path, samples, scheduler).wait() != 0:
        raise RuntimeError(f"generation of {path.name} failed")


def _bytes_of(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def _different(one: Mapping[str, str], two: Mapping[str, str]) -> int:
    return sum(one.get(name) != two.get(name) for name in {*one, *two})


def _interrupted(samples: int, kills: int) -> Measurements:
    """Kill a generation so many times, at random moments spread over its length."""
    rng, rows = np.random.default_rng(5), []
    with tempfile.TemporaryDirectory() as folder:
        whole, torn = Path(folder, "whole.zarr"), Path(folder, "torn.zarr")
        _finish(whole, samples)
        blocks = -(-samples // 4)
        killed = 0
        for attempt in range(kills):
            child = _request(torn, samples)
            # From the moment at which this share of the blocks is there, a random while longer.
            target = int(blocks * attempt / kills)
            while child.poll() is None and len(list(torn.glob("manifest/*.json"))) < target:
                time.sleep(0.002)
            while child.poll() is None and not torn.exists():
                time.sleep(0.002)
            time.sleep(float(rng.uniform(0.0, 0.03)))
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
                killed += 1
            child.wait()
            there = len(list(torn.glob("manifest/*.json")))
            rows.append({"attempt": attempt + 1, "blocks there": there, "of": blocks})
        _finish(torn, samples)
        different = _different(_bytes_of(whole), _bytes_of(torn))
    return Measurements(
        values={"files that differ": float(different), "times killed": float(killed)}, table=rows
    )


def _killed_case(name: str, samples: int, kills: int, tier: Any) -> Case:
    return Case(
        name=name,
        title=f"Killed {kills} times while it generates, and resumed: the same bytes",
        description=(
            f"{samples} samples of Burgers' equation in chunks of four. The process is killed "
            f"(SIGKILL) {kills} times, at random moments over its whole length, and started again; "
            "all files are compared with those of an undisturbed run."
        ),
        run=lambda: _interrupted(samples, kills),
        tier=tier,
        predictions=(
            Prediction(
                name="files that differ",
                value=0.0,
                kind="equals",
                source="a block is a function of the recipe, and counts only once it is whole",
            ),
            Prediction(
                name="times killed", value=max(1.0, kills - 1.0), kind="at_least", source="the test"
            ),
        ),
    )


def _workers() -> Measurements:
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for scheduler in ("sync", "threads", "processes"):
            path = Path(folder, f"{scheduler}.zarr")
            _finish(path, 16, scheduler)
            found[scheduler] = _bytes_of(path)
        again = verify(Path(folder, "processes.zarr"), samples=4, rtol=0.0)
    return Measurements(
        values={
            "files that differ, two threads": float(_different(found["sync"], found["threads"])),
            "files that differ, two processes": float(
                _different(found["sync"], found["processes"])
            ),
        },
        note=f"four samples solved again agree bit for bit; {len(again)} checksums hold",
    )


WORKERS = Case(
    name="one-and-two-workers",
    title="One worker or two: the same bytes",
    description="16 samples made in one process, on two threads and on two processes.",
    run=_workers,
    tier="full",
    predictions=tuple(
        Prediction(
            name=f"files that differ, two {what}",
            value=0.0,
            kind="equals",
            source="every sample has its own seed and its own time step",
        )
        for what in ("threads", "processes")
    ),
)

_MEASURED = """
import resource, sys, pdes
path, samples = sys.argv[1], int(sys.argv[2])
pdes.generate(
    "burgers", samples, path, parameters={"viscosity": 0.5}, seed=1,
    times={"start": 0.0, "stop": 1.0, "count": 101},
    initial={"family": "RandomFourier", "modes": 2}, grid={"x": [0.0, 6.283185307179586, 128]},
    settings={"time_step": 0.01, "stored_points": 128},
)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def _peak(path: Path, samples: int) -> float:
    """Largest memory of a process that generates, in MiB."""
    arguments = [sys.executable, "-c", _MEASURED, str(path), str(samples)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _memory() -> Measurements:
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder, "few.zarr"), Path(folder, "many.zarr")
        small, start = _peak(few, 2000), time.perf_counter()
        large, seconds = _peak(many, 10000), time.perf_counter() - start
        data = open_generated(many)
        size = data.u.size * data.u.dtype.itemsize / 2**20
        ok = int(np.sum(data.status.values == 1))
    return Measurements(
        values={
            "growth of memory over size of data": (large - small) / size,
            "samples without complaint": float(ok),
        },
        table=[
            {"samples": 2000, "largest memory, MiB": small},
            {"samples": 10000, "largest memory, MiB": large, "data, MiB": size},
        ],
        note=f"10000 samples in {seconds:.0f} s on one core",
    )


MEMORY = Case(
    name="ten-thousand-samples",
    title="10,000 samples in bounded memory",
    description=(
        "Burgers' equation, 101 times on 128 points, 494 MiB in single precision, against the "
        "memory that 2,000 samples take."
    ),
    run=_memory,
    tier="full",
    predictions=(
        Prediction(
            name="growth of memory over size of data",
            value=0.1,
            kind="at_most",
            source="one block of 4 MiB at a time, however many there are",
        ),
        Prediction(
            name="samples without complaint", value=10000.0, kind="equals", source="all resolved"
        ),
    ),
)

CASES = [
    COVARIANCE,
    REFINEMENT,
    TURBULENCE,
    _killed_case("killed-once", 16, 1, "quick"),
    _killed_case("killed-ten-times", 160, 10, "full"),
    WORKERS,
    MEMORY,
]
