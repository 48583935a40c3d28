"""Running independent blocks of work: here, on threads, on processes or on a dask cluster.

All of them keep a bounded number of blocks in flight, and hand back results as they come.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

SCHEDULERS = ("sync", "threads", "processes", "distributed")
RESTARTS = 3
"""How often lost worker processes are replaced before giving up."""

Work = Callable[[int], Any]


def run_blocks(
    work: Work,
    blocks: Sequence[int],
    *,
    scheduler: str = "sync",
    workers: int | None = None,
    client: Any = None,
) -> Iterator[Any]:
    """Results of ``work(block)`` for every block, in any order.

    Parameters
    ----------
    work : callable
        Must be picklable unless it stays in this process; may run twice for the same block.
    blocks : sequence of int
        What is to be done.
    scheduler : {"sync", "threads", "processes", "distributed"}
        Who does it. ``"processes"`` needs the ``if __name__ == "__main__"`` guard in scripts.
    workers : int, optional
        How many threads or processes; the number of cores by default.
    client : distributed.Client, optional
        For ``"distributed"``.

    Yields
    ------
    object
        One result for each block.

    Raises
    ------
    ValueError
        For an unknown scheduler, or ``"distributed"`` without a client.
    RuntimeError
        If worker processes keep dying.

    Examples
    --------
    >>> list(run_blocks(abs, [-1, -2]))
    [1, 2]
    """
    if scheduler not in SCHEDULERS:
        raise ValueError(f"scheduler={scheduler!r}: wanted one of {SCHEDULERS}")
    if workers is not None and workers < 1:
        raise ValueError(f"workers={workers}: wanted at least 1")
    count = workers or os.cpu_count() or 1
    if scheduler == "sync":
        yield from map(work, blocks)
    elif scheduler == "threads":
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            yield from _windowed(pool, work, blocks, 2 * count)
    elif scheduler == "processes":
        yield from _on_processes(work, list(blocks), count)
    else:
        if client is None:
            raise ValueError(
                "scheduler='distributed' needs a client: client=dask.distributed.Client(...)"
            )
        yield from _on_cluster(work, list(blocks), client)


def _windowed(
    pool: concurrent.futures.Executor, work: Work, blocks: Sequence[int], window: int
) -> Iterator[Any]:
    waiting, running = list(blocks)[::-1], set()
    try:
        while waiting or running:
            while waiting and len(running) < window:
                running.add(pool.submit(work, waiting.pop()))
            done, running = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                yield future.result()
    finally:
        for future in running:
            future.cancel()


def _on_processes(work: Work, blocks: list[int], count: int) -> Iterator[Any]:
    missing, lost = set(blocks), 0
    while missing:
        # Fresh interpreters: a fork would copy locks that threads of this process may hold.
        context = multiprocessing.get_context("spawn")
        with _single_threaded(), concurrent.futures.ProcessPoolExecutor(count, context) as pool:
            try:
                for block, result in _windowed(pool, _Labeled(work), sorted(missing), 2 * count):
                    missing.discard(block)
                    yield result
            except BrokenProcessPool as error:
                lost += 1
                if lost > RESTARTS:
                    raise RuntimeError(
                        f"worker processes died {lost} times (out of memory?): use fewer workers "
                        "or scheduler='sync'. In a script, start under if __name__ == '__main__'"
                    ) from error


class _Labeled:
    """The work together with the block it was done for."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def __call__(self, block: int) -> tuple[int, Any]:
        return block, self._work(block)


@contextlib.contextmanager
def _single_threaded() -> Iterator[None]:
    """Processes started here use one thread each for linear algebra."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _on_cluster(work: Work, blocks: list[int], client: Any) -> Iterator[Any]:
    try:
        from distributed import as_completed
    except ImportError as error:
        raise ImportError(
            "a dask client needs the package distributed: pip install 'sciml-pdes[dask]'"
        ) from error
    window = 4 * max(1, len(client.scheduler_info()["workers"]))
    waiting = blocks[::-1]

    def submit(block: int) -> Any:
        # A worker that dies gives its blocks back; running one twice writes the same bytes.
        return client.submit(work, block, pure=False, retries=RESTARTS)

    running = as_completed([submit(waiting.pop()) for _ in range(min(window, len(waiting)))])
    for future in running:
        result = future.result()
        if waiting:
            running.add(submit(waiting.pop()))
        yield result
