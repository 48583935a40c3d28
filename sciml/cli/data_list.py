"""``sciml data list``: recordings that are here, and recipes of what can be made."""

from __future__ import annotations

import tomllib
from typing import Annotated

import typer

from sciml.cli.console import output
from sciml.cli.failure import readable


def data_list(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """List the recordings that travel with the package, and the recipes of `sciml data make`."""
    with readable(debug):
        from rich.table import Table
        from rich.text import Text

        from sciml import datasets

        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("name", "kind", "samples", "title"):
            table.add_column(column, overflow="fold")
        for name in datasets.available():
            table.add_row(name, "recording", "1", Text(datasets.recipe(name).title))
        for name, path in datasets.makeable().items():
            entries = tomllib.loads(path.read_text(encoding="utf-8"))
            count = str(entries["generate"]["samples"])
            table.add_row(name, "recipe", count, Text(entries["title"]))
        output().print(table)
