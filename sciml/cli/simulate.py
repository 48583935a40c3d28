"""``sciml simulate``: data of a problem in the registry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciml.cli.console import output, sizes_text
from sciml.cli.failure import check_suffix, check_target, readable, said_warnings

if TYPE_CHECKING:
    import xarray as xr


def simulate(
    name: Annotated[str, typer.Argument(help="Problem, see `sciml list`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .nc or .zarr.")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Parameter of the problem, see `sciml list NAME`; repeat for several.",
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", min=1, help="Number of runs; one if left out.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", min=0, help="Seed of the initial fields; the problem's own if left out."
        ),
    ] = None,
    in_time: Annotated[
        bool, typer.Option("--in-time", help="Follow a steady problem in time, if that is known.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that is there.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Simulate a problem, or solve a steady one, and write the result.

    For example: sciml simulate burgers --set viscosity=0.2 --out burgers.nc
    """
    with readable(debug):
        check_suffix("--out", out, (".nc", ".zarr"))
        check_target("--out", out, folder=out.suffix.lower() == ".zarr")
        if out.exists() and not overwrite:
            raise ValueError(
                f"--out {out} exists: choose another name, or replace it (--overwrite)"
            )
        import pdes

        with said_warnings():
            problem = pdes.get(name, **built(parse_settings(settings or [])))
            dataset, equation = _computed(problem, samples, seed, in_time)
        pdes.save(dataset, out)
        console = output()
        console.print(equation, markup=False, soft_wrap=True)
        sizes = sizes_text(dataset.sizes)
        console.print(f"{sizes}, status {dataset.attrs['status']}", markup=False)
        console.print(f"written to {out}", markup=False, soft_wrap=True)


def _computed(
    problem: Any, samples: int | None, seed: int | None, in_time: bool
) -> tuple[xr.Dataset, str]:
    """Fields of a problem, and its equation in a few words."""
    import pdes
    from pdes.registry import entry_of
    from pdes.steady import SteadyProblem
    from sciml.cli.list_problems import statement

    if not isinstance(problem, SteadyProblem):
        return pdes.simulate(problem, samples=samples, seed=seed), str(problem.equation)
    for option, value in (("--samples", samples), ("--seed", seed)):
        if value is not None:
            raise ValueError(
                f"{option} {value} does not apply: {problem.name} is steady, and has one solution "
                "for its data; leave it out, and change the data with --set"
            )
    about = statement(problem, entry_of(problem.name).build.__doc__)
    return pdes.simulate(problem) if in_time else pdes.solve(problem), about


def built(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with the grid and the initial field made of what is written in JSON.

    Examples
    --------
    >>> built({"grid": {"x": [0.0, 1.0, 64]}})["grid"].shape
    (64,)
    """
    from pdes.data.recipe import build_family, build_grid

    found = dict(settings)
    for key, build, example in (
        ("grid", build_grid, '{"x": [0, 6.28, 128]}'),
        ("initial", build_family, '{"family": "RandomFourier", "modes": 4}'),
    ):
        if key not in found:
            continue
        if not isinstance(found[key], dict):
            raise ValueError(f"--set {key}={found[key]}: wanted JSON such as {key}='{example}'")
        found[key] = build(found[key])
    return found


def parse_settings(settings: list[str]) -> dict[str, Any]:
    """Return ``NAME=VALUE`` texts as a mapping; numbers and lists are read as JSON.

    Examples
    --------
    >>> parse_settings(["viscosity=0.2", "solver=etdrk4"])
    {'viscosity': 0.2, 'solver': 'etdrk4'}
    """
    values: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key = key.strip()
        if not equals or not key.isidentifier():
            raise ValueError(f"--set {setting!r}: wanted NAME=VALUE, such as --set viscosity=0.2")
        if key in values:
            raise ValueError(f"--set gives {key!r} twice: give it once")
        try:
            values[key] = json.loads(text)
        except json.JSONDecodeError:
            values[key] = text
    return values
