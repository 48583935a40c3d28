"""Repairs of measured flows and of counted hierarchies, and the cost of an exact projection."""

from __future__ import annotations

import csv
import time
from typing import Any

import numpy as np

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

from ._discovery import public_recordings

SEED = 0

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

CASES = [HIERARCHY, MEASURED, COST]
