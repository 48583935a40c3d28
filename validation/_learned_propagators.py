"""Fields, references and errors that the cases of learned propagators share."""

from __future__ import annotations

import math
import resource
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

LINE = [(-math.pi, math.pi)]
"""A length of 2 pi, so that 30 modes are exactly the window |xi| <= 30."""
CIRCLE = [(0.0, 2.0 * math.pi)]
FINAL = 1.5
TIMES = (0.375, 0.75, 1.125, 1.5)


def named_fields() -> dict[str, Any]:
    """Gaussian, box, staircase, tent and packet; none of them known in training."""
    from sciml.propagators import Box, Gaussian, Packet, PiecewiseConstant, Tent

    return {
        "Gaussian": Gaussian(-1.0, 0.3),
        "box": Box(-1.5, -0.5),
        "staircase": PiecewiseConstant((-1.6, -1.0, -0.3), (1.0, 1.6)),
        "tent": Tent(-1.0, 0.5),
        "packet": Packet(-1.0, 0.3, 12.0),
    }


def random_fields(count: int, seed: int) -> list[tuple[str, Any]]:
    """Fields of five families, `count` of each, within [-2.5, 0.5]."""
    from sciml.propagators import Box, Gaussian, Packet, PiecewiseConstant, Tent

    rng = np.random.default_rng(seed)
    found: list[tuple[str, Any]] = []
    for _ in range(count):
        center, width = rng.uniform(-1.6, -0.4), rng.uniform(0.15, 0.3)
        half = rng.uniform(0.3, 0.8)
        edges = np.sort(center + rng.uniform(-0.8, 0.8, 4))
        found += [
            ("box", Box(center - half, center + half)),
            ("Gaussian", Gaussian(center, width)),
            ("tent", Tent(center, half)),
            ("staircase", PiecewiseConstant(tuple(edges), tuple(rng.uniform(0.5, 2.0, 3)))),
            ("packet", Packet(center, width, rng.uniform(4.0, 14.0))),
        ]
    return found


def staggered(start: float, stop: float, points: int = 8192) -> np.ndarray:
    """Points of which none is where a jump usually is."""
    return start + (np.arange(points) + 0.37) * (stop - start) / points


def line_model(seed: int = 0, **options: Any) -> Any:
    """Untrained generator of u_t + u_x = 0 for x in [-pi, pi], t in [0, 1.5], |xi| <= 30."""
    from sciml.propagators import MiNO

    return MiNO("u_t = -u_x", LINE, FINAL, 30, periodic=False, seed=seed, **options)


def line_errors(
    model: Any, fields: Sequence[Any], times: Sequence[float] = (FINAL,), **options: Any
) -> np.ndarray:
    """Relative errors of advection at speed 1, shape (field, time)."""
    x = staggered(*LINE[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # small phases are what is measured
        moved = model.propagate(list(fields), list(times), x=x, **options).u.values
    exact = np.array([[f.value(x - t) for t in times] for f in fields])
    return np.linalg.norm(moved - exact, axis=-1) / np.linalg.norm(exact, axis=-1)


def measured(work: Callable[[], Any]) -> tuple[Any, float]:
    """Result, and the seconds of processor time that it took."""
    begin = resource.getrusage(resource.RUSAGE_SELF)
    found = work()
    end = resource.getrusage(resource.RUSAGE_SELF)
    return found, end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


def trained(model: Any, steps: int, **options: Any) -> tuple[Any, float]:
    """The model after training, and the seconds of processor time that it took."""
    return measured(lambda: model.fit(steps, progress=False, **options))


def feet_of_the_wind(x: np.ndarray, time: float) -> np.ndarray:
    """Feet under c = 1 + sin(x)/2 by the travel time in closed form."""
    root = math.sqrt(0.75)
    turns = np.round(x / (2 * np.pi))
    y = x - 2 * np.pi * turns
    period = 2 * np.pi / root
    goal = 2 / root * np.arctan((np.tan(y / 2) + 0.5) / root) + period * turns - time
    turns = np.round(goal / period)
    inner = root * np.tan((goal - turns * period) * root / 2) - 0.5
    return 2 * np.arctan(inner) + 2 * np.pi * turns


def wave_reference(u0: np.ndarray, x: np.ndarray, time: float) -> np.ndarray:
    """u_tt = (1 + 0.3 sin x)^2 u_xx from rest: collocation with the exponential of its matrix."""
    from scipy.linalg import expm

    n = len(x)
    k = np.fft.fftfreq(n, 1 / n)
    laplacian = np.fft.ifft(-(k**2)[:, None] * np.fft.fft(np.eye(n), axis=0), axis=0).real
    medium = ((1 + 0.3 * np.sin(x)) ** 2)[:, None] * laplacian
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [medium, np.zeros((n, n))]])
    return expm(time * matrix)[:n, :n] @ u0
