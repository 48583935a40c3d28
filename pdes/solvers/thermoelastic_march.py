"""Coupled thermoelasticity in time: heat stretches a body, and stretching takes up heat.

``c T_t + T0 m div u_t = lap T + q`` and ``div sigma = 0`` with the stress of plane strain,
``sigma = C e(u) - m T I`` and ``m = (3 lambda + 2 mu) al``; no inertia. With

    E = a(u, u)/2 + c/(2 T0) (T, T),    dE/dt = -(grad T, grad T)/T0 + supply,

the midpoint rule (Crank-Nicolson) keeps the law to rounding, step by step: quadratic forms at the
midpoint telescope (J. C. Simo and N. Tarnow, Z. angew. Math. Phys. 43, 757 (1992)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import skfem
import xarray as xr
from scipy import sparse
from scipy.sparse.linalg import splu

from pdes.solvers.finite_element_assembly import assemble, essential, natural
from pdes.solvers.finite_element_space import make_space
from pdes.solvers.linear_form import linear_form
from pdes.steady import SteadyProblem

__all__ = ["ORDER", "default_step", "march", "march_thermoelastic"]

ORDER = 2


def march_thermoelastic(
    problem: SteadyProblem,
    *,
    resolution: int,
    time_step: float,
    end: float,
    degree: int = 2,
    heat_capacity: float = 1.0,
    reference_temperature: float = 1.0,
    initial: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    watch: Callable[..., None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> xr.Dataset:
    """Follow temperature and displacements, with the data of a steady problem.

    Parameters
    ----------
    problem : SteadyProblem
        With the fields ``T``, ``u``, ``v`` in this order, such as ``thermoelastic_cylinder``; its
        conductivity is one.
    resolution : int
        For the mesh recipe.
    time_step : float
        Of all steps; any is stable, but sudden data ring unless it is of the order of the square
        of the spacing times ``c``. Rounded so that steps end at `end`.
    end : float
        Last time; the first is 0.
    degree : {1, 2}, default 2
        Of the elements.
    heat_capacity : float, default 1
        Of a volume, ``c``.
    reference_temperature : float, default 1
        Absolute temperature ``T0`` of the unstressed body; with 0 stretching takes up no heat,
        and there is no energy law.
    initial : callable, optional
        Function ``(x, y) -> T`` at time zero; zero by default. Dirichlet sides have their values
        from the start, displacements are in equilibrium.
    watch : callable, optional
        Called as ``watch(step, fields, told)`` at the start and after each step: ``fields()`` gives
        the fields at the nodes, ``told`` the numbers of the step.
    progress : callable, optional
        Called as ``progress(done, total)`` after each step.

    Returns
    -------
    xarray.Dataset
        ``energy`` with dim ``time``; ``dissipation`` and ``supply``, energy lost and received in
        the step that ends at a time; and the fields at the last time.

    Raises
    ------
    ValueError
        If a number is out of range, or the fields are others.

    Examples
    --------
    >>> import pdes
    >>> problem = pdes.get("thermoelastic_mode", temperature=0.0)
    >>> data = march_thermoelastic(
    ...     problem, resolution=4, time_step=0.01, end=0.1, initial=lambda x, y: x * (1 - x) * y
    ... )
    >>> gap = data.energy.diff("time") + data.dissipation[1:] - data.supply[1:]
    >>> bool(abs(gap).max() < 1e-15)
    True
    """
    if not 0.0 < time_step <= end < np.inf:
        raise ValueError(f"time_step={time_step} and end={end}: wanted 0 < time_step <= end")
    if not (heat_capacity > 0.0 and reference_temperature > 0.0):
        raise ValueError(
            f"heat_capacity={heat_capacity} and reference_temperature={reference_temperature}: "
            "wanted both positive; for no coupling set the expansion to 0"
        )
    if problem.fields != ("T", "u", "v"):
        raise ValueError(f"{problem.name}: fields are {problem.fields}, wanted ('T', 'u', 'v')")
    steps = max(1, round(end / time_step))
    march = _March(problem, resolution, degree, heat_capacity, reference_temperature, end / steps)
    now = march.started(initial)
    energy, lost, given = [march.energy(now)], [0.0], [0.0]
    if watch is not None:
        watch(0, lambda: march.fields(now), {})
    for step in range(1, steps + 1):
        now, dissipation, supply = march.step(now)
        energy.append(march.energy(now))
        lost.append(dissipation)
        given.append(supply)
        if watch is not None:
            told = {"energy": energy[-1], "dissipation": dissipation, "supply": supply}
            watch(step, lambda: march.fields(now), told)  # noqa: B023
        if progress is not None:
            progress(step, steps)
    variables = {"energy": energy, "dissipation": lost, "supply": given}
    return _dataset(march, now, {n: np.array(v) for n, v in variables.items()})


def march(problem: SteadyProblem, *, initial: np.ndarray | None = None, **options: Any) -> Any:
    """`march_thermoelastic` from temperatures at the nodes, shape (1, points)."""
    start = None if initial is None else lambda x, y: initial[0]
    return march_thermoelastic(problem, initial=start, **options)


def default_step(
    problem: SteadyProblem, resolution: int, end: float, initial: np.ndarray | None = None
) -> float:
    """A two hundredth of the run: every step is stable.

    Examples
    --------
    >>> import pdes
    >>> default_step(pdes.get("thermoelastic_mode"), 4, 1.0)
    0.005
    """
    return end / 200.0


class _March:
    """Matrices that do not change, and one step."""

    def __init__(
        self,
        problem: SteadyProblem,
        resolution: int,
        degree: int,
        capacity: float,
        reference: float,
        step: float,
    ) -> None:
        self.problem, self.resolution, self.dt = problem, resolution, step
        self.reference = reference
        self.space = make_space(problem, resolution, degree)
        conditions = problem.conditions(sorted(self.space.facets))
        matrix, load = assemble(problem, linear_form(problem), self.space)
        more, pushed = natural(problem, conditions, self.space)
        matrix, self.load = (matrix + more).tocsr(), load + pushed
        self.fixed, self.values = essential(problem, conditions, self.space)
        n = self.n = self.space.size
        self.heat, self.body = slice(0, n), slice(n, 3 * n)
        self.free = np.setdiff1d(np.arange(3 * n), self.fixed)
        self.slow: Any = matrix
        self.conduction: Any = matrix[:n, :n]
        self.stiffness: Any = matrix[n:, n:]
        basis: Any = self.space.basis
        self.mass: Any = capacity * _mass.assemble(basis)
        # The block of the stress is -m (T, div v); minus its transpose is the heat of stretching.
        stretching = -reference * matrix[n:, :n].T
        empty = sparse.csr_matrix((2 * n, n))
        self.rate: Any = sparse.bmat(
            [[self.mass, stretching], [empty, sparse.csr_matrix((2 * n, 2 * n))]], format="csr"
        )
        # Equilibrium holds at both ends of a step, and so at its middle.
        self.matrix: Any = (self.rate * (2.0 / step) + self.slow).tocsr()
        self.factors = splu(sparse.csc_matrix(self.matrix[self.free][:, self.free]))

    def started(self, initial: Callable[[np.ndarray, np.ndarray], np.ndarray] | None) -> np.ndarray:
        """State at time zero: temperature as given, displacements in equilibrium with it."""
        state = np.zeros(3 * self.n)
        if initial is not None:
            basis: Any = self.space.basis
            state[self.heat] = initial(*basis.doflocs)
        state[self.fixed] = self.values
        free = self.free[self.free >= self.n]
        rest = (self.load - self.slow @ state)[free]
        state[free] = splu(sparse.csc_matrix(self.slow[free][:, free])).solve(rest)
        return state

    def step(self, now: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Next state, the energy lost on the way, and the energy received."""
        middle = np.zeros_like(now)
        middle[self.fixed] = self.values
        right = self.load + (2.0 / self.dt) * (self.rate @ now)
        middle[self.free] = self.factors.solve((right - self.matrix @ middle)[self.free])
        after = 2.0 * middle - now
        # What the sides must bring in to keep their values.
        reaction = self.rate @ (after - now) / self.dt + self.slow @ middle - self.load
        warm = middle[self.heat]
        lost = float(warm @ (self.conduction @ warm)) / self.reference
        held = self.fixed[self.fixed < self.n]
        supply = float(middle[held] @ reaction[held] + self.load[self.heat] @ warm) / self.reference
        moved = (after - now)[self.body] / self.dt
        supply += float(self.load[self.body] @ moved)
        return after, self.dt * lost, self.dt * supply

    def fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """Temperature and displacements at the nodes."""
        parts = state.reshape(3, self.n)
        return dict(zip(self.problem.fields, parts, strict=True))

    def energy(self, state: np.ndarray) -> float:
        warm, moved = state[self.heat], state[self.body]
        stored = float(warm @ (self.mass @ warm)) / self.reference
        return 0.5 * (stored + float(moved @ (self.stiffness @ moved)))


