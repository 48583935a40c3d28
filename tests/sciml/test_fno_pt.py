"""Torch files of neural operators are read without running their code."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from pdes.data import ReadError, assumptions
from sciml.fno_pt import read_fno_pt

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def flows():
    root = Path(os.environ.get("SCIML_PUBLIC_DATA", REPOSITORY.parent / "shared" / "data"))
    if not (root / "flows").is_dir():
        pytest.skip(f"public recordings not found at {root}: set SCIML_PUBLIC_DATA to use them")
    return root / "flows"


@pytest.mark.parametrize("channel", [True, False])
def test_steady_pairs(tmp_path, channel):
    a, u = torch.rand(3, 4, 5) > 0.5, torch.rand(3, 4, 5)
    torch.save({"x": a[:, None] if channel else a, "y": u}, tmp_path / "darcy.pt")
    data = read_fno_pt(tmp_path / "darcy.pt")
    assert data.a.dims == data.u.dims == ("sample", "x", "y")
    assert np.array_equal(data.a, a.numpy().astype(np.float32))
    assert np.array_equal(data.u, u.numpy())
    np.testing.assert_allclose(data.x, [0.0, 0.25, 0.5, 0.75])
    assert np.array_equal(read_fno_pt(tmp_path / "darcy.pt", samples=slice(1, 3)).u, u[1:])


def test_evolution_with_the_input_as_first_frame(tmp_path):
    u = torch.rand(3, 5, 8)
    torch.save({"x": u[:, 0], "y": u}, tmp_path / "burgers.pt")
    data = read_fno_pt(tmp_path / "burgers.pt")
    assert list(data.data_vars) == ["u"]
    assert data.u.dims == ("sample", "time", "x")
    assert data.time.values.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert any("time" in sentence for sentence in assumptions(data))


class Harmful:
    def __reduce__(self):
        return (Path.touch, (Path("harmful"),))


def test_code_in_a_file_is_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save({"x": torch.zeros(1), "y": Harmful()}, tmp_path / "bad.pt")
    with pytest.raises(ReadError, match="which could run code"):
        read_fno_pt(tmp_path / "bad.pt")
    assert not (tmp_path / "harmful").exists()


def test_other_contents_are_named(tmp_path):
    torch.save({"a": torch.zeros(1)}, tmp_path / "other.pt")
    with pytest.raises(ReadError, match=r'holds \["a"\]'):
        read_fno_pt(tmp_path / "other.pt")
    torch.save({"x": torch.zeros(2, 4), "y": torch.zeros(3, 4)}, tmp_path / "odd.pt")
    with pytest.raises(ReadError, match="equally many samples"):
        read_fno_pt(tmp_path / "odd.pt")
    with pytest.raises(ReadError, match="no file"):
        read_fno_pt(tmp_path / "none.pt")


def test_published_numbers_packed_as_they_were(flows, tmp_path):
    """The arrays of the published files, in the container they were published in."""
    darcy = np.load(flows / "darcy_small_test.npz")
    pair = {"x": torch.from_numpy(darcy["a16"]).bool(), "y": torch.from_numpy(darcy["u16"])}
    torch.save(pair, tmp_path / "darcy_test_16.pt")
    data = read_fno_pt(tmp_path / "darcy_test_16.pt")
    assert data.sizes == {"sample": 34, "x": 16, "y": 16}
    assert set(np.unique(data.a)) == {0.0, 1.0}
    # The first row lies on the boundary and the last does not: nodes i/N without the right end.
    rms = np.sqrt(np.mean(data.u.values.astype(float) ** 2, axis=(0, 2)))
    assert rms[0] < 0.01 < 0.1 < rms[-1]
    burgers = np.load(flows / "burgers_small.npz")["u_test"]
    torch.save(
        {"x": torch.from_numpy(burgers[:, 0]), "y": torch.from_numpy(burgers)},
        tmp_path / "burgers_test_16.pt",
    )
    data = read_fno_pt(tmp_path / "burgers_test_16.pt")
    assert data.u.shape == (260, 17, 16)
    assert np.array_equal(data.u.values, burgers)


def test_refusals_do_not_advise_to_run_the_file(tmp_path):
    torch.save({"x": torch.zeros(1), "y": pytest.raises}, tmp_path / "hostile.pt")
    with pytest.raises(
        ReadError, match=r"hostile.pt is damaged, or holds more than plain"
    ) as found:
        read_fno_pt(tmp_path / "hostile.pt")
    assert "weights_only" not in str(found.value) and found.value.__suppress_context__
