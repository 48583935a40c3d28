"""One step: loss, gradient, update."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from sciml.training.devices import Devices, Precision
from sciml.training.optimizers import needs_closure

Loss = Callable[[torch.nn.Module, Any], "torch.Tensor | tuple[torch.Tensor, Mapping[str, Any]]"]

RESERVED = ("step", "loss", "learning_rate", "gradient_norm")


@dataclass(frozen=True)
class StepResult:
    """What a step measured. ``updated`` tells whether the weights were changed."""

    loss: float
    parts: dict[str, float] = field(default_factory=dict)
    gradient_norm: float = math.nan
    updated: bool = True
    interrupted: bool = False
    bad: str = ""


class GradientStep:
    """Loss, gradient and update of one batch.

    Parameters
    ----------
    model : Module
    loss : callable
    optimizer : Optimizer
    devices : Devices
    precision : Precision
    clip : float, optional
        Largest norm of the whole gradient.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        loss: Loss,
        optimizer: torch.optim.Optimizer,
        devices: Devices,
        precision: Precision,
        clip: float | None,
    ) -> None:
        self._model, self._loss, self._optimizer = model, loss, optimizer
        self._devices, self._precision, self._clip = devices, precision, clip
        self._parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.has_closure = needs_closure(optimizer)
        if clip is not None and not clip > 0.0:
            raise ValueError(f"clip={clip!r}: wanted a number above 0, or None")
        if self.has_closure and (clip is not None or precision.scaler.is_enabled()):
            what = "clip" if clip is not None else "precision='float16'"
            raise ValueError(
                f"{what} does not go with {type(optimizer).__name__}, whose line search needs the "
                "gradient as it is: leave it out"
            )

    def take(self, batch: Any, weight: float, interrupted: bool) -> StepResult:
        """Take a step.

        Parameters
        ----------
        batch
            On the device.
        weight : float
            This process's samples over the mean number of a process.
        interrupted : bool
            Whether this process was asked to end; all processes end if one was.

        Returns
        -------
        StepResult
        """
        if self.has_closure:
            return self._closure_step(batch, weight, interrupted)
        total, parts = self._gradient(batch, weight)
        values, stop = self._shared(total, parts, weight, interrupted)
        result = StepResult(values.pop("loss"), values, interrupted=stop)
        if not math.isfinite(result.loss):
            return StepResult(
                result.loss,
                values,
                updated=False,
                bad=_which(result.loss, values),
                interrupted=stop,
            )
        scaler = self._precision.scaler
        scaler.unscale_(self._optimizer) if scaler.is_enabled() else None
        norm = self._clipped_norm()
        if not math.isfinite(norm) and not scaler.is_enabled():
            bad = f"the gradient is {norm} though the loss is finite"
            return StepResult(result.loss, values, norm, updated=False, bad=bad, interrupted=stop)
        scale = scaler.get_scale()
        scaler.step(self._optimizer)
        scaler.update()
        # A smaller scale means that float16 gradients overflowed and the update was left out.
        updated = not scaler.is_enabled() or scaler.get_scale() >= scale
        return StepResult(result.loss, values, norm, updated=updated, interrupted=stop)

    def _closure_step(self, batch: Any, weight: float, interrupted: bool) -> StepResult:
        first: list[tuple[dict[str, float], bool]] = []

        def closure() -> torch.Tensor:
            total, parts = self._gradient(batch, weight)
            values, stop = self._shared(total, parts, weight, interrupted)
            if not first:
                first.append((values, stop))
            # The value that the line search compares must be that of all processes.
            return total.detach().new_tensor(values["loss"])

        self._optimizer.step(closure)  # type: ignore[arg-type]
        values, stop = dict(first[0][0]), first[0][1]
        value = values.pop("loss")
        bad = "" if math.isfinite(value) else _which(value, values)
        if not bad and not all(bool(p.isfinite().all()) for p in self._parameters):
            bad = f"{type(self._optimizer).__name__} led to weights that are not finite"
        return StepResult(value, values, updated=not bad, bad=bad, interrupted=stop)

    def _gradient(self, batch: Any, weight: float) -> tuple[torch.Tensor, Mapping[str, Any]]:
        self._optimizer.zero_grad(set_to_none=True)
        with torch.enable_grad():
            with self._precision():
                total, parts = checked_loss(self._loss(self._model, batch))
            if not total.requires_grad:
                raise ValueError(
                    "loss does not depend on the model's weights (it has no gradient): compute it "
                    "from model(...) with torch operations, without detach, item or numpy"
                )
            self._precision.scaler.scale(total * weight if weight != 1.0 else total).backward()
        self._devices.average_gradients(self._parameters)
        return total, parts

    def _shared(
        self, total: torch.Tensor, parts: Mapping[str, Any], weight: float, interrupted: bool
    ) -> tuple[dict[str, float], bool]:
        """Loss and parts as numbers, in one transfer, averaged over the processes."""
        total = total.detach()
        wide = total if total.dtype == torch.float64 else total.float()
        entries = [wide, *(torch.as_tensor(v).detach().to(wide) for v in parts.values())]
        row = torch.stack([entry.reshape(()) for entry in entries])
        if self._devices.count > 1:
            row = self._devices.mean(
                torch.cat([row * weight, row.new_tensor([float(interrupted)])])
            )
            *numbers, flag = row.tolist()
            interrupted = flag > 0.0
        else:
            numbers = row.tolist()
        return dict(zip(("loss", *parts), numbers, strict=True)), interrupted

    def _clipped_norm(self) -> float:
        gradients = [p.grad for p in self._parameters if p.grad is not None]
        if self._clip is not None:
            return float(torch.nn.utils.clip_grad_norm_(self._parameters, self._clip))
        norms = torch.stack([torch.linalg.vector_norm(g).float() for g in gradients])
        return float(torch.linalg.vector_norm(norms))


def checked_loss(returned: Any) -> tuple[torch.Tensor, Mapping[str, Any]]:
    """Loss and its named parts, as a loss function returned them.

    Raises
    ------
    TypeError, ValueError
        If it is no real number with a gradient, or a part has a name that the log uses.
    """
    total, parts = (
        returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, {})
    )
    if not isinstance(total, torch.Tensor) or not isinstance(parts, Mapping):
        raise TypeError(
            f"loss returned {_kind(returned)}: wanted a tensor, or a tensor and a mapping of names "
            "to its parts"
        )
    if total.numel() != 1 or total.is_complex():
        raise ValueError(
            f"loss returned a tensor of shape {tuple(total.shape)} and type {total.dtype}: wanted "
            "one real number, such as its mean"
        )
    if taken := [name for name in parts if name in RESERVED]:
        raise ValueError(f"loss names a part {taken[0]!r}, which the log uses itself: rename it")
    return total.reshape(()), parts


def _kind(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {', '.join(type(item).__name__ for item in value)}"
    return f"a {type(value).__name__}"


def _which(value: float, parts: Mapping[str, float]) -> str:
    bad = [f"{name} is {part}" for name, part in parts.items() if not math.isfinite(part)]
    return f"the loss is {value}" + (f" ({', '.join(bad)})" if bad else "")
