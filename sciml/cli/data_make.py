"""``sciml data make``: a dataset from its recipe."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sciml.cli.console import messages, output, sizes_text
from sciml.cli.failure import check_suffix, check_target, readable, said_warnings

_CARD = ("title", "license", "source")


class Scheduler(StrEnum):
    """Who computes."""

    sync = "sync"
    threads = "threads"
    processes = "processes"


def data_make(
    recipe: Annotated[
        str,
        typer.Argument(help="File with a table called generate, or a name of `sciml data list`."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .zarr or .nc.")],
    samples: Annotated[
        int | None, typer.Option("--samples", min=1, help="The first so many; all if left out.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Another root of the seeds.")
    ] = None,
    scheduler: Annotated[
        Scheduler, typer.Option("--scheduler", help="Who computes; the result is the same.")
    ] = Scheduler.sync,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Threads or processes; all cores.")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS", help="Run on a dask scheduler, tcp://host:8786."),
    ] = None,
    chunk: Annotated[
        int | None, typer.Option("--chunk", min=1, help="Samples in a chunk of the store.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Go on with a file that is there.")
    ] = True,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Make a dataset, or finish or repair one: make the same call again.

    A file that is there is compared with its checksums; what is missing or damaged is made, to
    the same bits, and what was damaged is said.

    For example: sciml data make fno_burgers --samples 100 --out burgers.zarr
    """
    with readable(debug):
        check_suffix("--out", out, (".zarr", ".nc"))
        check_target("--out", out, folder=out.suffix.lower() == ".zarr")
        from pdes.data.make import make
        from pdes.data.recipe import Recipe

        path = find_recipe(recipe)
        made = Recipe.from_toml(path)
        changes = {"samples": samples, "seed": seed}
        made = dataclasses.replace(made, **{k: v for k, v in changes.items() if v is not None})
        _say_size(made, out)
        with said_warnings(), _client(dask) as client, _progress(made.problem) as progress:
            data = make(
                made,
                out,
                client=client,
                scheduler=None if client is not None else scheduler.value,
                workers=workers,
                chunk=chunk,
                card=_card(path),
                progress=progress,
                resume=resume,
            )
        _summary(data, out)


def _say_size(made: Any, out: Path) -> None:
    """Size of what is about to be made, before anything is computed."""
    from pdes.data.preflight import check_source, estimated_bytes
    from pdes.data.samples import Source
    from pdes.memory import size_text

    total = estimated_bytes(check_source(Source(recipe=made)), made)
    line = f"{made.samples} samples, about {size_text(total)} before compression, to {out}"
    messages().print(line, markup=False, soft_wrap=True)


def find_recipe(recipe: str) -> Path:
    """Path of a recipe file, or of the recipe of this name.

    Examples
    --------
    >>> find_recipe("fno_burgers").parent.name
    'fno_burgers'
    """
    from sciml import datasets

    known = datasets.makeable()
    if recipe in known:
        return known[recipe]
    path = Path(recipe)
    if path.is_file():
        return path
    match = difflib.get_close_matches(recipe, known, n=1)
    hint = f", did you mean {match[0]!r}?" if match else ""
    raise ValueError(f"no file and no recipe {recipe!r}{hint}; recipes: {', '.join(known)}")


def _card(path: Path) -> dict[str, str]:
    import tomllib

    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: str(entries[name]) for name in _CARD if name in entries}


@contextlib.contextmanager
def _client(address: str | None) -> Iterator[Any]:
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "--dask needs the package distributed: pip install 'sciml-pdes[dask]'"
        ) from error
    with Client(address) as client:
        yield client


@contextlib.contextmanager
def _progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Bar on a terminal, a line now and then in a log."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Remaining())
    console = messages()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(title)
        lines = _Lines(title)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)
            text = None if console.is_terminal else lines.after(done, total, time.monotonic())
            if text is not None:
                console.print(text, markup=False, soft_wrap=True)

        yield update


@dataclasses.dataclass
class _Lines:
    """Says how far it is, at most once in `pause` seconds.

    Examples
    --------
    >>> lines = _Lines("burgers")
    >>> lines.after(0, 100, 0.0), lines.after(10, 100, 5.0)
    (None, None)
    >>> lines.after(50, 100, 60.0)
    'burgers: 50 of 100 samples, about 60 s to go'
    """

    title: str
    pause: float = 30.0
    first: tuple[int, float] | None = None
    said: float = 0.0

    def after(self, done: int, total: int, clock: float) -> str | None:
        """Line for this moment, if it is time for one."""
        if self.first is None:
            # Samples of an earlier call are no measure of the speed.
            self.first, self.said = (done, clock), clock
            return None
        made, spent = done - self.first[0], clock - self.first[1]
        if clock - self.said < self.pause or made < 1 or done >= total:
            return None
        self.said = clock
        left = spent / made * (total - done)
        return f"{self.title}: {done} of {total} samples, about {left:.0f} s to go"


def _summary(data: Any, out: Path) -> None:
    from pdes.data.samples import STATUS

    codes = data["status"].values
    counts = {name: int((codes == code).sum()) for code, name in enumerate(STATUS)}
    console = output()
    console.print(str(data.attrs.get("equation", "")), markup=False, soft_wrap=True)
    console.print(sizes_text(data.sizes), markup=False)
    console.print(", ".join(f"{n} {name}" for name, n in counts.items() if n), markup=False)
    console.print(f"written to {out}", markup=False, soft_wrap=True)
