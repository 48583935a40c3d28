"""``sciml data verify``: compare a stored dataset with what was written and what is solved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sciml.cli.console import output
from sciml.cli.failure import readable


def data_verify(
    path: Annotated[Path, typer.Argument(help="Zarr store or netCDF file.")],
    samples: Annotated[
        int, typer.Option("--samples", min=0, help="Solve so many random samples again.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the choice of samples.")] = 0,
    rtol: Annotated[
        float, typer.Option("--rtol", min=0.0, help="Largest relative distance of such a sample.")
    ] = 1e-5,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Compare every variable with its checksum, and some samples with the solver.

    Exit code 0 if all agree, 2 if not.
    """
    with readable(debug):
        from pdes.data import verify

        found = verify(path, samples=samples, seed=seed, rtol=rtol)
        console = output()
        for name, checksum in found.items():
            console.print(f"{checksum[:16]}  {name}", markup=False)
        again = f", {samples} samples solved again agree" if samples else ""
        line = f"{path}: {len(found)} variables unchanged{again}"
        console.print(line, markup=False, soft_wrap=True)
