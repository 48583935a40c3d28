"""Exponents of corners against closed forms and constants of the literature."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from pdes.exact import (
    Cone,
    InterfaceCrack,
    Sectors,
    Wedge,
    Williams,
    checkerboard_exponent,
    corner_spectrum,
    edge_exponents,
    kellogg_contrast,
    kellogg_phase,
    motz_digits,
)
from pdes.exact.corner_constants import MOTZ_COEFFICIENTS
from pdes.exact.corner_problems import exact_angle
from pdes.exact.kellogg import CONTRAST, SIGMA
from pdes.exact.notch import NOTCH_MODES

PI = math.pi


def agrees(found, printed: str) -> bool:
    """Whether a number agrees with printed decimals to a unit of the last one."""
    decimals = len(printed.split(".")[1])
    with mpmath.workdps(40):
        return abs(found - mpmath.mpf(printed)) <= mpmath.mpf(10) ** -decimals


@pytest.mark.parametrize("degrees", [90, 120, 135, 270, 315, 360])
@pytest.mark.parametrize(("bc", "first"), [("DD", 1.0), ("NN", 0.0), ("DN", 0.5), ("ND", 0.5)])
def test_wedges_have_multiples_of_pi_over_the_angle(bc, first, degrees):
    omega = math.radians(degrees)
    spectrum = corner_spectrum(Wedge(omega, bc), n=5)
    assert spectrum.exponents == pytest.approx((first + np.arange(5)) * PI / omega, rel=1e-15)
    assert max(spectrum.shifts) < 1e-8  # collocation alone was right, too
    assert spectrum.multiplicities == (1,) * 5


@pytest.mark.parametrize(
    ("sectors", "printed"),
    [
        ([(PI / 2, 1), (PI, 10)], (".5289772698358562425842", "1.471022730164143757416", "2.0")),
        ([(PI, 1), (PI / 2, 10)], (".8632223481741272129186", "1.136777651825872787081")),
        ([(PI / 2, 1), (PI, 100)], (".5031516345252008558034", "1.496848365474799144197")),
    ],
)
def test_two_materials(sectors, printed):
    spectrum = corner_spectrum(Sectors(sectors), n=len(printed), digits=25)
    assert all(map(agrees, spectrum.exponents, printed))
    (w1, a1), (w2, a2) = sectors
    with mpmath.workdps(30):
        for mu in spectrum.exponents:
            s1, s2 = mu * exact_angle(w1), mu * exact_angle(w2)
            law = a1 * mpmath.cos(s1) * mpmath.sin(s2) + a2 * mpmath.sin(s1) * mpmath.cos(s2)
            assert abs(law) < 1e-22


def test_mixed_edges_of_two_materials():
    (w1, a1), (w2, a2) = sectors = [(PI / 2, 1.0), (PI, 10.0)]
    spectrum = corner_spectrum(Sectors(sectors, "DN"), n=3)
    for mu in spectrum.exponents:
        flux = a1 * np.cos(mu * w1) * np.cos(mu * w2) - a2 * np.sin(mu * w1) * np.sin(mu * w2)
        assert abs(flux) < 1e-13
    turned = corner_spectrum(Sectors(sectors[::-1], "ND"), n=3)
    assert turned.exponents == pytest.approx(spectrum.exponents, rel=1e-15)
    other = corner_spectrum(Sectors(sectors, "ND"), n=3)
    assert abs(other[0] - spectrum[0]) > 0.1


def test_checkerboard_of_kellogg():
    contrast = kellogg_contrast("0.1", 30)
    assert agrees(contrast, "161.44763879758849569739")
    assert agrees(kellogg_phase("0.1", 25), "-14.922565104551517883")
    assert float(contrast) == pytest.approx(CONTRAST, rel=1e-14)
    assert float(kellogg_phase("0.1")) == pytest.approx(SIGMA, rel=1e-14)
    board = Sectors([(PI / 2, float(contrast)), (PI / 2, 1.0)] * 2, "periodic")
    spectrum = corner_spectrum(board, n=5)
    assert spectrum.exponents == pytest.approx((0.0, 0.1, 1.9, 2.0, 2.1), abs=1e-13)
    assert spectrum.multiplicities == (1, 1, 1, 2, 1)
    for ratio in (5.0, 0.2):
        turned = Sectors([(PI / 2, ratio), (PI / 2, 1.0)] * 2, "periodic")
        expected = float(checkerboard_exponent(ratio))
        assert corner_spectrum(turned, n=2)[1] == pytest.approx(expected, rel=1e-14)


def test_one_material_all_around_has_whole_double_exponents():
    spectrum = corner_spectrum(Sectors([(PI, 3.0), (PI, 3.0)], "periodic"), n=4)
    assert spectrum.exponents == pytest.approx((0, 1, 2, 3), abs=1e-14)
    assert spectrum.multiplicities == (1, 2, 2, 2)


@pytest.mark.parametrize(
    ("degrees", "printed"),
    [
        (270, (".5444837367824639291409", ".9085291898460988186604")),
        (300, (".5122213611605122583633", ".7309007415129503621226")),
        (240, (".6157310594907831968159", "1.148912751316943452311")),
    ],
)
def test_free_elastic_wedges(degrees, printed):
    spectrum = corner_spectrum(Williams(math.radians(degrees)), n=2, digits=25)
    assert spectrum.labels == ("mode 1", "mode 2")
    assert all(map(agrees, spectrum.exponents, printed))


def test_amplitudes_of_the_notch():
    corner = Williams(1.5 * PI)
    for mode, printed in ((1, ".543075578836736469170"), (2, "-.218923236248780480104")):
        with mpmath.workdps(30):
            root = corner_spectrum(corner, n=2, digits=28)[mode - 1]
            assert agrees(corner.amplitude(root, mode), printed)
        assert NOTCH_MODES[mode] == pytest.approx(
            (float(root), float(corner.amplitude(root, mode))), abs=1e-12
        )


def test_elastic_crack_and_complex_roots():
    crack = corner_spectrum(Williams(2 * PI), n=5)
    assert crack.exponents == pytest.approx((0.5, 0.5, 1.0, 1.5, 1.5), abs=1e-14)
    assert crack.labels[:3] == ("mode 1", "mode 2", "mode 1")
    third = corner_spectrum(Williams(1.5 * PI), n=3)[2]
    assert third.imag > 0.2
    assert abs(np.sin(third * 1.5 * PI) - third) < 1e-13  # sin w = -1


def test_interface_crack():
    crack = InterfaceCrack(10.0, 0.3)
    assert agrees(mpmath.mpf(crack.dundurs), "-.2337662337662338")
    spectrum = corner_spectrum(crack, n=3, digits=25)
    for place, exponent in enumerate(spectrum.exponents):
        assert abs(exponent.real - place - 0.5) < 1e-24
        assert agrees(exponent.imag, ".075811777690294152251")
    assert max(spectrum.shifts) < 1e-5
    # The mirror image has the same exponents; equal materials do not oscillate.
    assert corner_spectrum(InterfaceCrack(0.1, 0.3), n=1)[0] == pytest.approx(
        complex(spectrum[0]), abs=1e-15
    )
    assert corner_spectrum(InterfaceCrack(1.0), n=2).exponents == (0.5, 1.5)
    stressed = corner_spectrum(InterfaceCrack(4.0, (0.2, 0.4), "stress"), n=1)
    assert stressed.shifts[0] < 1e-6  # the closed form agrees with collocation
    assert stressed[0].imag > 0.01


def test_cones():
    printed = (".4630985617801064733715", "1.81322787311021558", "3.15304871130370595")
    spectrum = corner_spectrum(Cone(0.75 * PI), n=3, digits=24)
    assert all(map(agrees, spectrum.exponents, printed))
    assert corner_spectrum(Cone(PI / 2), n=3).exponents == pytest.approx((1, 3, 5), rel=1e-14)
    assert corner_spectrum(Cone(PI / 2, "N"), n=3).exponents == pytest.approx((0, 2, 4), abs=1e-14)
    with mpmath.workdps(20):
        wide = corner_spectrum(Cone(math.radians(160)), n=1, digits=18)[0]
        assert abs(mpmath.legenp(wide, 0, mpmath.cos(exact_angle(math.radians(160))))) < 1e-15


def test_shadows_of_an_edge():
    rows = edge_exponents(Wedge(1.5 * PI), n=6)
    assert [round(mu, 12) for mu, *_ in rows] == [round(k / 3, 12) for k in (2, 4, 6, 8, 8, 10)]
    assert [order for *_, order in rows] == [0, 0, 0, 1, 0, 1]


@pytest.mark.slow
def test_motz_to_the_printed_digits():
    assert all(map(agrees, motz_digits(terms=100), MOTZ_COEFFICIENTS))


def test_motz_with_few_terms():
    assert abs(motz_digits(terms=48)[0] - mpmath.mpf(MOTZ_COEFFICIENTS[0])) < 1e-9


def test_table_shows_digits_and_multiplicities():
    board = Sectors([(PI / 2, 2.0)] * 4, "periodic")
    assert "2-fold" in str(corner_spectrum(board, n=2))
    assert "0.6666666666666666666666666667" in str(corner_spectrum(Wedge(1.5 * PI), 1, digits=28))


def test_high_exponents_and_small_degree():
    assert corner_spectrum(Wedge(2 * PI), n=60)[59] == pytest.approx(30.0, rel=1e-15)
    with pytest.raises(ArithmeticError, match="raise degree"):
        corner_spectrum(Wedge(2 * PI), n=20, degree=8)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Wedge(0.0), r"angle=0.0, wanted an angle in radians in \(0, 6.28319\]"),
        (lambda: Wedge(270.0), "deg2rad"),
        (lambda: Wedge(math.nan), "angle=nan"),
        (lambda: Wedge("wide"), "angle='wide'"),
        (lambda: Wedge(1.0, "DX"), "bc='DX', wanted one of DD, NN, DN, ND"),
        (lambda: Wedge(1.0, "periodic"), "bc='periodic', wanted one of DD"),
        (lambda: Sectors([]), "sectors: got none"),
        (lambda: Sectors([(1.0, 0.0)]), r"sectors\[0\]: coefficient 0.0"),
        (lambda: Sectors([1.0]), r"sectors\[0\]=1.0, wanted a pair"),
        (lambda: Sectors([(PI, 1.0), (1.5 * PI, 2.0)]), "sum of the sectors' angles"),
        (lambda: Sectors([(PI, 1.0)], "periodic"), "they must fill 2 pi"),
        (lambda: Sectors([(PI, 1.0)], "periodical"), "Did you mean 'periodic'"),
        (lambda: Williams(7.0), "angle=7.0"),
        (lambda: Williams(1.0).amplitude(0.5, 3), "mode=3"),
        (lambda: InterfaceCrack(-1.0), "stiffness_ratio=-1.0"),
        (lambda: InterfaceCrack(1.0, 0.6), "poisson=0.6"),
        (lambda: InterfaceCrack(1.0, 0.3, "strian"), "Did you mean 'strain'"),
        (lambda: Cone(PI), "wanted at most"),
        (lambda: Cone(1.0, "DD"), "bc='DD', wanted one of D, N"),
        (lambda: corner_spectrum(Wedge(1.0), n=0), "n=0, wanted an integer from 1 to 60"),
        (lambda: corner_spectrum(Wedge(1.0), digits=0), "digits=0"),
        (lambda: corner_spectrum(Wedge(1.0), degree=2), "degree=2"),
        (lambda: corner_spectrum(1.5), "problem=1.5, wanted a Wedge"),
        (lambda: kellogg_contrast(2.5), r"exponent=2.5, wanted a number in \(0, 2\)"),
        (lambda: checkerboard_exponent(-1.0), "contrast=-1.0"),
        (lambda: motz_digits(terms=30), "terms=30, wanted a multiple of 4"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
