"""Our reader of MATLAB 5 files agrees with scipy's wherever both can read."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from pdes.data.formats.matlab_elements import read_variables


def assert_same(ours, theirs):
    if isinstance(ours, np.ndarray):
        # scipy keeps the narrower type in which MATLAB packs round numbers; the values agree.
        assert np.array_equal(ours, theirs, equal_nan=True)
    elif isinstance(ours, list):
        assert len(ours) == theirs.size
        for part, other in zip(ours, theirs.reshape(-1), strict=True):
            assert_same(part, other)
    elif isinstance(ours, dict):
        assert tuple(ours) == theirs.dtype.names
        for name, part in ours.items():
            assert_same(part, theirs[name].flat[0])


def test_public_recordings(equation_recordings):
    paths = sorted(equation_recordings.glob("*.mat"))
    assert len(paths) >= 9
    for path in paths:
        ours, theirs = (
            dict(read_variables(path.read_bytes())),
            scipy.io.loadmat(path),
        )
        assert set(ours) == {name for name in theirs if not name.startswith("__")}
        for name, value in ours.items():
            assert_same(value, theirs[name])


@pytest.mark.parametrize("compressed", [False, True])
def test_everything_that_scipy_writes(tmp_path, compressed):
    generator = np.random.default_rng(0)
    cell = np.empty((2, 3), object)
    cell[:] = [[np.arange(4.0), 1.5, np.ones((2, 2))], [np.zeros((0, 3)), 7j, np.int8([[1]])]]
    stored = {
        **{kind: generator.normal(size=(3, 4)).astype(kind) for kind in ("f4", "f8", "c16")},
        **{kind: np.arange(5).astype(kind) for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8")},
        "cube": generator.normal(size=(2, 3, 4)),
        "cell": cell,
        "run": {"u": np.ones((2, 3)), "inner": {"x": np.arange(3.0)}},
    }
    scipy.io.savemat(tmp_path / "all.mat", stored, do_compression=compressed)
    ours = dict(read_variables((tmp_path / "all.mat").read_bytes()))
    theirs = scipy.io.loadmat(tmp_path / "all.mat")
    assert set(ours) == set(stored)
    kinds = [name for name in stored if name[1:].isdigit()]
    assert len(kinds) == 10 and all(ours[kind].dtype == np.dtype(kind) for kind in kinds)
    for name, value in ours.items():
        assert_same(value, theirs[name])


def test_what_is_not_numbers_is_said(tmp_path):
    stored = {
        "text": "hello",
        "sparse": scipy.sparse.eye(3),
        "truth": np.array([True, False]),
        "runs": np.zeros(2, [("u", "f8")]),
    }
    scipy.io.savemat(tmp_path / "other.mat", stored)
    assert dict(read_variables((tmp_path / "other.mat").read_bytes())) == {
        "text": "text",
        "sparse": "a sparse matrix",
        "truth": "truth values",
        "runs": "2 structs",
    }


def test_big_endian():
    tag = np.array([14, 56, 6, 8, 6, 0, 5, 8, 1, 2], ">u4").tobytes()
    name = np.array([0x00010001], ">u4").tobytes() + b"u\0\0\0"
    body = np.array([9, 16], ">u4").tobytes() + np.array([1.5, -2.0], ">f8").tobytes()
    header = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI"
    data = header + tag[:4] + np.array([32 + 8 + 24], ">u4").tobytes() + tag[8:] + name + body
    ((found, values),) = read_variables(data)
    assert found == "u" and values.tolist() == [[1.5, -2.0]]
