"""A case and how it judges."""

from __future__ import annotations

import pytest

from sciml.theory import Prediction
from sciml.validation import Case, Measurements

BOUND = Prediction(name="error", value=1e-3, kind="at_most")
ORDER = Prediction(name="order", value=2.0, kind="order")


def make(**change) -> Case:
    return Case(**{"name": "heat", "run": lambda: {}, "predictions": (BOUND, ORDER), **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Heat equation"}, "name of a Case is 'Heat equation'.*lower-case"),
        ({"name": "solvers/heat"}, "the name of its file is put before it"),
        ({"tier": "slow"}, "tier of case 'heat' is 'slow'"),
        ({"predictions": ()}, "case 'heat' predicts nothing"),
        ({"predictions": (BOUND, BOUND)}, "two predictions named error"),
    ],
)
def test_bad_cases_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        make(**change)


def test_verdicts_come_in_the_order_of_the_predictions():
    verdicts = make().judge({"order": 1.0, "error": 1e-4})
    assert [(v.prediction.name, v.passed) for v in verdicts] == [("error", True), ("order", False)]
    assert make().judge(Measurements(values={"error": 1.0, "order": 2.1}))[1].passed


def test_what_was_measured_must_be_what_was_predicted():
    with pytest.raises(ValueError, match=r"not measured: \['order'\]; not predicted: \['slope'\]"):
        make().judge({"error": 0.0, "slope": 2.0})
    with pytest.raises(TypeError, match="returned list: it must return Measurements"):
        make().judge([1.0])
