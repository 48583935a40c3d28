"""Where a run computes: one device, or one of several processes that share every batch.

Several processes are started from outside, with ``accelerate launch`` or ``torchrun``. Each takes
its share of a batch; gradients are averaged over the samples of the whole batch, so that the
weights are those of one process up to rounding. Gradients are reduced after the backward pass and
not by a wrapper around the model: a loss may call any method of it, any number of times.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

PRECISIONS = ("float32", "float64", "bfloat16", "float16")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Devices:
    """The device of this process, and how many processes there are.

    Parameters
    ----------
    device : torch.device
    rank, count : int
        Number of this process, and of all.
    accelerator : accelerate.Accelerator, optional
        Where there are several.
    """

    device: torch.device
    rank: int = 0
    count: int = 1
    accelerator: Any = None

    @property
    def is_main(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.rank == 0

    @property
    def part(self) -> tuple[int, int]:
        """Which share of a batch is this process's."""
        return self.rank, self.count

    def average_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Replace the gradients by their mean over the processes."""
        if self.count == 1:
            return
        groups: dict[torch.dtype, list[torch.Tensor]] = {}
        for parameter in parameters:
            if parameter.grad is None:  # another process may have one
                parameter.grad = torch.zeros_like(parameter)
            real = parameter.grad
            groups.setdefault(real.dtype, []).append(real)
        for gradients in groups.values():
            flat = torch.cat([each.flatten() for each in gradients])
            plain = torch.view_as_real(flat) if flat.is_complex() else flat
            mean = self.accelerator.reduce(plain, "mean")
            mean = torch.view_as_complex(mean) if flat.is_complex() else mean
            offset = 0
            for each in gradients:
                each.copy_(mean[offset : offset + each.numel()].view_as(each))
                offset += each.numel()

    def mean(self, values: torch.Tensor) -> torch.Tensor:
        """Mean of a small tensor over the processes."""
        return values if self.count == 1 else self.accelerator.reduce(values, "mean")

    def same_start(self, model: torch.nn.Module) -> None:
        """Give every process the weights of the first."""
        if self.count > 1:
            from accelerate.utils import broadcast

            with torch.no_grad():
                for tensor in [*model.parameters(), *model.buffers()]:
                    plain = torch.view_as_real(tensor) if tensor.is_complex() else tensor
                    plain.copy_(broadcast(plain.detach().clone()))

    def collect(self, thing: Any) -> list[Any]:
        """One thing from every process, in their order."""
        if self.count == 1:
            return [thing]
        from accelerate.utils import gather_object

        return list(gather_object([thing]))

    def wait(self) -> None:
        """Wait until every process is here."""
        if self.count > 1:
            self.accelerator.wait_for_everyone()


def find_devices(device: str | torch.device = "auto") -> Devices:
    """Device of this process.

    Parameters
    ----------
    device : str or torch.device, default "auto"
        ``"auto"`` takes a GPU if there is one; otherwise what torch accepts.

    Returns
    -------
    Devices

    Raises
    ------
    ValueError
        If there is no such device.
    ImportError
        If there are several processes but no accelerate.

    Examples
    --------
    >>> find_devices("cpu").device
    device(type='cpu')
    """
    if _processes() > 1:
        return _one_of_several(device)
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return Devices(_existing(device))


def _processes() -> int:
    text = os.environ.get("WORLD_SIZE", "1")
    return int(text) if text.isdigit() else 1


def _existing(device: str | torch.device) -> torch.device:
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        here = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
        if torch.backends.mps.is_available():
            here.append("mps")
        raise ValueError(
            f"device={device!r}: no such device here; wanted 'auto' or one of {', '.join(here)}"
        ) from error
    return found


def _one_of_several(device: str | torch.device) -> Devices:
    try:
        from accelerate import Accelerator
    except ImportError as error:
        raise ImportError(
            f"WORLD_SIZE={os.environ['WORLD_SIZE']} asks for several processes, which need the "
            "package accelerate: pip install 'sciml-pdes[distributed]', or unset WORLD_SIZE"
        ) from error
    kind = "" if device == "auto" else torch.device(device).type
    if kind not in ("", "cpu", "cuda"):
        raise ValueError(f"device={device!r}: several processes run on 'cpu', 'cuda' or 'auto'")
    # Without a GPU accelerate joins the processes only if it is told so.
    accelerator = Accelerator(cpu=kind == "cpu" or (not kind and not torch.cuda.is_available()))
    if accelerator.num_processes != _processes():
        raise ValueError(
            f"device={device!r}: WORLD_SIZE={os.environ['WORLD_SIZE']} asks for {_processes()} "
            f"processes, and accelerate joined {accelerator.num_processes}: start them with "
            "torchrun or accelerate launch, and give device='cpu' or 'cuda'"
        )
    return Devices(
        accelerator.device, accelerator.process_index, accelerator.num_processes, accelerator
    )


class Precision:
    """Whether and how to compute in fewer bits than the weights have.

    Parameters
    ----------
    name : {"float32", "float64", "bfloat16", "float16"} or None
        None computes in the precision of the model; the first two also check that it is this one.
        The others keep the weights and cast inside the operations (autocast); float16 scales the
        loss so that small gradients survive.
    model : Module
    device : torch.device

    Raises
    ------
    ValueError
        For an unknown name, or if the model has another precision.
    """

    def __init__(self, name: str | None, model: torch.nn.Module, device: torch.device) -> None:
        if name is not None and name not in PRECISIONS:
            raise ValueError(f"precision={name!r}: wanted None or one of {', '.join(PRECISIONS)}")
        self.name = name
        self._device = device
        self.autocasts = name in ("bfloat16", "float16")
        kinds = {p.dtype for p in model.parameters()}
        if name in ("float32", "float64"):
            allowed = {
                "float32": {torch.float32, torch.complex64},
                "float64": {torch.float64, torch.complex128},
            }[name]
            if other := sorted(map(str, kinds - allowed)):
                raise ValueError(
                    f"precision={name!r}, but the model has weights of type {', '.join(other)}: "
                    f"call model.to(torch.{name}) first, or leave precision out"
                )
        self.scaler = torch.amp.GradScaler(device.type, enabled=name == "float16")

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Compute what is inside in this precision."""
        if not self.autocasts:
            yield
            return
        with torch.autocast(self._device.type, dtype=getattr(torch, str(self.name))):
            yield
