"""Which array library numbers belong to."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace

# NumPy 2 is an array API of its own; older ones need the wrapper, whose every call costs
_PLAIN = hasattr(np, "matrix_transpose")


def namespace(*arrays: Any) -> Any:
    """Return the array API of these arrays; plain numbers have none.

    Parameters
    ----------
    *arrays : array or float

    Returns
    -------
    module
        NumPy for NumPy's arrays (and if all are numbers), else what array-api-compat says.

    Examples
    --------
    >>> namespace(np.ones(2), 1.0).__name__.split(".")[-1]
    'numpy'
    """
    if _PLAIN and all(isinstance(array, (np.ndarray, np.generic, float, int)) for array in arrays):
        return np
    return array_namespace(*arrays)
