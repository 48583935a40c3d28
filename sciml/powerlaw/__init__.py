"""Fields that are sums of powers: exponents, corners and sources, with their error bars.

Public names load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "Efficiency": "efficiency",
    "EnrichedNetwork": "enrichment",
    "EnrichedSolution": "enrichment",
    "MSN": "msn",
    "MSNPinn": "msn_pinn",
    "PowerLawBatch": "batch",
    "PowerLawFit": "power_law_fit",
    "RMNAngular": "angular",
    "RMNDirect": "radial",
    "RMNMultiCenter": "multi_center",
    "SeparableFit": "separable_fit",
    "SourceFit": "source_fit",
    "SparseDerivatives": "separable_fit",
    "WedgeFit": "wedge",
    "WedgeSamples": "wedge_samples",
    "admissible_exponent": "admissible",
    "characteristic_matrix": "wedge_model",
    "fit_power_laws": "batch",
    "fit_sources": "sources",
    "fit_wedges": "wedge_batch",
    "solve_enriched": "enrichment",
    "train_baseline": "baselines",
    "variable_projection": "varpro",
}

__all__ = [
    "MSN",
    "Efficiency",
    "EnrichedNetwork",
    "EnrichedSolution",
    "MSNPinn",
    "PowerLawBatch",
    "PowerLawFit",
    "RMNAngular",
    "RMNDirect",
    "RMNMultiCenter",
    "SeparableFit",
    "SourceFit",
    "SparseDerivatives",
    "WedgeFit",
    "WedgeSamples",
    "admissible_exponent",
    "characteristic_matrix",
    "fit_power_laws",
    "fit_sources",
    "fit_wedges",
    "solve_enriched",
    "train_baseline",
    "variable_projection",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(f"sciml.powerlaw.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sciml.powerlaw' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from sciml.powerlaw.admissible import admissible_exponent
    from sciml.powerlaw.angular import RMNAngular
    from sciml.powerlaw.baselines import train_baseline
    from sciml.powerlaw.batch import PowerLawBatch, fit_power_laws
    from sciml.powerlaw.efficiency import Efficiency
    from sciml.powerlaw.enrichment import EnrichedNetwork, EnrichedSolution, solve_enriched
    from sciml.powerlaw.msn import MSN
    from sciml.powerlaw.msn_pinn import MSNPinn
    from sciml.powerlaw.multi_center import RMNMultiCenter
    from sciml.powerlaw.power_law_fit import PowerLawFit
    from sciml.powerlaw.radial import RMNDirect
    from sciml.powerlaw.separable_fit import SeparableFit, SparseDerivatives
    from sciml.powerlaw.source_fit import SourceFit
    from sciml.powerlaw.sources import fit_sources
    from sciml.powerlaw.varpro import variable_projection
    from sciml.powerlaw.wedge import WedgeFit
    from sciml.powerlaw.wedge_batch import fit_wedges
    from sciml.powerlaw.wedge_model import characteristic_matrix
    from sciml.powerlaw.wedge_samples import WedgeSamples
