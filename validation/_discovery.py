"""What the discovery cases share: recordings, noise, one trial, and tables of trials."""

from __future__ import annotations

import functools
import os
import unittest
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

    from pdes import Equation, Problem
    from sciml.discovery.whitened_fit import EquationFit

BENCHMARK = (
    "heat",
    "advection_diffusion",
    "burgers",
    "kdv",
    "kuramoto_sivashinsky",
    "fisher_kpp",
    "allen_cahn",
    "kdv_burgers",
)
"""Problems of the benchmark; the position is the second number that seeds the noise."""

SECOND_TIER = (
    "advection",
    "heat_two_modes",
    "burgers_steepening",
    "gardner",
    "mkdv",
    "cahn_hilliard",
    "swift_hohenberg",
    "nagumo",
    "fisher_spreading",
)
"""Equations and fields beyond the benchmark that data can decide."""

UNDECIDABLE = ("heat_one_mode", "kdv_soliton", "burgers_shock", "fisher_front")
"""One mode, and waves that move without changing: other equations have the same solution."""

LEVELS = (0.0, 0.01, 0.05, 0.1, 0.2)
"""Standard deviation of the noise relative to that of the field over the whole recording."""


def index_of(problem: str) -> int:
    """Second number of the noise seed."""
    return (*BENCHMARK, *SECOND_TIER, *UNDECIDABLE).index(problem)


@functools.cache
def problem_of(name: str) -> Problem:
    """A registered problem, or one of two whose fields are not in the registry."""
    import sympy

    import pdes
    from pdes.equation import coordinate
    from pdes.initial import FromExpression

    x = coordinate("x")
    if name == "burgers_steepening":
        wave = FromExpression({"u": sympy.sin(x) + sympy.Rational(1, 2)})
        return pdes.get("burgers", viscosity=0.03, initial=wave, times=np.linspace(0, 3, 201))
    if name == "fisher_spreading":
        hump = FromExpression({"u": sympy.exp(-((x - 4 * sympy.pi) ** 2))})
        wide = pdes.Grid.periodic(x=(0.0, 8 * np.pi, 512))
        return pdes.get("fisher_kpp", grid=wide, initial=hump, times=np.linspace(0, 10, 201))
    return pdes.get(name)


@functools.cache
def recording(problem: str, every: int = 1) -> xr.DataArray:
    """Field of a problem without noise, or every n-th point of it in space and time."""
    import pdes

    field_ = pdes.simulate(problem_of(problem)).u
    return field_.isel(time=slice(None, None, every), x=slice(None, None, every))


def noisy(clean: xr.DataArray, level: float, seed: Sequence[int], scale: float = 0.0) -> Any:
    """A field with white noise of ``level`` times ``scale``, by default its standard deviation."""
    if not level:
        return clean
    noise = np.random.default_rng(list(seed)).normal(size=clean.shape)
    return clean.copy(data=clean.values + level * (scale or float(clean.std())) * noise)


def true_support(equation: Equation, library: Any = None) -> dict[str, tuple[str, ...]]:
    """Terms of a library that an equation is made of, by field.

    Raises
    ------
    ValueError
        If the equation is not in the library's span.
    """
    from sciml.discovery.library import resolve_library
    from sciml.discovery.terms import expand_feature

    fields, space = tuple(equation.fields), tuple(equation.coordinates)
    features = resolve_library(library).features(fields, space)
    expansions = [expand_feature(feature, fields) for feature in features]
    out = {}
    for name, terms in equation.terms().items():
        basis = sorted({*terms, *(term for item in expansions for term in item)})
        matrix = np.array([[item.get(term, 0.0) for item in expansions] for term in basis])
        wanted = np.array([float(np.real(terms.get(term, 0.0))) for term in basis])
        weights = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
        if np.abs(matrix @ weights - wanted).max() > 1e-9 * np.abs(wanted).max():
            raise ValueError(f"{equation.name}: {name}_t is not in the span of the library")
        chosen = np.abs(weights) > 1e-9 * np.abs(weights).max()
        out[name] = tuple(f.name for f, kept in zip(features, chosen, strict=True) if kept)
    return out


@dataclass(frozen=True)
class Trial:
    """One fit held against the truth.

    Attributes
    ----------
    f1 : float
        Score of the support, in terms of the library.
    error : float
        Largest relative error of a coefficient of the expanded equation.
    chi2 : float
    adequate : bool
        Whether the estimator said that its equation explains the data.
    verdict : str
        How well the equation is identified.
    ratio : float
        Residual of the best rival over that of the equation.
    gate : float
        Galilean statistic; NaN if there was no such test.
    gate_open : bool
        Whether the estimator counts the data as compatible with Galilean invariance.
    deviations : tuple of float
        Errors of the coefficients in standard errors, where the support is right.
    notices : tuple of str
    support : dict of str to tuple of str
    """

    f1: float
    error: float
    chi2: float
    adequate: bool
    verdict: str
    ratio: float
    gate: float
    gate_open: bool
    deviations: tuple[float, ...]
    notices: tuple[str, ...]
    support: dict[str, tuple[str, ...]]


