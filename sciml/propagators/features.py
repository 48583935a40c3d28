"""Scaled inputs of the networks, and networks that vanish at the start."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import nn

from sciml.propagators.gated_mlp import GatedMLP, Jet, closed_words

__all__ = ["Inputs", "StartingAtZero"]

_CHUNK = 2**14


class Inputs(nn.Module):
    """Time, position and frequency as numbers between -1 and 1, with their derivatives.

    Parameters
    ----------
    box : sequence of (start, stop)
        Interval of each coordinate that the network sees; one period if ``periodic``.
    axes : tuple of str
        Letters of the coordinates.
    periodic : bool
        Positions enter by sine and cosine, so that the network has the period of the box.
    final_time : float
        Longest time.
    n_more : int
        Further inputs, given in scale already: frequencies or directions.
    time, position : bool
        Whether these are inputs at all.
    """

    def __init__(
        self,
        box: Sequence[tuple[float, float]],
        axes: tuple[str, ...],
        *,
        periodic: bool,
        final_time: float,
        n_more: int = 0,
        time: bool = True,
        position: bool = True,
    ) -> None:
        super().__init__()
        self.box, self.axes = tuple((float(a), float(b)) for a, b in box), axes
        self.periodic, self.final_time = periodic, float(final_time)
        self.n_more, self.time, self.position = n_more, time, position

    @property
    def count(self) -> int:
        """Number of inputs."""
        places = len(self.axes) * (2 if self.periodic else 1) if self.position else 0
        return int(self.time) + places + self.n_more

    def jet(
        self, t: torch.Tensor, x: torch.Tensor, more: torch.Tensor | None, words: Iterable[str]
    ) -> Jet:
        """Inputs and their derivatives; all of one shape, positions and more with a last axis."""
        found: Jet = {}
        zero, one = torch.zeros_like(t), torch.ones_like(t)
        for word in words:
            columns = []
            if self.time:
                slope = 2.0 / self.final_time
                known = {"": slope * t - 1.0, "t": slope * one}
                columns.append(known.get(word, zero))
            if self.position:
                for place, (axis, (a, b)) in enumerate(zip(self.axes, self.box, strict=True)):
                    columns += self._place(axis, a, b, x[..., place], word, zero, one)
            if more is not None:
                columns += list(more.unbind(-1)) if word == "" else [zero] * self.n_more
            found[word] = torch.stack(columns, dim=-1)
        return found

    def _place(self, axis, a, b, x, word, zero, one):
        pure = set(word) <= {axis}
        if not self.periodic:
            slope = 2.0 / (b - a)
            known = {"": slope * (x - a) - 1.0, axis: slope * one}
            return [known.get(word, zero)]
        if not pure:
            return [zero, zero]
        k = 2.0 * math.pi / (b - a)
        # Every derivative turns sine and cosine by a quarter.
        angle = k * x + 0.5 * math.pi * len(word)
        return [k ** len(word) * torch.sin(angle), k ** len(word) * torch.cos(angle)]


class StartingAtZero(nn.Module):
    """``t`` times a network: what is added to an initial value that is exact by construction.

    Parameters
    ----------
    inputs : Inputs
        What the network sees.
    out_features : int
        Number of outputs.
    scale : float
        Size of the outputs.
    hidden_channels, n_layers, seed
        See `GatedMLP`.
    """

    def __init__(
        self,
        inputs: Inputs,
        out_features: int,
        *,
        scale: float,
        hidden_channels: int,
        n_layers: int,
        seed: int,
    ) -> None:
        super().__init__()
        self.inputs, self.scale = inputs, float(scale)
        self.network = GatedMLP(inputs.count, out_features, hidden_channels, n_layers, seed=seed)

    def jet(
        self, t: torch.Tensor, x: torch.Tensor, more: torch.Tensor | None, words: Iterable[str]
    ) -> Jet:
        """Derivatives of the outputs, shape (..., out_features), in the precision of ``t``.

        Parameters
        ----------
        t : Tensor, shape (...)
            Times.
        x : Tensor, shape (..., d)
            Positions.
        more : Tensor, shape (..., n_more), optional
            Further inputs.
        words : iterable of str
            Directions; all lower ones are returned too.
        """
        words = closed_words(words)
        if not torch.is_grad_enabled() and t.numel() > _CHUNK:
            return self._in_chunks(t, x, more, words)
        dtype = self.network.output.weight.dtype
        kept = t.dtype
        t, x = t.to(dtype), x.to(dtype)
        more = None if more is None else more.to(dtype)
        plain = self.network.jet(self.inputs.jet(t, x, more, words))
        found, time = {}, t[..., None]
        for word in words:
            value = time * plain[word]
            if "t" in word:
                value = value + word.count("t") * plain[word.replace("t", "", 1)]
            found[word] = (self.scale * value).to(kept)
        return found

    def _in_chunks(self, t, x, more, words) -> Jet:
        """The same with the memory of a few points only."""
        places = x.reshape(-1, x.shape[-1])
        others = None if more is None else more.reshape(-1, more.shape[-1])
        clock = t.reshape(-1)
        parts = [
            self.jet(clock[n : n + _CHUNK], places[n : n + _CHUNK], _part(others, n), words)
            for n in range(0, len(clock), _CHUNK)
        ]
        outputs = self.network.output.out_features
        return {w: torch.cat([p[w] for p in parts]).reshape(*t.shape, outputs) for w in words}


def _part(values: torch.Tensor | None, start: int) -> torch.Tensor | None:
    return None if values is None else values[start : start + _CHUNK]
