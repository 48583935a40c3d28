"""What a user can learn of a problem before running it."""

from __future__ import annotations

import dataclasses
import functools
import json

import pytest

import pdes
from pdes.description import Description
from pdes.problem_text import residual_text
from pdes.registry import entry_of, register, unregister


@pytest.mark.parametrize("name", pdes.available())
def test_every_parameter_has_a_meaning_and_a_range_that_is_enforced(name):
    """The range comes from the check itself; a meaning from `pdes.library.meanings`."""
    entry = entry_of(name)
    described = {p.name: p for p in _parameters(name)}
    assert list(described) == list(entry.parameters)
    for each in described.values():
        assert each.meaning, f"say in pdes/library/meanings.py what {each.name!r} of {name!r} is"
        assert each.allowed, f"check {each.name!r} of {name!r} with check_range or check_choice"
        assert each.default == entry.parameters[each.name]
        if each.choices:
            assert each.default in each.choices
            continue
        assert each.low <= each.default <= each.high
        for wrong in (each.high * 1.01 + 1.0, each.low - abs(each.low) - 1.0):
            if abs(wrong) < float("inf"):
                with pytest.raises(ValueError, match=each.name):
                    pdes.get(name, **{each.name: wrong})


@functools.cache
def _built(name):
    """The problem as `pdes.get` gives it, and the limits noted on the way: one build for all."""
    from pdes.library.limits import noted_limits

    with noted_limits() as limits:
        problem = pdes.get(name)
    return problem, limits


def _parameters(name):
    from pdes.describe_entry import _parameters as read

    return read(entry_of(name), _built(name)[1])


@pytest.mark.parametrize("name", ["burgers", "heat_robin", "navier_stokes", "darcy", "motz", "ks"])
def test_a_description_says_what_get_and_the_solvers_know(name):
    about = pdes.describe(name)
    problem = pdes.get(name)
    assert about.name == entry_of(name).name
    assert next(iter(about.solvers)) == problem.solver
    assert set(about.exact) == set(problem.exact)
    assert (about.kind == "evolution") == isinstance(problem, pdes.Problem)
    text = str(about)
    for title in ("equation", "parameters of pdes.get", "domain", "boundary", "solvers"):
        assert f"\n{title}" in text
    assert max(map(len, text.splitlines())) <= 110
    for each in about.parameters:
        assert f"{each.name} = " in text
        assert each.meaning.split()[0] in text


def test_the_page_of_burgers():
    about = pdes.describe("burgers")
    (viscosity,) = about.parameters
    assert (viscosity.low, viscosity.high, viscosity.unit) == (1e-4, 10.0, "L^2/T")
    assert about.equation == "u_t = -u*u_x + 0.1*u_xx"
    assert about.boundary == {"all sides": "periodic"}
    assert about.solvers["etdrk4"] == "order 4 in time, spectral in space"
    assert about.solvers["weno5"] == "order 3 in time, order 5 in space"
    assert "leapfrog" not in about.solvers
    assert about.invariants == {"mass": "conserved", "energy": "balance"}
    assert "WindowedSines" in about.families
    assert "TurbulentVelocity" not in about.families
    with pytest.raises(dataclasses.FrozenInstanceError):
        about.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("name", ["burgers", "heat_neumann", "navier_stokes_velocity"])
def test_families_that_are_named_do_fit(name):
    problem = pdes.get(name)
    arguments = {
        "RandomFourier": {"modes": 2},
        "DecayingFourier": {"modes": 2, "decay": 2.0},
        "GaussianRandomField": {"alpha": 2.5, "tau": 3.0},
        "GaussianClusters": {"fields": {"u": (0.0, 1.0)}},
        "TurbulentVelocity": {"lowest": 1, "highest": 3},
        "WindowedSines": {},
    }
    if not problem.grid.axes[0].periodic:
        arguments["GaussianRandomField"]["boundary"] = "neumann"
    names = problem.equation.fields
    for family in pdes.describe(name).families:
        if family == "FromExpression":
            continue
        kind = getattr(pdes.initial, family)
        known = {item.name for item in dataclasses.fields(kind)}
        more = {"fields": names} if "fields" in known and family != "GaussianClusters" else {}
        drawn = dataclasses.replace(problem, initial=kind(**arguments[family], **more))
        data = pdes.simulate(drawn, times=[0.0], strict=False)
        assert set(data.data_vars) >= set(names), family


def test_solvers_that_are_named_take_the_problem_and_others_do_not():
    from pdes.solvers.table import SOLVERS

    about = pdes.describe("heat_robin")
    problem = pdes.get("heat_robin")
    for name in SOLVERS:
        if name in about.solvers:
            assert pdes.simulate(problem, times=[0.0, 0.01], solver=name).attrs["status"] == "ok"
        else:
            with pytest.raises(ValueError, match=r"\w"):
                pdes.simulate(problem, times=[0.0, 0.01], solver=name)


def test_unknown_names_and_tags_offer_the_closest():
    with pytest.raises(ValueError, match="did you mean 'burgers'"):
        pdes.describe("burger")
    with pytest.raises(ValueError, match=r"no problem has the tag 'benchmrk', did you mean 'bench"):
        pdes.available("benchmrk")
    assert "heat" in pdes.available("linear")


def test_a_registered_function_is_described_by_its_docstring():
    @register("leaky_heat", tags=["example"])
    def leaky_heat(loss: float = 0.5) -> pdes.Problem:
        """Heat that leaks.

        Parameters
        ----------
        loss : float
            Share that is lost per time.
        """
        return pdes.get("heat", diffusivity=loss)

    try:
        (loss,) = pdes.describe("leaky_heat").parameters
        assert (loss.meaning, loss.default) == ("Share that is lost per time.", 0.5)
    finally:
        unregister("leaky_heat")


def test_a_problem_prints_as_a_short_block_that_names_its_call():
    for name in pdes.available():
        problem, _ = _built(name)
        text = str(problem)
        assert len(text.splitlines()) <= 22, text
        assert f"pdes.get({name!r}" in text
        assert len(repr(problem)) < 500
    made = pdes.get("poisson_polynomial", power=3)
    assert made.parameters == {}
    assert made.arguments == {"name": "poisson_polynomial", "power": 3}
    assert "made by     pdes.get('poisson_polynomial', power=3)" in str(made)
    assert json.loads(pdes.solve(made).attrs["arguments"]) == made.arguments
    data = pdes.simulate(pdes.get("burgers_inviscid", mean=1.0), times=[0.0])
    assert json.loads(data.attrs["arguments"])["mean"] == 1.0


def test_residuals_read_as_equations():
    problem = pdes.get("darcy")
    assert residual_text(problem.residual["u"]) == ("-force - a*u_xx - a*u_yy - a_x*u_x - a_y*u_y")


def test_a_description_made_by_hand_prints_what_it_has():
    text = str(Description(name="a", summary="b", kind="steady", equation="c", latex="", domain=""))
    assert "initial" not in text
    assert "equation\n  c" in text