def _dataset(march: _March, state: np.ndarray, told: dict[str, np.ndarray]) -> xr.Dataset:
    basis: Any = march.space.basis
    kind = march.space.mesh.cell_type
    variables: dict[str, Any] = {name: ("time", values) for name, values in told.items()}
    variables |= {
        name: ("point", state[k * march.n : (k + 1) * march.n])
        for k, name in enumerate(march.problem.fields)
    }
    cells = {"triangle": {1: "triangle", 2: "triangle6"}, "quad": {1: "quad", 2: "quad9"}}
    attributes = {"cell_type": cells[kind][march.space.degree]}
    variables["cells"] = (("cell", "vertex"), basis.element_dofs.T.copy(), attributes)
    coordinates = {
        "time": march.dt * np.arange(len(told["energy"])),
        "x": ("point", basis.doflocs[0].copy()),
        "y": ("point", basis.doflocs[1].copy()),
    }
    return xr.Dataset(
        variables,
        coordinates,
        {
            "name": march.problem.name,
            "equation": march.problem.equation,
            "status": "ok",
            "time_step": march.dt,
            "resolution": march.resolution,
            "order": ORDER,
        },
    )


@skfem.BilinearForm
def _mass(u: Any, v: Any, w: Any) -> Any:
    return u * v
