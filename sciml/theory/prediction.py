"""A prediction is a number stated before measuring; a verdict holds the measurement beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    import sympy

Kind = Literal["equals", "at_most", "at_least", "order"]

ORDER_SHORTFALL = 0.15
"""How far a measured slope may fall below the predicted order, unless ``atol`` says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """A closed-form statement about an error, made before measuring.

    What each kind demands of a measurement ``m`` against the value ``v``, with the slack
    ``s = atol + rtol*abs(v)``:

    ========== ============================ ==========================================
    kind       passes if                    meant for
    ========== ============================ ==========================================
    equals     ``v - s <= m <= v + s``       exact identities and known constants
    at_most    ``m <= v + s``               upper bounds
    at_least   ``m >= v - s``               lower bounds
    order      ``m >= v - s``               slopes of convergence
    ========== ============================ ==========================================

    A measurement that is not finite never passes, whatever the kind.

    Parameters
    ----------
    name
        What is measured, unique within a case. It keys the measurements.
    value
        The predicted number. Finite.
    kind
        ``"equals"``, ``"at_most"``, ``"at_least"`` or ``"order"``.
    rtol, atol
        Relative and absolute slack, not negative. ``atol`` is 0 if left out, but for ``"order"``,
        where it is 0.15: fitted slopes scatter around the order by about that much on the grids
        that a test can afford. A slope above the order always passes.
    formula
        The expression behind the value, for print.
    source
        Where the statement comes from: a paper with its equation, or a derivation in a few words.

    Raises
    ------
    ValueError
        For an unknown kind, a value that is not finite, a negative slack or an empty name.

    Examples
    --------
    >>> bound = Prediction(name="false terms", value=1.0, kind="at_most")
    >>> bound.judge(0.25).passed, bound.judge(float("nan")).passed
    (True, False)
    """

    name: str
    value: float
    kind: Kind
    rtol: float = 0.0
    atol: float | None = None
    formula: sympy.Expr | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError(
                "name of a Prediction is empty: say what is measured, such as 'time order'"
            )
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"kind of prediction {self.name!r} is {self.kind!r}: it must be one of "
                f"{', '.join(get_args(Kind))}"
            )
        object.__setattr__(self, "value", _number(self.value, f"value of prediction {self.name!r}"))
        if not math.isfinite(self.value):
            raise ValueError(
                f"value of prediction {self.name!r} is {self.value}: it must be finite"
            )
        for slack in ("rtol", "atol"):
            amount = getattr(self, slack)
            if amount is not None and not 0.0 <= amount < math.inf:
                raise ValueError(
                    f"{slack} of prediction {self.name!r} is {amount}: "
                    "it must be finite and not negative"
                )

    @classmethod
    def from_formula(
        cls, formula: sympy.Expr, at: Mapping[sympy.Symbol, Any] | None = None, **fields: Any
    ) -> Prediction:
        """Make a prediction whose value is ``formula`` evaluated.

        Parameters
        ----------
        formula
            A SymPy expression.
        at
            Numbers for its symbols.
        **fields
            ``name`` and ``kind``, and any other field of `Prediction` but ``value``.

        Raises
        ------
        ValueError
            If symbols are left without a number.

        Examples
        --------
        >>> import sympy
        >>> k, t = sympy.symbols("k t")
        >>> decay = Prediction.from_formula(
        ...     sympy.exp(-k**2*t), {k: 2, t: 0.5}, name="decay", kind="equals", rtol=1e-6
        ... )
        >>> round(decay.value, 6)
        0.135335
        """
        number = formula.subs([*(at or {}).items()]).evalf()
        if number.free_symbols:
            missing = ", ".join(sorted(str(symbol) for symbol in number.free_symbols))
            raise ValueError(f"formula {formula} has no number for {missing}: give it in `at`")
        return cls(formula=formula, value=float(number), **fields)

    @property
    def slack(self) -> float:
        """Distance from the value at which a measurement still passes."""
        default = ORDER_SHORTFALL if self.kind == "order" else 0.0
        return (default if self.atol is None else self.atol) + self.rtol * abs(self.value)

    @property
    def statement(self) -> str:
        """The prediction in a few characters, such as ``<= 1`` or ``1 +- 0.05``."""
        value = f"{self.value:.4g}"
        if self.kind == "equals":
            return f"{value} +- {self.slack:.2g}" if self.slack else value
        if self.kind == "order":
            return f"order {value} (at least {self.value - self.slack:.4g})"
        sign, limit = ("<=", self.slack) if self.kind == "at_most" else (">=", -self.slack)
        return f"{sign} {value}" + (f" (slack {abs(limit):.2g})" if limit else "")

    def judge(self, measured: float) -> Verdict:
        """Hold a measurement against the prediction.

        Parameters
        ----------
        measured
            The measured number. Not-a-number stands for a measurement that failed.

        Returns
        -------
        Verdict

        Raises
        ------
        TypeError
            If ``measured`` is not one real number.
        """
        number = _number(measured, f"measurement of {self.name!r}")
        return Verdict(
            prediction=self, measured=number, passed=self._holds(number), ratio=self._ratio(number)
        )

    def _holds(self, measured: float) -> bool:
        if not math.isfinite(measured):
            return False
        if self.kind == "equals":
            return self.value - self.slack <= measured <= self.value + self.slack
        if self.kind == "at_most":
            return measured <= self.value + self.slack
        return measured >= self.value - self.slack

    def _ratio(self, measured: float) -> float:
        if self.value != 0.0:
            return measured / self.value
        return 1.0 if measured == 0.0 else measured * math.inf

    def to_json(self) -> dict[str, Any]:
        """Return the prediction as plain JSON data."""
        return {
            "name": self.name,
            "kind": self.kind,
            "value": self.value,
            "slack": self.slack,
            "formula": None if self.formula is None else str(self.formula),
            "source": self.source,
        }


