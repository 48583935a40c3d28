"""Find the cases of a folder: every ``<topic>.py`` in it has a list named ``CASES``."""

from __future__ import annotations

import contextlib
import difflib
import fnmatch
import hashlib
import importlib
import logging
import sys
import traceback
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sciml import _resources
from sciml.validation.case import Case

_log = logging.getLogger(__name__)


class UnknownCaseError(ValueError):
    """No case has a name that fits the pattern."""


@dataclass(frozen=True, kw_only=True)
class Suite:
    """The cases of a folder.

    Attributes
    ----------
    folder
        Where they were found.
    cases
        Case for each full name, such as ``solvers/heat``, in the order of the files.
    broken
        Traceback for each topic whose file could not be loaded.
    """

    folder: Path
    cases: Mapping[str, Case] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)

    def select(self, pattern: str | None = None, tier: str = "full") -> Suite:
        """Return the cases that a run is about.

        Parameters
        ----------
        pattern
            Shell pattern over full or short names (``solvers/*``), or a part of a name; None for
            all.
        tier
            ``"quick"`` leaves out the cases of tier ``"full"``; ``"full"`` takes all.

        Raises
        ------
        UnknownCaseError
            If no case fits, with the closest names.

        Examples
        --------
        >>> "theory/exclusion-theorem" in load().select("exclusion").cases
        True
        """
        if tier not in ("quick", "full"):
            raise ValueError(f"tier is {tier!r}: it must be quick or full")
        named = {name: case for name, case in self.cases.items() if _fits(name, pattern)}
        broken = {topic: trace for topic, trace in self.broken.items() if _may_fit(topic, pattern)}
        if not named and not broken:
            raise UnknownCaseError(self._unknown(pattern))
        chosen = {
            name: case for name, case in named.items() if tier == "full" or case.tier == "quick"
        }
        if not chosen and not broken:
            raise UnknownCaseError(
                f"The cases that fit {pattern!r} are all of tier full: {', '.join(named)}. "
                "Run them with --tier full."
            )
        return Suite(folder=self.folder, cases=chosen, broken=broken)

    def source(self, name: str) -> list[Path]:
        """Return the files that a case is made of: its own and the shared ``_*.py`` beside it."""
        return [self.folder / f"{name.partition('/')[0]}.py", *sorted(self.folder.glob("_*.py"))]

    def _unknown(self, pattern: str | None) -> str:
        if not self.cases:
            return f"No validation cases are in {self.folder}: it holds no <topic>.py with CASES."
        parts = {name.partition("/")[2]: name for name in self.cases}
        wanted = (pattern or "").strip("*")
        close = difflib.get_close_matches(wanted, [*self.cases, *parts], n=4, cutoff=0.4)
        names = list(dict.fromkeys(parts.get(name, name) for name in close)) or list(self.cases)[:8]
        return f"No validation case fits {pattern!r}. Closest: {', '.join(names)}."


def load(folder: str | Path | None = None) -> Suite:
    """Load the cases of a folder.

    Parameters
    ----------
    folder
        Folder of ``<topic>.py`` files; those that begin with ``_`` and subfolders are left out.
        The suite of this installation if None.

    Returns
    -------
    Suite
        A file that fails to load does not stop the others: its traceback is in ``broken``.

    Raises
    ------
    FileNotFoundError
        If the folder is missing.

    Examples
    --------
    >>> suite = load()
    >>> suite.broken
    {}
    """
    root = Path(folder) if folder is not None else _resources.folder("validation")
    if not root.is_dir():
        raise FileNotFoundError(f"folder {root} of validation cases does not exist")
    cases: dict[str, Case] = {}
    broken: dict[str, str] = {}
    with _package_of(root) as package:
        for path in sorted(root.glob("*.py")):
            topic = path.stem
            if topic.startswith("_"):
                continue
            try:
                module = importlib.import_module(f"{package}.{topic}")
                cases.update(_cases_of(module, topic))
            except Exception:
                _log.exception("validation/%s.py could not be loaded", topic)
                broken[topic] = traceback.format_exc()
    return Suite(folder=root, cases=cases, broken=broken)


def _cases_of(module: types.ModuleType, topic: str) -> dict[str, Case]:
    listed = getattr(module, "CASES", None)
    if not isinstance(listed, (list, tuple)) or not all(isinstance(case, Case) for case in listed):
        raise TypeError(f"{topic}.py has no list CASES of sciml.validation.Case")
    named: dict[str, Case] = {}
    for case in listed:
        name = f"{topic}/{case.name}"
        if name in named:
            raise ValueError(f"two cases are named {name}")
        named[name] = case
    return named


@contextlib.contextmanager
def _package_of(folder: Path) -> Iterator[str]:
    """Make the folder importable under a name of its own, without touching ``sys.path``.

    Its files can then share code by ``from . import _shared``, and no byte code is written beside
    them: the folder may be read-only, and what lies in it is packed into wheels.
    """
    digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    name = f"_sciml_validation_{digest}"
    for stale in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
        del sys.modules[stale]  # the files may have changed since
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    importlib.invalidate_caches()
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield name
    finally:
        sys.dont_write_bytecode = writes


def _fits(name: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    short = name.partition("/")[2]
    return any(fnmatch.fnmatchcase(label, pattern) for label in (name, short)) or pattern in name


def _may_fit(topic: str, pattern: str | None) -> bool:
    # The names in a broken file are unknown: it counts if the pattern's topic could be it.
    if pattern is None:
        return True
    head = pattern.partition("/")[0]
    return fnmatch.fnmatchcase(topic, head) or head in topic
