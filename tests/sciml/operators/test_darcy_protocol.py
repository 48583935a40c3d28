"""Tables of the Darcy protocol say what was run, and what the whole protocol would be."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

import numpy as np

protocol: Any = importlib.import_module("validation._darcy_protocol")
tables: Any = importlib.import_module("validation.benchmarks.tables")

TINY = dataclasses.replace(
    protocol.REDUCED,
    train_points=9,
    test_points=(9, 17),
    train_samples=4,
    test_samples=2,
    width=4,
    n_modes=4,
    depth=1,
    steps=2,
    batch=2,
    norms=(None, "quad_layer"),
    others=("unet",),
    seeds=(0, 1),
)


def test_every_row_has_all_its_seeds_and_the_differences_are_told():
    runs = TINY.runs()
    assert len(set(runs)) == len(runs) == 2 * 2 * 2 + 1
    assert [seed for _, seed in runs] == [0] * 4 + [1] * 4 + [0]
    told = TINY.differences(protocol.PROTOCOL)
    assert "train samples 4 instead of 1000" in told
    assert "seeds (0, 1) instead of (0, 1, 2)" in told
    assert "rate" not in told
    assert protocol.PROTOCOL.differences(protocol.PROTOCOL) == ""


def test_runs_are_kept_and_go_on_and_the_table_has_mean_and_range(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path))
    names = ["quadrature fno, None"]
    rows = protocol.table(TINY, names=names)
    assert [row["seed"] for row in rows] == [0, 1]
    kept = sorted(path.name for path in protocol.folder_of(TINY).glob("*.json"))
    assert kept == ["quadrature-fno-None-seed-0.json", "quadrature-fno-None-seed-1.json"]
    monkeypatch.setattr(protocol, "make", None)  # nothing is made a second time
    assert protocol.table(TINY, names=names) == rows
    (line,) = protocol.summary(rows)
    errors = [row["E(17)"] for row in rows]
    assert line["seeds"] == 2
    np.testing.assert_allclose(line["E(17)"], np.mean(errors))
    assert line["E(17), range"] == f"{min(errors):.4g} to {max(errors):.4g}"
    np.testing.assert_allclose(
        rows[0]["E(finest)/E(train)"], rows[0]["E(17)"] / rows[0]["E(9)"], rtol=1e-12
    )
    (head, _, body) = tables.markdown_table([tables._with_ranges(line)])
    assert "range" not in head
    assert f"| {np.mean(errors):.4g} ({line['E(17), range']}) |" in body
