"""Exact projections and repairs of forecasts: closed forms against measurements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sciml.theory import Prediction
from sciml.theory.projection import LinearRollout
from sciml.validation import Case, Measurements

SEED = 0

# --- flows without divergence --------------------------------------------------------------------


def _taylor_green(points: tuple[int, int], mean: tuple[float, float]) -> Any:
    import torch

    x, y = (2.0 * math.pi * torch.arange(n, dtype=torch.float64) / n for n in points)
    u = torch.sin(x)[:, None] * torch.cos(y) + mean[0]
    v = -torch.cos(x)[:, None] * torch.sin(y) + mean[1]
    return torch.stack([u, v])


def _abc(points: int) -> Any:
    import torch

    a = 2.0 * math.pi * torch.arange(points, dtype=torch.float64) / points
    x, y, z = torch.meshgrid(a, a, a, indexing="ij")
    return torch.stack(
        [
            torch.sin(z) + 0.7 * torch.cos(y),
            0.9 * torch.sin(x) + torch.cos(z),
            0.7 * torch.sin(y) + 0.9 * torch.cos(x),
        ]
    )


def _poiseuille(cells: tuple[int, int]) -> Any:
    """On faces: the same profile at the inlet, the outlet and between."""
    import torch

    y = (torch.arange(cells[1], dtype=torch.float64) + 0.5) / cells[1]
    faces = torch.zeros(2, cells[0] + 1, cells[1] + 1, dtype=torch.float64)
    faces[0, :, : cells[1]] = y * (1.0 - y)
    return faces


def _distortions() -> Measurements:
    import torch

    from sciml.repair import LerayProjection, StaggeredProjection, target_distortion

    period = 2.0 * math.pi
    rows, worst = [], 0.0
    for points in ((16, 16), (15, 17), (32, 12)):
        flow = _taylor_green(points, (0.3, -0.2))
        found = target_distortion(LerayProjection((period, period)), flow)
        rows.append({"flow": f"Taylor-Green {points}, mean (.3, -.2)", "distortion": found})
    for n in (8, 9):
        found = target_distortion(LerayProjection((period,) * 3), _abc(n))
        rows.append({"flow": f"ABC {n}^3", "distortion": found})
    cells, h = (12, 10), (0.1, 0.1)
    flow = _poiseuille(cells)
    channel = StaggeredProjection(
        cells, h, (("wall", "open"), "wall"), normal_velocity={"x-": flow[0, 0, : cells[1]]}
    )
    rows.append({"flow": "Poiseuille on faces", "distortion": target_distortion(channel, flow)})
    x = torch.linspace(0.0, 1.0, 13, dtype=torch.float64)
    stream = (torch.sin(math.pi * x)[:, None] * torch.sin(math.pi * x)) ** 2
    box = StaggeredProjection((12, 12), (1 / 12, 1 / 12), ("wall", "wall"))
    faces = [torch.diff(stream, dim=1) * 12, -torch.diff(stream, dim=0) * 12]
    rows.append(
        {
            "flow": "differences of a stream function",
            "distortion": target_distortion(box, box.layout.pack(faces)),
        }
    )
    rows.append(
        {
            "flow": "Kovasznay from its stream function, with its sides",
            "distortion": target_distortion(*_kovasznay_from_stream(15)),
        }
    )
    worst = max(float(row["distortion"]) for row in rows)
    return Measurements(values={"largest target distortion": worst}, table=rows)


RATE = 20.0 - math.sqrt(400.0 + 4.0 * math.pi**2)
"""Exponent of Kovasznay's flow at Reynolds number 40."""


