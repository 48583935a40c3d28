"""What was found about the sources of a field, with error bars and honest words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sciml.powerlaw.blocks import log_primitive
from sciml.powerlaw.lack_of_fit import (
    ROUNDING,
    excess_over_noise,
    neighbor_correlation,
    neighbor_pairs,
)
from sciml.powerlaw.rounding import at_least_rounding
from sciml.powerlaw.separable_fit import SeparableFit
from sciml.powerlaw.source_model import SourceModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPONENT_BOUNDS = (-3.0, 3.0)
R_MIN = 1e-12
"""Share of the size of the region below which a point counts as the source itself."""
LOGARITHM = 1e-9
"""Exponents up to this are those of a logarithm, where no error says more."""
RANK = 1e-12
"""Relative size of a singular value of the scaled Jacobian that counts as zero."""

STATUSES = (
    "ok",
    "empty",
    "unidentifiable",
    "not_converged",
    "at_bound",
    "unresolved",
    "insignificant",
    "poor_fit",
    "saturated",
)


@dataclass(frozen=True, eq=False)
class SourceFit:
    """Result of :func:`sciml.powerlaw.fit_sources`: ``b + sum_j q_j psi(r_j, mu_j)``.

    Sources are sorted by their first coordinate. Standard errors are those of the Cramer-Rao bound
    at the fitted values; those of exponents that were given are 0.

    Attributes
    ----------
    centers, centers_error : ndarray, shape (J, d)
    exponents, exponents_error : ndarray, shape (J,)
    strengths, strengths_error : ndarray, shape (J,)
        ``q_j``.
    bias, bias_error : float
    noise : float
        Standard deviation of the values, as given (its mean) or estimated.
    relative_residual : float
    status : str
        ``"ok"``, or the gravest objection: ``"empty"`` (constant data: no source),
        ``"unidentifiable"`` (the data do not determine some of the numbers, which are NaN),
        ``"not_converged"``, ``"at_bound"``, ``"unresolved"`` (two sources nearer to each other
        than their errors allow), ``"insignificant"`` (a strength within three errors of zero),
        ``"poor_fit"`` (more is left over than the noise explains, or it has structure), or
        ``"saturated"`` (as many rows as unknowns: there is nothing to judge by, and errors are
        NaN if the noise is unknown).
    advice : tuple of str
        A sentence for every objection.
    x, residual : ndarray
        Points, and what is left over.
    """

    centers: NDArray
    exponents: NDArray
    strengths: NDArray
    bias: float
    centers_error: NDArray
    exponents_error: NDArray
    strengths_error: NDArray
    bias_error: float
    noise: float
    relative_residual: float
    status: str
    advice: tuple[str, ...]
    x: NDArray
    residual: NDArray
    length: float = 1.0
    """Unit of length of the fit, a power of two near half the size of the box."""
    _local: NDArray = field(default_factory=lambda: np.zeros(1), repr=False)
    """Bias and strengths in that unit: as the data determine them, without cancellation."""

    @classmethod
    def nothing(cls, x: NDArray, y: NDArray, wanted: int | None) -> SourceFit:
        """Result for constant data: no source, whatever was asked for."""
        dimension = x.shape[1]
        asked = "" if wanted is None else f", though {wanted} were asked for"
        none = np.zeros(0)
        return cls(
            centers=np.zeros((0, dimension)),
            exponents=none,
            strengths=none,
            bias=float(np.mean(y)),
            centers_error=np.zeros((0, dimension)),
            exponents_error=none,
            strengths_error=none,
            bias_error=0.0,
            noise=0.0,
            relative_residual=0.0,
            status="empty",
            advice=(f"the values are constant: there is no source{asked}",),
            x=x,
            residual=np.zeros(len(x)),
            _local=np.array([float(np.mean(y))]),
        )

    def times(self, unit: float) -> SourceFit:
        """The fit of values that are `unit` times as large."""
        if unit == 1.0:
            return self
        names = ("strengths", "strengths_error", "bias", "bias_error", "noise", "residual",
                 "_local")  # fmt: skip
        return replace(self, **{name: getattr(self, name) * unit for name in names})

    def predict(self, x: Any) -> NDArray:
        """Values of the fitted field.

        Parameters
        ----------
        x : array, shape (rows, d)

        Returns
        -------
        ndarray, shape (rows,)
            NaN if the fit has no numbers.

        Raises
        ------
        ValueError
            For points that are not finite or of another dimension, and for points nearer to a
            source than 1e-12 of the size of the fitted region, if its exponent is negative or that
            of a logarithm, within its error.
        """
        from sciml.powerlaw.points import check_points

        table = check_points(x, dimension=self.centers.shape[1])[0].cpu().numpy()
        points, centers = table / self.length, self.centers / self.length
        singular = self.exponents <= np.maximum(3.0 * self.exponents_error, LOGARITHM)
        for center, grows in zip(centers, singular, strict=True):
            gap = np.sqrt(np.sum((points - center) ** 2, axis=1))
            if grows and np.any(gap < R_MIN):
                raise ValueError(
                    f"x: {int(np.sum(gap < R_MIN))} of {len(x)} points lie within r_min="
                    f"{R_MIN * self.length:.3g} of the source at {(center * self.length).tolist()}"
                    ", where the field has no value: leave these points out"
                )
        model = SourceModel(points, len(self.exponents), self.exponents)
        columns, _ = model(centers.reshape(1, -1))
        return columns[0] @ self._local

    def table(self) -> list[dict[str, Any]]:
        """One row for each source: center, exponent and strength with their errors."""
        names = "xyz"[: self.centers.shape[1]]
        rows = []
        for j in range(len(self.exponents)):
            row: dict[str, Any] = {}
            for axis, name in enumerate(names):
                row[name] = float(self.centers[j, axis])
                row[f"{name} error"] = float(self.centers_error[j, axis])
            row["exponent"] = float(self.exponents[j])
            row["exponent error"] = float(self.exponents_error[j])
            row["strength"] = float(self.strengths[j])
            row["strength error"] = float(self.strengths_error[j])
            rows.append(row)
        return rows

    def __str__(self) -> str:
        names = [*"xyz"[: self.centers.shape[1]], "exponent", "strength"]
        lines = [f"{'source':>6}  " + "  ".join(f"{name:>22}" for name in names)]
        for j, row in enumerate(self.table()):
            cells = [
                f"{row[name]:.8g} +- "
                f"{_printed(name, row[name], row[f'{name} error'], self.length):.1e}"
                for name in names
            ]
            lines.append(f"{j + 1:>6}  " + "  ".join(f"{cell:>22}" for cell in cells))
        lines.append(
            f"bias {self.bias:.6g}, relative residual {self.relative_residual:.1e}, noise "
            f"{self.noise:.1e}, status {self.status}"
        )
        return "\n".join([*lines, *(f"  {sentence}" for sentence in self.advice)])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Map of the sources over what is left over; see `sciml.plotting.plot_sources`."""
        from sciml.plotting.sources import plot_sources

        return plot_sources(self, ax)


