"""Matrix and load of a linear system of equations on finite elements, and what its sides add."""

from __future__ import annotations

from typing import Any

import numpy as np
import skfem
from scipy import sparse

from pdes.boundary import Condition, Dirichlet, Neumann, Outflow, Robin
from pdes.solvers.finite_element_space import Space, sampler
from pdes.solvers.linear_form import LinearForm, Slot
from pdes.steady import SteadyProblem


def assemble(problem: SteadyProblem, form: LinearForm, space: Space) -> tuple[Any, np.ndarray]:
    """Matrix and load of the interior, one block for each pair of fields."""
    sample = sampler(problem, np.asarray(space.basis.global_coordinates()))
    count, size = len(problem.fields), space.size
    blocks: list[list[Any]] = [[None] * count for _ in range(count)]
    rows: list[np.ndarray] = []
    for i in range(count):
        for j in range(count):
            weights = _weights(form, i, j, sample)
            _check_finite(problem, i, weights or {})
            if i == j and count == 1:
                _check_elliptic(problem, weights or {})
            if weights is None:
                blocks[i][j] = sparse.csr_matrix((size, size))
                continue
            form_of = skfem.BilinearForm(_bilinear, dtype=_kind(*weights.values()))
            blocks[i][j] = form_of.assemble(space.basis, **weights)
        source: dict[str, Any] = {"f": sample(form.load.get((i,), 0.0))}
        source |= {f"g{k}": sample(form.prestress.get((i, k), 0.0)) for k in (0, 1)}
        _check_finite(problem, i, source)
        linear = skfem.LinearForm(_linear, dtype=_kind(*source.values()))
        rows.append(linear.assemble(space.basis, **source))
    return sparse.bmat(blocks, format="csr"), np.concatenate(rows)


def _kind(*arrays: Any) -> Any:
    """Complex if any of the arrays is."""
    return np.complex128 if any(np.iscomplexobj(array) for array in arrays) else np.float64


def _weights(form: LinearForm, i: int, j: int, sample: Any) -> dict[str, Any] | None:
    """Arrays of the coefficients of one block, or None if all of them are zero."""
    wanted: dict[str, Any] = {}
    groups: list[tuple[str, Any, list[tuple[str, Slot]]]] = [
        ("a", form.second, [(f"{k}{m}", (i, k, j, m)) for k in (0, 1) for m in (0, 1)]),
        ("d", form.drift, [(f"{k}", (i, k, j)) for k in (0, 1)]),
        ("b", form.first, [(f"{k}", (i, j, k)) for k in (0, 1)]),
        ("c", form.zeroth, [("", (i, j))]),
    ]
    for letter, group, slots in groups:
        for label, slot in slots:
            if slot in group:
                wanted[letter + label] = sample(group[slot])
    return wanted or None


def _check_finite(problem: SteadyProblem, i: int, values: dict[str, Any]) -> None:
    wrong = sum(int(np.sum(~np.isfinite(v))) for v in values.values())
    if wrong:
        raise ValueError(
            f"{problem.name}: coefficients or source of the equation of {problem.fields[i]!r} have "
            f"{wrong} values that are not finite inside the domain"
        )


def _check_elliptic(problem: SteadyProblem, weights: dict[str, Any]) -> None:
    """Refuse a diffusivity that is not positive: there is no unique solution, or none at all."""
    zero = np.zeros(1)
    along, across = weights.get("a00", zero), weights.get("a11", zero)
    mixed = 0.5 * (weights.get("a01", zero) + weights.get("a10", zero))
    if np.any(np.minimum(along, across) <= 0.0) or np.any(along * across <= mixed**2):
        raise ValueError(
            f"{problem.name}: the diffusivity must be positive, its least value is "
            f"{min(float(np.min(along)), float(np.min(across))):.6g}; check the signs of the "
            "residual (-div(a grad u) + ... - f) and the coefficients "
            f"{sorted(problem.coefficients)}"
        )


def _bilinear(u: Any, v: Any, w: Any) -> Any:
    total = 0.0
    for name, values in w.items():
        match tuple(name):
            case ("a", k, m):
                total = total + values * u.grad[int(m)] * v.grad[int(k)]
            case ("d", k):
                total = total + values * u * v.grad[int(k)]
            case ("b", k):
                total = total + values * u.grad[int(k)] * v
            case ("c",):
                total = total + values * u * v
            case _:  # what scikit-fem adds: position, size of the cells, normal
                continue
    return total


def _linear(v: Any, w: Any) -> Any:
    return w["f"] * v - w["g0"] * v.grad[0] - w["g1"] * v.grad[1]


def natural(
    problem: SteadyProblem, conditions: dict[str, dict[str, Condition]], space: Space
) -> tuple[Any, np.ndarray]:
    """What Neumann and Robin conditions add to the matrix and the load."""
    count, size = len(problem.fields), space.size
    load: list[Any] = [np.zeros(size) for _ in range(count)]
    mass: list[Any] = [sparse.csr_matrix((size, size)) for _ in range(count)]
    for side, row in conditions.items():
        for i, condition in enumerate(row.values()):
            if isinstance(condition, Dirichlet | Outflow):
                continue
            if not isinstance(condition, Neumann | Robin):
                raise ValueError(
                    f"{problem.name}: boundary[{side!r}] is {condition}; finite elements take "
                    "Dirichlet, Neumann, Robin and Outflow"
                )
            basis = skfem.FacetBasis(
                space.basis.mesh,
                space.basis.elem,
                facets=space.facets[side],
                intorder=2 * space.degree + 4,
            )
            sample = sampler(problem, np.asarray(basis.global_coordinates()))
            flux = condition.flux if isinstance(condition, Neumann) else condition.value
            inflow = sample(flux)
            linear = skfem.LinearForm(lambda v, w: w["f"] * v, dtype=_kind(inflow))
            load[i] = load[i] + linear.assemble(basis, f=inflow)
            if isinstance(condition, Robin):
                weight = sample(condition.coefficient)
                bilinear = skfem.BilinearForm(lambda u, v, w: w["c"] * u * v, dtype=_kind(weight))
                mass[i] = mass[i] + bilinear.assemble(basis, c=weight)
    return sparse.block_diag(mass, format="csr"), np.concatenate(load)


def essential(
    problem: SteadyProblem, conditions: dict[str, dict[str, Condition]], space: Space
) -> tuple[np.ndarray, np.ndarray]:
    """Unknowns that Dirichlet conditions fix, and their values."""
    fixed: dict[int, Any] = {}
    for side, row in conditions.items():
        for i, condition in enumerate(row.values()):
            if not isinstance(condition, Dirichlet):
                continue
            dofs = space.basis.get_dofs(space.facets[side]).all()
            values = sampler(problem, space.basis.doflocs[:, dofs])(condition.value)
            if not np.all(np.isfinite(values)):
                raise ValueError(
                    f"{problem.name}: boundary[{side!r}] has {int(np.sum(~np.isfinite(values)))} "
                    f"values that are not finite; {condition.value} is singular there"
                )
            fixed |= dict(zip((dofs + i * space.size).tolist(), values.tolist(), strict=True))
    order = sorted(fixed)
    return np.array(order, dtype=np.int64), np.array([fixed[d] for d in order])
