"""Exponent maps: ranges, inverses, order."""

from __future__ import annotations

import pytest
import torch

from sciml.powerlaw.exponent_maps import Exponents

MAPS = ("identity", "sigmoid", "gaps", "sorted_sigmoid", "tanh")


def make(name, count=5, bounds=(-2.0, 4.0)):
    return Exponents(count, bounds, map=name, generator=torch.Generator().manual_seed(2)).double()


@pytest.mark.parametrize("name", MAPS)
def test_exponents_stay_within_their_bounds(name):
    exponents = make(name)
    exponents.raw.data *= 50.0
    values = exponents().detach()
    assert float(values.min()) >= -2.0 and float(values.max()) <= 4.0 + 1e-14


@pytest.mark.parametrize("name", ["gaps", "sorted_sigmoid"])
def test_ordered_maps_order(name):
    assert bool((torch.diff(make(name)()) > 0).all())


def test_gaps_pin_the_largest_exponent():
    assert make("gaps")().max().item() == pytest.approx(4.0)


@pytest.mark.parametrize("name", MAPS)
def test_setting_exponents_gives_them(name):
    wanted = torch.tensor([-1.5, -0.25, 0.5, 2.0, 4.0 if name == "gaps" else 3.5])
    exponents = make(name)
    exponents.set(wanted)
    torch.testing.assert_close(exponents(), wanted.double(), rtol=0, atol=1e-12)


def test_sigmoid_by_hand():
    exponents = make("sigmoid", 1, (0.1, 3.0))
    exponents.raw.data.fill_(0.0)
    assert exponents().item() == pytest.approx(1.55)


def test_what_a_map_cannot_give_is_refused():
    with pytest.raises(ValueError, match=r"exponents \[5.0\] are outside the bounds \(-2, 4\)"):
        make("identity", 1).set([5.0])
    with pytest.raises(ValueError, match="largest at 4"):
        make("gaps", 2).set([1.0, 2.0])
    with pytest.raises(ValueError, match="never reaches"):
        make("sigmoid", 1).set([4.0])
    with pytest.raises(ValueError, match="got 2, wanted 1"):
        make("sigmoid", 1).set([1.0, 2.0])
    with pytest.raises(ValueError, match="wanted finite numbers"):
        make("identity", 1).set([float("nan")])


def test_unknown_maps_and_bounds_are_refused():
    with pytest.raises(ValueError, match=r"'sigmoide'.*Did you mean 'sigmoid'\?"):
        Exponents(1, (0, 1), map="sigmoide")
    with pytest.raises(ValueError, match=r"got \(2, 1\), wanted two finite numbers, the smaller"):
        Exponents(1, (2, 1))
    with pytest.raises(ValueError, match="wanted two numbers"):
        Exponents(1, (2,))
