"""Propagators on phase space: the rule that moves a field, traced or learned, with a certificate.

A linear evolution equation moves every initial field by one oscillatory integral, whose phase and
amplitude know nothing of the field (N'guessan and Kim, arXiv:2608.15187). Names load on first use.

Examples
--------
>>> from pdes import Equation
>>> from sciml.propagators import phase_symbols
>>> phase_symbols(Equation.from_text("u_t = -0.5*u_x")).phase_residual
phi_t + phi_x/2
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "AbstractGenerator": "base",
    "AbstractPropagator": "base",
    "PhaseSymbols": "symbols",
    "Residuals": "base",
    "UnsupportedEquation": "operator_terms",
    "phase_symbols": "symbols",
    "AliasedReconstruction": "oscillatory_integral",
    "AbstractPhasePropagator": "phase_propagator",
    "RayPropagator": "rays",
    "Spectrum": "spectrum",
    "spectrum_of": "spectrum",
    "AbstractField": "fields",
    "Box": "fields",
    "Disc": "plane_fields",
    "Gaussian": "fields",
    "Packet": "fields",
    "PiecewiseConstant": "fields",
    "PiecewiseLinear": "fields",
    "Tent": "fields",
    "HarmonicOscillator": "harmonic_oscillator",
    "MiNO": "mino",
    "WaveSpeedInversion": "inversion",
    "Certificate": "certificate",
    "certify": "certificate",
    "a_priori_bound": "certificate",
}

__all__ = [
    "AbstractField",
    "AbstractGenerator",
    "AbstractPhasePropagator",
    "AbstractPropagator",
    "AliasedReconstruction",
    "Box",
    "Certificate",
    "Disc",
    "Gaussian",
    "HarmonicOscillator",
    "MiNO",
    "Packet",
    "PhaseSymbols",
    "PiecewiseConstant",
    "PiecewiseLinear",
    "RayPropagator",
    "Residuals",
    "Spectrum",
    "Tent",
    "UnsupportedEquation",
    "WaveSpeedInversion",
    "a_priori_bound",
    "certify",
    "phase_symbols",
    "spectrum_of",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(f"sciml.propagators.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sciml.propagators' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from sciml.propagators.base import AbstractGenerator, AbstractPropagator, Residuals
    from sciml.propagators.certificate import Certificate, a_priori_bound, certify
    from sciml.propagators.fields import (
        AbstractField,
        Box,
        Gaussian,
        Packet,
        PiecewiseConstant,
        PiecewiseLinear,
        Tent,
    )
    from sciml.propagators.harmonic_oscillator import HarmonicOscillator
    from sciml.propagators.inversion import WaveSpeedInversion
    from sciml.propagators.mino import MiNO
    from sciml.propagators.operator_terms import UnsupportedEquation
    from sciml.propagators.oscillatory_integral import AliasedReconstruction
    from sciml.propagators.phase_propagator import AbstractPhasePropagator
    from sciml.propagators.plane_fields import Disc
    from sciml.propagators.rays import RayPropagator
    from sciml.propagators.spectrum import Spectrum, spectrum_of
    from sciml.propagators.symbols import PhaseSymbols, phase_symbols
