"""The found equations as text, LaTeX and a table; complex fields are put together again."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sciml.discovery.base import AbstractDiscoverer

Product = tuple[str, ...]
"""Sorted factors; a conjugated factor ends in an asterisk."""


def equation_lines(model: AbstractDiscoverer, digits: int = 4) -> list[str]:
    """One line of text per field.

    Parameters
    ----------
    model : AbstractDiscoverer
        A fitted estimator.
    digits : int
        Significant digits.

    Returns
    -------
    list of str
    """
    terms = model.terms_
    lines = []
    for field in _joined_targets(model):
        if field in terms:
            pairs = [(_real(value, digits), term) for term, value in terms[field].items()]
        else:
            pairs = [
                (_complex(value, error, digits), _product_text(product))
                for product, (value, error) in rejoin(model, field).items()
            ]
        lines.append(f"{field}_{'t' * model.time_order} = {_sum_text(pairs)}")
    return lines


def equation_latex(model: AbstractDiscoverer, digits: int = 4) -> str:
    """LaTeX of the equations, coefficients rounded."""
    from pdes import Equation

    text = [re.sub(r"_tt = ", "_t = ", line) for line in equation_lines(model, digits)]
    coordinates = model._features[0].coordinates
    targets = {line.split("_t = ")[0] for line in text}
    known = {f for f in model.fields_ if not _part_of_complex(f, model.complex_fields_)}
    known |= set(model.complex_fields_)
    text += [f"{name}_t = 0" for name in sorted(known - targets)]
    equation = Equation.from_text(
        text,
        name="discovered",
        coordinates=coordinates,
        complex_fields=frozenset(model.complex_fields_),
    )
    latex = equation.latex()
    if model.time_order == 2:
        latex = re.sub(r"_t =|_\{t\} =", "_{tt} =", latex)
    if len(known) > len(targets):
        rows = [row for row in re.split(r"\\\\\s*", latex) if not row.rstrip().endswith("= 0")]
        return r" \\ ".join(row.strip() for row in rows)
    return latex


def _part_of_complex(field: str, complex_fields: tuple[str, ...]) -> bool:
    return any(field in (f"{name}_re", f"{name}_im") for name in complex_fields)


def _joined_targets(model: AbstractDiscoverer) -> list[str]:
    """Targets, with both parts of a complex field replaced by the field."""
    out: list[str] = []
    for target in model.targets_:
        whole = next((n for n in model.complex_fields_ if target in (f"{n}_re", f"{n}_im")), None)
        both = whole is not None and {f"{whole}_re", f"{whole}_im"} <= set(model.targets_)
        name = whole if both and whole is not None else target
        if name not in out:
            out.append(name)
    return out


def rejoin(model: AbstractDiscoverer, field: str) -> dict[Product, tuple[complex, float]]:
    """Right-hand side of a complex field in terms of itself and its conjugate.

    With ``re = (h + conj(h)) / 2`` and ``im = (h - conj(h)) / 2i`` inserted, products whose
    coefficient is within three standard errors of zero are left out.

    Parameters
    ----------
    model : AbstractDiscoverer
        A fitted estimator.
    field : str
        Name of the complex field.

    Returns
    -------
    dict
        Product of factors -> (coefficient, standard error).
    """
    values: defaultdict[Product, complex] = defaultdict(complex)
    variances: defaultdict[Product, float] = defaultdict(float)
    for part, unit in ((f"{field}_re", 1.0), (f"{field}_im", 1j)):
        terms, covariance = model.terms_[part], model.cov_[part]
        shares: dict[Product, np.ndarray] = {}
        for position, term in enumerate(terms):
            for product, share in _substitute(term, field).items():
                shares.setdefault(product, np.zeros(len(terms), complex))[position] += share
        for product, share in shares.items():
            values[product] += unit * complex(share @ np.array(list(terms.values())))
            variances[product] += float(np.real(share.conj() @ covariance @ share))
    largest: dict[Product, float] = {}
    for product, value in values.items():
        key = tuple(sorted(factor.rstrip("*") for factor in product))
        largest[key] = max(largest.get(key, 0.0), abs(value))
    kept = {}
    for product, value in values.items():
        error = float(np.nan_to_num(np.sqrt(variances[product])))
        key = tuple(sorted(factor.rstrip("*") for factor in product))
        if abs(value) > max(3 * error, 1e-3 * largest[key]):
            kept[product] = (value, error)
    return kept


def _substitute(term: str, field: str) -> dict[Product, complex]:
    """A canonical term of the parts as a polynomial in the whole field and its conjugate."""
    total: dict[Product, complex] = {(): 1.0}
    for factor in term.split("*"):
        base, _, power = factor.partition("^")
        for _ in range(int(power or 1)):
            if base.startswith(f"{field}_re"):
                rest = base[len(field) + 3 :]
                pieces: dict[str, complex] = {field + rest: 0.5, f"{field}{rest}*": 0.5}
            elif base.startswith(f"{field}_im"):
                rest = base[len(field) + 3 :]
                pieces = {field + rest: -0.5j, f"{field}{rest}*": 0.5j}
            else:
                pieces = {base: 1.0}
            grown: defaultdict[Product, complex] = defaultdict(complex)
            for product, share in total.items():
                for piece, weight in pieces.items():
                    key = tuple(sorted((*product, piece))) if piece != "1" else product
                    grown[key] += share * weight
            total = dict(grown)
    return total


def _product_text(product: Product) -> str:
    counts = Counter(product)
    pieces = []
    for base in sorted({factor.rstrip("*") for factor in counts}, key=lambda b: ("_" in b, b)):
        plain, conjugated = counts.get(base, 0), counts.get(f"{base}*", 0)
        both = min(plain, conjugated)
        if both:
            pieces.append(f"abs({base})^{2 * both}")
        for name, count in ((base, plain - both), (f"conj({base})", conjugated - both)):
            if count:
                pieces.append(name if count == 1 else f"{name}^{count}")
    return "*".join(pieces) or "1"


def _real(value: float, digits: int) -> tuple[str, str]:
    return ("-" if value < 0 else "+"), f"{abs(value):#.{digits}g}".rstrip(".")


def _complex(value: complex, error: float, digits: int) -> tuple[str, str]:
    small = max(3 * error, 1e-3 * abs(value))
    if abs(value.real) <= small:
        sign, size = _real(value.imag, digits)
        return sign, f"{size}*I"
    if abs(value.imag) <= small:
        return _real(value.real, digits)
    sign, size = _real(value.imag, digits)
    return "+", f"({value.real:#.{digits}g} {sign} {size}*I)"


def _sum_text(pairs: list[tuple[tuple[str, str], str]]) -> str:
    if not pairs:
        return "0"
    text = ""
    for position, ((sign, size), term) in enumerate(pairs):
        lead = ("-" if sign == "-" else "") if position == 0 else f" {sign} "
        text += f"{lead}{size}" + ("" if term == "1" else f"*{term}")
    return text


@dataclass(frozen=True)
class _Row:
    field: str
    term: str
    coefficient: float
    error: float


def summary_text(model: AbstractDiscoverer) -> str:
    """Table of coefficients, then the evidence in words.

    Parameters
    ----------
    model : AbstractDiscoverer
        A fitted estimator.

    Returns
    -------
    str
    """
    terms, errors = model.terms_, model.standard_errors_
    rows = [
        _Row(field, term, value, errors[field][term])
        for field, entries in terms.items()
        for term, value in entries.items()
    ]
    width = max([len(row.term) for row in rows] + [4])
    lines = [*equation_lines(model), ""]
    lead = max([len(row.field) for row in rows] + [5]) + 3
    lines.append(f"{'field':{lead}}{'term':{width + 2}}{'coefficient':>13}{'std. error':>13}")
    for row in rows:
        lines.append(
            f"{row.field:{lead}}{row.term:{width + 2}}{row.coefficient:>13.5g}{row.error:>13.2g}"
        )
    lines.append("")
    for field in model.targets_:
        evidence = model.identifiability_[field]
        if not model.support_[field]:
            lines += [f"{field}: note: {notice}" for notice in model.notices_[field]]
            continue
        standing = evidence.verdict
        if np.isfinite(evidence.ratio):
            standing += f" (best rival leaves {evidence.ratio:.3g} times the residual)"
        else:
            standing = "this method does not look for rivals"
        lines.append(
            f"{field}: {standing}, chi2/n = {model.chi2_[field]:.3g}, "
            f"noise {model.noise_estimate_[field]:.3g} "
            f"({model.noise_estimate_[field] / model.field_scale_[field]:.2%} of the spread)"
        )
        symmetry = model.symmetry_[field]
        held = [name.replace("_", " ") for name, test in symmetry.tests.items() if test.holds]
        if symmetry.tests:
            lines.append(f"{field}: compatible with {', '.join(held) if held else 'no'} symmetry")
        lines += [f"{field}: note: {notice}" for notice in model.notices_[field]]
    return "\n".join(lines)
