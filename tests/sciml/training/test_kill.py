"""Killed twenty times, half of them in the middle of writing: not a bit is different."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from sciml import _resources


@pytest.mark.skipif(not hasattr(os, "fork"), reason="sessions are forked")
def test_killed_twenty_times_is_bit_for_bit_the_run_left_in_peace(tmp_path):
    script = _resources.folder("validation") / "_kill_and_resume.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), "20", "0"],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert found["killed"] == 20
    assert found["killed while writing"] >= 10
    assert (found["weights"], found["lines"]) == (257, 420)
    assert (found["weights that differ"], found["lines that differ"]) == (0, 0)
