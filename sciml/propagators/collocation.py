"""Where a generator is trained: the domain with everything that arrives in it, and points there."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from sciml.propagators.base import coordinate_values
from sciml.propagators.rays import RayPropagator
from sciml.propagators.symbols import PhaseSymbols

__all__ = ["TrainingPoints", "backward_cone", "largest_values"]

Box = tuple[tuple[float, float], ...]

_GROWTHS = 12
_FARTHEST = 100.0


def backward_cone(
    symbols: PhaseSymbols, domain: Box, final_time: float, largest_frequency: float
) -> Box:
    """Smallest known box that holds every ray which arrives in the domain.

    On the line the residual of the eikonal equation determines the phase only where all rays that
    arrive were followed from their start: for a wind ``c > 0`` on ``[A, B]`` that is
    ``[A - c T, B]``. Trained on less, a certificate is void.

    Parameters
    ----------
    symbols : PhaseSymbols
        Of the equation.
    domain : tuple of (start, stop)
        Where the field is wanted.
    final_time : float
        Longest time.
    largest_frequency : float
        Of the window; velocities of dispersive waves grow with it.

    Returns
    -------
    tuple of (start, stop)

    Raises
    ------
    ValueError
        If rays arrive from arbitrarily far away within the time.

    Examples
    --------
    >>> from pdes import Equation
    >>> from sciml.propagators import phase_symbols
    >>> backward_cone(phase_symbols(Equation.from_text("u_t = -u_x")), ((-3.0, 3.0),), 1.5, 30.0)
    ((-4.5, 3.0),)
    """
    if symbols.dimension == 1 and symbols.linear:
        return _followed_back(symbols, domain, final_time)
    box = domain
    for _ in range(_GROWTHS):
        reach = _reach(symbols, box, final_time, largest_frequency)
        grown = tuple(
            (min(a, a - final_time * up), max(b, b - final_time * down))
            for (a, b), (down, up) in zip(domain, reach, strict=True)
        )
        if all(math.isclose(x, y, rel_tol=1e-3) for g, b in zip(grown, box, strict=True)
               for x, y in zip(g, b, strict=True)):  # fmt: skip
            return grown
        _check_size(symbols, grown, domain, final_time)
        box = grown
    raise _no_cone(symbols, final_time)


def _followed_back(symbols: PhaseSymbols, domain: Box, final_time: float) -> Box:
    (edges,) = domain
    rays = RayPropagator(symbols.equation, domain, final_time, periodic=False, n_steps=256)
    times = torch.linspace(0.0, final_time, 65, dtype=torch.float64)
    start, stop = edges
    for branch in symbols.branches:
        for edge in edges:
            feet = rays.foot(times, torch.tensor(edge, dtype=torch.float64), branch)
            if not bool(torch.isfinite(feet).all()):
                raise _no_cone(symbols, final_time)
            start, stop = min(start, float(feet.min())), max(stop, float(feet.max()))
    box = ((start, stop),)
    _check_size(symbols, box, domain, final_time)
    return box


def _check_size(symbols: PhaseSymbols, box: Box, domain: Box, final_time: float) -> None:
    for (a, b), (start, stop) in zip(box, domain, strict=True):
        if not (math.isfinite(b - a) and b - a <= _FARTHEST * (stop - start)):
            raise _no_cone(symbols, final_time)


def _no_cone(symbols: PhaseSymbols, final_time: float) -> ValueError:
    return ValueError(
        f"final_time is {final_time:.6g}: rays of {symbols.equation.name!r} arrive in the domain "
        "from more than 100 times its size, so that no bounded set determines the phase. Take a "
        "shorter final_time and compose with propagate(..., max_step=...), a smaller window "
        "n_modes, or periodic=True"
    )


def _reach(symbols: PhaseSymbols, box: Box, final_time: float, largest: float):
    """Least and largest velocity along every axis, not beyond rest."""
    t, x, xi = _grid(symbols, box, final_time, largest)
    found = []
    for axis in symbols.equation.coordinates:
        name = f"velocity_{axis}"
        down = up = 0.0
        for branch in symbols.branches:
            values = _evaluated(symbols, (name,), t, x, xi, branch)[name]
            down, up = min(down, float(values.min())), max(up, float(values.max()))
        found.append((down, up))
    return found


def largest_values(
    symbols: PhaseSymbols, box: Box, final_time: float, largest: float, *names: str
) -> dict[str, float]:
    """Largest absolute values over box and window of expressions at the start, ``phi = x.xi``.

    Parameters
    ----------
    symbols, box, final_time
        Equation, and where.
    largest : float
        Largest frequency.
    *names : str
        As in `PhaseSymbols.compile`.
    """
    t, x, xi = _grid(symbols, box, final_time, largest)
    found = dict.fromkeys(names, 0.0)
    for branch in symbols.branches:
        for name, values in _evaluated(symbols, names, t, x, xi, branch).items():
            found[name] = max(found[name], float(values.abs().max()))
    return found


def _evaluated(symbols: PhaseSymbols, names, t, x, xi, branch):
    jets = {name: torch.zeros_like(t) for name in (*symbols.phase_jets, *symbols.amplitude_jets)}
    parts = [xi] if symbols.dimension == 1 else list(xi.unbind(-1))
    jets |= {f"phi_{a}": p for a, p in zip(symbols.equation.coordinates, parts, strict=True)}
    jets["a"] = torch.ones_like(t)
    program = symbols.compile(*names)
    values = program(jets, coordinate_values(symbols, t, x), branch=float(branch))
    return {name: torch.as_tensor(v) for name, v in values.items()}


def _grid(symbols: PhaseSymbols, box: Box, final_time: float, largest: float):
    """Times, positions and frequencies that cover everything coarsely, as flat tensors."""
    d = symbols.dimension
    count = 65 if d == 1 else 17
    places = [torch.linspace(a, b, count, dtype=torch.float64) for a, b in box]
    waves = torch.linspace(-largest, largest, 17 if d == 1 else 9, dtype=torch.float64)
    clock = torch.zeros(1) if symbols.autonomous else torch.linspace(0.0, final_time, 9)
    grids = torch.meshgrid(clock.to(torch.float64), *places, *[waves] * d, indexing="ij")
    t, *rest = (g.reshape(-1) for g in grids)
    if d == 1:
        kept = rest[1] != 0.0
        return t[kept], rest[0][kept], rest[1][kept]
    x, xi = torch.stack(rest[:d], dim=-1), torch.stack(rest[d:], dim=-1)
    kept = (xi != 0.0).any(-1)
    return t[kept], x[kept], xi[kept]


class TrainingPoints:
    """Times, positions and frequencies, drawn uniformly or from Sobol's sequence.

    Parameters
    ----------
    box : sequence of (start, stop)
        Positions.
    final_time : float
        Times are in [0, final_time].
    largest : float
        Frequencies up to it.
    folded : bool
        Only positive frequencies, in one dimension.
    count : int
        Points of a batch.

    Examples
    --------
    >>> points = TrainingPoints([(0.0, 1.0)], 2.0, 30.0, folded=True, count=8)
    >>> t, x, xi = points(0, torch.Generator().manual_seed(0))
    >>> t.shape, bool((xi >= 0).all())
    (torch.Size([8]), True)
    """

    def __init__(
        self,
        box: Sequence[tuple[float, float]],
        final_time: float,
        largest: float,
        *,
        folded: bool,
        count: int,
    ) -> None:
        if isinstance(count, bool) or int(count) != count or count < 1:
            raise ValueError(f"batch_size is {count!r}: wanted a whole number of at least 1")
        self.box, self.final_time, self.largest = tuple(box), final_time, largest
        self.folded, self.count = folded, int(count)

    def __call__(self, step: int, generator: torch.Generator):
        """Fresh uniform points of a step."""
        shape = (self.count, 1 + 2 * len(self.box))
        return self._placed(torch.rand(shape, generator=generator, dtype=torch.float64))

    def sobol(self, seed: int):
        """Points of a scrambled Sobol sequence."""
        engine = torch.quasirandom.SobolEngine(1 + 2 * len(self.box), scramble=True, seed=seed)
        return self._placed(engine.draw(self.count, dtype=torch.float64))

    def _placed(self, cube: torch.Tensor):
        d = len(self.box)
        t = self.final_time * cube[:, 0]
        places = [a + (b - a) * cube[:, 1 + n] for n, (a, b) in enumerate(self.box)]
        if d == 1:
            last = cube[:, 2]
            return t, places[0], self.largest * (last if self.folded else 2.0 * last - 1.0)
        radius = self.largest * torch.sqrt(cube[:, 1 + d])
        angle = 2.0 * math.pi * cube[:, 2 + d]
        xi = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=-1)
        return t, torch.stack(places, dim=-1), xi
