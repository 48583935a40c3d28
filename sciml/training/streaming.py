"""Batches from files that are larger than the memory."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sciml.training.batches import EpochOrder, share
from sciml.training.field_channels import (
    SAMPLE,
    TIME,
    Channel,
    Fields,
    grid_dimensions,
    parse_channels,
    read_channels,
    sample_rows,
)

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["FieldStatistics", "StreamedFields", "open_fields"]

_USABLE = ("ok", "under_resolved")  # of what pdes.generate says of a sample
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FieldStatistics:
    """Mean and standard deviation of every channel over samples and grid.

    Attributes
    ----------
    mean, std : ndarray of float, shape (channels,)
    """

    mean: np.ndarray
    std: np.ndarray


class StreamedFields:
    """Batches ``(inputs, targets)`` read from a dataset as they are needed.

    Parameters
    ----------
    data : path or xarray.Dataset
        netCDF file or Zarr store, of which only what a batch needs is read; any other format of
        `pdes.data.read` is read at once.
    inputs, targets : str, sequence or mapping
        Variables that become channels, see `sciml.training.field_tensor`.
    batch_size : int
        Examples in a batch.
    seed : int, default 0
        Of the order, which is a new one in every epoch.
    samples : int, slice or sequence of int, optional
        Which samples. By default all, without those that `pdes.generate` could not solve.
    lead : int, optional
        Makes every pair of times ``(t, t + lead)`` an example: inputs at the first, targets at the
        second. Times are indices.
    shuffle, drop_last : bool
        See `ArrayBatches`.
    dtype : torch.dtype, default float32

    Attributes
    ----------
    in_channels, out_channels : int
    grid : dict of str to int
        Axes of space and their numbers of points.

    Raises
    ------
    ValueError
        For variables or samples that are not there.

    Examples
    --------
    >>> import pdes
    >>> data = pdes.simulate(pdes.get("heat"))
    >>> fields = StreamedFields(data, inputs="u", targets="u", lead=1, batch_size=8)
    >>> inputs, targets = fields.batch(0)
    >>> inputs.shape == targets.shape == (8, 1, data.sizes["x"])
    True
    """

    def __init__(
        self,
        data: str | Path | xr.Dataset,
        *,
        inputs: Fields,
        targets: Fields,
        batch_size: int,
        seed: int = 0,
        samples: int | slice | Sequence[int] | None = None,
        lead: int | None = None,
        shuffle: bool = True,
        drop_last: bool = False,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.dataset = open_fields(data) if isinstance(data, (str, Path)) else data
        choose = lead is None
        self._inputs = parse_channels(self.dataset, inputs, "inputs", choose_times=choose)
        self._targets = parse_channels(self.dataset, targets, "targets", choose_times=choose)
        self._rows = (
            _good_rows(self.dataset) if samples is None else sample_rows(self.dataset, samples)
        )
        self.lead, self._dtype = lead, dtype
        self._starts = 1 if lead is None else self._starts_of(lead)
        every = (*self._inputs, *self._targets)
        self._grid = grid_dimensions(self.dataset, every)
        self.grid = {name: self.dataset.sizes[name] for name in self._grid}
        self._settings = {"shuffle": shuffle, "drop_last": drop_last}
        self.order = EpochOrder(self.count, batch_size, seed, shuffle, drop_last)
        self.in_channels, self.out_channels = (
            _count(self.dataset, channels) for channels in (self._inputs, self._targets)
        )

    @property
    def count(self) -> int:
        """Number of examples."""
        return len(self._rows) * self._starts

    def __len__(self) -> int:
        """Number of batches in an epoch."""
        return len(self.order)

    @property
    def samples(self) -> np.ndarray:
        """Indices of the samples that are used."""
        return self._rows

    @property
    def output_names(self) -> list[str]:
        """Name of every target channel."""
        names: list[str] = []
        for channel in self._targets:
            parts = ("re", "im") if _count(self.dataset, (channel,)) == 2 else ("",)
            names += [f"{channel} {part}".strip() for part in parts]
        return names

    def batch(self, step: int, part: tuple[int, int] = (0, 1)) -> tuple[torch.Tensor, torch.Tensor]:
        """Batch of a step, counted from 0; with ``part=(i, n)`` the i-th of n shares of it."""
        return self.examples(share(self.order.rows(step), part))

    def examples(self, indices: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Inputs and targets of some examples.

        Parameters
        ----------
        indices : sequence of int
            From 0 to ``count - 1``.

        Returns
        -------
        inputs : Tensor, shape (n, in_channels, *grid)
        targets : Tensor, shape (n, out_channels, *grid)
        """
        sample, start = np.divmod(np.asarray(indices, dtype=int), self._starts)
        rows = self._rows[sample]
        first = None if self.lead is None else start
        second = None if self.lead is None else start + self.lead
        return (
            read_channels(self.dataset, self._inputs, rows, first, self._grid, self._dtype),
            read_channels(self.dataset, self._targets, rows, second, self._grid, self._dtype),
        )

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """All examples once, in the order of the data."""
        size = self.order.batch_size
        for start in range(0, self.count, size):
            yield self.examples(np.arange(start, min(start + size, self.count)))

    def split(self, count: int | float) -> tuple[StreamedFields, StreamedFields]:
        """Hold the last samples back.

        Parameters
        ----------
        count : int or float
            How many samples, or which share of them.

        Returns
        -------
        train, test : StreamedFields
        """
        total = len(self._rows)
        held = round(count * total) if isinstance(count, float) else count
        if not 0 < held < total:
            raise ValueError(
                f"split({count!r}) of {total} samples: wanted between 1 and {total - 1}, or a "
                "share between 0 and 1 of that size"
            )
        return self._with_rows(self._rows[:-held]), self._with_rows(self._rows[-held:])

    def _with_rows(self, rows: np.ndarray) -> StreamedFields:
        other = object.__new__(StreamedFields)
        other.__dict__.update(self.__dict__)
        other._rows = rows
        order = self.order
        other.order = EpochOrder(other.count, order.batch_size, order.seed, **self._settings)
        return other

    def statistics(self) -> tuple[FieldStatistics, FieldStatistics]:
        """Mean and standard deviation of all channels, in one pass over the data.

        Returns
        -------
        inputs, targets : FieldStatistics

        Raises
        ------
        ValueError
            If a channel holds numbers that are not finite, with its name.
        """
        sums = [_Moments(), _Moments()]
        for pair in self:
            for moments, values in zip(sums, pair, strict=True):
                moments.add(values)
        for moments, channels, what in zip(
            sums, (self._inputs, self._targets), ("inputs", "targets"), strict=True
        ):
            if not np.all(np.isfinite(moments.mean)):
                names = ", ".join(map(str, channels))
                raise ValueError(
                    f"{what} ({names}) hold numbers that are not finite: leave those samples out "
                    "with samples="
                )
        return sums[0].result(), sums[1].result()

    def describe(self) -> dict[str, Any]:
        """What the order of the data depends on."""
        rows = hashlib.sha256(np.ascontiguousarray(self._rows, dtype="<i8").tobytes()).hexdigest()
        return {
            **self.order.describe(),
            "inputs": [str(channel) for channel in self._inputs],
            "targets": [str(channel) for channel in self._targets],
            "grid": dict(self.grid),
            "lead": self.lead,
            "rows": rows[:16],
        }

    def _starts_of(self, lead: int) -> int:
        if not isinstance(lead, int) or lead < 1:
            raise ValueError(f"lead={lead!r}: wanted a whole number of time steps, at least 1")
        count = self.dataset.sizes.get(TIME, 0)
        if count <= lead:
            raise ValueError(f"lead={lead}: the dataset has {count} times, wanted more than {lead}")
        return count - lead


