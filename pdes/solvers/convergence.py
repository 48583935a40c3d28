"""The error of a solver that did not reach its tolerance."""

from __future__ import annotations

from collections.abc import Sequence


class ConvergenceError(RuntimeError):
    """An iteration stopped before its tolerance: its field is not a solution.

    Parameters
    ----------
    reason : str
        What was seen.
    history : sequence of float
        Norm of the residual after each iteration.
    tolerance : float
        What was wanted.

    Examples
    --------
    >>> ConvergenceError("conjugate gradients", history=[1.0, 0.5], tolerance=1e-8).history
    (1.0, 0.5)
    """

    def __init__(self, reason: str, *, history: Sequence[float], tolerance: float) -> None:
        last = f"{history[-1]:.3g}" if len(history) else "unknown"
        super().__init__(
            f"{reason}: residual {last} after {len(history)} iterations, wanted {tolerance:.3g}; "
            "allow more iterations, loosen the tolerance or check that the problem has one solution"
        )
        self.reason = reason
        self.history = tuple(history)
        self.tolerance = tolerance
