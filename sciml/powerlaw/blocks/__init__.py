"""Building blocks in closed form: values, derivatives by place and by parameter.

Arrays are NumPy's or torch's (any device, differentiable); parameters broadcast against the places.
"""

from __future__ import annotations

from sciml.powerlaw.blocks.legendre import AxialJet, legendre, legendre_function
from sciml.powerlaw.blocks.planar import PlanarJet, angle, harmonic, pair_harmonic
from sciml.powerlaw.blocks.radial import (
    RadialJet,
    log_primitive,
    log_radius,
    pair_block,
    power,
    radial_derivative,
    radial_laplacian,
    radial_second_derivative,
    raise_to,
)

__all__ = [
    "AxialJet",
    "PlanarJet",
    "RadialJet",
    "angle",
    "harmonic",
    "legendre",
    "legendre_function",
    "log_primitive",
    "log_radius",
    "pair_block",
    "pair_harmonic",
    "power",
    "radial_derivative",
    "radial_laplacian",
    "radial_second_derivative",
    "raise_to",
]
