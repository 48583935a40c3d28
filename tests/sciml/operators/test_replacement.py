import pytest
import torch
from torch import nn

from sciml.nn import load_model, on_grid, save_model
from sciml.operators import FNO, QuadNorm, replace_normalization


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.InstanceNorm2d(4, affine=True, eps=1e-3)
        self.second = nn.GroupNorm(2, 4)
        self.third = nn.LayerNorm((4, 8, 8), elementwise_affine=False)

    def forward(self, x):
        return self.third(self.second(self.first(x)))


def random_affine(model):
    g = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        parameter.data.normal_(generator=g)
    return model


def test_same_outputs_on_periodic_axes():
    model = random_affine(nn.ModuleDict({"block": Block()}))["block"]
    x = torch.randn(2, 4, 8, 8, generator=torch.Generator().manual_seed(1))
    before = model(x)
    done = replace_normalization(model, axis_kinds="periodic")
    assert list(done) == ["first", "second", "third"]
    assert not done.kept
    assert [layer.groups for layer in model.children()] == [4, 2, 1]
    assert model.first.eps == 1e-3
    assert torch.allclose(model(x), before, atol=1e-5)


def test_what_is_left_alone_is_reported():
    model = nn.Sequential(
        nn.BatchNorm2d(4),
        nn.LayerNorm(4),
        nn.LayerNorm((4, 8)),
        nn.InstanceNorm1d(4, track_running_stats=True),
    )
    done = replace_normalization(model)
    assert len(done) == 0
    assert set(done.kept) == {"0", "1", "2", "3"}
    assert "batch" in done.kept["0"]
    assert "does not see the grid" in done.kept["1"]
    assert "elementwise_affine=False" in done.kept["2"]
    assert "0: kept, batch" in str(done)


def test_groups_and_grid():
    model = nn.Sequential(nn.GroupNorm(1, 4))
    replace_normalization(model, "channel")
    assert isinstance(model[0], QuadNorm) and model[0].groups == 4
    x = torch.rand(1, 4, 9)
    with pytest.raises(ValueError, match="never guessed"):
        model(x)
    with on_grid((9,), axis_kinds="node"):
        inside = model(x)
    other = nn.Sequential(nn.GroupNorm(1, 4))
    replace_normalization(other, 4, axis_kinds="node")
    assert torch.equal(other(x), inside)
    with pytest.raises(ValueError, match="groups: got 'all'"):
        replace_normalization(nn.Sequential(nn.GroupNorm(1, 4)), "all")  # type: ignore[arg-type]


def test_state_is_read_back():
    model = random_affine(nn.Sequential(nn.GroupNorm(2, 4)))
    replace_normalization(model, axis_kinds="node")
    state = model.state_dict()
    other = nn.Sequential(nn.GroupNorm(2, 4))
    replace_normalization(other, axis_kinds="node")
    other.load_state_dict(state)
    x = torch.rand(2, 4, 7, 6)
    assert torch.equal(model(x), other(x))


@pytest.mark.parametrize("norm", ["instance", "layer"])
def test_a_model_of_ours_comes_back_from_its_file_with_the_new_layers(norm, tmp_path):
    model = FNO(1, 1, 8, (4, 4), 2, norm=norm, axis_kinds="node", seed=0)
    x = torch.rand(2, 1, 9, 9)
    before = model(x)
    replace_normalization(model)
    wanted = model(x)
    assert not torch.allclose(before, wanted)
    again = load_model(save_model(model, tmp_path))
    assert torch.equal(again(x), wanted)
    assert type(again.blocks[1].second_norm) is QuadNorm


def test_a_layer_that_stands_in_two_places_is_one_afterwards():
    norm = nn.GroupNorm(2, 4)
    model = nn.ModuleList([norm, nn.Identity(), norm])
    assert replace_normalization(model, axis_kinds="node").replaced == ("0", "2")
    assert type(model[0]) is QuadNorm
    assert model[0] is model[2]


def test_what_cannot_be_changed_in_place_is_refused():
    with pytest.raises(ValueError, match="GroupNorm is itself a normalization layer"):
        replace_normalization(nn.GroupNorm(2, 4), axis_kinds="node")
    with pytest.raises(TypeError, match="model: got str, wanted"):
        replace_normalization("model")  # type: ignore[arg-type]
