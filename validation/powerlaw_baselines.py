"""The papers' Adam recipes, run as they are written: what they reach, and where they stop."""

from __future__ import annotations

from typing import Any

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

_RMN = "N'guessan and Kim, arXiv:2602.08419"
_MSN = "N'guessan, arXiv:2512.22222"


# ---- radial networks ------------------------------------------------------------------------

_RADIAL = ("log r", "r^(1/2)", "1/r", "1/r, space")
_OTHERS = ("crack r^0.5 sin(theta/2)", "sin(pi x) sin(pi y)")
_COMPARED = ("log r", "1/r", "sin(pi x) sin(pi y)")


def _train(baseline: str, name: str, rows: int, steps: int) -> dict[str, Any]:
    """Train one baseline on one field, seed 0, and test it on other points."""
    import numpy as np

    from sciml.metrics import relative_l2
    from sciml.powerlaw.baselines import train_baseline

    from ._powerlaw_fields import FIELDS, shell

    field = next(each for each in FIELDS if each.name == name)
    x, new = shell(rows, field.dimension, 0), shell(2048, field.dimension, 1)
    fit = train_baseline(baseline, x, field.function(x), steps=steps)
    predicted, truth = fit.predict(new).numpy(), field.function(new)
    return {
        "network": baseline,
        "field": name,
        "relative L2 error": float(f"{float(relative_l2(predicted, truth)):.3g}"),
        "RMSE": float(f"{np.sqrt(np.mean((predicted - truth) ** 2)):.3g}"),
        "parameters": fit.parameters,
        "points": rows,
        "steps": steps,
        "seconds": round(fit.seconds, 1),
    }


def _radial() -> Measurements:
    rows = [_train("rmn-direct", name, 1024, 5000) for name in (*_RADIAL, *_OTHERS)]
    rows += [_train(kind, name, 512, 500) for kind in ("mlp", "siren") for name in _COMPARED]
    found = {(row["network"], row["field"]): row["relative L2 error"] for row in rows}
    errors = [found["rmn-direct", name] for name in _RADIAL]
    smooth = _OTHERS[1]
    return Measurements(
        values={
            "largest error of the radial network": max(errors),
            "smallest error of the radial network": min(errors),
            "radial network on a crack": found["rmn-direct", _OTHERS[0]],
            "radial network on a smooth field": found["rmn-direct", smooth],
            "MLP on the smooth field": found["mlp", smooth],
        },
        table=rows,
        note="One seed; 1024 points instead of 8192. MLP and SIREN with 512 points and 500 steps "
        "only: the full recipe takes them hours on one core, so that their errors say little "
        "about what it reaches.",
    )


RADIAL = Case(
    name="radial",
    tier="full",
    title="Radial networks by the Adam recipe",
    description=(
        "5000 steps at rate 2e-3 on all points. Least squares on the same fields reaches rounding "
        "(case ten-fields of powerlaw_fields)."
    ),
    run=_radial,
    predictions=(
        Prediction(
            name="largest error of the radial network",
            value=0.1,
            kind="at_most",
            source="measured before at 3.4e-2 (log r) on a prototype; slack for the seed",
        ),
        Prediction(
            name="smallest error of the radial network",
            value=1e-4,
            kind="at_least",
            source="Adam at a fixed rate leaves an error of the order of rate times slope",
        ),
        Prediction(
            name="radial network on a crack",
            value=1.0,
            kind="equals",
            rtol=0.03,
            source="the mean over every circle is zero; slack for the sampling",
        ),
        Prediction(
            name="radial network on a smooth field",
            value=1.0,
            kind="equals",
            rtol=0.03,
            source="the mean over every circle is zero; slack for the sampling",
        ),
        Prediction(
            name="MLP on the smooth field",
            value=0.9,
            kind="at_most",
            source=f"{_RMN}: radial networks fail on smooth fields that are not radial",
        ),
    ),
)


# ---- Müntz-Szász networks -------------------------------------------------------------------

_POINTS = 128
_PUBLISHED = {"sqrt x": 0.00224, "equation": 0.0529}
_PUBLISHED_MLP = {"sqrt x": 0.01043, "equation": 0.1677}


def _root(x: Any) -> Any:
    return x.sqrt()


def _regression(name: str) -> float:
    """RMSE for ``sqrt x`` on a grid, of a network trained on uniform points, seed 0."""
    import torch

    from sciml.powerlaw.baselines import train_baseline

    x = torch.rand(_POINTS, 1, generator=torch.Generator().manual_seed(42), dtype=torch.float64)
    new = torch.linspace(0.0, 1.0, 500, dtype=torch.float64)[:, None]
    fit = train_baseline(name, x, _root(x)[:, 0], dtype=torch.float32)
    return float((fit.predict(new).double() - _root(new)[:, 0]).square().mean().sqrt())


