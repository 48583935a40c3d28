"""Pictures of recordings, of simulations held against them, and of the evidence for an equation.

Every function takes matplotlib axes or makes its own figure, and returns what it drew on; none
touches the state of ``matplotlib.pyplot``.

Examples
--------
>>> import pdes
>>> from sciml.plotting import plot_recording
>>> (axes,) = plot_recording(pdes.simulate(pdes.get("burgers")))
>>> axes.get_xlabel(), axes.get_ylabel()
('x', 'time')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "plot_coefficients": "sciml.plotting.coefficients",
    "plot_comparison": "sciml.plotting.comparison",
    "plot_corner_spectrum": "sciml.plotting.corner_spectrum",
    "plot_evidence": "sciml.plotting.discovery",
    "plot_exponents": "sciml.plotting.power_law",
    "plot_path": "sciml.plotting.path",
    "plot_radial_residual": "sciml.plotting.power_law",
    "plot_recording": "sciml.plotting.space_time",
    "plot_report": "sciml.plotting.report",
    "plot_rivals": "sciml.plotting.rivals",
    "plot_sources": "sciml.plotting.sources",
    "plot_space_time": "sciml.plotting.space_time",
}

__all__ = [
    "plot_coefficients",
    "plot_comparison",
    "plot_corner_spectrum",
    "plot_evidence",
    "plot_exponents",
    "plot_path",
    "plot_radial_residual",
    "plot_recording",
    "plot_report",
    "plot_rivals",
    "plot_sources",
    "plot_space_time",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sciml.plotting' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from sciml.plotting.coefficients import plot_coefficients
    from sciml.plotting.comparison import plot_comparison
    from sciml.plotting.corner_spectrum import plot_corner_spectrum
    from sciml.plotting.discovery import plot_evidence
    from sciml.plotting.path import plot_path
    from sciml.plotting.power_law import plot_exponents, plot_radial_residual
    from sciml.plotting.report import plot_report
    from sciml.plotting.rivals import plot_rivals
    from sciml.plotting.sources import plot_sources
    from sciml.plotting.space_time import plot_recording, plot_space_time
