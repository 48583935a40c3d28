"""Terms and equations in the mathematical notation that matplotlib draws."""

from __future__ import annotations

import math
import re

from sympy.core.alphabets import greeks

_GREEK = frozenset(greeks) - {"omicron"}  # which TeX sets as a plain o
_TOKEN = re.compile(
    r"(?P<name>[A-Za-z]\w*)|\)_(?P<outer>[A-Za-z]+)|\^(?P<power>-?\d+)|(?P<times>\*)"
)
_GAP = re.compile(r"(?<=[\w})|]) (?=[A-Za-z\\|(])")
_THIN = r"\\,"


def term_label(term: str) -> str:
    r"""A term of an equation, ready for a label.

    Parameters
    ----------
    term : str
        Such as ``"u*u_xx"``, ``"(u^2)_x"`` or ``"u_x/x"``.

    Returns
    -------
    str
        Between dollar signs.

    Examples
    --------
    >>> print(term_label("u^2*u_xx"), term_label("(h_re^2)_x"))
    $u^{2}\,u_{xx}$ $(h_{\mathrm{re}}^{2})_{x}$
    """
    return f"${_TOKEN.sub(_replace, term)}$"


def _replace(match: re.Match[str]) -> str:
    if match["name"]:
        return _name(match["name"])
    if match["outer"]:
        return f")_{{{match['outer']}}}"
    if match["power"]:
        return f"^{{{match['power']}}}"
    return r"\,"


def _name(text: str) -> str:
    stem, *below = text.split("_")
    if stem in _GREEK:
        stem = f"\\{stem}"
    elif len(stem) > 1:
        stem = f"\\mathrm{{{stem}}}"
    if not below:
        return stem
    # The last suffix names directions of differentiation, the ones before it a part of the field.
    parts = [f"\\mathrm{{{part}}}" for part in below if part]
    if set(below[-1]) <= set("xyzt"):
        parts[-1] = below[-1]
    return f"{stem}_{{{','.join(parts)}}}"


def number_label(value: float, error: float | None = None) -> str:
    r"""A number with as many digits as its standard error leaves meaning, seven at most.

    Examples
    --------
    >>> number_label(-5.99713, 0.0123), number_label(0.1, 2.5e-10)
    ('$-5.997 \\pm 0.012$', '$0.1000000 \\pm 2.5\\times10^{-10}$')
    >>> number_label(12345678.0)
    '$1.235\\times10^{7}$'
    """
    if error is None or not math.isfinite(error) or error <= 0.0:
        return f"${number(value, 4)}$"
    spread = number(error, 2)
    if value == 0.0:
        return f"$0 \\pm {spread}$"
    digits = math.floor(math.log10(abs(value))) - math.floor(math.log10(error)) + 2
    return f"${number(value, min(max(digits, 1), 7))} \\pm {spread}$"


def number(value: float, digits: int) -> str:
    r"""A number in mathematical notation, without dollar signs.

    Parameters
    ----------
    value : float
        What to write.
    digits : int
        Significant digits.

    Returns
    -------
    str

    Examples
    --------
    >>> number(0.012345, 3), number(2.7e-5, 2)
    ('0.0123', '2.7\\times10^{-5}')
    """
    text = f"{value:#.{digits}g}".rstrip(".")
    front, _, exponent = text.partition("e")
    return f"{front}\\times10^{{{int(exponent)}}}" if exponent else text


def equation_text(lines: list[str], latex: str) -> list[str]:
    r"""One drawable line for each equation of a system: typeset if possible, as text if not.

    Parameters
    ----------
    lines : list of str
        The equations as text.
    latex : str
        The same equations, separated by a double backslash.

    Returns
    -------
    list of str

    Examples
    --------
    >>> equation_text(["u_t = 0.1*u_xx"], "u_t = 0.1 u_{xx}")
    ['$u_t = 0.1\\,u_{xx}$']
    >>> equation_text(["u_t = 0.1*u_xx"], "u_t = \\unknown{u}")
    ['u_t = 0.1*u_xx']
    """
    from matplotlib.mathtext import MathTextParser

    # TeX and mathtext drop the spaces between factors; a thin one keeps u u_x apart.
    rows = [f"${_GAP.sub(_THIN, row.strip())}$" for row in latex.split(r"\\")]
    if len(rows) != len(lines):
        return list(lines)
    parser: MathTextParser = MathTextParser("path")
    try:
        for row in rows:
            parser.parse(row)
    except ValueError:
        return list(lines)
    return rows
