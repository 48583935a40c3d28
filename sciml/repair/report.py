"""What `recommend` found, to print and to plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sciml.repair.measures import ErrorSplit
from sciml.repair.off_manifold import OffManifoldGain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Choice", "Interval", "RepairReport", "Variant"]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """How to use the repair.

    Attributes
    ----------
    where : {"raw", "post_hoc", "in_loop"}
    strength : float
        1 is the full repair; below, use `Relaxed`.
    reason : str
    """

    where: str
    strength: float
    reason: str


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Relative change of an error, with the interval that holds 95 % of its resamplings."""

    change: float
    low: float
    high: float

    def __str__(self) -> str:
        low, high = 100.0 * self.low, 100.0 * self.high
        return f"{100.0 * self.change:+.2g} %, 95 % interval {low:+.2g} to {high:+.2g} %"


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way to use the repair.

    Attributes
    ----------
    name : str
    errors : ndarray, shape (trajectories, horizon)
        Mean squared error per entry at each step.
    strength : float
        Of the repair; for relaxed ones the mean of two, each fitted on the other half of the
        trajectories.
    """

    name: str
    errors: np.ndarray = field(repr=False)
    strength: float

    @property
    def mean_errors(self) -> np.ndarray:
        """Mean over the trajectories, by step."""
        return self.errors.mean(0)


@dataclass(frozen=True, kw_only=True)
class RepairReport:
    """Evidence behind a recommendation; `print` shows it.

    Attributes
    ----------
    choice : Choice
    exact, claimed_exact : bool
        Whether the repair left the true states alone, and whether it says it does.
    one_step, at_horizon : ErrorSplit
        Parts of the error of one step from true states, and at the end of raw rollouts.
    variants : tuple of Variant
    intervals : mapping of (str, str) to Interval
        Change of the error at the horizon from the second variant to the first.
    gain : OffManifoldGain or None
        What the forecaster does with a part that breaks the rule; None for rules that are not
        linear.
    horizon, trajectories : int
    warning : str
    repair : str
        Its name.
    """

    choice: Choice
    exact: bool
    claimed_exact: bool
    one_step: ErrorSplit
    at_horizon: ErrorSplit
    variants: tuple[Variant, ...]
    intervals: Mapping[tuple[str, str], Interval] = field(repr=False)
    gain: OffManifoldGain | None
    horizon: int
    trajectories: int
    warning: str
    repair: str

    @property
    def predicted_post_hoc(self) -> float:
        """Error at the horizon after the repair, ``|C e|^2 + S_u``, as theory has it."""
        return self.at_horizon.remaining + self.at_horizon.distortion

    def table(self) -> list[dict[str, Any]]:
        """Rows of the variants: error after one step and at the horizon, and its ratio to raw."""
        raw = self.variants[0].mean_errors
        return [
            {
                "repair": variant.name,
                "strength": variant.strength,
                "step 1": float(variant.mean_errors[0]),
                f"step {self.horizon}": float(variant.mean_errors[-1]),
                "over raw": float(variant.mean_errors[-1] / raw[-1]) if raw[-1] > 0.0 else 1.0,
            }
            for variant in self.variants
        ]

    def __str__(self) -> str:
        one, end, choice = self.one_step, self.at_horizon, self.choice
        strength = "" if choice.where == "raw" else f" at strength {choice.strength:.2f}"
        lines = [
            f"{self.repair}, {self.trajectories} trajectories, horizon {self.horizon}: "
            f"{choice.where}{strength}",
            f"because {choice.reason}",
            "",
            f"{'mean squared error':<18} {'strength':>8} {'step 1':>10} "
            f"{f'step {self.horizon}':>10} {'over raw':>9}",
        ]
        for row in self.table():
            name, weight, first, last, ratio = row.values()
            lines.append(f"{name:<18} {weight:>8.2f} {first:>10.3e} {last:>10.3e} {ratio:>9.3f}")
        lines += [
            "",
            f"{'':<26} {'one step':>10} {'horizon':>10}",
            *(
                f"{label:<26} {a:>10.3e} {b:>10.3e}"
                for label, a, b in (
                    ("target distortion S_u", one.distortion, end.distortion),
                    ("removed S_e", one.removed, end.removed),
                    ("cross term", one.cross, end.cross),
                    ("share of the error", one.share, end.share),
                    ("best strength", one.strength, end.strength),
                )
            ),
            f"post hoc at the horizon: predicted {self.predicted_post_hoc:.4e}, measured "
            f"{end.repaired:.4e}",
        ]
        if self.gain is not None:
            lines.append(f"gains: {self.gain}")
        if self.warning:
            lines += ["", f"warning: {self.warning}"]
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Mean squared error of every variant against the step.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Drawn into; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sciml.plotting.repair import plot_variants

        return plot_variants(
            {variant.name: variant.errors for variant in self.variants},
            chosen=self.choice.where,
            ax=ax,
        )
