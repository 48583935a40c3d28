"""Learned waves on two branches: constant speed, and a medium with amplitudes of two orders."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from sciml.theory import Prediction, periodic_tail, wave_jumps
from sciml.validation import Case, Measurements

from ._learned_propagators import CIRCLE, staggered, trained, wave_reference

_MEDIUM = "u_t = v; v_t = (1 + 0.3*sin(x))^2*u_xx"


def _wave_constant() -> Measurements:
    from sciml.propagators import Box, MiNO

    model, seconds = trained(
        MiNO("u_t = v; v_t = u_xx", CIRCLE, 1.5, 32, hidden_channels=16, n_layers=3),
        2000,
        batch_size=512,
    )
    x, box = staggered(0.0, 2 * np.pi, 16384), Box(2.0, 3.5)
    moved = model.propagate(box, [1.5], x=x).u.values[0, 0]
    shifts = (-1.5, 1.5, 2 * np.pi - 1.5, 1.5 - 2 * np.pi)
    exact = 0.5 * sum(box.value(x + s) for s in shifts)
    error = math.sqrt(((moved - exact) ** 2).mean() * 2 * np.pi)
    floor = periodic_tail(*wave_jumps([2.0, 3.5], [1, -1], 1.5), length=2 * np.pi, n_modes=32)
    return Measurements(
        values={"box, error over floor": error / floor},
        table=[
            {"error": error, "floor": floor, "CPU seconds": seconds, "weights": model.n_parameters}
        ],
    )


WAVE_CONSTANT = Case(
    name="learned-wave",
    title="The wave equation at constant speed, two learned branches",
    description="A box from rest at t = 1.5, K = 32; 2,000 steps of 512 points.",
    run=_wave_constant,
    tier="full",
    predictions=(
        Prediction(
            name="box, error over floor",
            value=1.05,
            kind="at_most",
            source="tail of four half jumps, derived here",
        ),
    ),
)


def _wave_variable() -> Measurements:
    from sciml.propagators import MiNO, RayPropagator

    model, seconds = trained(
        MiNO(_MEDIUM, CIRCLE, 1.5, 48, hidden_channels=32, n_layers=3, amplitude_order=1),
        2000,
        batch_size=512,
        polish=3,
    )
    x = 2 * np.pi * np.arange(192) / 192
    modes = (4, 8, 16, 32)
    hump = np.exp(-((x - 3) ** 2) / (2 * 0.3**2))
    fields = [*[np.cos(k * x) for k in modes], hump]
    exact = wave_reference(np.stack(fields, axis=1), x, 1.5).T
    rays = [
        RayPropagator(model.symbols.equation, CIRCLE, 1.5, 48, amplitude_order=order)
        for order in (0, 1)
    ]
    size = np.linalg.norm(exact, axis=-1)

    def of(owner: Any, **options: Any) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # errors of the phase are what is measured
            moved = [owner.propagate(u, [1.5], x=x, **options).u.values[0, 0] for u in fields]
        return np.linalg.norm(np.stack(moved) - exact, axis=-1) / size

    both, traced = of(model), [of(r) for r in rays]
    model.amplitude_order = 0
    leading = of(model)
    model.amplitude_order = 1
    hybrid = of(model, low_modes=3)[-1]
    slopes = [float(np.polyfit(np.log(modes), np.log(e[:-1]), 1)[0]) for e in (leading, both)]
    names = [*[f"cos {k}x" for k in modes], "Gaussian"]
    rows = [
        {"field": n, "learned, leading": float(leading[i]), "rays, leading": float(traced[0][i]),
         "learned, two terms": float(both[i]), "rays, two terms": float(traced[1][i])}
        for i, n in enumerate(names)
    ]  # fmt: skip
    return Measurements(
        values={
            "leading, learned over traced": float(np.max(leading / traced[0])),
            "slope, leading amplitude": slopes[0],
            "slope, two terms": slopes[1],
            "two terms and three low modes": float(hybrid),
        },
        table=rows,
        note=f"{model.n_parameters} weights, {seconds:.0f} s of processor time on one thread",
    )


WAVE_VARIABLE = Case(
    name="learned-wave-orders",
    title="Waves in a varying medium: learned amplitudes of order 0 and 1",
    description=(
        "u_tt = c^2 u_xx with c = 1 + 0.3 sin x from rest at t = 1.5: networks of foot, amplitude "
        "and correction on two branches, against Fourier collocation and traced rays."
    ),
    run=_wave_variable,
    tier="full",
    predictions=(
        Prediction(
            name="leading, learned over traced",
            value=1.1,
            kind="at_most",
            source="the parametrix, which training does not touch, dominates",
        ),
        Prediction(
            name="slope, leading amplitude",
            value=-1.0,
            kind="equals",
            atol=0.15,
            source="parametrix of order -1",
        ),
        Prediction(
            name="slope, two terms",
            value=-2.0,
            kind="equals",
            atol=0.3,
            source="next transport equation; errors of the learned foot grow with the mode",
        ),
        Prediction(
            name="two terms and three low modes",
            value=2e-3,
            kind="at_most",
            source="0.05/k^2 from k = 4 on, weighted with the spectrum",
        ),
    ),
)

CASES = [WAVE_CONSTANT, WAVE_VARIABLE]
