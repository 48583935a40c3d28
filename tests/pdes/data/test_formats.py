"""The same wave, written in every format, comes back bit for bit."""

from __future__ import annotations

import hashlib
import sys

import h5py
import numpy as np
import pytest
import scipy.io
import xarray as xr

from pdes.data import ReadError, assumptions, read


def write_mat(path, wave):
    scipy.io.savemat(path, {"usol": wave.u, "x": wave.x, "t": wave.t[:, None]})


def write_mat_compressed(path, wave):
    scipy.io.savemat(path, {"usol": wave.u, "x": wave.x, "t": wave.t}, do_compression=True)


def matlab_file(path):
    """An HDF5 file behind the 512-byte header that MATLAB 7.3 writes."""
    file = h5py.File(path, "w", userblock_size=512)
    return file, b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"


def write_mat73(path, wave):
    file, header = matlab_file(path)
    with file:
        for name, values in {"usol": wave.u, "x": wave.x[None], "t": wave.t[:, None]}.items():
            stored = file.create_dataset(name, data=values.T)
            stored.attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as raw:
        raw.write(header)


def write_npz(path, wave):
    np.savez(path, usol=wave.u, x=wave.x, t=wave.t)


def write_npz_compressed(path, wave):
    np.savez_compressed(path, usol=wave.u, x=wave.x, t=wave.t)


def write_hdf5(path, wave):
    with h5py.File(path, "w") as file:
        group = file.create_group("run/fields")
        group["usol"] = wave.u
        group["usol"].attrs["units"] = "m/s"
        file["run/x"], file["run/t"] = wave.x, wave.t
        file["run/note"] = "made by hand"


def labeled(wave):
    data = xr.Dataset({"usol": (("x", "t"), wave.u)}, coords={"x": wave.x, "t": wave.t})
    data.x.attrs["units"] = "m"
    return data


def write_netcdf4(path, wave):
    labeled(wave).to_netcdf(path, engine="h5netcdf")


def write_netcdf3(path, wave):
    labeled(wave).to_netcdf(path, engine="scipy")


def write_zarr2(path, wave):
    pytest.importorskip("zarr")
    labeled(wave).to_zarr(path, zarr_format=2, consolidated=True)


def write_zarr3(path, wave):
    pytest.importorskip("zarr")
    labeled(wave).to_zarr(path, zarr_format=3, consolidated=False)


def write_csv_long(path, wave):
    rows = [
        f"{t!r},{x!r},{wave.u[i, k]!r}"
        for k, t in enumerate(wave.t.tolist())
        for i, x in enumerate(wave.x.tolist())
    ]
    text = "\n".join(["t,x,usol", *rows]).replace("np.float64(", "").replace(")", "")
    path.write_text(text)


WRITERS = {
    "mat": (".mat", write_mat),
    "mat compressed": (".mat", write_mat_compressed),
    "mat-7.3": (".mat", write_mat73),
    "npz": (".npz", write_npz),
    "npz compressed": (".npz", write_npz_compressed),
    "hdf5": (".h5", write_hdf5),
    "netcdf-4": (".nc", write_netcdf4),
    "netcdf-3": (".nc", write_netcdf3),
    "zarr 2": (".zarr", write_zarr2),
    "zarr 3": (".zarr", write_zarr3),
    "text": (".csv", write_csv_long),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_values_survive(kind, tmp_path, wave):
    suffix, write = WRITERS[kind]
    path = tmp_path / f"run{suffix}"
    write(path, wave)
    data = read(path)
    assert list(data.data_vars) == ["usol"]
    assert wave.matches(data.usol)
    assert data.attrs["source_file"] == f"run{suffix}"
    assert data.attrs["source_format"] == kind.split()[0]
    assert len(data.attrs["source_sha256"]) == 64


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if "zarr" not in kind])
def test_the_suffix_does_not_matter_but_is_said(kind, tmp_path, wave):
    path = tmp_path / "run.npy"
    written = tmp_path / f"run{WRITERS[kind][0]}"
    WRITERS[kind][1](written, wave)
    written.rename(path)
    data = read(path)
    assert wave.matches(data.usol)
    assert assumptions(data)[0] == (
        f"the suffix '.npy' promises npy, the content is {kind.split()[0]}"
    )


def test_checksum_is_that_of_the_file(tmp_path, wave):
    write_npz(tmp_path / "run.npz", wave)
    expected = hashlib.sha256((tmp_path / "run.npz").read_bytes()).hexdigest()
    assert read(tmp_path / "run.npz").attrs["source_sha256"] == expected


def test_attributes_survive(tmp_path, wave):
    write_hdf5(tmp_path / "run.h5", wave)
    assert read(tmp_path / "run.h5").usol.attrs["units"] == "m/s"
    write_netcdf3(tmp_path / "run.nc", wave)
    assert read(tmp_path / "run.nc").x.attrs["units"] == "m"


