"""Eikonal, transport and parametrix remainder of a linear evolution equation.

Put ``u = exp(i lam phi) a`` into ``d_t^r u - rhs``, weigh every term so that its whole symbol
counts at the top power of ``lam``, and collect: the top power is the **eikonal** equation of the
phase, the next one the **transport** equation of the amplitude, and what is left is the
**parametrix remainder**, which no choice of phase and amplitude removes (P. D. Lax, Duke Math. J.
24, 627 (1957); derived here for the equations of `pdes`).
"""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportArgumentType=false
# pyright: reportCallIssue=false
# pyright: reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false
# pyright: reportOperatorIssue=false
# pyright: reportAttributeAccessIssue=false
# pyright: reportReturnType=false

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import sympy

from pdes.compile import CompiledEquation, compile_equation
from pdes.equation import Equation
from pdes.symbols import TIME, coordinate
from sciml.propagators.large_frequency import (
    frequency_powers,
    jet_space,
    plain_symbol,
    unit_orders,
)
from sciml.propagators.operator_terms import OperatorTerms, UnsupportedEquation, read_operator

__all__ = ["PhaseSymbols", "UnsupportedEquation", "phase_symbols"]

BRANCH = sympy.Symbol("branch", real=True)
"""+1 or -1: which root of the eikonal equation of second order in time."""

_SIGN = sympy.Symbol("sigma", real=True)
"""Stands for the sign of the wave number while expressions are differentiated."""


