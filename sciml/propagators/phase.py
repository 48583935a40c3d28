"""Learned phases: exact at the start by construction, and homogeneous where the equation is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import torch
from torch import nn

from sciml.propagators.features import StartingAtZero
from sciml.propagators.gated_mlp import Jet, closed_words

__all__ = ["FootNetwork", "FrequencyInputs", "PhaseNetwork"]

How = Literal["window", "direction"]


class FootNetwork(nn.Module):
    """``X = x + t v(t, x)``: where the ray through ``(t, x)`` started.

    The phase ``xi . X`` is homogeneous in the frequency exactly, so that one residual is
    controlled at all frequencies at once.

    Parameters
    ----------
    correction : StartingAtZero
        ``t v``, one output for each coordinate.
    """

    def __init__(self, correction: StartingAtZero) -> None:
        super().__init__()
        self.correction = correction

    def jet(self, t: torch.Tensor, x: torch.Tensor, words: Iterable[str]) -> Jet:
        """Derivatives of the foot, shape (..., d)."""
        axes = self.correction.inputs.axes
        found = self.correction.jet(t, x, None, words)
        for word in found:
            if word == "":
                found[word] = x + found[word]
            elif word in axes:
                unit = torch.zeros(len(axes), dtype=x.dtype, device=x.device)
                unit[axes.index(word)] = 1.0
                found[word] = found[word] + unit
        return found


class FrequencyInputs(nn.Module):
    """What a network sees of a frequency, and the factors that the rest of it becomes.

    Parameters
    ----------
    how : {"window", "direction"}
        The frequency over the largest of the window; or only its direction, with the length as a
        factor of the phase.
    largest : float
        Largest frequency of the window.
    folded : bool
        In one dimension: networks see the absolute value, and phases are odd in the frequency, as
        those of real equations are.
    """

    def __init__(self, how: How, largest: float, folded: bool) -> None:
        super().__init__()
        self.how, self.largest, self.folded = how, float(largest), folded

    def forward(self, xi: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Inputs (..., d), factor of the phase's correction, and sign of imaginary parts."""
        one = torch.ones_like(xi[..., 0])
        if self.how == "direction":
            length = torch.linalg.vector_norm(xi, dim=-1)
            safe = torch.where(length > 0.0, length, one)
            return xi / safe[..., None], length, one
        if self.folded:
            sign = torch.sign(xi[..., 0])
            return xi.abs() / self.largest, sign, sign
        return xi / self.largest, one, one


class PhaseNetwork(nn.Module):
    """``phi = x.xi + t h(t, x, xi)``, or with ``|xi| h(t, x, xi/|xi|)`` for degree 1.

    Parameters
    ----------
    correction : StartingAtZero
        ``t h``, one output.
    frequency : FrequencyInputs
        What it sees of the frequency.
    """

    def __init__(self, correction: StartingAtZero, frequency: FrequencyInputs) -> None:
        super().__init__()
        self.correction, self.frequency = correction, frequency

    def jet(self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, words: Iterable[str]) -> Jet:
        """Derivatives of the phase, shape (...); positions and frequencies (..., d)."""
        words = closed_words(words)
        axes = self.correction.inputs.axes
        more, factor, _ = self.frequency(xi)
        found = {
            word: factor * value[..., 0]
            for word, value in self.correction.jet(t, x, more, words).items()
        }
        found[""] = found[""] + (x * xi).sum(-1)
        for place, axis in enumerate(axes):
            if axis in found:
                found[axis] = found[axis] + xi[..., place]
        return found
