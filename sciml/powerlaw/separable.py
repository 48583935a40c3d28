"""A network of power laws as a separable least-squares problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from sciml.powerlaw.points import check_points
from sciml.powerlaw.polar import position
from sciml.powerlaw.separable_fit import SeparableFit, SparseDerivatives
from sciml.powerlaw.varpro import variable_projection

if TYPE_CHECKING:
    from sciml.powerlaw.network import AbstractPowerLaw

REACH = 1.5
"""Centers may lie in the box of the points, enlarged by this factor about its middle."""


@dataclass(frozen=True, eq=False)
class SeparableNetwork:
    """Columns of a network as functions of its exponents and centers.

    Call it with parameters of shape ``(batch, p)``: all exponents, then the coordinates of moving
    centers.

    Attributes
    ----------
    network : AbstractPowerLaw
        Where the columns come from; calling leaves it as it is.
    x : Tensor, shape (rows, d), float64
    start, lower, upper : Tensor, shape (p,), float64
        Present parameters and their bounds.
    """

    network: AbstractPowerLaw
    x: Tensor
    start: Tensor
    lower: Tensor
    upper: Tensor

    @classmethod
    def of(cls, network: AbstractPowerLaw, x: Any) -> SeparableNetwork:
        """Make one for points; see :meth:`AbstractPowerLaw.to_varpro`."""
        x, _, _ = check_points(x, dimension=network.dimension)
        start, lower, upper = [], [], []
        for family, _ in network._families():
            mu = family.exponents().detach().to(x)
            low, high = family.exponents.bounds
            start.append(mu)
            lower.append(torch.full_like(mu, low))
            upper.append(torch.full_like(mu, high))
        if network.centers is not None:
            centers = network.centers.detach().to(x)
            low, high = center_box(x)
            start.append(centers.reshape(-1))
            lower.append(low.expand_as(centers).reshape(-1))
            upper.append(high.expand_as(centers).reshape(-1))
        empty = x.new_zeros(0)
        return cls(network, x, *(torch.cat([empty, *part]) for part in (start, lower, upper)))

    def __call__(self, parameters: Tensor) -> tuple[Tensor, SparseDerivatives]:
        """Columns ``(batch, rows, n)`` and their derivatives in the parameters."""
        batch, rows = parameters.shape[0], self.x.shape[0]
        network = self.network
        centers = self._centers(parameters)
        places = [position(self.x, center) for center in centers]
        columns, values, which, column = [], [], [], []
        first, at = 0, 0
        if network.bias is not None:
            columns.append(self.x.new_ones((batch, rows, 1)))
            first = 1
        for family, center in network._families():
            count, repeat = family.coefficients.shape
            mu = parameters[:, None, at : at + count]
            slopes = family.slopes(places[center], mu).expand(batch, rows, -1)
            values.append(slopes.transpose(-1, -2))
            which += [at + k // repeat for k in range(count * repeat)]
            column += range(first, first + count * repeat)
            if network.centers is None:
                columns.append(family.values(places[center], mu).expand(batch, rows, -1))
            else:
                found = family.columns(places[center], mu)
                columns.append(found.values.expand(batch, rows, -1))
                self._move(found.gradients, center, first, values, which, column)
            first, at = first + count * repeat, at + count
        table = torch.cat(values, 1) if values else self.x.new_zeros((batch, 0, rows))
        return torch.cat(columns, -1), SparseDerivatives(table, tuple(which), tuple(column))

    def _move(
        self,
        gradients: Tensor,
        center: int,
        first: int,
        values: list[Tensor],
        which: list[int],
        column: list[int],
    ) -> None:
        """Derivatives in the center: the gradient with its sign turned."""
        offset = sum(len(family.exponents.raw) for family, _ in self.network._families())
        count, dimension = gradients.shape[-2:]
        values.append(-gradients.flatten(-2).transpose(-1, -2))
        which += [
            offset + center * dimension + axis for _ in range(count) for axis in range(dimension)
        ]
        column += [first + k for k in range(count) for _ in range(dimension)]

    def _centers(self, parameters: Tensor) -> list[Tensor | None]:
        if self.network.centers is None:
            return [None]
        count, dimension = self.network.centers.shape
        table = parameters[:, parameters.shape[1] - count * dimension :]
        return list(table.reshape(-1, count, 1, dimension).unbind(1))

    @torch.no_grad()
    def write(self, parameters: Tensor, coefficients: Tensor) -> None:
        """Put parameters and coefficients into the network.

        Raises
        ------
        ValueError
            If an exponent map cannot give the exponents.
        """
        network, at, first = self.network, 0, 0
        if network.bias is not None:
            network.bias.copy_(coefficients[:1])
            first = 1
        for family, _ in network._families():
            count, repeat = family.coefficients.shape
            family.exponents.set(parameters[at : at + count])
            part = coefficients[first : first + count * repeat]
            family.coefficients.copy_(part.reshape(count, repeat))
            at, first = at + count, first + count * repeat
        if network.centers is not None:
            network.centers.copy_(parameters[at:].reshape(network.centers.shape))

    def random_starts(self, count: int, generator: torch.Generator) -> Tensor:
        """The present parameters, and stratified draws: one exponent in each bin of its range.

        Returns
        -------
        Tensor, shape (count, p)
        """
        starts = [self.start]
        for _ in range(count - 1):
            parts = [self.x.new_zeros(0)]
            for family, _ in self.network._families():
                low, high = family.exponents.bounds
                bins = len(family.exponents.raw)
                draw = torch.rand(bins, generator=generator, dtype=torch.float64)
                share = (torch.arange(bins, dtype=torch.float64) + draw) / max(bins, 1)
                parts.append((low + (high - low) * share).to(self.x))
            if self.network.centers is not None:
                low, high = self.x.amin(0), self.x.amax(0)
                draw = torch.rand(
                    self.network.centers.shape, generator=generator, dtype=torch.float64
                )
                parts.append((low + (high - low) * draw.to(self.x)).reshape(-1))
            starts.append(torch.cat(parts))
        return torch.stack(starts)


def center_box(x: Tensor) -> tuple[Tensor, Tensor]:
    """Corners of the box of the points, enlarged by `REACH` about its middle."""
    low, high = x.amin(0), x.amax(0)
    middle, half = 0.5 * (low + high), 0.5 * REACH * (high - low)
    return middle - half, middle + half


def fit_network(
    network: AbstractPowerLaw,
    x: Any,
    y: Any,
    *,
    weights: Any = None,
    starts: int = 1,
    random_state: int = 0,
    rtol: float = 1e-15,
) -> SeparableFit:
    """Fit a network by variable projection in float64, and write the best start's result into it.

    Parameters
    ----------
    network : AbstractPowerLaw
        Changed in place.
    x : array or Tensor, shape (rows, d)
    y : array or Tensor, shape (rows,) or (rows, 1)
    weights : array, shape (rows,), optional
        Rows are multiplied by it.
    starts : int, default 1
        The present exponents are the first start; the others are stratified random.
    random_state : int, default 0
        Of the starts.
    rtol : float, default 1e-15
        Relative length of the last step.

    Returns
    -------
    SeparableFit
        Of the best start.

    Raises
    ------
    ValueError
        For data that are not finite, of unequal length, or too few.

    Examples
    --------
    >>> from sciml.powerlaw import RMNDirect
    >>> x = torch.rand(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.1
    >>> model = RMNDirect(2, K=1, log_term=False).double()
    >>> fit = fit_network(model, x, 3.0 * x.norm(dim=1).sqrt(), starts=4)
    >>> model.exponents(), fit.converged.item()
    (tensor([0.5000], ...), True)
    """
    x, y, weights = check_points(x, y, weights, dimension=network.dimension)
    form = SeparableNetwork.of(network, x)
    generator = torch.Generator().manual_seed(random_state)
    fit = variable_projection(
        form,
        y,
        form.random_starts(starts, generator),
        lower=form.lower,
        upper=form.upper,
        weights=weights,
        rtol=rtol,
    ).best()
    form.write(fit.parameters, fit.coefficients)
    return fit
