"""Readers of public dataset layouts; each returns our labeled `xarray.Dataset`.

Dimensions are ``sample, time, x, y, z``. What a layout does not say and had to be assumed is in the
attribute ``assumed``, see `pdes.data.assumptions`.

Examples
--------
>>> from pdes.data import layouts
>>> sorted(layouts.__all__)
['read_cfdbench', 'read_fno_mat', 'read_pdebench', 'read_the_well']
"""

from __future__ import annotations

from pdes.data.layouts.cfdbench import read_cfdbench
from pdes.data.layouts.fno_mat import read_fno_mat
from pdes.data.layouts.pdebench import read_pdebench
from pdes.data.layouts.the_well import read_the_well

__all__ = ["read_cfdbench", "read_fno_mat", "read_pdebench", "read_the_well"]
