"""Making the dataset of a recipe, block by block."""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import reprlib
import shutil
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pdes.data import region_store
from pdes.data.errors import DataError, GenerationWarning, ReadError
from pdes.data.generated import damaged_root, open_generated, state_of
from pdes.data.layout_of_samples import SampleLayout
from pdes.data.preflight import (
    check_options,
    check_size,
    check_source,
    estimated_bytes,
    warn_if_equal,
)
from pdes.data.recipe import Recipe
from pdes.data.repair import Damage, changed_bits, find_damage, forget
from pdes.data.samples import STATUS, Source, solve_samples
from pdes.data.schedulers import run_blocks
from pdes.data.target import check_writable, target_path
from pdes.memory import size_text

__all__ = ["GenerationWarning", "make"]

Progress = Callable[[int, int], None]

_log = logging.getLogger(__name__)


def make(
    recipe: Recipe,
    store: str | Path,
    *,
    given: Any = None,
    client: Any = None,
    scheduler: str | None = None,
    workers: int | None = None,
    chunk: int | None = None,
    zarr_format: int = 2,
    card: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    resume: bool = True,
    check: bool = True,
) -> xr.Dataset:
    """Make the dataset of a recipe; `generate` with its arguments in one object.

    Parameters
    ----------
    recipe : Recipe
        What to make.
    store : path
        ``.zarr`` or ``.nc``.
    given : Problem or callable, optional
        What the recipe is about, if not a problem of the registry.
    client, scheduler, workers, chunk, zarr_format, progress, resume, check
        See `generate`.
    card : mapping of str to str, optional
        Attributes to keep with the data, such as ``title``, ``license`` and ``source``.

    Returns
    -------
    xarray.Dataset
    """
    check_options(
        scheduler=scheduler,
        client=client,
        workers=workers,
        chunk=chunk,
        zarr_format=zarr_format,
        progress=progress,
    )
    path = target_path(store)
    if path.suffix not in (".zarr", ".nc"):
        raise ValueError(f"the suffix of {path.name} is {path.suffix!r}; wanted .zarr or .nc")
    if path.exists() and not resume:
        raise FileExistsError(f"{path} exists: choose another name, remove it, or resume=True")
    source = Source(recipe=recipe, given=given)
    if path.suffix == ".nc" and path.exists():
        _check_same(path, recipe, None)
        if not (check and _is_damaged(path)):
            return open_generated(path)
    # A netCDF file is collected in a store beside it, so that it can be resumed as well.
    target = path if path.suffix == ".zarr" else path.with_name(f".{path.name}.zarr")
    if not target.exists():
        _lay_out(target, source, chunk, zarr_format, dict(card or {}), netcdf=target != path)
    _check_same(target, recipe, chunk)
    scheduler = scheduler or ("sync" if client is None else "distributed")
    with region_store.locked(target):
        damage = _prepare_repair(target, source) if check else None
        _fill(target, source, scheduler, workers, client, progress)
    if damage:
        _report_repair(target, damage, recipe.samples)
    if target != path:
        _collect(target, path)
    data = open_generated(path)
    _report(data)
    return data


@dataclass(frozen=True, kw_only=True)
class _Block:
    """Solves and writes one block; travels to workers."""

    path: Path
    source: Source
    size: int
    arrays: tuple[tuple[str, tuple[int, ...], str], ...]

    def range_of(self, number: int) -> range:
        start = number * self.size
        return range(start, min(start + self.size, self.source.recipe.samples))

    def __call__(self, number: int) -> dict[str, Any]:
        members = self.range_of(number)
        with _quiet_on_one_core():
            solved = solve_samples(self.source, members)
        try:
            return self._write(number, members, solved)
        except OSError as error:
            raise region_store.full(error, self.path, f"writing block {number}") from error

    def _write(self, number: int, members: range, solved: Mapping[int, Any]) -> dict[str, Any]:
        parameters = [self.source.recipe.parameters_of(index) for index in members]
        values: dict[str, np.ndarray] = {
            "status": np.array([STATUS.index(solved[i].status) for i in members], dtype=np.int8),
            "steps": np.array([solved[i].steps for i in members], dtype=np.int64),
            "time_step": np.array([solved[i].time_step for i in members]),
        }
        for name in self.source.recipe.ranges:
            values[name] = np.array([drawn[name] for drawn in parameters])
        failures = {i: solved[i].message for i in members if solved[i].status == "failed"}
        for name, shape, dtype in self.arrays:
            block = np.full((len(members), *shape), np.nan, dtype=dtype)
            for place, index in enumerate(members):
                fields = solved[index].fields
                if fields is None:
                    continue
                if name in fields and np.shape(fields[name]) == shape:
                    block[place] = fields[name]
                else:
                    failures[index] = f"no field {name!r} of shape {shape}"
                    values["status"][place] = STATUS.index("failed")
            values[name] = block
        # The status comes last: what a full disk or a kill cuts short counts as missing.
        values["status"] = values.pop("status")
        note = {"failures": {str(index): text for index, text in sorted(failures.items())}}
        return region_store.write_block(self.path, number, members.start, values, note)


