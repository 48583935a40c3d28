"""Time integrators: each declares the order that the conformance tests measure."""

from __future__ import annotations

from pdes.time.etdrk import ETDRK4
from pdes.time.imex import ARS443, CNAB2, CNAB2_DAMPED, IMEX, SBDF2, ImexMultistep, ImexRungeKutta
from pdes.time.integrator import INTEGRATORS, Integrator
from pdes.time.phi_functions import phi_functions
from pdes.time.runge_kutta import RK4, SSPRK3, RungeKutta
from pdes.time.splitting import SPLITTINGS, STRANG, YOSHIDA4, Splitting

__all__ = [
    "ARS443",
    "CNAB2",
    "CNAB2_DAMPED",
    "ETDRK4",
    "IMEX",
    "INTEGRATORS",
    "RK4",
    "SBDF2",
    "SPLITTINGS",
    "SSPRK3",
    "STRANG",
    "YOSHIDA4",
    "ImexMultistep",
    "ImexRungeKutta",
    "Integrator",
    "RungeKutta",
    "Splitting",
    "phi_functions",
]
