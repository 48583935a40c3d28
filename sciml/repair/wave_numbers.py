"""Wave numbers of a periodic grid, as the solvers of `pdes` take derivatives."""

from __future__ import annotations

import functools
import math

import torch
from torch import Tensor

__all__ = ["mode_weights", "wave_numbers"]


@functools.lru_cache(maxsize=32)
def wave_numbers(
    shape: tuple[int, ...], lengths: tuple[float, ...], dtype: torch.dtype, device: torch.device
) -> tuple[tuple[Tensor, ...], Tensor]:
    """Wave numbers along each axis, and one over the square of the wave vector.

    Parameters
    ----------
    shape : tuple of int
        Points of the grid.
    lengths : tuple of float
        Periods.
    dtype, device
        Of the tensors; real.

    Returns
    -------
    k : tuple of Tensor
        Along each axis of the half spectrum of `torch.fft.rfftn`, shaped to broadcast. Zero at the
        mode of Nyquist, whose derivative a grid cannot represent.
    inverse : Tensor
        ``1/|k|^2`` over the half spectrum, and zero where ``k`` is zero.

    Examples
    --------
    >>> k, _ = wave_numbers((4, 4), (1.0, 1.0), torch.float64, torch.device("cpu"))
    >>> [float(value) / torch.pi for value in k[0].flatten()]
    [0.0, 2.0, 0.0, -2.0]
    """
    d, found = len(shape), []
    for axis, (points, length) in enumerate(zip(shape, lengths, strict=True)):
        last = axis == d - 1
        numbers = (torch.fft.rfftfreq if last else torch.fft.fftfreq)(
            points, 1.0 / points, dtype=torch.float64
        )
        if points % 2 == 0:
            numbers[points // 2] = 0.0
        view = [-1 if place == axis else 1 for place in range(d)]
        found.append((2.0 * math.pi / length * numbers).reshape(view))
    square = torch.zeros(1, dtype=torch.float64)
    for k in found:
        square = square + k**2
    inverse = torch.where(square > 0.0, 1.0 / square.clamp_min(1e-300), 0.0)
    k = tuple(axis.to(device=device, dtype=dtype) for axis in found)
    return k, inverse.to(device=device, dtype=dtype)


def half_spectrum(u: Tensor, axes: tuple[int, ...], norm: str = "backward") -> Tensor:
    """`torch.fft.rfftn` along the last axes, also of an empty batch, which some of them refuse.

    Raises
    ------
    TypeError
        In half precision, for which there is no transform.

    Examples
    --------
    >>> half_spectrum(torch.zeros(0, 4, 4), (-2, -1)).shape
    torch.Size([0, 4, 3])
    """
    if u.dtype in (torch.float16, torch.bfloat16):
        raise TypeError(
            f"u has dtype {u.dtype}: half precision has no Fourier transform, and holds no rule; "
            "convert with .float()"
        )
    if not u.numel():
        return u.new_zeros((*u.shape[:-1], u.shape[-1] // 2 + 1), dtype=u.dtype.to_complex())
    return torch.fft.rfftn(u, dim=axes, norm=norm)


def mode_weights(u: Tensor) -> Tensor:
    """How many modes each of the half spectrum of real fields stands for, along its last axis.

    Examples
    --------
    >>> mode_weights(torch.zeros(4)), mode_weights(torch.zeros(5))
    (tensor([1., 2., 1.]), tensor([1., 2., 2.]))
    """
    points = u.shape[-1]
    weight = torch.full((points // 2 + 1,), 2.0, dtype=u.dtype, device=u.device)
    weight[0] = 1.0
    if points % 2 == 0:
        weight[-1] = 1.0
    return weight
