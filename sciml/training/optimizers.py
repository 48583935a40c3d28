"""Optimizers and schedules of the learning rate by name, with the arguments torch gives them."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.optim.lr_scheduler import LRScheduler

OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": torch.optim.SGD,
    "rmsprop": torch.optim.RMSprop,
    "lbfgs": torch.optim.LBFGS,
}
_FUSED = ("adam", "adamw", "sgd")

OptimizerSpec = (
    str
    | Mapping[str, Any]
    | torch.optim.Optimizer
    | Callable[[Iterable[torch.nn.Parameter]], torch.optim.Optimizer]
)
SchedulerSpec = (
    str | Mapping[str, Any] | LRScheduler | Callable[[torch.optim.Optimizer], LRScheduler] | None
)


def make_optimizer(spec: OptimizerSpec, model: torch.nn.Module) -> torch.optim.Optimizer:
    """Return an optimizer of the model's trainable parameters.

    Parameters
    ----------
    spec
        A name of `OPTIMIZERS`, a mapping ``{"name": "adamw", "lr": 1e-3, ...}`` with the arguments
        of the torch class, a function that takes the parameters, or an optimizer.
    model : Module
        Its parameters.

    Returns
    -------
    torch.optim.Optimizer

    Raises
    ------
    ValueError
        For an unknown name or argument, or a model without trainable parameters.

    Examples
    --------
    >>> make_optimizer({"name": "sgd", "lr": 0.1}, torch.nn.Linear(1, 1)).param_groups[0]["lr"]
    0.1
    """
    if isinstance(spec, torch.optim.Optimizer):
        _check_owned(spec, model)
        return spec
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise ValueError("model has no parameters that require gradients: nothing can be trained")
    if isinstance(spec, (str, Mapping)):
        name, options = _named("optimizer", spec, OPTIMIZERS)
        if name in _FUSED and not any(p.is_complex() for p in parameters):
            options.setdefault("fused", parameters[0].device.type in ("cpu", "cuda"))
        return _call("optimizer", name, OPTIMIZERS[name], parameters, options)
    made = spec(parameters)
    if not isinstance(made, torch.optim.Optimizer):
        raise TypeError(
            f"optimizer returned a {type(made).__name__}: wanted a torch.optim.Optimizer"
        )
    return made


def needs_closure(optimizer: torch.optim.Optimizer) -> bool:
    """Whether a step evaluates the loss by itself, as L-BFGS does.

    Examples
    --------
    >>> weights = [torch.nn.Parameter(torch.ones(1))]
    >>> needs_closure(torch.optim.LBFGS(weights)), needs_closure(torch.optim.Adam(weights))
    (True, False)
    """
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    return closure is not None and closure.default is inspect.Parameter.empty


def make_scheduler(
    spec: SchedulerSpec, optimizer: torch.optim.Optimizer, steps: int
) -> LRScheduler | None:
    """Return a schedule of the learning rate, advanced after every step.

    Parameters
    ----------
    spec
        ``"cosine"``, ``"one_cycle"``, ``"exponential"``, ``"step"``, ``"plateau"`` or a mapping
        with such a ``name`` and the arguments of the torch class; a function that takes the
        optimizer; a scheduler; or None. ``cosine`` and ``one_cycle`` span all steps by default.
    optimizer : Optimizer
    steps : int
        Length of the run.

    Returns
    -------
    LRScheduler or None

    Raises
    ------
    ValueError
        For an unknown name or argument.
    """
    if spec is None or isinstance(spec, LRScheduler):
        return spec
    if not isinstance(spec, (str, Mapping)):
        return spec(optimizer)
    schedules = torch.optim.lr_scheduler
    known = {
        "cosine": schedules.CosineAnnealingLR,
        "one_cycle": schedules.OneCycleLR,
        "exponential": schedules.ExponentialLR,
        "step": schedules.StepLR,
        "plateau": schedules.ReduceLROnPlateau,
    }
    name, options = _named("scheduler", spec, known)
    if name == "cosine":
        options.setdefault("T_max", steps)
    if name == "one_cycle":
        options.setdefault("total_steps", steps)
        options.setdefault("max_lr", optimizer.param_groups[0]["lr"])
    return _call("scheduler", name, known[name], optimizer, options)


def closest(name: str, known: Iterable[str]) -> str:
    """Offer the closest of some names, as the end of a message.

    Examples
    --------
    >>> closest("adamm", ["adam", "sgd"])
    ", did you mean 'adam'?"
    """
    match = difflib.get_close_matches(name, list(known), n=1)
    return f", did you mean {match[0]!r}?" if match else ""


def _named(
    argument: str, spec: str | Mapping[str, Any], known: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    options = {"name": spec} if isinstance(spec, str) else dict(spec)
    if "name" not in options:
        raise ValueError(
            f"{argument} is {spec!r} without a name: wanted {{'name': ...}} with one of "
            f"{', '.join(known)}"
        )
    name = options.pop("name")
    if name not in known:
        raise ValueError(
            f"{argument} {name!r} is unknown{closest(str(name), known)}; known: {', '.join(known)}"
        )
    return str(name), options


def _call(argument: str, name: str, cls: Any, first: Any, options: dict[str, Any]) -> Any:
    allowed = list(inspect.signature(cls).parameters)[1:]
    for option in options:
        if option not in allowed:
            raise ValueError(
                f"{argument} {name!r} has no argument {option!r}{closest(option, allowed)}; it "
                f"takes {', '.join(allowed)}"
            )
    try:
        return cls(first, **options)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument} {name!r}: {error}") from error


def _check_owned(optimizer: torch.optim.Optimizer, model: torch.nn.Module) -> None:
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    if not held & {id(p) for p in model.parameters()}:
        raise ValueError(
            "optimizer holds none of the model's parameters: make it with "
            "model.parameters(), or give its name"
        )
