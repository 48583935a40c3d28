"""Train in processes that are killed again and again, and compare with a run left in peace.

A script: ``python _kill_and_resume.py FOLDER KILLS SEED``. It prints what it found as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch._dynamo  # loaded by the first optimizer; here once for all sessions

from sciml import _atomic
from sciml.training import ArrayBatches, train

STEPS = 420


def _run(folder: Path) -> None:
    """A run with everything in it that has a state: dropout, momentum, schedule, average."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 64), torch.nn.Tanh(), torch.nn.Dropout(0.1), torch.nn.Linear(64, 1)
    )
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(70, 2)).astype(np.float32))
    batches = ArrayBatches((x, x.prod(dim=1, keepdim=True)), batch_size=16, seed=1)

    def loss(model: torch.nn.Module, batch: Any) -> torch.Tensor:
        inputs, targets = batch
        noise = 0.01 * float(np.random.normal())  # noqa: NPY002 (a user's loss may do so)
        return (model(inputs + noise) - targets).square().mean()

    train(
        model,
        batches,
        loss,
        optimizer={"name": "adamw", "lr": 1e-2},
        scheduler="one_cycle",
        steps=STEPS,
        seed=2,
        ema=0.99,
        checkpoint=folder / "checkpoints",
        checkpoint_every=3,
        resume=True,
        log=folder / "log.jsonl",
        progress=False,
    )
    weights = torch.cat([value.flatten() for value in model.state_dict().values()])
    _atomic.write(folder / "weights", weights.numpy().tobytes())


def _fork(folder: Path, suicide: int = 0) -> int:
    """Start a session; with ``suicide`` it dies while it writes its so-manieth file."""
    child = os.fork()
    if child:
        return child
    try:
        if suicide:
            _die_while_writing(suicide)
        _run(folder)
        os._exit(0)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        os._exit(1)


def _die_while_writing(count: int) -> None:
    replace, done = os.replace, [0]

    def dying(source: Any, target: Any) -> None:
        done[0] += 1
        if done[0] == count:
            if count % 2:  # half of the content, as if the disk had been slower
                os.truncate(source, os.path.getsize(source) // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)

    os.replace = dying


def _steps(folder: Path) -> int:
    log = folder / "log.jsonl"
    return log.read_bytes().count(b"\n") if log.exists() else 0


def _kill_at(child: int, folder: Path, step: int, delay: float) -> None:
    alive = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while _steps(folder) < step and os.waitid(os.P_PID, child, alive) is None:
        time.sleep(0.0005)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)


def _leftovers(folder: Path) -> bool:
    """Whether a checkpoint was being written."""
    files = list((folder / "checkpoints").glob("*")) + list((folder / "checkpoints").glob(".*"))
    whole = {file.stem for file in files if file.suffix == ".json"}
    return any(f.suffix == ".tmp" or f.stem not in whole for f in files)


def main(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill a run so many times at random moments, every other time while it writes."""
    rng = random.Random(seed)
    peace, war = folder / "peace", folder / "war"
    status = [os.waitpid(_fork(peace), 0)[1]]
    writing, killed = 0, 0
    for number in range(kills):
        if number % 2:
            child = _fork(war, suicide=rng.randint(2, 2 * STEPS // (3 * kills)))
        else:
            child = _fork(war)
            step = round((number + rng.random()) * STEPS / (kills + 1))
            _kill_at(child, war, max(step, 1), rng.uniform(0.0, 0.01))
        killed += os.waitpid(child, 0)[1] == signal.SIGKILL
        writing += _leftovers(war)
    status.append(os.waitpid(_fork(war), 0)[1])
    if any(status):
        raise RuntimeError("a session failed, see its message")
    weights = [np.frombuffer((f / "weights").read_bytes(), np.uint32) for f in (peace, war)]
    logs = [(f / "log.jsonl").read_bytes().splitlines() for f in (peace, war)]
    return {
        "killed": killed,
        "killed while writing": writing,
        "weights": len(weights[0]),
        "weights that differ": int(np.sum(weights[0] != weights[1])),
        "lines": len(logs[0]),
        "lines that differ": sum(a != b for a, b in zip(*logs, strict=True)),
    }


if __name__ == "__main__":
    place, count, root = sys.argv[1:]
    print(json.dumps(main(Path(place), int(count), int(root))))  # noqa: T201
