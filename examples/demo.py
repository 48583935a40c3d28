"""From a published recording to its equation: what `make demo` runs.

The equation is sought in the first part of the recording alone. What it predicts for the rest,
from nothing but the first frame, is then held against what was recorded.

Leaves in `demo/`: the equation as text, everything that was found as JSON, and a figure.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from rich.table import Table
from rich.text import Text

import sciml
from sciml import _atomic, datasets
from sciml.cli.console import output
from sciml.cli.document import document
from sciml.cli.evidence import print_evidence
from sciml.noise import add_noise
from sciml.plotting import plot_report
from sciml.plotting.comparison import relative_error

NAME = "kuramoto_sivashinsky"
FITTED_UNTIL = 60.0
NOISE = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5)


def main(folder: Path) -> int:
    """Find the equation, write the three files, and say whether it is the published one."""
    console = output()
    started = time.perf_counter()
    recording = datasets.load(NAME)
    known = recording.sel(time=slice(0.0, FITTED_UNTIL))
    console.rule(recording.attrs["title"])
    console.print(f"license {recording.attrs['license']}, from {recording.attrs['source']}")
    console.print(f"the fit sees the times up to {FITTED_UNTIL:g} of {float(recording.time[-1]):g}")
    console.print()

    model = sciml.discover(known)
    simulation = model.simulate(recording.isel(time=0), recording.time)

    print_evidence(model, known, [], console)
    console.print()
    held_out = {"time": slice(FITTED_UNTIL, None)}
    error = relative_error(recording.u.sel(held_out), simulation.u.sel(held_out))
    console.print(
        f"simulated from the first frame, the part that the fit never saw is met to {error:.1e} "
        "(relative L2)"
    )
    console.print()
    published = _coefficients(datasets.recipe(NAME).equation)
    console.print(_noise_table(known, published))

    figure = plot_report(
        model,
        recording,
        simulation,
        fitted_until=FITTED_UNTIL,
        title=recording.attrs["title"],
    )
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "figure.png", dpi=150)
    _atomic.write(folder / "equation.txt", "\n".join(model.equations()) + "\n")
    result = json.dumps(document(model, known, []), indent=2, allow_nan=False, ensure_ascii=False)
    _atomic.write(folder / "result.json", result + "\n")
    console.print()
    for name in ("equation.txt", "result.json", "figure.png"):
        console.print(f"written to {folder / name}", soft_wrap=True)
    console.print(f"in {time.perf_counter() - started:.1f} s")
    if set(model.terms_["u"]) != set(published):
        console.print(Text(f"This is not the published equation, {published}.", style="bold red"))
        return 1
    return 0


def _coefficients(equation: str) -> dict[str, float]:
    """Term -> coefficient of the equation that the authors of the recording solved."""
    import pdes

    return pdes.Equation.from_text(equation, name=NAME).terms()["u"]


def _noise_table(known: object, published: dict[str, float]) -> Table:
    """What is found when noise is added, and how far it is from the published equation."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("noise added", "found", "terms", "largest error of a coefficient", "identified"):
        table.add_column(name, justify="left" if name == "found" else "right", overflow="fold")
    for level in NOISE:
        model = sciml.discover(add_noise(known, level, seed=0))  # pyright: ignore
        terms = model.terms_["u"]
        right = set(terms) == set(published)
        gaps = [abs(terms[t] / published[t] - 1.0) for t in published if t in terms]
        table.add_row(
            f"{level:.0%}",
            Text(model.equations()[0]),
            Text("right", style="green") if right else Text("wrong", style="red"),
            f"{np.max(gaps):.1e}" if right else "",
            model.identifiability_["u"].verdict,
        )
    return table


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo")))
