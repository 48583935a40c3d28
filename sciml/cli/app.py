"""The command line, put together from one file per command.

Whatever is heavy is imported inside the commands, so that ``sciml --help`` answers at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

import sciml
from sciml.cli.data import data
from sciml.cli.discover import discover
from sciml.cli.evaluate import evaluate
from sciml.cli.list_problems import list_problems
from sciml.cli.powerlaw import powerlaw
from sciml.cli.propagate import propagate
from sciml.cli.simulate import simulate
from sciml.cli.train import train
from sciml.cli.validate import validate

app = typer.Typer(
    name="sciml",
    help="From a space-time recording to its governing equation, with evidence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sciml-pdes {sciml.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """From a space-time recording to its governing equation, with evidence."""


app.command(no_args_is_help=True)(discover)
app.command(no_args_is_help=True)(simulate)
app.command(no_args_is_help=True)(powerlaw)
app.command(no_args_is_help=True)(train)
app.command(no_args_is_help=True)(evaluate)
app.command(no_args_is_help=True)(propagate)
app.command()(validate)
app.command("list")(list_problems)
app.add_typer(data, name="data")
