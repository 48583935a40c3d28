"""``sciml train``: a model from a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciml.cli.console import messages, output
from sciml.cli.failure import EXIT_INTERRUPTED, check_target, readable, say

if TYPE_CHECKING:
    from sciml.training.run_recipe import Outcome


def train(
    recipe: Annotated[
        Path, typer.Argument(help="TOML file with [model], [data], [training] and [output].")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the results, instead of the recipe's."),
    ] = None,
    plot_path: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the loss: .png, .pdf, .svg."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Train a model as a recipe says, or go on where it was cut off: make the same call again.

    For example: sciml train examples/burgers_operator.toml

    On several devices: torchrun --nproc-per-node 2 --no-python sciml train RECIPE.toml
    """
    with readable(debug):
        if plot_path is not None:
            check_target("--plot", plot_path)
        from sciml.training import TrainingInterruptedError
        from sciml.training.recipe import TrainingRecipe
        from sciml.training.run_recipe import run_recipe

        wanted = TrainingRecipe.from_toml(recipe)
        place = Path(wanted.output.folder) if out is None else out
        check_target("--out" if out is not None else "[output] folder", place, folder=True)
        try:
            outcome = run_recipe(wanted, place)
        except TrainingInterruptedError as stop:
            say(f"Interrupted after step {stop.record.steps}. Make the same call again to go on.")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        if not outcome.is_main:
            return
        _show(outcome, wanted.title or wanted.model.name)
        if plot_path is not None:
            _draw(outcome.record, plot_path)


def _show(outcome: Outcome, title: str) -> None:
    console = output()
    console.print(f"{title}: {outcome.parameters} weights", markup=False, soft_wrap=True)
    console.print(str(outcome.record), markup=False, soft_wrap=True)
    if outcome.test is not None:
        from sciml.cli.evaluate import error_table

        console.print(error_table(outcome.test, "held-back samples"))
    console.print(f"model in {outcome.model}", markup=False, soft_wrap=True)


def _draw(record: Any, path: Path) -> None:
    import io

    from sciml import _atomic

    buffer = io.BytesIO()
    record.plot().figure.savefig(buffer, format=path.suffix.lstrip(".").lower() or "png", dpi=150)
    messages().print(f"written to {_atomic.write(path, buffer.getvalue())}", markup=False)
