"""Hold predictions and measurements side by side: cases, their runner and its report.

Examples
--------
>>> from sciml.theory import Prediction
>>> from sciml.validation import Case, run
>>> case = Case(
...     name="half",
...     tier="quick",
...     run=lambda: {"a half": 1 - 0.5},
...     predictions=(Prediction(name="a half", value=0.5, kind="equals"),),
... )
>>> report = run([case])
>>> report.passed, str(report.results[0].verdicts[0])
(True, 'pass  a half: measured 0.5, predicted 0.5, ratio 1')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "Case": "case",
    "Measurements": "case",
    "Report": "report",
    "Result": "result",
    "Suite": "suite",
    "UnknownCaseError": "suite",
    "committed_results": "overview",
    "load": "suite",
    "print_report": "report",
    "run": "runner",
    "sweep": "distribution",
    "write_html": "html",
    "write_json": "report",
}

__all__ = [
    "Case",
    "Measurements",
    "Report",
    "Result",
    "Suite",
    "UnknownCaseError",
    "committed_results",
    "load",
    "print_report",
    "run",
    "sweep",
    "write_html",
    "write_json",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(f"sciml.validation.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sciml.validation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from sciml.validation.case import Case, Measurements
    from sciml.validation.distribution import sweep
    from sciml.validation.html import write_html
    from sciml.validation.overview import committed_results
    from sciml.validation.report import Report, print_report, write_json
    from sciml.validation.result import Result
    from sciml.validation.runner import run
    from sciml.validation.suite import Suite, UnknownCaseError, load
