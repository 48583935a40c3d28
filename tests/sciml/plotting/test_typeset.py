"""Labels that matplotlib can draw."""

from __future__ import annotations

import pytest
from matplotlib.mathtext import MathTextParser

from sciml.plotting.typeset import equation_text, number_label, term_label


@pytest.mark.parametrize(
    ("term", "label"),
    [
        ("1", "$1$"),
        ("u_xxxx", "$u_{xxxx}$"),
        ("u^2*u_xx", r"$u^{2}\,u_{xx}$"),
        ("(u^3)_xx", "$(u^{3})_{xx}$"),
        ("u_x^2", "$u_{x}^{2}$"),
        ("usol*usol_x", r"$\mathrm{usol}\,\mathrm{usol}_{x}$"),
        ("h_re_xx", r"$h_{\mathrm{re},xx}$"),
        ("phi_t", r"$\phi_{t}$"),
        ("u_x/x", "$u_{x}/x$"),
        ("u_x*x^-2", r"$u_{x}\,x^{-2}$"),
    ],
)
def test_terms(term, label):
    assert term_label(term) == label
    MathTextParser("path").parse(label)


@pytest.mark.parametrize(
    ("value", "error", "label"),
    [
        (-5.99713, 0.0123, r"$-5.997 \pm 0.012$"),
        (0.0990, 0.0014, r"$0.0990 \pm 0.0014$"),
        (1.0, 1e-12, r"$1.000000 \pm 1.0\times10^{-12}$"),
        (0.3, 4.0, r"$0.3 \pm 4.0$"),
        (0.0, 0.5, r"$0 \pm 0.50$"),
        (2.0, float("inf"), "$2.000$"),
        (2.0, 0.0, "$2.000$"),
    ],
)
def test_numbers_have_the_digits_that_their_error_leaves(value, error, label):
    assert number_label(value, error) == label


def test_systems_give_one_line_each():
    latex = "u_t = u^2 v \\\\\nv_t = -u"
    assert equation_text(["a", "b"], latex) == [r"$u_t = u^2\,v$", "$v_t = -u$"]


def test_what_mathtext_cannot_draw_stays_text():
    assert equation_text(["u_t = u"], r"\begin{aligned}u_t = u\end{aligned}") == ["u_t = u"]
    assert equation_text(["a", "b"], "u_t = u") == ["a", "b"]
