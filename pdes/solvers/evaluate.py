"""Values of sympy expressions on arrays, through the programs that equations compile to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import sympy

from pdes.compile import compile_equation
from pdes.jets import JetSpace

Array = Any


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """Evaluates expressions in the plain symbols of a jet space.

    Parameters
    ----------
    space : JetSpace
        Names fields and coordinates.
    parameters : mapping of str to float or scalar array
        Values of the parameters; scalars of torch keep their gradient.
    coordinates : mapping of str to array
        Values of the coordinates, shaped to broadcast together.
    backend : {"numpy", "torch"}
        Namespace of the arrays.

    Examples
    --------
    >>> import numpy as np, sympy
    >>> x = sympy.Symbol("x", real=True)
    >>> space = JetSpace(("u",), ("x",))
    >>> Evaluator(space=space, coordinates={"x": np.array([0.0, 1.0])}).value(sympy.exp(x))
    array([1.        , 2.71828183])
    """

    space: JetSpace
    parameters: Mapping[str, Any] = field(default_factory=dict)
    coordinates: Mapping[str, Array] = field(default_factory=dict)
    backend: Literal["numpy", "torch"] = "numpy"

    def value(self, expression: sympy.Expr, time: Any = None) -> Any:
        """Number or array; a plain Python number where no array enters."""
        if expression.is_number:
            number = complex(expression)
            return number if number.imag else number.real
        value = self.program(expression)({}, time)
        plain = self.backend == "numpy" and value.ndim == 0
        # A zero-dimensional array would promote single precision to double; a number does not.
        return value.item() if plain else value

    def program(self, expression: sympy.Expr) -> Callable[[Mapping[str, Array], Any], Array]:
        """Function ``(jets by name, time) -> values``, compiled once."""
        names = {symbol.name for symbol in expression.free_symbols}
        parameters = {n: value for n, value in self.parameters.items() if n in names}
        defaults = dict.fromkeys(parameters, 0.0)
        rhs = {self.space.fields[0]: expression}
        compiled = compile_equation(rhs, self.space, defaults, self.backend)

        def function(jets: Mapping[str, Array], time: Any) -> Array:
            coordinates = {**self.coordinates, "t": time}
            return next(iter(compiled(jets, coordinates, **parameters).values()))

        return function
