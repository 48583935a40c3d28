"""``sciml validate``: predicted against measured."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciml.cli.console import messages, output
from sciml.cli.failure import EXIT_INTERRUPTED, check_target, readable

if TYPE_CHECKING:
    from sciml.validation import Report, Suite
    from sciml.validation.cache import Cache


class Tier(StrEnum):
    """How much to run."""

    quick = "quick"
    full = "full"


def validate(
    pattern: Annotated[
        str | None,
        typer.Argument(
            help="Shell pattern or part of a name: solvers/*, kdv. All cases if left out."
        ),
    ] = None,
    tier: Annotated[Tier, typer.Option("--tier", help="full adds the long tables.")] = Tier.quick,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON.")
    ] = None,
    html_path: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="PATH",
            help="Write one HTML file, or index.html in a folder, with its JSON beside it.",
        ),
    ] = None,
    cache_folder: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            metavar="DIR",
            help="Where long results are kept. [$SCIML_CACHE or .sciml_cache]",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--no-resume", help="Use what is in the cache, or measure anew."),
    ] = True,
    suite: Annotated[
        Path | None,
        typer.Option(
            "--suite", metavar="DIR", help="Folder of case files instead of the shipped one."
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Run cases side by side on this many processes."),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS", help="Run cases on this dask scheduler."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show whole tracebacks.")] = False,
) -> None:
    """Run the validation suite: every number predicted in closed form, beside what is measured.

    Exit code 0 if all predictions hold, 1 if not, 2 if no case fits the pattern.
    """
    with readable(debug):
        if json_path is not None:
            check_target("--json", json_path)
        if html_path is not None:
            _check_page(html_path)
        if workers is not None and dask is not None:
            raise ValueError(
                f"--workers {workers} beside --dask: the cluster has its own workers; leave one out"
            )
        from sciml.validation import (
            committed_results,
            load,
            print_report,
            write_html,
            write_json,
        )
        from sciml.validation.cache import Cache

        whole = load(suite)
        chosen = whole.select(pattern, tier.value)
        cache = Cache.default() if cache_folder is None else Cache(cache_folder / "validation")
        report = _run(chosen, cache, resume, html_path is not None, workers, dask)
        report = dataclasses.replace(report, command=_command(pattern, tier))
        print_report(report, output(), verbose=debug)
        if json_path is not None:
            write_json(report, json_path)
        if html_path is not None:
            page = write_html(report, html_path, committed=committed_results(whole.folder))
            if json_path is None:
                inside = page.name == "index.html"
                write_json(report, page.with_name("report.json" if inside else f"{page.stem}.json"))
            messages().print(f"report in {page}", markup=False)
        if report.interrupted:
            raise typer.Exit(EXIT_INTERRUPTED)
        if not report.passed:
            raise typer.Exit(1)


def _command(pattern: str | None, tier: Tier) -> str:
    """What measures the same again, without the paths of this machine."""
    parts = ["sciml", "validate", *([] if pattern is None else [pattern])]
    return shlex.join([*parts, "--tier", tier.value])


def _check_page(path: Path) -> None:
    """Refuse a page that cannot be written; any name but ``*.html`` is the folder of the page."""
    if path.is_dir() or path.suffix.lower() not in (".html", ".htm"):
        path = path / "index.html"
    check_target("--html", path)


def _run(
    suite: Suite,
    cache: Cache,
    resume: bool,
    figures: bool,
    workers: int | None,
    dask: str | None,
) -> Report:
    from rich.markup import escape

    from sciml.validation import run, sweep

    console = messages()
    with contextlib.ExitStack() as stack:
        client = None if dask is None else stack.enter_context(_client(dask))
        status = stack.enter_context(console.status("starting"))

        def progress(index: int, total: int, name: str) -> None:
            line = f"{index + 1}/{total} {escape(name)}"
            status.update(line)
            if not console.is_terminal:
                console.print(line)

        options = {"cache": cache, "resume": resume, "figures": figures, "progress": progress}
        if client is None and workers is None:
            return run(suite, **options)
        return sweep(suite, client=client, workers=workers, **options)


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "--dask needs the package distributed: pip install 'sciml-pdes[dask]'"
        ) from error
    return Client(address)
