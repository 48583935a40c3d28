"""``sciml propagate``: fields moved by a learned or traced propagator, with an error bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciml.cli.console import messages, output
from sciml.cli.failure import (
    EXIT_INTERRUPTED,
    check_suffix,
    check_target,
    readable,
    said_warnings,
    say,
)

if TYPE_CHECKING:
    from sciml.propagators.recipe import Propagated


def propagate(
    recipe: Annotated[
        Path,
        typer.Argument(
            help="TOML file with [equation], [domain], [propagator], [[initial]] and [output]."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the results, instead of the recipe's."),
    ] = None,
    plot_path: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the first field: .png, .pdf, .svg."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Train the rule that moves a field, move fields with it, and bound the error.

    For example: sciml propagate examples/advection_propagator.toml
    """
    with readable(debug):
        if plot_path is not None:
            check_suffix("--plot", plot_path, (".png", ".pdf", ".svg", ".jpg"))
            check_target("--plot", plot_path)
        from sciml.propagators.recipe import PropagationRecipe, run_propagation
        from sciml.training import TrainingInterruptedError

        wanted = PropagationRecipe.from_toml(recipe)
        place = Path(wanted.output["folder"]) if out is None else out
        check_target("--out" if out is not None else "[output] folder", place, folder=True)
        try:
            with said_warnings():
                found = run_propagation(wanted, place)
        except TrainingInterruptedError as stop:
            say(f"Interrupted after step {stop.record.steps}. Make the same call again to go on.")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        _show(found, wanted.title)
        if plot_path is not None:
            _draw(found, plot_path)


def _show(found: Propagated, title: str) -> None:
    console = output()
    name = type(found.propagator).__name__
    console.print(title or f"{found.propagator.symbols.equation}", markup=False, soft_wrap=True)
    weights = sum(p.numel() for p in found.propagator.parameters())
    kind = f"{name}, {found.propagator.kind}" + (f", {weights} weights" if weights else "")
    console.print(kind, markup=False)
    for record in getattr(found.propagator, "records", []):
        console.print(str(record).splitlines()[0], markup=False, soft_wrap=True)
    floors = ", ".join(f"{value:.4g}" for value in found.fields.attrs["floor"])
    console.print(f"cut by the window: {floors} of the field", markup=False, soft_wrap=True)
    if found.certificate is not None:
        console.print(str(found.certificate), markup=False, soft_wrap=True)
    console.print(f"fields in {found.file}", markup=False, soft_wrap=True)


def _draw(found: Propagated, path: Path) -> None:
    import io

    import numpy as np
    from matplotlib.figure import Figure

    from sciml import _atomic

    field: Any = found.fields[next(iter(found.fields.data_vars))].isel(sample=0)
    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    ax = figure.add_subplot()
    values = np.real(field.values)
    if values.ndim == 2:
        axis = field.dims[-1]
        for t, row in zip(field.time.values, values, strict=True):
            ax.plot(field[axis].values, row, lw=1.2, label=f"t = {t:.3g}")
        ax.set(xlabel=str(axis), ylabel=str(field.name))
        ax.legend(frameon=False)
    else:
        first, second = field.dims[1:]
        image = ax.pcolormesh(field[first].values, field[second].values, values[-1].T)
        ax.set(xlabel=str(first), ylabel=str(second), title=f"t = {float(field.time[-1]):.3g}")
        figure.colorbar(image)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lstrip(".").lower(), dpi=150)
    messages().print(f"written to {_atomic.write(path, buffer.getvalue())}", markup=False)
