"""Projections of flows: what they warn of, and what they refuse."""

import math
import warnings

import numpy as np
import pytest
import torch

from sciml import repair
from sciml.repair import (
    FaceLayout,
    GatedRepair,
    LerayProjection,
    MeshProjection,
    MismatchedLeray,
    PoissonCleanup,
    RangeProjection,
    Reconciliation,
    StaggeredProjection,
    TopDown,
    off_manifold_gain,
    target_distortion,
)

DOUBLE = torch.float64


def _noise(*shape, seed=0):
    return torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))


def _taylor_green(n, m):
    x, y = (2 * math.pi * torch.arange(k, dtype=DOUBLE) / k for k in (n, m))
    u = torch.sin(x)[:, None] * torch.cos(y)
    return torch.stack([u + 0.3, -torch.cos(x)[:, None] * torch.sin(y) - 0.2])


PERIOD = (2 * math.pi, 2 * math.pi)


@pytest.mark.parametrize("shape", [(16, 16), (15, 16), (12, 20)])
def test_leray_keeps_the_mean_flow_on_every_grid(shape):
    flow = _taylor_green(*shape)
    assert target_distortion(LerayProjection(PERIOD), flow) < 1e-30


def test_component_j_lives_on_axis_j():
    """On square grids, as on others: a shear u(y) is free of divergence, u(x) is none."""
    x = 2 * math.pi * torch.arange(12, dtype=DOUBLE) / 12
    shear = torch.zeros(2, 12, 12, dtype=DOUBLE)
    shear[0] = torch.sin(x)
    project = LerayProjection(PERIOD)
    assert torch.allclose(project(shear), shear, atol=1e-14)
    assert float(project(shear.transpose(1, 2)).abs().max()) < 1e-14


def test_swapped_components_are_hinted_at():
    flow = _taylor_green(16, 16)
    x = 2 * math.pi * torch.arange(16, dtype=DOUBLE) / 16
    flow[0] += 0.5 * torch.sin(2 * x)
    with pytest.warns(UserWarning, match="with the components in reverse order"):
        target_distortion(LerayProjection(PERIOD), flow.flip(0))


def test_fields_between_walls_are_not_periodic():
    x = torch.linspace(0, 1, 16, dtype=DOUBLE)
    flow = torch.stack([x.expand(16, 16), torch.zeros(16, 16, dtype=DOUBLE)])
    with pytest.warns(UserWarning, match="does not look periodic along axis -1 .*Staggered"):
        LerayProjection((1.0, 1.0))(flow)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LerayProjection(PERIOD)(_taylor_green(16, 16))


def test_fixed_mean_is_set():
    project = LerayProjection((1.0, 1.0), fix_mean=(0.3, -0.2))
    mean = project(_noise(4, 2, 8, 6)).mean((2, 3))
    assert torch.allclose(mean, torch.tensor([0.3, -0.2], dtype=DOUBLE).expand(4, 2), atol=1e-14)


def test_faces_pack_and_unpack():
    layout = FaceLayout((4, 5), (False, True))
    u = _noise(3, *layout.shape) * layout.mask()
    faces = layout.unpack(u)
    assert [tuple(face.shape[1:]) for face in faces] == [(5, 5), (4, 6)]
    assert torch.equal(faces[1][..., -1], faces[1][..., 0])
    assert torch.equal(layout.pack(faces), u)


def test_inlets_keep_their_velocity():
    box = StaggeredProjection((6, 5), (0.1, 0.2), (("inlet", "open"), "wall"))
    u = _noise(2, *box.layout.shape)
    found = box(u)
    assert torch.equal(found[:, 0, 0, :5], u[:, 0, 0, :5])
    assert float(box.defect(found).max()) < 1e-12


def test_net_flux_is_refused_or_balanced():
    u = _noise(2, 2, 7, 6)
    with pytest.raises(ValueError, match=r"more out of the closed box than in .*balance_flux"):
        StaggeredProjection((6, 5), (0.1, 0.2), ("inlet", "wall"))(u)
    box = StaggeredProjection((6, 5), (0.1, 0.2), ("inlet", "wall"), balance_flux=True)
    found = box(u)
    assert float(box.defect(found).max()) < 1e-12
    inflow, outflow = found[:, 0, 0, :5].sum(1), found[:, 0, -1, :5].sum(1)
    assert torch.allclose(inflow, outflow, atol=1e-13)


