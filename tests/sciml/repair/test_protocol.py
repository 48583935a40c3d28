"""The protocol of trained forecasters, at the smallest size."""

import dataclasses
import importlib
import json
import math
from typing import Any

import numpy as np
import pytest
import torch

from pdes.initial import RandomFourier
from sciml.repair import LerayProjection

flows: Any = importlib.import_module("validation._repair_flows")
tables: Any = importlib.import_module("validation._repair_tables")
TINY = flows.Protocol(
    points=8,
    fine=24,
    viscosity=0.1,
    training=2,
    validation=2,
    test=2,
    training_frames=3,
    validation_frames=4,
    horizon=12,
    width=4,
    modes=2,
    layers=1,
    steps=2,
    seeds=(0,),
)


@pytest.mark.parametrize("forced", [False, True])
def test_flows_are_free_of_divergence_and_move(forced):
    settings = dataclasses.replace(TINY, forced=forced, viscosity=0.3, spin_up=0.1)
    found = flows.flows(settings, 2, 3, seed=0)
    assert found.shape == (2, 3, 2, 8, 8)
    project = LerayProjection((flows.LENGTH, flows.LENGTH))
    assert float(project.defect(found).max()) < 1e-12
    assert float((found[:, 1:] - found[:, :-1]).square().mean()) > 1e-8
    assert not torch.equal(found, flows.flows(settings, 2, 3, seed=1))


def test_forced_velocities_have_the_vorticity_of_the_solver():
    settings = dataclasses.replace(TINY, fine=48, forced=True, viscosity=0.3, spin_up=0.0)
    u, v = flows._forced(settings, 1, 1, seed=0)[0, 0]
    k = torch.fft.fftfreq(48, 1.0 / 48, dtype=torch.float64)
    u_hat, v_hat = (torch.fft.fft2(torch.from_numpy(part.copy())) for part in (u, v))
    w = torch.fft.ifft2(1j * k[:, None] * v_hat - 1j * k * u_hat).real
    draw = RandomFourier(modes=4, fields=("w",))
    (generator,) = np.random.default_rng(0).spawn(1)
    wanted = torch.from_numpy(draw(flows._grid(settings), generator)["w"].copy())
    assert float((w - (wanted - wanted.mean())).abs().max()) < 1e-12


def test_measurements_are_kept_and_post_hoc_never_hurts(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path))
    flows.folder_of.cache_clear()
    found = tables.matrix(TINY, horizons=(1, 12))
    assert found.values["post hoc over raw, worst"] <= 1.0
    assert [row["repair"] for row in found.table] == ["raw", "post hoc", "in loop"] * 2
    first = flows.kept(TINY, False, 0)
    assert len(first["raw"]) == TINY.horizon
    (file,) = flows.folder_of(TINY).glob("plain-seed-0-on-8-*.json")
    file.write_text(
        json.dumps(first | {"raw": first["raw"][:5], "post hoc": first["post hoc"][:5]})
    )
    with pytest.raises(IndexError):  # the error after ten steps is needed
        tables.matrix(TINY, horizons=(1, 12))
    file.write_text(json.dumps(first | {"in loop": first["in loop"][:11]}))
    cut = tables.matrix(TINY, horizons=(1, 12))
    assert cut.table[2]["h = 12"] == math.inf
    assert "Stopped at 100 times the amplitude: f(u), seed 0, in loop: step 12" in cut.note
    flows.folder_of.cache_clear()
