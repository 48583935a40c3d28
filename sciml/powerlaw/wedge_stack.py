"""Models of several corners, or of several recordings about one, as one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.separable_fit import SparseDerivatives
from sciml.powerlaw.wedge_model import WedgeModel


class WedgeStack:
    """A model of `variable_projection` whose members have corners and designs of their own.

    Members of one design (the same rows, whatever was measured in them) are evaluated together.

    Parameters
    ----------
    models : sequence of WedgeModel
        Of each member; all with as many rows and columns.

    Examples
    --------
    >>> from pdes.exact import Wedge
    >>> from sciml.powerlaw.wedge_samples import as_samples, row_system
    >>> corners = [Wedge(angle, "DD") for angle in (2.0, 4.0)]
    >>> samples = as_samples((np.array([0.5, 1.0]), np.ones(2)))
    >>> models = [WedgeModel(c, row_system(c, samples, 0.0, 3, 1.0), False) for c in corners]
    >>> WedgeStack(models)(np.array([[1.0], [2.0]]))[0].shape
    (2, 8, 2)
    """

    def __init__(self, models: Sequence[WedgeModel]) -> None:
        self.models = tuple(models)
        groups: dict[int, list[int]] = {}
        for member, model in enumerate(self.models):
            groups.setdefault(id(model.system.parts), []).append(member)
        self._groups = [np.array(members) for members in groups.values()]

    def take(self, members: NDArray) -> WedgeStack:
        """The model of these members alone."""
        return WedgeStack([self.models[member] for member in members])

    def __call__(self, exponents: NDArray) -> tuple[NDArray, SparseDerivatives]:
        """Columns and derivatives for exponents of shape (members, terms)."""
        if len(self._groups) == 1:
            return self.models[0](exponents)
        results = [(at, self.models[at[0]](exponents[at])) for at in self._groups]
        _, (first, slopes) = results[0]
        columns = np.empty((len(self.models), *first.shape[1:]))
        values = np.empty((len(self.models), *slopes.values.shape[1:]))
        for at, (own, moved) in results:
            columns[at], values[at] = own, moved.values
        return columns, slopes._replace(values=values)


def share_designs(models: Sequence[WedgeModel]) -> list[WedgeModel]:
    """The same models, those of equal design with the same parts in memory.

    Parameters
    ----------
    models : sequence of WedgeModel

    Returns
    -------
    list of WedgeModel
    """
    seen: dict[tuple[object, ...], WedgeModel] = {}
    shared = []
    for model in models:
        arrays = (
            array.tobytes()
            for part in model.system.parts
            for array in (
                part.rows, part.radius, part.angle, part.value, part.euler, part.turn
            )
        )  # fmt: skip
        sectors = tuple(part.sector for part in model.system.parts)
        key = (type(model.corner).__name__, model.per_term, sectors, *arrays)
        first = seen.setdefault(key, model)
        system = replace(model.system, parts=first.system.parts)
        shared.append(replace(model, system=system))
    return shared
