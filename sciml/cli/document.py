"""The result of ``sciml discover`` as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import sciml
from sciml.theory.prediction import finite_or_text

if TYPE_CHECKING:
    import xarray as xr


def document(model: Any, data: xr.Dataset, notes: list[str]) -> dict[str, Any]:
    """Return what a fitted estimator found as plain JSON data.

    Parameters
    ----------
    model
        Fitted estimator of `sciml.discover`.
    data
        The recording that it was fitted to.
    notes
        Warnings for the user.

    Returns
    -------
    dict
        ``equation`` is text that `pdes.Equation.from_text` reads, one line per field; ``terms`` and
        ``standard_errors`` map field to term to number. Numbers that are not finite are text.
    """
    return {
        "equation": "\n".join(model.equations()),
        "latex": model.latex(),
        "terms": plain(model.terms_),
        "standard_errors": plain(model.standard_errors_),
        "chi2": plain(model.chi2_),
        "identifiability": plain(model.identifiability_),
        "rivals": plain(model.rivals_),
        "symmetry": plain(model.symmetry_),
        "noise_estimate": plain(model.noise_estimate_),
        "data": _about(data, notes),
        "version": sciml.__version__,
    }


def _about(data: xr.Dataset, notes: list[str]) -> dict[str, Any]:
    from pdes.data import assumptions

    axes = [str(name) for name in data.dims if name != "sample"]
    return {
        "file": data.attrs.get("source_file", ""),
        "sha256": data.attrs.get("source_sha256", ""),
        "format": data.attrs.get("source_format", ""),
        "fields": [str(name) for name in data.data_vars],
        "sizes": {str(name): int(size) for name, size in data.sizes.items()},
        "ranges": {name: [float(data[name][0]), float(data[name][-1])] for name in axes},
        "periodic": [name for name in axes if data[name].attrs.get("periodic", 0)],
        "noise_added": float(data.attrs.get("noise_added", 0.0)),
        "noise_seed": int(data.attrs.get("noise_seed", 0)),
        "assumed": assumptions(data),
        "warnings": list(notes),
    }


def plain(value: Any) -> Any:
    """Return a value as JSON data: dataclasses become mappings, complex numbers ``[re, im]``.

    Examples
    --------
    >>> plain({"u": np.float64("nan"), "c": 1 + 2j, "n": np.arange(2)})
    {'u': 'nan', 'c': [1.0, 2.0], 'n': [0, 1]}
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, complex):
        return [finite_or_text(value.real), finite_or_text(value.imag)]
    if isinstance(value, float):
        return finite_or_text(value)
    return str(value)
