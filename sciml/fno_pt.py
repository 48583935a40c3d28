"""Torch files published with the Fourier neural operator: ``{"x": inputs, "y": outputs}``.

They live here and not beside the readers of `pdes.data.layouts`, as `pdes` does without torch.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


def read_fno_pt(path: str | Path, *, samples: int | slice | None = None) -> xr.Dataset:
    """Read inputs and outputs of a neural operator from a ``.pt`` file.

    Only tensors in plain containers are accepted (``weights_only``): no code of the file runs.

    Parameters
    ----------
    path : path
        With tensors ``x`` of shape ``(n[, 1], *space)`` and ``y`` of this shape, or with a time
        axis after the samples.
    samples : int or slice, optional
        The first so many, or a slice; all by default.

    Returns
    -------
    xarray.Dataset
        ``u`` over ``(sample, time, x)`` if the outputs have times, from 0 to 1; else ``a`` and
        ``u`` over ``(sample, *space)``.

    Raises
    ------
    pdes.data.ReadError
        If the file cannot be read safely or holds something else.

    Examples
    --------
    >>> import tempfile, torch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     torch.save({"x": torch.zeros(3, 1, 4, 4), "y": torch.ones(3, 4, 4)}, f"{folder}/d.pt")
    ...     read_fno_pt(f"{folder}/d.pt", samples=2).u.shape
    (2, 4, 4)
    """
    from pdes.data.layouts.labeling import label, selection

    path = Path(path)
    held = _load(path)
    chosen = selection(samples, len(held["x"]))
    a, u = (_numbers(held[name][chosen]) for name in ("x", "y"))
    a = a[:, 0] if a.ndim > 2 and a.shape[1] == 1 else a
    u = u[:, 0] if u.ndim > a.ndim and u.shape[1] == 1 else u
    space = ("x", "y", "z")[: a.ndim - 1]
    coords: dict[str, Any] = {
        axis: np.arange(size) / size for axis, size in zip(space, a.shape[1:], strict=True)
    }
    assumed = ["nodes i/N of the unit interval, right end left out"]
    if u.ndim == a.ndim + 1:
        coords["time"] = np.linspace(0.0, 1.0, u.shape[1])
        assumed.append("time: equal steps from 0 to 1")
        fields: dict[str, Any] = {"u": (("sample", "time", *space), u)}
        if not np.array_equal(u[:, 0], a):
            fields["a"] = (("sample", *space), a)
    else:
        fields = {"a": (("sample", *space), a), "u": (("sample", *space), u)}
    return label(fields, coords, path=path, layout="fno_pt", assumed=assumed)


def _load(path: Path) -> dict[str, Any]:
    import torch

    from pdes.data.errors import ReadError

    if not path.is_file():
        raise ReadError(f"no file at {path}: check the path")
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        # Damage, and everything that is not plain tensors, shows as many kinds of exception. What
        # they say is left out: torch advises to load without its protection.
        raise ReadError(
            f"{path.name} is damaged, or holds more than plain tensors, which could run code "
            f"({type(error).__name__}): nothing of it was run. Download it again, or ask its "
            "author for a file with the tensors x and y alone"
        ) from None
    tensors = isinstance(held, dict) and all(hasattr(held.get(k), "numpy") for k in ("x", "y"))
    if not tensors or len(held["x"]) != len(held["y"]):
        what = json.dumps(sorted(map(str, held))) if isinstance(held, dict) else type(held).__name__
        raise ReadError(f"{path.name} holds {what}: wanted tensors x and y of equally many samples")
    return held


def _numbers(tensor: Any) -> np.ndarray:
    values = tensor.numpy()
    return values if values.dtype.kind == "f" else values.astype(np.float32)
