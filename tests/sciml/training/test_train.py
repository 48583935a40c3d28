"""The loop: what it computes, what ends it, and what it refuses."""

from __future__ import annotations

import json
import math
import random
import signal

import numpy as np
import pytest
import torch

from sciml.training import (
    AbstractCallback,
    ArrayBatches,
    CheckpointError,
    EarlyStop,
    MovingAverage,
    NonFiniteLossError,
    TrainingInterruptedError,
    train,
)
from sciml.training.checkpoint import CheckpointFolder, load_checkpoint, save_checkpoint

X = torch.linspace(-1.0, 1.0, 20)[:, None]
DATA = (X, 2.0 * X + 1.0)

LBFGS = {"name": "lbfgs", "line_search_fn": "strong_wolfe", "tolerance_change": 0.0}


def line(dtype: torch.dtype = torch.float32) -> torch.nn.Linear:
    model = torch.nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(0.0)
        model.bias.fill_(0.0)
    return model.to(dtype)


def loss(model, batch):
    return (model(batch[0]) - batch[1]).square().mean()


def run(model=None, batches=None, loss=loss, **options):
    given = {"optimizer": {"name": "sgd", "lr": 0.1}, "steps": 5, "progress": False, **options}
    model = line() if model is None else model
    return train(model, [DATA] if batches is None else batches, loss, **given)


# --- What a step is ---


def test_steps_are_those_of_gradient_descent():
    model = line()
    record = run(model, steps=3)
    w = b = 0.0
    x, y = X.numpy().astype(float), DATA[1].numpy().astype(float)
    for k in range(3):
        r = w * x + b - y
        np.testing.assert_allclose(record.losses[k], np.mean(r**2), rtol=1e-6)
        gw, gb = 2 * np.mean(r * x), 2 * np.mean(r)
        np.testing.assert_allclose(record.gradient_norms[k], math.hypot(gw, gb), rtol=1e-6)
        w, b = w - 0.1 * gw, b - 0.1 * gb
    np.testing.assert_allclose([model.weight.item(), model.bias.item()], [w, b], rtol=1e-6)


def test_lbfgs_solves_least_squares_in_a_few_steps():
    model = line(torch.float64)
    record = run(model, [(X.double(), 2.0 * X.double() + 1.0)], optimizer=LBFGS)
    # It stops at a gradient of 1e-7, which a loss of about its square has.
    assert record.losses[-1] < 1e-13
    np.testing.assert_allclose([model.weight.item(), model.bias.item()], [2.0, 1.0], rtol=1e-6)


def test_clipping_bounds_the_step_and_the_norm_before_it_is_recorded():
    model = line()
    record = run(model, steps=1, clip=0.01)
    moved = math.hypot(model.weight.item(), model.bias.item())
    assert record.gradient_norms[0] > 1.0
    assert moved == pytest.approx(0.1 * 0.01, rel=1e-4)


def test_the_schedule_advances_after_every_step():
    record = run(steps=4, scheduler={"name": "step", "step_size": 2, "gamma": 0.1})
    np.testing.assert_allclose(record.learning_rates, [0.1, 0.1, 0.01, 0.01])
    spanning = run(steps=10, scheduler="cosine").learning_rates
    np.testing.assert_allclose(spanning[5], 0.05)


def test_bfloat16_computes_in_half_precision_and_keeps_the_weights(monkeypatch):
    seen = []

    def spying(model, batch):
        out = model(batch[0])
        seen.append(out.dtype)
        return (out.float() - batch[1]).square().mean()

    model = line()
    run(model, loss=spying, steps=2, precision="bfloat16")
    assert set(seen) == {torch.bfloat16} and model.weight.dtype == torch.float32


