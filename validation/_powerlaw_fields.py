"""Fields of the benchmark of radial Müntz-Szász networks, and random fields with sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

CENTERS = {
    2: ((-0.4, 0.25), (0.45, -0.3)),
    3: ((-0.45, 0.3), (0.4, 0.35), (0.1, -0.5)),
}
"""Positions of the sources, which the paper does not state."""


@dataclass(frozen=True)
class Field:
    """One field of the table.

    Attributes
    ----------
    name : str
    dimension : int
    function : callable
        Points to values.
    kind : str
        What it takes: ``"radial"``, ``"harmonic"``, ``"spherical"``, ``"sources"``, ``"smooth"``.
    bound : float
        Relative L2 error that is predicted.
    """

    name: str
    dimension: int
    function: Callable[[Any], Any]
    kind: str
    bound: float


def _log_sources(count: int) -> Callable[[Any], Any]:
    strengths = (1.0, -1.5, 0.7)

    def field(x: Any) -> Any:
        return sum(
            q * np.log(np.linalg.norm(x - np.array(c), axis=1))
            for q, c in zip(strengths, CENTERS[count], strict=False)
        )

    return field


def _r(x: Any) -> Any:
    return np.linalg.norm(x, axis=1)


FIELDS = (
    Field("log r", 2, lambda x: np.log(_r(x)), "radial", 1e-12),
    Field("r^(1/2)", 2, lambda x: _r(x) ** 0.5, "radial", 1e-12),
    Field("1/r", 2, lambda x: 1 / _r(x), "radial", 1e-12),
    Field(
        "1/r + 2 r^0.5 - 3 r^1.7",
        2,
        lambda x: 1 / _r(x) + 2 * _r(x) ** 0.5 - 3 * _r(x) ** 1.7,
        "radial",
        1e-11,
    ),
    Field("1/r, space", 3, lambda x: 1 / _r(x), "radial", 1e-12),
    Field("dipole z/r^3", 3, lambda x: x[:, 2] / _r(x) ** 3, "spherical", 1e-12),
    Field(
        "crack r^0.5 sin(theta/2)",
        2,
        lambda x: _r(x) ** 0.5 * np.sin(0.5 * np.arctan2(x[:, 1], x[:, 0])),
        "harmonic",
        1e-12,
    ),
    Field("2 log sources", 2, _log_sources(2), "sources", 1e-12),
    Field("3 log sources", 2, _log_sources(3), "sources", 1e-12),
    Field(
        "sin(pi x) sin(pi y)",
        2,
        lambda x: np.sin(np.pi * x[:, 0]) * np.sin(np.pi * x[:, 1]),
        "smooth",
        float("nan"),
    ),
)


def shell(count: int, dimension: int, seed: int) -> Any:
    """Uniform points with ``0.01 <= r <= 1``; two log-source centers are at least .02 away."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (8 * count, dimension))
    r = _r(x)
    away = np.ones(len(x), bool)
    if dimension == 2:
        for center in {*CENTERS[2], *CENTERS[3]}:
            away &= np.linalg.norm(x - np.array(center), axis=1) > 0.02
    return x[(r >= 0.01) & (r <= 1.0) & away][:count]


def fit_field(field: Field, x: Any, y: Any) -> tuple[Callable[[Any], Any], str, int]:
    """Predictor, exponents as text, and number of parameters of the fit by least squares."""
    import torch

    from sciml.powerlaw import PowerLawFit, RMNAngular, fit_sources

    if field.kind == "radial":
        model = PowerLawFit().fit(x, y)
        text = ", ".join(f"{m.real:.6g}" for m in model.exponents_)
        return model.predict, text, 2 * len(model.exponents_)
    if field.kind == "sources":
        found = fit_sources(x, y, sources=int(field.name[0]))
        text = ", ".join(f"{m + 0.0:.2g}" for m in found.exponents.round(12))
        return found.predict, text, 1 + 4 * len(found.exponents)
    options: dict[str, Any] = {"log_term": False, "bias": False, "theta0": -np.pi}
    if field.kind == "harmonic":
        network = RMNAngular(2, 0, 1, frequencies="harmonic", **options)
    elif field.kind == "spherical":
        network = RMNAngular(3, 0, 1, frequencies=1, bounds=(-3, 3), **options)
    else:
        network = RMNAngular(2, 0, 3, frequencies=[2], bounds=(0, 8), **options)
    network = network.double()
    network.fit(x, y, starts=4)

    def predict(points: Any) -> Any:
        with torch.no_grad():
            return network(torch.as_tensor(points))[:, 0].numpy()

    text = ", ".join(f"{m:.6g}" for m in network.exponents().tolist())
    return predict, text, sum(p.numel() for p in network.parameters())


def random_sources(count: int, seed: int, rows: int = 800) -> tuple[Any, Any, Any, Any, Any]:
    """Points, values, centers, exponents and strengths of a random field with sources.

    Positions in the square at least .2 apart, exponents 0 or -1, strengths .5 to 1.5 of either
    sign, a constant, points at least .02 away from every source.
    """
    rng = np.random.default_rng(seed)
    while True:
        centers = rng.uniform(-0.9, 0.9, (count, 2))
        gaps = np.linalg.norm(centers[:, None] - centers[None], axis=-1) + 9 * np.eye(count)
        if gaps.min() >= 0.2:
            break
    centers = centers[np.lexsort(centers.T[::-1])]
    exponents = rng.choice([-1.0, 0.0], count)
    strengths = rng.uniform(0.5, 1.5, count) * rng.choice([-1, 1], count)
    x = rng.uniform(-1, 1, (2 * rows, 2))
    away = np.linalg.norm(x[:, None] - centers[None], axis=-1).min(axis=1) > 0.02
    x = x[away][:rows]
    y = 0.3 + source_columns(x, centers, exponents) @ strengths
    return x, y, centers, exponents, strengths


def source_columns(x: Any, centers: Any, exponents: Any) -> Any:
    """Columns ``psi(r_j, mu_j)``."""
    r = np.linalg.norm(x[:, None] - np.asarray(centers)[None], axis=-1)
    mu = np.asarray(exponents)
    return np.where(mu == 0, np.log(r), (r ** np.where(mu == 0, 1, mu) - 1) / np.where(mu, mu, 1))
