"""Models survive their files bit for bit, and nothing but known classes comes out of one."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from sciml.nn import (
    ModelFileError,
    Normalized,
    load_model,
    model_info,
    register_model,
    registered_models,
    save_model,
)
from sciml.nn.model_registry import constructor_arguments


@register_model
class Wave(torch.nn.Module):
    """Complex weights, tied weights, a buffer, arguments of several kinds."""

    def __init__(self, channels, widths=(4, 4), *, options=None, generator=None, **further):
        super().__init__()
        self.spectrum = torch.nn.Parameter(torch.randn(channels, widths[0], dtype=torch.cfloat))
        self.first = torch.nn.Linear(channels, channels, bias=False)
        self.second = torch.nn.Linear(channels, channels, bias=False)
        self.second.weight = self.first.weight
        self.register_buffer("steps", torch.tensor(3))
        self.further = further

    def forward(self, u):
        return self.second(self.first(u)) * self.spectrum.abs().mean()


class Nameless(torch.nn.Module):
    pass


def test_bits_types_ties_and_arguments_survive(tmp_path):
    model = Wave(3, [5, 2], options={"n": np.int64(2)}, generator=torch.Generator(), extra=1.5)
    with torch.no_grad():
        model.steps += 4
    path = save_model(model.double(), tmp_path / "m", seed=7, data={"inputs": ["a"]})
    again = load_model(path)
    assert {k: v.dtype for k, v in again.state_dict().items()} == {
        k: v.dtype for k, v in model.state_dict().items()
    }
    assert all(torch.equal(v, again.state_dict()[k]) for k, v in model.state_dict().items())
    assert again.first.weight is again.second.weight
    assert not again.training
    assert again.further == {"extra": 1.5}
    info = model_info(tmp_path / "m")
    assert (info.name, info.seed, info.data) == ("Wave", 7, {"inputs": ["a"]})
    assert info.arguments == {
        "channels": 3,
        "widths": [5, 2],
        "options": {"n": 2},
        "extra": 1.5,
    }


def test_defaults_are_kept_since_a_later_version_may_have_others():
    assert constructor_arguments(Wave(2))["widths"] == [4, 4]


def test_a_list_that_the_caller_changes_later_is_kept_as_it_was():
    widths = [4, 4]
    model = Wave(2, widths)
    widths[0] = 9
    assert constructor_arguments(model)["widths"] == [4, 4]


def test_models_in_models_are_made_again(tmp_path):
    model = Normalized(Wave(2), in_channels=2, out_channels=2)
    model.set_statistics([1.0, 2.0], [0.0, 3.0], [0.0, 0.0], [1.0, 1.0])
    assert model.input_std.tolist() == [1.0, 3.0]  # a constant channel keeps its scale
    save_model(model, tmp_path)
    again = load_model(tmp_path)
    assert torch.equal(again.model.spectrum, model.model.spectrum)
    assert again.input_mean.tolist() == [1.0, 2.0]


def test_loading_draws_nothing_from_the_callers_generator(tmp_path):
    save_model(Wave(2), tmp_path)
    before = torch.get_rng_state()
    load_model(tmp_path)
    assert torch.equal(before, torch.get_rng_state())


def test_a_saved_model_has_two_files_and_a_name_of_its_own_if_wanted(tmp_path):
    save_model(Wave(2), tmp_path / "a.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "a.safetensors"]
    assert isinstance(load_model(tmp_path / "a.safetensors"), Wave)


def change(path, **entries):
    body = json.loads(path.read_text())
    path.write_text(json.dumps({**body, **entries}))


def test_damage_and_strangers_are_refused(tmp_path):
    file = save_model(Wave(2), tmp_path)
    with pytest.raises(ModelFileError, match="no model at"):
        load_model(tmp_path / "nowhere")
    kept = file.read_text()
    change(file, **{"class": "os.system"})
    with pytest.raises(ModelFileError, match=r"model class 'os.system' is unknown; known: .*Wave"):
        load_model(tmp_path)
    change(file, **{"class": "Wav"})
    with pytest.raises(ModelFileError, match="did you mean 'Wave'"):
        load_model(tmp_path)
    file.write_text(kept)
    change(file, arguments={"channels": 2, "widths": [5]})
    with pytest.raises(ModelFileError, match=r"(?s)does not fit Wave.*size mismatch"):
        load_model(tmp_path)
    change(file, arguments={})
    with pytest.raises(ModelFileError, match="channels"):
        load_model(tmp_path)
    file.write_text(kept.replace("sciml-model-1", "other"))
    with pytest.raises(ModelFileError, match="no model file of the format"):
        load_model(tmp_path)
    file.write_text(kept[:50])
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(tmp_path)
    file.write_text(kept)
    weights = tmp_path / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(ModelFileError, match="checksum"):
        load_model(tmp_path)
    weights.unlink()
    with pytest.raises(ModelFileError, match="cannot be read"):
        load_model(tmp_path)


def test_models_that_no_file_can_make_again_are_refused(tmp_path):
    with pytest.raises(TypeError, match=r"Nameless is not a registered model.*register_model"):
        save_model(Nameless(), tmp_path)
    with pytest.raises(TypeError, match=r"argument options of Wave is a device"):
        save_model(Wave(2, options=torch.device("cpu")), tmp_path)
    with pytest.raises(TypeError, match=r"argument model of Normalized|Nameless is not"):
        save_model(Normalized(Nameless(), 1, 1), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_registering_refuses_what_has_no_names():
    with pytest.raises(TypeError, match="wanted a subclass"):
        register_model(3)
    with pytest.raises(ValueError, match=r"takes \*arguments"):

        @register_model
        class Many(torch.nn.Module):
            def __init__(self, *sizes):
                super().__init__()

    with pytest.raises(ValueError, match="'Normalized' is registered already"):
        register_model(type("Normalized", (torch.nn.Module,), {}))


def test_a_subclass_must_register_itself(tmp_path):
    class Tall(Wave):
        pass

    with pytest.raises(TypeError, match="Tall is not a registered model"):
        save_model(Tall(2), tmp_path)


def test_wrong_arguments_give_pythons_own_message():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'channels'"):
        Wave()


def test_this_packages_models_are_known_without_being_imported():
    assert {"Normalized", "Wave"} <= set(registered_models())


@pytest.mark.parametrize("shape", [(2, 3), (2, 1, 4)])
def test_normalized_refuses_other_channels(shape):
    with pytest.raises(ValueError, match=r"wanted \(batch, 2, \*grid\)"):
        Normalized(torch.nn.Identity(), 2, 2)(torch.zeros(shape))


def test_normalized_refuses_wrong_statistics():
    model = Normalized(torch.nn.Identity(), 2, 1)
    with pytest.raises(ValueError, match=r"input_mean is \[1.0\]: wanted 2 finite"):
        model.set_statistics([1.0], [1.0, 1.0], [0.0], [1.0])
    with pytest.raises(ValueError, match="output_std"):
        model.set_statistics([1.0, 1.0], [1.0, 1.0], [0.0], [float("nan")])


class Doubler(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2, 2))

    def forward(self, u):
        return 2 * u @ self.weight


def test_parts_that_were_exchanged_are_kept_if_they_are_registered(tmp_path):
    model = Normalized(Wave(2), in_channels=2, out_channels=2)
    model.model = Wave(2, [3])
    again = load_model(save_model(model, tmp_path))
    assert again.model.spectrum.shape == (2, 3)
    assert torch.equal(again.model.spectrum, model.model.spectrum)


def test_parts_that_no_file_can_make_again_are_refused_by_name(tmp_path):
    model = Wave(2)
    model.first = Doubler()
    with pytest.raises(TypeError, match="part 'first' of the model is not the Linear"):
        save_model(model, tmp_path)
    model = Wave(2)
    model.third = torch.nn.Linear(1, 1)
    with pytest.raises(TypeError, match=r"other parts than its constructor makes \(third\)"):
        save_model(model, tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"fourth": {"model": "Wave", "arguments": {}}}, "'fourth': the model has none"),
        ({"first": {"model": "Wave"}}, "wanted its class and arguments"),
        ({"first": {"model": "os.system", "arguments": {}}}, "is unknown"),
        (7, "got 7, wanted a mapping"),
    ],
)
def test_damaged_parts_are_refused(parts, message, tmp_path):
    file = save_model(Wave(2), tmp_path)
    change(file, exchanged=parts)
    with pytest.raises(ModelFileError, match=message):
        load_model(tmp_path)