def test_float16_gradients_that_overflow_leave_the_update_out():
    seen = []

    def large(model, batch):  # times the first scale of 2^16 this is beyond 65504 in float16
        seen.append(model.bias.item())
        return (model(batch[0]) - batch[1]).square().mean() * 1e3

    record = run(loss=large, steps=30, precision="float16", optimizer={"name": "sgd", "lr": 1e-4})
    assert seen[0] == seen[1] == 0.0 and seen[-1] != 0.0
    assert not np.isfinite(record.gradient_norms[0]) and np.isfinite(record.gradient_norms[-1])
    assert record.losses[-1] < record.losses[0]


def test_a_moving_average_is_what_the_model_has_at_the_end():
    model, seen = line(), []
    run(model, steps=4, ema=0.5, callbacks=[lambda s: seen.append(s.model.bias.item())])
    average = 0.0
    for n, value in enumerate(seen, start=1):
        decay = min(0.5, (1 + n) / (10 + n))
        average += (1 - decay) * (value - average)
    assert model.bias.item() == pytest.approx(average, rel=1e-6)


def test_batches_of_a_function_depend_on_seed_and_step_only():
    draws = {}

    def drawn(step, generator):
        draws.setdefault(step, []).append(torch.rand(1, generator=generator).item())
        return DATA

    run(batches=drawn, steps=3, seed=1)
    run(batches=drawn, steps=2, seed=1)
    assert draws[0][0] == draws[0][1] and draws[1][0] == draws[1][1]
    assert len({values[0] for values in draws.values()}) == 3


def test_the_callers_random_numbers_and_mode_are_left_alone():
    model = line().eval()
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy()  # noqa: NPY002

    def drawing(model, batch):
        assert model.training
        return loss(model, batch) + 0.0 * torch.rand(1).item() * random.random()

    run(model, loss=drawing)
    assert torch.equal(states[0], torch.get_rng_state()) and states[1] == random.getstate()
    assert np.array_equal(states[2], np.random.get_state()[1])  # noqa: NPY002
    assert not model.training


def test_dropout_is_a_function_of_the_seed():
    def trained(seed):
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(1, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1)
        )
        torch.manual_seed(random.randrange(1000))
        return run(model, steps=3, seed=seed).losses

    np.testing.assert_array_equal(trained(3), trained(3))
    assert not np.array_equal(trained(3), trained(4))


# --- Callbacks, log, record ---


def test_callbacks_see_every_event(tmp_path):
    events = []

    class Watch(AbstractCallback):
        def on_start(self, state):
            events.append(("start", state.step))

        def on_step(self, state):
            events.append(("step", state.step, state.loss))
            if state.step == 4:
                state.stop("enough")

        def on_checkpoint(self, state, path):
            events.append(("checkpoint", load_checkpoint(path).step))

        def on_end(self, state):
            events.append(("end", state.step))

    record = run(steps=9, callbacks=[Watch()], checkpoint=tmp_path, checkpoint_every=3)
    assert [event[:2] for event in events] == [
        ("start", 0),
        *(("step", k) for k in (1, 2, 3)),
        ("checkpoint", 3),
        ("step", 4),
        ("checkpoint", 4),
        ("end", 4),
    ]
    assert [e[2] for e in events if e[0] == "step"] == record.losses.tolist()
    assert (record.status, record.reason, record.steps) == ("stopped_early", "enough", 4)
    again = run(steps=9, callbacks=[Watch()], checkpoint=tmp_path, checkpoint_every=3, resume=True)
    assert (again.status, again.steps) == ("stopped_early", 4)


def test_early_stop_gives_the_best_weights_back():
    values = iter([3.0, 1.0, 2.0, math.nan, 5.0])
    seen = []

    def validate(model):
        assert not model.training and not torch.is_grad_enabled()
        seen.append(model.bias.item())
        return next(values)

    model, stop = line(), EarlyStop(patience=3, every=2, validate=validate)
    record = run(model, steps=100, early_stop=stop)
    assert (record.status, record.steps, stop.best, stop.best_step) == ("stopped_early", 10, 1.0, 4)
    assert model.bias.item() == seen[1]
    assert "no improvement since step 4" in record.reason


