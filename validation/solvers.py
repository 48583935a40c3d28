"""Solvers against what they declare: order in time, spectral accuracy, conservation."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import sympy

import pdes
from pdes.initial import RandomFourier
from pdes.time import INTEGRATORS
from sciml.metrics import observed_order, relative_l2
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

_END = 0.5
_STEPS = (0.005, 0.0025, 0.00125)


def _burgers(points: int) -> pdes.Problem:
    """Burgers' equation from a smooth field, resolved to rounding by 128 points."""
    return dataclasses.replace(
        pdes.get("burgers", viscosity=0.2),
        grid=pdes.Grid.periodic(x=(0.0, 2.0 * np.pi, points)),
        initial=RandomFourier(modes=2),
        stored_points=None,
        time_step=None,
    )


def _at_end(problem: pdes.Problem, **options: Any) -> np.ndarray:
    data = pdes.simulate(problem, times=[0.0, _END], **options)
    return data.u.values[-1]


# --- Order in time -------------------------------------------------------------------------------


def _order_in_time(solver: str) -> Measurements:
    problem = _burgers(128)
    reference = _at_end(problem, solver="etdrk4", time_step=_STEPS[-1] / 8)
    errors = [
        relative_l2(_at_end(problem, solver=solver, time_step=step), reference) for step in _STEPS
    ]
    return Measurements(
        values={"order in time": observed_order(_STEPS, errors)},
        table=[{"time step": h, "relative error": e} for h, e in zip(_STEPS, errors, strict=True)],
        figure=lambda: _order_figure(solver, errors),
    )


def _order_figure(solver: str, errors: Sequence[float]) -> Any:
    from matplotlib.figure import Figure

    order = INTEGRATORS[solver].order
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.add_subplot(xlabel="time step", ylabel="relative L2 error")
    axes.loglog(_STEPS, errors, "o", label=f"{solver}, measured")
    line = [errors[-1] * (step / _STEPS[-1]) ** order for step in _STEPS]
    axes.loglog(_STEPS, line, "-", color="gray", label=f"slope {order}, declared")
    axes.legend()
    return figure


def _order_case(solver: str) -> Case:
    return Case(
        name=f"order-{solver}",
        title=f"Order in time of {solver}",
        description=(
            "Burgers' equation, viscosity 0.2, 128 points, to t = 0.5; the error is taken against "
            "a run with an eighth of the smallest step."
        ),
        run=lambda: _order_in_time(solver),
        predictions=(
            Prediction(
                name="order in time",
                value=INTEGRATORS[solver].order,
                kind="order",
                source="declared by the integrator",
            ),
        ),
    )


# --- Accuracy in space ---------------------------------------------------------------------------

# Cole and Hopf: u = 2 nu E sin x/(a + E cos x) with E = exp(-nu t) solves Burgers' equation. Its
# nearest pole is at a height of y = arccosh(a/E) above the real axis, and its sine coefficients are
# 4 nu (-1)^(k+1) exp(-k y), a geometric series: the modes above K hold the share exp(-y K) of it.
_VISCOSITY, _A = 0.05, 1.1
_POINTS = (32, 48, 64, 96, 128)
_HEIGHT, _TIME, _MODES = sympy.symbols("a t K", positive=True)
_RATE = sympy.acosh(_HEIGHT * sympy.exp(_VISCOSITY * _TIME))


def _cole_hopf(x: np.ndarray, time: float) -> np.ndarray:
    decay = np.exp(-_VISCOSITY * time)
    return 2.0 * _VISCOSITY * decay * np.sin(x) / (_A + decay * np.cos(x))


def _spectral_accuracy() -> Measurements:
    errors = []
    for points in _POINTS:
        problem = dataclasses.replace(
            pdes.get("burgers", viscosity=_VISCOSITY),
            grid=pdes.Grid.periodic(x=(0.0, 2.0 * np.pi, points)),
            initial=lambda grid, rng: {"u": _cole_hopf(grid.coordinates()["x"], 0.0)},
            stored_points=None,
            time_step=None,
        )
        with _coarse_on_purpose():
            found = _at_end(problem, time_step=0.002)
        x = problem.grid.coordinates()["x"]
        errors.append(relative_l2(found, _cole_hopf(x, _END)))
    return Measurements(
        values={f"relative error at {n} points": e for n, e in zip(_POINTS, errors, strict=True)},
        figure=lambda: _accuracy_figure(errors),
    )