def _equation(name: str) -> float:
    """RMSE for ``u' = 1/(2 sqrt x)``, ``u(0) = 0``: weight 200, points ``t^2`` drawn anew."""
    import torch

    from sciml.powerlaw.baselines import recipe, run_recipe

    chosen = recipe(name)
    model = chosen.build(1, torch.Generator().manual_seed(0)).float()
    draw = torch.Generator().manual_seed(42)

    def loss(net: Any, step: int) -> Any:
        x = (torch.rand(_POINTS, 1, generator=draw) ** 2).clamp(min=1e-12).requires_grad_(True)
        (slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
        start = net(torch.zeros(1, 1)).square().mean()
        return (slope - 0.5 / x.detach().sqrt()).square().mean() + 200.0 * start

    fit = run_recipe(chosen, model, loss)
    new = torch.linspace(0.0, 1.0, 500)[:, None]
    return float((fit.predict(new) - new[:, 0].sqrt()).square().mean().sqrt())


def _msn() -> Measurements:
    import torch

    from sciml.powerlaw import MSNPinn

    rows = []
    values = {}
    for task, measure in (("sqrt x", _regression), ("equation", _equation)):
        network, other = measure("msn"), measure("mlp-small")
        values[f"{task}, network"] = network
        rows.append(
            {
                "task": task,
                "MSN": network,
                "published": _PUBLISHED[task],
                "MLP": other,
                "MLP, published": _PUBLISHED_MLP[task],
            }
        )
    x = torch.rand(_POINTS, 1, generator=torch.Generator().manual_seed(42), dtype=torch.float64)
    model = MSNPinn(1, bounds=(0.0, 4.0)).double()
    model.fit(x, _root(x))
    new = torch.linspace(0.0, 1.0, 500, dtype=torch.float64)[:, None]
    values["sqrt x, least squares"] = (
        (model(new).detach() - _root(new)).square().mean().sqrt().item()
    )
    return Measurements(
        values=values,
        table=rows,
        note=f"6000 steps, one seed, {_POINTS} points instead of 2048: where a figure does not lie "
        "within a factor of two of the published one, that is a finding about this setting. The "
        "paper's cusp is left out, as its formula is not known.",
    )


def _within_factor(name: str, value: float) -> Prediction:
    """Between half and twice a published figure."""
    return Prediction(
        name=name,
        value=1.25 * value,
        kind="equals",
        atol=0.75 * value,
        source=f"{_MSN}: {value}, here within a factor of two",
    )


MSN = Case(
    name="msn",
    tier="full",
    title="Müntz-Szász networks by the Adam recipe",
    description="Root mean square errors of the network of 1013 parameters beside the published.",
    run=_msn,
    predictions=(
        _within_factor("sqrt x, network", _PUBLISHED["sqrt x"]),
        _within_factor("equation, network", _PUBLISHED["equation"]),
        Prediction(
            name="sqrt x, least squares",
            value=1e-12,
            kind="at_most",
            source="the target is one of the blocks",
        ),
    ),
)

# ---- MSN-PINN -------------------------------------------------------------------------------

_PINN = "N'guessan and Kim, arXiv:2601.22751"
_POWERS = {
    "x^0.5": ((0.5,), "1.45 %"),
    "x^0.5 + x^0.8": ((0.5, 0.8), "0.8 %"),
    "x^0.5 + x^0.6": ((0.5, 0.6), "2.2 %"),
}


def _pinn_name(target: str) -> str:
    return f"{target}: relative error of the exponents"


def _pinn() -> Measurements:
    import numpy as np

    from sciml.metrics import relative_l2
    from sciml.powerlaw import PowerLawFit
    from sciml.powerlaw.baselines import train_baseline

    x = np.linspace(0.1, 1.0, 200) ** 2
    new = np.geomspace(0.01, 1.0, 333)
    values, rows = {}, []
    for target, (powers, published) in _POWERS.items():
        y, truth = sum(x**mu for mu in powers), sum(new**mu for mu in powers)
        fit = train_baseline("msn-pinn", x[:, None], y)
        model: Any = fit.model
        found = model.exponents().detach().numpy()
        sizes = np.abs(model.coefficients().detach().numpy()).ravel()
        # The exponents of the largest coefficients are those that the network reports.
        largest = np.sort(found[np.argsort(sizes)[-len(powers) :]])
        error = float(np.max(np.abs(largest / np.array(powers) - 1.0)))
        ours = np.sort(np.real(PowerLawFit().fit(x, y).exponents_))
        values[_pinn_name(target)] = error
        rows.append(
            {
                "target": target,
                "exponents": ", ".join(f"{mu:.4f}" for mu in np.sort(found)),
                "error of the exponents": error,
                "published": published,
                "relative L2 error": float(relative_l2(fit.predict(new[:, None]).numpy(), truth)),
                "least squares": float(np.max(np.abs(ours / np.array(powers) - 1.0))),
                "seconds": round(fit.seconds, 1),
            }
        )
    return Measurements(
        values=values,
        table=rows,
        note="10000 steps, four exponents, one seed. How the paper reads exponents off four terms "
        "is not known to us; here they are those of the largest coefficients.",
    )


PINN = Case(
    name="msn-pinn",
    tier="full",
    title="MSN-PINN by the Adam recipe",
    description=(
        "Exponents of exact sums of powers at 200 points x = t^2 in [0.01, 1] by a network of four "
        "terms. Least squares finds them to rounding (case exact-samples of powerlaw_radial)."
    ),
    run=_pinn,
    predictions=tuple(
        Prediction(
            name=_pinn_name(target),
            value=1e-4,
            kind="at_least",
            source=f"{_PINN}: {published}; Adam at a fixed rate and the l1 penalty stop far above "
            "rounding",
        )
        for target, (_, published) in _POWERS.items()
    ),
)

CASES = [RADIAL, MSN, PINN]