def _kovasznay_from_stream(n: int) -> tuple[Any, Any]:
    """Projection with the flow's own normal velocities on all sides, and the flow on faces."""
    import torch

    from sciml.repair import FaceLayout, StaggeredProjection

    x = torch.linspace(0.0, 1.0, n + 1, dtype=torch.float64)
    stream = x - torch.exp(RATE * x)[:, None] * torch.sin(2.0 * math.pi * x) / (2.0 * math.pi)
    u, v = torch.diff(stream, dim=1) * n, -torch.diff(stream, dim=0) * n
    sides = {"x-": u[0], "x+": u[-1], "y-": v[:, 0], "y+": v[:, -1]}
    projection = StaggeredProjection(
        (n, n),
        (1.0 / n, 1.0 / n),
        ("wall", "wall"),
        normal_velocity={name: side.numpy() for name, side in sides.items()},
    )
    return projection, FaceLayout((n, n), (False, False)).pack([u, v])


DISTORTIONS = Case(
    name="true-flows",
    title="Exact projections leave true flows alone",
    description=(
        "Taylor-Green and ABC flows with a mean, Poiseuille on faces, and differences of a stream "
        "function are free of divergence as they are stored. What an exact projection changes in "
        "them is rounding."
    ),
    run=_distortions,
    predictions=(
        Prediction(
            name="largest target distortion",
            value=1e-24,
            kind="at_most",
            source="K u = 0 on the admissible set; square of rounding",
        ),
    ),
)


def _sampled_kovasznay(n: int) -> tuple[Any, Any]:
    """Point values of Kovasznay's flow on faces, and the projection with its sides."""
    import torch

    from sciml.repair import StaggeredProjection

    h, rate = 1.0 / n, RATE
    edges = torch.arange(n + 1, dtype=torch.float64) * h
    centers = edges[:-1] + 0.5 * h

    def u(x: Any, y: Any) -> Any:
        return 1.0 - torch.exp(rate * x)[:, None] * torch.cos(2.0 * math.pi * y)

    def v(x: Any, y: Any) -> Any:
        return rate / (2.0 * math.pi) * torch.exp(rate * x)[:, None] * torch.sin(2.0 * math.pi * y)

    faces = [u(edges, centers), v(centers, edges)]
    projection = StaggeredProjection((n, n), (h, h), ("inlet", "inlet"), balance_flux=True)
    return projection.layout.pack(faces), projection


def _sampled_ethier_steinman(n: int) -> tuple[Any, Any]:
    """Point values of the flow of Ethier and Steinman on faces, and the projection."""
    import torch

    from sciml.repair import StaggeredProjection

    a, d, h = 0.25 * math.pi, 0.5 * math.pi, 2.0 / n
    edges = -1.0 + h * torch.arange(n + 1, dtype=torch.float64)
    centers = edges[:-1] + 0.5 * h
    faces = []
    for axis in range(3):
        places = [edges if other == axis else centers for other in range(3)]
        points = torch.meshgrid(*places, indexing="ij")
        # The components follow from each other by turning the axes.
        x, y, z = (points[(axis + shift) % 3] for shift in range(3))
        faces.append(
            -a
            * (
                torch.exp(a * x) * torch.sin(a * y + d * z)
                + torch.exp(a * z) * torch.cos(a * x + d * y)
            )
        )
    projection = StaggeredProjection((n,) * 3, (h,) * 3, ("inlet",) * 3, balance_flux=True)
    return projection.layout.pack(faces), projection


def _order(sampled: Any, sizes: tuple[int, ...], name: str, rows: list[dict[str, Any]]) -> float:
    """Slope of the root mean square of what the projection changes."""
    from sciml.repair import target_distortion

    corrections = []
    for n in sizes:
        state, projection = sampled(n)
        corrections.append(math.sqrt(target_distortion(projection, state)))
        rows.append({"flow": name, "cells": n, "correction": corrections[-1]})
    return float(-np.polyfit(np.log(sizes), np.log(corrections), 1)[0])


def _sampled() -> Measurements:
    rows: list[dict[str, Any]] = []
    values = {
        "order, Kovasznay": _order(_sampled_kovasznay, (16, 32, 64, 128), "Kovasznay", rows),
        "order, Ethier and Steinman": _order(
            _sampled_ethier_steinman, (8, 16, 32), "Ethier and Steinman", rows
        ),
    }
    return Measurements(values=values, table=rows)


