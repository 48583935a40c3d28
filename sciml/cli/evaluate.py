"""``sciml evaluate``: errors of a stored model on a dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciml.cli.console import messages, output
from sciml.cli.failure import check_target, readable

if TYPE_CHECKING:
    from rich.table import Table

    from sciml.training.evaluation import Evaluation

_SHOWN = 50


def evaluate(
    model: Annotated[Path, typer.Argument(help="Model file, or the folder of `sciml train`.")],
    data: Annotated[Path, typer.Argument(help="Dataset: .zarr, .nc, .npz, .mat, ...")],
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME[@TIME]", help="Input channel; repeat for several."),
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option("--target", metavar="NAME[@TIME]", help="Target channel; repeat for several."),
    ] = None,
    lead: Annotated[
        int | None, typer.Option("--lead", min=1, help="Predict so many stored times ahead.")
    ] = None,
    samples: Annotated[
        str | None, typer.Option("--samples", metavar="N|START:STOP", help="Which samples.")
    ] = None,
    each: Annotated[bool, typer.Option("--each", help="Also a row for every sample.")] = False,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all errors as JSON.")
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Samples at a time.")] = 16,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Compare what a model predicts with a dataset, field by field.

    For example: sciml evaluate run burgers.zarr --samples 100:120 --json errors.json
    """
    with readable(debug):
        if json_path is not None:
            check_target("--json", json_path)
        from sciml.training.run_recipe import evaluate_file

        found = evaluate_file(
            model,
            data,
            inputs=[_channel("--input", text) for text in inputs] if inputs else None,
            targets=[_channel("--target", text) for text in targets] if targets else None,
            lead=lead,
            samples=_which(samples),
            batch_size=batch_size,
        )
        console = output()
        console.print(error_table(found, f"{found.count} examples"))
        if each:
            console.print(_every_row(found))
        if json_path is not None:
            _write(found, json_path)


def error_table(found: Evaluation, title: str) -> Table:
    """Errors of every field as a table for a person."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    rows = found.rows()
    for column in rows[0]:
        table.add_column(column, justify="left" if column == "field" else "right")
    for row in rows:
        table.add_row(*(v if isinstance(v, str) else f"{v:.4g}" for v in row.values()))
    return table


def _every_row(found: Evaluation) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("example", "field", "relative L2", "RMSE", "largest error"):
        table.add_column(column, justify="left" if column == "field" else "right")
    for i in range(min(found.count, _SHOWN)):
        for k, name in enumerate(found.fields):
            values = (found.relative_l2[i, k], found.rmse[i, k], found.largest[i, k])
            table.add_row(str(i), name, *(f"{value:.4g}" for value in values))
    if found.count > _SHOWN:
        table.caption = f"the first {_SHOWN}; --json has all {found.count}"
    return table


def _channel(option: str, text: str) -> Any:
    """Read ``NAME`` or ``NAME@TIME``.

    Examples
    --------
    >>> _channel("--input", "u@-1"), _channel("--input", "a")
    (('u', -1), ('a', None))
    """
    name, at, index = text.partition("@")
    try:
        return (name, int(index) if at else None)
    except ValueError:
        raise ValueError(
            f"{option} {text!r}: wanted a name, or NAME@TIME with the index of a time, such as u@0"
        ) from None


def _which(text: str | None) -> int | slice | None:
    """Read ``N`` or ``START:STOP``.

    Examples
    --------
    >>> _which("10:20"), _which("5")
    (slice(10, 20, None), 5)
    """
    if text is None:
        return None
    try:
        numbers = [int(part) if part else None for part in text.split(":")]
    except ValueError:
        numbers = []
    if len(numbers) == 1 and numbers[0] is not None:
        return numbers[0]
    if len(numbers) == 2:
        return slice(*numbers)
    raise ValueError(f"--samples {text!r}: wanted a number, or START:STOP")


def _write(found: Evaluation, path: Path) -> None:
    from sciml import _atomic
    from sciml.cli.document import plain

    text = json.dumps(plain(found.to_dict()), indent=2, allow_nan=False) + "\n"
    messages().print(f"written to {_atomic.write(path, text)}", markup=False, soft_wrap=True)
