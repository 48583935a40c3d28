"""MiNO: phase and amplitude as networks, trained once for every initial field.

N'guessan and Kim, "MiNO: Cotangent-bundle propagator learning for PDEs", arXiv:2608.15187 (2026);
the phase of degree 1, the polish, the certificate and the stop rule are derived here. Antecedents:
E. Candes, L. Demanet and L. Ying, Multiscale Model. Simul. 7, 1727 (2009); L. Demanet and L. Ying,
SIAM J. Math. Anal. 43 (2011), propagators from Hamilton-Jacobi phases; K. Kothari, M. de Hoop and
I. Dokmanic, FIONet (2020), whose phase is learned from data.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
import xarray as xr
from torch import nn

from pdes.equation import Equation
from pdes.grid import Grid
from sciml.nn.model_registry import register_model
from sciml.propagators.amplitude import (
    AmplitudeNetwork,
    amplitude_is_complex,
    unit_amplitude_is_exact,
)
from sciml.propagators.base import Kind
from sciml.propagators.collocation import backward_cone, largest_values
from sciml.propagators.derivatives import letters
from sciml.propagators.domain import check_domain
from sciml.propagators.features import Inputs, StartingAtZero
from sciml.propagators.phase import FootNetwork, FrequencyInputs, PhaseNetwork
from sciml.propagators.phase_propagator import AbstractPhasePropagator
from sciml.propagators.symbols import PhaseSymbols, phase_symbols
from sciml.propagators.wave_series import first_correction

if TYPE_CHECKING:
    from sciml.propagators.certificate import Certificate

__all__ = ["MiNO"]

_LOG = logging.getLogger(__name__)

Parametrization = Literal["auto", "generic", "homogeneous", "multiplier"]
_KINDS = ("auto", "generic", "homogeneous", "multiplier")
_FARTHEST_SINGLE = 1e4


@register_model
class MiNO(AbstractPhasePropagator):
    """Propagator whose phase and amplitude are networks of time, position and frequency.

    Both are exact at the start by construction, ``phi = x.xi + t h`` and ``a = 1 + t g``; training
    makes the residuals of the eikonal and the transport equation small at random points and knows
    no initial field. `propagate` then moves any field, and `certify` bounds its error without a
    reference. For one known equation with few coordinates `RayPropagator` is faster and more
    accurate; networks are for many dimensions and where the rule itself is differentiated.

    Parameters
    ----------
    equation : Equation, text or mapping
        Linear, see `phase_symbols`. A mapping is what `Equation.to_json` makes.
    domain : Grid or sequence of (start, stop)
        The box, where fields are given and wanted.
    final_time : float
        Longest time of one step.
    n_modes : int, default 32
        Window, ``|xi| <= 2 pi n_modes/length``: trained frequencies, and the default of
        `propagate`. A homogeneous phase may be used with any other window.
    parametrization : {"auto", "generic", "homogeneous", "multiplier"}
        ``"homogeneous"``: for Hamiltonians of degree 1; exact homogeneity, all frequencies at
        once. ``"multiplier"``: for constant coefficients; networks of the frequency only.
        ``"generic"``: any symbol, as in the paper. ``"auto"`` takes the first that fits.
    hidden_channels, n_layers : int
        Width and depth of every network; 16 and 2 suffice for a homogeneous phase at constant
        speed.
    seed : int, default 0
        Of the first weights.
    periodic : bool, optional
        Whether the box is a torus; a Grid says it itself, else True.
    amplitude_order : {0, 1}
        1 adds a network for the term in ``1/(i xi)`` of a wave in one dimension.

    Attributes
    ----------
    collocation : tuple of (start, stop)
        Where it is trained: on the line the domain with every ray that arrives in it.
    records : list of TrainingRecord
        Of the stages of the last `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from sciml.propagators import Box
    >>> model = MiNO("u_t = -u_x", [(0.0, 2 * np.pi)], 1.0, 16, hidden_channels=8, n_layers=1)
    >>> model = model.fit(steps=300, batch_size=128, polish=1, progress=False)
    >>> moved = model.propagate(Box(2.0, 3.5), [1.0], certificate=True)
    >>> floor = moved.floor[0]  # training adds nothing; the norm is known up to the error
    >>> bool(np.isclose(moved.certificate[0, 0], floor / (np.sqrt(1.0 - floor**2) - floor)))
    True
    """

    def __init__(
        self,
        equation: Equation | str | Mapping[str, Any],
        domain: Grid | Sequence[tuple[float, float]],
        final_time: float,
        n_modes: int = 32,
        parametrization: Parametrization = "auto",
        hidden_channels: int = 64,
        n_layers: int = 4,
        seed: int = 0,
        *,
        periodic: bool | None = None,
        amplitude_order: int = 0,
    ) -> None:
        super().__init__()
        equation = _equation(equation)
        self.symbols = phase_symbols(equation)
        self.domain, self.periodic = check_domain(domain, periodic, equation)
        self.final_time, self.n_modes = float(final_time), n_modes
        self.check_setting()
        self.kind: Kind = _checked_kind(parametrization, self.symbols)
        self.amplitude_order = _checked_order(amplitude_order, self)
        longest = max(stop - start for start, stop in self.domain)
        edge = n_modes + (0.0 if len(self.domain) == 1 else 0.5)
        self.window_frequency = 2.0 * math.pi * edge / longest
        self.largest_frequency = None if self.kind == "homogeneous" else self.window_frequency
        self.collocation = self._collocation()
        self.records: list[Any] = []
        self._keep_arguments(equation)
        self._make_networks(hidden_channels, n_layers, seed)

    # -- networks ------------------------------------------------------------------------------

    def _collocation(self) -> tuple[tuple[float, float], ...]:
        if self.periodic or self.kind == "multiplier":
            return self.domain
        cone = backward_cone(self.symbols, self.domain, self.final_time, self.window_frequency)
        if cone != self.domain:
            _LOG.info(
                "trained on %s instead of %s: rays that arrive in the domain start there",
                cone,
                self.domain,
            )
        return cone

    def _make_networks(self, hidden_channels: int, n_layers: int, seed: int) -> None:
        symbols, d = self.symbols, self.symbols.dimension
        sizes = {"hidden_channels": hidden_channels, "n_layers": n_layers}
        names = ["hamiltonian", "amplitude_residual", *[f"velocity_{a}" for a in self._axes]]
        found = largest_values(
            symbols, self.collocation, self.final_time, self.window_frequency, *names
        )
        speed = math.hypot(*[found[f"velocity_{a}"] for a in self._axes])
        is_foot = self.kind == "homogeneous" and self.has_foot
        self.phase_scale = max(found["hamiltonian"], 1e-12)
        if self.kind == "homogeneous":
            self.phase_scale = max(speed, 1e-12)
        self.amplitude_scale = max(found["amplitude_residual"], 0.5)
        how = "direction" if self.kind == "homogeneous" else "window"
        self._folded = symbols.real and d == 1
        frequency = None
        if not is_foot:
            frequency = FrequencyInputs(how, self.window_frequency, self._folded)
        # Waves in the plane: phi(t, x, xi) of one branch is -phi(t, x, -xi) of the other.
        own = self.branches if d == 1 else (1,)
        self.phases, self.amplitudes = nn.ModuleDict(), nn.ModuleDict()
        self.corrections = nn.ModuleDict()
        unit = unit_amplitude_is_exact(symbols) and self.kind != "generic"
        for place, branch in enumerate(own):
            key = _key(branch)
            draw = 1000 * seed + 10 * place
            outputs = d if is_foot else 1
            made = self._network(frequency, outputs, self.phase_scale, draw, sizes)
            self.phases[key] = FootNetwork(made) if is_foot else PhaseNetwork(made, frequency)  # type: ignore[arg-type]
            if not unit:
                parts = 2 if amplitude_is_complex(symbols) else 1
                made = self._network(frequency, parts, self.amplitude_scale, draw + 1, sizes)
                self.amplitudes[key] = AmplitudeNetwork(made, frequency)
            if self.amplitude_order == 1:
                made = self._network(None, 1, self.amplitude_scale, draw + 2, sizes)
                self.corrections[key] = AmplitudeNetwork(made, None, start=0.0)

    def _network(self, frequency, outputs: int, scale: float, seed: int, sizes) -> StartingAtZero:
        moving = self.kind != "multiplier"
        inputs = Inputs(
            self.collocation,
            self._axes,
            periodic=self.periodic,
            final_time=self.final_time,
            n_more=0 if frequency is None else self.symbols.dimension,
            time=moving or not self.symbols.autonomous,
            position=moving,
        )
        return StartingAtZero(inputs, outputs, scale=scale, seed=seed, **sizes)

    @property
    def _axes(self) -> tuple[str, ...]:
        return self.symbols.equation.coordinates

    @property
    def n_parameters(self) -> int:
        """Number of weights."""
        return sum(p.numel() for p in self.parameters())

    # -- phase and amplitude -------------------------------------------------------------------

    def foot(self, t: torch.Tensor, x: torch.Tensor, branch: int = 1) -> torch.Tensor:
        """Where the ray through ``(t, x)`` started; for phases that are linear in the frequency."""
        if not self.has_foot:
            return super().foot(t, x, branch)
        return self.foot_jet(t, x, branch, ("phi",))["phi"]

    def foot_jet(self, t, x, branch: int, names) -> dict[str, torch.Tensor]:
        """See `AbstractGenerator.foot_jet`."""
        t, x = self._joined(t, x)
        found = self.phases[_key(branch)].jet(t, x, map(letters, names))  # type: ignore[operator]
        one = self.symbols.dimension == 1
        return {n: found[letters(n)][..., 0] if one else found[letters(n)] for n in names}

    def amplitude_terms(
        self, t: torch.Tensor, x: torch.Tensor, branch: int = 1
    ) -> tuple[torch.Tensor, ...]:
        """Leading amplitude, and its correction if ``amplitude_order`` is 1."""
        if not self.has_foot:
            return super().amplitude_terms(t, x, branch)
        return tuple(jet["a"] for jet in self.amplitude_terms_jet(t, x, branch, ("a",)))

    def amplitude_terms_jet(self, t, x, branch: int, names) -> tuple[dict[str, torch.Tensor], ...]:
        """See `AbstractGenerator.amplitude_terms_jet`."""
        t, x = self._joined(t, x)
        series = [self._amplitude_jet(self.amplitudes, t, x, None, branch, names)]
        if self.amplitude_order == 1:
            series.append(self._amplitude_jet(self.corrections, t, x, None, branch, names))
        return tuple(series)

    def phase(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> torch.Tensor:
        """Phase; in single precision only where it has digits left."""
        if xi.dtype == torch.float32 and x.dtype == torch.float32:
            _check_single(x, xi)
        return self.phase_jet(t, x, xi, branch, ("phi",))["phi"]

    def amplitude(
        self, t: torch.Tensor, x: torch.Tensor, xi: torch.Tensor, branch: int = 1
    ) -> torch.Tensor:
        """Amplitude."""
        return self.amplitude_jet(t, x, xi, branch, ("a",))["a"]

    def phase_jet(self, t, x, xi, branch: int, names) -> dict[str, torch.Tensor]:
        """See `AbstractGenerator.phase_jet`; tangents are propagated by hand."""
        if self.has_foot:
            feet = self.foot_jet(t, x, branch, names)
            if self.symbols.dimension == 1:
                return {n: xi * foot for n, foot in feet.items()}
            return {n: (xi * foot).sum(-1) for n, foot in feet.items()}
        key, sign, (t, x, xi) = self._network_of(branch, *self._joined(t, x, xi))
        found = self.phases[key].jet(t, x, xi, map(letters, names))  # type: ignore[operator]
        return {n: sign * found[letters(n)] for n in names}

    def amplitude_jet(self, t, x, xi, branch: int, names) -> dict[str, torch.Tensor]:
        """See `AbstractGenerator.amplitude_jet`."""
        if self.has_foot:
            first = self.amplitude_terms_jet(t, x, branch, names)
            lone = xi if self.symbols.dimension == 1 else xi[..., 0]
            if len(first) == 1:
                return {n: value + 0.0 * lone for n, value in first[0].items()}
            return {n: first[0][n] + first[1][n] / (1j * lone) for n in names}
        _, _, (t, x, xi) = self._network_of(branch, *self._joined(t, x, xi))
        return self._amplitude_jet(self.amplitudes, t, x, xi, branch, names)

    def _amplitude_jet(self, networks: nn.ModuleDict, t, x, xi, branch: int, names):
        key = _key(branch) if _key(branch) in networks else _key(1)
        if key not in networks:
            one, zero = torch.ones_like(t), torch.zeros_like(t)
            return {n: one if n == "a" else zero for n in names}
        found = networks[key].jet(t, x, xi, map(letters, names))  # type: ignore[operator]
        return {n: found[letters(n)] for n in names}

    def _network_of(self, branch: int, t, x, xi):
        """Network of a branch, sign of its phase, and its arguments."""
        if self.symbols.dimension > 1 and branch == -1:
            return _key(1), -1.0, (t, x, -xi)
        return _key(branch), 1.0, (t, x, xi)

    def _joined(self, t, x, xi=None) -> Any:
        """Arguments of one shape, positions and frequencies with a last axis."""
        if self.symbols.dimension == 1:
            x = x[..., None]
            xi = None if xi is None else xi[..., None]
        d = x.shape[-1]
        shape = torch.broadcast_shapes(t.shape, x.shape[:-1])
        if xi is not None:
            shape = torch.broadcast_shapes(shape, xi.shape[:-1])
        found = t.expand(shape), x.expand(*shape, d)
        return found if xi is None else (*found, xi.expand(*shape, d))

    # -- training ------------------------------------------------------------------------------

    def fit(
        self,
        steps: int = 2000,
        *,
        batch_size: int = 512,
        learning_rate: float | None = None,
        polish: int = 0,
        seed: int = 0,
        fields: Any = None,
        check_every: int | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        device: str = "cpu",
        progress: bool | Callable[[Any], Any] = True,
    ) -> MiNO:
        """Make the residuals of the eikonal and the transport equation small.

        Adam with a one-cycle rate on fresh uniform points, then rounds of L-BFGS in double
        precision, each on new points of Sobol's sequence.

        Parameters
        ----------
        steps : int
            Steps of Adam.
        batch_size : int
            Points of a step; twice to four times as many in the polish.
        learning_rate : float, optional
            Peak; 3e-3 for fewer than 5,000 weights, else 1e-3.
        polish : int
            Rounds of 200 iterations of L-BFGS.
        seed : int
            Of the points.
        fields : field or sequence of fields, optional
            Stop as soon as, for each of them, the certified trained part of the error is at most
            0.14 of what the window cuts: the total is then within 1% of the floor.
        check_every : int, optional
            Steps between these checks; a tenth of all by default.
        checkpoint : path, optional
            Folder, with one folder in it for every stage.
        resume : bool
            Go on from there, bit for bit.
        device : str
            Where to train; the model is on the CPU again afterwards, in double precision.
        progress : bool or callable
            A bar; or a function of the `TrainingState`, called after every step.

        Returns
        -------
        MiNO
            Itself.
        """
        from sciml.propagators.fitting import fit

        fit(
            self,
            steps=steps,
            batch_size=batch_size,
            learning_rate=learning_rate,
            polish=polish,
            seed=seed,
            fields=fields,
            check_every=check_every,
            checkpoint=None if checkpoint is None else Path(checkpoint),
            resume=resume,
            device=device,
            progress=progress,
        )
        return self

    # -- use -----------------------------------------------------------------------------------

    def forward(self, u: Any, dt: float) -> torch.Tensor:
        """See `AbstractPhasePropagator.forward`; a generator that folds space is refused."""
        self._check_learned(float(dt), None)
        return super().forward(u, dt)

    def propagate(self, u0: Any, times: Any, **options: Any) -> xr.Dataset:
        """See `AbstractPhasePropagator.propagate`.

        Raises
        ------
        ValueError
            If the learned phase folds space (``check=False`` computes it all the same); the
            message says whether rays cross, or training was too short.

        Warns
        -----
        UserWarning
            If the phase may be off by more than a radian at the edge of the window.
        """
        if options.get("check", True):
            last = float(np.max(np.asarray(times, dtype=float), initial=0.0))
            step = options.get("max_step")
            self._check_learned(last if step is None else min(last, step), options.get("n_modes"))
        with torch.no_grad():
            found = super().propagate(u0, times, **options)
        found.attrs["collocation"] = np.ravel(self.collocation)
        return found

    def certify(self, u0: Any, times: Any, **options: Any) -> Certificate:
        """See `AbstractPhasePropagator.certify`."""
        with torch.no_grad():
            return super().certify(u0, times, **options)

    def certificate(self, u0: Any, time: float, **options: Any) -> Certificate:
        """Bound of the error at one time; see `certify`."""
        return self.certify(u0, [float(time)], **options)

    def _check_learned(self, t: float, n_modes: int | None) -> None:
        from sciml.propagators.learned_checks import check_learned

        if math.isfinite(t) and 0.0 < t <= self.final_time * (1.0 + 1e-12):
            check_learned(self, t, n_modes or self.n_modes)

    # -- files ---------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write ``model.safetensors`` and ``model.json``; see `sciml.nn.save_model`."""
        from sciml.nn import save_model

        stages = {str(n): record.to_dict() for n, record in enumerate(self.records)}
        return save_model(self, path, seed=self._seed, training=stages)

    @classmethod
    def load(cls, path: str | Path) -> MiNO:
        """Read what `save` wrote."""
        from sciml.nn import load_model

        found = load_model(path)
        if not isinstance(found, cls):
            raise ValueError(f"{path} holds a {type(found).__name__}: wanted a {cls.__name__}")
        return found

    def _keep_arguments(self, equation: Equation) -> None:
        """Arguments as plain data, so that a model file rebuilds the model."""
        kept = self.__dict__.get("_constructor_arguments", {})
        self._seed = int(kept.get("seed", 0))
        kept |= {
            "equation": equation.to_json(),
            "domain": [list(interval) for interval in self.domain],
            "periodic": self.periodic,
            "final_time": self.final_time,
        }

    def extra_repr(self) -> str:
        """What it is."""
        return (
            f"{self.symbols.equation!s}, {self.kind}, domain={self.domain}, "
            f"final_time={self.final_time:g}, n_modes={self.n_modes}, "
            f"trained on {self.collocation}, {self.n_parameters} weights"
        )


def _key(branch: int) -> str:
    return "rightward" if branch == 1 else "leftward"


def _equation(given: Equation | str | Mapping[str, Any]) -> Equation:
    if isinstance(given, Equation):
        return given
    if isinstance(given, str):
        return Equation.from_text(given)
    if isinstance(given, Mapping):
        return Equation.from_json(given)
    raise TypeError(
        f"equation is a {type(given).__name__}: wanted an Equation, or text such as 'u_t = -u_x'"
    )


def _checked_kind(name: str, symbols: PhaseSymbols) -> Kind:
    if name not in _KINDS:
        from sciml.training.optimizers import closest

        raise ValueError(
            f"parametrization is {name!r}{closest(str(name), _KINDS)}: wanted one of "
            f"{', '.join(_KINDS)}"
        )
    if name == "auto":
        if symbols.homogeneous:
            return "homogeneous"
        return "multiplier" if symbols.constant else "generic"
    if name == "homogeneous" and not symbols.homogeneous:
        raise ValueError(
            f"parametrization is 'homogeneous', but the Hamiltonian {symbols.hamiltonian} is not "
            "of degree 1: use 'auto' or 'generic'"
        )
    if name == "multiplier" and not symbols.constant:
        raise ValueError(
            f"parametrization is 'multiplier', but coefficients of {symbols.equation.name!r} "
            "depend on position: use 'auto' or 'generic'"
        )
    return name  # type: ignore[return-value]


def _checked_order(order: int, model: MiNO) -> int:
    if order not in (0, 1) or isinstance(order, bool):
        raise ValueError(f"amplitude_order is {order!r}: wanted 0 or 1")
    if order == 1:
        first_correction(model.symbols)  # says for which equations it is known
        if model.kind != "homogeneous":
            raise ValueError("amplitude_order is 1: wanted the homogeneous parametrization")
    return order


def _check_single(x: torch.Tensor, xi: torch.Tensor) -> None:
    largest = float(x.detach().abs().max()) * float(xi.detach().abs().max())
    if largest > _FARTHEST_SINGLE:
        raise ValueError(
            f"x.xi reaches {largest:.3g} in float32, which leaves less than three digits of the "
            "phase: give float64 tensors"
        )
