"""``sciml list``: what is in the registry."""

from __future__ import annotations

from typing import Annotated

import typer

from sciml.cli.console import output
from sciml.cli.failure import readable


def list_problems(
    tag: Annotated[
        str | None, typer.Option("--tag", help="Only problems with this tag, such as benchmark.")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """List the problems of the registry: name, equation, tags."""
    with readable(debug):
        from rich.table import Table
        from rich.text import Text

        import pdes
        from pdes.registry import entry_of

        names = pdes.available(tag)
        if tag is not None and not names:
            tags = sorted({word for name in pdes.available() for word in entry_of(name).tags})
            raise ValueError(f"No problem has the tag {tag!r}. Tags: {', '.join(tags)}.")
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("name", "equation", "tags"):
            table.add_column(column, overflow="fold")
        for name in names:
            entry = entry_of(name)
            label = ", ".join((name, *entry.aliases))
            equation = str(pdes.get(name).equation)
            table.add_row(Text(label), Text(equation), Text(", ".join(sorted(entry.tags))))
        output().print(table)
