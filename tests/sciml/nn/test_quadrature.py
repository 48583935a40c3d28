import warnings

import numpy as np
import pytest
import torch

import pdes
from pdes import Axis, Grid
from pdes.mesh import Annulus, Rectangle
from sciml.metrics import observed_order
from sciml.nn import (
    AXIS_KINDS,
    Quadrature,
    QuadratureWarning,
    SampleAxis,
    SampleGrid,
    axis_weights,
    current_quadrature,
    mesh_quadrature_weights,
    on_grid,
    point_cloud_weights,
    quadrature_weights,
    weights_for,
)
from sciml.operators import QuadNorm

GRADED = np.linspace(0, 1, 9) ** 1.7


def axis(kind, points):
    if kind == "nonuniform":
        return SampleAxis(kind, points, coordinates=tuple(np.linspace(0, 1, points) ** 1.7))
    if kind == "latitude":
        return SampleAxis(kind, points, coordinates=tuple(np.linspace(-90, 90, points)))
    return SampleAxis(kind, points)


@pytest.mark.parametrize("kind", AXIS_KINDS)
@pytest.mark.parametrize("points", [3, 4, 7, 64])
def test_weights_are_positive_with_sum_one(kind, points):
    weights = axis_weights(axis(kind, points))
    assert abs(weights.sum() - 1) < 1e-14
    assert np.all(weights > 0)


@pytest.mark.parametrize(
    ("kind", "rule", "degree"),
    [
        ("node", "trapezoid", 1),
        ("left", "auto", 1),
        ("nonuniform", "auto", 1),
        ("cell", "auto", 1),
        ("node", "gregory4", 3),
        ("node", "simpson", 3),
        ("chebyshev", "auto", 8),
    ],
)
def test_polynomials_of_a_degree_are_exact_and_the_next_is_not(kind, rule, degree):
    points = axis(kind, 9)
    x, weights = points.positions(), axis_weights(points, rule)
    for power in range(degree + 1):
        assert weights @ x**power == pytest.approx(1 / (power + 1), abs=1e-14)
    following = 10 if kind == "chebyshev" else degree + 1
    assert abs(weights @ x**following - 1 / (following + 1)) > 1e-10


@pytest.mark.parametrize(
    ("kind", "rule", "order"),
    [("node", "trapezoid", 2), ("node", "simpson", 4), ("left", "auto", 2), ("cell", "auto", 2)],
)
@pytest.mark.parametrize("power", [1.0, -2.0, 3.0])
def test_order(kind, rule, order, power):
    # The extrapolated last cell of "left" adds a term of order 3, which has to fade first.
    counts = [513, 1025, 2049] if kind == "left" else [65, 129, 257]
    errors, steps = [], []
    for n in counts:
        points = SampleAxis(kind, n)
        mean = axis_weights(points, rule) @ np.exp(power * points.positions())
        errors.append(abs(mean - np.expm1(power) / power))
        steps.append(points.largest_step)
    assert observed_order(steps, errors) == pytest.approx(order, abs=0.1)


def test_spectral_rules():
    for kind, function in (
        ("periodic", lambda x: np.exp(np.sin(2 * np.pi * x))),
        ("chebyshev", lambda x: 1 / (1 + x)),
    ):
        points = SampleAxis(kind, 24)
        exact = 1.2660658777520084 if kind == "periodic" else np.log(2)
        assert axis_weights(points) @ function(points.positions()) == pytest.approx(
            exact, abs=1e-14
        )


@pytest.mark.parametrize("poles", [True, False])
@pytest.mark.parametrize("unit", ["degrees", "radians"])
def test_latitudes(poles, unit):
    errors = []
    for n in (32, 64, 128):
        step = 180 / n
        latitude = np.linspace(90, -90, n + 1) if poles else 90 - step * (np.arange(n) + 0.5)
        phi = np.deg2rad(latitude)
        place = {"coordinates": tuple(latitude)}
        if unit == "radians":
            place = {"start": -np.pi / 2, "stop": np.pi / 2, "coordinates": tuple(phi)}
        weights = axis_weights(SampleAxis("latitude", len(phi), **place))
        assert weights.sum() == pytest.approx(1, abs=1e-14)
        errors.append(abs(weights @ np.sin(phi) ** 2 - 1 / 3))
    assert observed_order([1 / 32, 1 / 64, 1 / 128], errors) > 1.9


def test_trapezoid_on_a_periodic_axis_would_be_wrong():
    x = np.arange(16) / 16
    values = np.exp(np.sin(2 * np.pi * x))
    wrong = axis_weights(SampleAxis("node", 16)) @ values - 1.2660658777520084
    assert abs(wrong) == pytest.approx(2.8e-2, rel=0.7)


