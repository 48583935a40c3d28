"""How benchmarks measure: one thread, CPU time of the process, calls taken in turn."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def one_thread() -> None:
    """Start again with one thread: numerical libraries read these settings when they load."""
    if any(os.environ.get(name) != "1" for name in THREADS):
        os.environ.update(dict.fromkeys(THREADS, "1"))
        os.execv(sys.executable, [sys.executable, *sys.argv])


def in_turn(calls: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median CPU time of each in milliseconds, measured in turn so that all share the noise."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for round_ in range(repeats + 2):
        for name, call in calls.items():
            start = time.process_time()
            call()
            if round_ >= 2:  # the first ones allocate
                times[name].append(time.process_time() - start)
    return {name: 1e3 * statistics.median(found) for name, found in times.items()}
