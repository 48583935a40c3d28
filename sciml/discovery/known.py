"""Terms whose coefficients are known beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sciml.discovery.terms import Feature, expand_feature, parse_feature, parse_unit


def known_terms(
    known: Mapping[str, Any] | None,
    fields: tuple[str, ...],
    targets: tuple[str, ...],
    coordinates: tuple[str, ...],
) -> dict[str, dict[Feature, float]]:
    """Terms whose coefficients are known, by target.

    Parameters
    ----------
    known : mapping, optional
        Term -> coefficient, or target -> term -> coefficient.
    fields, targets, coordinates : tuple of str
        Names of all fields, of those whose equation is sought, and of the space axes.

    Returns
    -------
    dict of str to dict of Feature to float
    """
    out: dict[str, dict[Feature, float]] = {target: {} for target in targets}
    if not known:
        return out
    nested = {key: value if isinstance(value, Mapping) else None for key, value in known.items()}
    if all(value is None for value in nested.values()):
        if len(targets) != 1:
            raise ValueError(
                f"known gives terms without a field, but equations are sought for {list(targets)}: "
                "write known={'u': {'u_xx': 0.1}}"
            )
        nested = {targets[0]: known}
    for target, entries in nested.items():
        if target not in out or entries is None:
            raise ValueError(f"known names {target!r}, but the targets are {list(targets)}")
        for term, coefficient in entries.items():
            feature = parse_feature(term, fields, coordinates)
            # the feature may be a multiple of the term: u*u_x is half of (u^2)_x
            unit = next(iter(expand_feature(feature, fields).values()))
            written = parse_unit(term, fields, coordinates)
            out[target][feature] = float(coefficient) * written / unit
    return out