def _printed(name: str, value: float, error: float, length: float) -> float:
    given = name == "exponent" and error == 0.0
    unit = {"strength": 0.0, "exponent": 1.0}.get(name, length)
    return 0.0 if given else at_least_rounding(error, value, unit).real


def judge(
    fit: SeparableFit,
    exponents: NDArray,
    centers: NDArray,
    x: NDArray,
    y: NDArray,
    weights: NDArray | None,
    *,
    known_noise: bool,
    free: bool,
    length: float = 1.0,
) -> SourceFit:
    """Error bars and status of fitted sources; places are given in the unit `length`."""
    count, dimension = centers.shape
    residual = fit.residual if weights is None else fit.residual / weights
    rows, unknowns = fit.full_jacobian.shape
    spare = rows - unknowns if rows > unknowns else math.nan
    sigma = math.sqrt(float(np.sum(fit.residual**2)) / spare)
    covariance = fit.covariance(1.0 if known_noise else sigma)
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))  # NaN stays NaN
    weak = is_rank_deficient(fit.full_jacobian)
    at = 1 + count
    exponents_error = errors[at : at + count] if free else np.zeros(count)
    places_error = errors[at + (count if free else 0) :].reshape(count, dimension)
    found = {
        "centers": centers,
        "exponents": exponents,
        "strengths": fit.coefficients[1:],
        "centers_error": places_error,
        "exponents_error": exponents_error,
        "strengths_error": errors[1:at],
    }
    objections = _objections(fit, found, length) | _left_over(fit, x, known_noise)
    if weak:
        objections = {
            "unidentifiable": f"the data do not determine {count} sources: a strength vanishes, or "
            "two sources coincide; ask for fewer (sources='auto' finds how many)",
            **objections,
        }
        found = {name: np.full_like(values, np.nan) for name, values in found.items()}
    bias = float("nan") if weak else float(fit.coefficients[0])
    bias_error = float("nan") if weak else float(errors[0])
    local = np.concatenate([[bias], found["strengths"]])
    if length != 1.0 and not weak:
        linear, errors = _in_length(local, exponents, covariance, free, length)
        bias, bias_error = float(linear[0]), float(errors[0])
        found |= {"strengths": linear[1:], "strengths_error": errors[1:]}
    found |= {name: found[name] * length for name in ("centers", "centers_error")}
    order = np.lexsort(centers.T[::-1])
    status = next((word for word in STATUSES if word in objections), "ok")
    mean_noise = float(np.mean(1.0 / weights)) if known_noise and weights is not None else sigma
    return SourceFit(
        **{name: values[order] for name, values in found.items()},
        bias=bias,
        bias_error=bias_error,
        noise=mean_noise,
        relative_residual=float(fit.relative_residual),
        status=status,
        advice=tuple(objections.values()),
        x=x * length,
        residual=residual,
        length=length,
        _local=np.concatenate([local[:1], local[1:][order]]),
    )


