"""Closed-form solutions: functions of an equation that read its parameters from it."""

from __future__ import annotations

from pdes.exact.solution import ExactSolution

__all__ = ["ExactSolution"]
