"""Values of sympy expressions on arrays, through the programs that equations compile to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import sympy

from pdes.compile import compile_equation
from pdes.jets import JetSpace
from pdes.symbols import number, parameter

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
        bare: Any = expression.xreplace(self._numbers)
        if bare.is_number:
            found = complex(bare)
            return found if found.imag else found.real
        return self.program(expression)({}, time)

    def program(self, expression: sympy.Expr) -> Callable[[Mapping[str, Array], Any], Array]:
        """Function ``(jets by name, time) -> values``, compiled once."""
        bare: Any = expression.xreplace(self._numbers)
        names = {str(symbol) for symbol in bare.free_symbols}
        scalars = {n: value for n, value in self.parameters.items() if n in names}
        rhs = {self.space.fields[0]: bare}
        compiled = compile_equation(rhs, self.space, dict.fromkeys(scalars, 0.0), self.backend)

        def function(jets: Mapping[str, Array], time: Any) -> Array:
            coordinates = {**self.coordinates, "t": time}
            return next(iter(compiled(jets, coordinates, **scalars).values()))

        return function

    @cached_property
    def _numbers(self) -> dict[sympy.Symbol, sympy.Expr]:
        """Plain numbers enter exactly: as arrays without a dtype torch would round them."""
        plain = {n: v for n, v in self.parameters.items() if not hasattr(v, "dtype")}
        plain |= {n: v.item() for n, v in self.parameters.items() if isinstance(v, np.generic)}
        return {parameter(name): number(value) for name, value in plain.items()}
