"""Families of initial fields."""

from __future__ import annotations

from pdes.initial.expression import FromExpression
from pdes.initial.random_fourier import RandomFourier

__all__ = ["FromExpression", "RandomFourier"]
