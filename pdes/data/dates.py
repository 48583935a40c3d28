"""Dates on an axis, as numpy or as netCDF keeps them, into seconds since the first."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from pdes.data.errors import AssumptionWarning

CONVERTED = "converted to seconds since the first"
"""How every sentence on record about dates ends."""

# Names that the conventions for climate and forecast data (CF, section 4.4) take from UDUNITS;
# months and years are left out, for their length depends on the date.
_SECONDS = {
    **dict.fromkeys(("nanosecond", "nanosec", "nsec", "ns"), 1e-9),
    **dict.fromkeys(("microsecond", "microsec", "usec", "us"), 1e-6),
    **dict.fromkeys(("millisecond", "millisec", "msec", "ms"), 1e-3),
    **dict.fromkeys(("second", "sec", "s"), 1.0),
    **dict.fromkeys(("minute", "min"), 60.0),
    **dict.fromkeys(("hour", "hr", "h"), 3600.0),
    **dict.fromkeys(("day", "d"), 86400.0),
    "week": 604800.0,
}


def seconds_since_first(
    values: np.ndarray, attrs: Mapping[str, Any], name: str, record: list[str]
) -> tuple[np.ndarray, dict[str, Any]]:
    """Convert dates and durations; leave other coordinate values as they are.

    Parameters
    ----------
    values
        Coordinate values, shape (n,): ``datetime64``, ``timedelta64``, or numbers whose attribute
        ``units`` reads like ``milliseconds since 2020-01-01``.
    attrs
        Attributes of the coordinate.
    name
        Name of the axis, for the record.
    record
        Receives a sentence for what was converted, and for dates that could not be.

    Returns
    -------
    tuple of numpy.ndarray and dict
        Seconds since the first value, and attributes with the unit; or both as given.

    Examples
    --------
    >>> record = []
    >>> units = {"units": "milliseconds since 2020-01-01"}
    >>> seconds_since_first(np.array([500, 750]), units, "time", record)
    (array([0.  , 0.25]), {'units': 's'})
    >>> record
    ['time: dates (milliseconds since 2020-01-01) converted to seconds since the first']
    """
    if values.dtype.kind in "mM":
        record.append(f"{name}: dates {CONVERTED}")
        return (values - values[0]) / np.timedelta64(1, "s"), {"units": "s", **attrs}
    units = attrs.get("units")
    match = re.fullmatch(r"\s*(\w+)\s+since\s+.*", units) if isinstance(units, str) else None
    if match is None or values.dtype.kind not in "iuf" or not values.size:
        return values, dict(attrs)
    word = match[1].lower()
    seconds = _SECONDS.get(word, _SECONDS.get(word.removesuffix("s")))
    if seconds is None:
        record.append(f"{name}: kept as numbers in the unit of the file, {units}")
        return values, dict(attrs)
    record.append(f"{name}: dates ({units}) {CONVERTED}")
    # Nanoseconds since 1970 need all digits of an integer until the first is subtracted.
    steps = values.astype(np.int64 if values.dtype.kind in "iu" else np.float64)
    kept = {key: value for key, value in attrs.items() if key != "calendar"}
    return (steps - steps[0]) * seconds, {**kept, "units": "s"}


def warn_of_dates(given: xr.Dataset | None, dataset: xr.Dataset, stacklevel: int) -> None:
    """Warn if dates were converted in making `dataset`; what `given` says already is known."""
    from pdes.data.schema import assumptions

    known = [] if given is None else assumptions(given)
    for sentence in assumptions(dataset):
        if sentence.endswith(CONVERTED) and sentence not in known:
            axis = sentence.split(":", 1)[0]
            warnings.warn(
                f"{axis}: dates were {CONVERTED}: coefficients are per second. For another unit "
                f"give numbers, e.g. (data.{axis} - data.{axis}[0]) / numpy.timedelta64(1, 'D')",
                AssumptionWarning,
                stacklevel=stacklevel + 1,
            )
