"""A discovered equation is not simulated in millions of steps."""

from __future__ import annotations

import pytest

import pdes
import sciml
from sciml import datasets


def test_a_discovered_equation_refuses_a_field_ten_thousand_times_larger() -> None:
    data = datasets.load("burgers")
    model = sciml.discover(data)
    (name,) = data.data_vars
    with pytest.raises(pdes.StabilityError, match="smaller field, a coarser grid or a shorter"):
        model.simulate(1e4 * data[name].isel(time=0), data.time)
