"""Steps too long for the reaction are refused, not integrated into nonsense."""

from __future__ import annotations

import pytest

import pdes


@pytest.mark.parametrize(
    ("name", "step"),
    [("nls", 0.2), ("allen_cahn", 3.0), ("swift_hohenberg", 5.0), ("fisher_kpp", 2.0)],
)
def test_a_step_beyond_the_reaction_is_refused(name, step):
    with pytest.raises(pdes.StabilityError, match="rate of the reaction"):
        pdes.simulate(pdes.get(name), times=[0.0, step], time_step=step)
