"""What an equation conserves, never increases, or balances; and how well a run keeps to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import sympy
import xarray as xr

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.jets import parse_derivative
from pdes.parser import parse_system
from pdes.solvers.evaluate import Evaluator

if TYPE_CHECKING:
    from pdes.problem import Problem

__all__ = ["Invariant", "drift", "integrals", "mass"]

Law = Literal["conserved", "nonincreasing", "balance"]


@dataclass(frozen=True, kw_only=True)
class Invariant:
    """Integral over the domain of a density, and the law that it obeys.

    Parameters
    ----------
    name : str
        For example ``"mass"`` or ``"energy"``.
    density : str or sympy.Expr
        In the fields, their derivatives and the parameters of the equation; text as
        `Equation.from_text` reads it.
    law : {"conserved", "nonincreasing", "balance"}
        What its integral does in time.
    rate : str or sympy.Expr, optional
        For ``"balance"`` the density whose integral is the rate of change.
    note : str
        When the law holds.

    Raises
    ------
    ValueError
        For an unknown law, or a balance without a rate.

    Examples
    --------
    >>> Invariant(name="energy", density="u^2/2", law="balance", rate="-viscosity*u_x^2").law
    'balance'
    """

    name: str
    density: str | sympy.Expr
    law: Law = "conserved"
    rate: str | sympy.Expr | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.law not in get_args(Law):
            raise ValueError(f"{self.name}: law={self.law!r}, wanted one of {get_args(Law)}")
        if (self.rate is None) == (self.law == "balance"):
            raise ValueError(
                f"{self.name}: law={self.law!r} with rate={self.rate!r}: a balance, "
                "and nothing else, has a rate"
            )


def mass(field: str = "u", name: str = "mass") -> Invariant:
    """Integral of a field, conserved.

    Parameters
    ----------
    field : str
        Which field.
    name : str
        What to call it.

    Returns
    -------
    Invariant

    Examples
    --------
    >>> mass("v").density
    'v'
    """
    return Invariant(name=name, density=field)


def integrals(invariant: Invariant, problem: Problem, data: xr.Dataset) -> np.ndarray:
    """Integral of the density at every stored time.

    Derivatives are spectral on periodic axes and central differences elsewhere; integrals are sums
    over cells, with half cells at the ends of an axis whose end points lie on the sides.

    Parameters
    ----------
    invariant : Invariant
        What to integrate.
    problem : Problem
        The problem that was solved.
    data : xarray.Dataset
        From `pdes.simulate`.

    Returns
    -------
    ndarray, shape (time,) or (sample, time)

    Examples
    --------
    >>> import pdes
    >>> problem = pdes.get("heat", times=[0.0, 1.0])
    >>> total = integrals(mass(), problem, pdes.simulate(problem))
    >>> bool(abs(total[1] - total[0]) < 1e-12)
    True
    """
    return _Integrator(problem, data).of(invariant.density)


def drift(invariant: Invariant, problem: Problem, data: xr.Dataset) -> float:
    """How far a run is from the law, relative to the integral of the density's modulus.

    Parameters
    ----------
    invariant : Invariant
        The law.
    problem : Problem
        The problem that was solved.
    data : xarray.Dataset
        From `pdes.simulate`; for a balance with enough times to integrate the rate over.

    Returns
    -------
    float
        Conserved: the largest change. Nonincreasing: the largest increase between stored times, 0
        if there is none. Balance: the largest difference between the change and the integral of the
        rate over time, by Simpson's rule.

    Examples
    --------
    >>> import pdes
    >>> problem = pdes.get("burgers", stored_points=None)
    >>> data = pdes.simulate(problem, problem.times[:21])
    >>> all(drift(invariant, problem, data) < 1e-6 for invariant in problem.invariants)
    True
    """
    integrator = _Integrator(problem, data)
    values = integrator.of(invariant.density)
    # The modulus keeps the scale from vanishing with a density of both signs.
    scale = np.max(integrator.of(invariant.density, modulus=True))
    scale = scale if scale > 0.0 else 1.0
    if invariant.law == "conserved":
        departure = np.abs(values - values[..., :1])
    elif invariant.law == "nonincreasing":
        departure = np.maximum(np.diff(values, axis=-1), 0.0)
    else:
        rates = integrator.of(invariant.rate if invariant.rate is not None else 0)
        gained = _accumulated(rates, np.asarray(data["time"], dtype=np.float64))
        departure = np.abs(values - values[..., :1] - gained)
    return float(np.max(departure, initial=0.0) / scale)


def _accumulated(rates: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Integral over time from the first one, of order four on equally spaced times."""
    from scipy.integrate import cumulative_simpson, cumulative_trapezoid

    rule = cumulative_simpson if times.size > 2 else cumulative_trapezoid
    return rule(rates, x=times, axis=-1, initial=0)


