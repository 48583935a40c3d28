"""Training of a generator: Adam on fresh points, L-BFGS on Sobol's, and when it is enough."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sciml.propagators.collocation import TrainingPoints
from sciml.propagators.residual_loss import Part, ResidualLoss, separate_parts
from sciml.training.errors import NonFiniteLossError
from sciml.training.train import train

if TYPE_CHECKING:
    from sciml.propagators.mino import MiNO

__all__ = ["fit"]

_LOG = logging.getLogger(__name__)

_SMALL = 5000
_ITERATIONS, _PIECES = 20, 10  # 200 iterations of L-BFGS in a round
_ENLARGED = 1e4
_FEWEST_POLISHED, _POLISHED = 2048, 2
_LBFGS = {
    "name": "lbfgs",
    "lr": 1.0,
    "max_iter": _ITERATIONS,
    "history_size": 50,
    "tolerance_grad": 1e-14,
    "tolerance_change": 1e-16,
    "line_search_fn": "strong_wolfe",
}


def fit(
    model: MiNO,
    *,
    steps: int,
    batch_size: int,
    learning_rate: float | None,
    polish: int,
    seed: int,
    fields: Any,
    check_every: int | None,
    checkpoint: Path | None,
    resume: bool,
    device: str,
    progress: bool | Callable[[Any], Any],
) -> None:
    """Train in place; the work of `MiNO.fit`, whose arguments these are."""
    if isinstance(polish, bool) or int(polish) != polish or polish < 0:
        raise ValueError(f"polish is {polish!r}: wanted a whole number of rounds, 0 for none")
    if resume and checkpoint is None:
        raise ValueError("resume=True needs checkpoint=, the folder to go on from")
    rate = learning_rate or (3e-3 if model.n_parameters < _SMALL else 1e-3)
    loss = ResidualLoss(model)
    every = max(1, steps // 10) if check_every is None else check_every
    enough = _Enough(model, fields, every)

    # One callback, whoever looks on: a checkpoint says how many there were.
    def looked_at(state: Any) -> None:
        enough(state)
        if callable(progress):
            progress(state)

    def points(count: int) -> TrainingPoints:
        return TrainingPoints(
            model.collocation,
            model.final_time,
            model.window_frequency,
            folded=model._folded,
            count=count,
        )

    def stage(name: str, batches: Any, loss: Any, **options: Any) -> None:
        record = train(
            model,
            batches,
            loss,
            seed=seed,
            checkpoint=None if checkpoint is None else checkpoint / name,
            resume=resume,
            device=device,
            progress=progress is True,
            **options,
        )
        model.records.append(record)
        _LOG.info("%s: %s", name, record)

    def polished(name: str, part: Part | None, drawn: Any) -> None:
        own = ResidualLoss(model, only=part)
        with _training(model, part):
            stage(
                name if part is None else f"{name}-{part.name}-{_side(part)}",
                _Constant(drawn),
                _Enlarged(own, model, drawn),
                steps=_PIECES,
                optimizer=_LBFGS,
                callbacks=[progress if callable(progress) else _nothing],
            )

    model.records.clear()
    model.to(torch.float32)
    stage(
        "adam",
        points(batch_size),
        loss,
        steps=steps,
        optimizer={"name": "adam", "lr": rate},
        scheduler={"name": "one_cycle", "max_lr": rate},
        callbacks=[looked_at],
    )
    model.to(device="cpu", dtype=torch.float64)
    for each in range(polish):
        if enough():
            break
        count = max(_FEWEST_POLISHED, _POLISHED * batch_size)
        drawn = points(count).sobol(seed + 7919 * (each + 1))
        try:
            for part in separate_parts(model) or (None,):
                polished(f"polish-{each + 1}", part, drawn)
        except NonFiniteLossError as error:
            # The line search left where the loss is finite; the last good weights are back.
            _LOG.warning("polish ended early: %s", error)
            break
    model.to(device="cpu", dtype=torch.float64)
    model.eval()


def _side(part: Part) -> str:
    return "rightward" if part.branch == 1 else "leftward"


@contextmanager
def _training(model: MiNO, part: Part | None) -> Iterator[None]:
    """Only the network of one part learns."""
    learns = model.network_of(part) if part is not None else model
    held = {id(p) for p in learns.parameters()}
    frozen = [p for p in model.parameters() if id(p) not in held and p.requires_grad]
    for p in frozen:
        p.requires_grad_(False)
    try:
        yield
    finally:
        for p in frozen:
            p.requires_grad_(True)


def _nothing(state: Any) -> None:
    """Nobody looks on."""


class _Enlarged:
    """The loss times a large number.

    L-BFGS of torch keeps a pair of changes only if their product exceeds 1e-10: with small losses
    it would never learn the curvature, and creep.
    """

    def __init__(self, loss: ResidualLoss, model: MiNO, points: Any) -> None:
        with torch.no_grad():
            start = float(loss(model, points)[0])
        self._loss, self.factor = loss, _ENLARGED / max(start, 1e-30)

    def __call__(self, model: torch.nn.Module, batch: Any):
        total, parts = self._loss(model, batch)
        return self.factor * total, parts


class _Constant:
    """The same points at every step."""

    def __init__(self, points: Any) -> None:
        self._points = points

    def batch(self, step: int, part: tuple[int, int] = (0, 1)) -> Any:
        return self._points

    def describe(self) -> dict[str, Any]:
        return {"kind": "sobol", "points": len(self._points[0])}


class _Enough:
    """Ends training when the certified trained part is a small share of the floor."""

    def __init__(self, model: MiNO, fields: Any, every: int) -> None:
        if every < 1:
            raise ValueError(f"check_every is {every}: wanted a whole number of at least 1")
        self._model, self._fields, self._every = model, fields, every

    def __call__(self, state: Any = None) -> bool:
        if self._fields is None:
            return False
        if state is not None and (state.step % self._every or state.step == state.steps):
            return False
        with torch.no_grad():
            bound = self._model.certify(self._fields, [self._model.final_time])
        if bound.trained_enough and state is not None:
            share = float(np.max(bound.trainable / bound.tail))
            state.stop(f"the certified trained part is {share:.2g} of what the window cuts")
        return bound.trained_enough
