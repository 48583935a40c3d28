"""PySINDy's weak form on our data objects, for comparison on equal terms.

PySINDy is an optional dependency and is imported on first use.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.base import AbstractDiscoverer
from sciml.discovery.recording import Recording, as_recordings
from sciml.discovery.result import Selection
from sciml.discovery.terms import Atom, Feature

if TYPE_CHECKING:
    from types import ModuleType

FEWEST_POINTS = 3
"""PySINDy draws windows until each holds two grid points, forever if none can."""

DECIMALS = 3
"""Decimals of the coefficients that PySINDy prints."""


def require_pysindy() -> ModuleType:
    """Import PySINDy, or say how to get it.

    Returns
    -------
    module
        ``pysindy``.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        import pysindy
    except ImportError as error:
        raise ImportError(
            'PySINDy is not installed, and this needs it: pip install "sciml-pdes[pysindy]"'
        ) from error
    return pysindy


class PySINDyWeak(AbstractDiscoverer):
    """PySINDy's ``WeakPDELibrary`` and an optimizer, reported like our own estimators.

    The terms are products of a monomial and at most one derivative, ``u^a`` and ``u^a*u_xx``.
    Standard errors, ``chi2_`` and rivals are not available; they are NaN or empty.

    Parameters
    ----------
    K : int, default 500
        Number of windows, placed at random.
    derivative_order : int, default 4
        Highest derivative.
    degree : int, default 3
        Highest degree of the monomials.
    threshold : float, default 0.1
        Smallest coefficient that ``STLSQ`` keeps, in the unit of the coefficient. The final refit
        without its ridge penalty can shrink kept ones to nothing; those that round to zero at the
        three decimals that PySINDy prints are left out.
    constant : bool, default False
        Whether the constant is a candidate.
    half_widths : sequence of int, optional
        Half-width of the windows along each axis in grid points, time last; a twentieth of each
        axis by default.
    exponent : int, default 4
        Exponent of the windows, raised to ``derivative_order`` if it is smaller.
    optimizer : pysindy optimizer, optional
        Used in place of ``STLSQ(threshold)``, for instance
        :class:`sciml.discovery.WhitenedBestSubsetOptimizer`.
    target, periodic
        As for :class:`sciml.WhitenedBestSubset`. PySINDy's windows never wrap; ``periodic`` only
        tells its finite differences.
    random_state : int, default 0
        Seed of the places of the windows.

    Attributes
    ----------
    terms_, support_, equation_
        What was found, in canonical terms.
    model_ : pysindy.SINDy
        The fitted model.

    Raises
    ------
    ImportError
        On ``fit``, if PySINDy is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
    >>> u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
    >>> model = PySINDyWeak(K=50, derivative_order=2, degree=2, threshold=0.05, half_widths=(9, 13))
    >>> model.fit(u, coords={"x": x, "t": t}).equations(2)
    ['u_t = 0.10*u_xx']
    """

    def __init__(
        self,
        *,
        K: int = 500,
        derivative_order: int = 4,
        degree: int = 3,
        threshold: float = 0.1,
        constant: bool = False,
        half_widths: Sequence[int] | None = None,
        exponent: int = 4,
        optimizer: Any = None,
        target: str | Sequence[str] | None = None,
        periodic: bool | Sequence[str] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.K = K
        self.derivative_order = derivative_order
        self.degree = degree
        self.threshold = threshold
        self.constant = constant
        self.half_widths = half_widths
        self.exponent = exponent
        self.optimizer = optimizer
        self.target = target
        self.periodic = periodic
        self.random_state = random_state

    def fit(
        self, X: Any, y: None = None, *, coords: Mapping[str, Any] | None = None
    ) -> PySINDyWeak:
        """Fit PySINDy's model and translate what it found.

        Parameters
        ----------
        X, coords
            Recording(s) as for :meth:`sciml.WhitenedBestSubset.fit`; several must share one grid.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ImportError
            If PySINDy is not installed.
        ValueError
            If values are missing, grids differ, or windows do not fit.
        """
        pysindy = require_pysindy()
        from sklearn.base import clone

        recordings = as_recordings(X, coords, self.periodic)
        first = recordings[0]
        _check_usable(recordings)
        self._check_windows(first)
        targets = self._targets(first)
        if self.optimizer is None:
            optimizer = pysindy.STLSQ(threshold=self.threshold)
        else:
            optimizer = clone(self.optimizer)
        fields = [np.stack(list(run.fields.values()), axis=-1) for run in recordings]
        with _seeded(self.random_state):
            library = self._library(pysindy, first)
            model = pysindy.SINDy(optimizer=optimizer, feature_library=library)
            model.fit(fields, t=first.coordinates["t"], feature_names=list(first.fields))
        self.model_ = model
        features = product_features(
            tuple(first.fields),
            first.space,
            np.asarray(library.function_library.powers_),
            [tuple(int(k) for k in item) for item in library.multiindices],
            self.constant,
        )
        coefficients = np.asarray(model.coefficients())
        if coefficients.shape[1] != len(features):
            raise RuntimeError(
                f"this version of PySINDy builds {coefficients.shape[1]} features where "
                f"{len(features)} were expected; version 2.1 is known to work"
            )
        if self.optimizer is None:
            coefficients = np.where(np.round(coefficients, DECIMALS) == 0, 0.0, coefficients)
        self._remember(recordings, features, targets, {name: {} for name in targets})
        self._count_windows(recordings)
        for name in targets:
            row = coefficients[list(first.fields).index(name)]
            support = tuple(int(k) for k in np.flatnonzero(row))
            unknown = np.full((len(support), len(support)), np.nan)
            self._selections[name] = Selection(
                support, row[list(support)], unknown, float("nan"), adequate=bool(support)
            )
        self._state_result()
        return self

    def _library(self, pysindy: ModuleType, run: Recording) -> Any:
        grid = np.stack(np.meshgrid(*run.coordinates.values(), indexing="ij"), axis=-1)
        reach = None
        if self.half_widths is not None:
            reach = np.array(self.half_widths, float) * np.array(run.spacings)
        return pysindy.WeakPDELibrary(
            function_library=pysindy.PolynomialLibrary(degree=self.degree, include_bias=False),
            derivative_order=self.derivative_order,
            spatiotemporal_grid=grid,
            include_bias=self.constant,
            K=self.K,
            H_xt=reach,
            p=self.exponent,
            diff_kwargs={"is_uniform": True, "periodic": all(run.periodic)},
        )

    def _check_windows(self, run: Recording) -> None:
        """Refuse windows for which PySINDy would search without end."""
        names = tuple(run.coordinates)
        if self.half_widths is not None and len(self.half_widths) != len(names):
            raise ValueError(
                f"half_widths needs one number per axis {names}, got {tuple(self.half_widths)}"
            )
        for axis, (name, points) in enumerate(zip(names, run.shape, strict=True)):
            if self.half_widths is None:
                inside, needed = (points - 1) // 10, 10 * FEWEST_POINTS + 1
                if inside < FEWEST_POINTS:
                    raise ValueError(
                        f"axis {name!r} has {points} points, so that PySINDy's default windows "
                        f"hold {inside} of them; record at least {needed}, or give half_widths"
                    )
                continue
            width = self.half_widths[axis]
            if width < 2 or 2 * width + 1 >= points:
                raise ValueError(
                    f"half_widths: {width} for axis {name!r} of {points} points; it must lie "
                    f"between 2 and {(points - 2) // 2}"
                )

    def _count_windows(self, recordings: list[Recording]) -> None:
        """Rows and half-widths of PySINDy's windows."""
        self.n_rows_ = self.K * len(recordings)
        widths = self.half_widths
        if widths is None:
            widths = [(points - 1) // 20 for points in recordings[0].shape]
        self.half_widths_ = [tuple(int(width) for width in widths)] * len(recordings)


def product_features(
    fields: tuple[str, ...],
    coordinates: tuple[str, ...],
    powers: NDArray,
    derivatives: Sequence[tuple[int, ...]],
    constant: bool,
) -> tuple[Feature, ...]:
    """Our names for the columns of a ``WeakPDELibrary``, in its order.

    Parameters
    ----------
    fields, coordinates : tuple of str
        Names of the fields and of the space axes.
    powers : ndarray, shape (monomials, fields)
        Exponents of the monomials.
    derivatives : sequence of tuple of int
        Orders along each space axis.
    constant : bool
        Whether the constant comes first.

    Returns
    -------
    tuple of Feature

    Examples
    --------
    >>> features = product_features(("u",), ("x",), np.array([[1], [2]]), [(1,)], constant=False)
    >>> [feature.name for feature in features]
    ['u', 'u^2', 'u_x', 'u*u_x', 'u^2*u_x']
    """
    none = (0,) * len(coordinates)
    monomials: list[tuple[tuple[Atom, int], ...]] = [
        tuple(((name, none), int(p)) for name, p in zip(fields, row, strict=True) if p)
        for row in powers
    ]
    features = [Feature((), none, coordinates)] if constant else []
    features += [Feature(monomial, none, coordinates) for monomial in monomials]
    for orders, name in itertools.product(derivatives, fields):
        features.append(Feature((((name, none), 1),), orders, coordinates))
    for orders, name, monomial in itertools.product(derivatives, fields, monomials):
        features.append(Feature((*monomial, ((name, orders), 1)), none, coordinates))
    return tuple(features)


def _check_usable(recordings: list[Recording]) -> None:
    first = recordings[0]
    for number, run in enumerate(recordings):
        if run.missing is not None:
            raise ValueError(
                f"recording {number} has missing values, which PySINDy's weak form cannot leave "
                "out: cut or fill them, or use sciml.discover, which drops the windows they touch"
            )
        same = run.shape == first.shape and all(
            np.allclose(values, first.coordinates[name]) for name, values in run.coordinates.items()
        )
        if not same:
            raise ValueError(
                f"recording {number} lies on another grid than the first; PySINDy's weak form has "
                "one grid: interpolate to it, or use sciml.discover, which takes any grids"
            )


@contextmanager
def _seeded(seed: int | None) -> Iterator[None]:
    """Seed NumPy's global generator, from which PySINDy draws, and put it back afterwards."""
    if seed is None:
        yield
        return
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