def hold_against(model: Any, equation: Equation, library: Any = None) -> Trial:
    """Score a fitted estimator by the equation that made the data."""
    from sciml.metrics import coefficient_error, support_f1

    true = true_support(equation, library)
    coefficients = {name: dict(terms) for name, terms in equation.terms().items()}
    found = model.terms_
    right = {name: set(terms) for name, terms in model.support_.items()} == {
        name: set(terms) for name, terms in true.items()
    }
    deviations = tuple(
        (found[name][term] - value) / max(model.standard_errors_[name][term], 1e-300)
        for name, terms in coefficients.items()
        for term, value in terms.items()
        if right
    )
    tests = [report.tests.get("galilean") for report in model.symmetry_.values()]
    evidence = min(model.identifiability_.values(), key=lambda item: item.ratio)
    return Trial(
        f1=support_f1(model.support_, true),
        error=coefficient_error(found, coefficients),
        chi2=float(np.mean(list(model.chi2_.values()))),
        adequate=all(model.adequate_.values()),
        verdict=evidence.verdict,
        ratio=evidence.ratio,
        gate_open=all(report.gate_open for report in model.symmetry_.values()),
        gate=max((test.statistic for test in tests if test), default=float("nan")),
        deviations=deviations,
        notices=tuple(n for notices in model.notices_.values() for n in notices),
        support=dict(model.support_),
    )


def fit(data: Any, **options: Any) -> Any:
    """Fit without the notices as warnings: they are looked at in the result."""
    import sciml
    from sciml.discovery import DiscoveryWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscoveryWarning)
        return sciml.discover(data, **options)


@functools.cache
def trial(
    problem: str, level: float, seed: int, every: int = 1, periodic: bool | None = None
) -> Trial:
    """The default estimator on a problem with noise of the given level.

    Whether the axis wraps around is read off the recording unless told.
    """
    data = noisy(recording(problem, every), level, (seed, index_of(problem)))
    return hold_against(fit(data, periodic=periodic), problem_of(problem).equation)


def engine(data: Any, library: Any = None) -> EquationFit:
    """The whitened fit behind the default estimator, with its regression."""
    from sciml.discovery.library import resolve_library
    from sciml.discovery.recording import as_recordings
    from sciml.discovery.weak_form import WeakForm
    from sciml.discovery.whitened_fit import Assembled, whitened_best_subset

    runs = as_recordings(data)
    features = resolve_library(library).features(tuple(runs[0].fields), runs[0].space)
    weak = [WeakForm(run, features) for run in runs]
    target = next(iter(runs[0].fields))
    return whitened_best_subset(Assembled(weak, target, [w.matrix() for w in weak]), 5)


@dataclass
class Cells:
    """Mean and spread of a score over seeds, for every problem and noise level."""

    scores: dict[tuple[str, float], list[float]] = field(default_factory=dict)

    def add(self, problem: str, level: float, score: float) -> None:
        """Add the score of one seed."""
        self.scores.setdefault((problem, level), []).append(score)

    @property
    def perfect(self) -> int:
        """Number of cells in which every seed scored 1."""
        return sum(min(values) == 1.0 for values in self.scores.values())

    @property
    def lowest(self) -> float:
        """Smallest mean."""
        return min(float(np.mean(values)) for values in self.scores.values())

    def mean(self, problem: str, level: float) -> float:
        """Mean over seeds."""
        return float(np.mean(self.scores[problem, level]))

    def rows(self) -> list[dict[str, Any]]:
        """One row for each problem, one column for each noise level."""
        problems = dict.fromkeys(problem for problem, _ in self.scores)
        levels = dict.fromkeys(level for _, level in self.scores)
        return [
            {"problem": problem} | {percent(level): self._cell(problem, level) for level in levels}
            for problem in problems
        ]

    def _cell(self, problem: str, level: float) -> str:
        values = self.scores.get((problem, level))
        return "" if values is None else f"{np.mean(values):.3f} +- {np.std(values):.3f}"


def percent(level: float) -> str:
    """Noise level for people.

    Examples
    --------
    >>> percent(0.05)
    '5 %'
    """
    return f"{100 * level:g} %"


def cells_of(
    problems: Iterable[str], levels: Iterable[float], seeds: Iterable[int], every: int = 1
) -> Cells:
    """F1 of the default estimator."""
    cells = Cells()
    chosen = tuple(levels)
    for problem in problems:
        for level in chosen:
            for seed in seeds if level else [0]:  # without noise all seeds are the same
                cells.add(problem, level, trial(problem, level, seed, every).f1)
    return cells


def public_recordings(folder: str = "equation_discovery") -> Path:
    """Folder of public recordings that are too large to ship, or a skip that says why.

    They are looked for in ``$SCIML_PUBLIC_DATA``, else in ``../shared/data`` beside the sources.
    """
    told = os.environ.get("SCIML_PUBLIC_DATA")
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = (Path(told) if told else beside) / folder
    if not path.is_dir():
        raise unittest.SkipTest(
            f"the public recordings are not at {path}: set SCIML_PUBLIC_DATA to the folder that "
            f"holds {folder!r}"
        )
    return path


def by_level(values: Mapping[float, Sequence[float]], digits: int = 3) -> dict[str, str]:
    """Mean of each noise level, as columns of a table."""
    return {percent(k): f"{np.mean(v):.{digits}g}" for k, v in values.items()}
