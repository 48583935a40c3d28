"""The training engine: killed and resumed, shared among processes, fed from a file."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

_HERE = Path(__file__).resolve().parent


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", **more}


# --- Killed and resumed --------------------------------------------------------------------------


def _killed(kills: int) -> Measurements:
    with tempfile.TemporaryDirectory() as folder:
        script = str(_HERE / "_kill_and_resume.py")
        done = subprocess.run(
            [sys.executable, script, folder, str(kills), "0"],
            env=_environment(),
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise RuntimeError(f"the script failed: {done.stderr}")
    found = json.loads(done.stdout)
    wanted = ("weights that differ", "lines that differ", "killed", "killed while writing")
    return Measurements(
        values={name: float(found[name]) for name in wanted},
        table=[found],
        note=f"{found['weights']} weights and {found['lines']} lines of the log, bit by bit",
    )


def _kill_case(kills: int, tier: str) -> Case:
    return Case(
        name=f"killed-{kills}-times",
        title=f"A run killed {kills} times ends as the one left in peace",
        description=(
            "420 steps of AdamW with dropout, a one-cycle schedule, an average of the weights and "
            "a loss that draws random numbers. Every other kill comes at a random moment, the rest "
            "in the middle of writing a file, some of them half written."
        ),
        run=lambda: _killed(kills),
        tier=tier,  # type: ignore[arg-type]
        predictions=(
            *(
                Prediction(
                    name=name,
                    value=0.0,
                    kind="equals",
                    source="every step is a function of the checkpoint, the seed and its number",
                )
                for name in ("weights that differ", "lines that differ")
            ),
            Prediction(
                name="killed", value=kills, kind="equals", source="every session was still at work"
            ),
            Prediction(
                name="killed while writing",
                value=kills // 2,
                kind="at_least",
                source="that many die before a rename",
            ),
        ),
    )


# --- Two processes -------------------------------------------------------------------------------

_SHARED = """
import sys
import numpy as np, torch
from sciml.training import ArrayBatches, train
torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
model = model.double()
x = torch.from_numpy(np.random.default_rng(0).normal(size=(90, 3)))
batches = ArrayBatches((x, (x**2).sum(dim=1, keepdim=True)), batch_size=15, seed=3)
def loss(model, batch):
    return (model(batch[0]) - batch[1]).square().mean()
train(model, batches, loss, optimizer={"name": "adamw", "lr": 1e-2}, steps=int(sys.argv[2]),
      device="cpu", progress=False)
weights = torch.cat([p.detach().flatten() for p in model.parameters()])
np.save(f"{sys.argv[1]}.npy", weights.numpy())
"""


def _weights(folder: Path, processes: int, steps: int) -> list[np.ndarray]:
    """Weights that every process ends with."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started, files = [], []
    for rank in range(processes):
        several = {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(processes),
            "LOCAL_WORLD_SIZE": str(processes),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "ACCELERATE_USE_CPU": "true",
        }
        files.append(folder / f"{processes}-{rank}")
        command = [sys.executable, "-c", _SHARED, str(files[-1]), str(steps)]
        environment = _environment(**(several if processes > 1 else {}))
        started.append(subprocess.Popen(command, env=environment))
    codes = [process.wait() for process in started]
    if any(codes):
        raise RuntimeError(f"a run with {processes} processes failed")
    return [np.load(f"{file}.npy") for file in files]


def _two_processes() -> Measurements:
    if find_spec("accelerate") is None:
        raise unittest.SkipTest(
            "accelerate is not installed: pip install 'sciml-pdes[distributed]'"
        )
    with tempfile.TemporaryDirectory() as folder:
        (one,) = _weights(Path(folder), 1, 100)
        first, second = _weights(Path(folder), 2, 100)
    return Measurements(
        values={
            "difference between one process and two": float(np.abs(first - one).max()),
            "difference between the two": float(np.abs(first - second).max()),
        },
        note="100 steps of AdamW in double precision; batches of 15, shared as 8 and 7",
    )


TWO_PROCESSES = Case(
    name="two-processes",
    title="Two processes that share every batch are one",
    description="gloo on the CPU; gradients are averaged with the number of samples as weights.",
    run=_two_processes,
    tier="full",
    predictions=(
        Prediction(
            name="difference between one process and two",
            value=1e-9,
            kind="at_most",
            source="sums in another order, 1e-16 each, which Adam's quotient enlarges",
        ),
        Prediction(
            name="difference between the two",
            value=0.0,
            kind="equals",
            source="both apply the same reduced gradient",
        ),
    ),
)


# --- Streaming -----------------------------------------------------------------------------------

_EPOCH = """
import resource, sys, time
from sciml.training import StreamedFields
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
fields = StreamedFields(sys.argv[1], inputs={"u": 0}, targets={"u": 1}, batch_size=8)
fields.batch(0)
before, start = peak(), time.perf_counter()
for step in range(len(fields)):
    fields.batch(step)
fields.statistics()
print(peak() - before, time.perf_counter() - start)
"""


def _streamed(megabytes: int) -> Measurements:
    import h5py

    samples = megabytes * 2  # each 0.5 MiB: two times of 256 x 256 numbers in single precision
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fields.nc"
        rng = np.random.default_rng(0)
        with h5py.File(path, "w") as file:
            u = file.create_dataset("u", (samples, 2, 256, 256), "f4")
            for place, name in enumerate(("sample", "time", "x", "y")):
                axis = file.create_dataset(name, data=np.arange(float(u.shape[place])))
                axis.make_scale(name)
                u.dims[place].attach_scale(axis)
            for i in range(samples):
                u[i] = rng.normal(size=(2, 256, 256))
        done = subprocess.run(
            [sys.executable, "-c", _EPOCH, str(path)],
            # Large blocks are given back at once: what is measured is what is in use.
            env=_environment(MALLOC_MMAP_THRESHOLD_="131072"),
            capture_output=True,
            text=True,
            check=True,
        )
    growth, seconds = map(float, done.stdout.split())
    return Measurements(
        values={"growth of memory over size of data": growth / megabytes},
        table=[{"data, MiB": megabytes, "growth of memory, MiB": growth, "seconds": seconds}],
    )


def _streaming_case(megabytes: int, tier: str) -> Case:
    batch = 4.0  # eight samples; inputs and targets are copied a few times on their way
    return Case(
        name=f"streaming-{megabytes}-mib",
        title=f"An epoch over {megabytes} MiB in the memory of some batches",
        description=(
            "A shuffled epoch and the statistics over a netCDF file, against the memory that the "
            "first batch has taken."
        ),
        run=lambda: _streamed(megabytes),
        tier=tier,  # type: ignore[arg-type]
        predictions=(
            Prediction(
                name="growth of memory over size of data",
                value=6.0 * batch / megabytes,
                kind="at_most",
                source="six times inputs and targets of a batch: themselves, as read, in order, "
                "joined, one side in double precision, one in the order of its channels",
            ),
        ),
    )


CASES = [
    _kill_case(3, "quick"),
    _kill_case(20, "full"),
    TWO_PROCESSES,
    _streaming_case(64, "quick"),
    _streaming_case(512, "full"),
]
