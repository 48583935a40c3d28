"""Stored recordings come back bit for bit, and damage is noticed."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import sys

import h5py
import numpy as np
import pytest
import xarray as xr

import pdes
from pdes.data import ChecksumError, ReadError, checksum, load, read, save, verify

SUFFIXES = [".nc", ".zarr"]


@pytest.fixture(params=SUFFIXES)
def target(request, tmp_path):
    if request.param == ".zarr":
        pytest.importorskip("zarr")
    return tmp_path / f"run{request.param}"


@pytest.fixture
def recording(wave):
    odd_nan = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_DEAD_BEEF))[0]
    values = wave.u.T.copy()
    values[0, :4] = [odd_nan, -0.0, np.inf, 5e-324]
    complex_values = (values + 0j).astype(np.complex128)
    complex_values.imag[1] = -0.0
    complex_values.real[2] = odd_nan
    dims = ("time", "x")
    return xr.Dataset(
        {
            "h": (dims, complex_values, {"units": "m", "long_name": "height"}),
            "u": (dims, values),
            "single": (dims, values.astype(np.float32)),
            "small": (dims, values.astype(np.complex64)),
            "zeros": (dims, np.full_like(values, -0.0)),
            "count": (dims, np.arange(84).reshape(7, 12)),
            "mask": (dims, values > 0),
            "scale": ((), np.float64(0.1)),
            "phase": ((), np.complex128(0.1 - 2j)),
        },
        coords={
            "time": ("time", wave.t, {"units": "s"}),
            "x": ("x", wave.x, {"periodic": 1, "units": "m"}),
            "status": ("time", np.array(["ok"] * 6 + ["größer"])),
        },
        attrs={
            "equation": "h_t = 0.5*1j*h_xx",
            "parameters": json.dumps({"speed": 0.1}),
            "seed": 3,
            "step": 1e-3,
            "spectrum": np.array([1.0, 0.5]),
            "message": "",
        },
    )


def bits(values):
    return values.tobytes() if values.dtype.kind != "U" else values.tolist()


def test_every_bit_survives(target, recording):
    assert save(recording, target) == target
    back = load(target)
    assert list(back.data_vars) == list(recording.data_vars)
    assert set(back.coords) == set(recording.coords)
    for name, variable in recording.variables.items():
        assert back[name].dims == variable.dims
        assert back[name].dtype.kind == variable.dtype.kind
        assert bits(back[name].values) == bits(variable.values), name
        attrs = {key: value for key, value in back[name].attrs.items() if key != "sha256"}
        assert attrs == variable.attrs
    assert set(back.attrs) == set(recording.attrs)
    for key, value in recording.attrs.items():
        assert np.array_equal(back.attrs[key], value), key
    assert back.x.attrs["periodic"] == 1


def test_saving_leaves_the_dataset_alone(target, recording):
    before = recording.copy(deep=True)
    save(recording, target)
    assert recording.identical(before)
    assert "sha256" not in recording.u.attrs


def test_checksums_are_over_little_endian_bytes_in_c_order(target, recording):
    save(recording, target)
    sums = verify(target)
    assert sums["u"] == hashlib.sha256(recording.u.values.astype("<f8").tobytes("C")).hexdigest()
    assert sums["h"] == hashlib.sha256(recording.h.values.astype("<c16").tobytes("C")).hexdigest()
    assert set(sums) == {str(name) for name in recording.variables}
    transposed = np.asfortranarray(recording.u.values).astype(">f8")
    assert checksum(transposed) == sums["u"]


def test_changed_value_is_noticed(tmp_path, recording):
    path = save(recording, tmp_path / "run.nc")
    with h5py.File(path, "r+") as file:
        file["u"][3, 3] += 1e-15
    with pytest.raises(ChecksumError, match=r"run.nc: u differ from what was written"):
        verify(path)
    with pytest.raises(ChecksumError):
        read(path)
    assert load(path, check=False).u.shape == (7, 12)


def test_lost_chunk_of_a_zarr_store_is_noticed(tmp_path, recording):
    pytest.importorskip("zarr")
    path = save(recording, tmp_path / "run.zarr")
    (chunk,) = [part for part in (path / "u").iterdir() if not part.name.startswith(".")]
    chunk.unlink()
    with pytest.raises(ChecksumError, match="u differ"):
        verify(path)


def test_truncated_store(tmp_path, recording):
    path = save(recording, tmp_path / "run.nc")
    path.write_bytes(path.read_bytes()[:3000])
    for call in (read, load, verify):
        with pytest.raises(ReadError, match=r"run\.nc"):
            call(path)


def test_read_keeps_what_belongs_together(target, recording):
    save(recording, target)
    data = read(target)
    assert list(data.data_vars) == list(recording.data_vars)
    assert data.h.dtype == np.complex128
    assert data.attrs["source_file"] == target.name
    assert json.loads(data.attrs["assumed"]) == []
    assert list(read(target, field="h").data_vars) == ["h"]
    with pytest.raises(ReadError, match="no variable 'hh'; did you mean 'h'"):
        read(target, field="hh")
    with pytest.raises(ReadError, match="names its axes: leave out time=, space= and axes="):
        read(target, axes=("t", "x"))


def test_first_origin_is_kept(tmp_path, wave):
    np.savez(tmp_path / "measured.npz", u=wave.u, x=wave.x, t=wave.t)
    first = read(tmp_path / "measured.npz")
    again = read(save(first, tmp_path / "kept.nc"))
    assert wave.matches(again.u)
    assert again.attrs == first.attrs


def test_old_file_stays_until_the_new_one_stands(target, recording, monkeypatch):
    save(recording, target)

    def fail(*_, **__):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="disk full"):
            save(recording * 2, target)
    assert load(target).identical(load(target)) and "u" in verify(target)
    assert [part.name for part in target.parent.iterdir()] == [target.name]
    changed = recording.assign(u=2 * recording.u)
    save(changed, target)
    assert bits(load(target).u.values) == bits(changed.u.values)
    assert [part.name for part in target.parent.iterdir()] == [target.name]


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({"flag": True}, "'flag' of the dataset is True.*use 0 or 1"),
        ({"table": {"a": 1}}, "'table' of the dataset.*json.dumps"),
        ({"nothing": None}, "'nothing'"),
    ],
)
def test_attributes_that_cannot_be_stored(tmp_path, recording, attrs, message):
    with pytest.raises(TypeError, match=message):
        save(recording.assign_attrs(attrs), tmp_path / "run.nc")
    assert list(tmp_path.iterdir()) == []


def test_other_refusals(tmp_path, recording, monkeypatch):
    with pytest.raises(ValueError, match=r"suffix of run.mat is '.mat'; wanted .nc or .zarr"):
        save(recording, tmp_path / "run.mat")
    with pytest.raises(ValueError, match="'component' names the parts of complex numbers"):
        save(recording.rename(x="component"), tmp_path / "run.nc")
    foreign = tmp_path / "foreign.nc"
    recording[["u"]].to_netcdf(foreign, engine="h5netcdf")
    with pytest.raises(ReadError, match=r"was not written by pdes\.data\.save"):
        load(foreign)
    with pytest.raises(ReadError, match="no file at"):
        verify(tmp_path / "nowhere.nc")
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match="pip install"):
        save(recording, tmp_path / "run.zarr")


def test_front_door(tmp_path, recording):
    assert pdes.save is save
    assert bits(pdes.data.read(pdes.save(recording, tmp_path / "a" / "run.nc")).h.values) == bits(
        recording.h.values
    )
