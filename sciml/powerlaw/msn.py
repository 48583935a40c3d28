"""Layers whose edges are sums of powers of their input."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from sciml.nn.model_registry import register_model
from sciml.powerlaw.exponent_maps import ExponentMapName, Exponents
from sciml.powerlaw.network import Block, ValueGradLap, check_count, check_tensor

RANGE = (0.0, 4.0)
"""Exponents, unless told otherwise (arXiv:2512.22222)."""


class MuntzLayer(nn.Module):
    """``y_j = c_j + sum_i [sum_k a_ijk abs(x_i)^(mu_k) + sum_k b_ijk sgn(x_i) abs(x_i)^(lam_k)]``.

    Parameters
    ----------
    inputs, outputs : int
        Widths.
    K_e, K_o : int
        Even and odd powers; their exponents are shared by all edges of the layer.
    bounds : pair of float
        Of the exponents.
    exponent_map : str
        See :class:`~sciml.powerlaw.exponent_maps.Exponents`.
    generator : torch.Generator, optional
        Draws exponents, and coefficients from ``0.02 N(0, 1)``.

    Examples
    --------
    >>> layer = MuntzLayer(1, 1, 1, 0, (0.0, 2.0), "identity")
    >>> layer.even.set([0.5])
    >>> _ = layer.even_coefficients.data.fill_(3.0)
    >>> layer(torch.tensor([[-4.0]])).item()
    6.0
    """

    even: Exponents
    odd: Exponents
    even_coefficients: nn.Parameter
    odd_coefficients: nn.Parameter
    bias: nn.Parameter

    def __init__(
        self,
        inputs: int,
        outputs: int,
        K_e: int,
        K_o: int,
        bounds: Sequence[float],
        exponent_map: ExponentMapName,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.even = Exponents(K_e, bounds, map=exponent_map, generator=generator)
        self.odd = Exponents(K_o, bounds, map=exponent_map, generator=generator)
        kind = torch.get_default_dtype()
        for name, count in (("even_coefficients", K_e), ("odd_coefficients", K_o)):
            start = 0.02 * torch.randn(outputs, inputs, count, generator=generator)
            setattr(self, name, nn.Parameter(start.to(kind)))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def powers(self, x: Tensor, lower: int = 0) -> tuple[Tensor, Tensor]:
        """Even and odd powers of the inputs, or their derivatives of order ``lower`` 1 or 2.

        Parameters
        ----------
        x : Tensor, shape (..., inputs)
        lower : {0, 1, 2}
            Order of the derivative; 0 is put at inputs of exactly 0.

        Returns
        -------
        even, odd : Tensor, shapes (..., inputs, K_e) and (..., inputs, K_o)
        """
        size, sign = x.abs()[..., None], torch.sign(x)[..., None]
        away = size != 0.0  # NaN is away: it must come out again
        # Through the logarithm: one for all powers, where `**` takes one for each, and again
        # for each in the backward pass.
        log = torch.log(torch.where(away, size, torch.ones_like(size)))
        found = []
        for exponents, odd in ((self.even(), False), (self.odd(), True)):
            values = torch.exp((exponents - lower) * log)
            if lower == 0:
                center = (exponents == 0.0).to(values)
            else:
                center = torch.zeros_like(exponents)
                values = (exponents if lower == 1 else exponents * (exponents - 1.0)) * values
            values = torch.where(away, values, center)
            # Every derivative turns an even function into an odd one and back.
            found.append(values * sign if odd == (lower % 2 == 0) else values)
        return found[0], found[1]

    def combine(self, even: Tensor, odd: Tensor) -> Tensor:
        """Sum over the powers: what each edge makes of its input, shape (..., inputs, outputs)."""
        first = torch.einsum("...ik,jik->...ij", even, self.even_coefficients)
        return first + torch.einsum("...ik,jik->...ij", odd, self.odd_coefficients)

    def forward(self, x: Tensor) -> Tensor:
        """Shape (..., inputs) to (..., outputs)."""
        return self.combine(*self.powers(x)).sum(-2) + self.bias


@register_model
class MSN(nn.Module):
    """Müntz-Szász network: layers of power-law edges with tanh in between.

    Parameters
    ----------
    widths : sequence of int, default (1, 8, 8, 1)
        Of the layers; the first is the dimension of space, the last must be 1.
    K_e, K_o : int, default 6
        Even and odd powers of each edge.
    bounds : pair of float, default (0, 4)
        Of the exponents.
    exponent_map : str, default "sorted_sigmoid"
        See :class:`~sciml.powerlaw.exponent_maps.Exponents`.
    generator : torch.Generator, optional
        Draws the start.

    References
    ----------
    Müntz-Szász networks, arXiv:2512.22222.

    Examples
    --------
    >>> model = MSN(generator=torch.Generator().manual_seed(0))
    >>> sum(p.numel() for p in model.parameters()), model(torch.ones(3, 1)).shape
    (1013, torch.Size([3, 1]))
    """

    def __init__(
        self,
        widths: Sequence[int] = (1, 8, 8, 1),
        K_e: int = 6,
        K_o: int = 6,
        *,
        bounds: Sequence[float] = RANGE,
        exponent_map: ExponentMapName = "sorted_sigmoid",
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        sizes = [check_count("widths", width, 1) for width in widths]
        if len(sizes) < 2 or sizes[-1] != 1:
            raise ValueError(
                f"widths: got {sizes}, wanted two or more, from the dimension of space to 1"
            )
        check_count("K_e", K_e, 0)
        check_count("K_o", K_o, 0 if K_e else 1)
        self.dimension = sizes[0]
        self.layers = nn.ModuleList(
            MuntzLayer(inputs, outputs, K_e, K_o, bounds, exponent_map, generator)
            for inputs, outputs in pairwise(sizes)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Values of the field, shape (..., d) to (..., 1)."""
        return self.layers[-1](self.features(x))

    def features(self, x: Tensor) -> Tensor:
        """What enters the last layer, shape (..., width)."""
        check_tensor(x, self.dimension, next(self.parameters()))
        for layer in self.layers[:-1]:
            x = torch.tanh(layer(x))
        return x

    def value_grad_lap(self, x: Tensor) -> ValueGradLap:
        """Value, gradient and Laplacian, carried from layer to layer in closed form.

        Parameters
        ----------
        x : Tensor, shape (..., d)
            Points; where an edge has an input of exactly 0 its derivatives are put at 0.

        Returns
        -------
        ValueGradLap
        """
        check_tensor(x, self.dimension, next(self.parameters()))
        value = x
        gradient = torch.eye(self.dimension, dtype=x.dtype, device=x.device).expand(
            *x.shape[:-1], self.dimension, self.dimension
        )
        laplacian = torch.zeros_like(x)
        for place, layer in enumerate(self._layers()):
            first = layer.combine(*layer.powers(value, 1))
            second = layer.combine(*layer.powers(value, 2))
            square = gradient.square().sum(-1)
            laplacian = (second * square[..., None] + first * laplacian[..., None]).sum(-2)
            gradient = torch.einsum("...ij,...id->...jd", first, gradient)
            value = layer(value)
            if place < len(self.layers) - 1:
                value = torch.tanh(value)
                slope = 1.0 - value.square()
                laplacian = slope * (laplacian - 2.0 * value * gradient.square().sum(-1))
                gradient = slope[..., None] * gradient
        return ValueGradLap(value, gradient.squeeze(-2), laplacian)

    def exponents(self) -> Tensor:
        """All exponents, layer by layer, even before odd."""
        return torch.cat([part() for layer in self._layers() for part in (layer.even, layer.odd)])

    def blocks(self) -> tuple[Block, ...]:
        """Exponents of each layer with the coefficients of its edges, for reading."""
        found = []
        for place, layer in enumerate(self._layers()):
            for kind, exponents, table in (
                ("even", layer.even(), layer.even_coefficients),
                ("odd", layer.odd(), layer.odd_coefficients),
            ):
                for k, mu in enumerate(exponents.tolist()):
                    edges = {
                        f"{i}->{j}": float(table[j, i, k].detach())
                        for i in range(table.shape[1])
                        for j in range(table.shape[0])
                    }
                    found.append(Block(f"{kind}, layer {place}", mu, edges, ()))
        return tuple(found)

    def to_varpro(self, x: Any) -> SeparableMSN:
        """The network with its last layer as columns, for variable projection.

        Parameters
        ----------
        x : array or Tensor, shape (rows, d)

        Returns
        -------
        SeparableMSN
            Its parameters are all but the coefficients of the last layer. Their derivatives come
            from autograd and are dense: meant for small networks.
        """
        return SeparableMSN(self, x)

    def _layers(self) -> list[MuntzLayer]:
        return list(self.layers)  # pyright: ignore[reportReturnType]


