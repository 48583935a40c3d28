"""Finding what is damaged in a store, and forgetting it, so that it is made again.

Each block has its checksums in the manifest, and each array that all samples share has its own: a
chunk that was lost, cut short or changed is found without solving anything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pdes.data import region_store
from pdes.data.formats.zarr_store import require_zarr
from pdes.data.generated import attributes_of
from pdes.data.layout_of_samples import SampleLayout
from pdes.data.samples import Source

__all__ = ["Damage", "changed_bits", "find_damage", "forget", "open_arrays"]


@dataclass(frozen=True, kw_only=True)
class Damage:
    """What of a store is not what was written.

    Parameters
    ----------
    blocks : mapping of int to tuple of str
        Number of a block to its arrays that differ, or to ``("manifest",)``.
    shared : tuple of str
        Arrays that are the same for all samples, and differ.
    gone : tuple of str
        Arrays that cannot even be opened.
    sums : mapping of int to mapping of str to str
        Checksums that the damaged blocks had, where they are known.
    """

    blocks: Mapping[int, tuple[str, ...]]
    shared: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    sums: Mapping[int, Mapping[str, str]]

    def __bool__(self) -> bool:
        return bool(self.blocks or self.shared or self.gone)

    def text(self, block: int, samples: int) -> str:
        """What is damaged, in one sentence.

        Examples
        --------
        >>> Damage(blocks={1: ("u",)}, sums={}).text(2, 5)
        'samples 2 to 3 (u)'
        """
        parts = []
        for number, names in sorted(self.blocks.items()):
            first, last = number * block, min((number + 1) * block, samples) - 1
            which = f"sample {first}" if first == last else f"samples {first} to {last}"
            parts.append(f"{which} ({', '.join(names)})")
        parts += [f"the array {name}" for name in sorted({*self.shared, *self.gone})]
        return ", ".join(parts)


def find_damage(path: Path) -> Damage:
    """Compare every block and every shared array of a store with its checksum.

    Blocks that were never finished are no damage, unless the store says that it is complete.

    Parameters
    ----------
    path : Path
        Store that `pdes.data.region_store.create` laid out.

    Returns
    -------
    Damage
    """
    attrs = attributes_of(path)
    root = require_zarr().open_group(str(path), mode="r")
    found, gone = open_arrays(root, attrs)
    manifest = region_store.read_manifest(path)
    samples, size = json.loads(attrs["recipe"])["samples"], int(attrs["block"])
    blocks: dict[int, tuple[str, ...]] = {}
    sums: dict[int, Mapping[str, str]] = {}
    for number in range(-(-samples // size)):
        if number not in manifest:
            if attrs["complete"]:
                blocks[number] = ("manifest",)
            continue
        expected = manifest[number]["sha256"]
        rows = slice(number * size, min((number + 1) * size, samples))
        wrong = tuple(
            name
            for name, digest in expected.items()
            if name not in found or _checksum(found[name], rows) != digest
        )
        if wrong:
            blocks[number], sums[number] = wrong, expected
    of_blocks = {name for entry in manifest.values() for name in entry["sha256"]}
    shared = tuple(
        name
        for name, array in found.items()
        if name not in of_blocks
        and "sha256" in array.attrs
        and _checksum(array, ...) != array.attrs["sha256"]
        and name not in _drawn(attrs)
    )
    return Damage(blocks=blocks, shared=shared, gone=gone, sums=sums)


def forget(path: Path, damage: Damage, source: Source) -> None:
    """Take damaged blocks out of a store, and lay out damaged arrays anew.

    Afterwards the store is an incomplete one; making its missing blocks completes it.

    Parameters
    ----------
    path : Path
        The store.
    damage : Damage
        What `find_damage` has found.
    source : Source
        What the store is made of.
    """
    root = require_zarr().open_group(str(path), mode="r+")
    root.attrs.update({"complete": 0})
    for number in damage.blocks:
        region_store.manifest_file(path, number).unlink(missing_ok=True)
    if damage.gone or damage.shared:
        recipe = source.recipe
        arrays = SampleLayout.probe(source).arrays(recipe)
        region_store.lay_again(path, {n: arrays[n] for n in (*damage.gone, *damage.shared)})


def changed_bits(path: Path, damage: Damage) -> list[int]:
    """Blocks that were made again and are not, bit for bit, what they were."""
    manifest = region_store.read_manifest(path)
    return [n for n, sums in damage.sums.items() if n in manifest and manifest[n]["sha256"] != sums]


def open_arrays(root: Any, attrs: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Arrays of a store that can be opened, and the names of those that cannot.

    Parameters
    ----------
    root : zarr.Group
        The store.
    attrs : mapping
        Its attributes.

    Returns
    -------
    found : dict of str to zarr.Array
    gone : tuple of str
    """
    found: dict[str, Any] = {}
    gone = []
    for name in _names(root, attrs):
        try:
            found[name] = root[name]
            _ = found[name].shape
        except Exception:
            # Damaged metadata fail in any way.
            gone.append(name)
    return found, tuple(gone)


def _names(root: Any, attrs: Mapping[str, Any]) -> list[str]:
    """Names of all arrays, whether they are still there or not."""
    if "arrays" in attrs:
        return json.loads(attrs["arrays"])
    return [*json.loads(attrs["variable_order"]), *(name for name, _ in root.arrays())]


def _drawn(attrs: Mapping[str, Any]) -> set[str]:
    """Arrays filled block by block: covered by the manifest."""
    numbers = {"status", "steps", "time_step", *json.loads(attrs.get("ranges", "{}"))}
    return numbers | set(json.loads(attrs["variable_order"]))


def _checksum(array: Any, rows: Any) -> str:
    try:
        values = np.asarray(array[rows])
    except Exception:
        # A damaged chunk can make a decompressor fail in any way.
        return ""
    return hashlib.sha256(region_store.little(values)).hexdigest()