def test_early_stop_on_the_training_loss_takes_a_mean():
    record = run(steps=500, early_stop=3, optimizer={"name": "sgd", "lr": 0.5})
    assert record.status == "stopped_early" and record.losses[-1] < 1e-10


def test_log_has_a_line_for_each_step(tmp_path):
    def two(model, batch):
        fit = loss(model, batch)
        return fit + 1.0, {"fit": fit}

    record = run(loss=two, log=tmp_path / "deep" / "log.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "deep" / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["loss"] for row in rows] == record.losses.tolist()
    assert [row["fit"] for row in rows] == record.parts["fit"].tolist()
    assert rows[0]["learning_rate"] == 0.1 and rows[0]["gradient_norm"] > 0.0


def test_record_speaks_and_draws():
    def sometimes(model, batch):
        fit = loss(model, batch)
        return fit, {"fit": fit} if model.bias.item() else {"start": fit}

    record = run(loss=sometimes)
    assert np.isnan(record.parts["fit"][0]) and np.isnan(record.parts["start"][1:]).all()
    assert str(record).startswith("finished after 5 steps, loss 2.474 -> ")
    axes = record.plot()
    assert axes.get_xlabel() == "step" and axes.get_yscale() == "log"
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), record.losses)
    assert record.plot(axes) is axes
    json.dumps(record.to_dict())


# --- Numbers that are not finite ---


def test_a_loss_that_is_not_finite_is_named_and_the_good_weights_come_back(tmp_path):
    kept = {}

    def keep(state):
        kept[state.step] = state.model.bias.item()

    def failing(model, batch):
        fit = loss(model, batch)
        bad = fit * (math.nan if len(kept) == 7 else 1.0)
        return fit + bad, {"fit": fit, "physics": bad}

    model = line()
    with pytest.raises(NonFiniteLossError) as caught:
        run(
            model, loss=failing, steps=20, callbacks=[keep], checkpoint=tmp_path, checkpoint_every=3
        )
    error, text = caught.value, str(caught.value)
    assert (error.step, error.good_step, error.record.steps) == (8, 6, 7)
    assert text.startswith("step 8: the loss is nan (physics is nan). The model has its weights")
    assert f"kept in {tmp_path / 'step-000000006.json'}" in text
    assert model.bias.item() == kept[6]
    assert load_checkpoint(tmp_path / "step-000000006.json").state["model"]["bias"] == kept[6]


def test_weights_whose_loss_is_not_finite_are_no_good_weights(tmp_path):
    """A checkpoint right before the failing step was never seen to have a finite loss."""
    model = line()
    with pytest.raises(NonFiniteLossError) as caught:
        run(model, steps=400, optimizer={"name": "sgd", "lr": 1e3}, checkpoint_every=1)
    error = caught.value
    assert error.good_step == error.step - 2
    assert math.isfinite(loss(model, DATA).item())


def test_a_gradient_that_is_not_finite_does_not_reach_the_weights():
    def root(model, batch):
        return (model.weight * 0.0).sqrt().sum() + model.bias.sum()

    model = line()
    with pytest.raises(NonFiniteLossError, match="the gradient is nan though the loss is finite"):
        run(model, loss=root)
    assert model.weight.item() == 0.0


def test_data_that_are_not_finite_are_blamed():
    bad = DATA[0].clone()
    bad[3] = math.inf
    with pytest.raises(NonFiniteLossError, match=r"the batch itself holds 1 numbers .* the data"):
        run(batches=[DATA, (bad, DATA[1])])


def test_lbfgs_that_runs_away_is_caught():
    def cubic(model, batch):
        return -torch.exp(model.bias.double() * 1e3).sum() + 0.0 * model.weight.sum()

    model = line(torch.float64)
    with pytest.raises(NonFiniteLossError):
        run(model, loss=cubic, optimizer={"name": "lbfgs", "lr": 1.0}, steps=50)
    assert math.isfinite(model.bias.item())


