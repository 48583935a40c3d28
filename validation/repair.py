"""Exact projections and repairs of forecasts: closed forms against measurements."""

from __future__ import annotations

import csv
import math
import time
from typing import Any

import numpy as np

from sciml.theory import Prediction
from sciml.theory.projection import LinearRollout
from sciml.validation import Case, Measurements

from ._discovery import public_recordings

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
    worst = max(float(row["distortion"]) for row in rows)
    return Measurements(values={"largest target distortion": worst}, table=rows)


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

    rate = 20.0 - math.sqrt(400.0 + 4.0 * math.pi**2)
    h = 1.0 / n
    edges = torch.arange(n + 1, dtype=torch.float64) * h
    centers = edges[:-1] + 0.5 * h

    def u(x: Any, y: Any) -> Any:
        return 1.0 - torch.exp(rate * x)[:, None] * torch.cos(2.0 * math.pi * y)

    def v(x: Any, y: Any) -> Any:
        return rate / (2.0 * math.pi) * torch.exp(rate * x)[:, None] * torch.sin(2.0 * math.pi * y)

    faces = [u(edges, centers), v(centers, edges)]
    projection = StaggeredProjection((n, n), (h, h), ("inlet", "inlet"), balance_flux=True)
    return projection.layout.pack(faces), projection


def _sampled() -> Measurements:
    from sciml.repair import target_distortion

    sizes, rows = (16, 32, 64, 128), []
    for n in sizes:
        state, projection = _sampled_kovasznay(n)
        rows.append({"cells": n, "correction": math.sqrt(target_distortion(projection, state))})
    corrections = [float(row["correction"]) for row in rows]
    slope = -np.polyfit(np.log(sizes), np.log(corrections), 1)[0]
    return Measurements(values={"order of the correction": float(slope)}, table=rows)


