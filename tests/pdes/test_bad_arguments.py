"""Arguments of the wrong kind are refused with what was wanted, before anything is computed."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import sympy

import pdes
from pdes import initial
from pdes.memory import check_memory, machine_memory, size_text

BURGERS = pdes.get("burgers")
PEAK = pdes.get("poisson_peak")
POINTS = BURGERS.grid.shape[0]


# --- initial fields ------------------------------------------------------------------------------

WRONG_KINDS = [
    ("RandomFourier", "got the text 'RandomFourier', wanted a mapping of field to array"),
    ([0.0] * POINTS, r"got list, wanted a mapping .*\{'u': array\}"),
    (np.zeros(POINTS), r"got ndarray of shape \(512,\), wanted a mapping"),
    (initial.RandomFourier, r"got the class RandomFourier.*call it first, RandomFourier\(\.\.\.\)"),
    (np.sin, "got ufunc, wanted a mapping"),
    (lambda grid: {"u": np.zeros(grid.shape)}, r"does not take the two arguments \(grid, rng\)"),
]


@pytest.mark.parametrize(("given", "words"), WRONG_KINDS)
def test_an_initial_field_of_the_wrong_kind_is_refused_by_every_door(given, words):
    with pytest.raises(ValueError, match=words):
        pdes.get("burgers", initial=given)
    with pytest.raises(ValueError, match=words):
        pdes.simulate(BURGERS, initial=given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"u": np.zeros(13)}, r"shape \(13,\), the grid has \(512,\)"),
        ({"u": np.zeros((0, POINTS))}, r"shape \(0, 512\), the grid has"),
        ({"u": 3.0}, r"shape \(\), the grid has"),
        ({"u": "wave"}, "'u' is an array of <U4, wanted an array of numbers"),
        ({"u": [[1.0], [2.0, 3.0]]}, "'u' is list, wanted an array of numbers"),
        ({"u": None}, "'u' is NoneType, wanted an array of numbers"),
        ({"U": np.zeros(POINTS)}, r"fields \['U'\], the equation has \['u'\]"),
        ({}, r"fields \[\], the equation has"),
        (lambda grid, rng: np.zeros(grid.shape), "returned ndarray .*wanted a mapping"),
        (lambda grid, rng: {"u": np.zeros(7)}, r"shape \(7,\), the grid has"),
        (lambda grid, rng: {"w": np.zeros(grid.shape)}, r"fields \['w'\]"),
        (initial.TurbulentVelocity(lowest=1, highest=3), "2 components .* on axes"),
        (initial.FromExpression({"u": sympy.Symbol("y")}), r"contains \['y'\].*\('x',\)"),
    ],
)
@pytest.mark.parametrize("samples", [None, 2])
def test_an_initial_field_that_does_not_fit_is_refused(given, words, samples):
    if samples and not callable(given):
        words = "needs a random initial field"
    with pytest.raises(ValueError, match=words):
        pdes.simulate(BURGERS, initial=given, samples=samples)


def test_a_family_of_another_dimension_is_refused():
    with pytest.raises(ValueError, match="WindowedSines lives on one axis"):
        pdes.simulate(pdes.get("heat_2d"), initial=initial.WindowedSines())


def test_lists_of_numbers_are_taken_as_arrays():
    wave = np.sin(BURGERS.grid.coordinates()["x"])
    times = [0.0, 0.01]
    one = pdes.simulate(BURGERS, times=times, initial={"u": wave.tolist()})
    two = pdes.simulate(BURGERS, times=times, initial={"u": wave})
    assert np.array_equal(one.u.values, two.u.values)


def test_expressions_are_checked_when_they_are_given():
    with pytest.raises(ValueError, match=r"expressions\['u'\]: got 'sin\(x\)', wanted a sympy"):
        initial.FromExpression({"u": "sin(x)"})
    with pytest.raises(ValueError, match="wanted a mapping of field to expression"):
        initial.FromExpression(sympy.Symbol("x"))


# --- grids and numbers of a problem --------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"x": [0, 1, 64]}, r"grid: got dict, .*Grid.periodic\(x=\(0, 1, 64\)\)"),
        (64, r"grid: got int, wanted a pdes.Grid: pdes.Grid.periodic\(x="),
        (None, r"grid: got NoneType, wanted a pdes.Grid"),
        (np.linspace(0, 1, 8), "grid: got ndarray, wanted a pdes.Grid"),
    ],
)
def test_a_grid_must_be_a_grid(given, words):
    with pytest.raises(ValueError, match=words):
        pdes.get("burgers", grid=given)


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("time_step", "x"),
        ("time_step", True),
        ("discard", "x"),
        ("discard", -1.0),
        ("largest_spacing", "x"),
        ("initial_time", "x"),
        ("initial_seed", 1.5),
        ("initial_seed", -1),
        ("stored_points", 2.5),
        ("stored_points", "a"),
        ("stored_points", 0),
        ("boundary", "periodic"),
        ("invariants", 3),
        ("solver", 3),
    ],
)
def test_an_argument_of_a_problem_is_named_when_it_is_wrong(argument, given):
    with pytest.raises(ValueError, match=rf"{argument}.*{given!s}"):
        pdes.get("burgers", **{argument: given})


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ([0.0, 1j], "complex128; wanted a one-dimensional list"),
        ([1.0, 0.5], r"times\[0\]=1.0 is followed by 0.5"),
        ("x", "times: got 'x'"),
        ([[0.0], [1.0, 2.0]], "times: got"),
        ([None], "type object"),
        ([True], "type bool"),
        ([], r"shape \(0,\)"),
        ([0.0, np.nan], r"got \[0.0, nan\]"),
    ],
)
def test_times_are_checked(times, words):
    for call in (
        lambda: pdes.simulate(BURGERS, times=times),
        lambda: pdes.get("burgers", times=times),
    ):
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("darcy", {"cells": 7.5}, "darcy: cells=7.5, wanted a whole number in"),
        ("darcy", {"seed": 1.5}, "seed=1.5, wanted a whole number"),
        ("poisson_box", {"points": "33"}, "points='33', wanted a whole number"),
        ("burgers", {"viscosity": True}, "viscosity=True is outside"),
        ("burgers", {"viscosity": np.array([0.1, 0.2])}, r"viscosity=array\(.*is outside"),
        ("burgers", {"viscosity": "0.1"}, "viscosity='0.1' is outside"),
        ("laplace_slit", {"mixed": 1}, r"mixed=1, wanted one of \[True, False\]"),
        ("elastic_slit", {"mode": True}, "mode=True, wanted one of"),
        ("poisson_box", {"kind": "neuman"}, "Did you mean 'neumann'?"),
        ("burgers", {"viscosty": 0.1}, "did you mean 'viscosity'?"),
    ],
)
def test_parameters_are_numbers_of_the_right_kind(name, parameters, words):
    with pytest.raises(ValueError, match=words):
        pdes.get(name, **parameters)


def test_numbers_of_numpy_are_numbers():
    assert pdes.get("burgers", viscosity=np.float32(0.5)).equation.parameters["viscosity"] == 0.5
    assert pdes.get("darcy", cells=np.int64(8)).domain == pdes.get("darcy", cells=8).domain


# --- arguments of the solvers --------------------------------------------------------------------


@pytest.mark.parametrize("given", [0, -1, 1.5, float("nan"), "64", True])
def test_a_resolution_is_a_whole_number(given):
    words = rf"poisson_peak: resolution={given!r} .*wanted a whole number of cells"
    with pytest.raises(ValueError, match=words):
        pdes.solve(PEAK, resolution=given)
    with pytest.raises(ValueError, match=words):
        pdes.get("poisson_peak", resolution=given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"resolutoin": 8}, "no option 'resolutoin'.*Did you mean 'resolution'"),
        ({"degre": 2}, "Did you mean 'degree'"),
        ({"degree": True}, "degree=True, wanted a number"),
        ({"solver": "finite_elements"}, "Did you mean 'finite_element'"),
        ({"solver": "helmholtz"}, "works on grids and the domain is a mesh"),
    ],
)
def test_unknown_options_of_a_solver_are_answered_with_the_closest(options, words):
    with pytest.raises(ValueError, match=words):
        pdes.solve(PEAK, **options)


def test_a_grid_has_no_resolution_and_a_mesh_solver_no_grid():
    box = pdes.get("poisson_box")
    with pytest.raises(ValueError, match=r"refine it with pdes.get\('poisson_box', points=64\)"):
        pdes.solve(box, resolution=64)
    with pytest.raises(ValueError, match="works on meshes and the domain is a grid"):
        pdes.solve(box, solver="finite_element")
    with pytest.raises(ValueError, match=r"domain: got dict, wanted a pdes\.Grid"):
        pdes.get("poisson_peak", domain={"x": [0, 1, 8]})


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"dt": 0.1}, TypeError, "no argument 'dt'. Did you mean 'time_step'"),
        ({"tmes": [0.0]}, TypeError, "no argument 'tmes'. Did you mean 'times'"),
        ({"seed": -1}, ValueError, "seed must be a whole number"),
        ({"seed": 1.5}, ValueError, "seed must be a whole number"),
        ({"rtol": "a"}, ValueError, "rtol must be a number between 0 and 1"),
        ({"progress": 3}, ValueError, "progress must be a function"),
        ({"solver": "etdrk"}, ValueError, "Did you mean 'etdrk4'"),
        ({"device": "cuda"}, ValueError, "device='cuda': not to be had with backend='numpy'"),
    ],
)
def test_arguments_of_simulate_are_named(options, error, words):
    with pytest.raises(error, match=words):
        pdes.simulate(BURGERS, **options)


def test_a_device_that_is_not_there_is_named():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("it is there")
    with pytest.raises(ValueError, match="device='cuda': not to be had with backend='torch'"):
        pdes.simulate(BURGERS, backend="torch", device="cuda")


def test_a_name_in_place_of_a_problem():
    named = pdes.simulate("burgers", [0.0, 0.01])
    assert named.identical(pdes.simulate(pdes.get("burgers"), [0.0, 0.01]))
    assert pdes.solve("poisson_peak", resolution=4).attrs["name"] == "poisson_peak"
    for call in (pdes.simulate, pdes.solve):
        with pytest.raises(ValueError, match="unknown problem 'burgerz', did you mean 'burgers'"):
            call("burgerz")
        with pytest.raises(ValueError, match=r"problem: got int, wanted a \w+, from pdes\.get"):
            call(3)
    with pytest.raises(ValueError, match=r"'burgers', which changes.*pdes\.simulate\('burgers'\)"):
        pdes.solve("burgers")
    with pytest.raises(ValueError, match=r"Problem 'burgers', which changes.*simulate\(problem\)"):
        pdes.solve(pdes.get("burgers"))
    with pytest.raises(ValueError, match=r"is a SteadyProblem, for pdes\.solve"):
        pdes.simulate("motz")


# --- sizes ---------------------------------------------------------------------------------------


def refused_without_memory(call, words):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words):
            call()
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(machine_memory() is None, reason="this system does not tell its memory")
def test_what_does_not_fit_is_refused_before_it_is_made():
    refused_without_memory(
        lambda: pdes.simulate(BURGERS, samples=10**9),
        "1000000000 samples of 'burgers' on 512 points at 201 times: needs about .* TiB",
    )
    huge = pdes.Grid.periodic(x=(0.0, 1.0, 10**6), y=(0.0, 1.0, 10**6))
    problem = pdes.get("heat_2d", grid=huge, stored_points=None)
    refused_without_memory(
        lambda: pdes.simulate(problem), "on 1000000 x 1000000 points at .*take fewer"
    )
    refused_without_memory(
        lambda: pdes.solve(PEAK, resolution=10**6),
        r"resolution=1000000, about .* points: needs about .*take a smaller resolution",
    )


def test_sizes_are_phrased_in_a_unit_that_fits():
    assert [size_text(n) for n in (0, 1023, 2048, 3 * 2**20, 2.5 * 2**30)] == [
        "0 bytes",
        "1023 bytes",
        "2.0 KiB",
        "3.0 MiB",
        "2.5 GiB",
    ]


def test_a_tight_fit_is_said(monkeypatch):
    monkeypatch.setattr("pdes.memory.free_memory", lambda: 1000)
    with pytest.warns(ResourceWarning, match="needs about 2.0 KiB of memory, 1000 bytes are free"):
        check_memory(2048, "work", "take less")


# --- the rest of the front -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: pdes.plot(None), TypeError, "data: got NoneType, wanted an xarray.Dataset"),
        (lambda: pdes.plot(np.zeros((3, 4))), TypeError, "data: got ndarray"),
        (lambda: pdes.plot(BURGERS), TypeError, "data: got Problem, wanted"),
        (lambda: pdes.Equation.from_text(3), ValueError, "text: got int, wanted an equation"),
        (
            lambda: pdes.Equation.from_text("u_t = k*u_xx", parameters=3),
            ValueError,
            "parameters: got 3, wanted a mapping",
        ),
        (lambda: pdes.register(3), ValueError, "name: got 3, wanted a word"),
        (lambda: pdes.register("a b"), ValueError, "name: got 'a b', wanted a word"),
        (lambda: pdes.register("three")(3), ValueError, "got 3, wanted a function"),
        (lambda: pdes.get(None), ValueError, "unknown problem None"),
        (lambda: pdes.get(["burgers"]), ValueError, "unknown problem"),
        (lambda: pdes.Grid.periodic(x=64), ValueError, r"x=64: wanted \(start, stop, points\)"),
        (lambda: pdes.Grid.periodic(x=(0, 1)), ValueError, "wanted .start, stop, points."),
        (lambda: pdes.Grid(3), ValueError, "axes: got 3, wanted a tuple of Axis"),
        (lambda: pdes.Axis("x", "a", 1, 8), ValueError, "axis x: start is 'a', wanted a number"),
        (lambda: pdes.Axis("x", 0, 1j, 8), ValueError, "axis x: stop is 1j"),
        (lambda: pdes.Axis("x", 0, 1, "8"), ValueError, "axis x: got '8' points"),
        (lambda: pdes.Axis("x", 0, 1, float("nan")), ValueError, "axis x: got nan points"),
        (lambda: pdes.save(None, "x.nc"), TypeError, "dataset: got NoneType"),
    ],
)
def test_what_is_of_the_wrong_kind_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_fluxes_all_around_are_refused_by_collocation():
    from pdes.boundary import Neumann

    with pytest.raises(ValueError, match="'u' is known up to a constant only"):
        pdes.solve(pdes.get("poisson_interval", boundary={"x-": Neumann(), "x+": Neumann()}))