# --- Ctrl-C ---


def test_ctrl_c_finishes_the_step_leaves_a_checkpoint_and_says_how_to_go_on(tmp_path):
    def interrupt(state):
        if state.step == 4:
            signal.raise_signal(signal.SIGINT)

    options = {"steps": 12, "checkpoint": tmp_path, "checkpoint_every": 100}
    model, whole = line(), line()
    run(whole, steps=12)
    with pytest.raises(TrainingInterruptedError, match=r"after step 4 of 12.*resume=True goes on"):
        run(model, callbacks=[interrupt], **options)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    model = line()
    record = run(model, callbacks=[lambda state: None], resume=True, **options)
    assert record.resumed_from == 4
    assert torch.equal(model.weight, whole.weight)


def test_ctrl_c_without_a_folder_says_that_nothing_was_stored():
    def interrupt(state):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(TrainingInterruptedError, match="nothing was stored") as caught:
        run(callbacks=[interrupt])
    assert caught.value.record.status == "interrupted"


def test_ctrl_c_twice_ends_at_once():
    def impatient(model, batch):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        run(loss=impatient)
    assert not isinstance(caught.value, TrainingInterruptedError)


# --- Checkpoints ---


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


@pytest.mark.parametrize("suffix", [".json", ".safetensors"])
def test_the_last_good_checkpoint_is_used_and_that_is_said(tmp_path, caplog, suffix):
    whole = line()
    run(whole, steps=10)
    run(steps=10, checkpoint=tmp_path, checkpoint_every=2)
    damage(tmp_path / f"step-000000010{suffix}")
    (tmp_path / f"step-000000008{suffix}").unlink()
    model = line()
    record = run(model, steps=10, checkpoint=tmp_path, checkpoint_every=2, resume=True)
    assert record.resumed_from == 6
    assert torch.equal(model.weight, whole.weight)
    assert "step-000000010" in caplog.text and "going on from step 6" in caplog.text


def test_a_number_changed_in_the_json_file_is_noticed(tmp_path):
    run(checkpoint=tmp_path, checkpoint_every=5)
    file = tmp_path / "step-000000005.json"
    text = file.read_text()
    assert '["lr", 0.1]' in text
    file.write_text(text.replace('["lr", 0.1]', '["lr", 0.2]'))
    with pytest.raises(CheckpointError, match=r"step-000000005\.json is damaged: its checksum"):
        load_checkpoint(file)


def test_checkpoints_that_are_all_damaged_are_an_error_not_a_new_start(tmp_path):
    run(checkpoint=tmp_path, checkpoint_every=2)
    for file in tmp_path.glob("*.safetensors"):
        damage(file)
    with pytest.raises(CheckpointError, match=r"no checkpoint in .* can be used: .*checksum"):
        run(checkpoint=tmp_path, resume=True)


def test_the_last_three_stay_and_leftovers_of_a_killed_process_go(tmp_path):
    for name in (".step-000000004.json-x.tmp", "step-000000007.safetensors"):
        (tmp_path / name).write_bytes(b"half")
    run(steps=8, checkpoint=tmp_path, checkpoint_every=2)
    names = sorted(path.name for path in tmp_path.iterdir())
    stems = ["step-000000004", "step-000000006", "step-000000008"]
    assert names == [f"{stem}{suffix}" for stem in stems for suffix in (".json", ".safetensors")]


def test_a_checkpoint_can_be_named_and_later_ones_are_replaced(tmp_path):
    run(steps=8, checkpoint=tmp_path / "a", checkpoint_every=2)
    options = {"checkpoint": tmp_path / "b", "checkpoint_every": 2}
    record = run(steps=8, resume=tmp_path / "a" / "step-000000004.json", **options)
    assert record.resumed_from == 4
    again = run(steps=8, resume=tmp_path / "a", checkpoint=tmp_path / "c")
    assert again.resumed_from == 8


