"""A disc in a plane wave: the series of Mie, and complex finite elements that reproduce it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.special
from scipy import sparse

import pdes
from pdes.exact.mie_series import mie_coefficients, mie_series, mie_terms
from pdes.solvers.sparse_system import solve_sparse

ANGLES = np.linspace(0.1, 3.0, 13)
CIRCLE = {"x": np.cos(ANGLES), "y": np.sin(ANGLES)}


@pytest.mark.parametrize("wavenumber", [0.3, 3.0, 11.0])
def test_conditions_hold_on_the_circle(wavenumber: float) -> None:
    soft = mie_series(wavenumber)
    assert np.abs(soft.evaluate(**CIRCLE)["u"]).max() < 1e-12
    x, y = mie_series(wavenumber, surface="hard").gradient(**CIRCLE)["u"]
    slope = x * CIRCLE["x"] + y * CIRCLE["y"]
    assert np.abs(slope).max() < 1e-12 * max(1.0, wavenumber)
    # The other condition does not hold: neither is trivial.
    assert np.abs(mie_series(wavenumber, surface="hard").evaluate(**CIRCLE)["u"]).max() > 0.5


def test_incident_wave_is_the_sum_of_bessel_functions() -> None:
    """The coefficients are those of the expansion of ``exp(i k x)``, with its factors."""
    k, r, n = 3.0, 1.7, np.arange(40)
    weight = np.where(n == 0, 1.0, 2.0) * 1j ** (n % 4)
    total = np.sum(weight * scipy.special.jv(n, k * r) * np.cos(n * 0.8))
    assert abs(total - np.exp(1j * k * r * np.cos(0.8))) < 1e-13
    b = mie_coefficients(k, "soft", 5)
    wanted = -weight[:5] * scipy.special.jv(n[:5], k) / scipy.special.hankel1(n[:5], k)
    assert np.abs(b - wanted).max() < 1e-15


@pytest.mark.parametrize("surface", ["soft", "hard"])
def test_energy_is_conserved(surface) -> None:
    """Optical theorem: a lossless disc scatters what it takes from the incident wave."""
    for size in (0.2, 2.0, 20.0):
        b = mie_coefficients(size, surface)
        n = np.arange(len(b))
        scattered = np.sum(np.where(n == 0, 1.0, 0.5) * np.abs(b) ** 2)
        forward = -np.real(np.sum(b * (-1j) ** (n % 4)))
        assert abs(scattered - forward) < 1e-13 * scattered


def test_terms_suffice() -> None:
    for size in (0.05, 1.0, 10.0, 45.0):
        more = mie_terms(size) + 10
        b = mie_coefficients(size, "soft", more)
        on_circle = b * scipy.special.hankel1(np.arange(more), size)
        assert np.abs(on_circle[mie_terms(size) :]).max() < 1e-12


def test_solver_returns_a_complex_field_and_keeps_the_surface() -> None:
    problem = pdes.get("helmholtz_disc")
    data = pdes.solve(problem, resolution=4)
    assert data.u.dtype == np.complex128
    on_disc = np.abs(np.hypot(data.x, data.y) - 1.0) < 1e-12
    assert np.all(data.u.values[on_disc.values] == 0.0)
    norms = json.loads(data.attrs["errors"])["u"]
    assert norms["l2"] < 0.01 * norms["l2_exact"]


def test_inside_of_the_disc_is_refused() -> None:
    with pytest.raises(ValueError, match="holds where"):
        mie_series(2.0).evaluate(x=0.1, y=0.1)


def test_surface_is_named() -> None:
    with pytest.raises(ValueError, match="Did you mean 'hard'"):
        pdes.get("helmholtz_disc", surface="hart")


def test_multigrid_is_for_real_systems() -> None:
    matrix = sparse.diags_array([[1.0 + 1.0j] * 5], offsets=[0]).tocsr()
    none = np.array([], dtype=int)
    solved = solve_sparse(matrix, np.ones(5), none, np.zeros(0), symmetric=True)
    assert solved.method == "direct"
    assert np.abs(solved.values - 1.0 / (1.0 + 1.0j)).max() < 1e-15
    with pytest.raises(ValueError, match="real systems"):
        solve_sparse(matrix, np.ones(5), none, np.zeros(0), symmetric=True, method="multigrid")
    with pytest.raises(ValueError, match="real systems"):
        pdes.solve(pdes.get("helmholtz_disc"), resolution=3, linear_solver="multigrid")
