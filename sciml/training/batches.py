"""Which data a step sees: a function of the seed and the step, so that resuming replays nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch

from sciml.training.random_state import derived_seed, generator

__all__ = ["AbstractBatches", "ArrayBatches", "Batches", "epoch_permutation"]

_ORDER, _BATCH, _EPOCH = 1, 2, 3  # streams of random numbers that a run's seed is split into


@runtime_checkable
class AbstractBatches(Protocol):
    """Batches by the number of the step."""

    def batch(self, step: int) -> Any:
        """Batch of a step, counted from 0; the same whenever it is asked for."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """What the order of the data depends on, as plain data; a resumed run must agree."""
        ...


Batches = AbstractBatches | Callable[[int, torch.Generator], Any] | Iterable[Any]


def epoch_permutation(count: int, seed: int, epoch: int) -> np.ndarray:
    """Order of the samples in an epoch.

    Parameters
    ----------
    count : int
        Number of samples.
    seed, epoch : int
        What the order depends on.

    Returns
    -------
    ndarray of int, shape (count,)

    Examples
    --------
    >>> sorted(epoch_permutation(4, seed=0, epoch=7).tolist())
    [0, 1, 2, 3]
    """
    return np.random.default_rng(derived_seed(seed, _ORDER, epoch)).permutation(count)


class ArrayBatches:
    """Batches of arrays in memory, in a new random order in every epoch.

    Parameters
    ----------
    data : Tensor, ndarray, or a sequence or mapping of these
        Samples along the first axis of each. A batch has the same form, with tensors.
    batch_size : int
        Samples in a batch; the last of an epoch may be smaller.
    seed : int, default 0
        Of the order.
    shuffle : bool, default True
        False keeps the order of the data.
    drop_last : bool, default False
        Leave out a smaller last batch.

    Raises
    ------
    ValueError
        If the arrays have different numbers of samples or the batch size does not fit.

    Examples
    --------
    >>> batches = ArrayBatches((torch.arange(4.0), torch.arange(4.0)), batch_size=2)
    >>> x, y = batches.batch(0)
    >>> x.shape, bool((x == y).all()), len(batches)
    (torch.Size([2]), True, 2)
    """

    def __init__(
        self,
        data: Any,
        batch_size: int,
        seed: int = 0,
        *,
        shuffle: bool = True,
        drop_last: bool = False,
    ) -> None:
        self._data = _map(_as_tensor, data)
        sizes = sorted({len(leaf) for leaf in _leaves(self._data)})
        if len(sizes) != 1 or sizes[0] == 0:
            raise ValueError(
                f"data has {sizes} samples along the first axes of its arrays: wanted one number "
                "of at least 1"
            )
        self.samples = sizes[0]
        self.order = EpochOrder(self.samples, batch_size, seed, shuffle, drop_last)

    def __len__(self) -> int:
        return len(self.order)

    def batch(self, step: int, part: tuple[int, int] = (0, 1)) -> Any:
        """Batch of a step; with ``part=(i, n)`` the i-th of n shares of it."""
        rows = torch.from_numpy(np.array(share(self.order.rows(step), part)))
        return _map(lambda values: values[rows], self._data)

    def describe(self) -> dict[str, Any]:
        """What the order depends on."""
        return self.order.describe()

    def __iter__(self) -> Iterator[Any]:
        return (self.batch(step) for step in range(len(self)))


class EpochOrder:
    """Which rows belong to a step.

    Parameters
    ----------
    samples, batch_size, seed, shuffle, drop_last
        See `ArrayBatches`.
    """

    def __init__(
        self, samples: int, batch_size: int, seed: int, shuffle: bool, drop_last: bool
    ) -> None:
        if not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"batch_size={batch_size!r}: wanted a whole number of at least 1")
        if drop_last and batch_size > samples:
            raise ValueError(
                f"batch_size={batch_size} with drop_last=True leaves nothing of {samples} samples"
            )
        self.samples, self.batch_size, self.seed = samples, batch_size, seed
        self.shuffle, self.drop_last = shuffle, drop_last
        self._epoch, self._permutation = -1, np.arange(samples)

    def __len__(self) -> int:
        whole, rest = divmod(self.samples, self.batch_size)
        return whole + (rest > 0 and not self.drop_last)

    def rows(self, step: int) -> np.ndarray:
        """Rows of the batch of a step, counted from 0."""
        epoch, place = divmod(step, len(self))
        if self.shuffle and epoch != self._epoch:
            self._permutation = epoch_permutation(self.samples, self.seed, epoch)
            self._epoch = epoch
        return self._permutation[place * self.batch_size : (place + 1) * self.batch_size]

    def describe(self) -> dict[str, Any]:
        """What the order depends on."""
        names = ("samples", "batch_size", "seed", "shuffle", "drop_last")
        return {name: getattr(self, name) for name in names}


def share(rows: np.ndarray, part: tuple[int, int]) -> np.ndarray:
    """The ``i``-th of ``n`` nearly equal shares of some rows, ``part = (i, n)``."""
    return np.array_split(rows, part[1])[part[0]]


class StepBatches:
    """Any accepted kind of batches, as a function of the step.

    Parameters
    ----------
    batches
        An object with ``batch(step)``, a function of step and generator, a sequence that is
        cycled through, or an iterable that can be iterated over again for every epoch.
    seed : int
        Seeds the generators.
    restartable : bool
        Whether the run may be resumed, which an iterator that is used up cannot be.
    """

    def __init__(self, batches: Batches, seed: int, restartable: bool) -> None:
        self._batches, self._seed = batches, seed
        self._own = hasattr(batches, "batch")
        self._indexed = isinstance(batches, Sequence)
        self._iterator: Iterator[Any] | None = None
        self._epoch, self._next = 0, 0
        self._rng = torch.empty(0, dtype=torch.uint8)
        data = isinstance(batches, (torch.Tensor, np.ndarray, Mapping, str)) or (
            isinstance(batches, tuple) and all(hasattr(each, "shape") for each in batches)
        )
        if data or not (self._own or callable(batches) or isinstance(batches, Iterable)):
            raise TypeError(
                f"batches is a {type(batches).__name__}: wanted an object with batch(step), such "
                "as ArrayBatches((x, y), batch_size=8), a function of (step, generator), or a "
                "list of batches"
            )
        if isinstance(batches, Sequence) and len(batches) == 0:
            raise ValueError("batches is empty: wanted at least one batch")
        if restartable and self.is_used_up_once():
            raise TypeError(
                "batches is an iterator, whose place cannot be found again: for checkpoints give "
                "ArrayBatches, a function of (step, generator), a list, or a DataLoader"
            )

    def is_used_up_once(self) -> bool:
        """Whether the batches are an iterator."""
        return not (self._own or self._indexed) and isinstance(self._batches, Iterator)

    def describe(self) -> dict[str, Any]:
        """What the order depends on, as far as it is known."""
        about: dict[str, Any] = {"kind": type(self._batches).__name__}
        if hasattr(self._batches, "describe"):
            about |= dict(self._batches.describe())  # type: ignore[union-attr]
        return about

    def batch(self, step: int, part: tuple[int, int]) -> tuple[Any, int, int]:
        """Share of this process in a batch, its number of samples, and that of the whole batch."""
        if part == (0, 1):
            batch = self._whole(step)
            size = _size(batch)
            return batch, size, size
        if self._own and hasattr(self._batches, "order"):
            size = len(self._batches.order.rows(step))  # type: ignore[union-attr]
            batch = self._batches.batch(step, part=part)  # type: ignore[union-attr]
            return batch, _size(batch), size
        whole = self._whole(step)
        rows = torch.from_numpy(np.array(share(np.arange(_size(whole)), part)))
        return _map(lambda leaf: leaf[rows.to(leaf.device)], whole), len(rows), _size(whole)

    def _whole(self, step: int) -> Any:
        if self._own:
            return self._batches.batch(step)  # type: ignore[union-attr]
        if isinstance(self._batches, Sequence):
            return self._batches[step % len(self._batches)]
        if callable(self._batches) and not isinstance(self._batches, Iterable):
            return self._batches(step, generator(self._seed, _BATCH, step))
        return self._iterated(step)

    def _iterated(self, step: int) -> Any:
        """Batch of an iterable, which draws from random numbers of its own, seeded by the epoch."""
        if step < self._next:
            raise ValueError(f"batches of an iterable come in order: step {step} is past")
        outside = torch.get_rng_state()
        try:
            while True:
                batch = self._advance(step)
                self._next += 1
                if self._next > step:
                    return batch
        finally:
            torch.set_rng_state(outside)

    def _advance(self, step: int) -> Any:
        for epoch_begins in (False, True):
            if epoch_begins or self._iterator is None:
                torch.manual_seed(derived_seed(self._seed, _EPOCH, self._epoch))
                iterator = self._iterator = iter(self._batches)  # type: ignore[arg-type]
                self._epoch += 1
            else:
                iterator = self._iterator
                torch.set_rng_state(self._rng)
            try:
                return next(iterator)
            except StopIteration:
                if self.is_used_up_once():
                    break
            finally:
                self._rng = torch.get_rng_state()
        raise ValueError(
            f"batches ended before step {step + 1}: give fewer steps, or something that can be "
            "iterated over again and is not empty, such as a list or ArrayBatches"
        )


def to_device(batch: Any, device: torch.device) -> Any:
    """Move the tensors of a batch, whatever its form; arrays become tensors."""

    def move(leaf: Any) -> Any:
        return leaf.to(device, non_blocking=True) if isinstance(leaf, torch.Tensor) else leaf

    return _map(
        lambda leaf: move(_as_tensor(leaf) if isinstance(leaf, np.ndarray) else leaf), batch
    )


def non_finite_entries(batch: Any) -> int:
    """How many numbers of a batch are infinite or not-a-number."""
    tensors = [leaf for leaf in _leaves(batch) if isinstance(leaf, torch.Tensor)]
    return sum(int((~leaf.isfinite()).sum()) for leaf in tensors)


def dtypes_of(batch: Any) -> set[torch.dtype]:
    """Types of the tensors of a batch."""
    return {leaf.dtype for leaf in _leaves(batch) if isinstance(leaf, torch.Tensor)}


def _size(batch: Any) -> int:
    for leaf in _leaves(batch):
        if isinstance(leaf, (torch.Tensor, np.ndarray)) and leaf.ndim:
            return len(leaf)
    return 1


def _as_tensor(values: Any) -> torch.Tensor:
    if isinstance(values, torch.Tensor):
        return values
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iufcb":
        raise TypeError(
            f"data holds a {type(values).__name__}: wanted tensors or NumPy arrays of numbers"
        )
    return torch.from_numpy(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="))))


def _map(function: Callable[[Any], Any], tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {key: _map(function, item) for key, item in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_map(function, item) for item in tree))
    if isinstance(tree, (list, tuple)):
        return type(tree)(_map(function, item) for item in tree)
    return function(tree)


def _leaves(tree: Any) -> list[Any]:
    if isinstance(tree, Mapping):
        return [leaf for item in tree.values() for leaf in _leaves(item)]
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in _leaves(item)]
    return [tree]
