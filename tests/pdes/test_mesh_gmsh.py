"""Meshes by Gmsh, where it is installed."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

import pdes
from pdes.boundary import Dirichlet
from pdes.exact.manufactured_steady import manufactured_steady
from pdes.library.poisson import minus_laplacian
from pdes.mesh_gmsh import GmshRecipe
from pdes.symbols import coordinate

try:
    import gmsh
except (ImportError, OSError) as error:
    pytest.skip(f"Gmsh cannot be loaded: {error}", allow_module_level=True)


def _disk(model: Any, size: float) -> None:
    model.occ.addDisk(0, 0, 0, 1, 1, tag=1)
    model.occ.synchronize()
    model.addPhysicalGroup(1, [1], name="rim")


def test_disk_is_covered_and_named() -> None:
    mesh = GmshRecipe(_disk)(8)
    assert set(mesh.sides) == {"rim"}
    rim = mesh.points[np.unique(mesh.sides["rim"])]
    np.testing.assert_allclose(np.hypot(*rim.T), 1.0, atol=1e-12)
    # The polygon with these corners.
    count = len(rim)
    assert mesh.area == pytest.approx(0.5 * count * math.sin(2 * math.pi / count), rel=1e-6)


def test_poisson_on_a_disk_converges() -> None:
    x, y = coordinate("x"), coordinate("y")
    exact = manufactured_steady(
        "disk", minus_laplacian, (x**2 + y**2) ** 2 + x, {"x": (-0.7, 0.7), "y": (-0.7, 0.7)}
    )
    problem = pdes.SteadyProblem(
        name="disk",
        residual=exact.residuals,
        domain=GmshRecipe(_disk),
        boundary={"rim": Dirichlet(exact.fields["u"])},
        exact={"disk": exact},
        exact_name="disk",
    )
    errors = [
        json.loads(pdes.solve(problem, resolution=n).attrs["errors"])["u"]["l2"]
        for n in (5, 10, 20)
    ]
    slope = np.polyfit(np.log([1 / 5, 1 / 10, 1 / 20]), np.log(errors), 1)[0]
    assert slope > 1.85


def test_geometry_without_sides_is_refused_and_gmsh_left_clean() -> None:
    def nameless(model: Any, size: float) -> None:
        model.occ.addRectangle(0, 0, 0, 1, 1)
        model.occ.synchronize()

    with pytest.raises(ValueError, match="no physical group of edges"):
        GmshRecipe(nameless)(4)
    assert not gmsh.isInitialized()
    assert GmshRecipe(_disk)(4).area > 2.5


def test_recipe_is_replaced_like_any_other() -> None:
    problem = dataclasses.replace(
        pdes.get("poisson_polynomial", power=1),
        domain=GmshRecipe(_disk),
        boundary={"rim": Dirichlet()},
        exact_name=None,
    )
    data = pdes.solve(problem, resolution=4)
    assert data.attrs["errors"] == "{}"