class _Integrator:
    """Integrals over the domain of expressions in the fields of one dataset."""

    def __init__(self, problem: Problem, data: xr.Dataset) -> None:
        self.problem, self.equation = problem, problem.equation
        self.grid: Grid = problem.grid
        self.fields = {name: data[name].values for name in self.equation.fields}
        self.coordinates = {
            name: values[tuple(slice(None, None, s) for s in problem.strides)]
            for name, values in _open_mesh(problem).items()
        }
        self.time = np.asarray(data["time"], dtype=np.float64)

    def of(self, density: str | sympy.Expr | float, *, modulus: bool = False) -> np.ndarray:
        expression = _plain(density, self.equation)
        space = self.equation.space
        evaluator = Evaluator(
            space=space,
            parameters=dict(self.equation.parameters),
            coordinates=dict(self.coordinates),
        )
        jets = {s.name: self._jet(s.name) for s in space.jets(expression)}
        clock = self.time.reshape(-1, *(1 for _ in self.grid.shape))
        first = next(iter(self.fields.values()))
        found = (
            evaluator.program(expression)(jets, clock)
            if jets
            else evaluator.value(expression, clock)
        )
        values = np.broadcast_to(np.real(found), first.shape)
        values = np.abs(values) if modulus else values
        for axis in range(len(self.grid.shape) - 1, -1, -1):
            values = np.tensordot(values, self._weights(axis), axes=(-1, 0))
        return values

    def _jet(self, name: str) -> np.ndarray:
        field, orders = parse_derivative(name, self.equation.fields, self.equation.coordinates)
        values = self.fields[field]
        for axis, order in enumerate(orders):
            line, place = self.grid.axes[axis], axis - len(orders)
            spacing = line.spacing * self.problem.strides[axis]
            for _ in range(order):
                if not line.periodic:
                    values = np.gradient(values, spacing, axis=place, edge_order=2)
                    continue
                n = values.shape[place]
                shape = [-1 if i == axis else 1 for i in range(len(orders))]
                waves = 2j * np.pi * np.fft.fftfreq(n, spacing).reshape(shape)
                turned = np.fft.ifft(waves * np.fft.fft(values, axis=place), axis=place)
                values = turned if np.iscomplexobj(values) else turned.real
        return values

    def _weights(self, axis: int) -> np.ndarray:
        line, stride = self.grid.axes[axis], self.problem.strides[axis]
        points = -(-line.points // stride)
        weights = np.full(points, line.spacing * stride)
        if not line.periodic and self.problem.solver != "weno5":
            weights[[0, -1]] *= 0.5
        return weights


def _open_mesh(problem: Problem) -> Mapping[str, np.ndarray]:
    """Coordinates that broadcast against a field; every axis may be strided."""
    shape = problem.grid.shape
    return {name: np.broadcast_to(v, shape) for name, v in problem.grid.mesh().items()}


def _plain(density: str | sympy.Expr | float, equation: Equation) -> Any:
    """Density in the plain symbols of the equation."""
    space = equation.space
    if isinstance(density, str):
        first, *others = equation.fields
        rows = [f"{first}_t = {density}", *(f"{name}_t = 0" for name in others)]
        parsed = parse_system(
            "\n".join(rows),
            parameters=tuple(equation.parameters),
            coordinates=equation.coordinates,
            complex_fields=equation.complex_fields,
        )
        return parsed.rhs[first]
    return space.from_functions(sympy.S.Zero + density)