@dataclass(frozen=True, kw_only=True)
class PhaseSymbols:
    """What phase and amplitude of one equation must satisfy, in SymPy; see `phase_symbols`.

    The expressions hold the plain real symbols ``phi_t``, ``phi_x``, ``phi_xx``, ..., the plain
    symbols ``a``, ``a_t``, ``a_x``, ..., ``t``, the coordinates, and ``branch``.

    Parameters
    ----------
    equation : Equation
        The equation they were derived from.
    time_order : int
        1, or 2 for an equation like the wave equation, which has two branches.
    order : int
        Order of differentiation in space.
    hamiltonian : sympy.Expr
        ``H`` of ``phi_t + branch*H(t, x, grad phi) = 0``, in ``phi_x``, ... In one dimension it
        is odd for equations of second order in time: branch +1 moves to the right.
    phase_residual : sympy.Expr
        ``phi_t + branch*H``: zero for the exact phase.
    amplitude_residual : sympy.Expr
        Transport equation solved for ``a_t``, without second derivatives in time: zero for the
        exact amplitude.
    eikonal, transport, remainder : sympy.Expr
        The three parts of the source that phase and amplitude leave in the equation,
        ``exp(-i phi) (d_t^r - rhs)(exp(i phi) a)``.
    velocity : tuple of sympy.Expr
        Group velocity ``dH/dp`` of branch +1, one expression for each coordinate.

    Examples
    --------
    >>> from pdes import Equation
    >>> airy = phase_symbols(Equation.from_text("u_t = -u_xxx"))
    >>> airy.phase_residual
    phi_t - phi_x**3
    >>> airy.amplitude_residual
    -3*a*phi_x*phi_xx + a_t - 3*a_x*phi_x**2
    """

    equation: Equation
    time_order: int
    order: int
    hamiltonian: sympy.Expr
    phase_residual: sympy.Expr
    amplitude_residual: sympy.Expr
    eikonal: sympy.Expr
    transport: sympy.Expr
    remainder: sympy.Expr
    velocity: tuple[sympy.Expr, ...]

    @property
    def dimension(self) -> int:
        """Number of spatial coordinates."""
        return len(self.equation.coordinates)

    @property
    def branches(self) -> tuple[int, ...]:
        """``(1,)``, or ``(1, -1)`` for an equation of second order in time."""
        return (1,) if self.time_order == 1 else (1, -1)

    @property
    def real(self) -> bool:
        """Whether the field is real."""
        return not self.equation.complex_fields

    @cached_property
    def autonomous(self) -> bool:
        """Whether nothing depends on time explicitly."""
        return TIME not in self._explicit

    @cached_property
    def constant(self) -> bool:
        """Whether nothing depends on position: then ``phi = x.xi - t p(xi)`` and a multiplier."""
        return not self._explicit & {coordinate(c) for c in self.equation.coordinates}

    @cached_property
    def homogeneous(self) -> bool:
        """Whether the Hamiltonian is homogeneous of degree 1 in the gradient of the phase."""
        scale = sympy.Symbol("scale", positive=True)
        scaled = self.hamiltonian.xreplace({p: scale * p for p in self.gradient})
        return sympy.simplify(scaled - scale * self.hamiltonian) == 0

    @cached_property
    def odd(self) -> bool:
        """Whether ``H(-p) = -H(p)``: one foot serves both signs of the frequency."""
        mirrored = self.hamiltonian.xreplace({p: -p for p in self.gradient})
        return sympy.simplify(mirrored + self.hamiltonian) == 0

    @cached_property
    def linear(self) -> bool:
        """Whether the Hamiltonian is ``c(t, x) . p``: transport, and waves in one dimension."""
        return self.homogeneous and not any(v.has(p) for v in self.velocity for p in self.gradient)

    @cached_property
    def residual_program(self) -> CompiledEquation:
        """All residuals as one function of torch tensors; see `compile`."""
        return self.compile(
            "phase_residual", "amplitude_residual", "eikonal", "transport", "remainder"
        )

    @cached_property
    def damping(self) -> sympy.Expr:
        """Rate at which the amplitude falls along a ray: the factor of ``a`` in its equation."""
        return sympy.expand(self.amplitude_residual).coeff(sympy.Symbol("a", real=True))

    @property
    def gradient(self) -> tuple[sympy.Symbol, ...]:
        """Symbols of the first derivatives of the phase, one for each coordinate."""
        return tuple(jet_space(self.equation).symbol("phi", e) for e in unit_orders(self.dimension))

    @property
    def phase_jets(self) -> tuple[str, ...]:
        """Names of the derivatives of the phase that the expressions need."""
        return tuple(n for n in self._jets if n.startswith("phi"))

    @property
    def amplitude_jets(self) -> tuple[str, ...]:
        """Names of the amplitude and its derivatives that the expressions need."""
        return tuple(n for n in self._jets if not n.startswith("phi"))

    def compile(self, *names: str, backend: str = "torch") -> CompiledEquation:
        """Expressions as one function of arrays.

        Parameters
        ----------
        *names : str
            Which, by the name of the attribute: ``"phase_residual"``, ``"transport"``, ...;
            ``"velocity_x"`` for a component of `velocity`, ``"force_x"`` for ``-dH/dx``.
        backend : {"torch", "numpy"}
            Kind of the arrays.

        Returns
        -------
        CompiledEquation
            ``f(jets, coordinates, branch=...)`` from ``{"phi_x": ..., "a": ...}`` and
            ``{"t": ..., "x": ...}`` to one array for each name. Compiled once for each call.

        Examples
        --------
        >>> import torch
        >>> from pdes import Equation
        >>> wave = phase_symbols(Equation.from_text("u_t = v; v_t = 4*u_xx"))
        >>> speed = wave.compile("velocity_x")
        >>> float(speed({"phi_x": torch.ones(())}, {})["velocity_x"])
        2.0
        """
        rows = {name: self._expression(name) for name in names}
        return compile_equation(rows, jet_space(self.equation), {BRANCH.name: 1.0}, backend)

    def _expression(self, name: str) -> sympy.Expr:
        stem, _, axis = name.rpartition("_")
        axes = self.equation.coordinates
        signed = BRANCH if self.time_order == 2 else sympy.S.One
        if stem == "velocity" and axis in axes:
            return signed * self.velocity[axes.index(axis)]
        if stem == "force" and axis in axes:
            return -signed * self.hamiltonian.diff(coordinate(axis))
        return getattr(self, name)

    @cached_property
    def _explicit(self) -> set[sympy.Symbol]:
        known = {TIME, *[coordinate(c) for c in self.equation.coordinates]}
        return known & self._every.free_symbols

    @property
    def _every(self) -> sympy.Tuple:
        parts = (self.phase_residual, self.amplitude_residual, self.eikonal, self.transport)
        return sympy.Tuple(*parts, self.remainder)

    @cached_property
    def _jets(self) -> tuple[str, ...]:
        return tuple(s.name for s in jet_space(self.equation).jets(self._every))

    def __str__(self) -> str:
        return (
            f"{self.equation}\n"
            f"eikonal     {self.phase_residual} = 0\n"
            f"transport   {self.amplitude_residual} = 0\n"
            f"remainder   {self.remainder}"
        )


