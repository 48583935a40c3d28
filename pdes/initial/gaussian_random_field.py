"""Gaussian random fields with the covariance of an inverse power of the Laplacian."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pdes.grid import Grid
from pdes.initial.modes import ModeAxis, draw, synthesize, wavenumbers_squared


def gaussian_random_field(
    shape: int | Sequence[int],
    *,
    tau: float,
    alpha: float,
    sigma: float = 1.0,
    boundary: str | Sequence[str] = "periodic",
    lengths: float | Sequence[float] = 1.0,
    centered: bool = False,
    zero_mean: bool = True,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw one field from ``N(0, sigma^2 (-laplacian + tau^2)^-alpha)`` on a box.

    Expansion in the eigenfunctions of the Laplacian, orthonormal over the box (Karhunen-Loeve):
    the coefficient of the mode of wave number ``k`` has the variance
    ``sigma^2 (k^2 + tau^2)^-alpha``. The numbers are drawn from low modes to high ones, so that the
    same generator on a finer grid gives the same field with more detail.

    Parameters
    ----------
    shape : int or sequence of int
        Points along each axis: without the end on a periodic axis, with both ends otherwise, or
        cells if `centered`.
    tau : float
        Inverse length scale, at least 0.
    alpha : float
        Decay; more than half the dimension, else the variance at a point is infinite.
    sigma : float, default 1
        Amplitude.
    boundary : {"periodic", "dirichlet", "neumann"} or one for each axis
        Fourier modes, sines or cosines.
    lengths : float or sequence of float, default 1
        Length of each axis.
    centered : bool, default False
        Evaluate at the centers of equal cells instead.
    zero_mean : bool, default True
        Leave out the constant mode. Must hold for ``tau=0``.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape `shape`, float64

    Raises
    ------
    ValueError
        If a parameter makes the covariance infinite or undefined.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = gaussian_random_field(65, tau=5, alpha=2, sigma=25, boundary="dirichlet", rng=rng)
    >>> u.shape, float(u[0]), float(u[-1])
    ((65,), 0.0, 0.0)
    """
    shape = (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)
    boundaries = (boundary,) * len(shape) if isinstance(boundary, str) else tuple(boundary)
    sizes = (
        (float(lengths),) * len(shape)
        if isinstance(lengths, int | float)
        else tuple(float(length) for length in lengths)
    )
    if not len(shape) == len(boundaries) == len(sizes):
        raise ValueError(
            f"shape has {len(shape)} axes, boundary {len(boundaries)} and lengths {len(sizes)}: "
            "give one entry for each axis"
        )
    axes = tuple(
        ModeAxis(kind, points, length, centered)
        for kind, points, length in zip(boundaries, shape, sizes, strict=True)
    )
    variances = mode_variances(axes, tau=tau, alpha=alpha, sigma=sigma, zero_mean=zero_mean)
    return synthesize(axes, np.sqrt(variances) * draw(axes, rng))


def mode_variances(
    axes: tuple[ModeAxis, ...], *, tau: float, alpha: float, sigma: float, zero_mean: bool = True
) -> np.ndarray:
    """Variance of the coefficient of every mode, ``sigma^2 (k^2 + tau^2)^-alpha``.

    Parameters
    ----------
    axes : tuple of ModeAxis
        One for each dimension.
    tau, alpha, sigma, zero_mean
        See `gaussian_random_field`.

    Returns
    -------
    ndarray, one dimension for each axis

    Raises
    ------
    ValueError
        If a parameter makes the covariance infinite or undefined.
    """
    dimension = len(axes)
    if not (math.isfinite(alpha) and alpha > dimension / 2):
        raise ValueError(
            f"alpha={alpha} in {dimension}D: the sum of the variances diverges; wanted more than "
            f"half the dimension, alpha > {dimension / 2:g}"
        )
    if not (math.isfinite(tau) and tau >= 0.0 and math.isfinite(sigma) and sigma > 0.0):
        raise ValueError(f"tau={tau}, sigma={sigma}: wanted finite tau >= 0 and sigma > 0")
    squares = wavenumbers_squared(axes)
    constant = squares == 0.0
    if tau == 0.0 and not zero_mean and constant.any():
        raise ValueError("tau=0 gives the constant mode infinite variance: leave zero_mean=True")
    shifted = np.where(constant & (tau == 0.0), 1.0, squares + tau**2)
    variances = sigma**2 * shifted**-alpha
    return np.where(constant & zero_mean, 0.0, variances)


