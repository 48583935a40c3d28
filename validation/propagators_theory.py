"""What a frequency window cuts and what a phase error costs: closed forms against sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sciml.theory import (
    Prediction,
    asymptotic_tail,
    best_window,
    box_tail,
    disc_tail,
    edge_frequency,
    gaussian_tail,
    line_tail,
    multiplier_error,
    periodic_tail,
    phase_factor,
    predict_overshoot,
    predict_shift_error,
    sampled_box_tail,
)
from sciml.validation import Case, Measurements

_TENT = (np.array([-0.5, 0.0, 0.5]), np.array([[0.0, 2.0], [0.0, -4.0], [0.0, 2.0]]))
_STEPS = (np.array([-0.8, -0.2, 0.5]), np.array([[1.0, 0.0], [0.6, 0.0], [-1.6, 0.0]]))


def _transform(positions, jumps, xi):
    """Fourier transform of a piecewise linear field from its jumps, by integration by parts."""
    weights = sum(jumps[:, p, None] / (1j * xi) ** (p + 1) for p in range(2))
    return (weights * np.exp(-1j * np.outer(positions, xi))).sum(0)


def _periodic(positions, jumps, length: float, n_modes: int) -> float:
    last = 1_000_000
    xi = 2 * np.pi * np.arange(n_modes + 1.0, last) / length
    c = _transform(positions, jumps, xi) / length
    # Beyond the last mode the jumps do not interfere any more.
    rest = 2 * (jumps[:, 0] ** 2).sum() / length * (length / (2 * np.pi)) ** 2 / last
    return math.sqrt(2 * length * (np.abs(c) ** 2).sum() + rest)


def _line(positions, jumps, cutoff: float) -> float:
    from scipy.integrate import simpson

    end = 2000.0
    xi = np.linspace(cutoff, end, 1_000_001)
    inner = simpson(np.abs(_transform(positions, jumps, xi)) ** 2, x=xi) / np.pi
    # Beyond the end jumps and kinks do not interfere any more.
    squares = (jumps**2).sum(0)
    return math.sqrt(inner + squares[0] / (np.pi * end) + squares[1] / (3 * np.pi * end**3))


def _tails() -> Measurements:
    from scipy import integrate, special

    rows: list[dict[str, Any]] = []

    def row(name: str, formula: float, brute: float) -> None:
        rows.append(
            {"field": name, "formula": formula, "sum": brute, "off": abs(formula / brute - 1)}
        )

    for n_modes in (1, 28, 200):
        for name, field in (("steps", _STEPS), ("tent", _TENT)):
            row(
                f"{name}, circle, K = {n_modes}",
                periodic_tail(*field, length=6.0, n_modes=n_modes),
                _periodic(*field, 6.0, n_modes),
            )
    row("tent, line", line_tail(*_TENT, cutoff=30.0), _line(*_TENT, 30.0))
    energy, whole = (
        integrate.quad(lambda q: math.exp(-((0.1 * q) ** 2)), low, 400.0)[0] for low in (30.0, 0.0)
    )
    row("Gaussian, line", gaussian_tail(0.1, 30.0), math.sqrt(energy / whole))
    inner = integrate.quad(lambda q: 2 * special.j1(q) ** 2 / q, 0.0, 30.5, limit=400)[0]
    row("disc, plane", disc_tail(1.0, 30.5), math.sqrt(1 - inner))
    box = (np.arange(240) < 40).astype(float)
    modes = np.abs(np.fft.fftfreq(240, 1 / 240))
    power = np.abs(np.fft.fft(box) / 240) ** 2
    row("sampled box", sampled_box_tail(40, 240, 28), math.sqrt(power[modes > 28].sum()))
    k = np.arange(1.0, 201.0)
    x = np.linspace(1e-4, 0.1, 4001)
    jumps = np.array([[1.0, 0.0], [-1.0, 0.0]])
    c = _transform(np.array([0.0, 3.0]), jumps, k) / (2 * np.pi)
    partial = 3.0 / (2 * np.pi) + 2 * (c * np.exp(1j * np.outer(x, k))).sum(1).real
    edge = asymptotic_tail([1, -1], edge_frequency(6.0, 28))
    return Measurements(
        values={
            "largest relative difference": max(r["off"] for r in rows),
            "overshoot at K = 200": float(partial.max()) - 1.0,
            "asymptotic over exact, box": edge / box_tail(1.0, length=6.0, n_modes=28),
        },
        table=rows,
    )


TAILS = Case(
    name="window-tails",
    title="What a frequency window cuts",
    description=(
        "Tails of piecewise polynomial fields on the circle and on the line, of a Gaussian, of a "
        "disc and of a sampled box, against sums and integrals over the frequencies that are cut."
    ),
    run=_tails,
    predictions=(
        Prediction(
            name="largest relative difference",
            value=1e-6,
            kind="at_most",
            source="identities; the sums end at a million modes",
        ),
        predict_overshoot(name="overshoot at K = 200"),
        Prediction(
            name="asymptotic over exact, box",
            value=1.0,
            kind="equals",
            rtol=0.04,
            source="neighboring jumps interfere by about 1/(distance * cutoff)",
        ),
    ),
)


def _phases() -> Measurements:
    length, points = 2 * np.pi, 2048
    x = np.arange(points) * length / points

    def norm(factor, c, k):
        field = ((factor * c) * np.exp(1j * np.outer(x, k))).sum(1)
        return math.sqrt((np.abs(field) ** 2).mean() * length)

    rng = np.random.default_rng(0)
    k = np.arange(-20, 21)
    c = rng.normal(size=41) + 1j * rng.normal(size=41)
    q = phase_factor(0.3 * rng.normal(size=41), 0.1 * rng.normal(size=41))
    equal = multiplier_error(0.0, q, c, length=length) / norm(q, c, k)
    rows = []
    for K in (8, 16, 32, 64):
        k = np.arange(-K, K + 1)
        off = phase_factor(0.1 * np.cos(np.outer(x, k)))
        relative = norm(off, np.ones(len(k)), k) / math.sqrt(length * len(k))
        rows.append({"K": K, "sup|dphi|": 0.1, "relative error": relative})
    growth = np.polyfit(
        np.log([2 * r["K"] + 1 for r in rows]), np.log([r["relative error"] for r in rows]), 1
    )
    return Measurements(
        values={
            "multiplier, formula over sum": equal,
            "error over sup|dphi|, K = 64": rows[-1]["relative error"] / 0.1,
            "growth with the window": float(growth[0]),
            **{f"box shifted by {d:g}": _shifted(best_window(d), d) for d in (0.001, 0.01)},
        },
        table=rows,
    )


def _shifted(cutoff: float, shift: float) -> float:
    xi = np.linspace(1e-9, cutoff, 400_001)
    transform = 2 * np.sin(xi / 2) / xi
    inner = np.trapezoid(np.abs(phase_factor(-xi * shift) * transform) ** 2, xi) / np.pi
    return math.sqrt(box_tail(1.0, cutoff=cutoff) ** 2 + inner)


PHASES = Case(
    name="phase-errors",
    title="What a phase error costs",
    description=(
        "For multipliers the error is a sum of squares. For a phase error that depends on position "
        "it is not bounded by the largest phase error: with dphi = 0.1 cos(x xi) and all modes "
        "alike it grows like the root of the number of modes. A box whose foot is off follows the "
        "shift law at its best window."
    ),
    run=_phases,
    predictions=(
        Prediction(
            name="multiplier, formula over sum",
            value=1.0,
            kind="equals",
            rtol=1e-12,
            source="orthogonality of the modes",
        ),
        Prediction(
            name="error over sup|dphi|, K = 64",
            value=2.0,
            kind="at_least",
            source="all errors add up where cos x = 1, derived here",
        ),
        Prediction(
            name="growth with the window",
            value=0.5,
            kind="equals",
            atol=0.05,
            source="sqrt(2 K + 1)/20, derived here; higher orders of dphi bend it",
        ),
        predict_shift_error(
            [1.0, -1.0], best_window(0.001), 0.001, rtol=0.004, name="box shifted by 0.001"
        ),
        predict_shift_error(
            [1.0, -1.0], best_window(0.01), 0.01, rtol=0.05, name="box shifted by 0.01"
        ),
    ),
)

CASES = [TAILS, PHASES]
