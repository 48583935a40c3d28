"""Propagators on phase space whose phase is traced: floors, orders, certificates, caustics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sciml.theory import (
    Prediction,
    edge_frequency,
    periodic_tail,
    transported_tail,
    wave_jumps,
)
from sciml.validation import Case, Measurements

_CIRCLE = [(0.0, 2 * np.pi)]
_WIND = "u_t = -(1 + 0.5*sin(x))*u_x"
_MEDIUM = "u_t = v; v_t = (1 + 0.3*sin(x))^2*u_xx"


def _rays(text: str, final_time: float, **options: Any):
    from pdes import Equation
    from sciml.propagators import RayPropagator

    return RayPropagator(Equation.from_text(text), _CIRCLE, final_time, **options)


def _staggered(points: int) -> np.ndarray:
    return (np.arange(points) + 0.37) * 2 * np.pi / points


def _travel_feet(x: np.ndarray, time: float) -> np.ndarray:
    """Feet under c = 1 + sin(x)/2 by the travel time in closed form."""
    root = math.sqrt(0.75)

    def clock(x):
        turns = np.round(x / (2 * np.pi))
        y = x - 2 * np.pi * turns
        return 2 / root * np.arctan((np.tan(y / 2) + 0.5) / root) + 2 * np.pi / root * turns

    goal = clock(x) - time
    period = 2 * np.pi / root
    turns = np.round(goal / period)
    return 2 * np.arctan(root * np.tan((goal - turns * period) * root / 2) - 0.5) + (
        2 * np.pi * turns
    )


def _variable_speed() -> Measurements:
    import torch

    from sciml.propagators import Box
    from sciml.propagators.oscillatory_integral import fourier_sum

    rays = _rays(_WIND, 2.0, n_modes=32)
    x = _staggered(8192)
    grid = _CIRCLE[0][1] * np.arange(512) / 512
    smooth = np.exp(3 * (np.cos(grid - 2.5) - 1))
    box, times = Box(2.0, 3.5), [0.5, 1.0, 1.5, 2.0]
    found = rays.propagate(box, times, x=x).u.values[0]
    hump = rays.propagate(smooth, times, x=x).u.values[0]
    spectrum = rays.prepare(box).spectrum
    rows = []
    for n, t in enumerate(times):
        foot = _travel_feet(x, t)
        traced = rays.foot(torch.tensor(t, dtype=torch.float64), torch.as_tensor(x)).numpy()
        inside = fourier_sum(spectrum.coefficients, spectrum.periods, torch.as_tensor(foot))
        exact = box.value(foot)
        size = np.linalg.norm(exact)
        bump = np.exp(3 * (np.cos(foot - 2.5) - 1))
        rows.append(
            {
                "time": t,
                "floor": np.linalg.norm(inside[0].real.numpy() - exact) / size,
                "box": np.linalg.norm(found[n] - exact) / size,
                "smooth": np.linalg.norm(hump[n] - bump) / np.linalg.norm(bump),
                "foot": np.abs(traced - foot).max(),
            }
        )
    mean = {name: float(np.mean([r[name] for r in rows])) for name in ("floor", "box", "smooth")}
    return Measurements(
        values={
            "mean floor of the box": mean["floor"],
            "box, error over floor": mean["box"] / mean["floor"],
            "smooth field, error": mean["smooth"],
            "largest error of a foot": max(float(r["foot"]) for r in rows),
        },
        table=rows,
    )


def _mean_floor(times: tuple[float, ...]) -> float:
    """Mean relative tail of the box after transport, from its two jumps."""
    start, floors = np.array([2.0, 3.5]), []
    for t in times:
        now = _travel_feet(start, -t)
        stretch = (1 + 0.5 * np.sin(now)) / (1 + 0.5 * np.sin(start))
        tail = transported_tail([1.0, -1.0], stretch, edge_frequency(2 * np.pi, 32))
        floors.append(tail / math.sqrt(now[1] - now[0]))
    return float(np.mean(floors))


VARIABLE = Case(
    name="variable-speed",
    title="Transport at a variable speed stops at the window's floor",
    description=(
        "c = 1 + sin(x)/2, K = 32, T = 2: a box and exp(3(cos(x - 2.5) - 1)), against feet by the "
        "travel time in closed form. The floor is what the window cuts, carried along exactly."
    ),
    run=_variable_speed,
    predictions=(
        Prediction(
            name="mean floor of the box",
            value=_mean_floor((0.5, 1.0, 1.5, 2.0)),
            kind="equals",
            rtol=0.02,
            source="sum of J^2 (dx/dy)/(pi Xi) over the transported norm, derived here; the next "
            "order is one over the number of modes",
        ),
        Prediction(
            name="box, error over floor",
            value=1.0,
            kind="equals",
            rtol=1e-4,
            source="feet are exact to the Runge-Kutta error",
        ),
        Prediction(
            name="smooth field, error",
            value=1e-7,
            kind="at_most",
            source="bandlimited; what is left is the Runge-Kutta error of 128 steps",
        ),
        Prediction(
            name="largest error of a foot",
            value=1e-8,
            kind="at_most",
            source="fourth order, 128 steps",
        ),
    ),
)


def _wave_reference(u0: np.ndarray, x: np.ndarray, time: float) -> np.ndarray:
    """Fourier collocation with the exponential of its matrix."""
    from scipy.linalg import expm

    n = len(x)
    k = np.fft.fftfreq(n, 1 / n)
    laplacian = np.fft.ifft(-(k**2)[:, None] * np.fft.fft(np.eye(n), axis=0), axis=0).real
    medium = ((1 + 0.3 * np.sin(x)) ** 2)[:, None] * laplacian
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [medium, np.zeros((n, n))]])
    return expm(time * matrix)[:n, :n] @ u0


def _waves() -> Measurements:
    from sciml.propagators import Box

    modes = (4, 8, 16, 32)
    x = 2 * np.pi * np.arange(192) / 192
    fields = [np.cos(k * x) for k in modes]
    hump = np.exp(-((x - 3) ** 2) / (2 * 0.3**2))
    exact = _wave_reference(np.stack([*fields, hump], axis=1), x, 1.5).T
    rows, slopes = [], []
    for order in (0, 1):
        rays = _rays(_MEDIUM, 1.5, n_modes=48, amplitude_order=order)
        found = [rays.propagate(u, [1.5], x=x).u.values[0, 0] for u in fields]
        errors = [
            float(np.linalg.norm(u - e) / np.linalg.norm(e))
            for u, e in zip(found, exact, strict=False)
        ]
        slopes.append(float(np.polyfit(np.log(modes), np.log(errors), 1)[0]))
        rows += [
            {"terms": order + 1, "mode": k, "error": e, "error k^order": e * k ** (order + 1)}
            for k, e in zip(modes, errors, strict=True)
        ]
    both = rays.propagate(hump, [1.5], x=x, low_modes=3).u.values[0, 0]
    fine, box = _staggered(16384), Box(2.0, 3.5)
    moved = _rays("u_t = v; v_t = u_xx", 1.5).propagate(box, [1.5], x=fine).u.values[0, 0]
    half = 0.5 * (box.value(fine - 1.5) + box.value(fine + 1.5))
    half = half + 0.5 * (box.value(fine - 1.5 + 2 * np.pi) + box.value(fine + 1.5 - 2 * np.pi))
    floor = periodic_tail(*wave_jumps([2.0, 3.5], [1, -1], 1.5), length=2 * np.pi, n_modes=32)
    error = math.sqrt(((moved - half) ** 2).mean() * 2 * np.pi)
    return Measurements(
        values={
            "slope, leading amplitude": slopes[0],
            "slope, two terms": slopes[1],
            "two terms and three low modes": float(
                np.linalg.norm(both - exact[-1]) / np.linalg.norm(exact[-1])
            ),
            "constant speed, box over floor": error / floor,
        },
        table=rows,
    )


WAVES = Case(
    name="wave-orders",
    title="Waves: orders of the amplitude in the frequency",
    description=(
        "u_tt = c^2 u_xx with c = 1 + 0.3 sin x from rest at t = 1.5, modes 4 to 32 and a Gaussian "
        "of width 0.3, against Fourier collocation with a matrix exponential. At constant speed a "
        "box has the error of its four half jumps."
    ),
    run=_waves,
    predictions=(
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
            atol=0.15,
            source="next transport equation, derived here",
        ),
        Prediction(
            name="two terms and three low modes",
            value=2e-3,
            kind="at_most",
            source="0.05/k^2 from k = 4 on, weighted with the spectrum",
        ),
        Prediction(
            name="constant speed, box over floor",
            value=1.0,
            kind="equals",
            rtol=1e-3,
            source="exact phase: tail of four half jumps, derived here",
        ),
    ),
)


def _spoiled(text: str, final_time: float, size: float, **options: Any):
    """Rays whose feet are off by ``size t cos x``: a generator that is wrong by a known amount."""
    import torch

    from pdes import Equation
    from sciml.propagators import RayPropagator
    from sciml.propagators.derivatives import letters

    class Spoiled(RayPropagator):
        def _back(self, t, x, branch):
            foot, loss, gain = super()._back(t, x, branch)
            return foot + size * t * torch.cos(x), loss, gain

        def foot_series_jet(self, t, x, branch, phase_names, amplitude_names):
            phase, series = super().foot_series_jet(t, x, branch, phase_names, amplitude_names)
            zero, cosine = torch.zeros_like(x), torch.cos(x)
            wrong = {"": t * cosine, "t": cosine, "x": -t * torch.sin(x), "xx": -t * cosine}
            moved = {n: v + size * wrong.get(letters(n), zero) for n, v in phase.items()}
            return moved, series

    return Spoiled(Equation.from_text(text), _CIRCLE, final_time, **options)


def _certificates() -> Measurements:
    from sciml.propagators import Box, Gaussian, Tent

    x, rows = _staggered(4096), []
    weight = 1 / (1 + 0.5 * np.sin(x))
    fields = [Box(2.0, 3.5), Gaussian(3.0, 0.3), Tent(3.0, 0.8)]
    for size, n_modes in ((0.0, 32), (0.01, 32), (0.1, 32), (0.0, 4)):
        rays = _spoiled(_WIND, 2.0, size, n_modes=n_modes, n_steps=12)
        bound = rays.certify(fields, [2.0])
        moved = rays.propagate(fields, [2.0], x=x).u.values[:, 0]
        foot = np.mod(_travel_feet(x, 2.0), 2 * np.pi)
        for n, field in enumerate(fields):
            square = (weight * (moved[n] - field.value(foot)) ** 2).mean() * 2 * np.pi
            rows.append(_row("transport", size, n_modes, field, bound.total[0, n], square))
    y = 2 * np.pi * np.arange(128) / 128
    waves = np.stack([np.cos(8 * y), np.exp(-((y - 3) ** 2) / (2 * 0.3**2))])
    exact = _wave_reference(waves.T, y, 1.5).T
    for size in (0.0, 0.01):
        rays = _spoiled(_MEDIUM, 1.5, size, n_modes=24, n_steps=6)
        bound = rays.certify(list(waves), [1.5])
        for n, u in enumerate(waves):
            moved = rays.propagate(u, [1.5], x=y).u.values[0, 0]
            square = ((moved - exact[n]) ** 2 / (1 + 0.3 * np.sin(y)) ** 2).mean() * 2 * np.pi
            name = ("cos 8x", "Gaussian")[n]
            rows.append(_row("wave", size, 24, name, bound.total[0, n], square))
    ratios = [r["bound over error"] for r in rows]
    return Measurements(
        values={"least bound over error": min(ratios), "largest bound over error": max(ratios)},
        table=rows,
    )


def _row(case: str, size: float, n_modes: int, field: Any, bound: float, square: float):
    error = math.sqrt(square)
    return {
        "case": case,
        "spoiled by": size,
        "K": n_modes,
        "field": type(field).__name__ if not isinstance(field, str) else field,
        "true error": error,
        "certificate": float(bound),
        "bound over error": float(bound) / error,
    }


CERTIFICATES = Case(
    name="certificates",
    title="Certificates without a reference hold",
    description=(
        "Exact, spoiled (feet off by size*t*cos x) and truncated generators of transport at "
        "c = 1 + sin(x)/2 and of waves at c = 1 + 0.3 sin x, in the natural norm, against exact "
        "feet and Fourier collocation."
    ),
    run=_certificates,
    predictions=(
        Prediction(
            name="least bound over error",
            value=1.0,
            kind="at_least",
            rtol=0.01,
            source="energy estimate, derived here; 1% for the quadrature of jumps",
        ),
        Prediction(
            name="largest bound over error",
            value=5.0,
            kind="at_most",
            source="weighted and time-integrated norms lose no exponential and no derivative",
        ),
    ),
)


def _caustic() -> Measurements:
    from sciml.propagators import AliasedReconstruction, HarmonicOscillator, Packet

    packet = Packet(1.0, 0.9, 1.5)
    swing = HarmonicOscillator([(-12.0, 12.0)], n_modes=48)
    u = swing.propagate(packet, [np.pi], max_step=np.pi / 4).h
    exact = np.exp(-0.5j * np.pi) * packet.value(-u.x.values)
    rows, missed = [], 0
    x = np.linspace(-12, 12, 97)
    for t in (0.5, 1.0, 1.3):
        good = swing.propagate(packet, [t], x=x).h.values
        for period in (26.0, 32.0, 40.0, 55.0, 80.0, 110.0):
            forced = swing.propagate(packet, [t], x=x, period=period, check=False).h.values
            error = float(np.abs(forced - good).max())
            try:
                swing.propagate(packet, [t], x=x, period=period)
                refused = False
            except AliasedReconstruction:
                refused = True
            missed += error > 1e-6 and not refused
            rows.append({"time": t, "period": period, "error": error, "refused": refused})
    return Measurements(
        values={
            "error after two caustics": float(np.abs(u.values[0, 0] - exact).max()),
            "aliased grids not refused": float(missed),
            "aliased grids": float(sum(r["error"] > 1e-6 for r in rows)),
        },
        table=rows,
    )


CAUSTIC = Case(
    name="caustic",
    title="Past a caustic by four steps, and grids that alias are refused",
    description=(
        "The harmonic oscillator: four steps of pi/4 must give exp(-i pi/2) u0(-x), with the phase "
        "that the caustic leaves. Sums of too short a period are refused wherever they are wrong."
    ),
    run=_caustic,
    predictions=(
        Prediction(
            name="error after two caustics",
            value=1e-10,
            kind="at_most",
            source="exact phase and spectral sums; Mehler's kernel",
        ),
        Prediction(
            name="aliased grids not refused",
            value=0.0,
            kind="equals",
            source="no image has a stationary point if P >= sup|phi_xi| + R, derived here",
        ),
        Prediction(
            name="aliased grids",
            value=3.0,
            kind="at_least",
            source="otherwise the test would not test anything",
        ),
    ),
)


def _inversion() -> Measurements:
    import torch

    from sciml.propagators import WaveSpeedInversion, spectrum_of

    length = 2 * np.pi
    x, t = length * np.arange(24) / 24, np.linspace(0.4, 2.4, 6)
    grid = length * np.arange(256) / 256
    u0 = np.sin(grid) + 0.5 * np.cos(2 * grid) + 0.5 * np.sin(3 * grid + 1)
    true = torch.tensor([1.0, 0, 0.1, 0, 0, 0.3, 0, 0, 0], dtype=torch.float64)
    fine = WaveSpeedInversion(domain=(0.0, length), n_steps=60)
    spectrum = spectrum_of(u0, domain=[(0.0, length)], n_modes=24)
    clean = fine.simulated(true, spectrum, torch.as_tensor(t), torch.as_tensor(x)).numpy()
    rows = []
    for noise in (0.0, 0.01, 0.05):
        for seed in range(1 if noise == 0.0 else 5):
            data = clean + noise * np.random.default_rng(seed).normal(size=clean.shape)
            found = WaveSpeedInversion(domain=(0.0, length))(u0, t, x, data, guess=1.0)
            off = found.error(lambda x: 1 + 0.3 * np.sin(x) + 0.1 * np.cos(2 * x))
            rows.append({"noise": noise, "seed": seed, "error of c": off})

    def worst(noise: float) -> float:
        return max(r["error of c"] for r in rows if r["noise"] == noise)

    return Measurements(
        values={"error without noise": worst(0.0), "largest error at noise 0.01": worst(0.01)},
        table=rows,
    )


INVERSION = Case(
    name="speed-inversion",
    title="A wave speed from 144 noisy samples",
    description=(
        "Nine Fourier coefficients of the speed of advection, from 24 positions at 6 times of a "
        "field of three modes; five draws of the noise."
    ),
    run=_inversion,
    predictions=(
        Prediction(
            name="error without noise",
            value=1e-3,
            kind="at_most",
            source="bias of the penalty, and of 24 instead of 60 Runge-Kutta steps",
        ),
        Prediction(
            name="largest error at noise 0.01",
            value=0.01,
            kind="at_most",
            source="noise over the slope of the field, sqrt(9/144) of it, over the time",
        ),
    ),
)

CASES = [VARIABLE, WAVES, CERTIFICATES, CAUSTIC, INVERSION]