def test_cells_structs_and_complex_numbers_of_matlab_73(tmp_path, wave):
    path = tmp_path / "run.mat"
    file, header = matlab_file(path)
    with file:
        parts = {"a": wave.u, "b": 2 * wave.u, "c": wave.x[None], "d": wave.t[None]}
        for name, values in parts.items():
            stored = file.create_dataset(f"#refs#/{name}", data=values.T)
            stored.attrs["MATLAB_class"] = np.bytes_("double")
        for name, members in {"U": "ab", "xs": "cd"}.items():
            references = np.array([[file[f"#refs#/{m}"].ref] for m in members], h5py.ref_dtype)
            cell = file.create_dataset(name, data=references, dtype=h5py.ref_dtype)
            cell.attrs["MATLAB_class"] = np.bytes_("cell")
        pair = np.empty(wave.u.T.shape, [("real", "f8"), ("imag", "f8")])
        pair["real"], pair["imag"] = wave.u.T, -wave.u.T
        file.create_dataset("model/wave", data=pair).attrs["MATLAB_class"] = np.bytes_("double")
        text = file.create_dataset("comment", data=np.array([[104, 105]], "u2").T)
        text.attrs["MATLAB_class"] = np.bytes_("char")
    with path.open("r+b") as raw:
        raw.write(header)
    with pytest.raises(ReadError, match="3 variables could be the field"):
        read(path)
    data = read(path, field="U")
    assert wave.matches(data.u)
    assert np.array_equal(data.v.values, 2 * wave.u.T)
    spinning = read(path, field="model/wave")
    assert np.array_equal(spinning.wave.values, (wave.u - 1j * wave.u).T)
    with pytest.raises(ReadError, match="comment is not an array of numbers: of MATLAB class char"):
        read(path, field="comment")


def test_structs_and_cells_of_matlab_5(tmp_path, wave):
    path = tmp_path / "run.mat"
    cell = np.empty((1, 3), object)
    cell[0] = [wave.u, 2 * wave.u, 3 * wave.u]
    scipy.io.savemat(
        path, {"sol": {"U": cell, "x": wave.x, "t": wave.t, "solver": "pseudo-spectral"}}
    )
    data = read(path)
    assert list(data.data_vars) == ["u", "v", "w"]
    assert wave.matches(data.u)
    assert np.array_equal(data.w.values, 3 * wave.u.T)


def test_dimension_scales_of_hdf5_are_names(tmp_path, wave):
    square = np.arange(49.0).reshape(7, 7)
    with h5py.File(tmp_path / "run.h5", "w") as file:
        file["pressure"], file["x"], file["t"] = square, wave.t, wave.t
        file["pressure"].dims[0].label = "x"
        file["pressure"].dims[1].label = "t"
    data = read(tmp_path / "run.h5")
    assert np.array_equal(data.pressure.values, square.T)
    assert data.attrs["source_format"] == "hdf5"


def test_packed_netcdf_is_unpacked_and_gaps_are_nan(tmp_path, wave):
    field = labeled(wave)
    field.usol.values[3, 2] = np.nan
    packing = {"usol": {"dtype": "i2", "scale_factor": 1e-4, "_FillValue": -32768}}
    field.to_netcdf(tmp_path / "run.nc", engine="h5netcdf", encoding=packing)
    data = read(tmp_path / "run.nc")
    assert np.isnan(data.usol.values[2, 3]) and np.isnan(data.usol.values).sum() == 1
    np.testing.assert_allclose(data.usol.values, field.usol.values.T, atol=5.1e-5)


def test_netcdf_with_foreign_names_asks_for_axes(tmp_path, wave):
    rows = xr.Dataset({"h": (("lat", "time"), wave.u)}, coords={"lat": wave.x, "time": wave.t})
    rows.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with pytest.raises(ReadError, match="'lat' is not known as an axis: name them in this order"):
        read(tmp_path / "run.nc")
    assert wave.matches(read(tmp_path / "run.nc", axes=("x", "t")).h)
    assert wave.matches(read(tmp_path / "run.nc", space="lat").h)


def test_netcdf_with_counted_dimensions_finds_the_vectors_along_them(tmp_path, wave):
    rows = xr.Dataset({"h": (("nx", "nt"), wave.u), "x": ("nx", wave.x), "t": ("nt", wave.t)})
    rows.to_netcdf(tmp_path / "run.nc", engine="scipy")
    assert wave.matches(read(tmp_path / "run.nc").h)


def test_two_netcdf_fields_are_a_choice(tmp_path, wave):
    two = labeled(wave).assign(vsol=2 * labeled(wave).usol)
    two.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    with pytest.raises(ReadError, match=r"usol \(12, 7\), vsol \(12, 7\)"):
        read(tmp_path / "run.nc")
    assert list(read(tmp_path / "run.nc", field=["usol", "vsol"]).data_vars) == ["usol", "vsol"]


def test_zarr_without_names_of_axes(tmp_path, wave):
    zarr = pytest.importorskip("zarr")
    root = zarr.open_group(str(tmp_path / "run.zarr"), mode="w")
    for name, values in {"usol": wave.u, "x": wave.x, "t": wave.t}.items():
        root.create_array(name, data=values)
    assert wave.matches(read(tmp_path / "run.zarr").usol)


def test_missing_zarr_says_how_to_install_it(tmp_path, wave, monkeypatch):
    write_zarr2(tmp_path / "run.zarr", wave)
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match=r"pip install 'sciml-pdes\[zarr\]'"):
        read(tmp_path / "run.zarr")


def test_coordinates_beside_an_array(tmp_path, wave):
    np.save(tmp_path / "run.npy", wave.u)
    np.savez(tmp_path / "run_coords.npz", x=wave.x, t=wave.t)
    data = read(tmp_path / "run.npy")
    assert wave.matches(data.u)
    assert "coordinates taken from run_coords.npz, which lies beside run.npy" in assumptions(data)
