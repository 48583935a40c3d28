"""Two processes that share every batch do what one does."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from sciml.training.devices import find_devices

SCRIPT = Path(__file__).with_name("two_processes.py")
LOCAL = {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true", "GLOO_SOCKET_IFNAME": "lo"}
RECIPE = """
model = {name = "FNO", arguments = {hidden_channels = 4, n_modes = 4, n_layers = 1}}
training = {steps = 4}
output = {folder = "run"}
[data]
inputs = {u = 0}
targets = {u = -1}
batch_size = 4
test = 2
[data.generate]
problem = "heat"
samples = 8
times = [0.0, 0.1]
grid = {x = [0.0, 6.283185307179586, 32]}
initial = {family = "GaussianRandomField", tau = 3.0, alpha = 3.0}
"""


def start(command: list[str], processes: int, settings: dict[str, str], **more) -> list[str]:
    """Run a command in so many processes that know of each other; what each printed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = []
    for rank in range(processes):
        environment = {**os.environ, **settings}
        if processes > 1:
            environment |= {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(processes),
                "LOCAL_WORLD_SIZE": str(processes),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
            }
        piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen(command, env=environment, **piped, **more))
    printed = []
    for process in started:
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        printed.append(output)
    return printed


def run(folder: Path, processes: int) -> dict[str, np.ndarray]:
    """Result of the first process, after comparing that of the others."""
    folder.mkdir()
    start([sys.executable, str(SCRIPT), str(folder)], processes, LOCAL)
    first, *others = (dict(np.load(folder / f"result-{rank}.npz")) for rank in range(processes))
    for other in others:
        for name in first:
            np.testing.assert_array_equal(first[name], other[name], err_msg=name)
    return first


@pytest.mark.slow
def test_two_processes_equal_one_and_resume_bit_for_bit(tmp_path):
    pytest.importorskip("accelerate")
    one, two = run(tmp_path / "one", 1), run(tmp_path / "two", 2)
    # The mean number of samples, weighted by them: (8*8 + 7*7)/15.
    assert np.all(one.pop("adamw samples") == 15)
    np.testing.assert_allclose(two.pop("adamw samples"), 113 / 15)
    assert np.all(one.pop("lbfgs samples") == 15)
    two.pop("lbfgs samples")
    for name in one:
        # Sums in another order; in twelve steps rounding grows by little.
        np.testing.assert_allclose(one[name], two[name], rtol=1e-9, atol=1e-12, err_msg=name)
    for name in ("0.weight", "3.bias"):
        np.testing.assert_array_equal(two[f"resumed {name}"], two[f"adamw {name}"])
    logs = [(tmp_path / each / "adamw.jsonl").read_text() for each in ("one", "two")]
    assert [log.count("\n") for log in logs] == [12, 12]


def test_several_processes_without_accelerate_say_what_to_install(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(ImportError, match=r"pip install 'sciml-pdes\[distributed\]'"):
        find_devices()


@pytest.mark.parametrize("device", ["gpu", "cuda:99", 3.5, "cpu:x"])
def test_devices_that_are_not_here_are_refused(device):
    with pytest.raises(ValueError, match="no such device here; wanted 'auto' or one of cpu"):
        find_devices(device)


def test_auto_is_a_device_that_is_here():
    assert find_devices().device.type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.slow
def test_the_command_in_two_processes_makes_data_and_model_once(tmp_path):
    """Without a word about the CPU, as on a machine that has no GPU."""
    pytest.importorskip("accelerate")
    (tmp_path / "r.toml").write_text(RECIPE)
    settings = {key: value for key, value in LOCAL.items() if key != "ACCELERATE_USE_CPU"}
    command = [sys.executable, "-c", "from sciml.cli.app import app; app()", "train", "r.toml"]
    first, second = start(command, 2, settings, cwd=tmp_path)
    assert "finished after 4 steps" in first and "held-back samples" in first
    assert second == ""
    one = start([*command, "--out", "one"], 1, settings, cwd=tmp_path)
    assert "finished after 4 steps" in one[0]
    logs = [
        [json.loads(line) for line in (tmp_path / each / "log.jsonl").read_text().splitlines()]
        for each in ("run", "one")
    ]
    losses = [[line["loss"] for line in log] for log in logs]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
    assert len(losses[0]) == 4
