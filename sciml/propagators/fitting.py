"""Training of a generator: Adam on fresh points, L-BFGS on Sobol's, and when it is enough."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sciml.propagators.base import coordinate_values, evaluate_residuals
from sciml.propagators.collocation import TrainingPoints
from sciml.training.errors import NonFiniteLossError
from sciml.training.train import train

if TYPE_CHECKING:
    from sciml.propagators.mino import MiNO

__all__ = ["ResidualLoss", "fit"]

_LOG = logging.getLogger(__name__)

_SMALL = 5000
_ITERATIONS, _PIECES = 20, 10  # 200 iterations of L-BFGS in a round
_ENLARGED = 1e4
_FEWEST_POLISHED, _POLISHED = 2048, 2


class ResidualLoss:
    """Mean squares of the residuals, of the phase over its scale.

    Parameters
    ----------
    model : MiNO
        Whose equation is compiled.
    weight : float
        Of the transport equation.
    """

    def __init__(self, model: MiNO, weight: float = 1.0) -> None:
        symbols = model.symbols
        self.weight = weight
        self._program = symbols.compile("phase_residual", "amplitude_residual")
        self._trains_amplitude = bool(model.amplitudes)
        needed = {str(s) for s in symbols.phase_residual.free_symbols}
        if self._trains_amplitude:
            needed |= {str(s) for s in symbols.amplitude_residual.free_symbols}
        self._phase_names = tuple(n for n in symbols.phase_jets if n in needed)
        self._amplitude_names = tuple(n for n in symbols.amplitude_jets if n in needed)

    def __call__(self, model: Any, batch: Any) -> tuple[Any, dict[str, Any]]:
        """Loss and its parts."""
        dtype = next(model.parameters()).dtype
        t, x, xi = (values.to(dtype) for values in batch)
        phase: Any = 0.0
        amplitude: Any = 0.0
        correction: Any = 0.0
        branches = model.branches if model.symbols.dimension == 1 else (1,)
        for branch in branches:
            r_phase, r_amplitude = self._residuals(model, t, x, xi, branch)
            phase = phase + (r_phase / model.phase_scale).square().mean() / len(branches)
            if r_amplitude is not None:
                amplitude = amplitude + r_amplitude.abs().square().mean() / len(branches)
            if model.corrections:
                correction = correction + self._correction(model, t, x, branch) / len(branches)
        parts = {"eikonal": phase}
        if self._trains_amplitude:
            parts["transport"] = amplitude
        if model.corrections:
            parts["correction"] = correction
        total = phase + self.weight * (amplitude + correction)
        return total, {n: v.detach() for n, v in parts.items()}

    def _residuals(self, model: Any, t, x, xi, branch: int):
        if model.has_foot and model.symbols.dimension == 1:
            jets = model.foot_jet(t, x, branch, self._phase_names)
            if self._trains_amplitude:
                jets |= model.amplitude_terms_jet(t, x, branch, self._amplitude_names)[0]
        else:
            if model.kind == "homogeneous":
                # Degree 1: directions suffice.
                xi = xi / torch.linalg.vector_norm(xi, dim=-1, keepdim=True).clamp_min(1e-12)
            jets = model.phase_jet(t, x, xi, branch, self._phase_names)
            if self._trains_amplitude:
                jets |= model.amplitude_jet(t, x, xi, branch, self._amplitude_names)
        places = coordinate_values(model.symbols, t, x)
        zero = torch.zeros_like(t)
        known = dict.fromkeys((*model.symbols.phase_jets, *model.symbols.amplitude_jets), zero)
        values = self._program(known | jets, places, branch=float(branch))
        return values["phase_residual"], (
            values["amplitude_residual"] if self._trains_amplitude else None
        )

    def _correction(self, model: Any, t, x, branch: int) -> torch.Tensor:
        """What transport leaves of the correction together with the remainder before it."""
        symbols = model.symbols
        phase, (first, second) = model.foot_series_jet(
            t, x, branch, symbols.phase_jets, symbols.amplitude_jets
        )
        phase = {n: v.detach() for n, v in phase.items()}
        first = {n: v.detach() for n, v in first.items()}
        before = evaluate_residuals(symbols, phase | first, t, x, branch)
        own = evaluate_residuals(symbols, phase | second, t, x, branch)
        # The transport operator is 2 phi_t d_t + ...: over twice the speed it is d_t + ...
        left = (own.transport / 1j).real + before.parametrix
        return (0.5 * left / model.phase_scale).square().mean()


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
            stage(
                f"polish-{each + 1}",
                _Constant(drawn),
                _Enlarged(loss, model, drawn),
                steps=_PIECES,
                optimizer={
                    "name": "lbfgs",
                    "lr": 1.0,
                    "max_iter": _ITERATIONS,
                    "history_size": 50,
                    "tolerance_grad": 1e-14,
                    "tolerance_change": 1e-16,
                    "line_search_fn": "strong_wolfe",
                },
                callbacks=[progress if callable(progress) else _nothing],
            )
        except NonFiniteLossError as error:
            # The line search left where the loss is finite; the last good weights are back.
            _LOG.warning("polish ended early: %s", error)
            break
    model.to(device="cpu", dtype=torch.float64)
    model.eval()


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
