"""The Darcy protocol: which models, trained on which grid, used on which others.

All settings are here, in `PROTOCOL` and `REDUCED`. Every run leaves its numbers and the checkpoints
of its training in the cache folder, so that what was interrupted goes on where it stopped.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import io
import json
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sciml import _atomic

from ._darcy import samples, tensors

FOURIERS = ("periodic", "quadrature")


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Numbers of a protocol.

    Attributes
    ----------
    train_points : int
        Nodes along a side of the training grid.
    test_points : tuple of int
        Those of the grids of use; the finest is where the equation is solved.
    train_samples, test_samples : int
    width, n_modes, depth : int
        Of the Fourier operators; modes count negative ones, as in `FNO`.
    steps, batch : int
    rate : float
        Highest learning rate of the cycle.
    norms : tuple of str or None
        Normalizations of the Fourier operators, each with both Fourier layers.
    others : tuple of str
        Models beside them.
    seeds, seeds_of_others : tuple of int
        Of weights and order of samples, for Fourier operators and the others.
    """

    train_points: int = 65
    test_points: tuple[int, ...] = (33, 65, 129, 257)
    train_samples: int = 1000
    test_samples: int = 200
    width: int = 32
    n_modes: int = 32
    depth: int = 4
    steps: int = 5000
    batch: int = 8
    rate: float = 4e-3
    norms: tuple[str | None, ...] = (None, "instance", "quad", "layer", "blend", "quad_layer")
    others: tuple[str, ...] = ("unet", "plain unet", "transolver", "plain transolver")
    seeds: tuple[int, ...] = (0, 1, 2)
    seeds_of_others: tuple[int, ...] = (0, 1, 2)

    def runs(self) -> list[tuple[str, int]]:
        """Row and seed of every run; whatever is cut off leaves whole tables of fewer seeds."""
        fourier = [f"{fourier} fno, {norm}" for norm in self.norms for fourier in FOURIERS]
        return [
            *((name, seed) for seed in self.seeds for name in fourier),
            *((name, seed) for seed in self.seeds_of_others for name in self.others),
        ]

    def differences(self, other: Protocol) -> str:
        """Where this protocol is not the other one, in words."""
        mine, theirs = dataclasses.asdict(self), dataclasses.asdict(other)
        return ", ".join(
            f"{name.replace('_', ' ')} {_told(mine[name])} instead of {_told(theirs[name])}"
            for name in mine
            if mine[name] != theirs[name]
        )


def _told(value: Any) -> str:
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


PROTOCOL = Protocol()
REDUCED = Protocol(
    train_points=33,
    train_samples=180,
    test_samples=20,
    width=16,
    n_modes=16,
    steps=500,
    norms=(None, "instance", "quad_layer"),
    others=("unet", "plain unet", "transolver"),
    seeds_of_others=(0,),
)

# --- Models ---------------------------------------------------------------------------------------


def make(name: str, settings: Protocol, seed: int) -> Any:
    """Model of a row."""
    from sciml.operators import FNO, Transolver, UNet

    plain = name.startswith("plain")
    if name.endswith("transolver"):
        return Transolver(
            1, 1, 2, settings.width, 3, quadrature=not plain, axis_kinds="node", seed=seed
        )
    if name.endswith("unet"):
        scale: dict[str, Any] = {"scales": "points"} if plain else {"n_cells": 32}
        norm = "layer" if plain else "quad_layer"
        width = settings.width // 2
        return UNet(
            1, 1, width, norm=norm, quadrature=not plain, axis_kinds="node", seed=seed, **scale
        )
    fourier, norm = name.split(" fno, ")
    return FNO(
        1,
        1,
        settings.width,
        (settings.n_modes,) * 2,
        settings.depth,
        norm=None if norm == "None" else norm,  # pyright: ignore[reportArgumentType]
        fourier=fourier,  # pyright: ignore[reportArgumentType]
        axis_kinds="node",
        channel_mlp=False,
        seed=seed,
    )


# --- Runs -----------------------------------------------------------------------------------------


def folder_of(settings: Protocol) -> Path:
    """Where runs of these settings by this code are kept."""
    import sciml

    digest = hashlib.sha256(json.dumps(dataclasses.asdict(settings)).encode())
    here, package = Path(__file__).parent, Path(sciml.__file__).parent
    sources = [here / "_darcy.py", Path(__file__)]
    for room in ("nn", "operators", "training"):
        sources += sorted((package / room).glob("*.py"))
    for path in sources:
        digest.update(path.read_bytes())
    root = Path(os.environ.get("SCIML_CACHE") or ".sciml_cache")
    return root / "darcy_protocol" / digest.hexdigest()[:16]


