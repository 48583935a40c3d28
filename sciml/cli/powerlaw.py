"""``sciml powerlaw``: exponents, or sources, of a field given at points."""

from __future__ import annotations

import io
import json
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sciml.cli.console import messages, output
from sciml.cli.failure import check_suffix, check_target, readable

if TYPE_CHECKING:
    from sciml.cli.point_file import PointValues


class Blocks(StrEnum):
    """What a field may be made of."""

    auto = "auto"
    powers = "powers"


def powerlaw(
    file: Annotated[
        Path,
        typer.Argument(
            help="Points and values: .csv with a line of names, .npz with arrays x, y, z (or r, or "
            "points of shape (n, d)) and one of values, or a mesh with data at its points."
        ),
    ],
    value: Annotated[
        str | None, typer.Option("--value", help="Name of the values, if the file has several.")
    ] = None,
    coordinates: Annotated[
        str | None,
        typer.Option("--coordinates", help="Names of the coordinates; x,y,z or r by default."),
    ] = None,
    center: Annotated[
        str | None,
        typer.Option("--center", help="Where radii are measured from, such as 0.5,0; the origin."),
    ] = None,
    sources: Annotated[
        str | None,
        typer.Option("--sources", help="Find this many sources instead, or 'auto'."),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option("--noise", help="Standard deviation of the values; estimated by default."),
    ] = None,
    order: Annotated[str, typer.Option("--order", help="Number of exponents, or 'auto'.")] = "auto",
    blocks: Annotated[
        Blocks,
        typer.Option("--blocks", help="'powers' forbids logarithms and oscillations."),
    ] = Blocks.auto,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random starts.")] = 0,
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")
    ] = None,
    plot_path: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the result: .png, .pdf, .svg."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Find the exponents of a field about a point, or the sources of a field.

    For example: sciml powerlaw crack.csv --center 0,0 --plot exponents.png
    """
    with readable(debug):
        if plot_path is not None:
            check_suffix("--plot", plot_path, (".png", ".pdf", ".svg", ".jpg"))
            check_target("--plot", plot_path)
        if json_path is not None:
            check_target("--json", json_path)
        from sciml.cli.point_file import read_points

        names = [name.strip() for name in coordinates.split(",")] if coordinates else None
        data = read_points(file, value=value, coordinates=names)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if sources is not None:
                fit, result = _sources(data, sources, noise, seed)
            else:
                place = _numbers("--center", center, data) if center else None
                fit, result = _exponents(data, place, _count("--order", order), blocks.value,
                                         noise, seed)  # fmt: skip
        _say(data, file, fit, [str(w.message) for w in caught if w.category is UserWarning])
        if json_path is not None:
            _write(json_path, json.dumps(result, indent=2, allow_nan=False) + "\n")
        if plot_path is not None:
            _write(plot_path, _picture(fit, plot_path))


def _exponents(
    data: PointValues, center: Any, order: Any, blocks: str, noise: float | None, seed: int
) -> tuple[Any, dict[str, Any]]:
    from sciml.cli.document import plain
    from sciml.powerlaw import PowerLawFit

    radii = data.coordinates == ("r",)
    if radii and center is not None:
        raise ValueError("--center goes with points, but the file holds radii r: leave it out")
    points = data.points[:, 0] if radii else data.points
    model = PowerLawFit(order=order, blocks=blocks, center=center, random_state=seed)
    model.fit(points, data.values, noise=noise)
    return model, {
        "status": model.status_,
        "advice": list(model.advice_),
        "terms": plain(list(model.terms_)),
        "relative_residual": plain(float(model.relative_residual_)),
    }


def _sources(
    data: PointValues, sources: str, noise: float | None, seed: int
) -> tuple[Any, dict[str, Any]]:
    from sciml.cli.document import plain
    from sciml.powerlaw import fit_sources

    count = _count("--sources", sources)
    if data.coordinates == ("r",):
        raise ValueError(
            "--sources goes with points, but the file holds radii r, which do not say where a "
            "source is: give the coordinates x, y, z of the points, or name the column x if it is "
            "a coordinate on a line"
        )
    fit = fit_sources(data.points, data.values, sources=count, noise=noise, random_state=seed)
    return fit, {
        "status": fit.status,
        "advice": list(fit.advice),
        "sources": plain(fit.table()),
        "bias": plain(fit.bias),
        "noise": plain(fit.noise),
        "relative_residual": plain(fit.relative_residual),
    }


def _say(data: PointValues, file: Path, fit: Any, notes: list[str]) -> None:
    from rich.text import Text

    what = f"{len(data.values)} values of {data.name} at ({', '.join(data.coordinates)})"
    output().print(Text(f"{file.name}: {what}"))
    output().print(Text(str(fit)), soft_wrap=True)
    for note in dict.fromkeys(notes):
        messages().print(Text(f"note: {note}", style="yellow"), soft_wrap=True)


def _count(option: str, text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    try:
        return int(text)
    except ValueError:
        from pdes.tokens import closest

        hint = closest(text, ["auto"])
        raise ValueError(f"{option} {text!r}: wanted a whole number or auto.{hint}") from None


def _numbers(option: str, text: str, data: PointValues) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if len(found) != data.points.shape[1] and data.coordinates != ("r",):
        raise ValueError(
            f"{option} {text!r}: wanted {data.points.shape[1]} numbers with commas between them"
        )
    return found


def _picture(fit: Any, path: Path) -> bytes:
    import matplotlib as mpl

    mpl.use("agg")  # a command draws to a file, also where there is no display
    buffer = io.BytesIO()
    fit.plot().figure.savefig(buffer, format=path.suffix.lstrip(".").lower(), dpi=150)
    return buffer.getvalue()


def _write(path: Path, content: str | bytes) -> None:
    from sciml import _atomic

    _atomic.write(path, content)
