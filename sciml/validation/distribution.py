"""Run the cases of a suite side by side: on processes of this machine or on a dask cluster."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pdes.data.schedulers import run_blocks
from sciml.validation.cache import Cache
from sciml.validation.report import Report
from sciml.validation.result import Result
from sciml.validation.runner import broken_topics, run
from sciml.validation.suite import Suite, load

_log = logging.getLogger(__name__)


def sweep(
    suite: Suite,
    *,
    client: Any = None,
    workers: int | None = None,
    cache: Cache | None = None,
    resume: bool = True,
    figures: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Report:
    """Run the cases of a suite side by side, with the verdicts of `run`.

    Every worker loads the files of the suite itself, so that a cluster needs this package and the
    folder of the suite under the same path. Cases that measure time should not share a machine.

    Parameters
    ----------
    suite : Suite
        From `load`, whole or selected.
    client : distributed.Client, optional
        Of the cluster that works; needs the extra ``dask``.
    workers : int, optional
        Processes of this machine, where there is no client; the number of cores by default.
    cache : Cache, optional
        As for `run`; its folder must be the same for all workers. What is done when the sweep ends
        early is kept there.
    resume, figures
        As for `run`.
    progress : callable, optional
        Called after each case with its number from 0, the number of cases and its name; cases end
        in any order.

    Returns
    -------
    Report
        In the order of the suite. A case that raises is a failure with its traceback.

    Raises
    ------
    ValueError
        If ``workers`` is below 1, or given beside a client.
    RuntimeError
        If worker processes keep dying.

    Examples
    --------
    >>> from sciml.validation import load, sweep
    >>> report = sweep(load().select("exclusion"), workers=1)
    >>> report.passed, [result.name for result in report.results]
    (True, ['theory/exclusion-theorem'])
    """
    if client is not None and workers is not None:
        raise ValueError(
            f"workers={workers} beside a client: the cluster has its own workers; leave one out"
        )
    names = list(suite.cases)
    work = _Work(suite.folder.resolve(), tuple(names), cache, resume, figures)
    scheduler = "processes" if client is None else "distributed"
    done: dict[str, Result] = {}
    interrupted = False
    try:
        for result in run_blocks(
            work, range(len(names)), scheduler=scheduler, workers=workers, client=client
        ):
            done[result.name] = result
            if progress is not None:
                progress(len(done) - 1, len(names), result.name)
    except KeyboardInterrupt:
        _log.warning("interrupted; %d of %d cases are done", len(done), len(names))
        interrupted = True
    ordered = [done[name] for name in names if name in done]
    return Report(
        results=(*broken_topics(suite), *ordered), selected=len(names), interrupted=interrupted
    )


class _Work:
    """One case by its number; picklable, because the case itself need not be."""

    def __init__(
        self, folder: Path, names: tuple[str, ...], cache: Cache | None, resume: bool, figures: bool
    ) -> None:
        self.folder, self.names = folder, names
        self.cache, self.resume, self.figures = cache, resume, figures

    def __call__(self, number: int) -> Result:
        name = self.names[number]
        one = Suite(folder=self.folder, cases={name: _loaded(self.folder).cases[name]})
        report = run(one, cache=self.cache, resume=self.resume, figures=self.figures)
        return report.results[0]


@functools.cache
def _loaded(folder: Path) -> Suite:
    return load(folder)