def test_bodies_stop_the_flow():
    fluid = np.ones((8, 6), dtype=bool)
    fluid[3:5, 2:4] = False
    box = StaggeredProjection((8, 6), (0.1, 0.1), ("wall", "wall"), fluid=fluid)
    found = box(_noise(*box.layout.shape))
    assert float(found[0, 3:6, 2:4].abs().max()) == 0.0
    assert float(found[1, 3:5, 2:5].abs().max()) == 0.0
    assert float(found.abs().max()) > 0.1


def test_poisson_cleanup_lowers_divergence_and_distorts_the_truth():
    n = 16
    x = torch.linspace(0, 1, n + 1, dtype=DOUBLE)
    stream = (torch.sin(math.pi * x)[:, None] * torch.sin(math.pi * x)) ** 2
    faces = torch.diff(stream, dim=1) * n, -torch.diff(stream, dim=0) * n
    centers = torch.stack(
        [0.5 * (faces[0][1:] + faces[0][:-1]), 0.5 * (faces[1][:, 1:] + faces[1][:, :-1])]
    )
    clean = PoissonCleanup((1 / n, 1 / n))
    exact = RangeProjection((n, n), (1 / n, 1 / n), ("wall", "wall"))
    assert target_distortion(exact, centers) < 1e-28
    assert target_distortion(clean, centers) > 1e-8
    noisy = centers + 0.05 * _noise(2, n, n)
    assert float(clean.defect(clean(noisy))) < float(clean.defect(noisy))
    half = PoissonCleanup((1 / n, 1 / n), strength=0.5)
    assert torch.allclose(half(noisy), 0.5 * (noisy + clean(noisy)))
    assert torch.equal(clean(noisy)[:, 0], noisy[:, 0])


def test_gates_never_harm_where_they_were_fitted():
    truth = LerayProjection((1.0, 1.0))(_noise(64, 2, 8, 8))
    noisy = truth + 0.3 * _noise(64, 2, 8, 8, seed=1)
    wrong = MismatchedLeray((1.0, 1.0), aspect=1.4)
    raw = float((noisy - truth).square().mean())
    found = {}
    for gate in ("global", "state", "mode"):
        repaired = GatedRepair(wrong, gate).fit(noisy, truth)(noisy)
        found[gate] = float((repaired - truth).square().mean())
    assert found["mode"] < found["global"] < raw
    assert found["state"] < raw
    with pytest.raises(RuntimeError, match="no strength yet"):
        GatedRepair(wrong)(noisy)


