"""Structure tests: which columns a structure leaves, and the statistic that judges it."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import sciml
from sciml.discovery.library import Library
from sciml.discovery.subset_search import GramSystem
from sciml.discovery.symmetry import (
    GATE,
    STRUCTURES,
    SymmetryReport,
    allowed_columns,
    homogeneity_statistic,
    nested_statistic,
    symmetry_report,
)
from sciml.discovery.terms import expand_feature

FEATURES = Library().features(("u",), ("x",))
NAMES = [feature.name for feature in FEATURES]


def left_of(structure, features=FEATURES):
    return [features[k].name for k in allowed_columns(features, structure)]


def test_what_each_structure_leaves():
    linear = ["u_x", "u_xx", "u_xxx", "u_xxxx"]
    assert left_of("galilean") == ["1", "u_x", "(u^2)_x", "u_xx", "u_xxx", "u_xxxx"]
    assert left_of("conservation") == [n for n in NAMES if n.startswith("(") or n in linear]
    assert left_of("even_parity") == [
        n for n in NAMES if n.count("x") % 2 == 0
    ]  # every x in a name is a derivative
    assert left_of("odd_parity") == ["u", "u^3", "(u^2)_x", "u_xx", "(u^3)_xx", "(u^2)_xxx",
                                     "u_xxxx", "(u^3)_xxxx"]  # fmt: skip
    assert left_of("sign") == [n for n in NAMES if n != "1" and "^2" not in n]
    assert left_of("linear") == ["u", *linear]


def test_galilean_columns_are_the_invariant_ones():
    """``F(u + c, u_x, ...) - F(u, u_x, ...) = -q c u_x`` for each of them, and for no other."""
    c = sympy.Symbol("c")
    x = sympy.Symbol("x")
    u = sympy.Function("u")(x)
    for column, feature in enumerate(FEATURES):
        power = u ** feature.degree() if feature.factors else sympy.Integer(1)
        term = sympy.diff(power, x, feature.outer[0])
        change = sympy.expand((term.subs(u, u + c).doit() - term) / c)
        invariant = change == 0 or sympy.simplify(change / u.diff(x)).is_number
        assert invariant == (column in allowed_columns(FEATURES, "galilean")), feature.name


def test_two_fields():
    features = Library(degree=2, order=2).features(("u", "v"), ("x",))
    assert left_of("sign", features) == ["u", "v", "u_x", "v_x", "u_xx", "v_xx"]
    report = symmetry_report(random_system(features), features, 1e-4)
    assert "galilean" not in report.tests
    assert set(report.tests) == set(STRUCTURES) - {"galilean"}


def test_explicit_coordinates_leave_no_parity_to_test():
    features = Library(extra=("x*u_x",)).features(("u",), ("x",))
    report = symmetry_report(random_system(features), features, 1e-4)
    assert set(report.tests) == {"conservation", "sign", "linear"}


def test_unknown_structure():
    with pytest.raises(ValueError, match=r"structure must be one of .*'galilean'.*got 'gauge'"):
        allowed_columns(FEATURES, "gauge")


def random_system(features, true=(), rows=200, seed=0):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(rows, len(features)))
    names = [f.name for f in features]
    left = sum(c * matrix[:, names.index(n)] for n, c in true) + rng.normal(size=rows)
    return GramSystem.of(matrix, left)


def test_statistic_is_the_f_statistic_of_nested_models():
    rng = np.random.default_rng(3)
    matrix, left = rng.normal(size=(80, 6)), rng.normal(size=80)
    full, reduced = (
        float(np.sum((left - matrix[:, c] @ np.linalg.lstsq(matrix[:, c], left)[0]) ** 2))
        for c in (list(range(6)), [0, 2, 3])
    )
    expected = ((reduced - full) / 3) / (full / 74)
    found = nested_statistic(GramSystem.of(matrix, left), [0, 2, 3], 0.0)
    assert found == pytest.approx(expected, rel=1e-9)
    assert nested_statistic(GramSystem.of(matrix, left), list(range(6)), 0.0) == 0.0


def test_statistic_is_near_one_without_and_large_with_forbidden_terms():
    allowed = [("u_xx", 0.5), ("(u^2)_x", -1.0)]
    values = [
        symmetry_report(random_system(FEATURES, allowed, seed=s), FEATURES, 0.0)
        .tests["galilean"]
        .statistic
        for s in range(200)
    ]
    # F(10, 184) has mean 184/182
    assert np.mean(values) == pytest.approx(184 / 182, abs=0.12)
    report = symmetry_report(random_system(FEATURES, [("u^3", 2.0)]), FEATURES, 0.0)
    test = report.tests["galilean"]
    assert test.statistic > GATE and not test.holds and not report.gate_open
    assert test.excluded == tuple(n for n in NAMES if n not in left_of("galilean"))


def test_report_as_plain_values():
    report = symmetry_report(random_system(FEATURES, [("u_xx", 2.0)]), FEATURES, 0.0, "linear")
    plain = report.to_dict()
    assert plain["gate_open"] is True and plain["applied"] == "linear"
    entry = plain["tests"]["linear"]
    assert set(entry) == {"statistic", "holds", "meaning", "excluded"}
    assert entry["holds"] == (entry["statistic"] <= GATE)
    assert not SymmetryReport().gate_open


def test_gate_on_recordings(burgers, reaction, noisy):
    for level in (0.0, 0.05, 0.2):
        opened = sciml.discover(noisy(burgers, level)).symmetry_["u"]
        closed = sciml.discover(noisy(reaction, level)).symmetry_["u"]
        assert opened.gate_open and not closed.gate_open
        assert closed.tests["sign"].holds and closed.tests["even_parity"].holds
        assert opened.tests["conservation"].holds and not closed.tests["conservation"].holds


def test_boosted_data_carry_no_further_information(burgers):
    """A boosted copy satisfies the same equation: u(x - ct, t) + c with q = 1."""
    model = sciml.discover(burgers)
    shifted = np.empty_like(burgers.values)
    c = 0.7
    length = 2 * np.pi
    wave = 2 * np.pi * np.fft.rfftfreq(burgers.sizes["x"], length / burgers.sizes["x"])
    for k, t in enumerate(burgers.time.values):
        spectrum = np.fft.rfft(burgers.values[k]) * np.exp(-1j * wave * c * t)
        shifted[k] = np.fft.irfft(spectrum, burgers.sizes["x"]) + c
    boosted = sciml.discover(burgers.copy(data=shifted))
    assert boosted.support_ == model.support_
    for term, value in model.terms_["u"].items():
        assert boosted.terms_["u"][term] == pytest.approx(value, rel=1e-4)


def test_drift_statistic_sees_coefficients_that_depend_on_position():
    rng = np.random.default_rng(0)
    matrix, where = rng.normal(size=(300, 2)), np.linspace(-1.7, 1.7, 300)
    noise = rng.normal(size=300)
    drifts = matrix * where[:, None]
    constant = matrix @ [1.0, -2.0] + noise
    assert homogeneity_statistic(matrix, constant, drifts, 0.0) < 5
    drifting = constant + 0.5 * drifts[:, 1]
    assert homogeneity_statistic(matrix, drifting, drifts, 0.0) > 20


def test_expanded_forbidden_terms_hold_an_undifferentiated_field():
    for feature in FEATURES:
        if feature.name in left_of("galilean"):
            continue
        for term in expand_feature(feature, ("u",)):
            factors = [f.partition("^")[0] for f in term.split("*")]
            if "u" not in factors:
                # only (u^2)_xx, (u^2)_xxx... hide such a term among others that hold u
                assert feature.degree() >= 2