SAMPLED = Case(
    name="sampled-kovasznay",
    title="Point values are not free of discrete divergence",
    description=(
        "Kovasznay's flow sampled at the middles of faces has a discrete divergence of second "
        "order, so that the correction by an exact projection is of second order too. It is an "
        "error of the storage, not of the projection."
    ),
    run=_sampled,
    predictions=(
        Prediction(
            name="order of the correction",
            value=2.0,
            kind="order",
            source="midpoint rule on faces",
        ),
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

# --- measured and counted data -------------------------------------------------------------------


def _reconciled() -> Measurements:
    import torch

    from sciml.repair import BlendedTopDown, Reconciliation, TopDown, summing_matrix

    path = public_recordings("flows") / "tourism_state_purpose.csv"
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = list(csv.reader(file))
    labels = [name.split("|") for name in header[1:]]
    bottom = np.array([[float(value) for value in line[1:]] for line in lines])
    summing, _ = summing_matrix(labels, [(), (0,), (1,)])
    series = bottom @ summing.T
    origins = range(40, len(series) - 4 + 1)
    forecasts, truths, residuals = [], [], []
    for origin in origins:
        ahead, errors = _smoothed(series[:origin], 4)
        forecasts.append(ahead)
        truths.append(series[origin : origin + 4])
        residuals.append(errors)
    scale = series[:40].mean(0)
    shares = bottom[:40].sum(0) / bottom[:40].sum()
    top_down = TopDown(summing, shares)
    rows = []

    def measure(name: str, repair_of: Any) -> float:
        total, distortion = [], []
        for ahead, truth, errors in zip(forecasts, truths, residuals, strict=True):
            repair = repair_of(errors)
            repaired = repair(torch.from_numpy(ahead)).numpy() if repair is not None else ahead
            total.append((((repaired - truth) / scale) ** 2).mean())
            if repair is not None:
                moved = repair(torch.from_numpy(truth)).numpy() - truth
                distortion.append(((moved / scale) ** 2).mean())
        found = float(np.mean(total))
        rows.append(
            {"method": name, "error": found, "distortion": float(np.mean(distortion or [0.0]))}
        )
        return found

    raw = measure("raw", lambda errors: None)
    for method in ("ols", "wls", "structural", "mint", "bottom_up"):
        measure(
            method,
            lambda errors, method=method: Reconciliation(
                summing,
                method,  # pyright: ignore[reportArgumentType]
                residuals=errors if method in ("wls", "mint") else None,
            ),
        )
    for weight in (0.1, 0.25, 0.5):
        measure(
            f"blend {weight}",
            lambda errors, weight=weight: BlendedTopDown(
                Reconciliation(summing, "wls", residuals=errors), top_down, weight
            ),
        )
    measure("top down", lambda errors: top_down)
    by_name = {str(row["method"]): row for row in rows}
    unbiased = max(
        float(by_name[m]["distortion"]) for m in ("ols", "wls", "structural", "mint", "bottom_up")
    )
    return Measurements(
        values={
            "distortion of exact methods": unbiased,
            "distortion of top down": float(by_name["top down"]["distortion"]),
            "MinT over raw": float(by_name["mint"]["error"]) / raw,
            "top down over raw": float(by_name["top down"]["error"]) / raw,
        },
        table=rows,
        note=f"{len(origins)} origins, 4 quarters ahead, {len(series)} quarters, squared errors "
        "over the squared mean of each series.",
    )


def _smoothed(history: np.ndarray, ahead: int) -> tuple[np.ndarray, np.ndarray]:
    """Exponential smoothing of each series freed of its seasons; forecasts and past errors."""
    level_of = np.stack([history[season::4].mean(0) for season in range(4)])
    index = level_of / history[: len(history) // 4 * 4].mean(0)
    seasons = index[np.arange(len(history) + ahead) % 4]
    free = history / seasons[: len(history)]
    best: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    for weight in np.linspace(0.05, 0.95, 19):
        level, errors = free[0].copy(), []
        for value, season in zip(free[1:], seasons[1 : len(history)], strict=True):
            errors.append((value - level) * season)
            level = level + weight * (value - level)
        found = np.array(errors)
        size = (found**2).mean(0)
        if best is None:
            best = size, level, found
        else:
            better = size < best[0]
            best = (
                np.where(better, size, best[0]),
                np.where(better, level, best[1]),
                np.where(better, found, best[2]),
            )
    assert best is not None
    return best[1] * seasons[len(history) :], best[2]


HIERARCHY = Case(
    name="tourism-hierarchy",
    title="Forecasts of Australian tourism made to add up",
    description=(
        "1 + 8 + 4 + 32 quarterly series, forecast by exponential smoothing from rolling origins. "
        "Orthogonal reconciliations and bottom-up leave true totals alone; top-down does not, "
        "though it is idempotent too, and its distortion shows as error."
    ),
    run=_reconciled,
    predictions=(
        Prediction(
            name="distortion of exact methods",
            value=1e-24,
            kind="at_most",
            source="G S = I: forecasts that add up are unchanged",
        ),
        Prediction(
            name="distortion of top down",
            value=0.01,
            kind="at_least",
            source="shares vary in time and place",
        ),
        Prediction(
            name="MinT over raw", value=1.0, kind="at_most", source="Wickramasuriya et al. 2019"
        ),
        Prediction(
            name="top down over raw",
            value=1.0,
            kind="at_least",
            source="target distortion exceeds what can be removed",
        ),
    ),
)


def _measured_flows() -> Measurements:
    import torch

    from sciml.repair import RangeProjection, error_split, target_distortion

    rows, strengths, distortions = [], [], []
    for name in ("piv_soapfilm", "piv_cavity_bifurcation"):
        with np.load(public_recordings("flows") / f"{name}.npz") as file:
            valid = (file["chc"] > 0).all(0)
            flow = np.stack([file["u"], file["v"]], axis=1).astype(float)
        top, bottom, left, right = _largest_valid(valid)
        # Rows run down, against y: turned so that axis 0 is x, axis 1 is y.
        cut = np.flip(flow[:, :, top:bottom, left:right].swapaxes(2, 3), axis=3).copy()
        states = torch.from_numpy(cut)
        cells = tuple(states.shape[2:])
        project = RangeProjection(cells, (1.0, 1.0), ("open", "open"))
        distortion = target_distortion(project, states)
        share = distortion / float((states**2).mean())
        mean = states.mean(0, keepdim=True)
        fluctuation = float(((states - mean) ** 2).mean())
        # The mean of the other frames forecasts each frame.
        others = (states.sum(0, keepdim=True) - states) / (len(states) - 1)
        split = error_split(project, others, states)
        strengths.append(split.strength)
        distortions.append(share)
        rows.append(
            {
                "recording": name,
                "valid rectangle": f"{cells[0]} x {cells[1]}",
                "distortion over mean square": share,
                "removed": split.removed,
                "distortion": split.distortion,
                "best strength": split.strength,
                "fluctuation": fluctuation,
            }
        )
    return Measurements(
        values={
            "least distortion": min(distortions),
            "largest best strength": max(strengths),
        },
        table=rows,
    )


def _largest_valid(valid: np.ndarray) -> tuple[int, int, int, int]:
    """Rows and columns of the largest rectangle without an invalid vector."""
    best, found = 0, (0, 0, 0, 0)
    height = np.zeros(valid.shape[1], dtype=int)
    for row in range(valid.shape[0]):
        height = np.where(valid[row], height + 1, 0)
        for left in range(valid.shape[1]):
            lowest = height[left:]
            heights = np.minimum.accumulate(lowest)
            areas = heights * np.arange(1, len(heights) + 1)
            place = int(areas.argmax())
            if areas[place] > best:
                best = int(areas[place])
                top = row + 1 - int(heights[place])
                found = (top, row + 1, left, left + place + 1)
    return found


MEASURED = Case(
    name="measured-flows",
    title="Measured velocities are not free of divergence",
    description=(
        "Particle images of a soap film and of a cavity: noise and motion out of the plane leave a "
        "true divergence, so that every projection distorts. The best strength, for forecasts by "
        "the mean of the other frames, stays below the full repair."
    ),
    run=_measured_flows,
    predictions=(
        Prediction(
            name="least distortion",
            value=1e-6,
            kind="at_least",
            source="planar divergence of measured flow",
        ),
        Prediction(
            name="largest best strength",
            value=0.9,
            kind="at_most",
            source="S_e/(S_e + S_u) with S_u of the size of S_e",
        ),
    ),
)

# --- cost ----------------------------------------------------------------------------------------


def _cost() -> Measurements:
    import scipy.sparse as sp
    import torch
    from scipy.sparse.linalg import splu

    from sciml.repair import StaggeredProjection
    from sciml.repair.box_faces import box_faces

    n = 128
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        project = StaggeredProjection((n, n), (1 / n, 1 / n), ("wall", "wall"))
        flow = torch.randn(8, *project.layout.shape, generator=torch.Generator().manual_seed(SEED))
        matrix: Any = box_faces((n, n), (1 / n, 1 / n), ("wall", "wall")).divergence_matrix()[0]
        laplacian = sp.csc_matrix(matrix @ matrix.T + 1e-6 * sp.identity(n * n))
        right = np.random.default_rng(SEED).normal(size=(n * n, 8))

        def sparse() -> None:
            splu(laplacian, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(
                right
            )

        fast, slow = _cpu(lambda: project(flow), 20), _cpu(sparse, 3)
    finally:
        torch.set_num_threads(threads)
    return Measurements(
        values={"sparse solve over fast transforms": slow / fast},
        note=f"{1e3 * fast:.2f} ms CPU for 8 fields of {n}^2, against {1e3 * slow:.0f} ms.",
    )


def _cpu(call: Any, repeats: int) -> float:
    call()
    start = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - start) / repeats


COST = Case(
    name="cost",
    title="Fast transforms against a sparse solve in every step",
    description="Process time of one exact projection of 8 fields of 128^2 cells, one thread.",
    run=_cost,
    predictions=(
        Prediction(
            name="sparse solve over fast transforms",
            value=5.0,
            kind="at_least",
            source="dense cosine products against factoring the five-point matrix",
        ),
    ),
)

CASES = [DISTORTIONS, SAMPLED, PYTHAGORAS, SYNTHETIC, MISMATCH, HIERARCHY, MEASURED, COST]
