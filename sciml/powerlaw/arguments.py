"""Arguments of `PowerLawFit`: what is accepted, and what is refused with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sciml.powerlaw.structure import Structure


def check_arguments(order: Any, starts: Any, rtol: float, noise: float | None) -> None:
    """Refuse an order, a number of starts, a tolerance or a noise that cannot be used.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> check_arguments("auto", 40, 1e-15, None)
    """
    whole = isinstance(order, (int, np.integer)) and not isinstance(order, bool)
    if not (order == "auto" or whole):
        raise ValueError(f"order={order!r}, wanted a number of exponents or 'auto'")
    if whole and int(order) < 1:
        raise ValueError(f"order={order!r}, wanted at least 1 exponent, or 'auto'")
    if not (isinstance(starts, (int, np.integer)) and starts >= 1):
        raise ValueError(f"starts={starts!r}, wanted a number of random starts from 1")
    if not (np.isfinite(rtol) and rtol >= 0):
        raise ValueError(f"rtol={rtol!r}, wanted a finite number that is not negative")
    if noise is not None and not (np.isfinite(noise) and noise > 0):
        raise ValueError(f"noise={noise!r}, wanted a positive number, or None to estimate it")


def read_blocks(
    blocks: str | Sequence[str | float],
) -> tuple[Structure | None, tuple[float, ...], bool]:
    """Structure if the blocks name one, known exponents, and whether pairs are allowed.

    Raises
    ------
    ValueError
        For unknown names, twins among the known exponents, or no blocks at all.

    Examples
    --------
    >>> read_blocks(("power", 0.0))
    (Structure(powers=1, pairs=0, fixed=(0.0,)), (0.0,), True)
    """
    if isinstance(blocks, str):
        if blocks not in ("auto", "powers"):
            raise ValueError(
                f"blocks={blocks!r}, wanted 'auto', 'powers', or a sequence of 'power', "
                "'pair' and known exponents"
            )
        return None, (), blocks == "auto"
    names = [block for block in blocks if isinstance(block, str)]
    unknown = [name for name in names if name not in ("power", "pair")]
    if unknown:
        raise ValueError(f"blocks hold {unknown[0]!r}, wanted 'power', 'pair' or numbers")
    fixed = tuple(float(block) for block in blocks if not isinstance(block, str))
    if not all(np.isfinite(fixed)):
        raise ValueError(f"blocks hold the exponents {fixed}, wanted finite numbers")
    twins = sorted({mu for mu in fixed if fixed.count(mu) > 1})
    if twins:
        raise ValueError(f"blocks hold the exponent {twins[0]} twice, wanted different ones")
    if not names and not fixed:
        raise ValueError("blocks are empty, wanted at least one 'power', 'pair' or number")
    return Structure(names.count("power"), names.count("pair"), fixed), fixed, True


def check_rows(rows: int, unknowns: int) -> None:
    """Refuse fewer rows than unknowns.

    Raises
    ------
    ValueError
    """
    if rows < unknowns:
        raise ValueError(
            f"{rows} sample(s) for {unknowns} exponents and coefficients: wanted at least as "
            "many; give more samples, or a lower order"
        )
