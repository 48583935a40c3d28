"""A finished store that was damaged is found out, and made again to the same bits."""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings

import numpy as np
import pytest

import pdes
from pdes.data import ChecksumError, load, verify
from pdes.data.make import GenerationWarning

pytest.importorskip("zarr")


def files(folder):
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def make(path, **options):
    return pdes.generate(
        "burgers",
        9,
        path,
        ranges={"viscosity": (0.5, 1.0)},
        grid={"x": [0.0, 6.283185307179586, 64]},
        times=[0.0, 0.25],
        initial={"family": "RandomFourier", "modes": 2},
        settings={"time_step": 0.0125, "stored_points": 32},
        **{"chunk": 2, **options},
    )


@pytest.fixture(scope="module", params=[2, 3])
def finished(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("finished") / "burgers.zarr"
    make(path, zarr_format=request.param)
    return path


@pytest.fixture
def store(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "burgers.zarr")


def chunk(store, name, number):
    """File of a chunk, in either format."""
    old = sorted(store.glob(f"{name}/{number}*"))
    new = [p for p in sorted(store.glob(f"{name}/c/{number}/**/*")) if p.is_file()]
    return (new or old or [store / name / "c" / str(number)])[0]


def again(store, words):
    with pytest.warns(GenerationWarning, match=words) as heard:
        data = make(store)
    assert next(str(w.message) for w in heard if w.category is GenerationWarning).endswith(
        "made again, to the same bits"
    )
    return data


def test_nothing_is_said_or_done_where_nothing_is_wrong(store):
    before = files(store)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(store)
    assert files(store) == before


@pytest.mark.parametrize("how", ["deleted", "cut", "changed", "emptied"])
def test_a_damaged_chunk_is_made_again(store, how):
    before, file = files(store), chunk(store, "u", 1)
    content = file.read_bytes()
    if how == "deleted":
        file.unlink()
    else:
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        file.write_bytes({"cut": content[:middle], "changed": flipped, "emptied": b""}[how])
    with pytest.raises(ChecksumError, match=r"u .*make it again with the same call"):
        verify(store)
    data = again(store, r"burgers.zarr was damaged: samples 2 to 3 \(u\)")
    assert files(store) == before
    assert np.isfinite(data.u.values).all()
    verify(store, samples=2, rtol=0.0)


def test_the_last_block_and_numbers_of_samples_are_looked_at(store):
    before = files(store)
    chunk(store, "u", 4).unlink()
    chunk(store, "status", 0).unlink()
    again(store, r"samples 0 to 1 \(status\), sample 8 \(u\)")
    assert files(store) == before


def test_shared_arrays_and_the_manifest_are_looked_at(store):
    before = files(store)
    shutil.rmtree(store / "x")
    chunk(store, "time", 0).write_bytes(b"")
    (store / "manifest" / "000003.json").write_text("{")
    with pytest.raises(ChecksumError):
        verify(store)
    again(store, r"samples 6 to 7 \(manifest\), the array time, the array x")
    assert files(store) == before


def test_a_field_that_is_gone_is_made_again(store):
    before = files(store)
    shutil.rmtree(store / "u")
    with pytest.raises(ChecksumError, match="u is gone"):
        verify(store)
    again(store, r"samples 0 to 1 \(u\).*sample 8 \(u\), the array u")
    assert files(store) == before


def test_damage_to_an_unfinished_store_is_not_sealed(store, tmp_path):
    class Stop(Exception):  # noqa: N818
        pass

    def stop(done, total):
        if done >= 6:
            raise Stop

    path = tmp_path / "part.zarr"
    with pytest.raises(Stop):
        make(path, progress=stop, zarr_format=2)
    chunk(path, "u", 0).unlink()
    again(path, r"samples 0 to 1 \(u\)")
    assert load(path).u.equals(load(store).u)


def test_samples_that_come_out_differently_are_said(store):
    file = store / "manifest" / "000001.json"
    line = json.loads(file.read_text())
    line["sha256"]["u"] = "0" * 64
    file.write_text(json.dumps(line, sort_keys=True))
    with pytest.warns(GenerationWarning, match="bits are others than before"):
        make(store)


def test_who_trusts_the_store_gets_what_is_there(store):
    chunk(store, "u", 1).unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = make(store, check=False)
    assert np.isnan(data.u.values[2:4]).all()


def test_a_damaged_netcdf_file_is_made_again(tmp_path):
    path = tmp_path / "b.nc"
    make(path).close()
    whole = load(path)
    import h5py

    with h5py.File(path, "r+") as file:
        file["u"][3, 1, 5] += 1.0
    with pytest.raises(ChecksumError, match="u "):
        verify(path)
    with pytest.warns(GenerationWarning, match=r"b.nc was damaged, and all of it is made again"):
        make(path).close()
    assert load(path).equals(whole)
    assert [file.name for file in tmp_path.iterdir()] == ["b.nc"]


@pytest.mark.parametrize("text", ["{", "{}"])
def test_a_damaged_root_is_said_with_its_remedy(store, text):
    for name in (".zattrs", "zarr.json"):
        if (store / name).exists():
            whole = text if name == ".zattrs" or text == "{" else '{"zarr_format": 3, '
            whole += '"node_type": "group"}' if whole.endswith(", ") else ""
            (store / name).write_text(whole)
    for use in (make, pdes.data.open_generated):
        with pytest.raises(pdes.data.ReadError, match=r"damaged store .* Remove the folder burg"):
            use(store)
    shutil.rmtree(store)
    make(store)
    assert verify(store)
