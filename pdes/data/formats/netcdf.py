"""NetCDF, classic and version 4, through xarray."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from pdes.data.contents import Contents, Variable, is_numeric
from pdes.data.formats.hdf5 import plain_attributes


def load(path: Path) -> Contents:
    """Read all variables with the names of their axes.

    Packed values are unpacked and missing ones become NaN; times stay the numbers in the file, with
    their units as an attribute.

    Parameters
    ----------
    path
        A netCDF file.

    Returns
    -------
    Contents
        Variables of the root group.
    """
    with path.open("rb") as file:
        classic = file.read(3) == b"CDF"
    engine = "scipy" if classic else "h5netcdf"
    with xr.open_dataset(
        path, engine=engine, decode_times=False, decode_timedelta=False
    ) as dataset:
        return from_dataset(dataset.load(), "netcdf-3" if classic else "netcdf-4")


def from_dataset(dataset: xr.Dataset, found: str) -> Contents:
    """Hand over the variables of a dataset that is in memory."""
    variables: dict[str, Variable] = {}
    refused: dict[str, str] = {}
    for name, variable in dataset.variables.items():
        values = variable.values
        if is_numeric(values):
            dims = tuple(str(dim) for dim in variable.dims)
            attrs = plain_attributes(variable.attrs)
            variables[str(name)] = Variable(values=values, dims=dims, attrs=attrs)
        else:
            refused[str(name)] = f"dtype {values.dtype}"
    attrs = plain_attributes(dataset.attrs)
    return Contents(format=found, variables=variables, refused=refused, attrs=attrs)
