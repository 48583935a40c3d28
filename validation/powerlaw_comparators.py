"""Ordinary networks of the sizes that the radial paper names, trained as long as its own."""

from __future__ import annotations

from typing import Any

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

_RMN = "N'guessan and Kim, arXiv:2602.08419"
_SINGULAR = ("log r", "1/r")
_SMOOTH = "sin(pi x) sin(pi y)"
_ROWS, _STEPS = 1024, 5000


def _train(baseline: str, name: str) -> dict[str, Any]:
    """Train one network on one field, seed 0, and test it on other points."""
    import numpy as np
    import torch

    from sciml.metrics import relative_l2
    from sciml.powerlaw.baselines import train_baseline

    from ._powerlaw_fields import FIELDS, shell

    field = next(each for each in FIELDS if each.name == name)
    x, new = shell(_ROWS, field.dimension, 0), shell(2048, field.dimension, 1)
    precision = torch.float64 if baseline == "rmn-direct" else torch.float32
    fit = train_baseline(baseline, x, field.function(x), steps=_STEPS, dtype=precision)
    predicted, truth = fit.predict(new).double().numpy(), field.function(new)
    return {
        "network": baseline,
        "field": name,
        "relative L2 error": float(f"{float(relative_l2(predicted, truth)):.3g}"),
        "RMSE": float(f"{np.sqrt(np.mean((predicted - truth) ** 2)):.3g}"),
        "parameters": fit.parameters,
        "points": _ROWS,
        "steps": _STEPS,
        "precision": str(precision).removeprefix("torch."),
        "seconds": round(fit.seconds, 1),
    }


def _ratio(network: str, name: str) -> str:
    return f"{name}: RMSE of the {network} over that of the radial network"


def _comparators() -> Measurements:
    rows = [_train("rmn-direct", name) for name in _SINGULAR]
    rows += [_train(kind, name) for kind in ("mlp", "siren") for name in (*_SINGULAR, _SMOOTH)]
    found = {(row["network"], row["field"]): row["RMSE"] for row in rows}
    values = {
        _ratio(label, name): found[kind, name] / found["rmn-direct", name]
        for kind, label in (("mlp", "MLP"), ("siren", "SIREN"))
        for name in _SINGULAR
    }
    smooth = {row["network"]: row["relative L2 error"] for row in rows if row["field"] == _SMOOTH}
    return Measurements(
        values=values
        | {
            "MLP on the smooth field": smooth["mlp"],
            "SIREN on the smooth field": smooth["siren"],
        },
        table=rows,
        note=f"One seed. All steps of the recipe, but {_ROWS} points instead of 8192, for all "
        "networks alike: with all points an MLP takes 12 minutes a field on one core. MLP and "
        "SIREN in single precision.",
    )


def _between(network: str, name: str, low: float, high: float) -> Prediction:
    return Prediction(
        name=_ratio(network, name),
        value=0.5 * (low + high),
        kind="equals",
        atol=0.5 * (high - low),
        source=f"{_RMN}: RMSE {low:g} to {high:g} times below that of the {network}",
    )


def _below_half(network: str) -> Prediction:
    return Prediction(
        name=f"{network} on the smooth field",
        value=0.5,
        kind="at_most",
        source=f"{_RMN}: radial networks fail here (their floor is 1), ordinary ones do not",
    )


CASES = [
    Case(
        name="sizes",
        tier="full",
        title="MLP and SIREN of the radial paper's sizes beside its network",
        description=(
            "33,537 and 8,577 parameters against 27, 5000 steps of Adam on all points: two "
            "singular fields in the plane, and a smooth one that no radial network fits."
        ),
        run=_comparators,
        predictions=(
            *(_between("MLP", name, 1.5, 51.0) for name in _SINGULAR),
            *(_between("SIREN", name, 10.0, 100.0) for name in _SINGULAR),
            _below_half("MLP"),
            _below_half("SIREN"),
        ),
    )
]
