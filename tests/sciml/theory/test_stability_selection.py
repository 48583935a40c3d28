"""The bound on false terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciml.theory import false_positive_bound, largest_selection
from sciml.theory.stability_selection import BOUND, CANDIDATES, SELECTED, THRESHOLD


def test_bound_and_formula():
    assert false_positive_bound(4.0, 16, 0.75) == 2.0
    assert float(BOUND.subs({SELECTED: 4, CANDIDATES: 16, THRESHOLD: 0.75})) == 2.0


@given(
    candidates=st.integers(2, 500), threshold=st.floats(0.55, 1.0), false_terms=st.floats(0.01, 1.0)
)
def test_largest_selection_exhausts_the_bound(candidates, threshold, false_terms):
    selected = largest_selection(candidates, threshold, false_terms)
    assert selected < candidates
    assert false_positive_bound(selected, candidates, threshold) == pytest.approx(false_terms)


def test_no_more_than_all_terms_can_be_selected():
    assert largest_selection(4, 0.9, false_terms=1e6) == 4.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: false_positive_bound(3.0, 16, 0.5), r"threshold is 0.5: .* \(0.5, 1\]"),
        (lambda: false_positive_bound(17.0, 16), "selected is 17.0"),
        (lambda: largest_selection(0), "candidates is 0"),
        (lambda: largest_selection(16, false_terms=0.0), "false_terms is 0.0"),
    ],
)
def test_arguments_out_of_range_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
