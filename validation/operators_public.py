"""Operators on public data, whose grids are what they are and not what one would like."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

from ._discovery import public_recordings

SEEDS = (0, 1, 2)
_SOURCE = "derived here: layers of second order on the true grid, of first order on a wrong one"


def _fit(model: Any, x: Any, y: Any, kinds: str | tuple[str, ...], seed: int) -> None:
    """AdamW, one cycle up to 4e-3, 600 steps of 16; the loss integrates on the same grid."""
    from sciml.nn import quadrature_weights
    from sciml.training import ArrayBatches, train
    from sciml.training.losses import supervised_loss

    weights = quadrature_weights(x.shape[2:], axis_kinds=kinds).full()
    train(
        model,
        ArrayBatches((x, y), batch_size=16, seed=seed),
        supervised_loss("relative_l2", weights.copy()),
        optimizer={"name": "adamw", "lr": 4e-3, "weight_decay": 1e-4},
        scheduler={"name": "one_cycle", "max_lr": 4e-3},
        steps=600,
        seed=seed,
        device="cpu",
        progress=False,
    )


def _alone(measure: Callable[[], Measurements]) -> Callable[[], Measurements]:
    """On one thread: small products gain nothing from several, and numbers stay the same."""

    def run() -> Measurements:
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return measure()
        finally:
            torch.set_num_threads(threads)

    return run


# --- Darcy flow on a grid that leaves out its last ends -------------------------------------------

_KINDS = ("left", "periodic", "node")


def _left() -> Measurements:
    import torch

    from sciml.metrics import relative_l2
    from sciml.nn import quadrature_weights
    from sciml.operators import FNO

    folder = public_recordings("flows")
    with (
        np.load(folder / "darcy_small_train16.npz") as trained,
        np.load(folder / "darcy_small_test.npz") as tested,
    ):
        fields = {name: trained[name] for name in ("a", "u")} | dict(tested)
    data = {
        name: torch.tensor(values[:, None]).float() * (2.0 if name[0] == "a" else 1.0)
        - (1.0 if name[0] == "a" else 0.0)
        for name, values in fields.items()
    }
    rows: list[dict[str, Any]] = []
    for norm, kind, seed in itertools.product(("quad_layer", None), _KINDS, SEEDS):
        model = FNO(
            1,
            1,
            20,
            (12, 12),
            norm=norm,  # pyright: ignore[reportArgumentType]
            axis_kinds=kind,
            channel_mlp=False,
            seed=seed,
        )
        _fit(model, data["a"], data["u"], kind, seed)
        row: dict[str, Any] = {"norm": str(norm), "kind": kind, "seed": seed}
        for points in (16, 32):
            weights = quadrature_weights((points, points), axis_kinds="left").full()
            with torch.no_grad():
                made = model(data[f"a{points}"])
            error = relative_l2(made, data[f"u{points}"], axis=(1, 2, 3), weights=weights)
            row[f"E({points})"] = float(error.mean())
        row["E(32)/E(16)"] = row["E(32)"] / row["E(16)"]
        rows.append(row)

    def of(kind: str, column: str) -> np.ndarray:
        chosen = (r for r in rows if r["norm"] == "quad_layer" and r["kind"] == kind)
        return np.array([r[column] for r in chosen])

    wrong = np.minimum(of("periodic", "E(32)"), of("node", "E(32)"))
    return Measurements(
        values={
            "left: largest E(32)/E(16)": float(of("left", "E(32)/E(16)").max()),
            "E(32), left over the better wrong kind: largest": float(
                (of("left", "E(32)") / wrong).max()
            ),
        },
        table=rows,
    )


LEFT = Case(
    name="darcy-left",
    title="Small Darcy set: trained at 16^2, used at 32^2, by the kind of its grid",
    tier="full",
    description=(
        "The set of the neuraloperator library has the first end of both axes and not the last. "
        "700 samples at 16^2, 34 test samples at both resolutions; width 20, 12 modes, four "
        "layers, 600 steps of 16, seeds 0 to 2. The same network is told the true kind, or that "
        "the axes are periodic (the usual fast transform), or that they hold both ends. Errors "
        "are integrals over the true grid, means over samples; with QuadNorm of all channels, and "
        "without normalization."
    ),
    run=_alone(_left),
    predictions=(
        Prediction(name="left: largest E(32)/E(16)", value=1.06, kind="at_most", source=_SOURCE),
        Prediction(
            name="E(32), left over the better wrong kind: largest",
            value=0.95,
            kind="at_most",
            source=_SOURCE,
        ),
    ),
)

# --- Burgers' equation on periodic points ---------------------------------------------------------

_RINGS = ("periodic", "left", "node")


def _burgers() -> Measurements:
    import torch

    from sciml.metrics import relative_l2
    from sciml.operators import FNO

    with np.load(public_recordings("flows") / "burgers_small.npz") as data:
        trained, tested = (torch.tensor(data[f"u_{part}"]) for part in ("train", "test"))
    rows: list[dict[str, Any]] = []
    for kind, seed in itertools.product(_RINGS, SEEDS):
        model = FNO(
            1,
            1,
            24,
            12,
            norm="quad_layer",
            axis_kinds=kind,
            channel_mlp=False,
            positional_embedding=False,  # the equation knows no places
            seed=seed,
        )
        _fit(model, trained[:, :1], trained[:, -1:], kind, seed)
        with torch.no_grad():
            made = model(tested[:, :1])
            turned = model(tested[:, :1].roll(5, 2)).roll(-5, 2)
        rows.append(
            {
                "kind": kind,
                "seed": seed,
                "E": float(relative_l2(made, tested[:, -1:], axis=(1, 2)).mean()),
                "moved by a shift": float(relative_l2(turned, made, axis=(1, 2)).mean()),
            }
        )

    def of(kind: str, column: str) -> np.ndarray:
        return np.array([r[column] for r in rows if r["kind"] == kind])

    wrong = np.minimum(of("left", "E"), of("node", "E"))
    return Measurements(
        values={
            "periodic: moved by a shift": float(of("periodic", "moved by a shift").max()),
            "E, periodic over the better wrong kind: largest": float(
                (of("periodic", "E") / wrong).max()
            ),
        },
        table=rows,
    )


BURGERS = Case(
    name="burgers-kinds",
    title="Small Burgers set by the kind of its axis",
    tier="full",
    description=(
        "Velocity at time 0 to velocity at time 1, viscosity 0.01, on 16 periodic points; 600 "
        "samples for training, 260 for the test. Width 24, 12 modes, four layers, QuadNorm of all "
        "channels, no coordinates, 600 steps of 16, seeds 0 to 2. With the true kind the operator "
        "commutes with shifts, as the equation does; with the wrong ones it cannot."
    ),
    run=_alone(_burgers),
    predictions=(
        Prediction(
            name="periodic: moved by a shift",
            value=1e-5,
            kind="at_most",
            source="the weights are equal and the period is the domain: only rounding is left",
        ),
        Prediction(
            name="E, periodic over the better wrong kind: largest",
            value=1.0,
            kind="at_most",
            source="a symmetry of the equation that need not be learned",
        ),
    ),
)

CASES = [LEFT, BURGERS]