def phase_symbols(equation: Equation) -> PhaseSymbols:
    """Derive what phase and amplitude of a linear equation must satisfy.

    Parameters
    ----------
    equation : Equation
        One linear equation of first order in time, or the system ``u_t = v, v_t = ...`` that
        stands for one of second order. Coefficients may depend on position and time.

    Returns
    -------
    PhaseSymbols

    Raises
    ------
    UnsupportedEquation
        A ValueError with the reason: the equation is nonlinear, has several fields, has no
        derivative in space, or its leading symbol is not real (diffusion).

    Notes
    -----
    A term of order ``j`` in space of an equation of order ``m`` is weighed by ``lam^(m - j)`` if
    it turns the phase, and by ``lam^(m - 1 - j)`` if it changes the amplitude. So the phase of an
    equation with constant coefficients is exact with its full symbol, and the amplitude damps.

    Examples
    --------
    >>> from pdes import Equation
    >>> print(phase_symbols(Equation.from_text("u_t = v; v_t = (1 + 0.5*sin(x))^2*u_xx")))
    u_t = v
    v_t = u_xx + u_xx*sin(x) + 0.25*u_xx*sin(x)^2
    eikonal     branch*phi_x*(sin(x)/2 + 1) + phi_t = 0
    transport   -a*branch*cos(x)/4 + a_t + a_x*branch*(sin(x) + 2)/2 = 0
    remainder   a_tt - a_xx*(sin(x) + 2)**2/4
    """
    if not isinstance(equation, Equation):
        read_operator(equation)  # says what is wanted instead
    return _derived(
        _ByText(json.dumps(equation.to_json(), sort_keys=True, default=float), equation)
    )


@dataclass(frozen=True)
class _ByText:
    """An equation that equals another one if it reads the same."""

    text: str
    equation: Equation = field(compare=False)


@lru_cache(maxsize=128)
def _derived(key: _ByText) -> PhaseSymbols:
    """Derived and compiled once: propagators, rays and certificates of an equation share it."""
    operator = read_operator(key.equation)
    powers = frequency_powers(operator)
    top, middle = powers.pop(operator.order, 0), powers.pop(operator.order - 1, 0)
    rest = sympy.Add(*powers.values())
    make = _first_order if operator.time_order == 1 else _second_order
    return make(operator, sympy.expand(top), sympy.expand(middle), sympy.expand(rest))


def _first_order(operator: OperatorTerms, top, transport, rest) -> PhaseSymbols:
    a, phi_t = plain_symbol(operator, "a"), plain_symbol(operator, "phi_t")
    residual = sympy.expand(top / (sympy.I * a))
    return PhaseSymbols(
        equation=operator.equation,
        time_order=1,
        order=operator.order,
        hamiltonian=residual - phi_t,
        phase_residual=residual,
        amplitude_residual=transport,
        eikonal=top,
        transport=transport,
        remainder=rest,
        velocity=_velocities(operator, residual - phi_t),
    )


def _velocities(operator: OperatorTerms, hamiltonian: sympy.Expr) -> tuple[sympy.Expr, ...]:
    space = jet_space(operator.equation)
    units = unit_orders(len(space.coordinates))
    return tuple(sympy.expand(hamiltonian.diff(space.symbol("phi", u))) for u in units)