@dataclass(frozen=True, kw_only=True)
class GaussianRandomField:
    """Family of initial fields ``mean + N(0, sigma^2 (-laplacian + tau^2)^-alpha)``.

    Parameters
    ----------
    alpha : float
        Decay; more than half the dimension.
    tau : float
        Inverse length scale, at least 0.
    sigma : float, default 1
        Amplitude. `Burgers data of the Fourier neural operator` take ``alpha=2, tau=5, sigma=25``.
    boundary : str or mapping of axis name to str, optional
        ``"periodic"``, ``"dirichlet"`` or ``"neumann"``. By default periodic on periodic axes;
        other axes must be named.
    zero_mean : bool, default True
        Leave out the constant mode.
    mean : float, default 0
        Added to the field.
    fields : tuple of str, default ("u",)
        One independent draw for each, in this order.

    Examples
    --------
    >>> from pdes import Grid
    >>> family = GaussianRandomField(alpha=2.0, tau=5.0, sigma=25.0)
    >>> grid = Grid.periodic(x=(0.0, 1.0, 64))
    >>> u = family(grid, np.random.default_rng(0))["u"]
    >>> u.shape, round(abs(float(u.mean())), 12)
    ((64,), 0.0)
    """

    alpha: float
    tau: float
    sigma: float = 1.0
    boundary: str | Mapping[str, str] | None = None
    zero_mean: bool = True
    mean: float = 0.0
    fields: tuple[str, ...] = ("u",)

    def __post_init__(self) -> None:
        # What depends on the dimension is refused on the grid.
        wanted = {
            "alpha": (self.alpha > 0.0, "above half the dimension"),
            "tau": (self.tau >= 0.0, "at least 0"),
            "sigma": (self.sigma > 0.0, "above 0"),
            "mean": (True, "of any size"),
        }
        for name, (right, what) in wanted.items():
            value = getattr(self, name)
            if not (right and math.isfinite(value)):
                raise ValueError(
                    f"GaussianRandomField: {name}={value!r}, wanted a finite number {what}"
                )

    def __call__(self, grid: Grid, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Draw one field for each name, each of the grid's shape."""
        axes = self.axes(grid)
        scale = np.sqrt(self.variances(grid))
        return {name: self.mean + synthesize(axes, scale * draw(axes, rng)) for name in self.fields}

    def axes(self, grid: Grid) -> tuple[ModeAxis, ...]:
        """Basis of each axis of a grid."""
        return tuple(ModeAxis(self._kind(axis), axis.points, axis.length) for axis in grid.axes)

    def variances(self, grid: Grid) -> np.ndarray:
        """Variance of the coefficient of every mode on a grid."""
        return mode_variances(
            self.axes(grid),
            tau=self.tau,
            alpha=self.alpha,
            sigma=self.sigma,
            zero_mean=self.zero_mean,
        )

    def _kind(self, axis) -> str:
        given = self.boundary
        kind = given if isinstance(given, str) or given is None else given.get(axis.name)
        if kind is None and axis.periodic:
            return "periodic"
        if kind is None:
            raise ValueError(
                f"axis {axis.name!r} is not periodic: say boundary='dirichlet' or 'neumann'"
            )
        if (kind == "periodic") != axis.periodic:
            raise ValueError(
                f"boundary={kind!r} on axis {axis.name!r}, which is "
                f"{'periodic' if axis.periodic else 'not periodic'}: change one of them"
            )
        return kind
