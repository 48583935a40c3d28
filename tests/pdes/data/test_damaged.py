"""Whatever is wrong with a file, a ReadError says what it is; no code in it is ever run."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile

import h5py
import numpy as np
import pytest
import scipy.io
import xarray as xr

from pdes.data import ReadError, assumptions, read


@pytest.mark.parametrize("suffix", [".mat", ".npz", ".npy", ".nc", ".h5", ".csv"])
def test_empty_file(tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    path.touch()
    with pytest.raises(ReadError, match=f"run{suffix} is empty \\(0 bytes\\)"):
        read(path)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(ReadError, match=r"no file at .*nowhere\.mat"):
        read(tmp_path / "nowhere.mat")
    with pytest.raises(ReadError, match="is a folder but no Zarr store"):
        read(tmp_path)


def make(kind, path, wave):
    arrays = {"u": wave.u, "x": wave.x, "t": wave.t}
    if kind == "mat":
        scipy.io.savemat(path, arrays)
    elif kind == "mat compressed":
        scipy.io.savemat(path, arrays, do_compression=True)
    elif kind == "npz":
        np.savez(path, **arrays)
    elif kind == "npy":
        np.save(path, wave.u)
    elif kind == "hdf5":
        with h5py.File(path, "w") as file:
            for name, values in arrays.items():
                file[name] = values
    else:
        data = xr.Dataset({"u": (("x", "t"), wave.u)}, coords={"x": wave.x, "t": wave.t})
        data.to_netcdf(path, engine={"netcdf-3": "scipy", "netcdf-4": "h5netcdf"}[kind])


SUFFIXES = {
    "mat": ".mat",
    "mat compressed": ".mat",
    "npz": ".npz",
    "npy": ".npy",
    "hdf5": ".h5",
    "netcdf-3": ".nc",
    "netcdf-4": ".nc",
}


@pytest.mark.parametrize("kind", SUFFIXES)
@pytest.mark.parametrize("part", [0.002, 0.05, 0.3, 0.6, 0.9, 0.99])
def test_truncated_file(kind, part, tmp_path, wave):
    path = tmp_path / f"run{SUFFIXES[kind]}"
    make(kind, path, wave)
    whole = path.read_bytes()
    path.write_bytes(whole[: max(3, int(part * len(whole)))])
    told = {"time": wave.t, "space": wave.x} if kind == "npy" else {}
    with pytest.raises(ReadError, match=f"run{SUFFIXES[kind]}"):
        read(path, **told)


@pytest.mark.parametrize("kind", ["mat compressed", "npz"])
def test_changed_byte_is_noticed_where_the_format_has_checksums(kind, tmp_path, wave):
    path = tmp_path / f"run{SUFFIXES[kind]}"
    make(kind, path, wave)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 3] ^= 0xFF
    path.write_bytes(whole)
    with pytest.raises(ReadError, match=r"damaged|truncated"):
        read(path)


# Not for HDF5, whose damaged files are up to its C library.
@pytest.mark.parametrize("kind", [kind for kind in SUFFIXES if kind not in ("hdf5", "netcdf-4")])
def test_random_damage_never_escapes_as_another_error(kind, tmp_path, wave):
    path = tmp_path / f"run{SUFFIXES[kind]}"
    make(kind, path, wave)
    whole = path.read_bytes()
    generator = np.random.default_rng(7)
    refused = 0
    for _ in range(30):
        damaged = bytearray(whole)
        for position in generator.integers(0, min(len(whole), 1500), size=8):
            damaged[position] = generator.integers(0, 256)
        path.write_bytes(damaged)
        try:
            read(path, time=wave.t, space=wave.x)
        except ReadError:
            refused += 1
    assert refused > 0


def test_header_that_promises_too_much_allocates_nothing(tmp_path, wave):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)}
    )
    (tmp_path / "run.npy").write_bytes(stream.getvalue() + wave.u.tobytes())
    with pytest.raises(ReadError, match=r"is truncated: shape .* needs 8000000000000000000 bytes"):
        read(tmp_path / "run.npy", time=wave.t, space=wave.x)


class _Trap:
    """Raises the alarm if it is ever unpickled."""

    def __reduce__(self):
        return pytest.fail, ("code from a data file was run",)


def test_pickles_are_never_opened(tmp_path, wave):
    trap = np.empty(2, object)
    trap[:] = [_Trap(), _Trap()]
    np.save(tmp_path / "run.npy", trap, allow_pickle=True)
    with pytest.raises(
        ReadError, match="holds Python objects, and reading them could run any code"
    ):
        read(tmp_path / "run.npy")
    np.savez(tmp_path / "run.npz", extra=trap, u=wave.u, x=wave.x, t=wave.t)
    assert wave.matches(read(tmp_path / "run.npz").u)
    with pytest.raises(ReadError, match="extra is not an array of numbers: holds Python objects"):
        read(tmp_path / "run.npz", field="extra")
    (tmp_path / "run.pkl").write_bytes(pickle.dumps(_Trap()))
    with pytest.raises(ReadError, match=r"run.pkl is a Python pickle.*numpy.savez"):
        read(tmp_path / "run.pkl")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.mat", b"<!DOCTYPE html><html>404</html>", "an HTML page.*download it again"),
        ("run.npz", b"version https://git-lfs.github.com/spec/v1\noid 1", "git lfs pull"),
        ("run.csv.gz", gzip.compress(b"t,x,u", mtime=0), "gzip-compressed: decompress it first"),
        ("run.nc", b"CDF\x05" + bytes(100), "CDF-5 variant: convert it with 'nccopy"),
        ("run.mat", b"\x00\x01\x02\x03" * 9, "in no known format.*MATLAB 4"),
        ("run.pdf", b"%PDF-1.7 1 0 obj", "a PDF document"),
        ("run.csv", b"hello world, 3 cheers\n", "header line but no rows"),
        ("run.json", b'{"u": [1, 2],\n"x": 3}\n', "is not a number; wanted a table"),
    ],
)
def test_other_things_are_called_by_their_name(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ReadError, match=f"{name} ?.*{message}|{name}, line.*{message}"):
        read(tmp_path / name)


def test_zip_archives_without_arrays(tmp_path):
    with zipfile.ZipFile(tmp_path / "table.npz", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(ReadError, match="an Excel or Office document: export the sheet as CSV"):
        read(tmp_path / "table.npz")


def test_file_without_numbers(tmp_path):
    np.savez(tmp_path / "run.npz", names=np.array(["a", "b"]))
    with pytest.raises(ReadError, match=r"no array of numbers in the file.*names"):
        read(tmp_path / "run.npz")


def test_suffix_of_another_format_is_on_record(tmp_path, wave):
    make("npz", tmp_path / "run.npz", wave)
    (tmp_path / "run.npz").rename(tmp_path / "run.mat")
    data = read(tmp_path / "run.mat")
    assert wave.matches(data.u)
    assert "the suffix '.mat' promises mat or mat-7.3, the content is npz" in assumptions(data)