def test_off_manifold_gains_of_known_maps():
    project, u = LerayProjection((1.0, 1.0)), _noise(3, 2, 8, 8)
    found = off_manifold_gain(lambda v: 0.7 * (v - project(v)) + project(v), project, u)
    assert found.breaking == pytest.approx(0.7, rel=1e-10)
    assert found.admissible == pytest.approx(0.0, abs=1e-12)

    class Untraceable(torch.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            return v**1

        @staticmethod
        def backward(ctx, grad):
            return grad

    assert off_manifold_gain(Untraceable.apply, project, u).breaking == pytest.approx(1.0, rel=1e-6)


def test_states_from_a_mesh():
    """Equilateral triangles: every edge has the weight 1/(2 sqrt 3) or twice that."""
    n = 4
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    points = np.stack([i + 0.5 * j, 0.75**0.5 * j], axis=1)
    corner = (i * n + j)[(i < n - 1) & (j < n - 1)]
    triangles = np.concatenate(
        [
            np.stack([corner, corner + n, corner + 1], axis=1),
            np.stack([corner + n, corner + n + 1, corner + 1], axis=1),
        ]
    )
    project = MeshProjection(points, triangles)
    weights = project.metric(torch.zeros(1, dtype=DOUBLE))
    assert sorted({round(float(w) * 12**0.5, 9) for w in weights}) == [1.0, 2.0]
    constant = torch.tensor([1.0, 2.0], dtype=DOUBLE).expand(n * n, 2)
    # A uniform flow is a gradient, and all of it crosses the boundary that nothing may cross.
    assert float(project(project.from_vectors(constant)).abs().max()) < 1e-12
    turning = torch.from_numpy(np.stack([-points[:, 1], points[:, 0]], axis=1))
    kept = project(project.from_vectors(turning))
    assert float(kept.abs().max()) > 0.1
    assert float(project.defect(kept)) < 1e-12


def test_reconciliation_is_the_normal_equation():
    summing, names = repair.summing_matrix([(s, k) for s in "ab" for k in "xyz"], [(), (0,)])
    assert names[:3] == ["total", "a", "b"]
    residuals = np.random.default_rng(0).normal(size=(50, len(summing)))
    found = Reconciliation(summing, "mint", residuals=residuals, shrinkage=0.3)
    covariance, weight = repair.shrunk_covariance(residuals, shrinkage=0.3)
    assert weight == 0.3
    y = _noise(len(summing))
    w = np.linalg.inv(covariance)
    bottom = np.linalg.solve(summing.T @ w @ summing, summing.T @ w @ y.numpy())
    assert np.allclose(found(y).numpy(), summing @ bottom, rtol=1e-10, atol=1e-12)
    assert 0.0 <= Reconciliation(summing, "mint", residuals=residuals).shrinkage <= 1.0


SUMMING = [[1, 1], [1, 0], [0, 1]]
DEPENDENT = np.outer([1.0, -1.0, 2.0, -2.0, 3.0, -3.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: LerayProjection((1.0,)), "two or three positive periods"),
        (lambda: LerayProjection((1.0, -1.0)), "two or three positive periods"),
        (lambda: LerayProjection((1.0, 1.0), fix_mean=(1.0,)), "fix_mean"),
        (lambda: LerayProjection((1.0, 1.0))(_noise(3, 8, 8)), "one velocity component for each"),
        (
            lambda: StaggeredProjection((8, 8), (0.1, 0.1), ("wall", "opne")),
            "Did you mean 'open'",
        ),
        (lambda: StaggeredProjection((8, 8), (0.1,), ("wall", "wall")), "one of each"),
        (
            lambda: StaggeredProjection((8, 8), (0.1, 0.1), (("wall", "periodic"), "wall")),
            "both or none periodic",
        ),
        (
            lambda: StaggeredProjection((8, 8), (0.1, 0.1), ("wall", "wall"))(_noise(2, 8, 8)),
            "RangeProjection takes them",
        ),
        (
            lambda: StaggeredProjection(
                (8, 8), (0.1, 0.1), ("wall", "wall"), normal_velocity={"x-": 1.0}
            ),
            "more out of the closed box than in",
        ),
        (
            lambda: StaggeredProjection(
                (8, 8), (0.1, 0.1), ("wall", "wall"), normal_velocity={"q-": 1.0}
            ),
            "no side 'q-'",
        ),
        (
            lambda: StaggeredProjection(
                (8, 8), (0.1, 0.1), ("wall", "wall"), fluid=np.ones((7, 8), bool)
            ),
            "fluid has shape",
        ),
        (
            lambda: StaggeredProjection(
                (8, 8), (0.1, 0.1), ("wall", "wall"), fluid=np.zeros((8, 8), bool)
            ),
            "False everywhere",
        ),
        (
            lambda: StaggeredProjection(
                (8, 8),
                (0.1, 0.1),
                ("wall", "wall"),
                openings=[np.ones((9, 8)) * 2, np.ones((8, 9))],
            ),
            r"leaves \[0, 1\]",
        ),
        (
            lambda: RangeProjection((8, 8), (0.1, 0.1), ("wall", "wall"))(_noise(2, 9, 9)),
            "StaggeredProjection takes them",
        ),
        (lambda: RangeProjection((8, 8), (0.1, 0.1), ("inlet", "wall")), "inlet"),
        (
            lambda: RangeProjection(
                (8, 8), (0.1, 0.1), ("wall", "wall"), normal_velocity={"x-": 1.0}
            ),
            "more out of the closed box than in",
        ),
        (lambda: repair.AffineProjection([[1.0, 0.0], [1.0, 0.0]], [0.0, 1.0]), "rank is 1"),
        (lambda: repair.AffineProjection([[1.0, math.nan]]), "NaN"),
        (lambda: repair.AffineProjection([[1.0, 1.0]], metric=[1.0, -1.0]), "positive weights"),
        (lambda: repair.AffineProjection([[1.0, 1.0]], metric=[[1, 2], [2, 1]]), "not positive"),
        (lambda: repair.AffineProjection([[1.0, 1.0]])(_noise(3)), "wanted"),
        (lambda: Reconciliation([[2, 1], [1, 0], [0, 1]]), "holds 2: wanted zeros and ones"),
        (lambda: Reconciliation([[1, 0], [0, 1], [1, 1]]), "must be an identity"),
        (lambda: Reconciliation(SUMMING, "mnt"), "Did you mean 'mint'"),
        (lambda: Reconciliation(SUMMING, "mint"), "needs residuals"),
        (lambda: Reconciliation(SUMMING, "wls", residuals=[[1, 2, 3]]), "two or more times"),
        (
            lambda: Reconciliation(SUMMING, "wls", residuals=[[1, 2, 3], [2, 2, 1]]),
            r"series \[1\] never vary",
        ),
        (
            lambda: Reconciliation(
                SUMMING, "mint", residuals=DEPENDENT, shrinkage=0.0, names="abc"
            ),
            "close to singular at shrinkage 0",
        ),
        (lambda: TopDown(SUMMING, [0.5, 0.6]), "sum to 1"),
        (lambda: PoissonCleanup((0.1, 0.1), strength=2.0), r"wanted a number in \[0, 1\]"),
        (lambda: GatedRepair(LerayProjection((1.0, 1.0)), "modes"), "Did you mean 'mode'"),
        (lambda: MeshProjection([[0, 0], [1, 0], [2, 0]], [[0, 1, 2]]), "have no area"),
        (lambda: MeshProjection([[0, 0], [1, 0], [0.5, 0.1]], [[0, 1, 2]]), "no positive cot"),
        (lambda: MeshProjection([[0, 0], [1, 0], [0, 1], [9, 9]], [[0, 1, 2]]), "belong to no"),
        (lambda: repair.SimplexProjection(-1.0), "total=-1.0"),
        (lambda: repair.BoundsProjection(), "wanted a lower bound"),
        (lambda: repair.EnergyProjection(0.0, dimension=2), "mean_square=0.0"),
        (lambda: repair.EnergyProjection(1.0, dimension=1)(torch.ones(1, 4)), "without fluct"),
        (lambda: repair.Intersection([repair.BoundsProjection(0.0)]), "two or more"),
        (lambda: MismatchedLeray((1.0, 1.0), aspect=0.0), "aspect=0.0"),
        (
            lambda: off_manifold_gain(lambda u: u, repair.BoundsProjection(0.0), _noise(2, 3)),
            "not linear",
        ),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(call, match):
    with pytest.raises((ValueError, TypeError), match=match):
        call()


@pytest.mark.parametrize(
    ("cells", "sides"),
    [
        ((8, 9), ("wall", "wall")),
        ((8, 9), ("periodic", "wall")),
        ((8, 8), ("periodic", "periodic")),
        ((7, 8), ("wall", "periodic")),
    ],
)
def test_stream_functions_project_like_the_saddle_point_system(cells, sides):
    fast, slow = (RangeProjection(cells, (0.1, 0.2), sides) for _ in range(2))
    assert fast._streams is not None
    slow._streams = None
    u = _noise(3, 2, *cells)
    assert torch.allclose(fast(u), slow(u), atol=1e-13)


def test_boxes_with_openings_or_bodies_have_no_stream_functions():
    fluid = np.ones((8, 8), dtype=bool)
    fluid[3, 3] = False
    assert RangeProjection((8, 8), (0.1, 0.1), (("wall", "open"), "wall"))._streams is None
    assert RangeProjection((8, 8), (0.1, 0.1), ("wall", "wall"), fluid=fluid)._streams is None