@functools.lru_cache(maxsize=1)
def _data(settings: Protocol, folder: Path) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Training tensors on the training grid, test fields on the finest one; kept in the folder."""
    kept = folder / "data.npz"
    if not kept.is_file():
        buffer = io.BytesIO()
        x, y, a, u = _solved(settings)
        np.savez_compressed(buffer, x=x, y=y, a=a, u=u)
        folder.mkdir(parents=True, exist_ok=True)
        _atomic.write(kept, buffer.getvalue())
    with np.load(kept) as stored:
        fields = tensors(stored["x"], stored["y"], settings.train_points)
        return *fields, stored["a"], stored["u"]


def _solved(settings: Protocol) -> tuple[np.ndarray, ...]:
    """Fields for training on the training grid, and for the test on the finest one."""
    cells, part = max(settings.test_points) - 1, 40
    step = cells // (settings.train_points - 1)
    x, y = [], []
    for first in range(0, settings.train_samples, part):
        count = min(part, settings.train_samples - first)
        a, u = samples(count, cells, seed=1000 + first)
        x.append(a[:, ::step, ::step])
        y.append(u[:, ::step, ::step])
    parts = [
        samples(min(part, settings.test_samples - first), cells, seed=900_000 + first)
        for first in range(0, settings.test_samples, part)
    ]
    a, u = (np.concatenate(each) for each in zip(*parts, strict=True))
    return np.concatenate(x), np.concatenate(y), a, u


def run(name: str, settings: Protocol, seed: int, folder: Path) -> dict[str, Any]:
    """Train a row with one seed and use it on every grid; from the folder if it is there."""
    import torch

    from sciml.nn import quadrature_weights
    from sciml.operators import resolution_gap
    from sciml.training import ArrayBatches, train
    from sciml.training.losses import supervised_loss

    place = f"{name}, seed {seed}".replace(" ", "-").replace(",", "")
    kept = folder / f"{place}.json"
    if kept.is_file():
        return json.loads(kept.read_text(encoding="utf-8"))
    x, y, a, u = _data(settings, folder)
    weights = quadrature_weights((settings.train_points,) * 2, axis_kinds="node").full()
    model = make(name, settings, seed)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        train(
            model,
            ArrayBatches((x, y), batch_size=settings.batch, seed=seed),
            supervised_loss("relative_l2", weights),
            optimizer={"name": "adamw", "lr": settings.rate, "weight_decay": 1e-4},
            scheduler={"name": "one_cycle", "max_lr": settings.rate},
            steps=settings.steps,
            seed=seed,
            checkpoint=folder / place,
            resume=True,
            device="cpu",
            progress=False,
        )
        grids = [settings.train_points, *settings.test_points]
        grids = list(dict.fromkeys(grids))
        gap = resolution_gap(
            model,
            lambda shape: tensors(a, u, shape[0]),
            [(n, n) for n in grids],
            axis_kinds="node",
            batch_size=4,
        )
    finally:
        torch.set_num_threads(threads)
    row: dict[str, Any] = {"model": name, "seed": seed}
    for points in sorted(settings.test_points):
        (found,) = (r for r in gap.rows if r.points[0] == points)
        row[f"E({points})"] = found.error
    finest = gap.rows[grids.index(max(grids))]
    row["E(finest)/E(train)"] = gap.degradation
    row["I"] = finest.inconsistency
    row["predicted of norms"] = finest.predicted_normalization
    folder.mkdir(parents=True, exist_ok=True)
    _atomic.write(kept, json.dumps(row))
    return row


def table(
    settings: Protocol,
    told: Callable[[str], None] | None = None,
    names: Collection[str] | None = None,
) -> list[dict[str, Any]]:
    """Rows of every model and seed, or of some models."""
    folder, rows = folder_of(settings), []
    for name, seed in settings.runs():
        if names is None or name in names:
            rows.append(run(name, settings, seed, folder))
            if told is not None:
                told(f"{name}, seed {seed}: {rows[-1]}")
    return rows


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean over the seeds of each model, with the range where there are several."""
    found = []
    for name in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == name]
        line: dict[str, Any] = {"model": name, "seeds": len(own)}
        for column in own[0]:
            if column in ("model", "seed"):
                continue
            values = [row[column] for row in own]
            line[column] = float(np.mean(values))
            if len(own) > 1:
                line[f"{column}, range"] = f"{min(values):.4g} to {max(values):.4g}"
        found.append(line)
    return found