def test_a_longer_run_goes_on(tmp_path):
    whole, model = line(), line()
    run(whole, steps=9)
    run(steps=5, checkpoint=tmp_path)
    assert run(model, steps=9, checkpoint=tmp_path, resume=True).resumed_from == 5
    assert torch.equal(model.weight, whole.weight)


def test_a_folder_with_checkpoints_is_not_overwritten_by_accident(tmp_path):
    run(checkpoint=tmp_path)
    with pytest.raises(FileExistsError, match="resume=True goes on"):
        run(checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "seed was 0 and is now 1"),
        ({"batches": ArrayBatches(DATA, 5)}, "batches 'batch_size' was 4 and is now 5"),
        ({"batches": ArrayBatches(DATA, 4, seed=2)}, "batches 'seed' was 0 and is now 2"),
        ({"optimizer": "adam"}, "optimizer was 'SGD' and is now 'Adam'"),
        ({"scheduler": "cosine"}, "scheduler was 'NoneType'"),
        ({"precision": "bfloat16"}, "precision was None and is now 'bfloat16'"),
        ({"clip": 1.0}, "clip was None"),
        ({"ema": 0.5}, r"callbacks was \[\] and is now \['MovingAverage'\]"),
        ({"model": torch.nn.Linear(1, 2)}, r"weights 'weight' was '\(1, 1\) torch.float32'"),
    ],
)
def test_another_run_is_not_resumed(tmp_path, change, message):
    run(batches=ArrayBatches(DATA, 4), checkpoint=tmp_path)
    options = {"batches": ArrayBatches(DATA, 4), **change}
    with pytest.raises(CheckpointError, match=message):
        run(checkpoint=tmp_path, resume=True, **options)


def test_checkpoints_hold_data_and_nothing_else(tmp_path):
    with pytest.raises(TypeError, match=r"state.f is a function, which a checkpoint does not hold"):
        save_checkpoint(tmp_path, 1, {"f": print and (lambda: 0)})
    with pytest.raises(TypeError, match="keys must be text or whole numbers"):
        save_checkpoint(tmp_path, 1, {(1, 2): 0})
    state = {
        0: (math.inf, -0.0, None, True),
        "n": [np.float64(0.1), np.arange(3), torch.tensor([1 + 2j]), torch.zeros(0, 2)],
        "half": torch.ones(2, dtype=torch.bfloat16),
        "turned": torch.arange(6.0).reshape(2, 3).T,
    }
    back = load_checkpoint(save_checkpoint(tmp_path, 1, state)).state
    assert back[0] == state[0] and math.copysign(1.0, back[0][1]) == -1.0
    assert back["n"][0] == 0.1 and back["n"][1].tolist() == [0, 1, 2]
    assert torch.equal(back["n"][2], state["n"][2]) and back["n"][3].shape == (0, 2)
    assert back["half"].dtype == torch.bfloat16 and torch.equal(back["turned"], state["turned"])
    with pytest.raises(ValueError, match="at least 2 are kept"):
        CheckpointFolder(tmp_path, keep=1)


