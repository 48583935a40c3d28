"""``sciml discover``: from a file to the equation behind it."""

from __future__ import annotations

import json
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sciml.cli.console import messages, output
from sciml.cli.failure import check_suffix, check_target, readable

if TYPE_CHECKING:
    import xarray as xr


class Estimator(StrEnum):
    """How the terms are chosen."""

    whitened = "whitened"
    eqod = "eqod"


def discover(
    file: Annotated[Path, typer.Argument(help=".mat, .npz, .npy, .nc, .h5, .zarr or .csv.")],
    field: Annotated[
        list[str] | None,
        typer.Option("--field", help="Variable with the field; repeat for a system."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", help="Variable with the times, or START:STOP:POINTS."),
    ] = None,
    space: Annotated[
        list[str] | None,
        typer.Option(
            "--space",
            help="Variable with the positions, or START:STOP:POINTS; repeat for more axes.",
        ),
    ] = None,
    axes: Annotated[
        str | None, typer.Option("--axes", help="Order of the array's axes, such as x,t.")
    ] = None,
    estimator: Annotated[
        Estimator, typer.Option("--estimator", help="How the terms are chosen.")
    ] = Estimator.whitened,
    noise: Annotated[
        float, typer.Option("--noise", help="Add noise first: 0.1 is 10 % of each field's spread.")
    ] = 0.0,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seed of the noise and of the method.")
    ] = 0,
    terms: Annotated[
        list[str] | None,
        typer.Option("--terms", help="Further library term, such as u_x/x; repeat for several."),
    ] = None,
    periodic: Annotated[
        list[str] | None, typer.Option("--periodic", help="Axis that wraps around; repeatable.")
    ] = None,
    time_order: Annotated[
        int,
        typer.Option(
            "--time-order", min=1, max=2, help="2 for u_tt = ..., such as waves; 1 for u_t = ..."
        ),
    ] = 1,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")
    ] = None,
    plot_path: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the evidence: .png, .pdf, .svg."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Find the differential equation behind a recording, and say how sure it is.

    For example: sciml discover burgers.mat --noise 0.05 --json found.json --plot found.png
    """
    with readable(debug):
        if plot_path is not None:
            check_suffix("--plot", plot_path, (".png", ".pdf", ".svg", ".jpg"))
            check_target("--plot", plot_path)
        if json_path is not None:
            check_target("--json", json_path)
        parameters = _order_in_time(time_order, estimator)
        from sciml.cli.document import document
        from sciml.cli.evidence import print_evidence

        data = read(file, field=field, time=time, space=space, axes=axes, periodic=periodic)
        data = _with_noise(data, noise, seed)
        model, notes = fit(data, terms=terms, estimator=estimator.value, seed=seed, **parameters)
        print_evidence(model, data, notes, output())
        if json_path is not None:
            result = document(model, data, notes)
            _write(
                json_path, json.dumps(result, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
            )
        if plot_path is not None:
            _write(plot_path, _picture(model, data, plot_path))


def read(
    file: Path,
    *,
    field: list[str] | None = None,
    time: str | None = None,
    space: list[str] | None = None,
    axes: str | None = None,
    periodic: list[str] | None = None,
) -> xr.Dataset:
    """Read a recording as the options of the command say."""
    from pdes.data import DataError
    from pdes.data import read as read_file

    try:
        data = read_file(
            file,
            field=_one_or_list(field),
            time=None if time is None else axis_values(time),
            space=_one_or_list([axis_values(text) for text in space or []]),
            axes=tuple(name.strip() for name in axes.split(",")) if axes else None,
        )
    except DataError as error:
        # The message speaks of arguments in Python; the options have the same names.
        hint = "On the command line: --field, --time, --space and --axes, see --help."
        raise type(error)(f"{error}\n{hint}") from error
    for axis in periodic or []:
        if axis not in data.dims or axis in ("time", "sample"):
            known = [str(name) for name in data.dims if name not in ("time", "sample")]
            raise ValueError(f"--periodic {axis!r} is no space axis of {file.name}: it has {known}")
        data = data.assign_coords({axis: data[axis].assign_attrs(periodic=1)})
    return data


def fit(
    data: xr.Dataset, *, terms: list[str] | None, estimator: str, seed: int, **parameters: Any
) -> tuple[Any, list[str]]:
    """Fit, and collect the warnings that are meant for the user."""
    import sciml

    library = sciml.Library(extra=tuple(terms)) if terms else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sciml.discover(
            data, library=library, estimator=estimator, random_state=seed, **parameters
        )
    # Numerical libraries warn in other categories, about things that a user cannot act on.
    notes = [str(item.message) for item in caught if issubclass(item.category, UserWarning)]
    return model, list(dict.fromkeys(notes))


def _order_in_time(order: int, estimator: Estimator) -> dict[str, int]:
    if order == 1:
        return {}  # what every estimator does by itself
    if estimator is not Estimator.whitened:
        raise ValueError(
            f"--time-order {order} does not go with --estimator {estimator.value}, which finds "
            "u_t = ... only: use --estimator whitened"
        )
    return {"time_order": order}


def _with_noise(data: xr.Dataset, level: float, seed: int) -> xr.Dataset:
    from sciml.noise import add_noise

    noisy = add_noise(data, level, seed)
    if level > 0.0:
        noisy.attrs.update(noise_added=level, noise_seed=seed)
    return noisy


def axis_values(text: str) -> Any:
    """Return the name of a variable as it is, and ``START:STOP:POINTS`` as evenly spaced values.

    Examples
    --------
    >>> axis_values("x")
    'x'
    >>> axis_values("1:2:5")
    array([1.  , 1.25, 1.5 , 1.75, 2.  ])
    """
    import numpy as np

    if ":" not in text:
        return text
    try:
        start, stop, points = text.split(":")
        with np.errstate(invalid="ignore"):  # infinite ends are refused below
            values = np.linspace(float(start), float(stop), int(points))
    except ValueError:
        values = np.empty(0)
    if len(values) < 2 or not np.isfinite(values).all():
        raise ValueError(
            f"{text!r} is neither the name of a variable nor START:STOP:POINTS, such as 0:1:101 "
            "for 101 values from 0 to 1, both included"
        )
    return values


def _one_or_list(items: list[Any] | None) -> Any:
    return items[0] if items and len(items) == 1 else items or None


def _picture(model: Any, data: xr.Dataset, path: Path) -> bytes:
    import io

    import matplotlib as mpl

    mpl.use("agg")  # a command draws to a file, also where there is no display
    figure = _report(model, data)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lstrip(".").lower(), dpi=150)
    return buffer.getvalue()


def _report(model: Any, data: xr.Dataset) -> Any:
    """Data, what the equation predicts from their first frame, and the evidence."""
    from sciml.plotting import plot_report

    if "sample" in data.dims or len(model.coordinates_) > 2:
        return model.plot()[0].figure
    simulation = _simulation(model, data) if all(model.adequate_.values()) else None
    return plot_report(model, data, simulation, title=str(data.attrs.get("source_file", "")))


def _simulation(model: Any, data: xr.Dataset) -> Any:
    """The found equation from the first frame: periodic if the ends meet, else between them."""
    first, times = data.isel(time=0), data["time"].values
    with warnings.catch_warnings():
        # a noisy first frame is never smooth; the figure shows how far it carries
        warnings.simplefilter("ignore")
        for options in ({}, {"boundary": data}):
            try:
                return model.simulate(first, times, **options)
            except (ValueError, RuntimeError) as error:
                reason = error
    messages().print(f"no simulation in the figure: {reason}", markup=False)
    return None


def _write(path: Path, content: str | bytes) -> None:
    from sciml import _atomic

    messages().print(f"written to {_atomic.write(path, content)}", markup=False, soft_wrap=True)
