"""Checkpoints: a safetensors file and a JSON file each, whole or not there at all.

``step-000000100.safetensors`` is written first and ``step-000000100.json``, which names its
checksum, after it; both take their place in one step. A checkpoint exists once its JSON file does,
so a process that is killed while it writes leaves the one before in force.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciml import _atomic
from sciml.training.errors import CheckpointError
from sciml.training.state_tree import pack, unpack

__all__ = ["Checkpoint", "CheckpointFolder", "load_checkpoint", "save_checkpoint"]

FORMAT = "sciml-checkpoint-1"

_NAME = re.compile(r"step-(\d{9})\.json")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """State of a run after some steps.

    Parameters
    ----------
    step : int
        Steps that were taken.
    state : dict
        Nested state: model, optimizer, scheduler, random numbers, history.
    path : pathlib.Path
        The JSON file.
    """

    step: int
    state: Mapping[str, Any]
    path: Path


def save_checkpoint(folder: str | Path, step: int, state: Mapping[str, Any]) -> Path:
    """Write a checkpoint.

    Parameters
    ----------
    folder : path
        Made if it is missing.
    step : int
        Steps that were taken.
    state : mapping
        What `sciml.training.state_tree.pack` accepts.

    Returns
    -------
    pathlib.Path
        The JSON file.

    Raises
    ------
    TypeError
        If the state holds something that is not data.

    Examples
    --------
    >>> import tempfile, torch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_checkpoint(folder, 3, {"weights": torch.ones(2)})
    ...     load_checkpoint(path).state["weights"]
    tensor([1., 1.])
    """
    from safetensors.torch import save

    tree, tensors = pack(state, "state")
    content = save(tensors)
    stem = Path(folder) / f"step-{step:09d}"
    _atomic.write(stem.with_suffix(".safetensors"), content)
    body = {
        "format": FORMAT,
        "step": step,
        "sha256": hashlib.sha256(content).hexdigest(),
        "state": tree,
    }
    sealed = {**body, "checksum": _checksum(body)}
    return _atomic.write(stem.with_suffix(".json"), json.dumps(sealed, allow_nan=False) + "\n")


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Read one checkpoint, and check every byte of it.

    Parameters
    ----------
    path : path
        Its JSON file.

    Returns
    -------
    Checkpoint

    Raises
    ------
    CheckpointError
        If a file is missing, damaged, or something else.
    """
    from safetensors.torch import load

    path = Path(path)
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        claimed = body.pop("checksum")
        if body["format"] != FORMAT or _checksum(body) != claimed:
            raise CheckpointError(f"{path.name} is damaged: its checksum differs")
        content = path.with_suffix(".safetensors").read_bytes()
        if hashlib.sha256(content).hexdigest() != body["sha256"]:
            name = path.with_suffix(".safetensors").name
            raise CheckpointError(f"{name} is damaged: its checksum differs")
        state = unpack(body["state"], load(content))
    except CheckpointError:
        raise
    except FileNotFoundError as error:
        raise CheckpointError(f"{error.filename} is missing") from error
    except Exception as error:
        # Damage shows as many kinds of exception: bad UTF-8, bad JSON, a missing entry.
        raise CheckpointError(f"{path.name} is damaged or no checkpoint ({error})") from error
    return Checkpoint(step=int(body["step"]), state=state, path=path)


def _checksum(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class CheckpointFolder:
    """The last few checkpoints of one run.

    Parameters
    ----------
    path : pathlib.Path
        Folder.
    keep : int, default 3
        How many stay; older ones are removed once a newer one is complete.
    """

    path: Path
    keep: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        if self.path.exists() and not self.path.is_dir():
            raise FileExistsError(f"checkpoint={self.path} is a file: wanted a folder")
        if self.keep < 2:
            raise ValueError(
                f"keep_checkpoints={self.keep}: at least 2 are kept, so that one is left if the "
                "other is damaged"
            )

    def files(self) -> list[Path]:
        """JSON files of the checkpoints that are here, oldest first."""
        if not self.path.is_dir():
            return []
        return sorted(file for file in self.path.iterdir() if _NAME.fullmatch(file.name))

    def save(self, step: int, state: Mapping[str, Any]) -> Path:
        """Write a checkpoint, then remove those that are no longer kept."""
        path = save_checkpoint(self.path, step, state)
        for old in self.files()[: -self.keep]:
            # The JSON file first: without it the other file is no checkpoint, with it alone a lie.
            old.unlink(missing_ok=True)
            old.with_suffix(".safetensors").unlink(missing_ok=True)
        return path

    def latest(self) -> Checkpoint | None:
        """The newest checkpoint that is whole, or None if there is none at all.

        Raises
        ------
        CheckpointError
            If there are checkpoints and every one is damaged.
        """
        reasons = []
        for file in reversed(self.files()):
            try:
                found = load_checkpoint(file)
            except CheckpointError as error:
                reasons.append(str(error))
                continue
            if reasons:
                _log.warning("%s; going on from step %d", "; ".join(reasons), found.step)
            return found
        if reasons:
            raise CheckpointError(
                f"no checkpoint in {self.path} can be used: {'; '.join(reasons)}. Restore one from "
                "a backup, or start anew in another folder"
            )
        return None

    def discard_after(self, step: int) -> None:
        """Remove checkpoints of later steps, which a run that goes on from ``step`` replaces."""
        for file in self.files():
            if int(file.stem[5:]) > step:
                file.unlink(missing_ok=True)
                file.with_suffix(".safetensors").unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove what a killed process left half written."""
        if not self.path.is_dir():
            return
        known = {file.stem for file in self.files()}
        for file in self.path.iterdir():
            leftover = file.name.startswith(".step-") and file.name.endswith(".tmp")
            orphan = file.name.startswith("step-") and file.suffix == ".safetensors"
            if leftover or (orphan and file.stem not in known):
                with contextlib.suppress(FileNotFoundError):
                    file.unlink()
