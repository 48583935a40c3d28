"""Many independent corners, or many recordings about one, fitted as one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from sciml.powerlaw.kinds import warn_of_single_precision
from sciml.powerlaw.masked import refuse_masked
from sciml.powerlaw.wedge import WedgeFit
from sciml.powerlaw.wedge_arguments import check_wedge
from sciml.powerlaw.wedge_samples import WedgeSamples
from sciml.powerlaw.wedge_search import find_terms
from sciml.powerlaw.wedge_stack import share_designs


def fit_wedges(
    estimators: WedgeFit | Sequence[WedgeFit],
    arcs: Any,
    edges: Any = 60,
    W: float = 1.0,
    noise: float | None = None,
) -> list[WedgeFit]:
    """Fit many independent recordings about corners in shared Levenberg-Marquardt batches.

    Members whose rows and columns agree in number form one batch, whatever their angles, edge
    conditions and materials. Each comes out as from its own `WedgeFit.fit`.

    Parameters
    ----------
    estimators : WedgeFit or sequence of WedgeFit
        One for all recordings, of which each gets a copy; or one for each, which are fitted.
    arcs : tuple or sequence
        ``(theta, values)`` or ``(radius, theta, values)`` with values of shape ``(batch, n)`` for
        recordings at the same places; or a sequence with what `WedgeFit.fit` takes, one for each.
    edges : int, array_like, (radii, values) or None, default 60
        As in `WedgeFit.fit`. Measured values may have a leading axis, one table for each recording.
    W : float, default 1
        Weight of the edge rows.
    noise : float, optional
        Standard deviation of rows of weight 1.

    Returns
    -------
    list of WedgeFit

    Raises
    ------
    ValueError
        For numbers that do not agree, and as `WedgeFit.fit`, with the place of the recording.

    Examples
    --------
    >>> theta = np.linspace(0.0, 1.5 * np.pi, 100)
    >>> mode = np.sin(2 * theta / 3)
    >>> fits = fit_wedges(WedgeFit(1.5 * np.pi, "DD"), (theta, np.stack([mode, 3 * mode])))
    >>> [float(fit.exponents_[0].round(12)) for fit in fits], fits[1].status_
    ([0.666666666667, 0.666666666667], 'ok')

    Different corners:

    >>> fits = [WedgeFit(angle, "DD") for angle in (2.0, 4.0)]
    >>> share = np.linspace(0.0, 1.0, 50)
    >>> arcs = [(angle * share, np.sin(np.pi * share)) for angle in (2.0, 4.0)]
    >>> [float(fit.exponents_[0].round(6)) for fit in fit_wedges(fits, arcs)]
    [1.570796, 0.785398]
    """
    recordings = _recordings(arcs)
    fits = _members(estimators, len(recordings))
    tables = _edges(edges, len(recordings))
    groups: dict[tuple[Any, ...], list[tuple[WedgeFit, Any]]] = {}
    for place, (fit, arc, rows) in enumerate(zip(fits, recordings, tables, strict=True)):
        try:
            model = fit._prepare(arc, rows, W, noise)
        except ValueError as error:
            raise ValueError(f"recording {place}: {error}") from error
        if model is not None:
            order, bounds = check_wedge(fit.order, fit.bounds, fit.start)
            key = (order, bounds, fit.rtol, len(model.system.values), model.per_term,
                   model.constant)  # fmt: skip
            groups.setdefault(key, []).append((fit, model))
    if any(fit._samples[0]._single for fit in fits):
        warn_of_single_precision()
    for (order, bounds, rtol, *_), members in groups.items():
        models = share_designs([model for _, model in members])
        for (fit, model), (found, stopped) in zip(
            members, find_terms(models, order, bounds, rtol), strict=True
        ):
            fit._adopt(found, stopped, model, bounds)
    return fits


def _recordings(arcs: Any) -> list[Any]:
    """One arc for each recording."""
    if not isinstance(arcs, (tuple, list)) or not len(arcs):
        raise ValueError(
            f"arcs: got {type(arcs).__name__}, wanted (theta, values) with values (batch, n), or a "
            "sequence with an arc for each recording"
        )
    if not isinstance(arcs[0], (tuple, list, WedgeSamples)) and len(arcs) in (2, 3):
        *places, values = arcs
        refuse_masked("values", values)
        table = np.asarray(values)
        if table.ndim != 2 or not len(table):
            raise ValueError(
                f"arcs: values have shape {table.shape}, wanted (batch, n) with at least one "
                "recording; one recording is for WedgeFit.fit"
            )
        return [(*places, row) for row in table]
    return list(arcs)


def _members(estimators: Any, count: int) -> list[WedgeFit]:
    """An estimator of its own for each recording."""
    if isinstance(estimators, WedgeFit):
        copies: Any = [clone(estimators) for _ in range(count)]
        return copies
    fits = list(estimators)
    odd = next((fit for fit in fits if not isinstance(fit, WedgeFit)), None)
    if odd is not None:
        raise ValueError(f"estimators hold {odd!r}, wanted WedgeFit")
    if len(fits) != count:
        raise ValueError(
            f"estimators: {len(fits)} for {count} recordings, wanted one for each, or one for all"
        )
    if len({id(fit) for fit in fits}) < count:
        raise ValueError("estimators: one appears twice, wanted one for each recording")
    return fits


def _edges(edges: Any, count: int) -> list[Any]:
    """Edge rows of each recording."""
    if isinstance(edges, tuple) and len(edges) == 2 and np.ndim(edges[1]) == 3:
        radii, tables = edges
        if len(tables) != count:
            raise ValueError(
                f"edges: {len(tables)} tables of values for {count} recordings, wanted as many"
            )
        return [(radii, table) for table in tables]
    return [edges] * count
