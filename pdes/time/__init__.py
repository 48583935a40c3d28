"""Time integrators: each declares the order that the conformance tests measure."""

from __future__ import annotations

from pdes.time.etdrk import ETDRK4
from pdes.time.integrator import INTEGRATORS, Integrator
from pdes.time.phi_functions import phi_functions
from pdes.time.runge_kutta import RK4, SSPRK3, RungeKutta

__all__ = ["ETDRK4", "INTEGRATORS", "RK4", "SSPRK3", "Integrator", "RungeKutta", "phi_functions"]
