"""Runs for one process or several; a script that `test_processes.py` starts with a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sciml.training import ArrayBatches, TrainingRecord, TrainingState, train

STEPS = 12


class CutOffError(RuntimeError):
    """Ends a run before its time."""


def cut_off(state: TrainingState) -> None:
    if state.step == 6:
        raise CutOffError


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Dropout(0.0), torch.nn.Linear(16, 1)
    ).double()


def run(model: torch.nn.Module, folder: Path, optimizer: Any, **more: Any) -> TrainingRecord:
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(45, 3)))
    y = (x**2).sum(dim=1, keepdim=True)

    def loss(model: torch.nn.Module, batch: tuple[torch.Tensor, torch.Tensor]):
        fit = (model(batch[0]) - batch[1]).square().mean()
        return fit, {"fit": fit, "samples": len(batch[0])}

    # 15 samples are 8 and 7 over two processes.
    return train(
        model,
        ArrayBatches((x, y), batch_size=15, seed=3),
        loss,
        optimizer=optimizer,
        scheduler="cosine",
        steps=STEPS,
        seed=1,
        device="cpu",
        checkpoint=folder,
        checkpoint_every=4,
        progress=False,
        **more,
    )


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    adam = {"name": "adamw", "lr": 1e-2}
    found: dict[str, np.ndarray] = {}
    for name, optimizer in (("adamw", adam), ("lbfgs", {"name": "lbfgs", "max_iter": 5})):
        model = network()
        record = run(model, folder / name, optimizer, log=folder / f"{name}.jsonl")
        found |= {f"{name} {key}": value.numpy() for key, value in model.state_dict().items()}
        found |= {f"{name} loss": record.losses, f"{name} samples": record.parts["samples"]}
    model = network()
    try:
        run(model, folder / "cut", adam, callbacks=[cut_off])
    except CutOffError:
        model = network()
    run(model, folder / "cut", adam, callbacks=[lambda state: None], resume=True)
    found |= {f"resumed {key}": value.numpy() for key, value in model.state_dict().items()}
    rank = torch.distributed.get_rank() if torch.distributed.is_initialized() else 0
    np.savez(folder / f"result-{rank}.npz", **found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
