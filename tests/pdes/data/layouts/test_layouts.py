"""Public layouts: small files written to each of them come back under the right names."""

from __future__ import annotations

import json
import subprocess
import sys

import h5py
import numpy as np
import pytest
import scipy.io

import pdes
from pdes.data import ReadError, assumptions, load, save
from pdes.data.layouts import read_cfdbench, read_fno_mat, read_pdebench, read_the_well

RNG = np.random.default_rng(0)


def numbers(*shape):
    return RNG.normal(size=shape).astype(np.float32)


# --- PDEBench --------------------------------------------------------------------------------


def test_pdebench_burgers(tmp_path):
    path, u = tmp_path / "1D_Burgers.hdf5", numbers(3, 4, 8)
    with h5py.File(path, "w") as file:
        file["tensor"] = u
        file["x-coordinate"] = (np.arange(8) + 0.5) / 8
        file["t-coordinate"] = np.linspace(0.0, 0.4, 5)  # one more than there are frames
        file.attrs["Nu"] = 0.01
    data = read_pdebench(path, periodic=("x",))
    assert data.u.dims == ("sample", "time", "x")
    assert np.array_equal(data.u.values, u)
    np.testing.assert_allclose(data.time, [0.0, 0.1, 0.2, 0.3])
    np.testing.assert_allclose(data.x, (np.arange(8) + 0.5) / 8)
    assert data.x.attrs["periodic"] == 1
    parameters = json.loads(data.attrs["parameters"])
    assert parameters["viscosity"] == pytest.approx(0.01 / np.pi)
    assert any("dropped" in sentence for sentence in assumptions(data))
    assert np.array_equal(read_pdebench(path, samples=slice(1, 3)).u, u[1:3])
    save(data, tmp_path / "copy.nc")
    assert np.array_equal(load(tmp_path / "copy.nc").u, u)


def test_pdebench_reaction_diffusion_keeps_nu_as_it_is(tmp_path):
    path = tmp_path / "ReacDiff.hdf5"
    with h5py.File(path, "w") as file:
        file["tensor"] = numbers(2, 3, 4)
        file["t-coordinate"] = np.arange(3.0)
        file.attrs.update({"Nu": 0.5, "rho": 1.0})
    data = read_pdebench(path)
    assert json.loads(data.attrs["parameters"]) == {"Nu": 0.5, "rho": 1.0}
    np.testing.assert_allclose(data.x, [0.125, 0.375, 0.625, 0.875])


def test_pdebench_darcy(tmp_path):
    path, a, u = tmp_path / "2D_Darcy.hdf5", numbers(2, 4, 6), numbers(2, 1, 4, 6)
    with h5py.File(path, "w") as file:
        file["tensor"], file["nu"] = u, a
        file["x-coordinate"], file["y-coordinate"] = np.arange(4.0), np.arange(6.0)
        file.attrs["beta"] = 1.0
    data = read_pdebench(path)
    assert data.a.dims == data.u.dims == ("sample", "x", "y")
    assert np.array_equal(data.a, a) and np.array_equal(data.u, u[:, 0])
    assert json.loads(data.attrs["parameters"]) == {"beta": 1.0}


def test_pdebench_compressible(tmp_path):
    path = tmp_path / "2D_CFD.hdf5"
    arrays = {name: numbers(2, 3, 4, 5) for name in ("density", "pressure", "Vx", "Vy")}
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values
        file["x-coordinate"], file["y-coordinate"] = np.arange(4.0), np.arange(5.0)
        file["t-coordinate"] = np.arange(4.0)
    data = read_pdebench(path, samples=1)
    assert list(data.data_vars) == list(arrays)
    assert data.Vy.dims == ("sample", "time", "x", "y")
    assert all(np.array_equal(data[name], values[:1]) for name, values in arrays.items())


def test_pdebench_groups(tmp_path):
    path, values = tmp_path / "2D_diff-react.h5", numbers(3, 4, 5, 6, 2)
    with h5py.File(path, "w") as file:
        for k in range(3):
            group = file.create_group(f"{k:04d}")
            group["data"] = values[k]
            for axis, size in (("t", 4), ("x", 5), ("y", 6)):
                group[f"grid/{axis}"] = np.arange(float(size))
            group.attrs["config"] = "sim:\n  k: 0.005\n"
    data = read_pdebench(path, fields=("activator", "inhibitor"))
    assert data.inhibitor.dims == ("sample", "time", "x", "y")
    assert np.array_equal(data.inhibitor, values[..., 1])
    assert data.attrs["config"] == "sim:\n  k: 0.005\n"
    assert read_pdebench(path, samples=slice(1, 3)).sizes["sample"] == 2
    with pytest.raises(ReadError, match="2 channels but 1 names"):
        read_pdebench(path, fields=("u",))


