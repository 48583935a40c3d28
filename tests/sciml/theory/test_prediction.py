"""Predictions, their kinds and their verdicts."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from sciml.theory import Prediction
from sciml.theory.prediction import Kind, finite_or_text

KINDS: tuple[Kind, ...] = ("equals", "at_most", "at_least", "order")
finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


def predict(kind: Kind, value: float, **slack: float) -> Prediction:
    return Prediction(name="quantity", kind=kind, value=value, **slack)


@pytest.mark.parametrize(
    ("kind", "value", "slack", "passing", "failing"),
    [
        ("equals", 2.0, {}, [2.0], [2.0 + 1e-12, 1.9]),
        ("equals", -2.0, {"rtol": 0.1}, [-2.2, -1.8], [-2.21, 2.0]),
        ("equals", 0.0, {"atol": 1e-9}, [0.0, -1e-9], [1.1e-9]),
        ("at_most", 1.0, {}, [1.0, -50.0], [1.0 + 1e-12]),
        ("at_most", -1.0, {"rtol": 0.5}, [-0.5, -3.0], [-0.49]),
        ("at_least", 0.9, {}, [0.9, 7.0], [0.899]),
        ("at_least", 0.9, {"atol": 0.1}, [0.8], [0.799]),
        ("order", 4.0, {}, [3.85, 4.0, 9.0], [3.849, -4.0]),
        ("order", 4.0, {"atol": 0.5}, [3.5], [3.49]),
    ],
)
def test_each_kind_passes_what_it_should(kind, value, slack, passing, failing):
    prediction = predict(kind, value, **slack)
    assert [m for m in passing if not prediction.judge(m).passed] == []
    assert [m for m in failing if prediction.judge(m).passed] == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("measured", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_never_passes(kind, measured):
    assert not predict(kind, 1.0, rtol=1e300).judge(measured).passed


@given(value=finite, measured=finite)
def test_equals_is_both_bounds_at_once(value, measured):
    verdicts = {kind: predict(kind, value, rtol=0.01).judge(measured).passed for kind in KINDS}
    assert verdicts["equals"] == (verdicts["at_most"] and verdicts["at_least"])


@given(value=finite, measured=finite)
def test_judging_is_pure_and_ratio_is_measured_over_predicted(value, measured):
    prediction = predict("equals", value)
    first, second = prediction.judge(measured), prediction.judge(measured)
    assert first == second
    if value != 0.0:
        assert first.ratio == measured / value


def test_ratio_to_a_predicted_zero():
    zero = predict("at_most", 0.0)
    assert [zero.judge(m).ratio for m in (0.0, 2.0, -2.0)] == [1.0, math.inf, -math.inf]


@pytest.mark.parametrize(
    "number", [np.float32(0.5), np.array(0.5), np.int64(1), sympy.Rational(1, 2), 1]
)
def test_numbers_of_other_libraries_are_taken(number):
    assert predict("at_most", 1.0).judge(number).measured == float(number)


@pytest.mark.parametrize(
    "thing", ["0.5", None, 1j, np.array([1.0, 2.0]), np.array(1j), sympy.Symbol("x")]
)
def test_what_is_no_number_is_refused(thing):
    with pytest.raises(TypeError, match=r"measurement of 'quantity' .* one real number"):
        predict("at_most", 1.0).judge(thing)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "roughly"}, "kind of prediction 'q' is 'roughly'.*equals, at_most"),
        ({"value": math.nan}, "value of prediction 'q' is nan: it must be finite"),
        ({"rtol": -0.1}, "rtol of prediction 'q' is -0.1"),
        ({"atol": math.inf}, "atol of prediction 'q' is inf"),
        ({"name": " "}, "name of a Prediction is empty"),
    ],
)
def test_bad_fields_are_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        Prediction(**{"name": "q", "value": 1.0, "kind": "equals", **change})


def test_a_formula_is_evaluated_and_kept():
    h = sympy.Symbol("h")
    prediction = Prediction.from_formula(
        h**2 / 12, {h: 0.1}, name="error", kind="at_most", rtol=0.1
    )
    assert prediction.value == pytest.approx(0.01 / 12, rel=1e-14)
    assert prediction.to_json()["formula"] == "h**2/12"
    with pytest.raises(ValueError, match=r"no number for h: give it in `at`"):
        Prediction.from_formula(h**2, name="error", kind="at_most")


def test_a_verdict_reads_as_one_line():
    assert str(predict("at_most", 1.0).judge(2.5)) == (
        "FAIL  quantity: measured 2.5, predicted <= 1, ratio 2.5"
    )
    assert predict("equals", 2.0, rtol=0.05).statement == "2 +- 0.1"
    assert predict("at_least", 0.9, atol=0.1).statement == ">= 0.9 (slack 0.1)"


@given(measured=st.floats())
def test_json_is_strict_and_numbers_survive_it(measured):
    verdict = predict("order", 2.0).judge(measured)
    back = json.loads(json.dumps(verdict.to_json(), allow_nan=False))
    assert back["passed"] is verdict.passed
    again = float(back["measured"])
    assert again == measured or (math.isnan(again) and math.isnan(measured))
    assert float(finite_or_text(1.5)) == 1.5
