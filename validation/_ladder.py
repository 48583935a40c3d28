"""A registry entry on finer and finer grids: slope of the error, error and invariant drift."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import pdes
from pdes.exact.closed_form import ClosedForm
from pdes.grid import Axis, Grid
from pdes.invariant import drift
from pdes.solvers.cell_sides import cell_grid
from sciml.metrics import observed_order
from sciml.theory import Prediction
from sciml.validation import Case, Measurements


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """One entry on grids of several sizes.

    Parameters
    ----------
    entry : str
        Name in the registry, with `parameters`.
    sizes : sequence of int
        Intervals, or cells, along each axis.
    stop : float
        Time run.
    order : float
        Predicted slope of the error against the spacing.
    source : str
        Why.
    step : callable, optional
        Time step from the number of intervals; the solver's own without.
    solver : str, optional
        Instead of the entry's own.
    norm : {"mean", "max"}
        Of the error at the end.
    solution : callable, optional
        Another closed form to start from: ``solution(equation)``.
    atol : float, optional
        How far the slope may fall below; 0.15 without.
    """

    entry: str
    sizes: Sequence[int]
    stop: float
    order: float
    source: str
    parameters: dict[str, float] = dataclasses.field(default_factory=dict)
    step: Callable[[int], float] | None = None
    solver: str | None = None
    norm: Literal["mean", "max"] = "max"
    solution: Callable[[Any], ClosedForm] | None = None
    atol: float | None = None

    @property
    def label(self) -> str:
        """Entry, parameters and solver."""
        values = ", ".join(f"{k}={v:g}" for k, v in self.parameters.items())
        named = f"{self.entry}({values})" if values else self.entry
        return f"{named}, {self.used}"

    @property
    def used(self) -> str:
        """Name of the solver."""
        return self.solver or pdes.get(self.entry, **self.parameters).solver

    @property
    def prediction(self) -> Prediction:
        """The slope, as a prediction."""
        return Prediction(
            name=f"order, {self.label}",
            value=self.order,
            kind="order",
            atol=self.atol,
            source=self.source,
        )

    def problem(self, size: int) -> pdes.Problem:
        """The entry with this many intervals."""
        problem = pdes.get(self.entry, **self.parameters, stored_points=None)
        axes = [self._axis(axis, size, problem.solver) for axis in problem.grid.axes]
        problem = dataclasses.replace(problem, grid=Grid(tuple(axes)))
        if self.solution is not None:
            solution = self.solution(problem.equation)
            problem = dataclasses.replace(
                problem,
                # A manufactured one brings an equation with a source; balances are not its own.
                equation=solution.equation,
                invariants=problem.invariants if solution.equation is problem.equation else (),
                initial=solution.initial,
                exact={solution.name: solution},
                exact_name=solution.name,
            )
        if self.solver is not None:
            problem = dataclasses.replace(problem, solver=self.solver)
        return problem

    def measure(self) -> tuple[float, dict[str, Any]]:
        """Slope of the error, and the row of the table."""
        errors = [self._error(size) for size in self.sizes]
        slope = observed_order([1.0 / size for size in self.sizes], errors)
        return slope, {
            "entry": self.entry,
            **{"parameters": ", ".join(f"{k}={v:g}" for k, v in self.parameters.items())},
            "solver": self.used,
            "grids": ", ".join(map(str, self.sizes)),
            "predicted order": self.order,
            "measured order": slope,
            f"error ({self.norm})": errors[-1],
            "invariant drift": self._drifts(self.sizes[-1]),
        }

    def _error(self, size: int) -> float:
        problem = self.problem(size)
        solution = problem.exact[str(problem.exact_name)]
        # Output at the end only, so that no other time cuts the steps short.
        end = [problem.initial_time + self.stop]
        step = None if self.step is None else self.step(size)
        data = pdes.simulate(problem, end, time_step=step)
        total = np.mean if self.norm == "mean" else np.max
        wanted = solution.evaluate(problem.grid, end)
        return max(float(total(np.abs(data[n].values - v))) for n, v in wanted.items())

    def _drifts(self, size: int) -> str:
        problem = self.problem(size)
        if not problem.invariants:
            return "-"
        data = pdes.simulate(problem, problem.initial_time + np.linspace(0.0, self.stop, 17))
        found = [f"{one.name} {drift(one, problem, data):.1e}" for one in problem.invariants]
        return ", ".join(found)

    @staticmethod
    def _axis(axis: Axis, size: int, solver: str) -> Axis:
        if axis.periodic:
            return dataclasses.replace(axis, points=size)
        if solver == "weno5":
            half = 0.5 * axis.spacing
            return cell_grid(**{axis.name: (axis.start - half, axis.stop + half, size)}).axes[0]
        return dataclasses.replace(axis, points=size + 1)


def ladder_case(
    name: str,
    title: str,
    description: str,
    ladders: Sequence[Ladder],
    tier: Literal["quick", "full"] = "quick",
) -> Case:
    def run() -> Measurements:
        values, table = {}, []
        for ladder in ladders:
            slope, row = ladder.measure()
            values[ladder.prediction.name] = slope
            table.append(row)
        return Measurements(values=values, table=table)

    return Case(
        name=name,
        title=title,
        description=description,
        run=run,
        tier=tier,
        predictions=tuple(ladder.prediction for ladder in ladders),
    )