def test_pdebench_incompressible(tmp_path):
    path = tmp_path / "ns_incom.h5"
    velocity, particles, force = numbers(2, 3, 4, 4, 2), numbers(2, 3, 4, 4, 1), numbers(2, 4, 4, 2)
    with h5py.File(path, "w") as file:
        file["velocity"], file["particles"], file["force"] = velocity, particles, force
        file["t"] = np.tile(np.arange(3.0), (2, 1))
    data = read_pdebench(path)
    assert np.array_equal(data.v, velocity[..., 1])
    assert np.array_equal(data.particles, particles[..., 0])
    assert data.force_y.dims == ("sample", "x", "y")
    assert np.array_equal(data.force_y, force[..., 1])
    with h5py.File(path, "r+") as file:
        file["t"][1] += 1.0
    with pytest.raises(ReadError, match="different times"):
        read_pdebench(path)
    assert float(read_pdebench(path, samples=slice(1, 2)).time[0]) == 1.0


# --- The Well --------------------------------------------------------------------------------


@pytest.fixture
def well(tmp_path):
    path = tmp_path / "waves.hdf5"
    arrays = {
        "pressure": numbers(2, 3, 4, 5),
        "density": numbers(2, 4, 5),  # the same at all times
        "profile": numbers(5),  # the same for all samples, at all times, along x
        "velocity": numbers(2, 3, 4, 5, 2),
        "D": numbers(2, 3, 4, 5, 2, 2),
    }
    varies = {
        "density": {"time_varying": False},
        "profile": {"sample_varying": False, "time_varying": False, "dim_varying": [False, True]},
    }
    with h5py.File(path, "w") as file:
        file.attrs.update(
            {
                "dataset_name": "waves",
                "grid_type": "cartesian",
                "n_spatial_dims": 2,
                "n_trajectories": 2,
                "simulation_parameters": ["speed"],
            }
        )
        dimensions = file.create_group("dimensions")
        dimensions.attrs["spatial_dims"] = ["x", "y"]
        dimensions["time"] = np.tile(np.arange(3.0), (2, 1))
        dimensions["x"], dimensions["y"] = np.linspace(0, 1, 4), np.linspace(0, 2, 5)
        for order, names in enumerate((["pressure", "density", "profile"], ["velocity"], ["D"])):
            group = file.create_group(f"t{order}_fields")
            group.attrs["field_names"] = names
            for name in names:
                group[name] = arrays[name]
                group[name].attrs.update(
                    {
                        "sample_varying": True,
                        "time_varying": True,
                        "dim_varying": [True, True],
                        **varies.get(name, {}),
                    }
                )
        scalars = file.create_group("scalars")
        scalars["speed"], scalars["gamma"] = np.array([1.5, 2.5]), 1.4
        scalars["speed"].attrs.update({"sample_varying": True, "time_varying": False})
        for name, kind in (("x_periodic", "PERIODIC"), ("y_wall", "WALL")):
            file.create_group(f"boundary_conditions/{name}").attrs["bc_type"] = kind
    return path, arrays


def test_the_well(well):
    path, arrays = well
    data = read_the_well(path)
    dims = ("sample", "time", "x", "y")
    assert all(values.dims == dims for values in data.data_vars.values())
    assert np.array_equal(data.pressure, arrays["pressure"])
    assert np.array_equal(data.density.isel(time=2), arrays["density"])
    assert np.array_equal(data.profile[1, 2, 3], arrays["profile"])
    assert np.array_equal(data.velocity_y, arrays["velocity"][..., 1])
    assert np.array_equal(data.D_xy, arrays["D"][..., 0, 1])
    assert data.speed.values.tolist() == [1.5, 2.5]
    assert json.loads(data.attrs["parameters"]) == {"gamma": 1.4}
    assert data.x.attrs.get("periodic") == 1
    assert "periodic" not in data.y.attrs
    assert json.loads(data.attrs["boundary"]) == {"x_periodic": "PERIODIC", "y_wall": "WALL"}
    assert data.y.values.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    second = read_the_well(path, samples=slice(1, 2))
    assert np.array_equal(second.D_yx, arrays["D"][1:, ..., 1, 0])
    assert np.array_equal(second.profile[0, 0, 0], arrays["profile"])
    assert second.speed.values.tolist() == [2.5]