def _second_order(operator: OperatorTerms, top, transport, rest) -> PhaseSymbols:
    a, phi_t = plain_symbol(operator, "a"), plain_symbol(operator, "phi_t")
    square = sympy.expand(top / a + phi_t**2)
    if square.has(phi_t):
        raise UnsupportedEquation(
            f"equation {operator.equation.name!r} differentiates the velocity in space: its "
            "branches are not +H and -H. Write it without derivatives of the velocity"
        )
    space = jet_space(operator.equation)
    gradient = [space.symbol("phi", unit) for unit in unit_orders(len(space.coordinates))]
    root = _root(square, gradient)
    sign = {_SIGN: sympy.sign(gradient[0])}
    along = _solved_along(operator, transport, root, gradient)
    return PhaseSymbols(
        equation=operator.equation,
        time_order=2,
        order=operator.order,
        hamiltonian=root.xreplace(sign),
        phase_residual=phi_t + BRANCH * root.xreplace(sign),
        amplitude_residual=_tidy(along, operator).xreplace(sign),
        eikonal=-a * (phi_t**2 - sympy.factor(square)),
        transport=transport,
        remainder=_tidy(rest, operator),
        velocity=tuple(root.diff(p).xreplace(sign) for p in gradient),
    )


def _solved_along(operator: OperatorTerms, transport, root, gradient) -> sympy.Expr:
    """Transport equation divided by ``2i phi_t``, with ``phi_t = -branch*H`` put in throughout."""
    space = jet_space(operator.equation)
    frequency = BRANCH * root
    second = -frequency.diff(TIME)
    for p, axis in zip(gradient, space.coordinates, strict=True):
        second = second + frequency.diff(p) * space.derivative(frequency, axis)
    values = {plain_symbol(operator, "phi_tt"): second, plain_symbol(operator, "phi_t"): -frequency}
    along = sympy.expand(BRANCH * transport.xreplace(values))
    # Both are +1 or -1, so that their squares are 1.
    along = sympy.expand(_odd_powers(_odd_powers(along, BRANCH), _SIGN) / (-2 * sympy.I * root))
    if root.has(_SIGN):
        along = _odd_powers(sympy.expand(along * _SIGN**2), _SIGN)
    return along


def _odd_powers(expr: sympy.Expr, unit: sympy.Symbol) -> sympy.Expr:
    return expr.replace(
        lambda node: node.is_Pow and node.base == unit and node.exp.is_Integer,
        lambda node: unit ** (int(node.exp) % 2),
    )


def _tidy(expr: sympy.Expr, operator: OperatorTerms) -> sympy.Expr:
    """Simplify the coefficient of every derivative of the amplitude on its own."""
    space = jet_space(operator.equation)
    jets = [s for s in space.jets(expr) if not s.name.startswith("phi")]
    parts = {jet: sympy.expand(expr).coeff(jet) for jet in jets}
    return sympy.Add(*[sympy.factor(sympy.simplify(c)) * jet for jet, c in parts.items()])


def _root(square: sympy.Expr, gradient: list[sympy.Symbol]) -> sympy.Expr:
    """Root of the squared frequency: positive, but in one dimension odd in the wave number."""
    if len(gradient) == 1:
        (p,) = gradient
        for power, unit in ((2, p), (4, _SIGN * p**2)):
            speed = sympy.factor(sympy.cancel(square / p**power))
            if not speed.has(p):
                return _positive_root(speed) * unit
        return _SIGN * sympy.sqrt(sympy.factor(square))
    length = sum(p**2 for p in gradient)
    for power, unit in ((1, sympy.sqrt(length)), (2, length)):
        speed = sympy.factor(sympy.cancel(square / length**power))
        if not any(speed.has(p) for p in gradient):
            return _positive_root(speed) * unit
    return sympy.sqrt(sympy.factor(square))


def _positive_root(square: sympy.Expr) -> sympy.Expr:
    """Root of a square that is positive on the domain; who uses it checks that."""
    return sympy.sqrt(square).replace(sympy.Abs, lambda inner: inner)
