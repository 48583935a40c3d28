"""The scripts and the command of docs/scale_out.md: two dask workers, two torchrun processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale_out.md"
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

pytestmark = pytest.mark.slow


def scripts() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), flags=re.M | re.S)


def call(command: list[str], folder: Path, **settings: str) -> str:
    found = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def test_the_scripts_for_a_cluster_run(tmp_path):
    pytest.importorskip("distributed")
    pytest.importorskip("zarr")
    made, swept = scripts()
    (tmp_path / "made.py").write_text(made)
    (tmp_path / "swept.py").write_text(swept)
    printed = call([sys.executable, "made.py"], tmp_path)
    assert "'sample': 8" in printed and (tmp_path / "burgers.zarr").is_dir()
    assert "1 passed, 0 failed" in call([sys.executable, "swept.py"], tmp_path)


def test_torchrun_with_two_processes_trains_like_one(tmp_path):
    pytest.importorskip("accelerate")
    assert "torchrun --nproc-per-node 2 --no-python sciml train" in PAGE.read_text()
    (tmp_path / "recipe.toml").write_text(RECIPE)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    train = ["sciml", "train", "recipe.toml", "--out"]
    local = {
        "GLOO_SOCKET_IFNAME": "lo",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    call([*torchrun, "--standalone", "--no-python", *train, "two"], tmp_path, **local)
    call([*train, "one"], tmp_path, **local)
    losses = [
        [json.loads(line)["loss"] for line in (tmp_path / run / "log.jsonl").open()]
        for run in ("one", "two")
    ]
    assert len(losses[0]) == 4
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