def test_the_well_refuses_another_layout(tmp_path):
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file["u"] = [1.0]
    with pytest.raises(ReadError, match="no file of The Well"):
        read_the_well(tmp_path / "x.hdf5")
    with pytest.raises(ReadError, match="no file of PDEBench"):
        read_pdebench(tmp_path / "x.hdf5")
    (tmp_path / "y.hdf5").write_bytes(b"not hdf5 at all")
    for read in (read_the_well, read_pdebench):
        with pytest.raises(ReadError, match="no HDF5 file, or damaged"):
            read(tmp_path / "y.hdf5")
        with pytest.raises(ReadError, match="no file at"):
            read(tmp_path / "z.hdf5")


# --- Fourier neural operator -------------------------------------------------------------------


def write_mat(path, version, **arrays):
    if version == "5":
        scipy.io.savemat(path, arrays)
        return
    # What MATLAB 7.3 writes: 512 bytes of text, then HDF5 with the axes reversed.
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in arrays.items():
            file[name] = np.asarray(values).T
    head = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    with path.open("r+b") as file:
        file.write(head.ljust(512, b"\x00"))


@pytest.mark.parametrize("version", ["5", "7.3"])
def test_fno_burgers(tmp_path, version):
    path, a, u = tmp_path / "burgers.mat", numbers(3, 16), numbers(3, 16)
    write_mat(path, version, a=a, u=u)
    data = read_fno_mat(path)
    assert data.u.dims == ("sample", "time", "x")
    assert np.array_equal(data.u[:, 0], a)
    assert np.array_equal(data.u[:, 1], u)
    assert data.time.values.tolist() == [0.0, 1.0]
    np.testing.assert_allclose(data.x, np.arange(16) / 16)
    assert data.x.attrs["periodic"] == 1
    assert np.array_equal(read_fno_mat(path, samples=slice(1, 2)).u[:, 1], u[1:2])


@pytest.mark.parametrize("version", ["5", "7.3"])
def test_fno_darcy(tmp_path, version):
    path, a, u = tmp_path / "darcy.mat", numbers(3, 5, 7), numbers(3, 5, 7)
    write_mat(path, version, coeff=a, sol=u, Kcoeff=a, Kcoeff_x=a)
    data = read_fno_mat(path, samples=2)
    assert np.array_equal(data.a, a[:2]) and np.array_equal(data.u, u[:2])
    assert data.x.values.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert "periodic" not in data.x.attrs


@pytest.mark.parametrize("version", ["5", "7.3"])
def test_fno_navier_stokes(tmp_path, version):
    path, a, u = tmp_path / "ns.mat", numbers(3, 4, 6), numbers(3, 4, 6, 5)
    write_mat(path, version, a=a, u=u, t=np.arange(1.0, 6.0).reshape(1, 5))
    data = read_fno_mat(path)
    assert data.w.dims == ("sample", "time", "x", "y")
    assert np.array_equal(data.w[:, 0], a)
    assert np.array_equal(data.w[:, 3], u[..., 2])
    assert data.time.values.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_fno_refuses_other_files(tmp_path):
    write_mat(tmp_path / "x.mat", "5", usol=numbers(3, 4))
    with pytest.raises(ReadError, match=r"holds \['usol'\]"):
        read_fno_mat(tmp_path / "x.mat")
    np.save(tmp_path / "y.npy", numbers(3))
    with pytest.raises(ReadError, match="npy, wanted a MATLAB file"):
        read_fno_mat(tmp_path / "y.npy")
    damaged = (tmp_path / "x.mat").read_bytes()[:-20]
    (tmp_path / "z.mat").write_bytes(damaged)
    with pytest.raises(ReadError):
        read_fno_mat(tmp_path / "z.mat")


# --- CFDBench ----------------------------------------------------------------------------------


def write_case(folder, frames, **entries):
    folder.mkdir(parents=True)
    u, v = numbers(frames, 6, 4), numbers(frames, 6, 4)  # rows are y
    np.save(folder / "u.npy", u)
    np.save(folder / "v.npy", v)
    (folder / "case.json").write_text(json.dumps(entries))
    return u, v


