"""The default estimator: exhaustive search on whitened rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sciml.discovery.base import AbstractDiscoverer
from sciml.discovery.evidence import (
    TRAVELING_WAVE,
    Rival,
    find_rivals,
    noise_limits,
    residual_growth,
    verdict,
)
from sciml.discovery.result import PathStep, Selection
from sciml.discovery.subset_search import tempered_ebic
from sciml.discovery.symmetry import (
    GATE,
    STRUCTURES,
    allowed_columns,
    homogeneity_statistic,
    symmetry_report,
)
from sciml.discovery.terms import Feature
from sciml.discovery.whitened_fit import (
    Assembled,
    EquationFit,
    beyond_noise,
    misfits,
    whitened_best_subset,
)


class WhitenedBestSubset(AbstractDiscoverer):
    """Equation discovery by best subset on whitened weak-form rows.

    The covariance of the residual is computed exactly to first order in the noise; all supports of
    up to five terms are compared on whitened rows; the size is chosen by a tempered EBIC; the
    coefficients are corrected for noise in the features and carry standard errors; rival equations
    are listed where the data cannot decide.

    Parameters
    ----------
    library : Library, list of str, or None
        Candidate terms; see :class:`sciml.Library` for the default.
    target : str or sequence of str, optional
        Fields whose equation is sought; all by default.
    periodic : bool or sequence of str, optional
        Which space axes wrap around; by default the coordinates' attribute ``periodic`` decides.
    max_terms : int, default 5
        Largest equation in the first place; larger ones are tried while the largest one wins.
    symmetry : str, default "report"
        ``"report"`` only tests structures; the name of one of them (``"galilean"``,
        ``"conservation"``, ``"even_parity"``, ``"odd_parity"``, ``"sign"``, ``"linear"``)
        restricts the library to it if the data are compatible.
    half_widths : sequence of int, optional
        Half-width of the windows along each axis in grid points, time last; from the spectrum by
        default.
    known : mapping, optional
        Terms whose coefficients are known, ``{"u_xx": 0.1}`` or ``{"u": {"u_xx": 0.1}}``; they are
        part of the equation but not sought.
    backend : {"numpy", "torch"}, default "numpy"
        Where features and covariances are computed, in double precision.
    device : str, optional
        Torch device, such as ``"cuda"``.
    time_order : {1, 2}, default 1
        Order of the time derivative on the left-hand side; 2 finds ``u_tt = ...``.
    random_state : int, default 0
        Kept for a common interface; this estimator draws no random numbers.

    Attributes
    ----------
    equation_ : pdes.Equation
        The found equation(s).
    terms_, standard_errors_ : dict
        Field -> canonical term -> coefficient or standard error.
    cov_ : dict of str to ndarray
        Covariance of the coefficients.
    chi2_ : dict of str to float
        Residual over its expectation, near 1 if the equation holds; for data without noise the
        squared residual relative to a discretization allowance of 0.3 percent.
    adequate_ : dict of str to bool
        Whether the equation explains the data.
    path_ : dict of str to list of PathStep
        Best equation of every size.
    rivals_, identifiability_, symmetry_ : dict
        Evidence.
    noise_estimate_ : dict of str to float
        Standard deviation of the noise of each field.

    Examples
    --------
    >>> import numpy as np
    >>> x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
    >>> u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
    >>> model = WhitenedBestSubset(periodic=True).fit(u, coords={"x": x, "t": t})
    >>> model.equations()
    ['u_t = 0.1000*u_xx']
    """

    def __init__(
        self,
        library: Any = None,
        *,
        target: str | Sequence[str] | None = None,
        periodic: bool | Sequence[str] | None = None,
        max_terms: int = 5,
        symmetry: str = "report",
        half_widths: Sequence[int] | None = None,
        known: Mapping[str, Any] | None = None,
        backend: str = "numpy",
        device: str | None = None,
        time_order: int = 1,
        random_state: int | None = 0,
    ) -> None:
        self.library = library
        self.target = target
        self.periodic = periodic
        self.max_terms = max_terms
        self.symmetry = symmetry
        self.half_widths = half_widths
        self.known = known
        self.backend = backend
        self.device = device
        self.time_order = time_order
        self.random_state = random_state

    def _select(self, assembled: Assembled, features: tuple[Feature, ...]) -> Selection:
        if not isinstance(self.max_terms, (int, np.integer)) or self.max_terms < 1:
            raise ValueError(f"max_terms must be a positive whole number, got {self.max_terms!r}")
        if self.time_order not in (1, 2):
            raise ValueError(f"time_order must be 1 or 2, got {self.time_order!r}")
        if self.symmetry != "report" and self.symmetry not in STRUCTURES:
            raise ValueError(
                f"symmetry must be 'report' or one of {sorted(STRUCTURES)}, got {self.symmetry!r}"
            )
        fit = whitened_best_subset(assembled, self.max_terms)
        report = symmetry_report(fit.system, features, fit.floor)
        columns = list(range(len(features)))
        if self.symmetry != "report" and self.symmetry not in report.tests:
            raise ValueError(
                f"symmetry {self.symmetry!r} cannot be tested on this library; those that can are "
                f"{sorted(report.tests)} (the Galilean one needs a single field and no factor that "
                "depends on position)"
            )
        if self.symmetry != "report" and report.tests[self.symmetry].holds:
            columns = allowed_columns(features, self.symmetry)
            fit = whitened_best_subset(assembled.restricted(columns), self.max_terms)
            report = type(report)(report.tests, self.symmetry)
        rivals = find_rivals(fit)
        offered = tuple(features[k] for k in columns)
        notices, adequate = self._notices(assembled.restricted(columns), offered, fit, rivals)
        return Selection(
            support=tuple(columns[k] for k in fit.support),
            coefficients=fit.coefficients,
            covariance=fit.covariance,
            chi2=fit.chi2,
            adequate=adequate,
            notices=tuple(notices),
            traveling_wave=_is_traveling_wave(fit, offered),
            path=_path(fit, [features[k].name for k in columns]),
            rivals=tuple(
                Rival(
                    columns[rival.without],
                    tuple(columns[k] for k in rival.support),
                    rival.coefficients,
                    rival.ratio,
                )
                for rival in rivals
            ),
            symmetry=report,
            growth=residual_growth(fit),
            noise_limits=None if fit.clean else noise_limits(fit),
        )

    def _notices(
        self,
        assembled: Assembled,
        features: tuple[Feature, ...],
        fit: EquationFit,
        rivals: list[Rival],
    ) -> tuple[list[str], bool]:
        """What a careful reader should know, and whether the equation explains the data."""
        notices = []
        adequate = True
        if not fit.support:
            notices.append(
                "no term explains the data better than none: the noise hides how the field moves, "
                "a term is missing, or the equation is of second order in time (time_order=2)"
            )
            return notices, False
        if misfits(fit):
            adequate = False
            notices.append(_misfit_notice(fit))
        elif not fit.clean and beyond_noise(fit):
            notices.append(
                f"the residual is {fit.chi2:.2f} times what white noise explains: the noise may "
                "depend on the field or be correlated, or the grid is coarse; the standard errors "
                "are widened accordingly"
            )
        for axis, statistic in drift_statistics(assembled, fit).items():
            if statistic > GATE:
                adequate = False
                notices.append(
                    f"the coefficients change along {axis} (F = {statistic:.0f}, at most "
                    f"{GATE:.0f} expected): the equation probably depends on {axis} explicitly "
                    "and lies outside the library; try terms such as 'x*u_x' or 'u_x/x'"
                )
        if len(fit.support) > fit.result.exhaustive_size:
            notices.append(
                "not all supports were compared, there are too many: a beam search was used, and a "
                "better equation may exist"
            )
        word = verdict(min(rival.ratio for rival in rivals))
        if word != "identified":
            notices.append(
                f"the equation is {word}ly identified: other equations explain the data almost as "
                "well (see rivals_); more varied initial fields or more recordings would decide"
                if word == "weak"
                else "the equation is ambiguous: other equations explain the data just as well "
                "(see rivals_); more varied initial fields or more recordings would decide"
            )
        if _is_traveling_wave(fit, features):
            notices.append(
                "the field moves at one speed without changing shape: any equation with this "
                "traveling wave fits, so u_t = -c*u_x may stand for another one"
            )
        if not fit.clean and not fit.corrected:
            notices.append(
                "the noise is too strong to correct the coefficients for it: they are biased "
                "toward zero"
            )
        return notices, adequate


def _misfit_notice(fit: EquationFit) -> str:
    if fit.clean:
        relative = np.sqrt(fit.chi2) * fit.floor
        return (
            f"the residual is {relative:.2%} of the time derivative, more than discretization "
            f"explains ({fit.floor:.1%}): a term outside the library, a coefficient that depends "
            "on position, or a coarse grid"
        )
    return (
        f"the residual is {fit.chi2:.2f} times what the noise explains: the equation is probably "
        "outside the library (a missing term, a coefficient that depends on position, a forcing), "
        "or the noise is not white"
    )


def _is_traveling_wave(fit: EquationFit, features: tuple[Feature, ...]) -> bool:
    """Whether the field is one profile that moves: then up to four other terms fit as well."""
    if len(fit.support) != 1:
        return False
    lone = features[fit.support[0]]
    if lone.degree() != 1 or sum(lone.outer) != 1 or lone.weight != "1":
        return False
    base = fit.floor**2 * fit.system.square + 1e-300
    _, chosen = fit.system.solve(fit.support)
    _, rival = fit.result.best_without(fit.support[0], 4)
    return rival + base < TRAVELING_WAVE * (chosen + base)


def drift_statistics(assembled: Assembled, fit: EquationFit) -> dict[str, float]:
    """F statistics for coefficients that drift along each axis.

    Parameters
    ----------
    assembled : Assembled
        The regression.
    fit : EquationFit
        The chosen equation.

    Returns
    -------
    dict of str to float
        Axis -> statistic; periodic axes are left out, since position has no meaning there.
    """
    columns = list(fit.support)
    runs = assembled.weak_forms
    names = (*runs[0].recording.space, "t")
    out = {}
    for axis, name in enumerate(names):
        if axis < len(names) - 1 and runs[0].recording.periodic[axis]:
            continue
        blocks = []
        for weak, matrix in zip(runs, assembled.matrices, strict=True):
            where = weak.center_positions(axis)
            spread = float(np.std(where)) or 1.0
            blocks.append(matrix[:, columns] * ((where - where.mean()) / spread)[:, None])
        features, left, drifts = assembled.whitened_with(fit, blocks)
        out[name] = homogeneity_statistic(features[:, columns], left, drifts, fit.floor)
    return out


def _path(fit: EquationFit, names: list[str]) -> tuple[PathStep, ...]:
    system = fit.system
    return tuple(
        PathStep(
            size=size,
            terms=tuple(names[k] for k in support),
            residual=residual / system.square,
            score=tempered_ebic(residual, size, system.size, system.rows, system.square, fit.floor),
        )
        for size, (support, residual) in enumerate(fit.result.best)
    )