class SeparableMSN:
    """Columns of the last layer of an :class:`MSN` as functions of everything before it.

    Parameters
    ----------
    network : MSN
        Left as it is.
    x : array or Tensor, shape (rows, d)
        Points; computed in float64.

    Attributes
    ----------
    start : Tensor, shape (p,), float64
        Present raw parameters.
    lower, upper : None
        The exponent maps keep to their bounds.

    Examples
    --------
    >>> from sciml.powerlaw import variable_projection
    >>> form = MSN((1, 1), 1, 0, bounds=(0, 2)).to_varpro(torch.linspace(0.1, 1.0, 20))
    >>> fit = variable_projection(form, form.x[:, 0] ** 0.7, form.start)
    >>> fit.relative_residual.item() < 1e-12
    True
    """

    lower = None
    upper = None

    def __init__(self, network: MSN, x: Any) -> None:
        from sciml.powerlaw.points import check_points

        self.x, _, _ = check_points(x, dimension=network.dimension)
        self.network = network
        last = f"layers.{len(network.layers) - 1}."
        linear = {last + name for name in ("even_coefficients", "odd_coefficients", "bias")}
        everything = {name: p.detach().to(self.x) for name, p in network.named_parameters()}
        self.names = [name for name in everything if name not in linear]
        self._shapes = [everything[name].shape for name in self.names]
        self.start = torch.cat([everything[name].reshape(-1) for name in self.names])
        self._fixed = {name: everything[name] for name in linear}

    def __call__(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Columns ``(batch, rows, n)`` and derivatives ``(batch, p, rows, n)``."""
        columns = torch.stack([self._columns(row) for row in parameters])
        slopes = [torch.func.jacfwd(self._columns)(row) for row in parameters]
        return columns.detach(), torch.stack([s.permute(2, 0, 1).detach() for s in slopes])

    def _columns(self, flat: Tensor) -> Tensor:
        parts = flat.split([shape.numel() for shape in self._shapes])
        named = {
            name: part.reshape(shape)
            for name, part, shape in zip(self.names, parts, self._shapes, strict=True)
        }
        return torch.func.functional_call(
            _LastPowers(self.network),
            {f"network.{k}": v for k, v in {**self._fixed, **named}.items()},
            (self.x,),
        )

    @torch.no_grad()
    def write(self, parameters: Tensor, coefficients: Tensor) -> None:
        """Put parameters and coefficients into the network."""
        parts = parameters.split([shape.numel() for shape in self._shapes])
        own = dict(self.network.named_parameters())
        for name, part, shape in zip(self.names, parts, self._shapes, strict=True):
            own[name].copy_(part.reshape(shape))
        layer = self.network._layers()[-1]
        even, odd = layer.even_coefficients, layer.odd_coefficients
        layer.bias.copy_(coefficients[:1])
        even.copy_(coefficients[1 : 1 + even.numel()].reshape(even.shape))
        odd.copy_(coefficients[1 + even.numel() :].reshape(odd.shape))


class _LastPowers(nn.Module):
    """A constant, then even and odd powers of what enters the last layer."""

    def __init__(self, network: MSN) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        even, odd = self.network._layers()[-1].powers(self.network.features(x))
        return torch.cat([torch.ones_like(x[:, :1]), even.flatten(-2), odd.flatten(-2)], -1)
