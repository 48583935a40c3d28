"""Closed-form solutions: functions of an equation that read its parameters from it."""

from __future__ import annotations

from pdes.exact.allen_cahn_front import allen_cahn_front
from pdes.exact.allen_cahn_kink import allen_cahn_kink
from pdes.exact.barenblatt import barenblatt
from pdes.exact.burgers_riemann import BurgersRiemann
from pdes.exact.burgers_shock import burgers_shock
from pdes.exact.cahn_hilliard_kink import cahn_hilliard_kink
from pdes.exact.characteristics import Characteristics
from pdes.exact.circular_couette import circular_couette
from pdes.exact.closed_form import ClosedForm
from pdes.exact.cole_hopf import cole_hopf
from pdes.exact.cole_hopf_integral import burgers_from
from pdes.exact.corner_constants import (
    checkerboard_exponent,
    kellogg_contrast,
    kellogg_phase,
    motz_digits,
)
from pdes.exact.corner_eigenproblem import CornerSpectrum, corner_spectrum, edge_exponents
from pdes.exact.corner_elasticity import InterfaceCrack, Williams
from pdes.exact.corner_problems import Cone, Sectors, Wedge
from pdes.exact.dalembert import dalembert
from pdes.exact.fisher_front import fisher_front
from pdes.exact.fletcher import fletcher
from pdes.exact.flow_solution import FlowSolution
from pdes.exact.gardner_soliton import gardner_soliton
from pdes.exact.growth_rates import growth_rates
from pdes.exact.kdv_soliton import kdv_soliton
from pdes.exact.kdv_two_soliton import kdv_two_soliton
from pdes.exact.kolmogorov_laminar import kolmogorov_laminar
from pdes.exact.kovasznay import kovasznay
from pdes.exact.kuramoto_sivashinsky_front import (
    kuramoto_sivashinsky_front,
    potential_kuramoto_sivashinsky_front,
)
from pdes.exact.lambda_omega_wave import lambda_omega_wave
from pdes.exact.linear_modes import linear_modes
from pdes.exact.manufactured import manufactured
from pdes.exact.mkdv_soliton import mkdv_soliton
from pdes.exact.n_wave import n_wave
from pdes.exact.nagumo_front import nagumo_front
from pdes.exact.nls_breather import nls_breather
from pdes.exact.nls_dark_soliton import nls_dark_soliton
from pdes.exact.nls_plane_wave import nls_plane_wave
from pdes.exact.nls_soliton import nls_soliton
from pdes.exact.peregrine import peregrine
from pdes.exact.poiseuille import poiseuille
from pdes.exact.robin_mode import robin_mode
from pdes.exact.rotated_gaussian import rotated_gaussian
from pdes.exact.side_modes import side_modes
from pdes.exact.sine_speed import sine_speed
from pdes.exact.solution import ExactSolution
from pdes.exact.spreading_gaussian import spreading_gaussian
from pdes.exact.standing_wave import standing_wave
from pdes.exact.swirled_hump import SwirledHump
from pdes.exact.taylor_green import taylor_green
from pdes.exact.traveling_profile import traveling_profile
from pdes.exact.varying_speed import varying_speed

__all__ = [
    "BurgersRiemann",
    "Characteristics",
    "ClosedForm",
    "Cone",
    "CornerSpectrum",
    "ExactSolution",
    "FlowSolution",
    "InterfaceCrack",
    "Sectors",
    "SwirledHump",
    "Wedge",
    "Williams",
    "allen_cahn_front",
    "allen_cahn_kink",
    "barenblatt",
    "burgers_from",
    "burgers_shock",
    "cahn_hilliard_kink",
    "checkerboard_exponent",
    "circular_couette",
    "cole_hopf",
    "corner_spectrum",
    "dalembert",
    "edge_exponents",
    "fisher_front",
    "fletcher",
    "gardner_soliton",
    "growth_rates",
    "kdv_soliton",
    "kdv_two_soliton",
    "kellogg_contrast",
    "kellogg_phase",
    "kolmogorov_laminar",
    "kovasznay",
    "kuramoto_sivashinsky_front",
    "lambda_omega_wave",
    "linear_modes",
    "manufactured",
    "mkdv_soliton",
    "motz_digits",
    "n_wave",
    "nagumo_front",
    "nls_breather",
    "nls_dark_soliton",
    "nls_plane_wave",
    "nls_soliton",
    "peregrine",
    "poiseuille",
    "potential_kuramoto_sivashinsky_front",
    "robin_mode",
    "rotated_gaussian",
    "side_modes",
    "sine_speed",
    "spreading_gaussian",
    "standing_wave",
    "taylor_green",
    "traveling_profile",
    "varying_speed",
]
