"""What a run of the suite found: on the console and as JSON."""

from __future__ import annotations

import datetime
import json
import platform
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import sciml
from sciml import _atomic
from sciml.validation.result import Result

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, kw_only=True)
class Report:
    """Results of a run.

    Attributes
    ----------
    results
        One for each case that was run, in order, after those of files that could not be loaded.
    selected
        How many cases were to be run.
    interrupted
        Whether Ctrl-C ended the run before the last case.
    finished
        When it ended, in UTC.
    command
        What measures the same again, if it was run by a command.
    """

    results: tuple[Result, ...]
    selected: int
    interrupted: bool = False
    finished: str = field(default_factory=_now)
    command: str = ""

    @property
    def passed(self) -> bool:
        """Whether every case ran and every prediction holds; a run of nothing passes nothing."""
        return bool(self.results) and not self.interrupted and all(r.passed for r in self.results)

    @property
    def summary(self) -> str:
        """One line: how many cases passed and failed, and how long they took."""
        failed = sum(not result.passed for result in self.results)
        skipped = sum(bool(result.skipped) for result in self.results)
        verdicts = [verdict for result in self.results for verdict in result.verdicts]
        hold = sum(verdict.passed for verdict in verdicts)
        seconds = sum(result.seconds for result in self.results if not result.cached)
        cached = sum(result.cached for result in self.results)
        line = (
            f"{len(self.results) - failed - skipped} passed, {failed} failed; "
            f"{hold} of {len(verdicts)} predictions hold; {seconds:.1f} s"
        )
        if skipped:
            line += f", {skipped} skipped"
        if cached:
            line += f", {cached} from the cache"
        if self.interrupted:
            line += f"; interrupted after {len(self.results)} of {self.selected} cases"
        return line

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        return {
            "passed": self.passed,
            "summary": self.summary,
            "interrupted": self.interrupted,
            "finished": self.finished,
            "command": self.command,
            "version": sciml.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "results": [result.to_json() for result in self.results],
        }


def write_json(report: Report, path: str | PathLike[str]) -> Path:
    """Write the report as a JSON file, whole or not at all.

    Returns
    -------
    pathlib.Path
        The file.
    """
    text = json.dumps(report.to_json(), indent=2, allow_nan=False, ensure_ascii=False)
    return _atomic.write(path, text + "\n")


def print_report(report: Report, console: Console, *, verbose: bool = False) -> None:
    """Print the table of predicted and measured, the errors, and the summary.

    Parameters
    ----------
    report
        What to print.
    console
        Where to.
    verbose
        Whether to print whole tracebacks instead of their last lines.
    """
    from rich.text import Text

    console.print(_table(report))
    for result in report.results:
        if result.skipped:
            console.print(Text(f"{result.name} skipped: {result.skipped}"), soft_wrap=True)
        if result.error:
            lines = result.error.rstrip().splitlines()
            console.print(Text(f"{result.name} raised:", style="bold red"))
            console.print(
                Text("\n".join(lines if verbose else lines[-1:]), style="red"), soft_wrap=True
            )
    console.print(Text(report.summary, style="bold green" if report.passed else "bold red"))


def _table(report: Report) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, justify in _COLUMNS:
        # A name is there to be copied: only it must not fold.
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column == "case")
    for result in report.results:
        name = Text(result.name + (" (kept)" if result.cached else ""))
        if not result.verdicts:
            word = Text("skipped", style="yellow") if result.skipped else _word(False)
            table.add_row(name, "", "", "", "", word)
        for index, verdict in enumerate(result.verdicts):
            table.add_row(
                name if index == 0 else "",
                Text(verdict.prediction.name),
                Text(verdict.prediction.statement),
                f"{verdict.measured:.5g}",
                f"{verdict.ratio:.4g}",
                _word(verdict.passed),
            )
    return table


_COLUMNS: tuple[tuple[str, Literal["left", "right"]], ...] = (
    ("case", "left"),
    ("quantity", "left"),
    ("predicted", "right"),
    ("measured", "right"),
    ("ratio", "right"),
    ("verdict", "left"),
)


def _word(passed: bool) -> Text:
    from rich.text import Text

    return Text("pass", style="green") if passed else Text("FAIL", style="bold red")
