"""Problems, their registry and their initial fields."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pdes
from pdes import Equation, Grid
from pdes.initial import FromExpression, RandomFourier
from pdes.registry import entry_of


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time_step": -1.0}, "time_step must be positive"),
        ({"discard": -1.0}, "discard"),
        (
            {"stored_points": 100},
            "does not divide the 512 points of axis 'x': use stored_points=64",
        ),
        ({"stored_points": (256, 256)}, "2 entries for 1 axes"),
        ({"times": [1.0, 0.5]}, "times must increase"),
        ({"exact_name": "nothing"}, "not among"),
        ({"grid": Grid.periodic(y=(0.0, 1.0, 512))}, "one grid axis for each"),
    ],
)
def test_problems_check_themselves(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(pdes.get("heat"), **changes)


def test_a_small_grid_is_kept_whole() -> None:
    grid = pdes.Grid.periodic(x=(0.0, 1.0, 32), y=(0.0, 1.0, 96))
    assert pdes.get("navier_stokes").stored_points == 64
    with pytest.raises(
        ValueError, match="stored_points=64 does not divide the 96 points of axis 'y'"
    ):
        pdes.get("navier_stokes", grid=grid)
    small = pdes.Grid.periodic(x=(0.0, 1.0, 32), y=(0.0, 1.0, 16))
    problem = pdes.get("navier_stokes", grid=small)
    assert problem.strides == (1, 1)
    data = pdes.simulate(problem, [0.0, 0.01], strict=False)
    assert data.w.shape == (2, 32, 16)


def test_strides_follow_stored_points() -> None:
    problem = dataclasses.replace(pdes.get("heat_2d"), stored_points=(32, 16))
    assert problem.strides == (2, 4)


def test_times_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        pdes.get("heat").times[0] = 1.0


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("ks", "kuramoto_sivashinsky"),
        ("advdiff", "advection_diffusion"),
        ("fisher", "fisher_kpp"),
        ("allencahn", "allen_cahn"),
        ("kdvburgers", "kdv_burgers"),
        ("potential_ks", "potential_kuramoto_sivashinsky"),
    ],
)
def test_aliases_resolve(alias: str, name: str) -> None:
    assert entry_of(alias).name == name
    assert pdes.get(alias).equation == pdes.get(name).equation


def test_unknown_names_offer_the_closest() -> None:
    with pytest.raises(ValueError, match="did you mean 'burgers'"):
        pdes.get("burger")
    with pytest.raises(ValueError, match="did you mean 'viscosity'"):
        pdes.get("burgers", viscosty=0.1)


def test_benchmark_has_eight_problems() -> None:
    assert len(pdes.available("benchmark")) == 8
    assert set(pdes.available("second tier")).isdisjoint(pdes.available("benchmark"))


def test_two_problems_share_nothing() -> None:
    thin, thick = pdes.get("burgers", viscosity=0.5), pdes.get("burgers")
    assert thin.equation.parameters["viscosity"] == 0.5
    assert thick.equation.parameters["viscosity"] == 0.1


def test_taking_the_initial_field_away_drops_its_closed_form() -> None:
    problem = pdes.get("burgers_shock", initial=RandomFourier(modes=2))
    assert problem.exact_name is None
    assert problem.solver == "etdrk4"


def test_a_name_belongs_to_one_function() -> None:
    with pytest.raises(ValueError, match="is taken by 'heat'"):

        @pdes.register("heat")
        def other() -> pdes.Problem:
            return pdes.get("heat")


# Initial fields


def test_random_field_in_two_dimensions() -> None:
    """Every wave vector once: the spectrum fills the square and has the asked variance."""
    grid = Grid.periodic(x=(0.0, 1.0, 16), y=(2.0, 5.0, 24))
    field = RandomFourier(modes=2, amplitude=0.7, mean=3.0)(grid, np.random.default_rng(0))["u"]
    assert field.shape == (16, 24)
    assert field.std() == pytest.approx(0.7)
    assert field.mean() == pytest.approx(3.0)
    spectrum = np.abs(np.fft.fft2(field - 3.0)) > 1e-9
    kx = np.fft.fftfreq(16, 1 / 16)[:, None]
    ky = np.fft.fftfreq(24, 1 / 24)[None, :]
    square = (abs(kx) <= 2) & (abs(ky) <= 2) & ((kx != 0) | (ky != 0))
    np.testing.assert_array_equal(spectrum, square)


def test_random_field_does_not_depend_on_resolution() -> None:
    family = RandomFourier(modes=4)
    coarse, fine = (
        family(Grid.periodic(x=(0.0, 1.0, n)), np.random.default_rng(2))["u"] for n in (64, 128)
    )
    assert np.max(np.abs(fine[::2] - coarse)) < 1e-13


def test_fields_of_one_draw_are_independent() -> None:
    grid = Grid.periodic(x=(0.0, 1.0, 64))
    drawn = RandomFourier(modes=4, fields=("u", "v"))(grid, np.random.default_rng(2))
    assert np.max(np.abs(drawn["u"] - drawn["v"])) > 0.5


def test_random_field_refuses_what_the_grid_cannot_carry() -> None:
    with pytest.raises(ValueError, match="needs more than 32 points"):
        RandomFourier(modes=16)(Grid.periodic(x=(0.0, 1.0, 32)), np.random.default_rng(0))
    with pytest.raises(ValueError, match="modes must be at least 1"):
        RandomFourier(modes=0)


def test_expressions_broadcast_over_the_grid() -> None:
    x = pdes.equation.coordinate("x")
    grid = Grid.periodic(x=(0.0, 1.0, 8), y=(0.0, 1.0, 10))
    fields = FromExpression({"u": x**2, "v": 3})(grid, np.random.default_rng(0))
    assert fields["u"].shape == fields["v"].shape == (8, 10)
    np.testing.assert_allclose(fields["u"][:, 4], (np.arange(8) / 8.0) ** 2, atol=1e-15)
    np.testing.assert_array_equal(fields["v"], 3.0)


def test_a_custom_equation_runs_through() -> None:
    problem = pdes.Problem(
        equation=Equation.from_text("u_t = 0.1*u_xx"),
        grid=Grid.periodic(x=(0.0, 2.0 * np.pi, 16)),
        initial={"u": np.cos(2.0 * np.pi * np.arange(16) / 16)},
        times=[0.0, 1.0],
    )
    assert float(pdes.simulate(problem).u[-1].max()) == pytest.approx(np.exp(-0.1))


def test_solvers_and_boundaries_are_refused_where_they_are_given():
    with pytest.raises(ValueError, match=r"unknown solver 'magic'; known: .*'etdrk4'"):
        pdes.get("burgers", solver="magic")
    with pytest.raises(ValueError, match="unknown solver 'etdrk5'"):
        pdes.get("motz", solver="etdrk5")
    for name in ("motz", "heat_dirichlet"):
        with pytest.raises(ValueError, match="boundary: no condition for "):
            pdes.get(name, boundary={})