def _accuracy_figure(errors: Sequence[float]) -> Any:
    from matplotlib.figure import Figure

    cutoffs = np.array([(points - 1) // 3 for points in _POINTS])
    rate = float(np.arccosh(_A * np.exp(_VISCOSITY * _END)))
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.add_subplot(xlabel="highest mode kept, K", ylabel="relative L2 error")
    axes.semilogy(cutoffs, errors, "o", label="measured")
    axes.semilogy(cutoffs, np.exp(-rate * cutoffs), "-", color="gray", label="exp(-y K)")
    axes.legend()
    return figure


@contextlib.contextmanager
def _coarse_on_purpose() -> Iterator[None]:
    """Silence the warning that a field is not resolved, which is what is measured here."""
    logger = logging.getLogger("pdes")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


SPECTRAL = Case(
    name="spectral-accuracy",
    title="Spectral accuracy in space, at the rate of the nearest pole",
    description=(
        "Burgers' equation from a Cole-Hopf field with poles near the real axis, at 32 to 128 "
        "points. Dealiasing keeps the modes up to K = (N - 1)//3; what the exact field has above "
        "them is the share exp(-y K), with the height y = arccosh(a exp(nu t)) of the pole."
    ),
    run=_spectral_accuracy,
    predictions=tuple(
        Prediction.from_formula(
            sympy.exp(-_MODES * _RATE),
            {_MODES: (points - 1) // 3, _HEIGHT: _A, _TIME: _END},
            name=f"relative error at {points} points",
            kind="equals",
            rtol=0.1,
            source="share of the modes above K in a geometric spectrum; leaves out aliasing",
        )
        for points in _POINTS
    ),
)


def _linear_part() -> Measurements:
    problem = pdes.get("heat", diffusivity=0.3)
    steps = (0.5, 0.05)
    start = pdes.simulate(problem, times=[0.0]).u.values[-1]
    waves = np.fft.rfftfreq(len(start), d=1.0 / len(start))
    decayed = np.fft.irfft(np.fft.rfft(start) * np.exp(-0.3 * waves**2 * _END), n=len(start))
    errors = [relative_l2(_at_end(problem, time_step=step), decayed) for step in steps]
    return Measurements(
        values={"largest relative error": max(errors)},
        table=[{"time step": h, "relative error": e} for h, e in zip(steps, errors, strict=True)],
    )


LINEAR = Case(
    name="linear-part-exact",
    title="The linear part is exact at any step",
    description=(
        "The heat equation has no nonlinear part: an exponential integrator multiplies every mode "
        "by exp(-diffusivity k^2 t), whatever the step."
    ),
    run=_linear_part,
    predictions=(
        Prediction(
            name="largest relative error",
            value=1e-13,
            kind="at_most",
            source="rounding of a thousand operations",
        ),
    ),
)

# --- Conservation --------------------------------------------------------------------------------


_CONSERVATIVE = ("burgers", "kdv", "kuramoto_sivashinsky")


def _drift(name: str, invariant: Callable[[np.ndarray], np.ndarray]) -> float:
    problem = dataclasses.replace(pdes.get(name), discard=0.0)
    values = invariant(pdes.simulate(problem, times=problem.times[:21]).u.values)
    return float(np.max(np.abs(values - values[0])))


def _mean(u: np.ndarray) -> np.ndarray:
    return u.mean(axis=-1)


def _conservation() -> Measurements:
    drifts = {f"drift of the mean, {name}": _drift(name, _mean) for name in _CONSERVATIVE}
    drifts["drift of the mean square, kdv"] = _drift("kdv", lambda u: np.mean(u**2, axis=-1))
    return Measurements(values=drifts)


CONSERVATION = Case(
    name="conservation",
    title="What the equations conserve stays",
    description=(
        "Conservative products of the pseudo-spectral method leave the mean alone but for "
        "rounding; the mean square of Korteweg-de Vries drifts with the error in time only."
    ),
    run=_conservation,
    predictions=(
        *(
            Prediction(
                name=f"drift of the mean, {name}",
                value=1e-13,
                kind="at_most",
                source="rounding: the mode of wavenumber 0 has no right-hand side",
            )
            for name in _CONSERVATIVE
        ),
        Prediction(
            name="drift of the mean square, kdv",
            value=1e-9,
            kind="at_most",
            source="fourth order in a step of 2e-4",
        ),
    ),
)

CASES = [*(_order_case(solver) for solver in INTEGRATORS), SPECTRAL, LINEAR, CONSERVATION]
