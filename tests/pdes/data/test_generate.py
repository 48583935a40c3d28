"""Generated datasets are the same whoever makes them, and nothing is lost on the way."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import pdes
from pdes.data import (
    ChecksumError,
    ReadError,
    StoreFullError,
    load,
    open_generated,
    read,
    region_store,
    verify,
)
from pdes.data.make import GenerationWarning, make
from pdes.data.ranges import normalized, sample_parameters
from pdes.data.recipe import Recipe
from pdes.data.samples import STATUS, Source, solve_samples
from pdes.initial import GaussianRandomField, RandomFourier

pytest.importorskip("zarr")

CIRCLE = {"x": [0.0, 6.283185307179586, 64]}
SMALL = {
    "grid": CIRCLE,
    "times": [0.0, 0.25, 0.5],
    "initial": {"family": "RandomFourier", "modes": 2},
    "settings": {"time_step": 0.0125, "stored_points": 32},
}


def files(folder: Path) -> dict[str, str]:
    """Checksum of every file of a store."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def burgers(path, samples=12, **options):
    return pdes.generate(
        "burgers", samples, path, parameters={"viscosity": 1.0}, **{**SMALL, **options}
    )


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Twelve samples, made without any trouble."""
    path = tmp_path_factory.mktemp("reference") / "burgers.zarr"
    burgers(path, chunk=2)
    return path


# --- values ----------------------------------------------------------------------------------


def test_samples_are_what_simulate_finds(reference):
    data = load(reference)
    problem = pdes.get(
        "burgers",
        viscosity=1.0,
        grid=pdes.Grid.periodic(x=tuple(CIRCLE["x"])),
        initial=RandomFourier(modes=2),
        times=SMALL["times"],
        **SMALL["settings"],
    )
    again = pdes.simulate(problem, samples=12, seed=0)
    assert json.loads(again.attrs["solver"])["time_step"] == float(data.time_step[0])
    assert data.u.dims == ("sample", "time", "x")
    assert data.u.shape == (12, 3, 32)
    assert np.array_equal(data.u.values, again.u.values.astype(np.float32))
    assert np.array_equal(data.x.values, again.x.values)
    assert np.array_equal(data.time.values, again.time.values)
    assert data.x.attrs["periodic"] == 1
    for one in (data, open_generated(reference), read(reference)):
        assert set(one.u.attrs) == {"long_name", "units", "sha256"}
        assert not any("_FillValue" in values.attrs for values in one.variables.values())
    assert data.status.values.tolist() == [STATUS.index("ok")] * 12
    assert data.steps.values.tolist() == [40] * 12
    assert data.attrs["equation"] == "u_t = -u*u_x + u_xx"


def test_a_sample_does_not_depend_on_how_many_there_are_or_on_the_chunks(reference, tmp_path):
    whole = load(reference).u.values
    for chunk in (1, 5, 7):
        burgers(tmp_path / f"{chunk}.zarr", samples=7, chunk=chunk)
        assert np.array_equal(load(tmp_path / f"{chunk}.zarr").u.values, whole[:7])


@pytest.mark.parametrize(("name", "step"), [("burgers", None), ("heat", None), ("kdv", 1e-3)])
def test_solving_together_changes_no_bit(name, step):
    settings = {} if step is None else {"time_step": step}
    grid = {"x": [0.0, 6.283185307179586, 64]}
    recipe = Recipe(
        problem=name,
        samples=9,
        times=[0.0, 0.1],
        grid=grid,
        initial={"family": "RandomFourier", "modes": 3},
        settings={"stored_points": 64, **settings},
    )
    source = Source(recipe=recipe)
    together = solve_samples(source, range(9))
    for index in range(9):
        alone = solve_samples(source, [index])[index]
        assert np.array_equal(alone.fields["u"], together[index].fields["u"])
        assert (alone.steps, alone.time_step, alone.status) == (
            together[index].steps,
            together[index].time_step,
            together[index].status,
        )


def test_a_fast_sample_does_not_shorten_the_step_of_the_others():
    """The step is lowered to Courant number 0.5 for the sample that needs it only."""
    recipe = Recipe(
        problem="burgers",
        samples=6,
        parameters={"viscosity": 0.5},
        times=[0.0, 0.5],
        grid=CIRCLE,
        initial={"family": "GaussianRandomField", "alpha": 3.0, "tau": 1.0, "sigma": 3.0},
        settings={"time_step": 0.05, "stored_points": 64},
    )
    solved = solve_samples(Source(recipe=recipe), range(6))
    steps = [solved[i].steps for i in range(6)]
    assert min(steps) == 10 < max(steps)
    for index in range(6):
        assert solve_samples(Source(recipe=recipe), [index])[index].steps == steps[index]


def test_parameters_are_drawn_from_their_ranges(tmp_path):
    ranges = {"viscosity": {"log": [0.8, 2.0]}}
    pdes.generate("burgers", 8, tmp_path / "a.zarr", ranges=ranges, **SMALL)
    data = load(tmp_path / "a.zarr")
    drawn = data.viscosity.values
    assert len(set(drawn)) == 8
    assert 0.8 <= drawn.min() < drawn.max() <= 2.0
    assert data.attrs["equation"] == "u_t = -u*u_x + viscosity*u_xx"
    one = pdes.get(
        "burgers",
        viscosity=float(drawn[5]),
        grid=pdes.Grid.periodic(x=tuple(CIRCLE["x"])),
        initial=RandomFourier(modes=2),
        times=SMALL["times"],
        **SMALL["settings"],
    )
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(5,)))
    u = pdes.simulate(one, initial=one.initial(one.grid, rng)).u.values
    assert np.array_equal(data.u.values[5], u.astype(np.float32))


def test_ranges_have_the_distribution_they_name():
    rng = np.random.default_rng(0)
    ranges = {
        "a": normalized("a", (2.0, 4.0)),
        "b": normalized("b", {"log": [1e-3, 1.0]}),
        "c": normalized("c", {"choices": [1, 5]}),
    }
    draws = [sample_parameters(ranges, rng) for _ in range(4000)]
    a, b, c = (np.array([draw[name] for draw in draws]) for name in "abc")
    assert abs(a.mean() - 3.0) < 4 * (2 / np.sqrt(12)) / np.sqrt(4000)
    assert abs(np.log10(b).mean() + 1.5) < 4 * (3 / np.sqrt(12)) / np.sqrt(4000)
    assert abs(np.mean(c == 5.0) - 0.5) < 4 * 0.5 / np.sqrt(4000)
    assert set(c) == {1.0, 5.0}


def test_complex_fields_and_double_precision_come_back(tmp_path):
    options = {"times": [0.0, 0.1], "settings": {"time_step": 0.005}}
    grid = {"x": [-10.0, 10.0, 128]}
    family = {"family": "RandomFourier", "modes": 3, "fields": ["h"]}
    name = "nls"
    problem = pdes.get(name)
    assert problem.equation.fields == ("h",)
    options["settings"]["stored_points"] = 64
    data = pdes.generate(
        name, 4, tmp_path / "h.zarr", grid=grid, initial=family, dtype="float64", **options
    )
    assert data.h.dtype == np.complex128
    again = pdes.simulate(
        pdes.get(
            name,
            grid=pdes.Grid.periodic(x=(-10.0, 10.0, 128)),
            initial=RandomFourier(modes=3, fields=("h",)),
            times=[0.0, 0.1],
            time_step=0.005,
            stored_points=64,
        ),
        samples=4,
        seed=0,
    )
    assert np.array_equal(data.h.values, again.h.values)
    assert np.array_equal(load(tmp_path / "h.zarr").h.values, again.h.values)
    assert verify(tmp_path / "h.zarr", samples=2, rtol=0.0)["h"] == data.h.attrs["sha256"]


def test_a_problem_and_a_function_may_be_given(tmp_path):
    problem = pdes.Problem(
        equation=pdes.Equation.from_text("u_t = k*u_xx", name="mine", parameters={"k": 0.1}),
        grid=pdes.Grid.periodic(x=(0.0, 1.0, 32)),
        initial=GaussianRandomField(alpha=2.0, tau=1.0),
        times=[0.0, 0.1],
    )
    data = pdes.generate(problem, 4, tmp_path / "p.zarr", ranges={"k": (0.1, 0.2)})
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(2,)))
    u0 = problem.initial(problem.grid, rng)["u"]
    waves = 2 * np.pi * np.fft.rfftfreq(32, 1 / 32)
    decay = np.exp(-float(data.k[2]) * waves**2 * 0.1)
    np.testing.assert_allclose(data.u[2, 1], np.fft.irfft(np.fft.rfft(u0) * decay), atol=1e-6)

    made = pdes.generate(straight_line, 5, tmp_path / "f.zarr", ranges={"slope": (1.0, 2.0)})
    for index in range(5):
        np.testing.assert_allclose(made.y[index], made.slope[index] * made.x, rtol=1e-6)
    verify(tmp_path / "f.zarr", samples=5, rtol=0.0, given=straight_line)
    with pytest.raises(ReadError, match="given="):
        verify(tmp_path / "f.zarr", samples=1)


def test_steady_problems_keep_their_random_coefficient(tmp_path):
    data = pdes.generate("darcy", 3, tmp_path / "d.zarr", parameters={"cells": 16})
    assert list(data.data_vars) == ["u", "a"]
    assert data.u.dims == data.a.dims == ("sample", "x", "y")
    assert set(np.unique(data.a)) == {3.0, 12.0}
    assert not np.array_equal(data.a[0], data.a[1])
    # What leaves the square is what its unit source puts in: cells of equal size, zero around.
    h, a, u = 1 / 16, data.a.values.astype(float), data.u.values.astype(float)
    edges = [(a[:, 0], u[:, 0]), (a[:, -1], u[:, -1]), (a[:, :, 0], u[:, :, 0])]
    edges.append((a[:, :, -1], u[:, :, -1]))
    outflow = sum((2 * ai * ui / h * h).sum(axis=1) for ai, ui in edges)
    np.testing.assert_allclose(outflow, 1.0, rtol=1e-5)
    verify(tmp_path / "d.zarr", samples=3, rtol=0.0)
    with pytest.raises(ValueError, match="would be the same"):
        pdes.generate("motz", 2, tmp_path / "m.zarr")


def test_meshes_are_kept_with_their_cells(tmp_path):
    problem = pdes.get("poisson_peak", resolution=4)
    name = next(iter(problem.parameters), None)
    if name is None:
        pytest.skip("this problem has no parameter to draw")
    value = problem.parameters[name]
    data = pdes.generate(problem, 2, tmp_path / "p.zarr", ranges={name: (value, 1.1 * value)})
    assert data.u.dims == ("sample", "point")
    assert data.cells.dims == ("cell", "vertex")
    assert load(tmp_path / "p.zarr").cells.equals(data.cells)
    assert pdes.plot(data, "u", sample=1)[0, 0].collections


def straight_line(rng, slope):
    x = np.linspace(0.0, 1.0, 9)
    return xr.Dataset({"y": ("x", slope * x)}, coords={"x": x})


def test_a_netcdf_file_is_as_good_as_a_store(reference, tmp_path):
    burgers(tmp_path / "b.nc", chunk=2)
    assert [file.name for file in tmp_path.iterdir()] == ["b.nc"]
    one, two = load(tmp_path / "b.nc"), load(reference)
    assert one.equals(two)
    assert one.attrs["recipe"] == two.attrs["recipe"]
    verify(tmp_path / "b.nc", samples=3, rtol=0.0)
    before = (tmp_path / "b.nc").read_bytes()
    burgers(tmp_path / "b.nc")  # finished: nothing is done
    assert (tmp_path / "b.nc").read_bytes() == before


def test_version_three_of_zarr_holds_the_same(reference, tmp_path):
    burgers(tmp_path / "three.zarr", chunk=2, zarr_format=3)
    assert (tmp_path / "three.zarr" / "zarr.json").exists()
    assert load(tmp_path / "three.zarr").equals(load(reference))
    assert xr.open_zarr(tmp_path / "three.zarr", consolidated=False).sizes["sample"] == 12


def test_a_large_sample_is_cut_along_space(tmp_path, monkeypatch):
    monkeypatch.setattr(region_store, "LARGEST_CHUNK", 3 * 16 * 4)
    burgers(tmp_path / "cut.zarr", samples=2)
    import zarr

    assert zarr.open_group(tmp_path / "cut.zarr", mode="r")["u"].chunks == (1, 3, 16)
    verify(tmp_path / "cut.zarr", samples=2, rtol=0.0)


def test_progress_counts_samples(tmp_path):
    seen = []
    burgers(tmp_path / "p.zarr", samples=5, chunk=2, progress=lambda *state: seen.append(state))
    assert seen == [(0, 5), (2, 5), (4, 5), (5, 5)]


# --- failures ----------------------------------------------------------------------------------


def sometimes(rng, limit):
    if rng.uniform() < limit:
        raise ArithmeticError("this one does not work")
    x = np.linspace(0.0, 1.0, 4)
    return xr.Dataset({"y": ("x", x)}, coords={"x": x})


def test_a_failed_sample_is_recorded_with_its_exception(tmp_path):
    with pytest.warns(GenerationWarning, match="of 30 samples"):
        data = pdes.generate(sometimes, 30, tmp_path / "s.zarr", parameters={"limit": 0.3})
    failed = np.flatnonzero(data.status.values == STATUS.index("failed"))
    assert 2 <= failed.size <= 20
    record = json.loads(data.attrs["failures"])
    assert sorted(map(int, record)) == failed.tolist()
    assert set(record.values()) == {"ArithmeticError: this one does not work"}
    missing = np.isnan(data.y.values).all(axis=1)
    assert np.flatnonzero(missing).tolist() == failed.tolist()
    verify(tmp_path / "s.zarr", samples=30, rtol=0.0, given=sometimes)


def test_ranges_beyond_what_is_allowed_are_refused_before_anything_is_made(tmp_path):
    with pytest.raises(ValueError, match=r"ranges: viscosity = 15 lies in .* range narrower"):
        pdes.generate("burgers", 8, tmp_path / "r.zarr", ranges={"viscosity": (5.0, 15.0)}, **SMALL)
    assert not (tmp_path / "r.zarr").exists()


def test_samples_that_are_not_resolved_are_flagged_the_same_alone_and_together(tmp_path):
    rough = {"family": "WindowedSines", "fold_probability": 0.5, "window_probability": 0.0}
    with pytest.warns(GenerationWarning, match="under_resolved"):
        data = burgers(tmp_path / "w.zarr", samples=10, chunk=10, initial=rough)
    codes = data.status.values
    assert set(codes) == {STATUS.index("ok"), STATUS.index("under_resolved")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = burgers(tmp_path / "v.zarr", samples=10, chunk=1, initial=rough)
    assert np.array_equal(one.status.values, codes)
    assert np.array_equal(one.u.values, data.u.values)


def test_nothing_is_made_if_no_sample_works(tmp_path):
    with pytest.raises(ValueError, match=r"viscosity=-1\.0 is outside"):
        pdes.generate("burgers", 3, tmp_path / "n.zarr", parameters={"viscosity": -1.0}, **SMALL)
    assert list(tmp_path.iterdir()) == []


# --- interruption --------------------------------------------------------------------------------

CHILD = """
import sys, pdes
pdes.generate(
    "burgers", 12, sys.argv[1], parameters={"viscosity": 1.0}, chunk=2,
    times=[0.0, 0.25, 0.5], initial={"family": "RandomFourier", "modes": 2},
    grid={"x": [0.0, 6.283185307179586, 64]},
    settings={"time_step": 0.0125, "stored_points": 32},
)
"""


def start_child(path):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", CHILD, str(path)], env=environment)


def test_killed_at_random_moments_and_resumed_gives_the_same_bytes(reference, tmp_path):
    """``kill -9`` while it writes; each attempt goes a little further than the last."""
    path, rng, kills = tmp_path / "burgers.zarr", np.random.default_rng(11), 0
    interrupted = []
    for blocks in (0, 2, 4):
        child = start_child(path)
        # Anywhere in the time that a block takes, from the moment at which this block is due.
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and child.poll() is None:
            if len(list(path.glob("manifest/*.json"))) >= blocks and (blocks or path.exists()):
                break
            time.sleep(0.002)
        time.sleep(float(rng.uniform(0.0, 0.02)))
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            kills += 1
        child.wait()
        interrupted.append(len(list(path.glob("manifest/*.json"))))
    assert kills >= 2
    assert interrupted[0] < 6
    partial = open_generated(path)
    assert partial.sizes["sample"] == 12
    burgers(path, chunk=2)
    assert files(path) == files(reference)


def test_what_a_killed_process_left_behind_is_swept_away(reference, tmp_path):
    path = tmp_path / "burgers.zarr"

    class Stop(Exception):  # noqa: N818
        pass

    def stop(done, total):
        if done >= 4:
            raise Stop

    with pytest.raises(Stop):
        burgers(path, chunk=2, progress=stop)
    for place in ("u", "manifest"):
        (path / place / "0.0.0.0123.partial").write_bytes(b"half")
    with pytest.raises(ReadError, match="not complete"):
        load(path)
    with pytest.raises(ReadError, match="not complete"):
        verify(path)
    data = open_generated(path)
    assert data.status.values.tolist() == [1] * 4 + [0] * 8
    assert np.isnan(data.u.values[4:]).all()
    # A block without its line in the manifest is not trusted.
    (path / "u" / "2.0.0").write_bytes(b"garbage")
    burgers(path, chunk=2)
    assert files(path) == files(reference)


def test_a_full_disk_leaves_a_valid_partial_store(reference, tmp_path, monkeypatch):
    path, real, written = tmp_path / "burgers.zarr", region_store.write_text, []

    def write_text(target, text):
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(target)
        real(target, text)

    with monkeypatch.context() as patch:
        patch.setattr(region_store, "write_text", write_text)
        with pytest.raises(StoreFullError, match=r"no space left.*block 3.*goes on from there"):
            burgers(path, chunk=2)
    data = open_generated(path)
    assert np.array_equal(data.u.values[:6], load(reference).u.values[:6])
    assert data.attrs["complete"] == 0
    burgers(path, chunk=2)
    assert files(path) == files(reference)


def test_a_full_disk_while_a_chunk_is_written(reference, tmp_path, monkeypatch):
    """The error of the file system itself, out of the storage library."""
    from zarr.storage import LocalStore

    path, real, count = tmp_path / "burgers.zarr", LocalStore.set, []

    async def set_(self, key, value):
        if key.startswith("u/"):
            count.append(key)
            if len(count) == 4:
                raise OSError(errno.ENOSPC, "No space left on device")
        await real(self, key, value)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "set", set_)
        with pytest.raises(StoreFullError, match="no space left"):
            burgers(path, chunk=2)
    assert 0 < len(list(path.glob("manifest/*.json"))) < 6
    data = open_generated(path)
    assert np.array_equal(np.isnan(data.u.values).any(axis=(1, 2)), data.status.values == 0)
    burgers(path, chunk=2)
    assert files(path) == files(reference)


def test_two_generations_of_one_store_at_once_are_refused(tmp_path):
    path = tmp_path / "burgers.zarr"

    def again(done, total):
        with pytest.raises(RuntimeError, match="another process"):
            burgers(path, chunk=2)

    burgers(path, chunk=2, progress=again)


def test_a_store_of_another_recipe_is_not_touched(reference):
    before = files(reference)
    with pytest.raises(ValueError, match="it differs in seed: 0 there, 1 asked"):
        burgers(reference, seed=1)
    with pytest.raises(ValueError, match="chunks of 2 samples, asked was 3"):
        burgers(reference, chunk=3)
    with pytest.raises(FileExistsError, match="exists"):
        burgers(reference, resume=False)
    assert files(reference) == before


# --- who does the work --------------------------------------------------------------------------


@pytest.mark.parametrize(("scheduler", "workers"), [("threads", 2), ("processes", 2)])
def test_one_and_two_workers_write_the_same_bytes(reference, tmp_path, scheduler, workers):
    path = tmp_path / "burgers.zarr"
    burgers(path, chunk=2, scheduler=scheduler, workers=workers)
    assert files(path) == files(reference)


def test_threads_leave_the_settings_of_the_process_as_they_were(tmp_path):
    from threadpoolctl import threadpool_info, threadpool_limits

    with threadpool_limits(2), warnings.catch_warnings(record=True) as caught:
        before = [pool["num_threads"] for pool in threadpool_info()]
        burgers(tmp_path / "burgers.zarr", chunk=1, scheduler="threads", workers=4)
        assert [pool["num_threads"] for pool in threadpool_info()] == before
        warnings.warn("heard", UserWarning, stacklevel=1)
        assert [str(item.message) for item in caught] == ["heard"]


def test_a_killed_dask_worker_loses_nothing(reference, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victims = [worker.pid for worker in cluster.workers.values()]
        killed = []

        def kill(done, total):
            if done >= 2 and not killed:
                os.kill(victims[0], signal.SIGKILL)
                killed.append(victims[0])

        burgers(tmp_path / "burgers.zarr", chunk=2, client=client, progress=kill)
        assert len(killed) == 1
    assert files(tmp_path / "burgers.zarr") == files(reference)


def test_worker_processes_that_die_are_replaced(tmp_path):
    marker = tmp_path / "died"
    data = pdes.generate(
        dies_once,
        4,
        tmp_path / "d.zarr",
        parameters={"marker": str(marker)},
        chunk=1,
        scheduler="processes",
        workers=1,
    )
    assert marker.exists()
    assert np.array_equal(data.y.values, np.tile([0.0, 1.0], (4, 1)))


def dies_once(rng, marker):
    path = Path(marker)
    # The first look is the caller's, at what a sample is; the second is a worker's.
    if not path.with_suffix(".first").exists():
        path.with_suffix(".first").touch()
    elif not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return xr.Dataset({"y": ("x", [0.0, 1.0])}, coords={"x": [0.0, 1.0]})


def test_memory_does_not_grow_with_the_number_of_samples(tmp_path):
    def peak(samples):
        tracemalloc.start()
        pdes.generate(wide, samples, tmp_path / f"{samples}.zarr", chunk=4)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(4)  # whatever is imported and cached on first use
    small, large = peak(8), peak(40)
    size = 40 * 65536 * 4
    assert large - small < size / 8, (small, large, size)


def wide(rng):
    x = np.arange(65536.0)
    return xr.Dataset({"y": ("x", rng.normal(size=65536))}, coords={"x": x})


# --- verification --------------------------------------------------------------------------------


def test_verify_compares_bytes_and_solves_again(reference):
    sums = verify(reference, samples=4, rtol=0.0)
    assert sums["u"] == load(reference).u.attrs["sha256"]
    assert set(sums) == {"u", "time", "x", "sample", "status", "steps", "time_step"}


def test_verify_notices_changed_bytes_and_changed_samples(tmp_path):
    import zarr

    path = tmp_path / "burgers.zarr"
    burgers(path, samples=4)
    root = zarr.open_group(path, mode="r+")
    values = root["u"][...]
    root["u"][2] = values[2] * 1.001
    with pytest.raises(ChecksumError, match="u differ from what was written"):
        verify(path)
    # Somebody who also mends the sums is found out by the solver.
    root["u"].attrs["sha256"] = region_store.stream_checksum(root["u"])
    verify(path)
    with pytest.raises(ChecksumError, match=r"samples 2 \(ok, now ok, distance 0.001\)"):
        verify(path, samples=4)
    assert set(verify(path, samples=4, rtol=0.01)) >= {"u"}


def test_a_damaged_chunk_is_noticed(tmp_path):
    path = tmp_path / "burgers.zarr"
    burgers(path, samples=4)
    chunk = path / "u" / "1.0.0"
    chunk.write_bytes(chunk.read_bytes()[:-7])
    with pytest.raises(ChecksumError, match="u"):
        verify(path)


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"samples": 0}, "samples=0"),
        ({"seed": -1}, "seed=-1"),
        ({"dtype": "int8"}, "dtype='int8'"),
        ({"ranges": {"viscosity": (0.1, 0.2)}}, "stand in parameters and in ranges"),
        ({"ranges": {"speed": (2.0, 1.0)}}, "low first"),
        ({"ranges": {"speed": {"log": [0.0, 1.0]}}}, "low > 0"),
        ({"ranges": {"speed": {"normal": [0.0, 1.0]}}}, "choices"),
        ({"ranges": {"speed": "fast"}}, "uniform"),
        ({"ranges": {"speed": (0.0, np.inf)}}, "finite"),
        ({"times": {"start": 0.0, "stop": 1.0}}, "start, stop and count"),
        ({"grid": {"x": [0.0, 1.0]}}, "start, stop, points"),
        ({"initial": {"family": "Noise"}}, "known: "),
        ({"initial": {"family": "RandomFourier", "mode": 3}}, "mode"),
        ({"scheduler": "slurm"}, "wanted one of"),
        ({"scheduler": "distributed"}, "needs a client"),
        ({"workers": 0}, "workers=0"),
        ({"chunk": 0}, "chunk=0"),
        ({"chunk": 1.5}, "chunk=1.5"),
        ({"samples": 2.5}, "samples=2.5: wanted a whole number"),
        ({"samples": "many"}, "samples='many': wanted a whole number"),
        ({"samples": True}, "samples=True: wanted a whole number"),
        ({"seed": None}, "seed=None: wanted a whole number"),
        ({"zarr_format": 4}, "zarr_format=4: wanted 2 or 3"),
        ({"workers": "two"}, "workers='two': wanted a whole number"),
        ({"scheduler": "thread"}, "Did you mean 'threads'"),
        ({"client": 3}, "wanted a dask.distributed.Client"),
        ({"progress": 3}, "wanted a function"),
        ({"ranges": [0.1, 0.2]}, "wanted a mapping of name to value"),
        ({"settings": "fast"}, "wanted a mapping of name to value"),
        ({"ranges": {"viscosty": (0.1, 0.2)}}, "did you mean 'viscosity'"),
        ({"settings": {"timestep": 0.1}}, "did you mean 'time_step'"),
        ({"settings": {"time_step": "x"}}, "time_step must be positive and finite"),
        ({"times": [0.5, 0.25]}, "times must increase"),
        ({"times": [0.0, 1j]}, "times holds 1j"),
        ({"times": {"start": 0.0, "stop": 1.0, "count": 2.5}}, "count, a whole number"),
        ({"grid": 64}, "grid is 64: wanted a mapping of axis"),
        ({"grid": {"x": 64}}, "start, stop, points"),
        ({"initial": "RandomFourier"}, "cannot be written down"),
        ({"initial": {"family": "RandomFourier", "modes": 200}}, "modes"),
    ],
)
def test_bad_input_is_named(tmp_path, change, words):
    with pytest.raises(ValueError, match=words):
        burgers(tmp_path / "x.zarr", **change)
    assert list(tmp_path.iterdir()) == []


def test_targets_and_problems_that_do_not_fit_are_named(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"wanted \.zarr or \.nc"):
        burgers(tmp_path / "x.h5")
    with pytest.raises(TypeError, match="wanted a name, a Problem or a function"):
        pdes.generate(3, 1, tmp_path / "x.zarr")
    with pytest.raises(ValueError, match="up to the function"):
        pdes.generate(straight_line, 1, tmp_path / "x.zarr", times=[0.0])
    with pytest.raises(ValueError, match="cannot be written down"):
        burgers(tmp_path / "x.zarr", initial=lambda grid, rng: {})
    with pytest.raises(ValueError, match="did you mean 'burgers'"):
        pdes.generate("burger", 1, tmp_path / "x.zarr")
    monkeypatch.setattr("pdes.data.preflight.LARGEST_NETCDF", 1000)
    with pytest.raises(ValueError, match=r"ends in \.zarr"):
        burgers(tmp_path / "x.nc")
    (tmp_path / "own.zarr").mkdir()
    with pytest.raises(ReadError, match="no Zarr store"):
        burgers(tmp_path / "own.zarr")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["own.zarr"]


def test_an_unknown_argument_is_answered_with_the_closest(tmp_path):
    for name, meant in (("sample", "samples"), ("tmes", "times"), ("random_state", "seed")):
        with pytest.raises(TypeError, match=f"no argument {name!r}. Did you mean {meant!r}"):
            pdes.generate("heat", 2, tmp_path / "x.zarr", **{name: 1})
    with pytest.raises(TypeError, match="store: got int 3, wanted a path"):
        pdes.generate("heat", 2, 3)
    with pytest.raises(TypeError, match=r"\(rng, slope\) cannot be called with \(rng\)"):
        pdes.generate(straight_line, 2, tmp_path / "x.zarr")


def test_a_folder_that_takes_no_files_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"cannot be written.*is no folder"):
        pdes.generate("heat", 2, tmp_path / "file" / "x.zarr")
    if Path("/proc/version").exists():
        with pytest.raises(OSError, match="cannot be written, since /proc takes no new files"):
            pdes.generate("heat", 2, "/proc/x.zarr")
        with pytest.raises(OSError, match="choose another place"):
            pdes.save(xr.Dataset(), "/proc/x.nc")


def test_samples_that_are_all_the_same_are_said(tmp_path):
    with pytest.warns(
        GenerationWarning,
        match=r"all 3 samples of 'heat_one_mode' are the same.*"
        r"ranges for some of its parameters \(diffusivity\)",
    ):
        pdes.generate("heat_one_mode", 3, tmp_path / "a.zarr", times=[0.0, 0.1])
    with pytest.warns(GenerationWarning, match="all 2 samples of 'fisher_front' are the same"):
        pdes.generate("fisher_front", 2, tmp_path / "b.zarr", times=[0.0, 0.1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranges = {"diffusivity": (0.1, 0.2)}
        pdes.generate("heat_one_mode", 2, tmp_path / "c.zarr", times=[0.0, 0.1], ranges=ranges)
        pdes.generate("heat_one_mode", 1, tmp_path / "d.zarr", times=[0.0, 0.1])


def test_what_does_not_fit_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"1000000000 samples.*about .* GiB.*are free.*take fewer"):
        burgers(tmp_path / "x.zarr", samples=10**8 * 10)
    with pytest.raises(ValueError, match="PiB"):
        pdes.generate(
            "heat_2d",
            2,
            tmp_path / "y.zarr",
            grid={"x": [0, 1, 10**7], "y": [0, 1, 10**7]},
            settings={"stored_points": None},
        )
    with pytest.raises(ValueError, match=r"TiB|PiB"):
        pdes.generate("darcy", 10**9, tmp_path / "z.zarr")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
    assert list(tmp_path.iterdir()) == []
    usage = shutil.disk_usage(tmp_path)._replace(free=3000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.warns(GenerationWarning, match=r"about 4.9 KiB before compression, 2.9 KiB are"):
        burgers(tmp_path / "w.zarr")


def test_a_recipe_file_says_what_is_wrong_with_it(tmp_path):
    path = tmp_path / "recipe.toml"
    for text, words in (
        ("[generate", "not valid TOML"),
        ("title = 'x'", r"no table \[generate\]"),
        ("[generate]\nproblem = 'heat'", "missing entries"),
        ("[generate]\nproblem = 'heat'\nsamples = 1\nsample = 2", r"unknown entries \['sample'\]"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            Recipe.from_toml(path)
    path.write_text(
        "[generate]\nproblem = 'heat'\nsamples = 2\n[generate.ranges]\ndiffusivity = [0.1, 0.2]\n"
    )
    recipe = Recipe.from_toml(path)
    make(recipe, tmp_path / "heat.nc", card={"title": "Heat"})
    assert load(tmp_path / "heat.nc").attrs["title"] == "Heat"


def test_verify_misses_a_field_that_is_gone(tmp_path):
    store = tmp_path / "h.zarr"
    pdes.generate("heat", 2, store, times=[0.0, 1.0])
    shutil.rmtree(store / "u")
    with pytest.raises(ValueError, match="u is gone from the store"):
        pdes.data.verify(store)


def test_wrong_requests_are_refused_in_few_words(tmp_path):
    many = np.arange(500.0)
    for arguments, options, message in (
        (("burgers", 2), {"initial": many}, "initial=array"),
        (("burgers", many), {}, "samples=array"),
        (("burgers", 2), {"ranges": {"viscosity": many}}, "range of 'viscosity' is array"),
        (
            ("burgers", 2),
            {"initial": {"family": "RandomFourier", "zz": 1}},
            r"no argument 'zz'.*'modes'",
        ),
        (("burgers", 3), {"ranges": {"viscosity": (-1, 1.0)}}, "ranges: viscosity = -0.99.*narrow"),
    ):
        with pytest.raises(ValueError, match=message) as found:
            pdes.generate(*arguments, tmp_path / "no.zarr", **options)
        assert len(str(found.value)) < 400
    assert not (tmp_path / "no.zarr").exists()


def test_advice_for_equal_samples_fits_the_fields(tmp_path):
    from pdes.data.preflight import _random

    family = _random(pdes.get("lambda_omega"))
    assert family["fields"] == list(pdes.get("lambda_omega").equation.fields)
    assert "fields" not in _random(pdes.get("heat"))