class _Moments:
    """Mean and sum of squared deviations, merged block by block.

    Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for computing sample
    variances, 1979.
    """

    def __init__(self) -> None:
        self.count, self.mean, self.squares = 0, np.zeros(1), np.zeros(1)

    def add(self, values: torch.Tensor) -> None:
        block = values.transpose(0, 1).flatten(1).to(torch.float64, copy=True).numpy()
        count, mean = block.shape[1], block.mean(axis=1)
        block -= mean[:, None]
        squares = np.einsum("ij,ij->i", block, block)
        total = self.count + count
        shift = mean - self.mean
        self.squares = self.squares + squares + shift**2 * self.count * count / total
        self.mean = self.mean + shift * count / total
        self.count = total

    def result(self) -> FieldStatistics:
        return FieldStatistics(self.mean, np.sqrt(self.squares / self.count))


def open_fields(path: str | Path) -> xr.Dataset:
    """Open a dataset without reading its fields.

    Parameters
    ----------
    path : path
        ``.nc`` (netCDF-4) or ``.zarr``; other formats of `pdes.data.read` are read at once.

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    ValueError
        If it cannot be read.
    ImportError
        If it is a Zarr store and zarr is not installed.
    """
    import xarray as xr

    from pdes.data.errors import ReadError

    path = Path(path)
    if not path.exists():
        raise ReadError(f"no file at {path}: check the path")
    if path.suffix not in (".nc", ".zarr"):
        from pdes.data import read

        return read(path)
    options: dict[str, Any] = {"engine": "h5netcdf"}
    if path.suffix == ".zarr":
        from pdes.data.formats.zarr_store import require_zarr

        require_zarr()
        consolidated = (path / ".zmetadata").exists()
        options = {"engine": "zarr", "backend_kwargs": {"consolidated": consolidated}}
    try:
        return xr.open_dataset(
            path, cache=False, decode_times=False, decode_timedelta=False, **options
        )
    except Exception as error:
        # Damage shows as any kind of exception of the libraries below.
        raise ReadError(f"{path.name} cannot be read ({error}): it is damaged") from error


def _good_rows(dataset: xr.Dataset) -> np.ndarray:
    """Samples that were solved; what is marked as under-resolved counts, and is said."""
    from pdes.data.samples import STATUS

    rows = sample_rows(dataset, None)
    if "status" not in dataset.variables or dataset["status"].dims != (SAMPLE,):
        return rows
    codes = dataset["status"].values
    good = np.flatnonzero(np.isin(codes, [STATUS.index(name) for name in _USABLE]))
    for code, name in enumerate(STATUS):
        count = int(np.sum(codes == code))
        if count and name != "ok":
            done = "used" if name in _USABLE else "left out"
            _log.warning("%d of %d samples are %s: %s", count, len(rows), name, done)
    if len(good) == 0:
        raise ValueError(f"none of {len(rows)} samples has the status ok: choose samples=")
    return good


def _count(dataset: xr.Dataset, channels: Sequence[Channel]) -> int:
    """Number of channels; a complex variable has two."""
    return sum(
        2 if dataset[c.variable].dtype.kind == "c" or "component" in dataset[c.variable].dims else 1
        for c in channels
    )
