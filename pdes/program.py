"""Straight-line programs over arrays of numpy or torch: a compiled right-hand side.

A program is a list of elementary array operations. It holds no generated code, so it pickles, and
it runs the same on numpy arrays and on torch tensors, differentiably.
"""

from __future__ import annotations

import cmath
import importlib
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import numpy as np

from pdes.tokens import closest

__all__ = ["CompiledEquation", "array_functions"]

Array = Any
Operation = tuple[str, tuple[int, ...]]

_BINARY: dict[str, Callable] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
}


@dataclass(frozen=True)
class CompiledEquation:
    """Right-hand side as a function of arrays; made by :meth:`pdes.Equation.compile`.

    Parameters
    ----------
    backend
        ``"numpy"`` or ``"torch"``.
    fields
        Names of the fields whose time derivatives are returned.
    jets
        Names of the derivatives that a call needs.
    explicit
        Names of the coordinates that a call needs (``"t"`` for time).
    parameters
        Default values of the parameters.
    constants
        Numbers of the program, which fill its first registers.
    operations
        Elementary operations on registers, each filling the next one.
    outputs
        Register of each field's time derivative.
    """

    backend: Literal["numpy", "torch"]
    fields: tuple[str, ...]
    jets: tuple[str, ...]
    explicit: tuple[str, ...]
    parameters: tuple[tuple[str, float], ...]
    constants: tuple[complex, ...]
    operations: tuple[Operation, ...]
    outputs: tuple[int, ...]

    def __call__(
        self,
        jets: Mapping[str, Array],
        coordinates: Mapping[str, Array] | None = None,
        **parameter_overrides: Array,
    ) -> dict[str, Array]:
        """Time derivatives of the fields.

        Parameters
        ----------
        jets
            Arrays by derivative name (``"u"``, ``"u_xx"``), of shapes that broadcast together.
        coordinates
            Arrays by coordinate name, and ``"t"``, where the equation depends on them explicitly.
        **parameter_overrides
            Values to use in place of the equation's own; torch scalars may require gradients.

        Returns
        -------
        dict
            Array of the common shape for each field.

        Raises
        ------
        ValueError
            If a jet, a coordinate or a parameter is missing or unknown.
        """
        registers: list[Any] = list(self.constants)
        registers += [_taken(jets, name, "jets") for name in self.jets]
        registers += [_taken(coordinates or {}, name, "coordinates") for name in self.explicit]
        registers += self._parameter_values(parameter_overrides)
        xp = array_functions(self.backend)
        for name, inputs in self.operations:
            if name in _BINARY:
                registers.append(_BINARY[name](registers[inputs[0]], registers[inputs[1]]))
            else:
                registers.append(_apply(xp, name, registers[inputs[0]]))
        return self._shaped(xp, registers, jets)

    def _parameter_values(self, overrides: dict[str, Array]) -> list[Any]:
        known = dict(self.parameters)
        for name in overrides:
            if name not in known:
                raise ValueError(
                    f"unknown parameter {name!r}.{closest(name, known)} "
                    f"The parameters are {', '.join(known) or '(none)'}"
                )
        values = (known | overrides).values()
        # A numpy scalar would turn float32 fields into float64; a Python number does not.
        scalar = (np.generic, np.ndarray)
        return [v.item() if isinstance(v, scalar) and v.ndim == 0 else v for v in values]

    def _shaped(
        self, xp: ModuleType, registers: list[Any], jets: Mapping[str, Array]
    ) -> dict[str, Array]:
        arrays = list(jets.values())
        shapes = [tuple(a.shape) if hasattr(a, "shape") else () for a in arrays]
        shape = shapes[0] if len(set(shapes)) == 1 else np.broadcast_shapes(*shapes)
        result = {}
        first_computed = len(registers) - len(self.operations)
        taken: set[int] = set()
        for field, register in zip(self.fields, self.outputs, strict=True):
            value = registers[register]
            if not hasattr(value, "shape"):
                value = xp.zeros_like(arrays[0]) + value if arrays else xp.asarray(value)
            elif register < first_computed or register in taken:
                # The caller may write into a result: never hand out an input, or one array twice.
                value = 1 * value
            taken.add(register)
            if tuple(value.shape) != shape:
                full = np.broadcast_shapes(tuple(value.shape), shape)
                value = xp.broadcast_to(value, full)
            result[field] = value
        return result


def array_functions(backend: str) -> ModuleType:
    """Module with the functions of a backend; torch is loaded only when asked for."""
    if backend == "numpy":
        return np
    return importlib.import_module("array_api_compat.torch")


def _apply(xp: ModuleType, name: str, value: Any) -> Any:
    if not isinstance(value, (float, complex, int)):
        return getattr(xp, name)(value)
    if name == "abs":
        return abs(value)
    if name == "conj":
        return value.conjugate()
    if name == "sign":
        return math.copysign(1.0, value.real) if value else 0.0
    return getattr(cmath if isinstance(value, complex) else math, name)(value)


def _taken(given: Mapping[str, Array], name: str, argument: str) -> Array:
    try:
        return given[name]
    except KeyError:
        raise ValueError(
            f"{argument}: {name!r} is needed, got {', '.join(given) or 'none'}"
        ) from None
