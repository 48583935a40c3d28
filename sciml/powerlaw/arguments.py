"""Arguments of `PowerLawFit`: what is accepted, and what is refused with a reason."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np

from sciml.powerlaw.structure import Structure


def check_arguments(order: Any, starts: Any, rtol: Any, noise: Any) -> None:
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
        near = closest(order, ("auto",))
        raise ValueError(f"order={order!r}, wanted a number of exponents or 'auto'{near}")
    if whole and int(order) < 1:
        raise ValueError(f"order={order!r}, wanted at least 1 exponent, or 'auto'")
    if not (isinstance(starts, (int, np.integer)) and starts >= 1):
        raise ValueError(f"starts={starts!r}, wanted a number of random starts from 1")
    check_rtol(rtol)
    check_noise(noise)


def check_rtol(rtol: Any) -> None:
    """Refuse a relative tolerance that is no number from 0."""
    if not (_is_number(rtol) and rtol >= 0):
        raise ValueError(f"rtol={rtol!r}, wanted a finite number that is not negative")


def check_noise(noise: Any) -> None:
    """Refuse a standard deviation that is no positive number; None passes."""
    if noise is not None and np.ndim(noise):
        raise ValueError(
            f"noise has shape {np.shape(noise)}, wanted one number; deviations of each sample go "
            "into weights=1/deviations, with noise=1.0"
        )
    if noise is not None and not (_is_number(noise) and noise > 0):
        raise ValueError(f"noise={noise!r}, wanted a positive number, or None to estimate it")


def read_seed(random_state: Any) -> np.random.Generator:
    """Generator of a seed, of scikit-learn's RandomState, or a generator itself."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state={random_state!r}, wanted a whole number from 0, a RandomState, or None"
        ) from None


def closest(name: Any, known: Sequence[str]) -> str:
    """Offer the closest of some names, as the end of a message.

    Examples
    --------
    >>> closest("atuo", ("auto",))
    "; did you mean 'auto'?"
    """
    near = difflib.get_close_matches(name, known, n=1) if isinstance(name, str) else []
    return f"; did you mean {near[0]!r}?" if near else ""


def _is_number(value: Any) -> bool:
    plain = isinstance(value, (int, float, np.integer, np.floating))
    return plain and not isinstance(value, bool) and bool(np.isfinite(value))


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
                f"'pair' and known exponents{closest(blocks, ('auto', 'powers'))}"
            )
        return None, (), blocks == "auto"
    wanted = "wanted 'power', 'pair' or numbers"
    if not isinstance(blocks, (list, tuple, np.ndarray)):
        raise ValueError(f"blocks={blocks!r}, {wanted} in a sequence, or 'auto' or 'powers'")
    names = [block for block in blocks if isinstance(block, str)]
    unknown = [name for name in names if name not in ("power", "pair")]
    if unknown:
        near = closest(unknown[0], ("power", "pair"))
        raise ValueError(f"blocks hold {unknown[0]!r}, {wanted}{near}")
    others = [block for block in blocks if not isinstance(block, str)]
    strange = [block for block in others if not isinstance(block, (int, float, np.number))]
    if strange:
        raise ValueError(f"blocks hold {strange[0]!r}, {wanted}")
    fixed = tuple(float(block) for block in others)
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
