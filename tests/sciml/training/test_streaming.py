"""Fields read from files batch by batch: the right numbers, in little memory."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
import xarray as xr

from sciml.training import ArrayBatches, StreamedFields, field_tensor, train
from sciml.training.streaming import open_fields


def dataset(samples: int = 7, times: int = 5) -> xr.Dataset:
    rng = np.random.default_rng(0)
    return xr.Dataset(
        {
            "u": (("sample", "time", "y", "x"), rng.normal(size=(samples, times, 3, 4))),
            "a": (("sample", "x", "y"), rng.normal(size=(samples, 4, 3))),
            "w": (("sample", "x"), rng.normal(size=(samples, 4)) + 1j),
            "viscosity": ("sample", rng.uniform(size=samples)),
            "mask": (("x", "y"), rng.uniform(size=(4, 3))),
            "label": ("sample", ["text"] * samples),
        },
        coords={"x": np.arange(4.0), "y": np.arange(3.0), "time": np.arange(float(times))},
    )


@pytest.fixture(params=["memory", "a.nc", "a.zarr"])
def stored(request, tmp_path):
    data = dataset()
    if request.param == "memory":
        return data, data
    path = tmp_path / request.param
    kept = data.drop_vars(["w", "label"])
    if path.suffix == ".nc":
        kept.to_netcdf(path, engine="h5netcdf")
    else:
        pytest.importorskip("zarr")
        kept.to_zarr(path, zarr_format=2)
    return data, path


def test_channels_are_variables_at_times_with_space_as_x_y(stored):
    data, source = stored
    fields = StreamedFields(
        source,
        inputs=[("u", 3), "a", "viscosity", ("u", 0), "mask"],
        targets={"u": [-1]},
        batch_size=3,
        seed=1,
    )
    assert fields.grid == {"x": 4, "y": 3}
    assert (fields.in_channels, fields.out_channels, fields.count, len(fields)) == (5, 1, 7, 3)
    rows = fields.order.rows(1)
    x, y = fields.batch(1)
    u = data.u.transpose("sample", "time", "x", "y").values.astype("f4")
    np.testing.assert_array_equal(x[:, 0], u[rows, 3])
    np.testing.assert_array_equal(x[:, 1], data.a.values.astype("f4")[rows])
    np.testing.assert_array_equal(x[:, 3], u[rows, 0])
    expected = np.broadcast_to(data.viscosity.values.astype("f4")[rows, None, None], (3, 4, 3))
    np.testing.assert_array_equal(x[:, 2], expected)
    np.testing.assert_array_equal(x[0, 4], data.mask.values.astype("f4"))
    np.testing.assert_array_equal(y[:, 0], u[rows, 4])


def test_every_sample_comes_once_in_an_epoch_and_in_another_order_in_the_next(stored):
    data, source = stored
    fields = StreamedFields(source, inputs="viscosity", targets="viscosity", batch_size=3)
    first, second = (
        np.concatenate([fields.batch(s)[0].numpy()[:, 0] for s in range(k, k + 3)]) for k in (0, 3)
    )
    every = np.sort(data.viscosity.values.astype("f4"))
    np.testing.assert_array_equal(np.sort(first), every)
    np.testing.assert_array_equal(np.sort(second), every)
    assert not np.array_equal(first, second)
    in_order = np.concatenate([x.numpy()[:, 0] for x, _ in fields])
    np.testing.assert_array_equal(in_order, data.viscosity.values.astype("f4"))


def test_lead_makes_pairs_of_times(stored):
    data, source = stored
    fields = StreamedFields(
        source, inputs=["u", "a"], targets="u", lead=2, batch_size=40, dtype=torch.float64
    )
    assert fields.count == 7 * 3
    x, y = fields.examples(np.arange(21))
    u = data.u.transpose("sample", "time", "x", "y").values
    np.testing.assert_array_equal(x[:, 0].reshape(7, 3, 4, 3), u[:, :3])
    np.testing.assert_array_equal(y[:, 0].reshape(7, 3, 4, 3), u[:, 2:])
    np.testing.assert_array_equal(x[3:6, 1], np.broadcast_to(data.a.values[1], (3, 4, 3)))


def test_a_recording_without_samples_is_one_sample():
    one = dataset().isel(sample=2, drop=True)
    fields = StreamedFields(one, inputs="u", targets="u", lead=1, batch_size=2)
    assert fields.count == 4
    np.testing.assert_array_equal(
        fields.examples([3])[1][0, 0], one.u.transpose("time", "x", "y").values[4].astype("f4")
    )


@pytest.mark.parametrize("kept_as", ["complex", "component"])
def test_complex_fields_are_two_channels(kept_as, tmp_path):
    data = dataset()[["w"]]
    if kept_as == "component":
        import pdes

        data = open_fields(pdes.save(data, tmp_path / "w.nc"))
    tensor = field_tensor(data, "w", samples=slice(1, 3), dtype=torch.float64)
    w = dataset().w.values[1:3]
    np.testing.assert_array_equal(tensor, np.stack([w.real, w.imag], axis=1))
    fields = StreamedFields(data, inputs="w", targets="w", batch_size=2)
    assert (fields.in_channels, fields.output_names) == (2, ["w re", "w im"])


def test_shares_of_a_batch_put_together_are_the_batch(stored):
    _, source = stored
    fields = StreamedFields(source, inputs="a", targets={"u": 1}, batch_size=5)
    for batches in (fields, ArrayBatches(tuple(fields.examples(range(7))), batch_size=5)):
        whole = batches.batch(2)
        parts = [batches.batch(2, part=(i, 3)) for i in range(3)]
        for k in range(2):
            assert torch.equal(torch.cat([p[k] for p in parts]), whole[k])


def test_split_holds_the_last_samples_back():
    fields = StreamedFields(dataset(), inputs="a", targets="a", batch_size=2)
    train_part, test_part = fields.split(2)
    assert train_part.samples.tolist() == [0, 1, 2, 3, 4] and test_part.samples.tolist() == [5, 6]
    assert fields.split(0.3)[1].samples.tolist() == [5, 6]
    with pytest.raises(ValueError, match=r"split\(7\) of 7 samples: wanted between 1 and 6"):
        fields.split(7)


def test_statistics_in_one_pass_are_those_of_the_whole(stored):
    data, source = stored
    fields = StreamedFields(source, inputs=["a", "viscosity"], targets={"u": 0}, batch_size=3)
    inputs, targets = fields.statistics()
    np.testing.assert_allclose(inputs.mean, [data.a.mean(), data.viscosity.mean()], rtol=1e-6)
    np.testing.assert_allclose(inputs.std, [data.a.std(), data.viscosity.std()], rtol=1e-6)
    np.testing.assert_allclose(targets.std, [data.u[:, 0].std()], rtol=1e-6)


@pytest.mark.parametrize("place", ["variable", "coordinate"])
def test_samples_that_were_not_solved_are_left_out(caplog, place):
    data = dataset().assign(status=("sample", [1, 0, 1, 5, 1, 2, 4]))
    data = data.set_coords("status") if place == "coordinate" else data
    fields = StreamedFields(data, inputs="a", targets="a", batch_size=2)
    assert fields.samples.tolist() == [0, 2, 4, 5]
    assert "1 of 7 samples are diverged: left out" in caplog.text
    assert "1 of 7 samples are under_resolved: used" in caplog.text
    chosen = StreamedFields(data, inputs="a", targets="a", batch_size=2, samples=[1, 5])
    assert chosen.samples.tolist() == [1, 5]
    bad = data.assign_coords(status=("sample", [0] * 7))
    with pytest.raises(ValueError, match="none of 7 samples"):
        StreamedFields(bad, inputs="a", targets="a", batch_size=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": "aa"}, r"inputs: no variable 'aa', did you mean 'a'\?"),
        ({"inputs": "u"}, r"inputs: u has 5 times: choose one by its index, such as {'u': 0}"),
        ({"inputs": {"u": 5}}, "u at time 5: wanted an index from -5 to 4"),
        ({"inputs": {"u": 0.5}}, "u at time 0.5: wanted an index"),
        ({"inputs": {"a": 0}}, "inputs: a has no times, got time 0"),
        ({"inputs": []}, "inputs is empty"),
        ({"inputs": [("a", 1, 2)]}, "wanted a name, or a name and its times"),
        ({"inputs": "label"}, "label has dtype <U4, wanted numbers"),
        ({"lead": 5}, "lead=5: the dataset has 5 times"),
        ({"lead": 0}, "lead=0: wanted a whole number"),
        ({"lead": 1, "targets": {"u": 2}}, "taken at the time of each example"),
        ({"samples": 9}, "samples=9: the dataset has 7"),
        ({"samples": [0, 7]}, "indices from 0 to 6"),
        ({"samples": slice(3, 3)}, "leaves none of 7"),
        ({"batch_size": 0}, "batch_size=0: wanted a whole number"),
        ({"batch_size": 8, "drop_last": True}, "leaves nothing of 7 samples"),
    ],
)
def test_bad_requests_say_what_was_wanted(change, message):
    request = {"inputs": "a", "targets": "a", "batch_size": 2, **change}
    with pytest.raises(ValueError, match=message):
        StreamedFields(dataset(), **request)


def test_missing_and_damaged_files_are_said(tmp_path):
    with pytest.raises(ValueError, match="no file at"):
        StreamedFields(tmp_path / "none.nc", inputs="a", targets="a", batch_size=1)
    (tmp_path / "bad.nc").write_bytes(b"no netCDF")
    with pytest.raises(ValueError, match=r"bad.nc cannot be read .* damaged"):
        StreamedFields(tmp_path / "bad.nc", inputs="a", targets="a", batch_size=1)


def test_fields_that_are_not_finite_are_named_by_the_statistics():
    data = dataset()
    data.a[3, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"inputs \(a\) hold numbers that are not finite"):
        StreamedFields(data, inputs="a", targets={"u": 0}, batch_size=2).statistics()


def test_training_from_a_file_is_training_from_memory(tmp_path):
    path = tmp_path / "a.nc"
    dataset()[["u", "a"]].to_netcdf(path, engine="h5netcdf")
    weights = []
    for source in (path, dataset()):
        fields = StreamedFields(source, inputs="a", targets={"u": 1}, batch_size=3, seed=4)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = torch.nn.Conv2d(1, 1, 1)

        def loss(model, batch):
            return (model(batch[0]) - batch[1]).square().mean()

        train(model, fields, loss, steps=9, progress=False)
        weights.append(model.weight.item())
    assert weights[0] == weights[1]


MEASURE = """
import resource, sys
from sciml.training import StreamedFields
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
for path in sys.argv[1:]:
    fields = StreamedFields(path, inputs={"u": 0}, targets={"u": 1}, batch_size=4)
    fields.batch(0)
    before = peak()
    for step in range(len(fields)):
        fields.batch(step)
    fields.statistics()
    print(peak() - before)
"""


def test_an_epoch_needs_far_less_memory_than_the_data(tmp_path):
    pytest.importorskip("zarr")
    values = np.random.default_rng(0).normal(size=(64, 2, 256, 256)).astype("f4")
    data = xr.Dataset({"u": (("sample", "time", "x", "y"), values)})
    data.to_netcdf(tmp_path / "large.nc", engine="h5netcdf")
    chunks = {"u": {"chunks": (1, 2, 256, 256)}}
    data.to_zarr(tmp_path / "large.zarr", encoding=chunks, zarr_format=2)
    paths = [str(tmp_path / name) for name in ("large.nc", "large.zarr")]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *paths],
        # Large blocks are given back at once: what is measured is what is in use.
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"},
        capture_output=True,
        text=True,
        check=True,
    )
    growth = [float(line) for line in done.stdout.split()]
    assert values.nbytes == 32 * 2**20
    assert max(growth) < 0.3 * 32, growth