SAMPLED = Case(
    name="sampled-flows",
    title="Point values are not free of discrete divergence",
    description=(
        "Kovasznay's flow, and that of Ethier and Steinman in a cube, sampled at the middles of "
        "faces have a discrete divergence of second order, so that the correction by an exact "
        "projection is of second order too. It is an error of the storage, not of the projection."
    ),
    run=_sampled,
    predictions=tuple(
        Prediction(name=f"order, {flow}", value=2.0, kind="order", source="midpoint rule on faces")
        for flow in ("Kovasznay", "Ethier and Steinman")
    ),
)

# --- errors of forecasts -------------------------------------------------------------------------


def _pythagoras() -> Measurements:
    import torch

    from sciml.repair import LerayProjection, error_split, rollout

    generator = torch.Generator().manual_seed(SEED)
    project = LerayProjection((1.0, 1.0))
    weight = 0.2 * torch.randn(2, 2, 3, 3, dtype=torch.float64, generator=generator)

    def forecaster(u: Any) -> Any:
        padded = torch.nn.functional.pad(u, (1, 1, 1, 1), mode="circular")
        return u + 0.1 * torch.tanh(torch.nn.functional.conv2d(padded, weight))

    truth = project(torch.randn(6, 2, 16, 16, dtype=torch.float64, generator=generator))
    found = rollout(forecaster, truth, 20)
    largest = 0.0
    for step in range(1, 21):
        split = error_split(project, found.states[:, step], truth)
        expected = split.error - split.removed
        largest = max(largest, abs(split.repaired / expected - 1.0))
    return Measurements(values={"violation of Pythagoras": largest})


PYTHAGORAS = Case(
    name="pythagoras",
    title="A repair after the loop removes exactly what its rule sees",
    description=(
        "Along a rollout of a random nonlinear forecaster the error after an exact projection is "
        "the error before it less what the projection takes off, at every step."
    ),
    run=_pythagoras,
    predictions=(
        Prediction(
            name="violation of Pythagoras",
            value=1e-6,
            kind="at_most",
            source="orthogonal projections",
        ),
    ),
)

FLOWS = (
    LinearRollout(ss=1.0, sd=0.3, ds=0.0, dd=1.0, bias_s=0.01, bias_d=0.05),
    LinearRollout(ss=0.97, sd=-0.1, ds=0.02, dd=0.9, bias_s=0.01, bias_d=0.05),
    LinearRollout(ss=1.02, sd=0.0, ds=0.0, dd=0.3, bias_s=-0.02, bias_d=0.1),
)
STEPS = 40


def _synthetic() -> Measurements:
    import torch

    from sciml.repair import LerayProjection, rollout

    project = LerayProjection((1.0, 1.0))
    x = torch.arange(16, dtype=torch.float64) / 16
    wave = torch.sin(2.0 * math.pi * x)
    admissible, breaking = torch.zeros(2, 2, 16, 16, dtype=torch.float64)
    admissible[0], breaking[0] = wave, wave[:, None]
    generator = torch.Generator().manual_seed(SEED)
    truth = project(torch.randn(4, 2, 16, 16, dtype=torch.float64, generator=generator))
    entry = float((admissible**2).mean())
    rows, largest = [], 0.0
    for flow in FLOWS:

        def step(u: Any, flow: LinearRollout = flow) -> Any:
            error = u - truth
            s = (error * admissible).sum((1, 2, 3)) / (admissible**2).sum()
            d = (error * breaking).sum((1, 2, 3)) / (breaking**2).sum()
            new_s = flow.ss * s + flow.sd * d + flow.bias_s
            new_d = flow.ds * s + flow.dd * d + flow.bias_d
            return (
                truth
                + torch.einsum("b,cij->bcij", new_s, admissible)
                + torch.einsum("b,cij->bcij", new_d, breaking)
            )

        row: dict[str, Any] = {"A_sd": flow.sd, "A_dd": flow.dd}
        for where in ("raw", "post_hoc", "in_loop"):
            repair = None if where == "raw" else project
            states = rollout(step, truth, STEPS, repair=repair, where=where).states
            measured = float(((states[:, -1] - truth) ** 2).mean())
            predicted = entry * getattr(flow, where)(STEPS)
            row[where] = measured
            largest = max(largest, abs(measured / predicted - 1.0))
        rows.append(row)
    return Measurements(values={"deviation from the recursion": largest}, table=rows)