def test_grids_of_pdes_know_their_kinds():
    grid = Grid((Axis("x", 0.0, 2.0, 8), Axis("y", 0.0, 1.0, 5, periodic=False)))
    weights = quadrature_weights(grid)
    assert weights.grid.kinds == ("periodic", "node")
    assert weights.full().shape == (8, 5)
    assert weights.full()[0] == pytest.approx(np.array([1, 2, 2, 2, 1]) / 64)
    assert pdes.get("burgers").grid.kinds == ("periodic",)


def test_masks():
    weights = quadrature_weights((3, 3), axis_kinds="node")
    part = weights.masked(np.array([[1, 1, 0], [1, 0.5, 1], [1, 1, 1]]))
    assert part.full().sum() == pytest.approx(1)
    assert part.full()[0, 2] == 0
    assert part.full()[1, 1] / part.full()[0, 1] == pytest.approx(0.5 * 2)
    with pytest.raises(ValueError, match="mask: got shape"):
        weights.masked(np.ones(3))
    with pytest.raises(ValueError, match="fractions between"):
        weights.masked(2 * np.ones((3, 3)))


def test_context():
    assert current_quadrature() is None
    with on_grid((4,), axis_kinds="cell") as outer:
        with on_grid((5,), axis_kinds="cell"):
            assert current_quadrature().shape == (5,)
        assert current_quadrature() is outer
    assert current_quadrature() is None


# --- Meshes and clouds ---------------------------------------------------------------------------


@pytest.mark.parametrize("cell_type", ["triangle", "quad"])
def test_vertices_of_a_mesh(cell_type):
    errors = []
    for n in (4, 8, 16):
        mesh = Annulus(inner=1.0, outer=2.0, cell_type=cell_type)(n)
        x, y = mesh.points.T
        weights = quadrature_weights(mesh).full()
        assert weights @ np.ones_like(x) == pytest.approx(1, abs=1e-14)
        errors.append(abs(weights @ (x**2 + y**2) - 2.5))
    assert observed_order([1 / 4, 1 / 8, 1 / 16], errors) == pytest.approx(2, abs=0.1)
    lumped = quadrature_weights(Rectangle(cell_type=cell_type)(3))
    x, y = Rectangle(cell_type=cell_type)(3).points.T
    assert lumped.full() @ (1 + 2 * x - 3 * y) == pytest.approx(0.5, abs=1e-14)


def test_graded_mesh_against_equal_weights():
    from pdes.mesh import tensor_mesh

    for n in (16, 32):
        s = np.linspace(0, 1, n + 1)
        mesh = tensor_mesh(s**1.7, s**0.8)
        f = np.exp(mesh.points[:, 0]) * np.cos(mesh.points[:, 1])
        exact = (np.e - 1) * np.sin(1)
        assert abs(quadrature_weights(mesh).full() @ f - exact) < 0.4 / n**2
        assert abs(f.mean() - exact) > 0.1


def test_kinds_of_cells():
    line = np.array([[0.0], [1.0], [3.0]])
    assert mesh_quadrature_weights(
        (line, np.array([[0, 1], [1, 2]])), cell_type="line"
    ).full() == pytest.approx([1 / 6, 1 / 2, 1 / 3])
    corners = np.array([[0, 0], [1, 0], [0, 1]], float)
    middles = np.array([[0.5, 0], [0.5, 0.5], [0, 0.5]])
    six = (np.vstack([corners, middles]), np.arange(6)[None])
    weights = mesh_quadrature_weights(six, cell_type="triangle6").full()
    assert weights == pytest.approx([0, 0, 0, 1 / 3, 1 / 3, 1 / 3])
    x, y = six[0].T
    assert weights @ (x * y) == pytest.approx(1 / 12)  # exact for degree 2
    cube = (
        np.array(np.meshgrid([0, 1], [0, 1], [0, 2], indexing="ij")).reshape(3, -1).T.astype(float)
    )
    order = [0, 4, 6, 2, 1, 5, 7, 3]
    hexahedron = (cube[order], np.arange(8)[None])
    assert mesh_quadrature_weights(hexahedron, cell_type="hexahedron").full() == pytest.approx(
        1 / 8
    )
    tetra = np.vstack([np.zeros(3), np.eye(3)])
    found = mesh_quadrature_weights((tetra, np.arange(4)[None]), cell_type="tetra")
    assert found.full() == pytest.approx(1 / 4)
    trapezoid = np.array([[0, 0], [2, 0], [1, 1], [0, 1]], float)
    found = mesh_quadrature_weights((trapezoid, np.arange(4)[None]), cell_type="quad")
    assert found.full() @ trapezoid == pytest.approx([7 / 9, 4 / 9])  # its centroid
    cells = mesh_quadrature_weights(Rectangle()(3), "cell")
    assert cells.full() == pytest.approx(1 / 18)


