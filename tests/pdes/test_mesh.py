"""Meshes: areas, sides, gradings, slits, and files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdes.fan import Fan, l_shape, slit_square, wedge
from pdes.mesh import Annulus, Mesh, Rectangle, tensor_mesh

RECIPES = {
    "rectangle": (Rectangle(x=(0.0, 3.0), y=(-1.0, 0.0)), 3.0),
    "quads": (Rectangle(cell_type="quad"), 1.0),
    "l_shape": (l_shape(), 3.0),
    "graded": (l_shape(0.4), 3.0),
    "slit": (slit_square(), 4.0),
    "wedge": (wedge(math.pi / 2), math.sqrt(0.5)),
}


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("resolution", [1, 2, 7])
def test_cells_cover_the_domain_and_sides_its_boundary(name: str, resolution: int) -> None:
    recipe, area = RECIPES[name]
    mesh = recipe(resolution)
    assert mesh.area == pytest.approx(area, rel=1e-12)
    edges = np.vstack([np.stack([mesh.cells[:, i], np.roll(mesh.cells, -1, 1)[:, i]], 1)
                       for i in range(mesh.cells.shape[1])])  # fmt: skip
    unique, counts = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    assert counts.max() <= 2
    outside = {tuple(edge) for edge in unique[counts == 1].tolist()}
    named = np.sort(np.vstack(list(mesh.sides.values())), axis=1).tolist()
    assert {tuple(edge) for edge in named} == outside
    assert len(named) == len(outside)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.05, 1.0), st.integers(1, 12), st.floats(0.3, 2 * math.pi))
def test_gradings_gather_rings_as_declared(grading: float, rings: int, angle: float) -> None:
    mesh = wedge(angle, grading)(rings)
    line = np.unique(mesh.sides["start"])
    radii = np.sort(np.hypot(*mesh.points[line].T))
    wanted = (np.arange(rings + 1) / rings) ** (1.0 / grading)
    np.testing.assert_allclose(radii, wanted, rtol=1e-12, atol=1e-300)


def test_faces_of_a_slit_are_apart_and_know_their_angle() -> None:
    mesh = slit_square()(4)
    upper, lower = (np.unique(mesh.sides[name]) for name in ("start", "end"))
    assert set(upper) & set(lower) == {0}
    np.testing.assert_array_equal(mesh.points[upper], np.abs(mesh.points[lower]))
    assert np.all(np.signbit(mesh.points[lower[lower > 0], 1]))


def test_annulus_is_mapped_from_a_rectangle() -> None:
    mesh = Annulus(inner=1.0, outer=3.0, angle=math.pi)(6)
    assert mesh.mapping is not None
    np.testing.assert_array_equal(mesh.mapping(mesh.reference), mesh.points)
    outer = mesh.points[np.unique(mesh.sides["outer"])]
    np.testing.assert_allclose(np.hypot(*outer.T), 3.0)


@pytest.mark.parametrize("suffix", [".msh", ".vtu", ".vtk"])
@pytest.mark.parametrize("kind", ["triangle", "quad"])
def test_files_round_trip(tmp_path: Path, suffix: str, kind: str) -> None:
    mesh = Rectangle(cell_type=kind)(3)  # type: ignore[arg-type]
    path = tmp_path / f"square{suffix}"
    mesh.write(path, u=mesh.points[:, 0])
    back = Mesh.read(path)
    np.testing.assert_array_equal(back.points, mesh.points)
    np.testing.assert_array_equal(back.cells, mesh.cells)
    assert list(tmp_path.iterdir()) == [path]
    if suffix == ".msh":
        assert set(back.sides) == set(mesh.sides)
        np.testing.assert_array_equal(back.sides["x+"], mesh.sides["x+"])
    else:
        assert sum(len(edges) for edges in back.sides.values()) == 12


def test_edges_without_a_name_are_found(tmp_path: Path) -> None:
    import meshio

    mesh = Rectangle()(2)
    meshio.write(tmp_path / "plain.vtu", meshio.Mesh(mesh.points, [("triangle", mesh.cells)]))
    back = Mesh.read(tmp_path / "plain.vtu")
    assert set(back.sides) == {"boundary"}
    assert back.sides["boundary"].shape == (8, 2)


def test_files_that_are_no_mesh_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        Mesh.read(tmp_path / "absent.msh")
    broken = tmp_path / "broken.msh"
    broken.write_text("$MeshFormat\nnonsense")
    with pytest.raises(ValueError, match=r"broken\.msh is not a readable mesh"):
        Mesh.read(broken)
    with pytest.raises(ValueError, match="cannot be written"):
        Rectangle()(2).write(tmp_path / "square.unknown")
    with pytest.raises(ValueError, match="got 3 values, the mesh has 9 points"):
        Rectangle()(2).write(tmp_path / "square.vtu", u=np.zeros(3))
    assert [p.name for p in tmp_path.iterdir()] == ["broken.msh"]


def test_meshes_that_are_wrong_are_refused() -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="cell 1 has no area"):
        Mesh(points=points, cells=np.array([[0, 1, 3], [0, 1, 2]]))
    with pytest.raises(ValueError, match="outside the 4 points"):
        Mesh(points=points, cells=np.array([[0, 1, 7]]))
    with pytest.raises(ValueError, match="a quad has 4 corners"):
        Mesh(points=points, cells=np.array([[0, 1, 3]]), cell_type="quad")
    with pytest.raises(ValueError, match="wanted finite"):
        Mesh(points=np.full((3, 2), np.nan), cells=np.array([[0, 1, 2]]))
    with pytest.raises(ValueError, match="grading=0"):
        Fan(outer=((1, 0), (0, 1)), sides=("far",), grading=0.0)
    with pytest.raises(ValueError, match="got 1 names for 2 outer edges"):
        Fan(outer=((1, 0), (1, 1), (0, 1)), sides=("far",))
    with pytest.raises(ValueError, match=r"angle=7, wanted a number in \(0, 2 pi\]"):
        wedge(7)


def test_tensor_mesh_follows_its_lines() -> None:
    mesh = tensor_mesh(np.array([0.0, 0.1, 1.0]), np.array([0.0, 2.0]))
    assert sorted(set(mesh.points[:, 0])) == [0.0, 0.1, 1.0]
    assert mesh.cells.shape == (4, 3)
