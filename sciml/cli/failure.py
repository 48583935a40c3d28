"""Failures as a paragraph that a person can act on, instead of a traceback."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import typer

from sciml.cli.console import messages

EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

# Errors of these kinds are raised on purpose, with a message for the user.
_EXPECTED = (ValueError, OSError, ImportError, ArithmeticError, RuntimeError)


@contextlib.contextmanager
def readable(debug: bool = False) -> Iterator[None]:
    """End the command with a red message and exit code 2 if something inside raises.

    Parameters
    ----------
    debug
        Let the exception through, with its traceback.
    """
    try:
        yield
    except typer.Exit:
        raise
    except KeyboardInterrupt:
        say("Interrupted.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except Exception as error:
        if debug:
            raise
        say(_message(error))
        raise typer.Exit(EXIT_USAGE) from None


@contextlib.contextmanager
def said_warnings() -> Iterator[None]:
    """Show warnings as yellow sentences, each once, instead of lines of Python."""
    import warnings

    from rich.text import Text

    said: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        text = str(message)
        if text not in said:
            said.add(text)
            messages().print(Text(f"Warning: {text}", style="yellow"), soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("always", ResourceWarning)
        warnings.showwarning = show
        yield


def check_suffix(option: str, path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuse a target whose format is not known, before the work is done."""
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{option} {path}: the name must end in {', '.join(suffixes)}")


def check_target(option: str, path: Path, folder: bool = False) -> None:
    """Refuse a target that cannot be written, before the work is done.

    Parameters
    ----------
    option
        Name of the option, for the message.
    path
        What is to be written; missing parent folders count as writable, as they are made.
    folder
        Whether the target may be a folder, such as a Zarr store.

    Raises
    ------
    ValueError
        If the target is a folder but should be a file, or its folder takes no new files.
    """
    if path.is_dir() and not folder:
        raise ValueError(f"{option} {path} is a folder: name a file, such as {path / 'result'}")
    # What is there is replaced by a new file, so that its folder must take one.
    parent = next(each for each in path.absolute().parents if os.path.lexists(each))
    if not parent.is_dir():
        raise ValueError(f"{option} {path} cannot be written: {parent} is no folder")
    try:
        # Permissions do not tell the whole truth (read-only and virtual file systems), a try does.
        with tempfile.TemporaryFile(dir=parent):
            pass
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ValueError(
            f"{option} {path} cannot be written, since {parent} takes no new files ({reason}): "
            "choose another place"
        ) from error


def say(message: str) -> None:
    """Print a message in red on the error stream."""
    from rich.text import Text

    messages().print(Text(message, style="red"), soft_wrap=True)


def _message(error: Exception) -> str:
    text = "\n".join(line.rstrip() for line in str(error).splitlines() if line.strip())
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    if isinstance(error, _EXPECTED) and text:
        return text
    kind = type(error).__name__
    return f"Unexpected {kind}: {text or 'no message'} (--debug shows where it happened)"
