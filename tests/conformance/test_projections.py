"""Every repair is what it says: exact ones are orthogonal projections, the others are not."""

import math

import numpy as np
import pytest
import torch
from scipy.spatial import Delaunay

from sciml import repair
from sciml.repair import (
    AffineProjection,
    BlendedTopDown,
    BoundsProjection,
    EnergyProjection,
    EnstrophyProjection,
    GatedRepair,
    Intersection,
    LerayProjection,
    MeshProjection,
    MismatchedLeray,
    PoissonCleanup,
    RangeProjection,
    Reconciliation,
    Relaxed,
    SimplexProjection,
    StaggeredProjection,
    TopDown,
    idempotence,
    symmetry,
    target_distortion,
)

DOUBLE = torch.float64


def _random(shape, seed=0, batch=3):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, *shape, dtype=DOUBLE, generator=generator)


def _body(cells):
    fluid = np.ones(cells, dtype=bool)
    fluid[cells[0] // 3 : cells[0] // 2, cells[1] // 3 : cells[1] // 2] = False
    return fluid


def _openings(cells):
    rng = np.random.default_rng(3)
    found = [
        rng.uniform(0.2, 1.0, size=tuple(n + (axis == place) for place, n in enumerate(cells)))
        for axis in range(len(cells))
    ]
    found[0][2, 3] = 0.0
    return found


def _mesh():
    points = np.random.default_rng(0).uniform(size=(30, 2))
    square = np.stack(np.meshgrid(*[np.linspace(0, 1, 7)] * 2, indexing="ij"), -1).reshape(-1, 2)
    inside = (points > 0.1).all(1) & (points < 0.9).all(1)
    inner = square[((square > 0) & (square < 1)).all(1)] + 0.02 * points[:25]
    edge = square[~((square > 0) & (square < 1)).all(1)]
    assert inside.any()
    nodes = np.concatenate([edge, inner])
    return nodes, Delaunay(nodes).simplices.astype(int)


def _hierarchy():
    labels = [(state, kind) for state in "abc" for kind in "xy"]
    return repair.summing_matrix(labels, [(), (0,), (1,)])[0]


def _residuals(count):
    rng = np.random.default_rng(1)
    return rng.normal(size=(40, count)) @ rng.normal(size=(count, count))


def _reconciliation(method):
    summing = _hierarchy()
    residuals = _residuals(len(summing)) if method in ("wls", "mint") else None
    return Reconciliation(summing, method, residuals=residuals), (len(summing),)


def _leray(shape, lengths, **options):
    return LerayProjection(lengths, **options), (len(shape), *shape)


def _faces(cells, spacings, sides, **options):
    found = StaggeredProjection(cells, spacings, sides, **options)
    return found, found.layout.shape


def _centers(cells, spacings, sides, **options):
    return RangeProjection(cells, spacings, sides, **options), (len(cells), *cells)


def _affine(seed, rank, metric):
    rng = np.random.default_rng(seed)
    constraint = rng.normal(size=(rank, 12))
    constraint = np.vstack([constraint, constraint[:1] - 2.0 * constraint[-1:]])
    rhs = rng.normal(size=rank)
    rhs = np.append(rhs, rhs[0] - 2.0 * rhs[-1])
    weights = {"plain": None, "weights": rng.uniform(0.5, 2.0, size=12)}.get(metric)
    if metric == "matrix":
        factor = rng.normal(size=(12, 12))
        weights = factor @ factor.T + np.eye(12)
    return AffineProjection(constraint, rhs, metric=weights, shape=(3, 4)), (3, 4)


def _mesh_flow():
    found = MeshProjection(*_mesh())
    return found, (len(found.edges),)


WALLS, CHANNEL = ("wall", "wall"), (("wall", "open"), "wall")
EXACT = {
    "leray even": lambda: _leray((8, 8), (1.0, 1.0)),
    "leray odd": lambda: _leray((7, 9), (1.0, 3.0)),
    "leray mixed": lambda: _leray((8, 11), (2.0, 1.0)),
    "leray 3d": lambda: _leray((6, 7, 8), (1.0, 2.0, 0.7)),
    "leray fixed mean": lambda: _leray((6, 8), (1.0, 1.0), fix_mean=(0.3, -0.2)),
    "faces cavity": lambda: _faces((8, 9), (0.1, 0.2), WALLS),
    "faces channel": lambda: _faces(
        (8, 9), (0.1, 0.2), CHANNEL, normal_velocity={"x-": np.linspace(0, 1, 9)}
    ),
    "faces periodic": lambda: _faces((8, 7), (0.1, 0.2), ("periodic", "periodic")),
    "faces 3d": lambda: _faces((5, 6, 7), (0.1, 0.2, 0.3), (("wall", "open"), "wall", "periodic")),
    "faces body": lambda: _faces((12, 10), (0.1, 0.2), CHANNEL, fluid=_body((12, 10))),
    "faces body closed": lambda: _faces((12, 10), (0.1, 0.2), WALLS, fluid=_body((12, 10))),
    "faces body periodic": lambda: _faces(
        (12, 10), (0.1, 0.2), ("periodic", "wall"), fluid=_body((12, 10))
    ),
    "faces cut": lambda: _faces((9, 8), (0.1, 0.2), ("open", "wall"), openings=_openings((9, 8))),
    "centers cavity": lambda: _centers((8, 9), (0.1, 0.2), WALLS),
    "centers channel": lambda: _centers(
        (8, 9), (0.1, 0.2), CHANNEL, normal_velocity={"x-": np.linspace(0, 1, 9)}
    ),
    "centers periodic": lambda: _centers((8, 8), (0.1, 0.2), ("periodic", "wall")),
    "centers 3d": lambda: _centers((4, 5, 6), (0.1, 0.2, 0.3), ("wall", "wall", "periodic")),
    "centers body": lambda: _centers((12, 10), (0.1, 0.2), CHANNEL, fluid=_body((12, 10))),
    "affine": lambda: _affine(0, 3, "plain"),
    "affine weights": lambda: _affine(1, 4, "weights"),
    "affine matrix": lambda: _affine(2, 5, "matrix"),
    "total": lambda: (repair.total_projection((4, 5), 2.0), (4, 5)),
    "mean": lambda: (
        repair.total_projection((6,), 1.5, weights=np.linspace(1, 2, 6) / 9.0),
        (6,),
    ),
    "boundary": lambda: (
        repair.boundary_projection((5,), [1.0, math.nan, math.nan, math.nan, -1.0]),
        (5,),
    ),
    "mirror": lambda: (repair.mirror_projection((5, 4), 0), (5, 4)),
    "mirror odd": lambda: (repair.mirror_projection((5, 4), 0, odd=True), (5, 4)),
    "end points": lambda: (repair.end_points_projection((5, 4), 1), (5, 4)),
    "ols": lambda: _reconciliation("ols"),
    "wls": lambda: _reconciliation("wls"),
    "structural": lambda: _reconciliation("structural"),
    "mint": lambda: _reconciliation("mint"),
    "mesh": _mesh_flow,
    "relaxed fully": lambda: (Relaxed(LerayProjection((1.0, 1.0)), 1.0), (2, 8, 8)),
}
CLOSEST = {
    "bounds": lambda: (BoundsProjection(-0.5, 0.8), (20,)),
    "simplex": lambda: (SimplexProjection(2.0), (20,)),
    "simplex weights": lambda: (SimplexProjection(2.0, weights=np.linspace(0.5, 2, 20)), (20,)),
    "energy": lambda: (EnergyProjection(3.0, dimension=2), (2, 8, 8)),
    "enstrophy": lambda: (EnstrophyProjection(50.0, (1.0, 2.0)), (2, 8, 7)),
    "dykstra": lambda: (
        Intersection([repair.total_projection((20,), 2.0), BoundsProjection(0.0)]),
        (20,),
    ),
}


def _gated():
    found = GatedRepair(LerayProjection((1.0, 1.0)))
    truth = _random((2, 8, 8), seed=5)
    return found.fit(truth + _random((2, 8, 8), seed=6), truth), (2, 8, 8)


def _top_down():
    return TopDown(_hierarchy(), np.full(6, 1 / 6)), (12,)


def _blended():
    summing = _hierarchy()
    return BlendedTopDown(Reconciliation(summing), TopDown(summing, np.full(6, 1 / 6)), 0.3), (12,)


INEXACT = {
    "aspect": lambda: (MismatchedLeray((1.0, 1.0), aspect=1.1), (2, 8, 8)),
    "stencil": lambda: (
        MismatchedLeray((1.0, 1.0), symbol="finite_difference"),
        (2, 8, 8),
    ),
    "poisson": lambda: (PoissonCleanup((0.125, 0.125)), (2, 8, 8)),
    "screened": lambda: (PoissonCleanup((0.125, 0.125), screened=100.0), (2, 8, 8)),
    "relaxed": lambda: (Relaxed(LerayProjection((1.0, 1.0)), 0.5), (2, 8, 8)),
    "gated": _gated,
    "top down": _top_down,
    "blended": _blended,
    "bottom up": lambda: _reconciliation("bottom_up"),
}
ALL = {**EXACT, **CLOSEST, **INEXACT}


@pytest.mark.parametrize("name", EXACT)
def test_exact_projections_are_orthogonal_onto_their_rule(name):
    _check_exact(*EXACT[name]())


def _check_exact(projection, shape):
    assert projection.exact
    assert projection.linear
    a, b = _random(shape, 1), _random(shape, 2)
    once = projection(a)
    assert float(projection.defect(a).min()) > 1e-3
    assert float(projection.defect(once).max()) < 1e-12
    assert idempotence(projection, a) < 1e-12
    assert symmetry(projection, a, b) < 1e-12
    assert target_distortion(projection, projection(b)) < 1e-24 * float(b.square().mean())
    # Pythagoras: what is taken away is orthogonal to all differences of admissible states.
    taken, along = a - once, once - projection(b)
    scale = (projection.inner(taken, taken) * projection.inner(along, along)).sqrt()
    assert float((projection.inner(taken, along).abs() / scale).max()) < 1e-11


@pytest.mark.parametrize("name", CLOSEST)
def test_closest_points_are_closer_than_other_admissible_states(name):
    projection, shape = CLOSEST[name]()
    assert projection.exact
    assert not projection.linear or name == "dykstra"
    a = _random(shape, 1)
    once = projection(a)
    assert float(projection.defect(once).max()) < 1e-9
    assert idempotence(projection, a) < 1e-9
    nearest = projection.inner(a - once, a - once)
    for seed in range(20):
        other = projection(once + 0.05 * _random(shape, 10 + seed))
        assert bool((projection.inner(a - other, a - other) >= nearest * (1 - 1e-9)).all())


@pytest.mark.parametrize("name", INEXACT)
def test_inexact_repairs_fail_where_exact_ones_pass(name):
    projection, shape = INEXACT[name]()
    assert not projection.exact
    a, b = _random(shape, 1), _random(shape, 2)
    fails = idempotence(projection, a) > 1e-6 or symmetry(projection, a, b) > 1e-6
    if hasattr(projection, "lengths"):  # wrong geometry: a projection, onto the wrong space
        truth = LerayProjection((1.0, 1.0))(b)
        fails = target_distortion(projection, truth) > 1e-4
    assert fails


def test_idempotence_does_not_tell_exactness():
    projection, shape = _top_down()
    coherent = Reconciliation(_hierarchy())(_random(shape))
    assert idempotence(projection, coherent) < 1e-14
    assert target_distortion(projection, coherent) > 0.1


@pytest.mark.parametrize("name", ALL)
def test_gradients(name):
    projection, shape = ALL[name]()
    x = _random(shape, 4, batch=2).requires_grad_()
    assert torch.autograd.gradcheck(projection, (x,), fast_mode=True, atol=1e-5)


SIDES = (
    ("wall", "wall"),
    ("periodic", "periodic"),
    ("open", "open"),
    ("wall", "open"),
    ("open", "wall"),
)


def _drawn(seed):
    """Projections of a random number of axes, sizes, lengths and sides."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 4))
    cells = tuple(int(n) for n in rng.integers(4, 14 if d == 2 else 8, size=d))
    lengths = tuple(float(x) for x in rng.uniform(0.2, 5.0, size=d))
    spacings = tuple(x / n for x, n in zip(lengths, cells, strict=True))
    sides = [SIDES[i] for i in rng.integers(len(SIDES), size=d)]
    sides = [pair[0] if pair[0] == pair[1] else pair for pair in sides]
    mean = rng.normal(size=d) if rng.random() < 0.5 else None
    return (
        _leray(cells, lengths, fix_mean=mean),
        _faces(cells, spacings, sides),
        _centers(cells, spacings, sides),
    )


@pytest.mark.parametrize("seed", range(12))
def test_exact_projections_of_random_sizes(seed):
    for projection, shape in _drawn(seed):
        _check_exact(projection, shape)


@pytest.mark.parametrize("name", ALL)
def test_single_precision_batches_and_strides(name):
    projection, shape = ALL[name]()
    a = _random(shape, 1).float()
    once = projection(a)
    assert once.dtype == torch.float32
    double = projection(a.double())
    scale = float(double.abs().max())
    assert float((once - double).abs().max()) < 1e-4 * scale
    if name in EXACT:
        assert float(projection.defect(once).max()) < 1e-5
    assert torch.allclose(projection(a[:1]), once[:1], atol=1e-6 * scale)
    strided = torch.stack([a, a + 1.0], dim=-1)[..., 0]
    assert torch.allclose(projection(strided), once, atol=1e-6 * scale)
    assert projection(a[:0]).shape == a[:0].shape
    if name != "gated":
        assert torch.allclose(projection(a[None])[0], once, atol=1e-6 * scale)


@pytest.mark.parametrize("name", ALL)
def test_bad_states_are_refused_by_name(name):
    projection, shape = ALL[name]()
    a = _random(shape, 1)
    a[0].view(-1)[3] = math.nan
    with pytest.raises(ValueError, match="u holds 1 values that are NaN or infinite"):
        projection(a)
    with pytest.raises(TypeError, match="wanted real floating point"):
        projection(torch.ones(2, *shape, dtype=torch.int64))
    with pytest.raises(TypeError, match="complex"):
        projection(torch.ones(2, *shape, dtype=torch.complex64))
    with pytest.raises(TypeError, match=r"wanted a torch\.Tensor"):
        projection(np.ones((2, *shape)))


def test_every_public_repair_is_listed():
    made = {type(build()[0]) for build in ALL.values()}
    listed = {
        value
        for name in repair.__all__
        if isinstance(value := getattr(repair, name), type)
        and issubclass(value, repair.AbstractProjection)
        and value is not repair.AbstractProjection
    }
    assert listed == made
