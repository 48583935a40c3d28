"""The quick tier of the shipped suite holds: one test per case."""

from __future__ import annotations

import pytest

from sciml.validation import load, run

SUITE = load()
QUICK = [name for name, case in SUITE.cases.items() if case.tier == "quick"]


def test_every_file_loads():
    assert SUITE.broken == {}


@pytest.mark.parametrize("name", QUICK)
def test_predictions_hold(name):
    (result,) = run({name: SUITE.cases[name]}).results
    if result.skipped:
        pytest.skip(result.skipped)
    assert not result.error, result.error
    assert [str(verdict) for verdict in result.verdicts if not verdict.passed] == []
