"""Tables over grids and diagnosis of layers: known gaps, exact sums, predictions, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from sciml.nn import SampleGrid, quadrature_weights
from sciml.operators import (
    FNO,
    BlendQuadNorm,
    DeepONet,
    Transolver,
    UNet,
    diagnose_resolution,
    resolution_gap,
)
from sciml.operators.common_nodes import common_nodes
from sciml.operators.layer_watch import watched
from sciml.operators.resolution import fitted_order


def field(grid):
    s = torch.linspace(0, 1, grid[0], dtype=torch.float64)
    x, y = s[:, None], s[None, :]
    return (torch.exp(x * y) * torch.cos(2 * x + y) + x / 2).view(1, 1, *grid)


def fno(norm, depth=2, **options):
    return FNO(
        1, 1, 8, (6, 6), depth, norm=norm, axis_kinds="node", channel_mlp=False, seed=0, **options
    ).double()


GRIDS = [(33, 33), (65, 65), (129, 129)]


def test_errors_and_inconsistency_are_what_they_say():
    class Off(nn.Module):
        """Wrong by one part in M."""

        def forward(self, x):
            return x * (1 + 1 / (x.shape[-1] - 1))

    gap = resolution_gap(Off(), lambda grid: (field(grid), field(grid)), GRIDS, axis_kinds="node")
    assert [row.error for row in gap.rows] == pytest.approx([1 / 32, 1 / 64, 1 / 128], rel=1e-12)
    expected = [0.0, *(1 - (1 + 1 / n) / (1 + 1 / 32) for n in (64, 128))]
    assert [row.inconsistency for row in gap.rows] == pytest.approx(expected, rel=1e-12)
    assert gap.degradation == pytest.approx(0.25)
    assert gap.order == pytest.approx(1.0, abs=1e-3)
    assert "33 x 33  3.125e-02       1.000" in str(gap)


@pytest.mark.parametrize(("norm", "low", "high"), [("instance", 0.9, 1.2), ("quad", 1.9, 2.2)])
def test_fitted_order_tells_normalizations_apart(norm, low, high):
    gap = resolution_gap(fno(norm), field, GRIDS, axis_kinds="node")
    assert low < gap.order < high
    assert math.isnan(gap.rows[0].error)


@pytest.mark.parametrize("norm", ["instance", "layer", "blend"])
def test_the_mismatch_of_a_layer_is_the_predicted_one(norm):
    found = diagnose_resolution(
        fno(norm), field((129, 129)), [(33, 33), (129, 129)], axis_kinds="node"
    )
    norms = [layer for layer in found.layers if "Norm" in layer.kind]
    assert len(norms) == 2
    for layer in norms:
        assert layer.predicted > 3e-3
        assert layer.mismatch == pytest.approx(layer.predicted, rel=0.12)


def test_groups_and_gains_enter_the_prediction():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.GroupNorm(2, 4, affine=True).double()
            self.norm.weight.data = torch.tensor([1.0, -3.0, 0.5, 2.0], dtype=torch.float64)
            self.norm.bias.data = torch.tensor([0.3, 1.0, 0.0, -2.0], dtype=torch.float64)

        def forward(self, x):
            return self.norm(torch.cat([x, x**2, x.sin(), 3 * x], 1))

    found = diagnose_resolution(
        Model(), field((257, 257)), [(65, 65), (257, 257)], axis_kinds="node"
    )
    assert found.layers[0].mismatch == pytest.approx(found.layers[0].predicted, rel=0.05)
    assert found.gap == pytest.approx(found.layers[0].mismatch, rel=1e-9)


def test_on_left_axes_the_prediction_holds_too():
    def left(grid):
        s = torch.arange(grid[0], dtype=torch.float64) / grid[0]
        return torch.exp(s).view(1, 1, -1)

    model = nn.Sequential(nn.InstanceNorm1d(1).double())
    found = diagnose_resolution(model, left, [(64,), (256,)], axis_kinds="left")
    assert found.layers[0].mismatch == pytest.approx(found.layers[0].predicted, rel=0.05)


MODELS = {
    "FNO, instance": lambda: fno("instance"),
    "FNO, quad": lambda: fno("quad"),
    "FNO, blend, fast transform": lambda: fno("blend", fourier="periodic"),
    "FNO with perceptrons": lambda: FNO(
        1, 1, 6, (4, 4), 2, norm="quad_layer", axis_kinds="node", seed=0
    ).double(),
    "Transolver": lambda: Transolver(
        1, 1, 2, 8, 2, n_heads=2, n_slices=4, axis_kinds="node", seed=0
    ).double(),
    "plain Transolver": lambda: Transolver(
        1, 1, 2, 8, 2, n_heads=2, n_slices=4, quadrature=False, axis_kinds="node", seed=0
    ).double(),
    "DeepONet": lambda: DeepONet(1, 1, 2, 8, axis_kinds="node", seed=0).double(),
    "U-Net": lambda: UNet(1, 1, 4, 8, 2, axis_kinds="node", seed=0).double(),
}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_nothing_is_left_when_every_layer_is_corrected(name):
    model = MODELS[name]()
    before = model(field((17, 17)))
    found = diagnose_resolution(model, field, [(17, 17), (65, 65)], axis_kinds="node")
    assert found.gap > 1e-6
    assert found.gap_without_all < 1e-10 * found.gap + 1e-14
    # Alone, each layer is a part of it; together, to first order, the whole.
    assert sum(layer.moves_output for layer in found.layers) > 0.7 * found.gap
    assert torch.equal(model(field((17, 17))), before)
    assert not any("forward" in m.__dict__ or "normalize" in m.__dict__ for m in model.modules())


def test_a_wrong_layer_is_named():
    model = fno("quad", depth=3)
    wrong = nn.InstanceNorm2d(8, affine=True).double()
    model.blocks[1].norm = wrong
    found = diagnose_resolution(model, field, [(33, 33), (129, 129)], axis_kinds="node")
    assert found.largest.name == "blocks.1.norm"
    right = diagnose_resolution(
        fno("quad", depth=3), field, [(33, 33), (129, 129)], axis_kinds="node"
    )
    assert found.gap > 1.5 * right.gap
    assert found.largest.gap_without == pytest.approx(right.gap, rel=0.15)
    assert "blocks.1.norm" in str(found)


def test_convolutions_over_points_are_left_over():
    model = UNet(1, 1, 4, n_levels=2, scales="points", axis_kinds="node", seed=0).double()
    found = diagnose_resolution(model, field, [(17, 17), (65, 65)], axis_kinds="node")
    assert found.gap_without_all > 0.3 * found.gap


def test_only_the_part_of_a_blend_is_predicted():
    def two(grid):
        return field(grid).expand(1, 2, -1, -1) * torch.tensor([1.0, 2.0]).view(1, 2, 1, 1)

    predicted = []
    for alpha in (0.0, 0.5, 1.0):
        model = nn.Sequential(BlendQuadNorm(2, alpha).double())
        gap = resolution_gap(model, two, GRIDS[:2], axis_kinds="node")
        predicted.append(gap.rows[1].predicted_normalization)
    assert predicted[0] > 1e-3
    assert predicted[1] == pytest.approx(0.5 * predicted[0], rel=0.2)  # the output is another
    assert predicted[2] == 0.0


def test_watching_changes_nothing():
    for norm in ("quad", "blend", "layer", None):
        model, x = fno(norm), field((17, 17))
        with watched(model, lambda name, layer, x, run: run(x)):
            y = model(x)
        assert torch.allclose(y, model(x), atol=1e-12)


def test_fitted_order_of_known_distances():
    h = np.array([1 / 8, 1 / 16, 1 / 32])
    for p in (0.5, 1.0, 2.0, 4.0):
        assert fitted_order(h, 3 * (h**p - (1 / 64) ** p), 1 / 64) == pytest.approx(p, abs=1e-3)
    assert math.isnan(fitted_order([0.1], [1.0], 0.01))
    assert math.isnan(fitted_order([0.1, 0.2], [0.0, 0.0], 0.01))


def test_common_nodes():
    periodic = [quadrature_weights((n,), axis_kinds="periodic") for n in (8, 12)]
    nodes = common_nodes(*periodic)
    assert nodes.first[0].tolist() == [0, 2, 4, 6]
    assert nodes.second[0].tolist() == [0, 3, 6, 9]
    assert nodes.weights.sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="share 1 points along axis 0; wanted nested grids"):
        common_nodes(periodic[0], quadrature_weights((9,), axis_kinds="periodic"))
    with pytest.raises(ValueError, match="other dimensions"):
        common_nodes(periodic[0], quadrature_weights((8, 8), axis_kinds="periodic"))


def test_bad_input_is_refused():
    model = fno(None)
    with pytest.raises(ValueError, match="got 1, wanted at least two"):
        resolution_gap(model, field, [(33, 33)], axis_kinds="node")
    with pytest.raises(ValueError, match="never guessed"):
        resolution_gap(model, field, GRIDS)
    with pytest.raises(
        ValueError, match=r"inputs are \(1, 1, 9, 9\) for a grid of shape \(33, 33\)"
    ):
        resolution_gap(model, lambda grid: field((9, 9)), GRIDS, axis_kinds="node")
    with pytest.raises(ValueError, match="model: the output has shape"):
        resolution_gap(nn.Flatten(), field, GRIDS, axis_kinds="node")
    with pytest.raises(ValueError, match="got 3, wanted a coarse and a fine one"):
        diagnose_resolution(model, field, GRIDS, axis_kinds="node")
    with pytest.raises(ValueError, match="must all be among those of"):
        diagnose_resolution(model, field, [(65, 65), (33, 33)], axis_kinds="node")


def test_pictures():
    grids = [SampleGrid.of_shape(shape, "node") for shape in GRIDS]
    gap = resolution_gap(
        fno("instance"), lambda grid: (field(grid.shape), field(grid.shape)), grids
    )
    axes = gap.plot()
    assert [line.get_label() for line in axes.get_lines()][:3] == [
        "error",
        "distance from the first grid",
        "of it normalization, predicted",
    ]
    assert axes.get_lines()[0].get_ydata() == pytest.approx([row.error for row in gap.rows])
    found = diagnose_resolution(
        fno("instance"), lambda grid: field(grid.shape), [grids[0], grids[2]]
    )
    axes = found.plot(axes.figure.add_subplot())
    assert [text.get_text() for text in axes.get_yticklabels()] == [n.name for n in found.layers]
    assert len(axes.patches) == 4


def test_fields_on_other_points_are_refused_and_pairs_are_taken():
    model = FNO(1, 1, 4, 4, 1, norm="instance", axis_kinds="node", seed=0)

    def sample_at(grid):
        s = torch.linspace(0, 1, grid[0]).view(1, 1, -1)
        return s.sin(), s.cos()

    grids = [(9,), (17,)]
    with pytest.raises(ValueError, match=r"got \(1, 1, 9\) for a grid of shape \(17,\)"):
        diagnose_resolution(model, sample_at((9,))[0], grids, axis_kinds="node")
    with pytest.raises(ValueError, match=r"got \(1, 1, 17\) for a grid of shape \(9,\)"):
        diagnose_resolution(model, lambda grid: sample_at((17,)), grids, axis_kinds="node")
    pairs = diagnose_resolution(model, sample_at, grids, axis_kinds="node")
    alone = diagnose_resolution(model, sample_at((17,))[0], grids, axis_kinds="node")
    assert pairs.gap == pytest.approx(alone.gap, rel=1e-5)
