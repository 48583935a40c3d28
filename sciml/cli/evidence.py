"""The result of ``sciml discover`` as tables for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from sciml.cli.console import sizes_text

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import Console

_TERMS_OF_A_RIVAL = 5

_STYLES = {"identified": "bold green", "weak": "bold yellow", "ambiguous": "bold red"}
_MEANING = {
    "identified": "every equation without one of its terms fits clearly worse",
    "weak": "another equation of about the same size fits only a little worse",
    "ambiguous": "another equation of about the same size fits as well: these data cannot decide",
    "unknown": "this method compares no rival equations",
}


def print_evidence(model: Any, data: xr.Dataset, notes: list[str], console: Console) -> None:
    """Print what was found and how sure it is.

    Parameters
    ----------
    model
        Fitted estimator of `sciml.discover`.
    data
        The recording that it was fitted to.
    notes
        Warnings for the user.
    console
        Where to print.
    """
    from pdes.data import assumptions

    _print_data(data, assumptions(data), console)
    console.print()
    for line in model.equations():
        console.print(Text(line, style="bold"), soft_wrap=True)
    for target in model.terms_:
        console.print()
        _print_field(model, target, console)
    console.print()
    console.print(_noise_line(model, data))
    for note in notes:
        console.print(Text(f"Note: {note}", style="yellow"), soft_wrap=True)


def _print_data(data: xr.Dataset, assumed: list[str], console: Console) -> None:
    fields = ", ".join(str(name) for name in data.data_vars)
    source = data.attrs.get("source_file", "recording")
    added = data.attrs.get("noise_added", 0.0)
    extra = f", with {added:.3g} of each field's spread added as noise" if added else ""
    console.print(Text(f"{source}: {fields} over {sizes_text(data.sizes)}{extra}"), soft_wrap=True)
    for sentence in assumed:
        console.print(Text(f"  {sentence}", style="dim"), soft_wrap=True)


def _print_field(model: Any, target: str, console: Console) -> None:
    console.print(_terms_table(model.terms_[target], model.standard_errors_[target], target))
    console.print(_fit_line(model, target), soft_wrap=True)
    if not model.terms_[target]:
        return
    identifiability = model.identifiability_[target]
    word = identifiability.verdict
    line = Text(word, style=_STYLES.get(word, "bold"))
    console.print(
        line.append(f": {_MEANING[word]}", style="not bold") if word in _MEANING else line
    )
    if model.rivals_.get(target):
        console.print()
        console.print(_rivals_table(model.rivals_[target], target))
    tests = model.symmetry_[target].tests if target in model.symmetry_ else {}
    if tests:
        console.print()
        console.print(_symmetry_table(tests))


def _terms_table(terms: Mapping[str, Any], errors: Mapping[str, Any], target: str) -> Table:
    table = _table(f"{target}_t", ("coefficient", "standard error", "in standard errors"))
    for term, coefficient in terms.items():
        error = float(errors[term])
        strength = abs(coefficient) / error if error > 0 else np.inf
        table.add_row(Text(term), f"{coefficient:+.5g}", f"{error:.2g}", f"{strength:.3g}")
    if not terms:
        table.add_row(Text("no term"), "", "", "")
    return table


def _fit_line(model: Any, target: str) -> Text:
    terms = model.terms_[target]
    if not terms:
        return Text("no term of the library explains the data", style="red")
    from sciml.discovery.whitened_fit import largest_chi2

    chi2 = float(model.chi2_[target])
    # The limit that the fit itself judges by, so that words and evidence agree.
    limit = largest_chi2(max(1, model.n_rows_ - len(terms)))
    lead = f"chi2/n = {chi2:.3g}: "
    if not model.adequate_[target]:
        why = (
            "more is left over than noise or the grid explain; the equation probably needs "
            "something outside the library"
            if chi2 > limit
            else "the equation does not explain the data, as the notes say"
        )
        return Text(lead + why, style="red")
    if chi2 > limit:
        return Text(
            f"{lead}a little more is left over than white noise explains; the standard errors are "
            "widened for it",
            style="yellow",
        )
    if chi2 < 2.0 - limit:
        return Text(f"{lead}less is left over than noise or the grid explain")
    return Text(f"{lead}what is left over looks like the noise, as it should")


def _rivals_table(rivals: Any, target: str) -> Table:
    table = _table("without", ("residual", "best equation without it"))
    table.columns[2].justify = "left"
    for rival in rivals:
        table.add_row(
            Text(str(rival["without"])),
            Text(f"{float(rival['ratio']):.3g} times", style=_STYLES.get(rival["verdict"], "")),
            Text(f"{target}_t = {_right_side(rival['terms'])}"),
        )
    return table


def _right_side(terms: Mapping[str, Any]) -> str:
    pieces = [
        f"{'-' if value < 0 else '+'} {abs(value):.4g}" + ("" if term == "1" else f"*{term}")
        for term, value in terms.items()
    ]
    text = " ".join(pieces[:_TERMS_OF_A_RIVAL]).removeprefix("+ ") or "0"
    if text.startswith("- "):
        text = "-" + text[2:]
    hidden = len(pieces) - _TERMS_OF_A_RIVAL
    return text if hidden <= 0 else f"{text} + ... ({hidden} more)"


def _symmetry_table(tests: Mapping[str, Any]) -> Table:
    table = _table("symmetry", ("F", "", "meaning"))
    table.columns[2].justify = table.columns[3].justify = "left"
    for name, test in tests.items():
        word = Text("compatible", style="green") if test.holds else Text("ruled out", style="red")
        table.add_row(
            name.replace("_", " "), f"{float(test.statistic):.3g}", word, Text(test.meaning)
        )
    return table


def _noise_line(model: Any, data: xr.Dataset) -> Text:
    parts = []
    scales = getattr(model, "field_scale_", {})
    for name, noise in model.noise_estimate_.items():
        spread = scales.get(name) or (float(data[name].std()) if name in data else 0.0)
        share = f" ({float(noise) / spread:.2g} of its spread)" if spread else ""
        parts.append(f"{name} {float(noise):.3g}{share}")
    return Text("noise found: " + ", ".join(parts))


def _table(first: str, others: tuple[str, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", overflow="fold")
    return table