# --- Bad input ---


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"steps": 0}, ValueError, "steps=0: wanted a whole number of at least 1"),
        ({"steps": 2.5}, ValueError, "steps=2.5"),
        ({"seed": -1}, ValueError, "seed=-1: wanted a whole number of at least 0"),
        ({"checkpoint_every": 0}, ValueError, "checkpoint_every=0"),
        ({"resume": True}, ValueError, "resume=True needs checkpoint="),
        ({"resume": "/nowhere/at/all"}, CheckpointError, "no checkpoints there"),
        ({"model": 3}, TypeError, "model is a int: wanted a torch.nn.Module"),
        ({"loss": "mse"}, TypeError, "loss is a str: wanted a function"),
        ({"batches": []}, ValueError, "batches is empty"),
        ({"batches": DATA}, TypeError, r"batches is a tuple: wanted .*ArrayBatches"),
        ({"batches": 7}, TypeError, "batches is a int"),
        ({"batches": iter([DATA])}, ValueError, "batches ended before step 2"),
        ({"batches": iter([DATA]), "resume": "x"}, TypeError, "place cannot be found again"),
        ({"optimizer": "adamm"}, ValueError, r"optimizer 'adamm' is unknown, did you mean 'adam'"),
        (
            {"optimizer": {"name": "sgd", "lrr": 1}},
            ValueError,
            "no argument 'lrr', did you mean",
        ),
        ({"optimizer": {"name": "sgd", "lr": -1}}, ValueError, "optimizer 'sgd': Invalid learning"),
        ({"optimizer": {"lr": 1}}, ValueError, "without a name: wanted .*with one of adam"),
        ({"checkpoint": __file__}, FileExistsError, "is a file: wanted a folder"),
        ({"optimizer": lambda p: 3}, TypeError, "optimizer returned a int"),
        ({"optimizer": torch.optim.SGD(line().parameters(), 0.1)}, ValueError, "holds none of the"),
        (
            {"scheduler": "cosin"},
            ValueError,
            "'cosin' is unknown, did you mean 'cosine'",
        ),
        ({"clip": 0.0}, ValueError, "clip=0.0: wanted a number above 0"),
        ({"clip": 1.0, "optimizer": "lbfgs"}, ValueError, "clip does not go with LBFGS"),
        ({"precision": "half"}, ValueError, "precision='half': wanted None or one of float32"),
        ({"precision": "float64"}, ValueError, r"call model.to\(torch.float64\) first"),
        ({"device": "tpu9"}, ValueError, "no such device here"),
        ({"ema": 1.0}, ValueError, "decay=1.0: wanted a number between 0 and 1"),
        ({"ema": 0.5, "early_stop": 3}, ValueError, "both set the weights"),
        ({"early_stop": 0}, ValueError, "patience=0"),
        ({"callbacks": [3]}, TypeError, "callbacks holds a int"),
        ({"loss": lambda m, b: 1.0}, TypeError, "loss returned a float"),
        ({"loss": lambda m, b: m(b[0])}, ValueError, r"shape \(20, 1\).*wanted one real number"),
        (
            {"loss": lambda m, b: torch.ones(())},
            ValueError,
            "does not depend on the model",
        ),
        ({"loss": lambda m, b: (loss(m, b), {"loss": 1.0})}, ValueError, "names a part 'loss'"),
        ({"loss": lambda m, b: (loss(m, b), 3)}, TypeError, "tuple of Tensor, int"),
    ],
)
def test_bad_input_is_refused_with_what_was_wanted(change, error, message):
    with pytest.raises(error, match=message):
        run(**change)


def test_data_of_another_precision_than_the_model_are_named():
    with pytest.raises(ValueError, match=r"batch .*torch.float64.*model .*torch.float32"):
        run(batches=[tuple(each.double() for each in DATA)])


def test_a_model_without_trainable_weights_is_refused():
    with pytest.raises(ValueError, match="no parameters that require gradients"):
        run(torch.nn.Identity())


def test_arrays_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"data has \[19, 20\] samples"):
        ArrayBatches((X, X[1:]), batch_size=2)
    with pytest.raises(TypeError, match="data holds a str: wanted tensors"):
        ArrayBatches({"x": "text"}, batch_size=2)


def test_a_moving_average_begins_anew_with_a_new_run():
    callback, model = MovingAverage(0.5), line()
    run(model, callbacks=[callback])
    first = model.bias.item()
    model = line()
    run(model, callbacks=[callback])
    assert model.bias.item() == first