def test_surfaces_and_other_libraries():
    import meshio
    import skfem

    flat = Rectangle()(3)
    tilted = np.column_stack([flat.points, flat.points[:, 0]])
    surface = meshio.Mesh(tilted, [("triangle", flat.cells), ("line", flat.cells[:, :2])])
    assert quadrature_weights(surface).full() == pytest.approx(quadrature_weights(flat).full())
    other = skfem.MeshTri(flat.points.T.copy(), flat.cells.T.copy())
    assert quadrature_weights(other).full() == pytest.approx(quadrature_weights(flat).full())
    with pytest.raises(ValueError, match="no rule for scikit-fem's MeshTri2"):
        quadrature_weights(skfem.MeshTri2())


def test_broken_meshes_are_refused_with_counts():
    points = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 0]], float)
    good = np.array([[0, 1, 2], [1, 3, 2], [1, 4, 3]])

    def weigh(cells, at=points):
        return mesh_quadrature_weights((at, np.array(cells)), cell_type="triangle")

    weigh(good)
    with pytest.raises(ValueError, match="1 vertices belong to no cell, the first 4"):
        weigh(good[:2])
    with pytest.raises(ValueError, match=r"1 triangle cells are turned over.*first 1"):
        weigh([[0, 1, 2], [1, 2, 3], [1, 4, 3]])
    with pytest.raises(ValueError, match="1 triangle cells have no measure, the first 3"):
        weigh([*good, [0, 1, 4]])
    with pytest.raises(ValueError, match="1 triangle cells are listed more than once, the first 0"):
        weigh([*good, [2, 0, 1]])
    with pytest.raises(ValueError, match="outside the 5 points"):
        weigh([[0, 1, 9]])
    with pytest.raises(ValueError, match="polygon"):
        mesh_quadrature_weights((points, good), cell_type="polygon")
    with pytest.raises(TypeError, match=r"wanted a pdes.Mesh"):
        mesh_quadrature_weights(3)


@pytest.mark.parametrize("dimension", [2, 3])
def test_voronoi_cells_of_a_grid_are_its_trapezoid_weights(dimension):
    grid = np.meshgrid(*[np.linspace(0, 1 + k, 4) for k in range(dimension)], indexing="ij")
    weights = point_cloud_weights(np.stack(grid, -1).reshape(-1, dimension))
    wanted = quadrature_weights((4,) * dimension, axis_kinds="node").full()
    assert weights.full() == pytest.approx(wanted.reshape(-1), abs=1e-12)


def test_voronoi_cells_against_counting():
    rng = np.random.default_rng(1)
    points = rng.random((40, 2)) * [10, 1]
    weights = point_cloud_weights(points, ([0, 0], [10, 1])).full()
    drawn = rng.random((100_000, 2)) * [10, 1]
    nearest = np.argmin(((drawn[:, None] - points) ** 2).sum(-1), axis=1)
    share = np.bincount(nearest, minlength=40) / len(drawn)
    assert np.all(np.abs(share - weights) < 5 * np.sqrt(weights / len(drawn)))


def test_clouds_that_have_no_cells():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="1 stand more than once, the first is number 2"):
        point_cloud_weights([[0.0, 0.0], [1.0, 0.5], [0.3, 0.3], [0.3, 0.3]])
    with pytest.raises(ValueError, match="on a line or plane"):
        point_cloud_weights(np.outer(np.arange(5.0), [1, 2]))
    with pytest.raises(ValueError, match="outside the box, the first is number 1"):
        point_cloud_weights([[0.0], [3.0]], ([0], [1]))
    with pytest.warns(QuadratureWarning, match="4 dimensions"):
        assert point_cloud_weights(rng.random((50, 4))).full().sum() == pytest.approx(1)


# --- Bad input -----------------------------------------------------------------------------------


def test_missing_and_misspelled_kinds():
    with pytest.raises(ValueError, match=r"never guessed.*on_grid.*nonuniform"):
        quadrature_weights((8, 8))
    with pytest.raises(ValueError, match="Did you mean 'periodic'"):
        quadrature_weights((8,), axis_kinds="periodical")
    with pytest.raises(ValueError, match="wanted 2, one for each axis"):
        quadrature_weights((8, 8), axis_kinds=("node",))
    with pytest.raises(TypeError, match="wanted a SampleGrid"):
        quadrature_weights(object())
    with pytest.raises(ValueError, match="coordinates of a 'latitude' axis are missing"):
        quadrature_weights((8,), axis_kinds="latitude")