@contextlib.contextmanager
def _quiet_on_one_core() -> Iterator[None]:
    """No warnings, as what they would say is in the status, and no threads for linear algebra.

    Both are settings of the whole process, which threads that come and go in any order would leave
    in disarray: only the main thread sets them back.
    """
    from threadpoolctl import threadpool_limits

    if threading.current_thread() is not threading.main_thread():
        threadpool_limits(1)
        yield
        return
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _lay_out(
    path: Path, source: Source, chunk: int | None, zarr_format: int, card: dict, *, netcdf: bool
) -> None:
    recipe, problem = source.recipe, check_source(source)
    total = estimated_bytes(problem, recipe)
    check_writable(path)
    check_size(path, total, recipe, netcdf=netcdf)
    warn_if_equal(problem, source)
    layout = SampleLayout.probe(source)
    arrays = layout.arrays(recipe)
    if not total:
        total = float(sum(a.sample_bytes for a in arrays.values())) * recipe.samples
        check_size(path, total, recipe, netcdf=netcdf)
    _log.info("%d samples, about %s before compression", recipe.samples, size_text(total))
    block = chunk or region_store.samples_per_block(arrays, recipe.samples)
    attributes = layout.attributes(source) | card
    with region_store.laying_out(path):
        # Another process may have laid it out meanwhile: what it is to hold is compared next.
        if not path.exists():
            region_store.create(
                path,
                arrays,
                attributes,
                block=min(block, recipe.samples),
                zarr_format=zarr_format,
            )


def _check_same(path: Path, recipe: Recipe, chunk: int | None) -> None:
    """Refuse to mix two datasets."""
    state = state_of(path)
    if state.recipe is None and (path / region_store.MANIFEST).is_dir():
        raise ReadError(damaged_root(path))
    if state.recipe is None:
        raise ValueError(f"{path} was not made by pdes.generate: choose another name")
    ours, theirs = json.loads(recipe.to_json()), json.loads(state.recipe.to_json())
    different = [name for name in ours if ours[name] != theirs.get(name)]
    shown = reprlib.Repr()
    shown.maxstring, shown.maxother = 120, 80
    if different:
        what = "; ".join(
            f"{n}: {shown.repr(theirs.get(n))} there, {shown.repr(ours[n])} asked"
            for n in different
        )
        raise ValueError(
            f"{path} holds another dataset, it differs in {what}: choose another name, or remove it"
        )
    if chunk is not None and min(chunk, recipe.samples) != state.block:
        raise ValueError(f"{path} is cut into chunks of {state.block} samples, asked was {chunk}")
    version = importlib.import_module("pdes").__version__
    if state.version not in ("", f"pdes {version}"):
        _log.warning("%s was begun by %s, this is pdes %s", path.name, state.version, version)


def _prepare_repair(path: Path, source: Source) -> Damage | None:
    """Take what is damaged out of a store, so that it is made again with what is missing."""
    damage = find_damage(path)
    if not damage:
        return None
    block = state_of(path).block
    _log.warning("%s is damaged: %s", path.name, damage.text(block, source.recipe.samples))
    forget(path, damage, source)
    return damage


def _report_repair(path: Path, damage: Damage, samples: int) -> None:
    name = path.name if path.suffix == ".zarr" and path.name[0] != "." else path.name[1:-5]
    again = "made again, to the same bits"
    if changed_bits(path, damage):
        again = (
            "made again. The bits are others than before, as another version or machine gives; "
            "all checksums are new"
        )
    warnings.warn(
        f"{name} was damaged: {damage.text(state_of(path).block, samples)}; {again}",
        GenerationWarning,
        stacklevel=5,
    )


def _is_damaged(path: Path) -> bool:
    """Whether a netCDF file differs from its checksums, which is said."""
    from pdes.data.store import load

    try:
        load(path)
    except DataError as error:
        warnings.warn(
            f"{path.name} was damaged, and all of it is made again ({error})",
            GenerationWarning,
            stacklevel=5,
        )
        return True
    return False


def _fill(
    path: Path,
    source: Source,
    scheduler: str,
    workers: int | None,
    client: Any,
    progress: Progress | None,
) -> None:
    state = state_of(path)
    if state.complete:
        return
    region_store.sweep(path)
    done = region_store.read_manifest(path)
    work = _Block(path=path, source=source, size=state.block, arrays=state.fields)
    total = source.recipe.samples
    blocks = [k for k in range(-(-total // state.block)) if k not in done]
    finished = sum(len(work.range_of(number)) for number in done)
    if progress is not None:
        progress(finished, total)
    with _quiet_on_one_core():
        for entry in run_blocks(work, blocks, scheduler=scheduler, workers=workers, client=client):
            finished += len(work.range_of(entry["block"]))
            if progress is not None:
                progress(finished, total)
    entries = region_store.read_manifest(path)
    failures = {k: text for b in sorted(entries) for k, text in entries[b]["failures"].items()}
    try:
        region_store.seal(path, {"failures": json.dumps(failures)})
    except OSError as error:
        raise region_store.full(error, path, "writing the checksums") from error


def _collect(work: Path, path: Path) -> None:
    from pdes.data.store import load, save

    try:
        save(load(work), path)
    except OSError as error:
        raise region_store.full(error, path, f"writing {path.name}") from error
    shutil.rmtree(work)


def _report(data: xr.Dataset) -> None:
    codes = np.asarray(data["status"].values)
    counts = {name: int(np.sum(codes == k)) for k, name in enumerate(STATUS)}
    if counts["failed"] == codes.size:
        first = json.loads(data.attrs["failures"])["0"]
        raise RuntimeError(f"all {codes.size} samples failed, the first with {first}")
    odd = {name: count for name, count in counts.items() if count and name != "ok"}
    if odd:
        what = ", ".join(f"{count} {name}" for name, count in odd.items())
        warnings.warn(
            f"of {codes.size} samples {what}: see the coordinate status and the attribute failures",
            GenerationWarning,
            stacklevel=5,
        )
