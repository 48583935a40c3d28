"""A run that was cut off and resumed is the run that was not."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from sciml.training import (
    AbstractCallback,
    ArrayBatches,
    EarlyStop,
    train,
)


class CutOffError(RuntimeError):
    """Cuts a run off."""


class CutOff(AbstractCallback):
    """Raise after a step, as a crash would."""

    def __init__(self, step: int | None = None) -> None:
        self.step = step

    def on_step(self, state):
        if state.step == self.step:
            raise CutOffError


def network(seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.nn.Sequential(
            torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Dropout(0.2), torch.nn.Linear(8, 1)
        ).to(dtype)


def points(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(50, 2))).to(dtype)
    return x, (x[:, :1] * x[:, 1:]).sin()


def loss(model, batch):
    x, y = batch
    fit = (model(x) - y).square().mean()
    size = sum(p.abs().sum() for p in model.parameters()).real * 1e-4
    return fit + size, {"fit": fit, "size": size}


def drawn(step: int, generator: torch.Generator):
    x = torch.randn(16, 2, generator=generator)
    return x, x[:, :1] - x[:, 1:]


def loader():
    data = torch.utils.data.TensorDataset(*points())
    return torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)


BATCHES = {
    "arrays": lambda: ArrayBatches(points(), batch_size=16, seed=3),
    "function": lambda: drawn,
    "list": lambda: list(ArrayBatches(points(), batch_size=16)),
    "loader": loader,
}
OPTIMIZERS = {
    "adam": {"optimizer": {"name": "adam", "lr": 1e-2}},
    "one_cycle": {"optimizer": "adamw", "scheduler": "one_cycle", "clip": 0.1},
    "plateau": {"optimizer": {"name": "sgd", "lr": 0.1, "momentum": 0.9}, "scheduler": "plateau"},
    "lbfgs": {"optimizer": {"name": "lbfgs", "max_iter": 4, "line_search_fn": "strong_wolfe"}},
    "ema": {"optimizer": "adam", "ema": 0.9},
    "float16": {"optimizer": "adam", "precision": "float16"},
    "bfloat16": {"optimizer": "adam", "precision": "bfloat16"},
    "early_stop": {"optimizer": "adam", "early_stop": EarlyStop(patience=50, every=3)},
}


def _cases():
    yield from ((b, "adam") for b in BATCHES)
    yield from (("arrays", o) for o in OPTIMIZERS if o != "adam")


@pytest.mark.parametrize(("batches", "optimizer"), [*_cases()])
def test_cut_off_and_resumed_is_bit_for_bit_the_undisturbed_run(tmp_path, batches, optimizer):
    options = {**OPTIMIZERS[optimizer], "steps": 20, "seed": 5, "checkpoint_every": 3}
    whole, parts = network(), network()
    once = train(
        whole, BATCHES[batches](), loss, log=tmp_path / "a.jsonl", callbacks=[CutOff()], **options
    )
    resumed = {"log": tmp_path / "b.jsonl", "checkpoint": tmp_path / "c", "resume": True}
    for cut in (2, 7, 12, 13):
        with pytest.raises(CutOffError):
            train(parts, BATCHES[batches](), loss, callbacks=[CutOff(cut)], **options, **resumed)
        parts = network()  # nothing but the files is left
    again = train(parts, BATCHES[batches](), loss, callbacks=[CutOff()], **options, **resumed)
    assert again.resumed_from == 12
    for name, value in whole.state_dict().items():
        assert torch.equal(value, parts.state_dict()[name]), name
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    np.testing.assert_array_equal(once.losses, again.losses)
    np.testing.assert_array_equal(once.parts["fit"], again.parts["fit"])
    np.testing.assert_array_equal(once.learning_rates, again.learning_rates)
    rows = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == list(range(1, 21))
    assert [row["loss"] for row in rows] == again.losses.tolist()
