"""The papers' training of power-law networks by Adam, as named baselines.

These are comparisons, not what we recommend: coefficients are best eliminated, see
:func:`sciml.powerlaw.variable_projection`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from pdes.tokens import closest
from sciml.powerlaw.angular import RMNAngular
from sciml.powerlaw.comparators import MLP, Siren, matched_mlp
from sciml.powerlaw.exponent_maps import Exponents
from sciml.powerlaw.msn import MSN
from sciml.powerlaw.msn_pinn import MSNPinn, check_angle
from sciml.powerlaw.multi_center import RMNMultiCenter
from sciml.powerlaw.network import AbstractPowerLaw, check_count
from sciml.powerlaw.points import check_points
from sciml.powerlaw.radial import RMNDirect

Loss = Callable[[nn.Module, int], Tensor]
"""``loss(model, step)``."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a paper trains a network.

    Attributes
    ----------
    build : callable
        ``build(dimension, generator) -> module`` in its start.
    steps : int
        Steps of Adam on all points at once.
    rate, exponent_rate : float
        Learning rates of coefficients and of exponents.
    clip, exponent_clip : float
        Largest gradient norm of all parameters, and of the exponents before that.
    frozen : int
        First steps in which exponents rest.
    penalty : callable
        Added to the loss.
    source : str
        Paper.
    """

    build: Callable[[int, torch.Generator], nn.Module]
    steps: int
    rate: float
    exponent_rate: float
    clip: float = 1.0
    exponent_clip: float = math.inf
    frozen: int = 0
    penalty: Callable[[nn.Module], Tensor] | None = None
    source: str = ""


@dataclass(frozen=True, eq=False)
class BaselineFit:
    """A network trained by a recipe.

    Attributes
    ----------
    model : Module
    losses : list of float
        At every hundredth step and the last.
    seconds : float
    parameters : int
        Their number.
    """

    model: nn.Module
    losses: list[float]
    seconds: float
    parameters: int

    def predict(self, x: Any) -> Tensor:
        """Values at points, shape (rows,)."""
        like = next(self.model.parameters())
        points = torch.as_tensor(x, dtype=like.dtype, device=like.device)
        with torch.no_grad():
            return self.model(points if points.ndim > 1 else points[:, None])[:, 0]


def gap_penalty(model: nn.Module, least: float = 0.1) -> Tensor:
    """``mean relu(least - gap)`` over neighboring exponents, optional in arXiv:2602.08419."""
    gaps = [torch.diff(part().sort().values) for part in _exponent_modules(model)]
    joined = torch.cat([gap for gap in gaps if len(gap)])
    return torch.relu(least - joined).mean()


def sparsity(model: nn.Module) -> Tensor:
    """``1e-3 mean abs(c)``, of arXiv:2601.22751."""
    assert isinstance(model, AbstractPowerLaw)
    return 1e-3 * model.coefficients().abs().mean()


def muntz_penalty(model: nn.Module) -> Tensor:
    """``1e-2 relu(2 - sum 1/mu - sum 1/lambda) + 1e-4 sum abs(coefficients)``, of arXiv:2512.22222.

    The sum over edges is never below 2 with exponents below 4, so that the first term rests.
    """
    assert isinstance(model, MSN)
    edges = [layer.bias.new_tensor(layer.even_coefficients[..., 0].numel())
             for layer in model._layers()]  # fmt: skip
    total = sum(
        (count * ((1.0 / layer.even()).sum() + (1.0 / layer.odd()).sum())
         for count, layer in zip(edges, model._layers(), strict=True)),
        torch.zeros(()),
    )  # fmt: skip
    size = sum(
        (layer.even_coefficients.abs().sum() + layer.odd_coefficients.abs().sum()
         for layer in model._layers()),
        torch.zeros(()),
    )  # fmt: skip
    return 1e-2 * torch.relu(2.0 - total) + 1e-4 * size


def _rmn(kind: Callable[..., nn.Module]) -> Callable[[int, torch.Generator], nn.Module]:
    return lambda dimension, generator: kind(dimension, exponent_map="gaps", generator=generator)


def _msn_pinn(count: int, **options: Any) -> Callable[[int, torch.Generator], nn.Module]:
    def build(dimension: int, generator: torch.Generator) -> nn.Module:
        model = MSNPinn(count, exponent_map="sigmoid", generator=generator, **options)
        low, high = model.families[0].exponents.bounds  # pyright: ignore
        start = low + (high - low) * torch.rand(count, generator=generator, dtype=torch.float64)
        start = start + 0.1 * torch.randn(count, generator=generator, dtype=torch.float64)
        margin = 0.01 * (high - low)  # the map reaches its bounds only at infinity
        model.families[0].exponents.set(start.clamp(low + margin, high - margin))  # pyright: ignore
        return model

    return build


_RMN = Recipe(
    build=_rmn(RMNDirect), steps=5000, rate=2e-3, exponent_rate=2e-3, source="arXiv:2602.08419"
)

BASELINES: dict[str, Recipe] = {
    "rmn-direct": _RMN,
    "rmn-angular": replace(_RMN, build=_rmn(RMNAngular)),
    "rmn-centers": replace(_RMN, build=_rmn(RMNMultiCenter)),
    "msn-pinn": Recipe(
        build=_msn_pinn(4),
        steps=10000,
        rate=0.01,
        exponent_rate=0.005,
        penalty=sparsity,
        source="arXiv:2601.22751",
    ),
    "msn": Recipe(
        build=lambda dimension, generator: MSN((dimension, 8, 8, 1), generator=generator),
        steps=6000,
        rate=1e-3,
        exponent_rate=2e-5,
        exponent_clip=0.05,
        frozen=500,
        penalty=muntz_penalty,
        source="arXiv:2512.22222",
    ),
    "mlp": replace(_RMN, build=lambda dimension, generator: MLP(dimension, generator=generator)),
    "siren": replace(
        _RMN, build=lambda dimension, generator: Siren(dimension, generator=generator), rate=1e-4
    ),
    "mlp-small": Recipe(
        build=lambda dimension, generator: matched_mlp(dimension, 1013, generator=generator),
        steps=6000,
        rate=1e-3,
        exponent_rate=1e-3,
        source="arXiv:2512.22222",
    ),
}
"""Recipes by name. That of the SIREN is the learning rate of its own paper."""


def recipe(name: str) -> Recipe:
    """Recipe of a name.

    Raises
    ------
    ValueError
        If there is none; the closest name is offered.

    Examples
    --------
    >>> recipe("msn").frozen
    500
    """
    if name not in BASELINES:
        raise ValueError(
            f"there is no baseline {name!r}; wanted one of {', '.join(BASELINES)}."
            f"{closest(str(name), BASELINES)}"
        )
    return BASELINES[name]


def train_baseline(
    name: str,
    x: Any,
    y: Any,
    *,
    seed: int = 0,
    steps: int | None = None,
    dtype: torch.dtype = torch.float64,
    callback: Callable[[int, float], None] | None = None,
) -> BaselineFit:
    """Train a network on points and values as its paper does.

    Parameters
    ----------
    name : str
        ``"rmn-direct"``, ``"rmn-angular"``, ``"rmn-centers"``, ``"msn-pinn"`` (one dimension),
        ``"msn"``, or for comparison ``"mlp"``, ``"siren"`` and ``"mlp-small"`` (of the size of the
        MSN).
    x : array, shape (rows, d)
        All of them are used in every step.
    y : array, shape (rows,)
    seed : int, default 0
        Of the start.
    steps : int, optional
        Those of the recipe by default.
    dtype : torch.dtype, default float64
        Of the computation.
    callback : callable, optional
        ``callback(step, loss)`` every hundred steps.

    Returns
    -------
    BaselineFit

    Raises
    ------
    ValueError
        For an unknown name and for data that are not finite or do not fit together.

    Examples
    --------
    >>> x = torch.linspace(0.01, 1.0, 50)[:, None].double()
    >>> fit = train_baseline("msn-pinn", x, x[:, 0].sqrt(), steps=100)
    >>> fit.parameters, fit.losses[-1] < fit.losses[0]
    (8, True)
    """
    chosen = recipe(name)
    points, values, _ = check_points(x, y)
    dimension = points.shape[1]
    if name == "msn-pinn" and dimension != 1:
        raise ValueError(f"x has {dimension} coordinates, the baseline 'msn-pinn' takes 1")
    model = chosen.build(dimension, torch.Generator().manual_seed(seed))
    model = model.to(points.device, dtype)
    points, values = points.to(dtype), values.to(dtype)
    loss = lambda net, step: (net(points)[:, 0] - values).square().mean()  # noqa: E731
    return run_recipe(chosen, model, loss, steps=steps, callback=callback)


def run_recipe(
    chosen: Recipe,
    model: nn.Module,
    loss: Loss,
    *,
    steps: int | None = None,
    callback: Callable[[int, float], None] | None = None,
) -> BaselineFit:
    """Minimize any loss with the optimizer of a recipe.

    Parameters
    ----------
    chosen : Recipe
    model : Module
        Changed in place.
    loss : callable
        ``loss(model, step) -> Tensor``; the recipe's penalty is added.
    steps, callback
        As in :func:`train_baseline`.

    Returns
    -------
    BaselineFit
    """
    count = chosen.steps if steps is None else check_count("steps", steps, 1)
    inner = [part.raw for part in _exponent_modules(model) if len(part.raw)]
    ids = {id(parameter) for parameter in inner}
    outer = [parameter for parameter in model.parameters() if id(parameter) not in ids]
    groups: list[dict[str, Any]] = [{"params": outer, "lr": chosen.rate}]
    if inner:
        groups.append({"params": inner, "lr": chosen.exponent_rate})
    optimizer = torch.optim.Adam(groups)
    losses, began = [], time.perf_counter()
    for step in range(count):
        for parameter in inner:
            parameter.requires_grad_(step >= chosen.frozen)
        optimizer.zero_grad(set_to_none=True)
        total = loss(model, step)
        if chosen.penalty is not None:
            total = total + chosen.penalty(model)
        total.backward()
        if inner and step >= chosen.frozen and chosen.exponent_clip < math.inf:
            nn.utils.clip_grad_norm_(inner, chosen.exponent_clip)
        nn.utils.clip_grad_norm_(list(model.parameters()), chosen.clip)
        optimizer.step()
        if step % 100 == 0 or step == count - 1:
            losses.append(float(total.detach()))
            if callback is not None:
                callback(step, losses[-1])
    for parameter in inner:
        parameter.requires_grad_(True)
    size = sum(parameter.numel() for parameter in model.parameters())
    return BaselineFit(model, losses, time.perf_counter() - began, size)


def train_corner(
    angle: float,
    theta: Any,
    values: Any,
    *,
    constraint: bool = True,
    K: int = 6,
    steps: int = 10000,
    seed: int = 0,
) -> BaselineFit:
    """Train the wedge form on data on the arc ``r = 1`` and zero values on both edges.

    The recipe of arXiv:2601.22751: boundary weight 100 on 100 points of each edge, sparsity 1e-3,
    and, if wanted, the constraint ``sum abs(c_k) sin^2(mu_k angle)`` with weight 10 up to step 5000
    and 1 from then on. Inside the wedge every term is harmonic, so that there is nothing to train.

    Parameters
    ----------
    angle : float
        Opening in radians.
    theta, values : array, shape (rows,)
        Angles on the arc and values there.
    constraint : bool, default True
        Whether the constraint is added.
    K : int, default 6
        Number of exponents.
    steps, seed : int
        As in :func:`train_baseline`.

    Returns
    -------
    BaselineFit

    Examples
    --------
    >>> theta = torch.linspace(0.0, 4.0, 50).double()
    >>> fit = train_corner(4.0, theta, torch.sin(0.7853981 * theta), steps=50)
    >>> fit.parameters
    18
    """
    opening = check_angle(angle)
    where, wanted, _ = check_points(theta, values, dimension=1)
    where = where[:, 0]
    chosen = replace(recipe("msn-pinn"), build=_msn_pinn(K, angle=opening))
    model = chosen.build(2, torch.Generator().manual_seed(seed)).double()
    arc = torch.stack([torch.cos(where), torch.sin(where)], 1)
    radius = torch.linspace(0.01, 1.0, 100, dtype=torch.float64)[:, None]
    ends = torch.tensor([0.0, opening], dtype=torch.float64)
    edges = torch.cat([radius * torch.stack([torch.cos(e), torch.sin(e)]) for e in ends])

    def loss(net: nn.Module, step: int) -> Tensor:
        total = (net(arc)[:, 0] - wanted).square().mean() + 100.0 * net(edges).square().mean()
        if constraint:
            family = net.families[0]  # pyright: ignore
            size = family.coefficients.square().sum(1).sqrt()  # pyright: ignore
            defect = torch.sin(opening * family.exponents()).square()  # pyright: ignore
            total = total + (10.0 if step < 5000 else 1.0) * (size * defect).sum()
        return total

    return run_recipe(chosen, model, loss, steps=steps)


def _exponent_modules(model: nn.Module) -> list[Exponents]:
    return [module for module in model.modules() if isinstance(module, Exponents)]
