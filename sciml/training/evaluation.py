"""Errors of a model on a dataset, by field and by sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sciml.training.streaming import StreamedFields

__all__ = ["Evaluation", "evaluate"]

MEASURES = ("relative_l2", "rmse", "largest")


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Errors of every example in every field.

    Attributes
    ----------
    fields : tuple of str
        Names of the output channels.
    relative_l2 : ndarray, shape (examples, fields)
        ``||u - v||/||v||``; not-a-number where the truth v is 0 everywhere.
    rmse : ndarray, shape (examples, fields)
        Root of the mean square difference.
    largest : ndarray, shape (examples, fields)
        Largest absolute difference.
    """

    fields: tuple[str, ...]
    relative_l2: np.ndarray
    rmse: np.ndarray
    largest: np.ndarray

    @property
    def count(self) -> int:
        """Number of examples."""
        return len(self.rmse)

    def rows(self) -> list[dict[str, Any]]:
        """One row for every field, with the mean and the worst example."""
        return [
            {
                "field": name,
                "relative L2, mean": _over(np.nanmean, self.relative_l2[:, k]),
                "median": _over(np.nanmedian, self.relative_l2[:, k]),
                "worst": _over(np.nanmax, self.relative_l2[:, k]),
                "RMSE, mean": float(self.rmse[:, k].mean()),
                "largest error": float(self.largest[:, k].max()),
            }
            for k, name in enumerate(self.fields)
        ]

    def to_dict(self) -> dict[str, Any]:
        """All errors as plain data."""
        return {
            "examples": self.count,
            "fields": list(self.fields),
            "summary": self.rows(),
            **{name: getattr(self, name).tolist() for name in MEASURES},
        }

    def __str__(self) -> str:
        rows = self.rows()
        table = [list(rows[0])]
        table += [[v if isinstance(v, str) else f"{v:.4g}" for v in row.values()] for row in rows]
        widths = [max(len(line[k]) for line in table) for k in range(len(table[0]))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) for r in table]
        return "\n".join([*(line.rstrip() for line in lines), f"{self.count} examples"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the distribution of the relative error of every field.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(5.0, 3.4), layout="constrained").add_subplot()
        for k, name in enumerate(self.fields):
            errors = np.sort(self.relative_l2[:, k])
            ax.plot(errors, (np.arange(self.count) + 1) / self.count, drawstyle="steps", label=name)
        ax.set_xlabel("relative L2 error")
        ax.set_ylabel("share of examples")
        ax.legend(frameon=False, fontsize=8)
        return ax


def evaluate(
    model: torch.nn.Module,
    fields: StreamedFields,
    *,
    weights: Any = None,
    device: str | torch.device = "auto",
) -> Evaluation:
    """Compare a model with the targets of a dataset, example by example.

    Parameters
    ----------
    model : Module
        Takes ``(batch, channel, *grid)``. It is evaluated without gradients, in evaluation mode.
    fields : StreamedFields
        What to compare with; read batch by batch.
    weights : array, optional
        Quadrature weights of the grid; equal ones by default.
    device : str or torch.device, default "auto"

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        If the output has another shape than the targets, or the weights than the grid.

    Examples
    --------
    >>> import pdes
    >>> from sciml.training import StreamedFields
    >>> data = pdes.simulate(pdes.get("heat"))
    >>> fields = StreamedFields(data, inputs="u", targets="u", lead=1, batch_size=64)
    >>> bool(evaluate(torch.nn.Identity(), fields).relative_l2.max() < 0.1)  # nothing moves
    True
    """
    from sciml.training.batches import to_device
    from sciml.training.devices import find_devices

    place = find_devices(device).device
    shape = tuple(fields.grid.values())
    w = torch.full(shape, 1.0 / np.prod(shape)) if weights is None else torch.as_tensor(weights)
    if tuple(w.shape) != shape:
        raise ValueError(f"weights have shape {tuple(w.shape)}: wanted that of the grid, {shape}")
    blocks: list[tuple[np.ndarray, ...]] = []
    was_training = model.training
    model.to(place).eval()
    try:
        with torch.no_grad():
            for inputs, targets in fields:
                outputs = model(to_device(inputs, place)).cpu()
                blocks.append(_errors(outputs, targets, w.double().flatten()))
    finally:
        model.train(was_training)
    relative, rmse, largest = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return Evaluation(
        fields=tuple(fields.output_names), relative_l2=relative, rmse=rmse, largest=largest
    )


def _errors(
    outputs: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> tuple[np.ndarray, ...]:
    if outputs.shape != targets.shape:
        raise ValueError(
            f"the model returned shape {tuple(outputs.shape)} for targets of shape "
            f"{tuple(targets.shape)}: it does not fit these fields"
        )
    difference = (outputs.double() - targets.double()).flatten(2)
    rmse = (difference.square() @ weights).sqrt()
    scale = (targets.double().flatten(2).square() @ weights).sqrt()
    relative = torch.where(scale > 0.0, rmse / scale, torch.nan)
    return relative.numpy(), rmse.numpy(), difference.abs().amax(dim=2).numpy()


def _over(function: Any, values: np.ndarray) -> float:
    return float("nan") if np.isnan(values).all() else float(function(values))
