"""What a repair is, and how fields are checked before one is applied."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

__all__ = ["AbstractProjection", "check_fields"]


class AbstractProjection(nn.Module, ABC):
    """A map to states that obey a rule.

    Subclasses define `forward` and `defect`, and state what they are; the conformance tests hold
    them to it.

    Attributes
    ----------
    exact : bool
        The map is the nearest point, in the inner product of `metric`, of a set that holds the
        true states as they are stored; it leaves those unchanged.
    linear : bool
        Affine maps count: the set is a subspace, or a subspace moved.
    sample_axes : int
        Axes of one state, counted from the end; what comes before them is a batch.

    Notes
    -----
    Exactness, symmetry and idempotence are different things. Top-down reconciliation is idempotent
    to rounding, and still distorts the truth; so does a Poisson solve whatever its residual.
    """

    exact: bool = True
    linear: bool = True
    sample_axes: int = 1

    @abstractmethod
    def forward(self, u: Tensor) -> Tensor:
        """Repaired states, of the shape of `u`."""

    @abstractmethod
    def defect(self, u: Tensor) -> Tensor:
        """How far states break the rule: what must vanish, at the batch's leading axes."""

    def metric(self, u: Tensor) -> Tensor | None:
        """Weights of the entries of a state in the inner product; None if all are equal.

        Parameters
        ----------
        u : Tensor
            States, for their shape, type and device.

        Returns
        -------
        Tensor or None
            Broadcasts against `u`.
        """
        return None

    def inner(self, a: Tensor, b: Tensor) -> Tensor:
        """Inner product of states, summed over the `sample_axes`, of the shape of the batch."""
        weights = self.metric(a)
        product = a * b if weights is None else weights * a * b
        return product.sum(dim=tuple(range(-self.sample_axes, 0)))


def check_fields(name: str, u: Tensor, sample_axes: int, wanted: str) -> None:
    """Refuse what no repair can work on.

    Parameters
    ----------
    name : str
        Of the argument.
    u : Tensor
        States.
    sample_axes : int
        Axes of one state.
    wanted : str
        The shape in words, for the message.

    Raises
    ------
    TypeError
        If it is no tensor of real floating-point numbers.
    ValueError
        If axes are missing, or values are not finite.
    """
    if not isinstance(u, Tensor):
        raise TypeError(
            f"{name} is of type {type(u).__name__}: wanted a torch.Tensor of shape {wanted}; "
            "convert with torch.as_tensor"
        )
    if not u.is_floating_point():
        remedy = "take real and imaginary part apart" if u.is_complex() else "convert with .float()"
        raise TypeError(f"{name} has dtype {u.dtype}: wanted real floating point; {remedy}")
    if u.ndim < sample_axes:
        raise ValueError(f"{name} has shape {tuple(u.shape)}: wanted {wanted}")
    if u.numel() and not _finite(u):
        bad = int((~torch.isfinite(u)).sum())
        raise ValueError(
            f"{name} holds {bad} values that are NaN or infinite: repair cannot mend them; find "
            "out where the forecast became so, or leave these states out"
        )


def _finite(u: Tensor) -> bool:
    try:
        # One pass over the data; a sum that overflows is looked at again.
        return bool(torch.isfinite(u.detach().sum())) or bool(torch.isfinite(u).all())
    except RuntimeError:  # under torch.func.vmap no value can be looked at
        return True
