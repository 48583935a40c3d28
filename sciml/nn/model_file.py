"""A model as two files: weights in safetensors, everything else in JSON. Nothing is pickled."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from sciml import _atomic
from sciml.nn.exchanged import exchanged_modules, put_exchanged
from sciml.nn.model_registry import constructor_arguments, made

__all__ = ["ModelFileError", "ModelInfo", "load_model", "model_info", "save_model"]

FORMAT = "sciml-model-1"


class ModelFileError(ValueError):
    """A model file is missing, damaged, or does not fit its class."""


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """What a model file says beside the weights.

    Attributes
    ----------
    name : str
        Class.
    arguments : dict
        Of its constructor.
    version : str
        Of the package that wrote it.
    seed : int or None
        That the weights were made with.
    training : dict
        Summary of the run, such as `TrainingRecord.to_dict` returns.
    data : dict
        Which variables of a dataset are its inputs and targets, as far as known.
    """

    name: str
    arguments: Mapping[str, Any]
    version: str
    seed: int | None
    training: Mapping[str, Any]
    data: Mapping[str, Any]


def save_model(
    model: torch.nn.Module,
    path: str | Path,
    *,
    seed: int | None = None,
    training: Any = None,
    data: Mapping[str, Any] | None = None,
) -> Path:
    """Write a model so that `load_model` makes it again, bit for bit.

    Parameters
    ----------
    model : Module
        Of a class that is registered (`register_model`).
    path : path
        Folder, for ``model.safetensors`` and ``model.json`` in it; or a name that ends in one of
        these suffixes, for two files of that name.
    seed : int, optional
        That the weights were made with.
    training : TrainingRecord or mapping, optional
        What is known about the training.
    data : mapping, optional
        Variables that are inputs and targets.

    Returns
    -------
    pathlib.Path
        The JSON file.

    Raises
    ------
    TypeError
        If the class is not registered, an argument of the constructor is no data, or the model was
        changed in a way that the file cannot hold. Parts that were exchanged for others of a
        registered class, as by `sciml.operators.replace_normalization`, are written too.

    Examples
    --------
    >>> import tempfile
    >>> from sciml.nn import Normalized
    >>> model = Normalized(None, in_channels=1, out_channels=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_model(model, folder, seed=3)
    ...     model_info(folder).seed, type(load_model(folder)).__name__
    (3, 'Normalized')
    """
    from safetensors.torch import save

    state = model.state_dict()
    arguments = constructor_arguments(model)
    content = save({name: _stored(name, value) for name, value in state.items()})
    stem = _stem(Path(path))
    body = {
        "format": FORMAT,
        "class": type(model).__name__,
        "arguments": arguments,
        "exchanged": exchanged_modules(model, arguments),
        "version": _version(),
        "seed": seed,
        "training": _plain(training.to_dict() if hasattr(training, "to_dict") else training or {}),
        "data": _plain(data or {}),
        "complex": [name for name, value in state.items() if value.is_complex()],
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    text = json.dumps(body, indent=2, allow_nan=False) + "\n"
    _atomic.write(_with(stem, ".safetensors"), content)
    return _atomic.write(_with(stem, ".json"), text)


def load_model(path: str | Path, device: str | torch.device = "cpu") -> torch.nn.Module:
    """Make a model again from its file, in evaluation mode.

    Only classes that are registered or public in this package are made; no code of the file runs.

    Parameters
    ----------
    path : path
        What `save_model` was given.
    device : str or torch.device, default "cpu"
        Where to put it.

    Returns
    -------
    Module

    Raises
    ------
    ModelFileError
        If a file is missing or damaged, the class unknown, or the weights do not fit it.
    """
    from safetensors.torch import load

    stem, body = _read(path)
    weights_file = _with(stem, ".safetensors")
    try:
        content = weights_file.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{weights_file} cannot be read ({error.strerror})") from error
    if hashlib.sha256(content).hexdigest() != body["sha256"]:
        raise ModelFileError(
            f"{weights_file} is not the file that {stem.name}.json was written with (its checksum "
            "differs): it is damaged, or the two were mixed up"
        )
    tensors = load(content)
    for name in body["complex"]:
        tensors[name] = torch.view_as_complex(tensors[name])
    try:
        with torch.random.fork_rng(devices=[]):
            model = made(body["class"], body["arguments"])
            put_exchanged(model, body["exchanged"])
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{_with(stem, '.json')}: {error}") from error
    for name, own in model.state_dict(keep_vars=True).items():
        if name in tensors and own.dtype != tensors[name].dtype:
            own.data = own.data.to(tensors[name].dtype)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise ModelFileError(
            f"{weights_file} does not fit {body['class']} of this version (written by "
            f"{body['version']}): {error}"
        ) from error
    return model.to(device).eval()


def model_info(path: str | Path) -> ModelInfo:
    """Read what a model file says beside the weights.

    Parameters
    ----------
    path : path
        What `save_model` was given.

    Returns
    -------
    ModelInfo

    Raises
    ------
    ModelFileError
        If it is missing or damaged.
    """
    _, body = _read(path)
    return ModelInfo(
        name=body["class"],
        **{name: body[name] for name in ("arguments", "version", "seed", "training", "data")},
    )


def _read(path: str | Path) -> tuple[Path, dict[str, Any]]:
    stem = _stem(Path(path))
    file = _with(stem, ".json")
    if not file.is_file():
        raise ModelFileError(
            f"no model at {path}: wanted {file} and {stem.name}.safetensors beside it"
        )
    wanted = {"class": str, "arguments": dict, "version": str, "sha256": str, "complex": list}
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
        fits = body["format"] == FORMAT and all(isinstance(body[k], t) for k, t in wanted.items())
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise ModelFileError(f"{file} is damaged or no model file ({error})") from error
    if not fits:
        raise ModelFileError(f"{file} is no model file of the format {FORMAT!r}")
    return stem, {"seed": None, "training": {}, "data": {}, "exchanged": {}, **body}


def _stem(path: Path) -> Path:
    if path.suffix in (".json", ".safetensors"):
        return path.with_suffix("")
    return path / "model"


def _with(stem: Path, suffix: str) -> Path:
    return stem.with_name(stem.name + suffix)


def _stored(name: str, value: Any) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"the state {name!r} of the model is a {type(value).__name__}: a model file holds "
            "tensors only"
        )
    plain = value.detach().resolve_conj().cpu()
    plain = torch.view_as_real(plain) if plain.is_complex() else plain
    # A clone: tied weights share memory, which the file format refuses.
    return plain.clone(memory_format=torch.contiguous_format)


def _plain(value: Any) -> Any:
    """JSON data, with text for numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return _plain(value.item()) if hasattr(value, "item") else str(value)


def _version() -> str:
    try:
        return version("sciml-pdes")
    except PackageNotFoundError:  # a source tree that was never installed
        return "unknown"
