"""A problem: an equation together with a grid, an initial field and output times."""

from __future__ import annotations

import math
import numbers
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pdes.boundary import Boundary
from pdes.equation import Equation
from pdes.grid import Grid
from pdes.initial_arrays import check_initial

if TYPE_CHECKING:
    from pdes.exact.closed_form import ClosedForm
    from pdes.invariant import Invariant

Initial = Mapping[str, Any] | Callable[[Grid, np.random.Generator], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, repr=False)
class Problem:
    """Everything that `pdes.simulate` needs to produce one trajectory.

    Change anything with `dataclasses.replace`; all arguments are checked again.

    Parameters
    ----------
    equation : Equation
        What is solved, with the values of its parameters.
    grid : Grid
        Where the solver computes.
    initial : mapping or callable
        Field name to array on the grid (an additional leading axis makes a batch), or a function
        ``(grid, rng) -> mapping`` such as `pdes.initial.RandomFourier`.
    times : array, shape (n,)
        Default output times, increasing, not before `initial_time`.
    initial_time : float, default 0
        Time at which `initial` holds.
    initial_seed : int, default 0
        Seed of the generator handed to `initial` unless `pdes.simulate` is given another one, so
        that a benchmark field is the same field everywhere.
    time_step : float, optional
        Default step of the integrator; chosen from the initial field when absent.
    discard : float, default 0
        Time integrated before the clock starts, to pass a transient.
    stored_points : int or tuple of int, optional
        Points per axis that are kept: a divisor of the grid's points. All of them are if there are
        no more.
    exact : mapping of str to ExactSolution
        Closed forms of this equation, by name.
    boundary : mapping, optional
        Conditions on the sides, see `pdes.boundary`; a box that is periodic needs none.
    invariants : tuple of Invariant
        What the equation conserves, never increases or balances (`pdes.invariant`).
    solver : str, default "etdrk4"
        Solver used unless told otherwise; ``"exact"`` samples the closed form named by
        `exact_name` and is meant for fronts that do not fit on a periodic box.
    exact_name : str, optional
        Key of `exact` that is the solution of this very problem (initial field included).
    largest_spacing : float, optional
        Length that spacings of the grid must not exceed, such as the width of an interface:
        `pdes.simulate` refuses coarser grids, on which interfaces stick to the points.
    notes : str
        What a user should know: validity, what was chosen and why.
    source : str
        Where the problem was published.
    arguments : mapping
        Name and parameters that `pdes.get` made it of, defaults included; empty if made by hand.
        What is replaced afterwards is not in it.

    Raises
    ------
    ValueError
        If times are not increasing, a number is out of range or names do not fit together.

    Examples
    --------
    >>> import numpy as np, pdes
    >>> problem = pdes.Problem(
    ...     equation=pdes.Equation.from_text("u_t = 0.1*u_xx", name="heat"),
    ...     grid=pdes.Grid.periodic(x=(0.0, 2 * np.pi, 64)),
    ...     initial=lambda grid, rng: {"u": np.sin(grid.coordinates()["x"])},
    ...     times=np.linspace(0, 1, 11),
    ... )
    >>> round(float(pdes.simulate(problem).u[-1].max()), 4)
    0.9048
    """

    equation: Equation
    grid: Grid
    initial: Initial
    times: np.ndarray
    initial_time: float = 0.0
    initial_seed: int = 0
    time_step: float | None = None
    discard: float = 0.0
    stored_points: int | tuple[int, ...] | None = None
    exact: Mapping[str, ClosedForm] = field(default_factory=dict)
    boundary: Boundary = field(default_factory=dict)
    invariants: tuple[Invariant, ...] = ()
    solver: str = "etdrk4"
    exact_name: str | None = None
    largest_spacing: float | None = None
    notes: str = ""
    source: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        from pdes.problem_text import problem_text

        return problem_text(self)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.grid.shape))
        equation = textwrap.shorten("; ".join(str(self.equation).splitlines()), 120)
        return f"<Problem {self.equation.name!r}: {equation} on {shape} points by {self.solver}>"

    def __post_init__(self) -> None:
        if not isinstance(self.equation, Equation):
            raise ValueError(
                f"equation: got {type(self.equation).__name__} {self.equation!r}, wanted a "
                "pdes.Equation, such as pdes.Equation.from_text('u_t = 0.1*u_xx', name='heat')"
            )
        check_grid(self.grid, self.equation.coordinates)
        check_initial(self.initial, self.equation.fields)
        if not _is_real(self.initial_time):
            raise ValueError(f"initial_time must be a finite number, got {self.initial_time!r}")
        object.__setattr__(self, "times", check_times(self.times, self.initial_time))
        for name in ("time_step", "largest_spacing"):
            value = getattr(self, name)
            if value is not None and not (_is_real(value) and value > 0.0):
                raise ValueError(f"{name} must be positive and finite, got {value!r}")
        if not (_is_real(self.discard) and self.discard >= 0.0):
            raise ValueError(f"discard must be a non-negative time, got {self.discard!r}")
        if not _is_whole(self.initial_seed) or self.initial_seed < 0:
            raise ValueError(
                f"initial_seed must be a whole number of at least 0, got {self.initial_seed!r}"
            )
        if not isinstance(self.boundary, Mapping):
            raise ValueError(
                f"boundary: got {self.boundary!r}, wanted a mapping of side to condition, such as "
                "{'x-': pdes.boundary.Dirichlet(0.0), 'x+': pdes.boundary.Neumann()}"
            )
        if not isinstance(self.solver, str):
            raise ValueError(f"solver: got {self.solver!r}, wanted the name of one, as 'etdrk4'")
        if tuple(self.grid.names) != tuple(self.equation.coordinates):
            raise ValueError(
                f"grid has axes {tuple(self.grid.names)} but the equation lives on "
                f"{tuple(self.equation.coordinates)}: give one grid axis for each, in this order"
            )
        if not isinstance(self.invariants, list | tuple):
            raise ValueError(
                f"invariants: got {self.invariants!r}, wanted a tuple of pdes.invariant.Invariant"
            )
        object.__setattr__(self, "invariants", tuple(self.invariants))
        _ = self.strides
        if self.exact_name is not None and self.exact_name not in self.exact:
            raise ValueError(f"exact_name={self.exact_name!r} is not among {sorted(self.exact)}")

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps along each axis from one stored point to the next."""
        stored: Any = self.stored_points
        if stored is None:
            return (1,) * len(self.grid.shape)
        if _is_whole(stored):
            stored = (stored,) * len(self.grid.shape)
        if not isinstance(stored, list | tuple) or not all(map(_is_whole, stored)):
            raise ValueError(
                f"stored_points: got {stored!r}, wanted a whole number of points, or one for each "
                f"axis {tuple(self.grid.names)}"
            )
        if len(stored) != len(self.grid.shape):
            raise ValueError(
                f"stored_points has {len(stored)} entries for {len(self.grid.shape)} axes"
            )
        for name, points, kept in zip(self.grid.names, self.grid.shape, stored, strict=True):
            if kept < 1 or (kept < points and points % kept):
                near = max(n for n in range(1, max(kept, 1) + 1) if points % n == 0)
                raise ValueError(
                    f"stored_points={kept} does not divide the {points} points of axis {name!r}: "
                    f"use stored_points={near}, None to keep all, or another number of points"
                )
        # A grid with no more points than are wanted is kept as it is.
        return tuple(max(1, n // kept) for n, kept in zip(self.grid.shape, stored, strict=True))

    def check_spacing(self) -> None:
        """Refuse a grid that is too coarse for what the problem must resolve.

        Raises
        ------
        ValueError
            Naming the axis, its spacing, `largest_spacing` and the points that would do.

        Examples
        --------
        >>> import pdes
        >>> coarse = pdes.Grid.periodic(x=(0.0, 4.0, 16))
        >>> pdes.get("allen_cahn", grid=coarse, stored_points=None).check_spacing()
        Traceback (most recent call last):
        ...
        ValueError: axis 'x' of 'allen_cahn' has spacing 0.25, above the 0.223607 that ...
        """
        if self.largest_spacing is None:
            return
        for axis in self.grid.axes:
            if axis.spacing > self.largest_spacing * (1.0 + 1e-9):
                wanted = int(np.ceil(axis.points * axis.spacing / self.largest_spacing))
                raise ValueError(
                    f"axis {axis.name!r} of {self.equation.name!r} has spacing {axis.spacing:.6g}, "
                    f"above the {self.largest_spacing:.6g} that its interfaces need: use at least "
                    f"{wanted + wanted % 2} points"
                )


def check_times(times: Any, start: float = 0.0) -> np.ndarray:
    """Output times as a read-only float64 array, or an error that says what is wrong with them.

    Parameters
    ----------
    times : array_like, shape (n,)
        Output times.
    start : float, default 0
        None of them may be earlier.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    ValueError
        If they are empty, not finite, not strictly increasing or before `start`.

    Examples
    --------
    >>> check_times([0, 1, 2])
    array([0., 1., 2.])
    """
    wanted = "wanted a one-dimensional list of at least one finite real number"
    if np.ma.is_masked(times):
        raise ValueError(f"times: {np.ma.count_masked(times)} of them are masked; {wanted}")
    try:
        values = np.array(times, ndmin=1)
    except ValueError:
        raise ValueError(f"times: got {times!r}; {wanted}") from None
    if values.dtype.kind not in "iuf" and values.size:
        raise ValueError(f"times: got {_short(times)} of type {values.dtype}; {wanted}")
    values = values.astype(np.float64)
    if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values)):
        raise ValueError(f"times: got {_short(times)} of shape {np.shape(times)}; {wanted}")
    if np.any(np.diff(values) <= 0.0):
        position = int(np.argmax(np.diff(values) <= 0.0))
        raise ValueError(
            f"times must increase: times[{position}]={values[position]} is followed by "
            f"{values[position + 1]}; sort them and drop repeated ones"
        )
    if values[0] < start:
        raise ValueError(f"times start at {values[0]}, before the initial field at {start}")
    values.setflags(write=False)
    return values


def check_grid(grid: Any, coordinates: tuple[str, ...]) -> None:
    """Refuse what is no `Grid`, and show how to write it as one.

    Parameters
    ----------
    grid : object
        What was given.
    coordinates : tuple of str
        Axes that the equation lives on.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> check_grid({"x": (0.0, 1.0, 64)}, ("x",))
    Traceback (most recent call last):
    ...
    ValueError: grid: got dict, wanted a pdes.Grid: pdes.Grid.periodic(x=(0.0, 1.0, 64))
    """
    if isinstance(grid, Grid):
        return
    example = ", ".join(f"{name}=(0.0, 6.283, 128)" for name in coordinates)
    if isinstance(grid, Mapping):
        triples = {k: v for k, v in grid.items() if isinstance(v, list | tuple) and len(v) == 3}
        if triples and len(triples) == len(grid):
            example = ", ".join(f"{name}={tuple(triple)}" for name, triple in triples.items())
    raise ValueError(
        f"grid: got {type(grid).__name__}, wanted a pdes.Grid: pdes.Grid.periodic({example})"
    )


def _is_real(value: Any) -> bool:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and math.isfinite(float(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
