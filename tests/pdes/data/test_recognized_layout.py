"""A file of a published collection, given to the general reader, is told from a plain one."""

from __future__ import annotations

import numpy as np
import pytest

import pdes
from pdes.data import ReadError

h5py = pytest.importorskip("h5py")


def _tensor(folder):
    with h5py.File(folder / "burgers.hdf5", "w") as file:
        file["tensor"] = np.zeros((2, 5, 8), "f4")
        file["x-coordinate"], file["t-coordinate"] = np.arange(8.0), np.arange(6.0)
    return folder / "burgers.hdf5"


def _groups(folder):
    with h5py.File(folder / "reaction.h5", "w") as file:
        file["0000/data"] = np.zeros((4, 8, 8, 2), "f4")
        file["0000/grid/x"] = file["0000/grid/y"] = np.arange(8.0)
        file["0000/grid/t"] = np.arange(4.0)
    return folder / "reaction.h5"


def _velocity(folder):
    with h5py.File(folder / "flow.h5", "w") as file:
        file["velocity"], file["particles"] = np.zeros((1, 3, 8, 8, 2)), np.zeros((1, 3, 8, 8, 1))
    return folder / "flow.h5"


def _well(folder):
    with h5py.File(folder / "well.hdf5", "w") as file:
        file.attrs["dataset_name"], file.attrs["n_trajectories"] = "patterns", 1
        file.create_group("dimensions")
        file["t0_fields/u"] = np.zeros((1, 3, 8, 8))
    return folder / "well.hdf5"


def _cases(folder):
    case = folder / "cavity" / "case0001"
    case.mkdir(parents=True)
    for name in "uv":
        np.save(case / f"{name}.npy", np.zeros((3, 8, 8)))
    return case.parent


def _matlab(folder):
    from scipy.io import savemat

    savemat(folder / "pairs.mat", {"a": np.zeros((3, 16)), "u": np.zeros((3, 16))})
    return folder / "pairs.mat"


@pytest.mark.parametrize(
    ("write", "reader"),
    [
        (_tensor, "read_pdebench"),
        (_groups, "read_pdebench"),
        (_velocity, "read_pdebench"),
        (_well, "read_the_well"),
        (_cases, "read_cfdbench"),
        (_matlab, "read_fno_mat"),
    ],
)
def test_the_reader_of_the_layout_is_named(write, reader, tmp_path):
    path = write(tmp_path)
    with pytest.raises(ReadError, match=rf"pdes\.data\.layouts\.{reader}\('{path.name}'\)"):
        pdes.read(path)


def test_one_case_of_many_is_told_too(tmp_path):
    case = _cases(tmp_path) / "case0001"
    for path in (case, case / "u.npy"):
        with pytest.raises(ReadError, match=r"read_cfdbench\('case0001'\)"):
            pdes.read(path)


def test_other_files_get_no_such_hint(tmp_path):
    with h5py.File(tmp_path / "own.h5", "w") as file:
        file["temperature"] = np.zeros((3, 4))
    with pytest.raises(ReadError) as failure:
        pdes.read(tmp_path / "own.h5")
    assert "layouts" not in str(failure.value)


@pytest.mark.parametrize("call", [pdes.read, pdes.load, pdes.verify])
def test_a_path_must_be_one(call):
    with pytest.raises(TypeError, match="path: got int 3, wanted a path"):
        call(3)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"samples": -1}, "samples=-1"), ({"samples": 1.5}, "samples=1.5"), ({"rtol": "a"}, "rtol")],
)
def test_verify_checks_its_numbers(options, words, tmp_path):
    pdes.save(pdes.simulate(pdes.get("heat_one_mode"), times=[0.0]), tmp_path / "h.nc")
    with pytest.raises(ValueError, match=words):
        pdes.verify(tmp_path / "h.nc", **options)
    assert "u" in pdes.verify(tmp_path / "h.nc")