def test_rules_that_do_not_apply():
    with pytest.raises(ValueError, match=r"odd number of points.*'trapezoid'"):
        axis_weights(SampleAxis("node", 8), "simpson")
    with pytest.raises(ValueError, match=r"at least 6 points.*'trapezoid'"):
        axis_weights(SampleAxis("node", 5), "gregory4")
    with pytest.raises(ValueError, match="Did you mean 'simpson'"):
        axis_weights(SampleAxis("node", 5), "simson")
    with pytest.raises(ValueError, match="'latitude' is for axes of kind latitude, got 'node'"):
        axis_weights(SampleAxis("node", 5), "latitude")
    with pytest.raises(ValueError, match="'left' needs at least 3 points"):
        axis_weights(SampleAxis("left", 2))
    mixed = quadrature_weights((9, 8), "simpson", axis_kinds=("node", "periodic"))
    assert mixed.factors[1] == pytest.approx(1 / 8)


def test_one_point_weighs_one_and_warns_once():
    with pytest.warns(QuadratureWarning, match="one point: its weight is 1"):
        assert axis_weights(SampleAxis("node", 1)) == 1


def test_coordinates_are_checked():
    with pytest.raises(ValueError, match="not strictly sorted: numbers 1 and 2"):
        SampleGrid.of_coordinates([[0.0, 0.5, 0.4, 1.0]], "nonuniform")
    with pytest.raises(ValueError, match=r"do not fit the kind 'node'.*point 4"):
        SampleGrid.of_coordinates([GRADED], "node")
    with pytest.raises(ValueError, match="number 2 is nan"):
        SampleGrid.of_coordinates([[0.0, 0.5, np.nan]], "nonuniform")
    with pytest.raises(ValueError, match=r"outside of \[0, 1\]"):
        SampleAxis("nonuniform", 3, 0.0, 1.0, (0.0, 0.5, 2.0))
    falling = SampleGrid.of_coordinates([GRADED[::-1]], "nonuniform")
    assert quadrature_weights(falling).full()[::-1] == pytest.approx(
        quadrature_weights(SampleGrid.of_coordinates([GRADED], "nonuniform")).full()
    )


def test_weights_that_cannot_be():
    x = torch.rand(2, 1, 4)
    for bad, message in (
        (np.array([1.0, -1, 1, 1]), "negative or not finite, the first is number 1"),
        (np.array([1.0, 1, np.nan, 1]), "not finite, the first is number 2"),
        (np.zeros(4), "sum is zero"),
        (np.ones(5), r"shape \(5,\), wanted \(4,\)"),
        (torch.ones(4, device="meta"), "on meta"),
    ):
        with pytest.raises(ValueError, match=message):
            weights_for(x, weights=bad)
    with on_grid((5,), axis_kinds="node"), pytest.raises(ValueError, match=r"shape \(4,\)"):
        weights_for(x)


def test_duplicate_end_point_of_a_periodic_axis():
    s = np.linspace(0, 1, 9)
    x = torch.from_numpy(np.sin(2 * np.pi * s)).view(1, 1, -1)
    grid = SampleGrid.of_coordinates([s], "periodic")
    with pytest.warns(QuadratureWarning, match="first and last samples along axis 0"):
        weights_for(x, weights=grid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right = SampleGrid.of_coordinates([s[:-1]], "periodic")
        weights_for(x[..., :-1], weights=right)


def test_weights_and_cells_of_other_numbers_are_refused():
    with pytest.raises(ValueError, match="numbers of type complex64, wanted real ones"):
        QuadNorm(1)(torch.rand(1, 1, 3), weights=torch.ones(3, dtype=torch.complex64))
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="cells: got numbers of type float64, wanted integers"):
        mesh_quadrature_weights((corners, [[0, 1, 2.5]]), cell_type="triangle")


def test_meshes_and_clouds_know_their_points():
    corners = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    mesh = (corners, [[0, 1, 2]])
    weights = mesh_quadrature_weights(mesh, cell_type="triangle")
    assert np.array_equal(weights.positions, corners)
    assert np.array_equal(weights.masked([1, 1, 0]).positions, corners)
    centers = mesh_quadrature_weights(mesh, "cell", cell_type="triangle").positions
    assert np.array_equal(centers, [[1.0, 1.0]])
    assert np.array_equal(point_cloud_weights(corners).positions, corners)
    with pytest.raises(ValueError, match="positions: got 3 for weights of shape"):
        Quadrature([np.ones(2)], positions=corners)
