"""Checking a stored dataset: its bytes against their checksums, its samples against the solver."""

from __future__ import annotations

import logging
import numbers
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pdes.data import store
from pdes.data.errors import ChecksumError, ReadError
from pdes.data.generated import attributes_of, open_generated, state_of
from pdes.data.region_store import stream_checksum
from pdes.data.repair import open_arrays
from pdes.data.target import given_path

_log = logging.getLogger(__name__)

REMEDY = (
    "copy it again, or make it again with the same call of pdes.generate or sciml data make, "
    "which replaces what is damaged"
)


def verify(
    path: str | Path, *, samples: int = 0, seed: int = 0, rtol: float = 1e-5, given: Any = None
) -> dict[str, str]:
    """Compare a stored recording with its checksums, and solve some of its samples again.

    Parameters
    ----------
    path : path
        What `pdes.save` or `pdes.generate` wrote.
    samples : int, default 0
        How many randomly chosen samples to solve again; generated datasets only.
    seed : int, default 0
        Of the choice.
    rtol : float, default 1e-5
        Largest relative L2 distance of a sample solved again. On the machine that made the dataset
        0 holds too; chaotic trajectories of other machines need more.
    given : Problem or callable, optional
        What the dataset was made of, if not a problem of the registry.

    Returns
    -------
    dict of str to str
        The checksum of every variable.

    Raises
    ------
    ChecksumError
        Naming the variables that differ from what was written, or the samples that differ from
        what the solver finds.
    ReadError
        If the file is damaged, not complete, or was not written by this package.

    Examples
    --------
    >>> import tempfile, pdes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pdes.generate("heat", 3, f"{folder}/heat.nc", times=[0.0, 1.0])
    ...     sorted(verify(f"{folder}/heat.nc", samples=1, rtol=0.0))[-3:]
    ['time_step', 'u', 'x']
    """
    path = given_path(path)
    whole = isinstance(samples, numbers.Integral) and not isinstance(samples, bool)
    if not whole or samples < 0:
        raise ValueError(f"samples={samples!r}: wanted a whole number of at least 0")
    if isinstance(rtol, bool) or not isinstance(rtol, numbers.Real) or not rtol >= 0.0:
        raise ValueError(f"rtol={rtol!r}: wanted a number of at least 0")
    attrs = attributes_of(path) if path.is_dir() else {}
    found = _stream_sums(path, attrs) if "recipe" in attrs else store.verify(path)
    if samples > 0:
        _solve_again(path, samples, seed, rtol, given)
    return found


def _stream_sums(path: Path, attrs: Mapping[str, Any]) -> dict[str, str]:
    """Checksums in the memory of one block, however large the store."""
    from pdes.data.formats.zarr_store import require_zarr

    if not attrs.get("complete"):
        raise ReadError(
            f"{path.name} is not complete: make the same call of pdes.generate again to finish it"
        )
    root = require_zarr().open_group(str(path), mode="r")
    arrays, missing = open_arrays(root, attrs)
    found: dict[str, str] = {}
    wrong = []
    for name, array in sorted(arrays.items()):
        try:
            found[name] = stream_checksum(array)
        except Exception as error:
            # A damaged chunk can make a decompressor fail in any way.
            raise ChecksumError(
                f"{path.name}: {name} cannot be read ({error}): {REMEDY}"
            ) from error
        if array.attrs.get("sha256") != found[name]:
            wrong.append(name)
    if missing:
        raise ChecksumError(f"{path.name}: {', '.join(missing)} is gone from the store: {REMEDY}")
    if wrong:
        raise ChecksumError(
            f"{path.name}: {', '.join(wrong)} differ from what was written: the file was changed "
            f"or damaged; {REMEDY}"
        )
    return found


def _solve_again(path: Path, samples: int, seed: int, rtol: float, given: Any) -> None:
    from pdes.data.samples import STATUS, Source, solve_samples

    recipe = state_of(path).recipe
    if recipe is None:
        raise ReadError(f"{path.name} was not made by pdes.generate: there is nothing to solve")
    if given is None and attributes_of(path).get("origin") != "registry":
        raise ReadError(
            f"{path.name} was made of {recipe.problem!r}, which is not a name in the registry: "
            "pass the problem or function as given="
        )
    rng = np.random.default_rng(seed)
    chosen = sorted(rng.choice(recipe.samples, min(samples, recipe.samples), replace=False))
    with warnings.catch_warnings():
        # What a warning would say of a sample is in its status.
        warnings.simplefilter("ignore")
        solved = solve_samples(Source(recipe=recipe, given=given), [int(i) for i in chosen])
    wrong = []
    with open_generated(path) as data:
        for index, sample in solved.items():
            stored = STATUS[int(data["status"].values[index])]
            distance = _distance(data.isel(sample=index), sample.fields)
            _log.info("sample %d: %s, relative distance %.3g", index, stored, distance)
            if stored != sample.status or not distance <= rtol:
                wrong.append(f"{index} ({stored}, now {sample.status}, distance {distance:.2g})")
    if wrong:
        raise ChecksumError(
            f"{path.name}: solved again, the samples {', '.join(wrong)} differ from what is "
            f"stored by more than {rtol:g}: another version or machine, or a changed file"
        )


def _distance(stored: Any, fields: Mapping[str, np.ndarray] | None) -> float:
    """Largest relative L2 distance over the fields; a failed sample is NaN in both."""
    if fields is None:
        return 0.0 if all(np.all(np.isnan(v.values)) for v in stored.values()) else np.inf
    worst = 0.0
    for name, variable in stored.items():
        kept = variable.values
        # Compared as stored: rounding to single precision is no difference.
        again = np.asarray(fields[str(name)]).astype(kept.dtype)
        gap = np.linalg.norm((again - kept).ravel().astype(np.complex128))
        size = np.linalg.norm(kept.ravel().astype(np.complex128))
        worst = max(worst, float(gap / size) if size > 0.0 else float(gap))
    return worst
