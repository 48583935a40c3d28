"""Candidate terms: names, expanded forms, parsing, dependence."""

from __future__ import annotations

import math

import pytest

from sciml.discovery.library import EXHAUSTIVE_TERMS, Library, resolve_library
from sciml.discovery.terms import expand_feature, parse_feature

U, UV = ("u",), ("u", "v")


def test_default_library_of_one_field():
    assert Library().names(U, ("x",)) == [
        "1", "u", "u^2", "u^3", "u_x", "(u^2)_x", "(u^3)_x", "u_xx", "(u^2)_xx", "(u^3)_xx",
        "u_xxx", "(u^2)_xxx", "(u^3)_xxx", "u_xxxx", "(u^2)_xxxx", "(u^3)_xxxx",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "space", "order"), [(U, ("x",), 4), (UV, ("x",), 2), (U, ("x", "y"), 2)]
)
def test_highest_derivative_keeps_the_library_exhaustive(fields, space, order):
    features = Library().features(fields, space)
    assert max(sum(f.outer) for f in features) == order
    monomials = math.comb(len(fields) + 3, 3) - 1
    derivatives = math.comb(len(space) + order, order)
    assert len(features) == 1 + monomials * derivatives <= EXHAUSTIVE_TERMS
    assert len(set(features)) == len(features)


def test_library_of_two_fields_has_their_products():
    names = Library(degree=2, order=1).names(UV, ("x",))
    assert names == [
        "1", "u", "v", "u^2", "u*v", "v^2", "u_x", "v_x", "(u^2)_x", "(u*v)_x", "(v^2)_x",
    ]  # fmt: skip


def test_mixed_derivatives_and_the_constant_can_be_left_out():
    names = Library(degree=1, order=2).names(U, ("x", "y"))
    assert names == ["1", "u", "u_x", "u_y", "u_xx", "u_xy", "u_yy"]
    bare = Library(degree=1, order=2, mixed=False, constant=False).names(U, ("x", "y"))
    assert bare == ["u", "u_x", "u_y", "u_xx", "u_yy"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("u*u_x", "(u^2)_x"),
        ("u^2*u_x", "(u^3)_x"),
        ("u_x*u^2", "(u^3)_x"),
        ("u**2", "u^2"),
        ("u_xx", "u_xx"),
        ("(u^2)_xx", "(u^2)_xx"),
        ("u_x^2", "u_x^2"),
        ("u*u_xx", "u*u_xx"),
        ("( u * v_x )_x", "(u*v_x)_x"),
        ("v*u", "u*v"),
        ("1", "1"),
        ("2*u_xx", "u_xx"),
    ],
)
def test_terms_as_people_write_them(text, name):
    assert parse_feature(text, UV, ("x",)).name == name


def test_coordinate_factors_are_kept_apart():
    feature = parse_feature("u_x/x", U, ("x",))
    assert (feature.weight, feature.outer, feature.factors) == ("1/x", (1,), ((("u", (0,)), 1),))
    assert expand_feature(feature, U) == {"u_x/x": 1.0}
    assert parse_feature("x^2*u", U, ("x",)).weight == "x^2"


@pytest.mark.parametrize(
    ("text", "expansion"),
    [
        ("(u^2)_x", {"u*u_x": 2.0}),
        ("(u^3)_x", {"u^2*u_x": 3.0}),
        ("(u^2)_xx", {"u_x^2": 2.0, "u*u_xx": 2.0}),
        ("(u^3)_xx", {"u*u_x^2": 6.0, "u^2*u_xx": 3.0}),
        ("(u*v_x)_x", {"u_x*v_x": 1.0, "u*v_xx": 1.0}),
        ("u_xxxx", {"u_xxxx": 1.0}),
        ("1", {"1": 1.0}),
    ],
)
def test_expanded_form(text, expansion):
    feature = parse_feature(text, UV, ("x",))
    assert expand_feature(feature, UV) == expansion


def test_fields_with_underscores():
    fields = ("h_re", "h_im")
    feature = parse_feature("h_im*h_re_xx", fields, ("x",))
    assert [atom for atom, _ in feature.factors] == [("h_im", (0,)), ("h_re", (2,))]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("w_xx", r"cannot read the library term 'w_xx'"),
        ("u + u_x", r"'u \+ u_x' is a sum; list its terms one by one"),
        ("u^-1", r"positive whole numbers"),
        ("sin(u)", r"not a polynomial"),
        ("u_x)", r"cannot read the library term"),
        ("", r"cannot read the library term ''"),
        ("(x*u)_x", r"coordinate factor inside a derivative|is a sum"),
    ],
)
def test_terms_that_cannot_be_read(text, words):
    with pytest.raises(ValueError, match=words):
        parse_feature(text, U, ("x",))


def test_a_misspelt_field_gets_the_closest_name():
    with pytest.raises(ValueError, match="did you mean 'speed'"):
        parse_feature("sped", ("speed",), ("x",))


def test_dependent_terms_are_named():
    library = Library(extra=("u_x^2", "u*u_xx"))
    with pytest.raises(ValueError, match=r"\(u\^2\)_xx, u_x\^2, u\*u_xx are linearly dependent"):
        library.features(U, ("x",))
    assert "u_x^2" in Library(extra=("u_x^2",)).names(U, ("x",))


def test_a_term_listed_twice_counts_once():
    assert Library(terms=("u*u_x", "(u^2)_x", "u_xx")).names(U, ("x",)) == ["(u^2)_x", "u_xx"]
    assert len(Library(extra=("u_xx",)).features(U, ("x",))) == 16


def test_what_a_user_may_give_as_library():
    own = Library(degree=1)
    assert resolve_library(None) == Library()
    assert resolve_library(own) is own
    assert resolve_library(["u_xx", "u"]).names(U, ("x",)) == ["u_xx", "u"]
    assert resolve_library("u_xx").names(U, ("x",)) == ["u_xx"]
    with pytest.raises(ValueError, match=r"list of terms such as \['u_xx', 'u\*u_x'\], got int"):
        resolve_library(3)


@pytest.mark.parametrize("arguments", [{"degree": -1}, {"order": 9}, {"degree": 2.5}])
def test_library_checks_its_numbers(arguments):
    with pytest.raises(ValueError, match="whole number from 0 to 8"):
        Library(**arguments)


def test_empty_library_is_refused():
    with pytest.raises(ValueError, match="the library is empty"):
        Library(terms=()).features(U, ("x",))
