"""``sciml data``: datasets of many samples, made, listed and verified."""

from __future__ import annotations

import typer

from sciml.cli.data_list import data_list
from sciml.cli.data_make import data_make
from sciml.cli.data_verify import data_verify

data = typer.Typer(help="Make, list and verify datasets of many samples.", no_args_is_help=True)
data.command("make", no_args_is_help=True)(data_make)
data.command("list")(data_list)
data.command("verify", no_args_is_help=True)(data_verify)
