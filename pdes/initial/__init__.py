"""Families of initial fields."""

from __future__ import annotations

from pdes.initial.decaying_fourier import DecayingFourier
from pdes.initial.expression import FromExpression
from pdes.initial.gaussian_clusters import GaussianClusters
from pdes.initial.gaussian_random_field import GaussianRandomField, gaussian_random_field
from pdes.initial.random_fourier import RandomFourier
from pdes.initial.turbulent_velocity import TurbulentVelocity
from pdes.initial.windowed_sines import WindowedSines

__all__ = [
    "DecayingFourier",
    "FromExpression",
    "GaussianClusters",
    "GaussianRandomField",
    "RandomFourier",
    "TurbulentVelocity",
    "WindowedSines",
    "gaussian_random_field",
]
