"""Steady incompressible flow: velocities of degree 2, pressure of degree 1 (Taylor and Hood, 1973).

The pair is stable; velocities converge in the mean square with order 3 and pressure with order 2.
Newton's method starts from slow (Stokes) flow and a few fixed-point steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import skfem
import sympy
from scipy import sparse
from scipy.sparse.linalg import splu

from pdes.boundary import Condition, Dirichlet, NoSlip, Outflow
from pdes.solvers.convergence import ConvergenceError, check_tolerance
from pdes.solvers.finite_element_errors import error_norms
from pdes.solvers.finite_element_space import Space, make_space, sampler
from pdes.solvers.flow_equations import FIELDS, flow_residual
from pdes.steady import SteadyProblem, SteadyState

__all__ = ["ORDERS", "Flow", "solve_taylor_hood"]

ORDERS = {"velocity": {"l2": 3.0, "h1": 2.0}, "pressure": {"l2": 2.0, "h1": 1.0}}


def solve_taylor_hood(
    problem: SteadyProblem, *, resolution: int, tolerance: float = 1e-10, iterations: int = 25
) -> SteadyState:
    """Solve a steady flow problem.

    Parameters
    ----------
    problem : SteadyProblem
        With the residual of `pdes.solvers.flow_equations` (plus forces), on triangles. Sides are
        `NoSlip`, `Outflow`, or a mapping of ``u`` and ``v`` to `Dirichlet` and ``p`` to `Outflow`.
    resolution : int
        For the mesh recipe.
    tolerance : float
        Largest norm of the discrete residual, relative to that of the first guess.
    iterations : int
        At most so many steps.

    Returns
    -------
    SteadyState
        Fields at corners and middles of edges; the record holds the force on every side that
        meets no other, such as the surface of a body, found from the discrete residual.

    Raises
    ------
    ValueError
        If the equations or the conditions are not those of a flow, or the tolerance is no number in
        ``(0, 0.01]``.
    ConvergenceError
        If Newton's method does not converge, as it need not far above the transition.

    Examples
    --------
    >>> import pdes
    >>> state = solve_taylor_hood(pdes.get("steady_kovasznay"), resolution=4)
    >>> state.errors["u"]["l2"] < 0.05
    True
    """
    tolerance = check_tolerance(tolerance)
    flow = Flow.of(problem, resolution)
    fixed, values = flow.fixed()
    state = np.zeros(flow.size)
    state[fixed] = values
    free = np.setdiff1d(np.arange(flow.size), fixed)
    history: list[float] = []
    for step in range(iterations):
        # Stokes flow first; then fixed-point steps, which forgive a poor guess; then Newton's.
        residual, matrix = flow.linearized(state, convection=step > 0, newton=step > 3)
        norm = float(np.linalg.norm(residual[free]))
        history.append(norm / (history[0] if step > 1 else 1.0) if step else norm or 1.0)
        if step > 1 and history[-1] <= tolerance:
            break
        try:
            factors = splu(sparse.csc_matrix(matrix[free][:, free]))
        except RuntimeError as error:
            raise ConvergenceError(
                f"{problem.name}: the matrix is singular ({error})",
                history=history,
                tolerance=tolerance,
            ) from error
        state[free] -= factors.solve(residual[free])
    else:
        raise ConvergenceError(
            f"{problem.name}: Newton's method", history=history, tolerance=tolerance
        )
    return flow.state(state, residual, history, resolution)


@dataclass(frozen=True)
class Flow:
    """A flow problem on its elements: made by `Flow.of`, used by the steady solver and in time."""

    problem: SteadyProblem
    space: Space
    pressure: Any
    conditions: Mapping[str, Mapping[str, Condition]]
    viscosity: float
    force: tuple[Any, Any]

    @classmethod
    def of(cls, problem: SteadyProblem, resolution: int) -> Flow:
        """Check a problem and make its elements."""
        viscosity, force = _physics(problem)
        space = make_space(problem, resolution, 2)
        if space.mesh.cell_type != "triangle":
            raise ValueError(f"{problem.name}: Taylor-Hood elements here want triangles")
        pressure = space.basis.with_element(skfem.ElementTriP1())
        conditions = problem.conditions(sorted(space.facets))
        return cls(problem, space, pressure, conditions, viscosity, force)

    @property
    def size(self) -> int:
        """Number of all unknowns."""
        return 2 * self.space.size + int(self.pressure.N)

    def linearized(
        self, state: np.ndarray, *, convection: bool, newton: bool
    ) -> tuple[np.ndarray, Any]:
        """Residual at a state, and the matrix of a correction."""
        n = self.space.size
        basis: Any = self.space.basis
        u, v = basis.interpolate(state[:n]), basis.interpolate(state[n : 2 * n])
        flag = float(convection)
        carried = _transport.assemble(basis, nu=self.viscosity, wu=flag * u, wv=flag * v)
        across = [_divergence[k].assemble(basis, self.pressure) for k in (0, 1)]
        rows = [[carried, None, -across[0].T], [None, carried, -across[1].T]]
        plain = sparse.bmat([*rows, [-across[0], -across[1], None]], format="csr")
        residual = plain @ state - self.load()
        if not newton:
            return residual, plain
        extra = [
            [_product.assemble(basis, c=np.asarray(w.grad[k])) for k in (0, 1)] for w in (u, v)
        ]
        empty = sparse.csr_matrix((int(self.pressure.N),) * 2)
        return residual, plain + sparse.block_diag([sparse.bmat(extra), empty], format="csr")

    def load(self) -> np.ndarray:
        """What the force adds to the right-hand side."""
        basis = self.space.basis
        sample = sampler(self.problem, np.asarray(basis.global_coordinates()))
        parts = [_source.assemble(basis, f=sample(part)) for part in self.force]
        return np.concatenate([*parts, np.zeros(int(self.pressure.N))])

    def fixed(self) -> tuple[np.ndarray, np.ndarray]:
        """Unknowns that are given; one pressure too if no side lets fluid out."""
        found: dict[int, float] = {}
        open_side = False
        for side, row in self.conditions.items():
            dofs: Any = self.space.basis.get_dofs(self.space.facets[side]).all()
            positions: Any = self.space.basis.doflocs
            sample = sampler(self.problem, positions[:, dofs])
            for place, name in enumerate(("u", "v")):
                condition = row[name]
                if isinstance(condition, Outflow):
                    open_side = True
                    continue
                if isinstance(condition, NoSlip):
                    value = condition.velocity[place]
                elif isinstance(condition, Dirichlet):
                    value = condition.value
                else:
                    raise ValueError(
                        f"{self.problem.name}: boundary[{side!r}][{name!r}] is {condition}; flows "
                        "take NoSlip, Dirichlet and Outflow"
                    )
                numbers = (dofs + place * self.space.size).tolist()
                found |= dict(zip(numbers, sample(value).tolist(), strict=True))
        if not open_side:
            found[2 * self.space.size] = 0.0
        order = sorted(found)
        return np.array(order), np.array([found[number] for number in order])

    def state(
        self, state: np.ndarray, residual: np.ndarray, history: list[float], resolution: int
    ) -> SteadyState:
        """Fields and forces."""
        n = self.space.size
        fields = {
            "u": state[:n],
            "v": state[n : 2 * n],
            "p": self.pressure_at_nodes(state[2 * n :]),
        }
        basis: Any = self.space.basis
        # What a body must do to the fluid is the opposite of what the fluid does to it.
        forces = {
            side: [-float(residual[dofs + k * n].sum()) for k in (0, 1)]
            for side, dofs in self.bodies().items()
        }
        return SteadyState(
            fields=fields,
            points=np.ascontiguousarray(basis.doflocs.T),
            cells=np.ascontiguousarray(basis.element_dofs.T),
            cell_type="triangle6",
            residual_norm=history[-1],
            iterations=len(history) - 1,
            errors=error_norms(self.problem, basis, fields),
            record={
                "order": ORDERS,
                "resolution": int(resolution),
                "unknowns": self.size,
                "forces": forces,
            },
        )

    def bodies(self) -> dict[str, Any]:
        """Nodes of every side that meets no other: elsewhere two sides share a residual."""
        basis: Any = self.space.basis
        nodes = {s: basis.get_dofs(facets).all() for s, facets in self.space.facets.items()}
        found = {}
        for side, dofs in nodes.items():
            others = [d for other, d in nodes.items() if other != side]
            if not np.intersect1d(dofs, np.concatenate([*others, [-1]])).size:
                found[side] = dofs
        return found

    def pressure_at_nodes(self, values: np.ndarray) -> np.ndarray:
        """Pressure at the nodes of the velocity, of zero mean if only its gradient is known."""
        basis: Any = self.space.basis
        full = np.zeros(self.space.size)
        corners = basis.nodal_dofs[0]
        full[corners] = values[self.pressure.nodal_dofs[0]]
        full[basis.facet_dofs[0]] = full[corners][basis.mesh.facets].mean(axis=0)
        if any(isinstance(row["u"], Outflow) for row in self.conditions.values()):
            return full
        exact = self.problem.exact.get(self.problem.exact_name or "")
        weights = _source.assemble(basis, f=1.0 + 0.0 * basis.dx)
        mean = weights @ full / weights.sum()
        if exact is None:
            return full - mean
        places = dict(zip(self.problem.coordinates, basis.doflocs, strict=True))
        wanted = weights @ exact.evaluate(**places)["p"] / weights.sum()
        return full - mean + wanted


def _physics(problem: SteadyProblem) -> tuple[float, tuple[Any, Any]]:
    """Viscosity and force, or an error if the equations are others."""
    if tuple(problem.fields) != FIELDS or "viscosity" not in problem.parameters:
        raise ValueError(
            f"{problem.name}: flows have the fields {FIELDS} and the parameter 'viscosity', got "
            f"{problem.fields} and {sorted(problem.parameters)}"
        )
    viscosity = problem.parameters["viscosity"]
    if viscosity <= 0.0:
        raise ValueError(f"{problem.name}: viscosity={viscosity} must be positive")
    force = []
    for name, standard in flow_residual().items():
        rest = sympy.expand((standard - problem.residual[name]).doit())
        if rest.atoms(sympy.core.function.AppliedUndef) or (name == "p" and rest != 0):
            raise ValueError(
                f"{problem.name}: the residual of {name!r} is not that of a steady flow "
                f"(pdes.solvers.flow_equations); it differs by {rest}"
            )
        force.append(rest)
    return viscosity, (force[0], force[1])


@skfem.BilinearForm
def _transport(u: Any, v: Any, w: Any) -> Any:
    drag = w["nu"] * (u.grad[0] * v.grad[0] + u.grad[1] * v.grad[1])
    return drag + (w["wu"] * u.grad[0] + w["wv"] * u.grad[1]) * v


@skfem.BilinearForm
def _product(u: Any, v: Any, w: Any) -> Any:
    return w["c"] * u * v


_divergence = tuple(
    skfem.BilinearForm(lambda u, q, w, k=k: u.grad[k] * q)  # type: ignore[misc]
    for k in (0, 1)
)


@skfem.LinearForm
def _source(v: Any, w: Any) -> Any:
    return w["f"] * v
