"""Periodic flows, forecasters trained on them, and the errors of their rollouts.

All settings are in a `Protocol`. Trainings leave checkpoints and measurements in the cache folder,
so that what was interrupted goes on where it stopped.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from sciml import _atomic

LENGTH = 2.0 * math.pi


@dataclasses.dataclass(frozen=True, kw_only=True)
class Protocol:
    """A flow, how much of it is seen, and the network that learns it.

    Attributes
    ----------
    points, fine : int
        Points along each axis of the states, and of the grid on which they are solved.
    viscosity : float
    frame, time_step : float
        Between states; between steps of the solver.
    forced : bool
        Whether Kolmogorov's force keeps the flow going, after a spin-up; otherwise it decays.
    training, validation, test : int
        Trajectories.
    training_frames, validation_frames : int
        States in each trajectory.
    horizon : int
        Steps of the rollouts that are judged.
    width, modes : int
        Of the Fourier neural operator; modes are counted along half an axis.
    steps : int
        Of training, on batches of eight pairs.
    seeds : tuple of int
    """

    points: int
    fine: int
    viscosity: float = 1e-2
    frame: float = 0.1
    time_step: float = 0.025
    forced: bool = False
    spin_up: float = 4.0
    training: int = 48
    validation: int = 12
    test: int = 12
    training_frames: int = 21
    validation_frames: int = 41
    horizon: int = 100
    width: int = 16
    modes: int = 8
    layers: int = 4
    steps: int = 700
    seeds: tuple[int, ...] = (0, 1, 2)

    @property
    def words(self) -> str:
        """The settings, for the note below a table."""
        flow = f"forced, spin-up {self.spin_up:g}" if self.forced else "decaying"
        return (
            f"{self.points}^2, {flow}, viscosity {self.viscosity:g}, frames {self.frame:g} apart, "
            f"{self.training} training and {self.test} test trajectories, residual FNO of width "
            f"{self.width} with {self.modes} modes and {self.layers} layers, {self.steps} steps of "
            f"8, seeds {', '.join(map(str, self.seeds))}"
        )


# --- data ----------------------------------------------------------------------------------------


def flows(settings: Protocol, samples: int, frames: int, seed: int) -> Any:
    """Trajectories of a finer solver, cut to the modes of the grid.

    Returns
    -------
    Tensor, shape (samples, frames, 2, points, points)
        Double precision; free of divergence to rounding.
    """
    import torch

    solved = _forced if settings.forced else _decaying
    spectrum = torch.fft.rfft2(
        torch.from_numpy(solved(settings, samples, frames, seed)), norm="forward"
    )
    points, half = settings.points, settings.points // 2
    kept = torch.cat([spectrum[..., :half, : half + 1], spectrum[..., -half:, : half + 1]], dim=-2)
    kept[..., half, :] = 0.0  # modes of Nyquist have no derivative on the small grid
    kept[..., half] = 0.0
    return torch.fft.irfft2(kept, (points, points), norm="forward")


def _decaying(settings: Protocol, samples: int, frames: int, seed: int) -> np.ndarray:
    import pdes
    from pdes.initial import TurbulentVelocity
    from pdes.solvers.rollout import rollout

    equation = pdes.get("navier_stokes_velocity", viscosity=settings.viscosity).equation
    grid, draw = _grid(settings), TurbulentVelocity(lowest=1, highest=3, speed=0.4)
    drawn = [draw(grid, generator) for generator in np.random.default_rng(seed).spawn(samples)]
    initial = {name: np.stack([flow[name] for flow in drawn]) for name in ("u", "v")}
    times = settings.frame * np.arange(frames)
    found = rollout(equation, grid, initial, times, time_step=settings.time_step)
    return np.stack([found.fields["u"], found.fields["v"]], axis=2)


def _forced(settings: Protocol, samples: int, frames: int, seed: int) -> np.ndarray:
    import pdes
    from pdes.initial import RandomFourier
    from pdes.solvers.rollout import rollout

    equation = pdes.get("kolmogorov_flow", viscosity=settings.viscosity).equation
    grid, draw = _grid(settings), RandomFourier(modes=4, fields=("w",))
    generators = np.random.default_rng(seed).spawn(samples)
    initial = {"w": np.stack([draw(grid, generator)["w"] for generator in generators])}
    found = rollout(
        equation,
        grid,
        initial,
        settings.frame * np.arange(frames),
        discard=settings.spin_up,
        time_step=settings.time_step,
    )
    # Velocities from the vorticity: u = psi_y, v = -psi_x with -lap psi = w.
    spectrum = np.fft.rfft2(found.fields["w"])
    k = np.fft.fftfreq(settings.fine, 1.0 / settings.fine)[:, None]
    ell = np.fft.rfftfreq(settings.fine, 1.0 / settings.fine)
    square = k**2 + ell**2
    psi = spectrum / np.where(square > 0.0, square, np.inf)
    both = np.stack([1j * ell * psi, -1j * k * psi], axis=2)
    return np.fft.irfft2(both, (settings.fine, settings.fine))


def _grid(settings: Protocol) -> Any:
    from pdes.grid import Grid

    axis = (0.0, LENGTH, settings.fine)
    return Grid.periodic(x=axis, y=axis)


@functools.lru_cache(maxsize=3)
def training_flows(settings: Protocol) -> Any:
    """Trajectories to train on."""
    return flows(settings, settings.training, settings.training_frames, seed=0)


@functools.lru_cache(maxsize=3)
def validation_flows(settings: Protocol) -> Any:
    """Trajectories to choose strengths on."""
    return flows(settings, settings.validation, settings.validation_frames, seed=1)


@functools.lru_cache(maxsize=3)
def test_flows(settings: Protocol) -> Any:
    """Trajectories to judge on."""
    return flows(settings, settings.test, settings.horizon + 1, seed=2)


# --- forecasters ---------------------------------------------------------------------------------


class Increment:
    """A network that forecasts what is added to the flow, in units of the training data."""

    def __init__(self, network: Any, scale: float, step: float) -> None:
        self.network, self.scale, self.step = network, scale, step

    def __call__(self, u: Any) -> Any:
        """Flows one frame later."""
        return u + self.step * self.network(u / self.scale)


@functools.cache
def folder_of(settings: Protocol) -> Path:
    """Where trainings of these settings by this code are kept."""
    import torch

    import sciml

    text = json.dumps(dataclasses.asdict(settings) | {"torch": torch.__version__})
    digest = hashlib.sha256(text.encode())
    package = Path(sciml.__file__).parent
    sources = [Path(__file__), package / "operators" / "fno.py", package / "training" / "run.py"]
    sources += sorted((package / "nn").glob("*.py"))
    for path in sources:
        digest.update(path.read_bytes())
    root = Path(os.environ.get("SCIML_CACHE") or ".sciml_cache")
    return root / "repair_flows" / digest.hexdigest()[:16]


def _place(loss_after: bool, seed: int) -> str:
    return f"{'projected' if loss_after else 'plain'}-seed-{seed}"


@functools.cache
def forecaster(settings: Protocol, loss_after: bool, seed: int) -> Increment:
    """Train on the forecast as it is, or on its projection; go on from a checkpoint if there is."""
    import torch

    from sciml.operators import FNO
    from sciml.repair import LerayProjection
    from sciml.training import train

    states = training_flows(settings).float()
    scale = float(states.square().mean().sqrt())
    step = float((states[:, 1:] - states[:, :-1]).square().mean().sqrt())
    project = LerayProjection((LENGTH, LENGTH))
    network = FNO(
        2,
        2,
        settings.width,
        (2 * settings.modes,) * 2,
        n_layers=settings.layers,
        axis_kinds="periodic",
        seed=seed,
    )
    first, second = states[:, :-1].flatten(0, 1), states[:, 1:].flatten(0, 1)

    def batches(_: int, generator: torch.Generator) -> tuple[Any, Any]:
        rows = torch.randint(len(first), (8,), generator=generator)
        return first[rows], second[rows]

    def loss(model: torch.nn.Module, batch: tuple[Any, Any]) -> Any:
        u, target = batch
        found = Increment(model, scale, step)(u)
        found = project(found) if loss_after else found
        return (found - target).square().mean() / step**2

    train(
        network,
        batches,
        loss,
        optimizer={"name": "adamw", "lr": 4e-3},
        scheduler={"name": "one_cycle", "max_lr": 4e-3},
        steps=settings.steps,
        seed=seed,
        checkpoint=folder_of(settings) / _place(loss_after, seed),
        resume=True,
        progress=False,
    )
    return Increment(network.eval(), scale, step)


# --- errors --------------------------------------------------------------------------------------


def judged(network: Increment, truth: Any) -> dict[str, list[float]]:
    """Mean squared errors at every step: raw, post hoc, in the loop; and the share of divergence.

    Lists end where a rollout was stopped.
    """
    from sciml.repair import LerayProjection, error_split, rollout

    project, steps = LerayProjection((LENGTH, LENGTH)), truth.shape[1] - 1
    raw = rollout(network, truth[:, 0].float(), steps).states.double()
    inside = rollout(network, truth[:, 0].float(), steps, repair=project, where="in_loop").states
    splits = [error_split(project, raw[:, h], truth[:, h]) for h in range(1, raw.shape[1])]
    errors = (inside.double() - truth[:, : inside.shape[1]]).square()
    return {
        "raw": [split.error for split in splits],
        "post hoc": [split.repaired for split in splits],
        "in loop": errors[:, 1:].mean((0, 2, 3, 4)).tolist(),
        "share": [split.share for split in splits],
    }


def kept(
    settings: Protocol, loss_after: bool, seed: int, judge: Protocol | None = None
) -> dict[str, list[float]]:
    """Train and judge, or what was measured before; `judge` has the flows of another grid."""
    judge = judge or settings
    digest = hashlib.sha256(json.dumps(dataclasses.asdict(judge)).encode()).hexdigest()[:8]
    place = folder_of(settings) / f"{_place(loss_after, seed)}-on-{judge.points}-{digest}.json"
    if place.is_file():
        return json.loads(place.read_text(encoding="utf-8"))
    found = judged(forecaster(settings, loss_after, seed), test_flows(judge))
    _atomic.write(place, json.dumps(found))
    return found
