"""``sciml list``: what is in the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciml.cli.console import output
from sciml.cli.failure import readable

if TYPE_CHECKING:
    from rich.console import Console


def list_problems(
    name: Annotated[
        str | None, typer.Argument(help="Describe this problem: parameters, ranges, solvers, ...")
    ] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", help="Only problems with this tag, such as benchmark.")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """List the problems of the registry, or describe one of them.

    For example: sciml list burgers
    """
    with readable(debug):
        import pdes
        from pdes.registry import entry_of

        if name is not None and tag is not None:
            raise ValueError(f"--tag {tag} selects from the list: leave it out, or the name {name}")
        if name is not None:
            output().print(str(pdes.describe(name)), markup=False, soft_wrap=True)
            return
        rows = []
        for known in pdes.available(tag):
            entry = entry_of(known)
            label, tags = ", ".join((known, *entry.aliases)), ", ".join(sorted(entry.tags))
            rows.append((label, statement(pdes.get(known), entry.build.__doc__), tags))
        _print(rows, output())


def statement(problem: Any, doc: str | None) -> str:
    """Equations of a problem in one line.

    A steady problem is known by its residual, whose text may fill a page: the first line of its
    builder's docstring says it shortly.

    Examples
    --------
    >>> import pdes
    >>> statement(pdes.get("heat"), None)
    'u_t = 0.1*u_xx'
    >>> statement(pdes.get("poisson_peak"), "Peak for ``-lap u = f``.")
    'steady: Peak for -lap u = f.'
    """
    if isinstance(problem.equation, str):
        lines = (doc or "").strip().splitlines() or [problem.equation]
        return f"steady: {lines[0].replace('``', '')}"
    return "; ".join(str(problem.equation).splitlines())


def _print(rows: list[tuple[str, str, str]], console: Console) -> None:
    """One line for each row, cut to the terminal; of other names first, never of the name."""
    from rich.table import Table
    from rich.text import Text

    names, tags = (max((len(row[k]) for row in rows), default=0) for k in (0, 2))
    names = min(names, max(console.width // 3, *(len(row[0].split(",")[0]) + 2 for row in rows)))
    tags = min(tags, console.width // 4)
    rest = max(console.width - names - tags - 4, 12)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True, overflow="ellipsis", width=names)
    table.add_column("equation", no_wrap=True, overflow="ellipsis", width=rest)
    table.add_column("tags", no_wrap=True, overflow="ellipsis", width=tags)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
