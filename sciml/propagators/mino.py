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
from sciml.propagators.domain import check_domain
from sciml.propagators.exact_multiplier import ExactAmplitude, ExactPhase
from sciml.propagators.features import Inputs, StartingAtZero
from sciml.propagators.learned_arguments import (
    checked_exact,
    checked_kind,
    checked_order,
    equation_of,
)
from sciml.propagators.network_propagator import AbstractNetworkPropagator, branch_key
from sciml.propagators.phase import FootNetwork, FrequencyInputs, PhaseNetwork
from sciml.propagators.ray_equations import RayEquations
from sciml.propagators.symbols import phase_symbols

if TYPE_CHECKING:
    from sciml.propagators.certificate import Certificate

__all__ = ["MiNO"]

_LOG = logging.getLogger(__name__)

Parametrization = Literal["auto", "generic", "homogeneous", "multiplier"]


@register_model
class MiNO(AbstractNetworkPropagator):
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
        once. ``"multiplier"``: for constant coefficients; the symbol itself, or networks of the
        frequency only.
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
    exact : bool, optional
        Of multipliers: whether the phase is ``x.xi - t p(xi)`` itself, without weights and without
        training; by default wherever the coefficients do not depend on time. False trains a
        network of the frequency.

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
        exact: bool | None = None,
    ) -> None:
        super().__init__()
        equation = equation_of(equation)
        self.symbols = phase_symbols(equation)
        self.domain, self.periodic = check_domain(domain, periodic, equation)
        self.final_time, self.n_modes = float(final_time), n_modes
        self.check_setting()
        self.kind: Kind = checked_kind(parametrization, self.symbols)
        self.exact = checked_exact(exact, self.kind, self.symbols)
        self.amplitude_order = checked_order(amplitude_order, self.kind, self.symbols)
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
        self.phases, self.amplitudes = nn.ModuleDict(), nn.ModuleDict()
        self.corrections = nn.ModuleDict()
        self._folded = symbols.real and d == 1
        # Waves in the plane: phi(t, x, xi) of one branch is -phi(t, x, -xi) of the other.
        own = self.branches if d == 1 else (1,)
        unit = unit_amplitude_is_exact(symbols) and self.kind != "generic"
        if self.exact:
            self._make_exact(own, unit)
            return
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
        frequency = None
        if not is_foot:
            frequency = FrequencyInputs(how, self.window_frequency, self._folded)
        for place, branch in enumerate(own):
            key = branch_key(branch)
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

    def _make_exact(self, branches: tuple[int, ...], unit: bool) -> None:
        rays = RayEquations(self.symbols)
        for branch in branches:
            self.phases[branch_key(branch)] = ExactPhase(rays, branch)
            if not unit:
                self.amplitudes[branch_key(branch)] = ExactAmplitude(rays, branch)

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
            Rounds of 200 iterations of L-BFGS; of every network by itself, feet before amplitudes
            before corrections, where their equations can be solved in this order (a foot in one
            dimension), else of all at once.
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

        if self.exact:
            _LOG.info("%s is exact, without weights: nothing is trained", type(self).__name__)
            self.records.clear()
            return self
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
