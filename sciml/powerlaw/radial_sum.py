"""The separable model of a sum of radial blocks, for `variable_projection`."""

from __future__ import annotations

from typing import Any

from array_api_compat import device

from sciml.powerlaw.arrays import namespace
from sciml.powerlaw.blocks import RadialJet, log_radius, pair_block, power, raise_to
from sciml.powerlaw.separable_fit import SparseDerivatives
from sciml.powerlaw.structure import Structure


class RadialSum:
    """Columns and derivatives of a `Structure` at given radii.

    Parameters
    ----------
    r : array, shape (rows,) or (batch, rows), float64
        Radii, NumPy's or torch's; one set for all members of a batch, or one each.
    structure : Structure
        The blocks.
    operator : array, shape (3, rows), optional
        Rows ``a0 F + a1 E F + a2 E^2 F`` instead of values, with ``E = r d/dr``.

    Examples
    --------
    >>> import numpy as np
    >>> model = RadialSum(np.array([0.25, 1.0]), Structure(powers=1, fixed=(0.0,)))
    >>> columns, _ = model(np.array([[0.5]]))
    >>> columns[0]
    array([[0.5, 1. ],
           [1. , 1. ]])
    """

    def __init__(self, r: Any, structure: Structure, operator: Any = None) -> None:
        self.structure = structure
        self.operator = operator
        self.r = r if len(r.shape) == 2 else r[None]
        self._places = self.r[:, None, :]
        self._log = log_radius(self._places)
        a, b = structure.powers, structure.pairs
        self._parameter = tuple(range(a)) + tuple(
            a + 2 * i + j for j in (0, 1, 0, 1) for i in range(b)
        )
        # columns of the pairs are laid out F1, F2, F1, F2, ...
        self._column = tuple(range(a)) + tuple(
            a + 2 * i + k for k in (0, 0, 1, 1) for i in range(b)
        )

    def take(self, members: Any) -> RadialSum:
        """Return the model of some members of the batch."""
        if self.r.shape[0] == 1:
            return self
        return RadialSum(self.r[members], self.structure, self.operator)

    def __call__(self, parameters: Any) -> tuple[Any, SparseDerivatives]:
        """Columns, shape (batch, rows, n), and derivatives at parameters of shape (batch, p)."""
        xp = namespace(parameters)
        a = self.structure.powers
        columns, slopes = [], []
        if a:
            value, slope = self._power(parameters[:, :a, None])
            columns.append(value)
            slopes.append(slope)
        if self.structure.pairs:
            s, q = parameters[:, a::2, None], parameters[:, a + 1 :: 2, None]
            first, second = pair_block(self._places, s, q)
            rows = [self._row(jet.euler) for jet in (first, second)]
            both = xp.stack(rows, axis=2)  # (batch, pairs, 2, rows)
            columns.append(xp.reshape(both, (both.shape[0], -1, both.shape[-1])))
            slopes += [self._row(part) for jet in (first, second) for part in jet.parameters]
        if self.structure.fixed:
            columns.append(self._fixed(parameters))
        stacked = xp.concat(columns, axis=1) if len(columns) > 1 else columns[0]
        if not slopes:
            derivative = stacked[:, :0, :]
        else:
            derivative = xp.concat(slopes, axis=1) if len(slopes) > 1 else slopes[0]
        return xp.matrix_transpose(stacked), SparseDerivatives(
            derivative, self._parameter, self._column
        )

    def _power(self, mu: Any) -> tuple[Any, Any]:
        if self.operator is None:
            value = raise_to(self._places, mu)
            return value, value * self._log
        jet = power(self._places, mu)
        return self._row(jet.euler), self._row(jet.parameters[0])

    def _fixed(self, parameters: Any) -> Any:
        xp = namespace(parameters)
        mu = xp.asarray(self.structure.fixed, dtype=parameters.dtype, device=device(parameters))
        value = self._row(power(self._places, mu[None, :, None]).euler)
        return xp.broadcast_to(value, (parameters.shape[0], *value.shape[1:]))

    def _row(self, euler: tuple[Any, Any, Any]) -> Any:
        if self.operator is None:
            return euler[0]
        return sum(factor * part for factor, part in zip(self.operator, euler, strict=True))


def jets(r: Any, structure: Structure, parameters: Any) -> list[RadialJet]:
    """Return the columns of a structure one by one, for gradients and Laplacians.

    Parameters
    ----------
    r : array, shape (rows,)
        Radii.
    structure : Structure
    parameters : array, shape (p,)
        Its parameters.

    Returns
    -------
    list of RadialJet, one per column

    Examples
    --------
    >>> import numpy as np
    >>> (jet,) = jets(np.array([2.0]), Structure(powers=1), np.array([3.0]))
    >>> jet.laplacian(np.array([2.0]), dimension=1)
    array([12.])
    """
    a = structure.powers
    columns = [power(r, parameters[i]) for i in range(a)]
    for i in range(structure.pairs):
        columns += pair_block(r, parameters[a + 2 * i], parameters[a + 2 * i + 1])
    return columns + [power(r, mu) for mu in structure.fixed]
