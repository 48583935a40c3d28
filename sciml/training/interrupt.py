"""Ctrl-C as a request: the running step is finished before anything ends."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_log = logging.getLogger(__name__)


@dataclass
class Request:
    """Whether somebody asked for the end."""

    asked: bool = False


@contextlib.contextmanager
def interruptible() -> Iterator[Request]:
    """Note the first Ctrl-C and let the second one through.

    Outside the main thread, or where the caller handles the signal by itself, nothing is changed.

    Examples
    --------
    >>> with interruptible() as request:
    ...     signal.raise_signal(signal.SIGINT)
    ...     request.asked
    True
    """
    request = Request()
    here = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if here else None
    if before is not signal.default_int_handler:
        yield request
        return

    def note(number: int, frame: Any) -> None:
        if request.asked:
            signal.default_int_handler(number, frame)
        request.asked = True
        _log.warning("interrupted: finishing this step first (Ctrl-C again ends at once)")

    signal.signal(signal.SIGINT, note)
    try:
        yield request
    finally:
        signal.signal(signal.SIGINT, before)
