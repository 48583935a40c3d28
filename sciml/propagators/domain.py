"""The box a propagator lives on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pdes.equation import Equation
from pdes.grid import Grid

__all__ = ["check_domain"]


def check_domain(
    domain: Grid | Sequence[tuple[float, float]], periodic: bool | None, equation: Equation
) -> tuple[tuple[tuple[float, float], ...], bool]:
    """Intervals of a box and whether it is a torus.

    Parameters
    ----------
    domain : Grid or sequence of (start, stop)
        One interval for each coordinate of the equation.
    periodic : bool or None
        None takes it from the grid, else True.
    equation : Equation
        Says how many intervals are wanted.

    Returns
    -------
    domain : tuple of (start, stop)
    periodic : bool

    Examples
    --------
    >>> check_domain([(0, 1)], None, Equation.from_text("u_t = -u_x"))
    (((0.0, 1.0),), True)
    """
    if isinstance(domain, Grid):
        kinds = {axis.periodic for axis in domain.axes}
        if len(kinds) > 1:
            raise ValueError("domain: some axes are periodic and some are not; wanted all alike")
        if periodic is None:
            periodic = kinds.pop()
        domain = [(axis.start, axis.stop) for axis in domain.axes]
    try:
        box = tuple((float(start), float(stop)) for start, stop in domain)
    except (TypeError, ValueError):
        raise ValueError(
            f"domain is {domain!r}: wanted one (start, stop) for each coordinate, as in [(0, 6)]"
        ) from None
    if len(box) != len(equation.coordinates) or len(box) > 2:
        raise ValueError(
            f"domain has {len(box)} intervals: the equation lives on "
            f"{', '.join(equation.coordinates)}, and one or two coordinates are supported"
        )
    for start, stop in box:
        if not (math.isfinite(start) and math.isfinite(stop) and start < stop):
            raise ValueError(f"domain holds ({start}, {stop}): wanted finite ends, start < stop")
    return box, True if periodic is None else bool(periodic)
