"""One line of the validation suite: what is predicted, and how to measure it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sciml.theory.prediction import Prediction, Verdict

Tier = Literal["quick", "full"]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """What a case measured.

    Parameters
    ----------
    values
        Measured number for the name of each prediction.
    table
        Rows behind the numbers, one mapping of column to text or number each; shown in the HTML
        report.
    note
        A sentence for the reader of the report.
    figure
        Draws the Matplotlib figure of the case; called only if a report wants it.
    """

    values: Mapping[str, float]
    table: Sequence[Mapping[str, Any]] | None = None
    note: str = ""
    figure: Callable[[], Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """One line of the validation suite.

    Parameters
    ----------
    name
        Short name in lower-case letters, digits, ``.``, ``_`` and ``-``. The suite puts the name
        of the file before it: case ``heat`` of ``solvers.py`` is known as ``solvers/heat``.
    run
        Measures; takes nothing and returns `Measurements` or a mapping of prediction name to
        number.
    predictions
        What is predicted for each number, made before measuring. At least one.
    tier
        ``"quick"`` for cases of a few seconds, run on every change; ``"full"`` for the long tables.
    title
        A few words for people; the name if left out.
    description
        What is measured and why the prediction should hold.

    Raises
    ------
    ValueError
        For a name outside these letters, an unknown tier, no predictions, or two of one name.

    Examples
    --------
    >>> case = Case(
    ...     name="pi",
    ...     run=lambda: {"pi": 3.14},
    ...     predictions=(Prediction(name="pi", value=3.14159265, kind="equals", rtol=1e-3),),
    ... )
    >>> [verdict.passed for verdict in case.judge(case.run())]
    [True]
    """

    name: str
    run: Callable[[], Measurements | Mapping[str, float]]
    predictions: tuple[Prediction, ...]
    tier: Tier = "quick"
    title: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"name of a Case is {self.name!r}: use lower-case letters, digits, '.', '_' and "
                "'-' (the name of its file is put before it)"
            )
        if self.tier not in get_args(Tier):
            raise ValueError(
                f"tier of case {self.name!r} is {self.tier!r}: it must be quick or full"
            )
        object.__setattr__(self, "predictions", tuple(self.predictions))
        names = [prediction.name for prediction in self.predictions]
        if not names:
            raise ValueError(
                f"case {self.name!r} predicts nothing: give it at least one Prediction"
            )
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"case {self.name!r} has two predictions named {', '.join(twice)}")

    def judge(self, measured: Measurements | Mapping[str, float]) -> tuple[Verdict, ...]:
        """Hold every measurement against its prediction.

        Returns
        -------
        tuple of Verdict
            In the order of the predictions.

        Raises
        ------
        ValueError
            If a prediction was not measured, or something was measured that nobody predicted.
        """
        values = as_measurements(measured).values
        wanted = {prediction.name for prediction in self.predictions}
        missing, unknown = sorted(wanted - set(values)), sorted(set(values) - wanted)
        if missing or unknown:
            raise ValueError(
                f"case {self.name!r} measured {sorted(values)} but predicts {sorted(wanted)}: "
                f"not measured: {missing or 'none'}; not predicted: {unknown or 'none'}"
            )
        return tuple(prediction.judge(values[prediction.name]) for prediction in self.predictions)


def as_measurements(measured: Measurements | Mapping[str, float]) -> Measurements:
    """Return `Measurements`, made of a plain mapping if need be."""
    if isinstance(measured, Measurements):
        return measured
    if isinstance(measured, Mapping):
        return Measurements(values=measured)
    raise TypeError(
        f"a case returned {type(measured).__name__}: it must return Measurements or a mapping of "
        "prediction name to number"
    )
