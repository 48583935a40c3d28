"""What the parameters of the registered problems mean, and their units.

Units are powers of length (L), time (T) and the unit of the field (U); "1" has none.
"""

from __future__ import annotations

__all__ = ["meaning_of"]

_OF_ALL: dict[str, tuple[str, str]] = {
    "along_x": ("strength of the diffusion along x", "L^2/(T U)"),
    "along_y": ("strength of the diffusion along y", "L^2/(T U)"),
    "amplitude": ("height of the wave above its mean", "U"),
    "angle": ("direction of the wave, against the x axis", "radians"),
    "base": ("lowest speed of the medium", "L/T"),
    "blockage": ("share of the height of the channel that the block fills", "1"),
    "cell_type": ("kind of the cells of the mesh", "1"),
    "cells": ("cells along each axis", "1"),
    "cubic": ("strength of the cubic flux against the quadratic one", "1/U"),
    "diffusivity": ("k, the diffusion coefficient", "L^2/T"),
    "diffusivity_u": ("diffusion coefficient of u", "L^2/T"),
    "diffusivity_v": ("diffusion coefficient of v", "L^2/T"),
    "dimension": ("number of axes", "1"),
    "dispersion": ("coefficient of the third derivative", "L^3/T"),
    "drag": ("Rayleigh friction", "1/T"),
    "expansion": ("coefficient of thermal expansion", "1/U"),
    "exponent": ("m, power of the density in the diffusion", "1"),
    "feed": ("f, rate at which the substrate is fed", "1/T"),
    "force": ("load of the equation, the same everywhere", "U/L^2"),
    "forced_mode": ("n, waves of the force along y", "1"),
    "forcing": ("distance from the onset of the pattern", "1/T"),
    "frequency": ("angular frequency of the temperature at the sides", "1/T"),
    "front": ("how steep the circular front is, and where", "1"),
    "gradient_energy": ("cost of interfaces; they are its root wide", "L^2"),
    "grading": ("crowding of the cells at the corner; 1 is uniform, less is denser", "1"),
    "growth": ("rate of the reaction at small amplitude", "1/T"),
    "hyperviscosity": ("coefficient of the stabilizing fourth derivative", "L^4/T"),
    "intensity": ("stress intensity factor of the crack", "stress L^(1/2)"),
    "interface": ("place at which the permeability jumps", "L"),
    "kill": ("k, rate at which the autocatalyst dies", "1/T"),
    "kind": ("conditions at the sides", "1"),
    "layer": ("thickness of the boundary layer", "L"),
    "left": ("state on the left", "U"),
    "loss": ("heat lost through a side per excess of temperature", "1/L"),
    "mean": ("mean of the field, which carries the wave along", "U"),
    "mean_speed": ("a, mean speed of the medium; it varies by 1 around it", "L/T"),
    "mixed": ("zero flux instead of zero value on one leg of the corner", "1"),
    "mode": ("opening (1) or sliding (2) of the slit", "1"),
    "oscillations": ("waves that gather at the corner", "1"),
    "peclet": ("speed times length over diffusivity", "1"),
    "period": ("time after which everything is back where it was", "T"),
    "permeability": ("map from a Gaussian field to the permeability", "1"),
    "plane": ("thick body (strain) or thin plate (stress)", "1"),
    "points": ("grid points along each axis", "1"),
    "poisson": ("Poisson's ratio", "1"),
    "power": ("p, degree of the polynomial over 4", "1"),
    "pressure": ("pressure on the inner side", "stress"),
    "radius": ("radius of the disc at the start", "L"),
    "rate": ("r of the load exp(r x)", "1/L"),
    "reynolds": ("speed times length over viscosity", "1"),
    "right": ("state on the right", "U"),
    "rotation": ("b, rate of rotation at unit amplitude", "1/T"),
    "seed": ("number of the random field", "1"),
    "sensitivity": ("how strongly cells climb the gradient of the signal", "L^2/(T U)"),
    "sharpness": ("inverse square of the width of the peak", "1/L^2"),
    "sign": ("1 focuses, -1 defocuses", "1"),
    "slope": ("inclination of the line of the singularity", "1"),
    "speed": ("speed of transport", "L/T"),
    "steepening": ("coefficient of the nonlinear transport", "L/(T U)"),
    "steepness": ("inverse width of the front", "1/L"),
    "strain": ("stretch along x", "1"),
    "surface": ("soft (no pressure) or hard (no motion) surface of the obstacle", "1"),
    "temperature": ("temperature that heats the body", "U"),
    "threshold": ("state below which a disturbance decays", "U"),
    "viscosity": ("nu, the viscosity", "L^2/T"),
    "wavenumber": ("k, radians per length", "1/L"),
    "width": ("width of the interfaces", "L"),
    "x_center": ("x of the center", "L"),
    "x_mode": ("half waves along x", "1"),
    "x_second": ("x of the second source", "L"),
    "x_speed": ("speed of transport along x", "L/T"),
    "x_slope": ("gradient of the speed along x", "1/T"),
    "x_source": ("x of the source", "L"),
    "y_center": ("y of the center", "L"),
    "y_mode": ("half waves along y", "1"),
    "y_second": ("y of the second source", "L"),
    "y_speed": ("speed of transport along y", "L/T"),
    "y_slope": ("gradient of the speed along y", "1/T"),
    "y_source": ("y of the source", "L"),
    "young": ("Young's modulus", "stress"),
}

_OF_ONE: dict[tuple[str, str], tuple[str, str]] = {
    ("channel_flow", "speed"): ("speed on the center line", "L/T"),
    ("darcy_layered", "left"): ("permeability left of the interface", "1"),
    ("darcy_layered", "right"): ("permeability right of the interface", "1"),
    ("eikonal_distance", "speed"): ("speed of the fronts", "L/T"),
    ("eikonal_linear_speed", "speed"): ("speed of the fronts at the origin", "L/T"),
    ("eikonal_two_sources", "speed"): ("speed of the fronts", "L/T"),
    ("fitzhugh_nagumo", "threshold"): ("k, constant drive of the reaction", "U/T"),
    ("fitzhugh_nagumo_manufactured", "threshold"): ("k, constant drive of the reaction", "U/T"),
    ("kdv_soliton", "speed"): ("c, speed of the soliton; half its height", "L/T"),
    ("laplace_wedge", "angle"): ("opening of the corner", "radians"),
    ("nls", "dispersion"): ("coefficient of h_xx", "L^2/T"),
    ("nonlinear_diffusion_2d", "mixed"): ("coefficient of the mixed derivative", "L^2/(T U)"),
    ("poisson_interior_line", "exponent"): ("power of the distance from the line", "1"),
    ("poisson_line_singularity", "exponent"): ("power of x in the solution", "1"),
    ("wave", "speed"): ("c, speed of the waves", "L/T"),
    ("wave_2d", "speed"): ("c, speed of the waves", "L/T"),
    ("wave_string", "speed"): ("c, speed of the waves", "L/T"),
}


def meaning_of(problem: str, name: str) -> tuple[str, str]:
    """Meaning and unit of a parameter; empty where nothing is known of it.

    Parameters
    ----------
    problem, name : str
        Of the registered problem and of its parameter.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> meaning_of("burgers", "viscosity")
    ('nu, the viscosity', 'L^2/T')
    """
    return _OF_ONE.get((problem, name)) or _OF_ALL.get(name) or ("", "")
