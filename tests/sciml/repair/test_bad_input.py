"""What users may hand over by mistake is named, with what was wanted and what to do."""

import math
import warnings

import numpy as np
import pytest
import torch

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
    boundary_projection,
    end_points_projection,
    mirror_projection,
    off_manifold_gain,
    recommend,
    rollout,
    symmetry,
    target_distortion,
    total_projection,
)
from sciml.theory.projection import drift

DOUBLE = torch.float64
LERAY = LerayProjection((1.0, 1.0))
WALLS = ("wall", "wall")
SUMMING = [[1, 1], [1, 0], [0, 1]]


def _noise(*shape, seed=0):
    return torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(scope="module")
def truth():
    return LERAY(_noise(9, 4, 2, 8, 8))


def _same(u):
    return u


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (
            lambda t: recommend(_same, LERAY, t, horizon="a"),
            "horizon='a': wanted a whole .* 1 to 3",
        ),
        (lambda t: recommend(_same, LERAY, t, horizon=math.nan), "horizon=nan: wanted a whole"),
        (lambda t: recommend(_same, LERAY, t, horizon=math.inf), "horizon=inf: wanted a whole"),
        (lambda t: recommend(_same, LERAY, t, horizon=[1]), r"horizon=\[1\]: wanted a whole"),
        (lambda t: recommend(_same, LERAY, t, n_bootstrap=None), "n_bootstrap=None"),
        (lambda t: recommend(_same, LERAY, t, seed="x"), "seed='x': wanted a whole number"),
        (lambda t: recommend(_same, LERAY, t[:, :1]), "validation has 1 times: wanted two or more"),
        (lambda t: recommend(_same, LERAY, t[:0]), "holds 0 trajectories"),
        (lambda t: recommend(_same, LERAY, t.long()), "validation has dtype torch.int64"),
        (lambda t: recommend(_same, LERAY, t + 0j), "take real and imaginary part apart"),
        (lambda t: recommend(_same, LERAY, t.numpy()), "wanted a torch.Tensor"),
        (lambda t: recommend(_same, LERAY, t * math.nan), "NaN or infinite"),
        (
            lambda t: recommend(_same, _same, t),
            "projection is of type function: wanted an Abstract",
        ),
        (lambda t: recommend(None, LERAY, t), "forecaster is of type NoneType"),
        (lambda t: recommend(lambda u: u.numpy(), LERAY, t), "forecaster returned ndarray"),
        (lambda t: recommend(lambda u: (u, u), LERAY, t), "forecaster returned tuple"),
        (lambda t: recommend(lambda u: u + 0j, LERAY, t), "forecaster returned dtype"),
        (lambda t: rollout(_same, t[:, 0], "x"), "steps='x': wanted a whole number, 1 or more"),
        (lambda t: rollout(_same, t[:, 0], 2, every=math.nan), "every=nan"),
        (lambda t: rollout(_same, t[:, 0].numpy(), 2), "u0 is of type ndarray"),
        (lambda t: rollout(_same, t[:, 0].long(), 2), "u0 has dtype torch.int64"),
        (lambda t: rollout(_same, t[:, 0] + 0j, 2), "u0 has dtype torch.complex128"),
        (lambda t: rollout(_same, t[:, 0] * math.inf, 2), "u0 holds .* NaN or infinite"),
        (lambda t: rollout(_same, t[:, 0], 2, repair=3, where="in_loop"), "repair is of type int"),
        (lambda t: off_manifold_gain(_same, LERAY, t[:, 0], directions="x"), "directions='x'"),
        (lambda t: off_manifold_gain(lambda u: u[:1], LERAY, t[:, 0]), "forecaster returned shape"),
        (lambda t: symmetry(LERAY, t[0], t[:2]), "wanted two states of one shape"),
        (lambda t: LERAY(t.movedim(2, -1)), r"components stand last: move them with u\.movedim"),
        (lambda t: PoissonCleanup((0.1, 0.1))(t.movedim(2, -1)), "components stand last"),
        (lambda t: Relaxed(LERAY, "half"), "strength='half': wanted a number in"),
        (lambda t: Relaxed(LERAY, math.nan), "strength=nan"),
        (lambda t: Relaxed(_same, 0.5), "projection is of type function"),
        (lambda t: GatedRepair(None), "projection is of type NoneType"),
        (lambda t: Intersection([LERAY, 2]), r"projections\[1\] is of type int"),
        (lambda t: PoissonCleanup(0.1), "spacings=0.1: wanted two or three positive sizes"),
        (lambda t: PoissonCleanup((0.1, 0.1), strength="x"), "strength='x'"),
        (lambda t: LerayProjection(1.0), "lengths=1.0: wanted two or three positive periods"),
        (lambda t: LerayProjection("ab"), "lengths='ab'"),
        (
            lambda t: LerayProjection((1, 1), fix_mean=(math.nan, 1)),
            "fix_mean=.nan, 1.: wanted 2 f",
        ),
        (lambda t: StaggeredProjection((8.5, 8), (0.1, 0.1), WALLS), "cells=8.5: wanted a whole"),
        (lambda t: StaggeredProjection((8, 8), 0.1, WALLS), "spacings=0.1: wanted a positive size"),
        (lambda t: StaggeredProjection((8, 8), (0.1, 0.1), (None, "wall")), "unknown kind None"),
        (
            lambda t: StaggeredProjection(
                (8, 8), (0.1, 0.1), WALLS, normal_velocity={"x-": "fast"}
            ),
            "is no array of real numbers: wanted a number, or one for each face",
        ),
        (
            lambda t: StaggeredProjection((8, 6), (0.1, 0.1), WALLS)(_noise(2, 7, 9)),
            "axes look swapped: component j belongs to axis j of the grid",
        ),
        (
            lambda t: RangeProjection((8, 6), (0.1, 0.1), WALLS)(_noise(2, 6, 8)),
            "axes look swapped",
        ),
        (
            lambda t: RangeProjection((8, 6), (0.1, 0.1), WALLS)(_noise(8, 6, 2)),
            "components stand last",
        ),
        (lambda t: AffineProjection([[1, 2], [3]]), "its rows have different lengths"),
        (lambda t: mirror_projection((3,), 5), "axis=5: wanted a whole number from -1 to 0, since"),
        (lambda t: end_points_projection((4, 3), 7), "axis=7"),
        (lambda t: end_points_projection((1, 3), 0), "one entry along it, wanted two or more"),
        (lambda t: Reconciliation([[1, 1], [1]]), "summing is no array of real numbers"),
        (
            lambda t: Reconciliation(SUMMING, "mint", residuals=np.ones((3, 3)), shrinkage="auto"),
            "shrinkage='auto': wanted a number in",
        ),
        (
            lambda t: BlendedTopDown(Reconciliation(SUMMING), TopDown(SUMMING, [0.5, 0.5]), "x"),
            "weight='x'",
        ),
        (lambda t: SimplexProjection(1.0, weights=[1, 1])(_noise(3)), "an entry for each of the w"),
        (lambda t: drift(1.0, 1.0, math.nan), "steps=nan: wanted a whole number"),
        (lambda t: target_distortion(_same, t), "projection is of type function"),
        (lambda t: SimplexProjection("a"), "total='a': wanted a positive number"),
        (lambda t: SimplexProjection(1.0, weights=[1, math.nan]), "weights: wanted positive"),
        (lambda t: SimplexProjection(1.0, sample_axes=0), "sample_axes=0: wanted a whole"),
        (lambda t: BoundsProjection("a"), "lower='a': wanted a finite number"),
        (lambda t: BoundsProjection(0.0, math.nan), "upper=nan: wanted a finite number"),
        (lambda t: EnergyProjection("a", dimension=2), "mean_square='a': wanted a positive"),
        (lambda t: EnergyProjection(1.0, dimension=4), "dimension=4: wanted a whole .* 1 to 3"),
        (lambda t: EnstrophyProjection(1.0, "ab"), "lengths='ab': wanted one to three"),
        (lambda t: total_projection(4), "shape=4: wanted the sizes of a state"),
        (lambda t: total_projection((2, 2), "a"), "total='a': wanted a finite number"),
        (lambda t: total_projection((2,), weights="ab"), "weights is no array of real numbers"),
        (lambda t: boundary_projection((2,), [math.nan] * 2), "values are NaN everywhere"),
        (lambda t: AffineProjection([[1, 1]], "a"), "rhs is no array of real numbers"),
        (lambda t: AffineProjection([[1, 1]], shape="ab"), "shape='ab': wanted the sizes"),
        (lambda t: AffineProjection([[1, 1]], metric="a"), "metric is no array of real numbers"),
        (lambda t: Intersection([LERAY, LERAY], iterations="a"), "iterations='a': wanted a whole"),
        (lambda t: Intersection([LERAY, LERAY], tolerance=0), "tolerance=0: wanted a positive"),
        (lambda t: MismatchedLeray((1, 1), aspect="a"), "aspect='a': wanted a positive number"),
        (lambda t: PoissonCleanup((0.1, 0.1), screened="a"), "screened='a': wanted a positive"),
        (lambda t: MeshProjection("a", [[0, 1, 2]]), "points is no array of real numbers"),
        (
            lambda t: MeshProjection([[0, 0], [1, 0], [0, 1]], [[0, 1, -1]]),
            "triangles name vertex -1, but there are 3 points",
        ),
        (
            lambda t: StaggeredProjection((8, 8), (0.1, 0.1), WALLS, openings=3),
            "openings is of type int: wanted one array for each component",
        ),
        (lambda t: Reconciliation(SUMMING, names=["a"]), "names: got 1, wanted 3"),
        (
            lambda t: BlendedTopDown(3, TopDown(SUMMING, [0.5, 0.5]), 0.5),
            "reconciliation is of type int: wanted Reconciliation",
        ),
        (
            lambda t: BlendedTopDown(
                Reconciliation([[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
                TopDown(SUMMING, [0.5, 0.5]),
                0.5,
            ),
            "another hierarchy",
        ),
    ],
)
def test_bad_arguments_are_named(truth, call, match):
    with pytest.raises((ValueError, TypeError), match=match):
        call(truth)


def test_states_with_reversed_components_are_recognized(truth):
    with pytest.warns(UserWarning, match=r"claims to be exact.*components in reverse order"):
        report = recommend(_same, LERAY, truth.flip(2))
    assert "reverse the components or transpose the grid" in report.warning


def test_a_flow_from_rest_is_no_blow_up():
    push = torch.ones(1, 2, 4, 4)
    found = rollout(lambda u: u + push, torch.zeros(1, 2, 4, 4), 5)
    assert (found.status, float(found.states.max())) == ("ok", 5.0)
    found = rollout(lambda u: 200.0 * u + push, torch.zeros(1, 2, 4, 4), 5)
    assert (found.status, found.steps) == ("blow-up", (0, 1))


def test_nothing_to_measure_is_zero(truth):
    assert symmetry(LERAY, truth[:0], truth[:0]) == 0.0
    assert symmetry(LERAY, 0.0 * truth[0], truth[0]) == 0.0
    assert rollout(_same, truth[:0, 0], 2).states.shape == (0, 3, 2, 8, 8)


def test_intersections_of_different_metrics_warn_once():
    weighted = AffineProjection([[1.0, 1.0, 1.0]], [1.0], metric=[1.0, 2.0, 3.0])
    both = Intersection([weighted, BoundsProjection(0.0)])
    with pytest.warns(UserWarning, match="different inner products .* not the nearest"):
        found = both(_noise(2, 3))
    assert float(both.defect(found).max()) < 1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both(_noise(2, 3))
        Intersection([AffineProjection([[1.0, 1.0, 1.0]], [1.0]), BoundsProjection(0.0)])(
            _noise(2, 3)
        )
