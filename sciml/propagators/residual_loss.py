"""What training makes small: the residuals of eikonal, transport and correction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch

from sciml.propagators.base import coordinate_values

if TYPE_CHECKING:
    from sciml.propagators.mino import MiNO

__all__ = ["Part", "ResidualLoss", "separate_parts"]


class Part(NamedTuple):
    """One network of a generator: what it stands for, and on which branch."""

    name: Literal["eikonal", "transport", "correction"]
    branch: int


def separate_parts(model: MiNO) -> tuple[Part, ...]:
    """Networks whose equations can be solved one after the other.

    With a foot in one dimension the eikonal equation knows the foot alone, the transport equation
    the amplitude alone, and the correction takes both as given: solved in this order nothing is
    lost, and every network has a problem of its own. Empty where the equations are coupled.

    Examples
    --------
    >>> from sciml.propagators import MiNO
    >>> wave = MiNO("u_t = v; v_t = (2 + sin(x))*u_xx", [(0.0, 6.28)], 1.0)
    >>> [(part.name, part.branch) for part in separate_parts(wave)]
    [('eikonal', 1), ('eikonal', -1), ('transport', 1), ('transport', -1)]
    """
    if not (model.has_foot and model.symbols.dimension == 1):
        return ()
    found = [Part("eikonal", branch) for branch in model.branches]
    if model.amplitudes:
        found += [Part("transport", branch) for branch in model.branches]
    if model.corrections:
        found += [Part("correction", branch) for branch in model.branches]
    return tuple(found)


class ResidualLoss:
    """Mean squares of the residuals, of the phase over its scale.

    Parameters
    ----------
    model : MiNO
        Whose equation is compiled.
    weight : float
        Of the transport equation and of the correction.
    only : Part, optional
        One of `separate_parts`; all by default.
    """

    def __init__(self, model: MiNO, weight: float = 1.0, only: Part | None = None) -> None:
        symbols = model.symbols
        self.weight, self.only = weight, only
        self._parts = separate_parts(model)
        self._kept: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
        rows = ["phase_residual", "amplitude_residual", "hamiltonian", "remainder"]
        self._program = {row: symbols.compile(row) for row in rows}
        self._both = symbols.compile("phase_residual", "amplitude_residual")
        self._trains_amplitude = bool(model.amplitudes)
        self._needed = {
            row: {str(s) for s in getattr(symbols, row).free_symbols} | {"a"} for row in rows
        }

    def __call__(self, model: Any, batch: Any) -> tuple[Any, dict[str, Any]]:
        """Loss and its parts."""
        dtype = next(model.parameters()).dtype
        t, x, xi = (values.to(dtype) for values in batch)
        alone = bool(self._parts)
        parts = self._separately(model, t, x) if alone else self._together(model, t, x, xi)
        total = sum(v if n == "eikonal" else self.weight * v for n, v in parts.items())
        return total, {n: v.detach() for n, v in parts.items()}

    # -- one network at a time -----------------------------------------------------------------

    def _separately(self, model: Any, t, x) -> dict[str, Any]:
        parts: dict[str, Any] = {}
        for part in self._parts if self.only is None else (self.only,):
            residual = getattr(self, f"_{part.name}")(model, t, x, part.branch)
            mean = residual.square().mean() / len(model.branches)
            parts[part.name] = parts.get(part.name, 0.0) + mean
        return parts

    def _eikonal(self, model: Any, t, x, branch: int) -> torch.Tensor:
        jets = model.foot_jet(t, x, branch, self._names(model, "phase_residual", "phi"))
        return self._value("phase_residual", model, jets, t, x, branch) / model.phase_scale

    def _transport(self, model: Any, t, x, branch: int) -> torch.Tensor:
        names = self._names(model, "amplitude_residual", "a")
        jets = model.amplitude_term_jet(0, t, x, branch, names)
        return self._value("amplitude_residual", model, jets, t, x, branch)

    def _correction(self, model: Any, t, x, branch: int) -> torch.Tensor:
        """What transport leaves of the correction together with the remainder before it.

        With the Hamiltonian ``H = c X_x`` of the foot as a factor, so that nothing is divided by
        it: ``H (b_t + s c b_x - s c' b/2) - s (a_tt - c^2 a_xx)/2``.
        """
        names = self._names(model, "amplitude_residual", "a")
        own = model.amplitude_term_jet(1, t, x, branch, names)
        frequency, before = self._given(model, t, x, branch)
        left = frequency * self._value("amplitude_residual", model, own, t, x, branch)
        return (left - 0.5 * branch * before) / model.phase_scale

    def _given(self, model: Any, t, x, branch: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Hamiltonian and remainder, which the correction takes as they are.

        Where it alone learns, on the same points, they are formed once.
        """
        if self._kept is not None and self._kept[0] is t:
            return self._kept[1], self._kept[2]
        with torch.no_grad():
            foot = model.foot_jet(t, x, branch, self._names(model, "hamiltonian", "phi"))
            first = model.amplitude_term_jet(0, t, x, branch, self._names(model, "remainder", "a"))
            frequency = self._value("hamiltonian", model, foot, t, x, branch)
            before = self._value("remainder", model, first, t, x, branch)
        if self.only is not None:
            self._kept = t, frequency, before
        return frequency, before

    def _names(self, model: Any, row: str, stem: str) -> tuple[str, ...]:
        known = model.symbols.phase_jets if stem == "phi" else model.symbols.amplitude_jets
        return tuple(n for n in known if n in self._needed[row])

    def _value(self, row: str, model: Any, jets, t, x, branch: int) -> torch.Tensor:
        places = coordinate_values(model.symbols, t, x)
        known = self._padded(model, jets, t)
        return self._program[row](known, places, branch=float(branch))[row]

    @staticmethod
    def _padded(model: Any, jets, t) -> dict[str, torch.Tensor]:
        zero = torch.zeros_like(t)
        names = (*model.symbols.phase_jets, *model.symbols.amplitude_jets)
        return dict.fromkeys(names, zero) | jets

    # -- all of it -----------------------------------------------------------------------------

    def _together(self, model: Any, t, x, xi) -> dict[str, Any]:
        phase: Any = 0.0
        amplitude: Any = 0.0
        branches = model.branches if model.symbols.dimension == 1 else (1,)
        if model.kind == "homogeneous":
            # Degree 1: directions suffice.
            xi = xi / torch.linalg.vector_norm(xi, dim=-1, keepdim=True).clamp_min(1e-12)
        for branch in branches:
            jets = model.phase_jet(t, x, xi, branch, self._phase_names(model))
            if self._trains_amplitude:
                names = self._names(model, "amplitude_residual", "a")
                jets |= model.amplitude_jet(t, x, xi, branch, names)
            places = coordinate_values(model.symbols, t, x)
            values = self._both(self._padded(model, jets, t), places, branch=float(branch))
            scaled = values["phase_residual"] / model.phase_scale
            phase = phase + scaled.square().mean() / len(branches)
            if self._trains_amplitude:
                amplitude = amplitude + values["amplitude_residual"].abs().square().mean() / len(
                    branches
                )
        return {"eikonal": phase} | ({"transport": amplitude} if self._trains_amplitude else {})

    def _phase_names(self, model: Any) -> tuple[str, ...]:
        needed = set(self._needed["phase_residual"])
        if self._trains_amplitude:
            needed |= self._needed["amplitude_residual"]
        return tuple(n for n in model.symbols.phase_jets if n in needed)
