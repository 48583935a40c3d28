"""Covariance of the rows of PySINDy's weak form, from the overlap of its windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sciml.discovery.noise import noise_level


class WeakRowCovariance:
    """Covariance of the rows of PySINDy's weak form, for white noise on the fields.

    The overlap of the windows is exact for the left-hand side and for linear terms; for nonlinear
    terms the response to noise is taken to leading order, where all derivatives of a term act on
    the window.

    Parameters
    ----------
    library : pysindy.WeakPDELibrary
        The library that the model uses. Its function library must be fitted by the time the
        covariance is asked for, which PySINDy sees to.
    x : ndarray, shape (space..., time, fields)
        The one trajectory that the model is fitted to.
    noise : sequence of float, optional
        Standard deviation of the noise of each field; estimated from ``x`` by default.
    """

    def __init__(self, library: Any, x: NDArray, noise: Any = None) -> None:
        self.library = library
        self.x = np.asarray(x, float)
        shape = np.asarray(library.spatiotemporal_grid).shape[:-1]
        if self.x.shape[:-1] != shape:
            raise ValueError(
                f"x has shape {self.x.shape}, wanted the library's grid {shape} and the fields last"
            )
        if noise is None:
            noise = [noise_level(self.x[..., k]) for k in range(self.x.shape[-1])]
        # noise too weak to estimate must not make the covariance singular
        least = 1e-9 * self.x.reshape(-1, self.x.shape[-1]).std(axis=0)
        self.noise = np.maximum(np.asarray(noise, float), least)

    def __call__(self, coefficients: NDArray, target: int = 0) -> NDArray:
        """Covariance of the residual rows.

        Parameters
        ----------
        coefficients : ndarray, shape (features,)
            The equation of one field, over the columns of the library.
        target : int
            Which field.

        Returns
        -------
        ndarray, shape (K, K)
        """
        total = np.zeros((self.library.K, self.library.K))
        for field, level in enumerate(self.noise):
            response = self._response(np.asarray(coefficients, float), target, field)
            total += level**2 * (response @ response.T).toarray()
        return total

    def _response(self, coefficients: NDArray, target: int, field: int) -> Any:
        """Residual of each window per unit of noise at each grid point, as a sparse matrix."""
        from scipy.sparse import csr_matrix

        library = self.library
        plain, derivatives = self._weights(coefficients, field)
        values, columns, starts = [], [], [0]
        for window in range(library.K):
            inside = np.ix_(*library.inds_k[window])
            total = np.zeros(library.fulltweights[window].shape)
            if field == target:
                # the left-hand side is -sum(weights * u), after integration by parts in time
                total -= library.fulltweights[window]
            if plain is not None:
                total -= library.fullweights0[window] * plain[inside]
            for order, weight in derivatives.items():
                sign = (-1.0) ** int(np.sum(library.multiindices[order]))
                total -= sign * library.fullweights1[window][order] * weight[inside]
            values.append(total.ravel())
            flat = np.ravel_multi_index(
                np.ix_(*[np.asarray(i) for i in library.inds_k[window]]), self.x.shape[:-1]
            )
            columns.append(flat.ravel())
            starts.append(starts[-1] + flat.size)
        return csr_matrix(
            (np.concatenate(values), np.concatenate(columns), starts),
            shape=(library.K, int(np.prod(self.x.shape[:-1]))),
        )

    def _weights(
        self, coefficients: NDArray, field: int
    ) -> tuple[NDArray | None, dict[int, NDArray]]:
        """What multiplies the noise of a field under the plain and the differentiated windows."""
        library, fields = self.library, self.x.shape[-1]
        functions = library.function_library
        monomials = int(functions.n_output_features_)
        bias = int(library.include_bias)
        orders = int(library.num_derivatives)
        mixed = orders * fields * monomials if library.include_interaction else 0
        if len(coefficients) != bias + monomials + orders * fields + mixed:
            raise ValueError(
                f"coefficients has {len(coefficients)} entries, the library "
                f"{bias + monomials + orders * fields + mixed} columns"
            )
        powers = coefficients[bias : bias + monomials]
        pure = coefficients[bias + monomials :][: orders * fields].reshape(orders, fields)
        products = np.zeros((orders, fields, monomials))
        if mixed:
            products = coefficients[-mixed:].reshape(orders, fields, monomials)
        plain = None
        if np.any(powers):
            step = 1e-4 * np.std(self.x[..., field])
            shift = np.zeros(fields)
            shift[field] = step
            change = self._functions(self.x + shift) - self._functions(self.x - shift)
            plain = change @ powers / (2 * step)
        derivatives = {}
        for order in range(orders):
            if np.any(products[order, field]) or pure[order, field] != 0.0:
                values = self._functions(self.x) @ products[order, field]
                derivatives[order] = values + pure[order, field]
        return plain, derivatives

    def _functions(self, x: NDArray) -> NDArray:
        from pysindy.utils import AxesArray, comprehend_axes

        return np.asarray(self.library.function_library.transform(AxesArray(x, comprehend_axes(x))))
