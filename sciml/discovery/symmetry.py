"""Which structures the equation behind a recording may have: tests by sub-libraries.

If ``u_t = F(u, u_x, ...)`` is autonomous and invariant under ``u(x, t) -> u(x - q c t, t) + c``,
then ``dF/du = -q u_x``: every term with an undifferentiated ``u`` except ``u u_x`` is absent. One
trajectory holds no boosted copy of itself, so what data can test is whether the excluded columns
help. The same statistic serves conservation, parity, sign and linearity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sciml.discovery.subset_search import GramSystem
from sciml.discovery.terms import Feature

GATE = 20.0
"""Largest F statistic at which a structure counts as compatible; noise in the features makes the
nominal levels of the F distribution too strict."""


@dataclass(frozen=True)
class StructureTest:
    """Whether leaving out the terms that a structure forbids costs accuracy.

    Attributes
    ----------
    name, meaning : str
    statistic : float
        F statistic of the forbidden columns on whitened rows.
    excluded : tuple of str
        The terms the structure forbids.
    holds : bool
        Statistic at most 20.
    """

    name: str
    meaning: str
    statistic: float
    excluded: tuple[str, ...]
    holds: bool


@dataclass(frozen=True)
class SymmetryReport:
    """Structure tests of one equation.

    Attributes
    ----------
    tests : dict of str to StructureTest
    applied : str or None
        Structure that the library was restricted to.
    """

    tests: dict[str, StructureTest] = field(default_factory=dict)
    applied: str | None = None

    @property
    def gate_open(self) -> bool:
        """Whether the data are compatible with Galilean invariance."""
        return "galilean" in self.tests and self.tests["galilean"].holds

    def to_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return {
            "gate_open": self.gate_open,
            "applied": self.applied,
            "tests": {
                name: {
                    "statistic": test.statistic,
                    "holds": test.holds,
                    "meaning": test.meaning,
                    "excluded": list(test.excluded),
                }
                for name, test in self.tests.items()
            },
        }


def _undifferentiated(feature: Feature) -> bool:
    """Whether the expanded term contains a field that is not differentiated."""
    if not feature.factors:
        return False
    plain = [power for (_, orders), power in feature.factors if not any(orders)]
    if not plain:
        return False
    # d^k u alone is differentiated; d^k of a higher power leaves factors of u behind
    return not (feature.degree() == 1 and any(feature.outer))


def _galilean(feature: Feature) -> bool:
    boost = feature.degree() == 2 and len(feature.factors) == 1 and sum(feature.outer) == 1
    return boost or not _undifferentiated(feature)


def _total_order(feature: Feature) -> int:
    inner = sum(sum(orders) * power for (_, orders), power in feature.factors)
    return sum(feature.outer) + inner


STRUCTURES: dict[str, tuple[str, Callable[[Feature], bool]]] = {
    "galilean": (
        "unchanged by u(x, t) -> u(x - q c t, t) + c",
        _galilean,
    ),
    "conservation": (
        "the integral of the field changes only through the boundary",
        lambda feature: any(feature.outer),
    ),
    "even_parity": (
        "unchanged by x -> -x",
        lambda feature: _total_order(feature) % 2 == 0,
    ),
    "odd_parity": (
        "unchanged by x -> -x, u -> -u",
        lambda feature: (_total_order(feature) + feature.degree()) % 2 == 1,
    ),
    "sign": (
        "unchanged by u -> -u",
        lambda feature: feature.degree() % 2 == 1,
    ),
    "linear": (
        "solutions can be scaled",
        lambda feature: feature.degree() == 1,
    ),
}


def allowed_columns(features: tuple[Feature, ...], structure: str) -> list[int]:
    """Columns of the library that a structure leaves.

    Examples
    --------
    >>> from sciml.discovery.library import Library
    >>> features = Library().features(("u",), ("x",))
    >>> [features[k].name for k in allowed_columns(features, "galilean")]
    ['1', 'u_x', '(u^2)_x', 'u_xx', 'u_xxx', 'u_xxxx']
    """
    if structure not in STRUCTURES:
        raise ValueError(f"structure must be one of {sorted(STRUCTURES)}, got {structure!r}")
    allows = STRUCTURES[structure][1]
    return [k for k, feature in enumerate(features) if allows(feature)]


def nested_statistic(system: GramSystem, columns: list[int], floor: float) -> float:
    """F statistic of the columns that are left out.

    ``F = ((RSS_reduced - RSS_full) / q) / (RSS_full / (n - p))``.

    Parameters
    ----------
    system : GramSystem
        The full regression, on whitened rows.
    columns : list of int
        Columns that stay.
    floor : float
        Relative error that no model is expected to beat; added to both residuals.

    Returns
    -------
    float
    """
    _, full = system.solve(tuple(range(system.size)))
    _, reduced = system.solve(tuple(columns))
    excluded = system.size - len(columns)
    if excluded == 0:
        return 0.0
    base = floor**2 * system.square
    freedom = max(1, system.rows - system.size)
    return float(max(reduced - full, 0.0) / excluded / ((full + base) / freedom + 1e-300))


def galilean_test(system: GramSystem, features: tuple[Feature, ...], floor: float) -> StructureTest:
    """Test of Galilean invariance."""
    return structure_test("galilean", system, features, floor)


def structure_test(
    name: str, system: GramSystem, features: tuple[Feature, ...], floor: float
) -> StructureTest:
    """Test of one structure."""
    columns = allowed_columns(features, name)
    statistic = nested_statistic(system, columns, floor)
    excluded = tuple(f.name for k, f in enumerate(features) if k not in set(columns))
    return StructureTest(name, STRUCTURES[name][0], statistic, excluded, statistic <= GATE)


def symmetry_report(
    system: GramSystem, features: tuple[Feature, ...], floor: float, applied: str | None = None
) -> SymmetryReport:
    """All structures that make sense for the library.

    Parameters
    ----------
    system : GramSystem
        Regression on the full library, whitened with the selected equation.
    features : tuple of Feature
        The library.
    floor : float
        Relative error that no model is expected to beat.
    applied : str, optional
        Structure that the library was restricted to.

    Returns
    -------
    SymmetryReport
        Galilean invariance is tested for a single field without coordinate factors only.
    """
    fields = {name for f in features for (name, _), _ in f.factors}
    autonomous = all(feature.weight == "1" for feature in features)
    tests = {}
    for name in STRUCTURES:
        if name == "galilean" and (len(fields) != 1 or not autonomous):
            continue
        if not autonomous and name.endswith("parity"):
            continue
        if not allowed_columns(features, name):
            continue
        tests[name] = structure_test(name, system, features, floor)
    return SymmetryReport(tests, applied)


def homogeneity_statistic(
    matrix: np.ndarray, left: np.ndarray, position: np.ndarray, floor: float
) -> float:
    """F statistic for coefficients that drift along an axis.

    Parameters
    ----------
    matrix : ndarray, shape (rows, terms)
        Whitened columns of the chosen terms.
    left : ndarray, shape (rows,)
        Whitened left-hand side.
    position : ndarray, shape (rows, terms)
        Whitened columns of the chosen terms times the centered position along the axis.
    floor : float
        Relative error that no model is expected to beat.

    Returns
    -------
    float
        Near 1 if the coefficients are constant.
    """
    both = np.column_stack([matrix, position])
    scale = np.linalg.norm(both, axis=0)
    both = both / np.where(scale > 0, scale, 1.0)

    def residual(columns: np.ndarray) -> float:
        solution = np.linalg.lstsq(columns, left, rcond=1e-10)[0]
        return float(np.sum((left - columns @ solution) ** 2))

    terms = matrix.shape[1]
    full, reduced = residual(both), residual(both[:, :terms])
    freedom = max(1, len(left) - 2 * terms)
    base = floor**2 * float(left @ left)
    return max(reduced - full, 0.0) / terms / ((full + base) / freedom + 1e-300)
