"""The training engine that every learned component uses.

Examples
--------
>>> import torch
>>> from sciml.training import ArrayBatches, train
>>> x = torch.linspace(-1.0, 1.0, 64)[:, None]
>>> line = torch.nn.Linear(1, 1)
>>> def squared_error(model, batch):
...     inputs, targets = batch
...     return (model(inputs) - targets).square().mean()
>>> batches = ArrayBatches((x, 2.0 * x + 1.0), batch_size=16, seed=0)
>>> record = train(line, batches, squared_error, optimizer={"name": "adam", "lr": 0.1}, steps=200)
>>> round(line.weight.item(), 2), round(line.bias.item(), 2)
(2.0, 1.0)
"""

from __future__ import annotations

# Read at once and not on first use: `train` is also the name of its module, and whichever was asked
# for first would hide the other. Whoever imports this room needs torch anyway.
from sciml.training.batches import AbstractBatches, ArrayBatches
from sciml.training.callbacks import (
    AbstractCallback,
    EarlyStop,
    MovingAverage,
    ProgressBar,
    StepLog,
    TrainingState,
)
from sciml.training.checkpoint import load_checkpoint, save_checkpoint
from sciml.training.errors import CheckpointError, NonFiniteLossError, TrainingInterruptedError
from sciml.training.field_channels import field_tensor
from sciml.training.record import TrainingRecord
from sciml.training.streaming import FieldStatistics, StreamedFields
from sciml.training.train import train

__all__ = [
    "AbstractBatches",
    "AbstractCallback",
    "ArrayBatches",
    "CheckpointError",
    "EarlyStop",
    "FieldStatistics",
    "MovingAverage",
    "NonFiniteLossError",
    "ProgressBar",
    "StepLog",
    "StreamedFields",
    "TrainingInterruptedError",
    "TrainingRecord",
    "TrainingState",
    "field_tensor",
    "load_checkpoint",
    "save_checkpoint",
    "train",
]
