"""Two processes that share every batch do what one does."""

from __future__ import annotations

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


def run(folder: Path, processes: int) -> dict[str, np.ndarray]:
    """Result of the first process, after comparing that of the others."""
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = []
    for rank in range(processes):
        environment = {**os.environ, **LOCAL}
        if processes > 1:
            environment |= {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(processes),
                "LOCAL_WORLD_SIZE": str(processes),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
            }
        command = [sys.executable, str(SCRIPT), str(folder)]
        started.append(
            subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        )
    for process in started:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
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
