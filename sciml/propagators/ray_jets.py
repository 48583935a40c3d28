"""Derivatives of the Runge-Kutta map of characteristics, carried along with it.

Derivatives of the map itself, not of the exact flow: what the steps leave shows up in the
residuals. Nested forward tangents give the same and cost several times as much.
"""

# Sympy types the parts of an expression as Basic, which has almost no methods.
# pyright: reportArgumentType=false
# pyright: reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy
import torch

from pdes.compile import compile_equation
from pdes.jets import JetSpace
from pdes.symbols import coordinate
from sciml.propagators.gated_mlp import Jet, closed_words, leibniz
from sciml.propagators.symbols import PhaseSymbols

__all__ = ["CharacteristicJets"]

_HIGHEST = 2


class CharacteristicJets:
    """Feet and amplitudes along characteristics in one dimension, with derivatives to order 2.

    Parameters
    ----------
    symbols : PhaseSymbols
        Linear in the gradient of the phase, autonomous, one dimension.
    source : sympy.Expr, optional
        Source of the amplitude's correction, see `wave_series`.

    Examples
    --------
    >>> from pdes import Equation
    >>> from sciml.propagators import phase_symbols
    >>> jets = CharacteristicJets(phase_symbols(Equation.from_text("u_t = -x*u_x")))
    >>> t, x = torch.ones(1, dtype=torch.float64), torch.full((1,), 2.0, dtype=torch.float64)
    >>> foot = jets.foot_and_terms(t, x, 1, 64, ["t", "xx"])[0]      # x exp(-t)
    >>> [round(foot[word].item(), 6) for word in ("", "t", "x", "xx")]
    [0.735759, -0.735759, 0.367879, 0.0]
    """

    def __init__(self, symbols: PhaseSymbols, source: sympy.Expr | None = None) -> None:
        self.symbols = symbols
        self._axis = symbols.equation.coordinates[0]
        rows = {"speed": symbols.velocity[0], "damping": symbols.damping}
        if source is not None:
            rows["source"] = source
        self._corrected = source is not None
        self._damped = symbols.damping != 0
        x = coordinate(self._axis)
        slopes = {
            f"{name}_{order}": sympy.diff(row, x, order) if order else row
            for name, row in rows.items()
            for order in range(_HIGHEST + 1)
        }
        slopes = {n: e for n, e in slopes.items() if self._damped or not n.startswith("damping")}
        self._known = [name for name in rows if f"{name}_0" in slopes]
        self._programs = [
            compile_equation(
                {n: e for n, e in slopes.items() if int(n[-1]) <= highest},
                JetSpace(("u",), (self._axis,)),
                {"branch": 1.0},
                "torch",
            )
            for highest in range(_HIGHEST + 1)
        ]

    @staticmethod
    def knows(symbols: PhaseSymbols, words: Iterable[str]) -> bool:
        """Whether an equation and directions are within its reach."""
        short = all(len(word) <= _HIGHEST for word in words)
        return short and symbols.linear and symbols.autonomous and symbols.dimension == 1

    def foot_and_terms(
        self, t: torch.Tensor, x: torch.Tensor, branch: int, n_steps: int, words: Iterable[str]
    ) -> tuple[Jet, list[Jet]]:
        """Foot, and terms of the amplitude.

        Parameters
        ----------
        t, x : Tensor
            Times and positions, of one shape.
        branch : int
            +1 or -1.
        n_steps : int
            Runge-Kutta steps from the time 0.
        words : iterable of str
            Directions, at most two letters each; all lower ones are returned too.

        Returns
        -------
        foot : dict of str to Tensor
        terms : list of dict of str to Tensor
            Leading amplitude, and its correction if there is a source.
        """
        words = closed_words(words)
        highest = max(len(word) for word in words)
        zero, one = torch.zeros_like(t), torch.ones_like(t)
        y: Jet = {w: {"": x, self._axis: one}.get(w, zero) for w in words}
        step = {"": t / n_steps, "t": one / n_steps}
        sums: dict[str, Jet] = {n: dict.fromkeys(words, zero) for n in self._known[1:]}
        for _ in range(n_steps):
            rates = [self._rates(y, branch, highest, words)]
            for share in (0.5, 0.5, 1.0):
                moved = _moved(y, rates[-1]["speed"], step, -share)
                rates.append(self._rates(moved, branch, highest, words))
            mean = {name: _simpson([r[name] for r in rates]) for name in self._known}
            y = _moved(y, mean.pop("speed"), step, -1.0)
            sums = {n: _moved(total, mean[n], step, 1.0) for n, total in sums.items()}
        return y, self._terms(y, sums, branch, highest, words)

    def _rates(self, y: Jet, branch: int, highest: int, words) -> dict[str, Jet]:
        here = {"u": torch.zeros((), dtype=y[""].dtype)}, {self._axis: y[""]}
        values = self._programs[highest](*here, branch=float(branch))
        found = {}
        for name in self._known:
            sign = branch if name == "speed" and self.symbols.time_order == 2 else 1
            slopes = [sign * values[f"{name}_{order}"] for order in range(highest + 1)]
            found[name] = _composed(slopes, y, words)
        return found

    def _terms(self, y: Jet, sums: Mapping[str, Jet], branch, highest: int, words) -> list[Jet]:
        loss = sums.get("damping", {w: torch.zeros_like(y[""]) for w in words})
        value = torch.exp(-loss[""])
        first = _composed([value, -value, value], loss, words)
        if not self._corrected:
            return [first]
        here = {"u": torch.zeros((), dtype=y[""].dtype)}, {self._axis: y[""]}
        speed = self._programs[highest](*here, branch=float(branch))
        c, d, e = (speed.get(f"speed_{n}", torch.zeros_like(y[""])) for n in range(3))
        slowness = _composed([1.0 / c, -d / c**2, 2.0 * d**2 / c**3 - e / c**2], y, words)
        gain = {w: -0.5 * branch * v for w, v in sums["source"].items()}
        scaled = {w: leibniz(gain, slowness, w) for w in words}
        return [first, {w: leibniz(first, scaled, w) for w in words}]


def _composed(slopes: Sequence[Any], y: Jet, words: Iterable[str]) -> Jet:
    """Derivatives of ``f(y)`` from those of ``f`` and of ``y``, to order 2."""
    found: Jet = {}
    for word in words:
        if word == "":
            found[word] = slopes[0] + torch.zeros_like(y[""])
        elif len(word) == 1:
            found[word] = slopes[1] * y[word]
        else:
            found[word] = slopes[2] * y[word[0]] * y[word[1]] + slopes[1] * y[word]
    return found


def _moved(y: Jet, rate: Jet, step: Mapping[str, torch.Tensor], share: float) -> Jet:
    """``y + share*h*rate`` for a step ``h`` that depends on the time alone, linearly."""
    found = {}
    for word, value in y.items():
        change = step[""] * rate[word]
        if "t" in word:
            change = change + word.count("t") * step["t"] * rate[word.replace("t", "", 1)]
        found[word] = value + share * change
    return found


def _simpson(rates: Sequence[Jet]) -> Jet:
    a, b, c, d = rates
    return {w: (a[w] + 2.0 * (b[w] + c[w]) + d[w]) / 6.0 for w in a}