def _in_length(
    local: NDArray, exponents: NDArray, covariance: NDArray, free: bool, length: float
) -> tuple[NDArray, NDArray]:
    """Bias and strengths, and their errors, of ``psi(r)`` from those of ``psi(r/length)``.

    ``psi(r/L, mu) = L^-mu psi(r, mu) + psi(1/L, mu)``, so that ``q = L^-mu q'`` and
    ``b = b' + sum q' psi(1/L, mu)`` (derived here); errors are carried on by the derivatives.
    """
    count = len(exponents)
    shrink = length**-exponents
    jet = log_primitive(np.full(count, 1.0 / length), exponents)
    strengths = local[1:]
    linear = np.concatenate([[local[0] + strengths @ jet.value], shrink * strengths])
    moves = np.zeros((1 + count, len(covariance)))
    moves[0, 0], moves[0, 1 : 1 + count] = 1.0, jet.value
    moves[1:, 1 : 1 + count] = np.diag(shrink)
    if free:
        at = slice(1 + count, 1 + 2 * count)
        moves[0, at] = strengths * jet.slopes[0]
        moves[1:, at] = np.diag(-math.log(length) * shrink * strengths)
    with np.errstate(over="ignore", invalid="ignore"):
        square = np.einsum("ik,kl,il->i", moves, covariance, moves)
    return linear, np.sqrt(np.maximum(square, 0.0))


def is_rank_deficient(jacobian: NDArray) -> bool:
    """Whether rows with this Jacobian leave some of the unknowns undetermined."""
    scale = np.linalg.norm(jacobian, axis=0)
    if not np.all(np.isfinite(scale)) or np.any(scale == 0.0):
        return True
    # A column far below the others moves the values by rounding errors only.
    if scale.min() < RANK * scale.max():
        return True
    singular = np.linalg.svd(jacobian / scale, compute_uv=False)
    return bool(singular[-1] < RANK * singular[0])


def _objections(fit: SeparableFit, found: dict[str, NDArray], length: float) -> dict[str, str]:
    """Status word to advice, for everything that is not as it should be."""
    objections: dict[str, str] = {}
    if not bool(fit.converged):
        objections["not_converged"] = (
            f"the iteration did not come to rest ({fit.message}): the values are those of its end"
        )
    if bool(np.any(fit.at_bound)):
        objections["at_bound"] = (
            "a center left the surroundings of the points, or an exponent reached "
            f"{EXPONENT_BOUNDS[0]:g} or {EXPONENT_BOUNDS[1]:g}: ask for fewer sources, or give "
            "exponents="
        )
    centers, errors = found["centers"], found["centers_error"]
    for j in range(len(centers)):
        for i in range(j):
            gap = float(np.linalg.norm(centers[j] - centers[i]))
            spread = float(np.hypot(np.linalg.norm(errors[j]), np.linalg.norm(errors[i])))
            if gap <= 4.0 * spread:
                objections["unresolved"] = (
                    f"two sources are {gap * length:.2g} apart with errors of "
                    f"{spread * length:.2g}: they may be one; less noise or "
                    "more points near them would tell"
                )
    strengths, deviations = found["strengths"], found["strengths_error"]
    faint = np.abs(strengths) <= 3.0 * deviations
    if np.any(faint):
        # Sources that make up a smooth field cancel, and no single one of them is needed.
        most = 2 * int(faint.sum()) >= len(faint)
        objections["insignificant"] = (
            f"{int(faint.sum())} of {len(faint)} strengths lie within three standard errors of "
            "zero: ask for fewer sources"
            + (", or there is something that is no source" if most else "")
        )
    return objections


def _left_over(fit: SeparableFit, x: NDArray, known_noise: bool) -> dict[str, str]:
    """Objections of the residual: larger than the noise, structured, or not there to judge by."""
    rows, unknowns = fit.full_jacobian.shape
    relative = float(fit.relative_residual)
    if rows <= unknowns:
        return {
            "saturated": f"{rows} rows for {unknowns} unknowns leave nothing to judge the fit by: "
            "give more points, or ask for fewer sources"
        }
    found = ""
    if known_noise:
        excess = excess_over_noise(float(np.sum(fit.residual**2)), rows - unknowns)
        if excess is not None:
            found = f"what is left over is {excess:.3g} times the noise"
    elif relative > ROUNDING:
        correlation = neighbor_correlation(fit.residual, neighbor_pairs(x))
        if correlation is not None:
            found = (
                f"what is left over (relative residual {relative:.2g}) is no noise: neighboring "
                f"points correlate by {correlation:.2f}"
            )
    if not found:
        return {}
    return {"poor_fit": f"{found}: there are more sources, or something that is no source"}