@dataclass(frozen=True)
class Verdict:
    """A prediction, what was measured, and whether it holds.

    Attributes
    ----------
    prediction
        What was predicted.
    measured
        What was measured.
    passed
        Whether the measurement agrees with the prediction.
    ratio
        Measured over predicted. For a prediction of 0 it is 1 if 0 was measured, else infinite.
    """

    prediction: Prediction
    measured: float
    passed: bool
    ratio: float

    def __str__(self) -> str:
        word = "pass" if self.passed else "FAIL"
        return (
            f"{word}  {self.prediction.name}: measured {self.measured:.4g}, "
            f"predicted {self.prediction.statement}, ratio {self.ratio:.4g}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain JSON data, numbers that are not finite as text."""
        return {
            "prediction": self.prediction.to_json(),
            "measured": finite_or_text(self.measured),
            "passed": self.passed,
            "ratio": finite_or_text(self.ratio),
        }


def finite_or_text(number: float) -> float | str:
    """Return a finite number as it is and others as ``"nan"``, ``"inf"`` or ``"-inf"``.

    JSON has no such numbers; `float` reads the text back.

    Examples
    --------
    >>> finite_or_text(2.0), finite_or_text(float("nan"))
    (2.0, 'nan')
    """
    return number if math.isfinite(number) else str(number)


def _number(value: Any, what: str) -> float:
    if isinstance(value, Real):  # also NumPy's scalars and SymPy's rationals
        return float(value)  # pyright: ignore[reportArgumentType]
    real_symbolic = getattr(value, "is_number", False) and getattr(value, "is_real", False)
    array_of_one = getattr(value, "ndim", None) == 0 and "complex" not in str(value.dtype)
    if real_symbolic or array_of_one:
        return float(value)
    raise TypeError(f"{what} is {value!r} ({type(value).__name__}): one real number is needed")
