"""Files are written whole or not at all."""

from __future__ import annotations

import os

import pytest

from sciml import _atomic


def test_text_and_bytes_replace_what_was_there(tmp_path):
    path = tmp_path / "a" / "b.txt"
    _atomic.write(path, "first\n")
    _atomic.write(path, "zweite Zeile ü\n".encode())
    assert path.read_bytes() == "zweite Zeile ü\n".encode()
    assert os.listdir(path.parent) == ["b.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "b.txt"
    _atomic.write(path, "old")

    def refuse(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="no space left"):
        _atomic.write(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["b.txt"]


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_the_file_is_as_readable_as_any_other(tmp_path):
    (tmp_path / "plain").write_text("")
    _atomic.write(tmp_path / "atomic", "")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "plain").stat().st_mode
