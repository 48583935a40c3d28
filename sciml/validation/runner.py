"""Run cases one after the other, keep what is done, and stop nowhere but at Ctrl-C."""

from __future__ import annotations

import logging
import time
import traceback
import unittest
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sciml.validation.cache import Cache, Record, content_key
from sciml.validation.case import Case, Measurements, as_measurements
from sciml.validation.report import Report
from sciml.validation.result import Result, plain_rows, png
from sciml.validation.suite import Suite

_log = logging.getLogger(__name__)

Progress = Callable[[int, int, str], None]


def run(
    cases: Suite | Mapping[str, Case] | Iterable[Case],
    *,
    cache: Cache | None = None,
    resume: bool = True,
    figures: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Run cases and hold what they measure against what they predict.

    Parameters
    ----------
    cases
        A suite, or cases by name, or just cases.
    cache
        Where the measurements of cases of tier ``"full"`` are kept, which needs a suite, since
        the key is made of its files. Nothing is kept if None.
    resume
        Whether to use what is in the cache. What is measured is kept either way.
    figures
        Whether to draw the figures of the cases. Those that are kept in the cache are always drawn.
    progress
        Called before each case with its index from 0, the number of cases, and its name.

    Returns
    -------
    Report
        One result for each case. A case that raises is a failure with its traceback. After Ctrl-C
        it holds what was done until then, with ``interrupted`` set.
    """
    suite = cases if isinstance(cases, Suite) else None
    named = _named(cases)
    results = broken_topics(suite)
    interrupted = False
    for index, (name, case) in enumerate(named.items()):
        if progress is not None:
            progress(index, len(named), name)
        try:
            key = ""
            if suite is not None and cache is not None and case.tier == "full":
                key = content_key(name, suite.source(name))
            results.append(_run_case(name, case, cache if key else None, key, resume, figures))
        except KeyboardInterrupt:
            _log.warning("interrupted while %s ran; %d cases are done", name, len(results))
            interrupted = True
            break
    return Report(results=tuple(results), selected=len(named), interrupted=interrupted)


def _run_case(
    name: str, case: Case, cache: Cache | None, key: str, resume: bool, figures: bool
) -> Result:
    record = cache.read(name, key) if cache is not None and resume else None
    cached = record is not None
    about: dict[str, Any] = {
        "name": name,
        "title": case.title or case.name,
        "description": case.description,
        "tier": case.tier,
    }
    start = time.perf_counter()
    try:
        if record is None:
            measured = as_measurements(case.run())
            seconds = time.perf_counter() - start
            case.judge(measured)  # before the figure: a mismatch of names is the better message
            record = _record(measured, seconds, figures or cache is not None)
        verdicts = case.judge(record.values)
    except unittest.SkipTest as reason:
        # what the case needs is not on this machine, which says nothing about the package
        seconds = time.perf_counter() - start
        return Result(**about, skipped=str(reason), note=f"skipped: {reason}", seconds=seconds)
    except Exception:
        _log.debug("case %s raised", name, exc_info=True)
        seconds = time.perf_counter() - start
        return Result(**about, error=traceback.format_exc(), seconds=seconds)
    if cache is not None and not cached:
        cache.write(name, key, record)
    return Result(
        **about,
        verdicts=verdicts,
        seconds=record.seconds,
        cached=cached,
        table=record.table,
        note=record.note,
        figure=record.figure,
    )


def _record(measured: Measurements, seconds: float, draw: bool) -> Record:
    return Record(
        values={name: float(value) for name, value in measured.values.items()},
        seconds=seconds,
        table=plain_rows(measured.table),
        note=measured.note,
        figure=png(measured.figure()) if draw and measured.figure is not None else None,
    )


def _named(cases: Suite | Mapping[str, Case] | Iterable[Case]) -> dict[str, Case]:
    if isinstance(cases, Suite):
        return dict(cases.cases)
    if isinstance(cases, Mapping):
        return {str(name): case for name, case in cases.items()}
    listed = list(cases)
    named = {case.name: case for case in listed}
    if len(named) < len(listed):
        raise ValueError(
            f"cases have {len(listed) - len(named)} names twice: name them in a mapping"
        )
    return named


def broken_topics(suite: Suite | None) -> list[Result]:
    """Return one failure for each file of the suite that could not be loaded."""
    return [
        Result(
            name=f"{topic}/*",
            title=f"{topic}.py",
            description="The file of these cases could not be loaded.",
            tier="quick",
            error=trace,
        )
        for topic, trace in (suite.broken if suite else {}).items()
    ]