def test_cfdbench(tmp_path):
    folder = tmp_path / "cavity" / "bc"
    u0, _ = write_case(folder / "case0000", 5, vel_top=1.0, density=1.0, viscosity=0.01)
    _, v1 = write_case(folder / "case0001", 3, vel_top=2.0, density=1.0, viscosity=0.01)
    data = read_cfdbench(folder)
    assert data.u.dims == ("sample", "time", "x", "y")
    assert data.u.shape == (2, 5, 4, 6)
    assert np.array_equal(data.u[0], u0.transpose(0, 2, 1))
    assert np.array_equal(data.v[1, :3], v1.transpose(0, 2, 1))
    assert np.isnan(data.v[1, 3:]).all()
    assert data.frames.values.tolist() == [5, 3]
    assert data.vel_top.values.tolist() == [1.0, 2.0]
    np.testing.assert_allclose(data.time, 0.1 * np.arange(5))
    one = read_cfdbench(folder / "case0001", frame_step=0.001)
    np.testing.assert_allclose(one.time, [0.0, 0.001, 0.002])


def test_the_obstacle_of_a_cylinder_is_rebuilt_around_its_center(tmp_path):
    folder = tmp_path / "cylinder" / "geo" / "case0000"
    extents = {"radius": 1.0, "x_min": -2.0, "x_max": 2.0, "y_min": -3.0, "y_max": 3.0}
    write_case(folder, 2, vel_in=1.0, **extents)
    mask = read_cfdbench(folder).inside.values[0]
    # Cells of size one around the origin: only the four that touch it have centers in the circle.
    expected = np.zeros((4, 6))
    expected[1:3, 2:4] = 1
    assert np.array_equal(mask, expected)


def test_cfdbench_refuses_what_is_missing(tmp_path):
    with pytest.raises(ReadError, match="no cases of CFDBench"):
        read_cfdbench(tmp_path)
    write_case(tmp_path / "case0000", 2)
    with pytest.raises(ReadError, match="frame_step=0"):
        read_cfdbench(tmp_path, frame_step=0.0)
    np.save(tmp_path / "case0000" / "v.npy", numbers(3, 6, 4))
    with pytest.raises(ReadError, match="u and v have shapes"):
        read_cfdbench(tmp_path)
    np.save(tmp_path / "case0000" / "v.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ReadError, match=r"v\.npy cannot be read"):
        read_cfdbench(tmp_path)


def test_pdebench_refuses_times_that_decrease_and_empty_tensors(tmp_path):
    path = tmp_path / "back.hdf5"
    with h5py.File(path, "w") as file:
        file["tensor"] = numbers(2, 3, 4)
        file["x-coordinate"] = np.arange(4.0)
        file["t-coordinate"] = np.array([2.0, 1.0, 0.0])
    with pytest.raises(ReadError, match=r"back.hdf5: the times decrease, from 2 to 0"):
        read_pdebench(path)
    with h5py.File(tmp_path / "none.hdf5", "w") as file:
        file["tensor"] = np.zeros((0, 3, 4))
        file["t-coordinate"] = np.arange(3.0)
    with pytest.raises(ReadError, match="holds no values"):
        read_pdebench(tmp_path / "none.hdf5")
    with h5py.File(tmp_path / "scalar.hdf5", "w") as file:
        file["tensor"] = 1.0
    with pytest.raises(ReadError, match=r"scalar.hdf5 is damaged, or not of the layout"):
        read_pdebench(tmp_path / "scalar.hdf5")


def test_files_larger_than_memory_are_refused_with_their_size(tmp_path):
    path = tmp_path / "huge.hdf5"
    with h5py.File(path, "w") as file:
        file.create_dataset("tensor", (10**9, 101, 1024), "f4", chunks=(1, 101, 1024))
        file["x-coordinate"] = np.arange(1024.0)
        file["t-coordinate"] = np.arange(101.0)
    with pytest.raises(ReadError, match=r"376.3 TiB of memory, .*such as samples=\d+"):
        read_pdebench(path)
    assert read_pdebench(path, samples=1).sizes["sample"] == 1
    with pytest.raises(ReadError, match=r"huge.hdf5: .*376.3 TiB of memory.*samples="):
        pdes.read(path)


def test_modules_named_in_messages_load_on_first_use(tmp_path):
    code = (
        "import sys, pdes; assert pdes.data.layouts.read_pdebench; assert pdes.data.region_store\n"
        "assert not {'torch', 'sciml'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pdes.data.nothing
    (tmp_path / "darcy.pt").write_bytes(b"PK\x03\x04")
    with pytest.raises(ReadError, match=r"sciml\.fno_pt\.read_fno_pt\('darcy.pt'\)"):
        pdes.read(tmp_path / "darcy.pt")
