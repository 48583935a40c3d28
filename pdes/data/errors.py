"""What can be wrong with a scientist's data, as exceptions and warnings."""

from __future__ import annotations


class DataError(ValueError):
    """Data that cannot become a labeled recording as given; the message says the remedy."""


class ReadError(DataError):
    """A file that cannot be read as a space-time recording; the message says what to do."""


class ChecksumError(ReadError):
    """A stored variable whose bytes no longer have the checksum written beside them."""


class AssumptionWarning(UserWarning):
    """Data were changed in a way that changes what results mean, such as their unit."""


class AxisOrderWarning(UserWarning):
    """Two axes are equally long, so that the order in which they were named had to be trusted."""


class GenerationWarning(UserWarning):
    """Something to know of a dataset: samples failed or are not resolved, damage was repaired."""
