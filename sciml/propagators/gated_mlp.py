"""Network of phase and amplitude, with derivatives by hand-propagated forward tangents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import torch
from torch import nn

from sciml.nn.seeding import seeded

__all__ = ["GatedMLP", "Jet", "closed_words", "leibniz"]

Jet = dict[str, torch.Tensor]
"""Derivatives of a function by their directions: ``""`` the value, ``"t"``, ``"tx"``, ``"xx"``."""

_SMALL_LAST = 0.1


def closed_words(words: Iterable[str]) -> tuple[str, ...]:
    """Directions of derivatives together with all lower ones, shortest first.

    Examples
    --------
    >>> closed_words(["txx"])
    ('', 't', 'x', 'tx', 'xx', 'txx')
    """
    found = {
        "".join(part)
        for word in words
        for size in range(len(word) + 1)
        for part in combinations(sorted(word), size)
    }
    return tuple(sorted(found | {""}, key=lambda w: (len(w), w)))


class GatedMLP(nn.Module):
    """Perceptron whose hidden layers mix two encodings of the input.

    Two gates ``U`` and ``V`` encode the input; every hidden layer computes
    ``z = tanh(W h + b)`` and hands on ``(1 - z) U + z V`` (S. Wang, Y. Teng and P. Perdikaris,
    SIAM J. Sci. Comput. 43, A3055 (2021)). Weights are Xavier's, those of the last layer a tenth.

    Parameters
    ----------
    in_features, out_features : int
        Numbers of inputs and outputs.
    hidden_channels : int, default 64
        Width.
    n_layers : int, default 4
        Hidden layers.
    seed : int, optional
        Of the weights.

    Examples
    --------
    >>> net = GatedMLP(3, 1, seed=0)
    >>> sum(p.numel() for p in net.parameters())
    13313
    >>> x = torch.zeros(5, 3)
    >>> jet = net.jet({"": x, "t": torch.ones(5, 3)})
    >>> bool((jet[""] == net(x)).all()), jet["t"].shape
    (True, torch.Size([5, 1]))
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        hidden_channels: int = 64,
        n_layers: int = 4,
        *,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        for name, value in (("hidden_channels", hidden_channels), ("n_layers", n_layers)):
            if isinstance(value, bool) or int(value) != value or value < 1:
                raise ValueError(f"{name} is {value!r}: wanted a whole number of at least 1")
        self.encoding = nn.Linear(in_features, 3 * hidden_channels)
        self.hidden = nn.ModuleList(
            nn.Linear(hidden_channels, hidden_channels) for _ in range(n_layers - 1)
        )
        self.output = nn.Linear(hidden_channels, out_features)
        with seeded(seed), torch.no_grad():
            for block in self.encoding.weight.chunk(3):
                nn.init.xavier_uniform_(block)
            for layer in (*self.hidden, self.output):
                nn.init.xavier_uniform_(layer.weight)  # type: ignore[arg-type]
            for layer in (self.encoding, *self.hidden, self.output):
                nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
            self.output.weight.mul_(_SMALL_LAST)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Values, shape (..., out_features)."""
        return self.jet({"": x})[""]

    def jet(self, inputs: Mapping[str, torch.Tensor]) -> Jet:
        """Values and derivatives from those of the inputs.

        Parameters
        ----------
        inputs : mapping of str to Tensor, shape (..., in_features)
            Closed under lower derivatives, see `closed_words`.

        Returns
        -------
        dict of str to Tensor, shape (..., out_features)
        """
        # The weights are cut into three, not the outputs: these are large, and slices of them
        # would be padded with zeros on the way back.
        weights, biases = self.encoding.weight.chunk(3), self.encoding.bias.chunk(3)
        u, v, z = (_tanh(_linear(w, b, inputs)) for w, b in zip(weights, biases, strict=True))
        difference = {w: v[w] - u[w] for w in u}
        h = _mixed(u, z, difference)
        for layer in self.hidden:
            h = _mixed(u, _tanh(_linear(layer.weight, layer.bias, h)), difference)  # type: ignore[arg-type]
        return _linear(self.output.weight, self.output.bias, h)


def _linear(weight: torch.Tensor, bias: torch.Tensor, jet: Mapping[str, torch.Tensor]) -> Jet:
    return {
        word: nn.functional.linear(value, weight, None if word else bias)
        for word, value in jet.items()
    }


def _tanh(z: Jet) -> Jet:
    y: Jet = {"": torch.tanh(z[""])}
    slope: Jet = {}

    def slope_of(word: str) -> torch.Tensor:
        # The derivative of tanh is 1 - tanh^2, whose own derivatives are a product's.
        if word not in slope:
            square = leibniz(y, y, word)
            slope[word] = 1.0 - square if word == "" else -square
        return slope[word]

    for word in sorted(z, key=len):
        if word:
            first, rest = word[0], word[1:]
            y[word] = torch.stack(
                [slope_of(one) * z["".join(sorted(first + other))] for one, other in _splits(rest)]
            ).sum(0) if rest else slope_of("") * z[first]  # fmt: skip
    return y


def _mixed(u: Jet, z: Jet, difference: Jet) -> Jet:
    return {w: u[w] + leibniz(z, difference, w) for w in u}


def leibniz(
    u: Mapping[str, torch.Tensor], v: Mapping[str, torch.Tensor], word: str
) -> torch.Tensor:
    """Derivative of a product in the directions of a word: the sum over all ways to split it."""
    (one, other), *rest = _splits(word)
    total = u[one] * v[other]
    for one, other in rest:
        total = total + u[one] * v[other]
    return total


def _splits(word: str) -> list[tuple[str, str]]:
    places = range(len(word))
    return [
        (
            "".join(word[i] for i in places if i in chosen),
            "".join(word[i] for i in places if i not in chosen),
        )
        for size in range(len(word) + 1)
        for chosen in combinations(places, size)
    ]