SYNTHETIC = Case(
    name="recursion",
    title="Raw, post hoc and in the loop, against the two-block recursion",
    description=(
        "A forecaster whose error obeys a linear recursion with a known bias in the admissible "
        "part and in the part that breaks the rule. Squared errors after 40 steps against the "
        "closed form; whether the loop helps depends on the sign of the leak."
    ),
    run=_synthetic,
    predictions=(
        Prediction(
            name="deviation from the recursion",
            value=1e-8,
            kind="at_most",
            source="powers of the 2 by 2 block matrix",
        ),
    ),
)


def _mismatch() -> Measurements:
    import torch

    from sciml.repair import LerayProjection, MismatchedLeray, error_split

    generator = torch.Generator().manual_seed(SEED)
    project = LerayProjection((1.0, 1.0))

    def smooth(*shape: int) -> Any:
        k = torch.fft.fftfreq(32, 1 / 32, dtype=torch.float64)
        damping = 1.0 / (1.0 + k[:, None] ** 2 + torch.arange(17.0) ** 2)
        noise = torch.randn(*shape, dtype=torch.float64, generator=generator)
        return torch.fft.irfft2(torch.fft.rfft2(noise) * damping, (32, 32))

    truth = project(smooth(400, 2, 32, 32))
    error = 0.2 * smooth(400, 2, 32, 32)
    rows, exact, uncorrelated = [], 0.0, 0.0
    for aspect in (1.0, 1.03, 1.1, 1.3, 1.6):
        wrong = MismatchedLeray((1.0, 1.0), aspect=aspect)
        split = error_split(wrong, truth + error, truth)
        with_cross = split.remaining + split.distortion
        cross = split.repaired - with_cross
        # For an orthogonal projection K u is orthogonal to what it leaves of the error.
        exact = max(exact, abs(cross) / split.repaired)
        best = split.relaxed(split.strength)
        no_cross = split.error - split.removed**2 / (split.removed + split.distortion)
        if abs(split.cross) < 0.05 * split.distortion:
            uncorrelated = max(uncorrelated, abs(best / no_cross - 1.0))
        rows.append(
            {
                "aspect": aspect,
                "distortion": split.distortion,
                "removed": split.removed,
                "post hoc / raw": split.repaired / split.error,
                "best strength": split.strength,
                "relaxed / raw": best / split.error,
            }
        )
    worst = max(float(row["relaxed / raw"]) for row in rows)
    return Measurements(
        values={
            "post hoc against closed form": exact,
            "relaxed without cross term": uncorrelated,
            "relaxed over raw": worst,
        },
        table=rows,
    )


MISMATCH = Case(
    name="wrong-geometry",
    title="A projection of a wrong aspect ratio, and its best strength",
    description=(
        "Random smooth flows and errors. The error after the repair is |C e|^2 + S_u exactly; it "
        "exceeds the raw one once the distortion exceeds what can be removed. The best strength "
        "never hurts where it was fitted, and is the Wiener value where error and distortion are "
        "uncorrelated."
    ),
    run=_mismatch,
    predictions=(
        Prediction(
            name="post hoc against closed form",
            value=1e-10,
            kind="at_most",
            source="|C x - u|^2 = |C e|^2 + |K u|^2 for orthogonal projections",
        ),
        Prediction(
            name="relaxed without cross term",
            value=0.1,
            kind="at_most",
            source="|e|^2 - S_e^2/(S_e + S_u), cross term below 5 % of S_u",
        ),
        Prediction(
            name="relaxed over raw", value=1.0, kind="at_most", source="minimum over the strength"
        ),
    ),
)

CASES = [DISTORTIONS, SAMPLED, PYTHAGORAS, SYNTHETIC, MISMATCH]
