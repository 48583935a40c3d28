"""One call from data to a fitted estimator."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone

from sciml.discovery.base import AbstractDiscoverer
from sciml.discovery.baselines import WeakLasso, WeakMSTLS, WeakSTLSQ
from sciml.discovery.best_subset import WhitenedBestSubset
from sciml.discovery.eqod import EqOD
from sciml.discovery.library import library_with_products
from sciml.discovery.recording import DiscoveryWarning

ESTIMATORS = {
    "whitened": WhitenedBestSubset,
    "eqod": EqOD,
    "lasso": WeakLasso,
    "stlsq": WeakSTLSQ,
    "mstls": WeakMSTLS,
}


def discover(
    data: Any,
    *,
    coords: Mapping[str, Any] | None = None,
    target: str | Sequence[str] | None = None,
    library: Any = None,
    estimator: str | AbstractDiscoverer = "whitened",
    random_state: int | None = 0,
    **parameters: Any,
) -> Any:
    """Find the partial differential equation behind a recording.

    Parameters
    ----------
    data : DataArray, Dataset, array, or list of these
        One or several recordings with dimensions ``time``, ``x`` (``y``) and possibly ``sample``;
        real or complex; NaN marks missing values. A list may hold recordings on different grids.
    coords : mapping, optional
        Coordinates of a plain array's axes, in axis order: ``{"x": x, "t": t}``.
    target : str or sequence of str, optional
        Fields whose equation is sought; all by default.
    library : Library, list of str, or None
        Candidate terms. By default powers of the fields and their derivatives
        (:class:`sciml.Library`); if no equation of these explains the data, products of
        derivatives are offered too. Or for instance ``["u_xx", "u*u_x"]`` or
        ``sciml.Library(extra=["u_x^2"])``.
    estimator : str or estimator, default "whitened"
        ``"whitened"`` (:class:`sciml.WhitenedBestSubset`); ``"eqod"`` (:class:`sciml.EqOD`);
        the baselines ``"lasso"``, ``"stlsq"``, ``"mstls"``. An estimator object is cloned and given
        the other arguments.
    random_state : int, default 0
        Seed of methods that draw random numbers.
    **parameters
        Further parameters of the estimator, such as ``periodic=True``.

    Returns
    -------
    estimator
        Fitted, with ``equation_``, ``terms_``, ``standard_errors_`` and the evidence.

    Raises
    ------
    ValueError
        If the data or a name cannot be used; the message says why and what helps.

    Examples
    --------
    >>> import numpy as np, sciml
    >>> x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
    >>> u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
    >>> model = sciml.discover(u, coords={"x": x, "t": t}, periodic=True)
    >>> model.terms_
    {'u': {'u_xx': 0.1...}}
    """
    if isinstance(estimator, AbstractDiscoverer):
        model: Any = clone(estimator)
        given = {
            "library": library,
            "target": target,
            **parameters,
        }
        model.set_params(**{key: value for key, value in given.items() if value is not None})
    else:
        if estimator not in ESTIMATORS:
            close = difflib.get_close_matches(str(estimator), ESTIMATORS, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"estimator must be one of {sorted(ESTIMATORS)} or an estimator, got "
                f"{estimator!r}{hint}"
            )
        model = ESTIMATORS[estimator](
            library=library, target=target, random_state=random_state, **parameters
        )
    if library is None and type(model) is WhitenedBestSubset and model.library is None:
        return _fit_widening(model, data, coords)
    return model.fit(data, coords=coords)


def _fit_widening(
    model: WhitenedBestSubset, data: Any, coords: Mapping[str, Any] | None
) -> WhitenedBestSubset:
    """Fit with the default library; if that does not explain the data, offer products as well."""
    with warnings.catch_warnings(record=True) as first_said:
        warnings.simplefilter("always")
        model.fit(data, coords=coords)
    said = first_said
    if not all(model.adequate_.values()):
        coordinates = model.coordinates_
        wider: Any = clone(model)
        wider.set_params(library=library_with_products(model.fields_, coordinates))
        with warnings.catch_warnings(record=True) as then_said:
            warnings.simplefilter("always")
            wider.fit(data, coords=coords)
        sizes = [len(support) for support in wider.support_.values()]
        if all(wider.adequate_.values()) and max(sizes) <= model.max_terms:
            model, said = wider, then_said
            warnings.warn(
                "the default library does not explain the data; with products of derivatives such "
                "as 'u_x^2' and '(u*v_x)_x' added it does",
                DiscoveryWarning,
                stacklevel=3,
            )
    for item in said:
        warnings.warn(item.message, item.category, stacklevel=3)
    return model
