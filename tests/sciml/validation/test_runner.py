"""Running, keeping and resuming."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from sciml.theory import Prediction
from sciml.validation import Case, Measurements, load, run
from sciml.validation.cache import Cache, content_key

ONE = (Prediction(name="one", value=1.0, kind="equals"),)

COUNTING = """
from pathlib import Path
from sciml.theory import Prediction
from sciml.validation import Case, Measurements
ONE = (Prediction(name="one", value={value}, kind="equals"),)

def measure():
    with (Path(__file__).parent / "runs.txt").open("a") as runs:
        runs.write("x")
    return Measurements(values={{"one": 1.0}}, table=[{{"noise": 0.05}}], note="counted")

CASES = [Case(name="{tier}", run=measure, predictions=ONE, tier="{tier}")]
"""


def raises() -> dict[str, float]:
    raise RuntimeError("the solver blew up")


def interrupts() -> dict[str, float]:
    raise KeyboardInterrupt


def runs(folder: Path) -> int:
    return len((folder / "runs.txt").read_text())


def test_results_say_what_passed_failed_and_raised():
    cases = {
        "a": Case(name="a", run=lambda: {"one": 1.0}, predictions=ONE),
        "b": Case(name="b", run=lambda: {"one": math.nan}, predictions=ONE),
        "c": Case(name="c", run=raises, predictions=ONE),
        "d": Case(name="d", run=lambda: {"two": 1.0}, predictions=ONE),
    }
    seen = []
    report = run(cases, progress=lambda *step: seen.append(step))
    assert [r.passed for r in report.results] == [True, False, False, False]
    assert seen == [(0, 4, "a"), (1, 4, "b"), (2, 4, "c"), (3, 4, "d")]
    assert "RuntimeError: the solver blew up" in report.results[2].error
    assert "in raises" in report.results[2].error  # the traceback is kept
    assert "not measured: ['one']; not predicted: ['two']" in report.results[3].error
    assert not report.passed
    assert report.summary.startswith("1 passed, 3 failed; 1 of 2 predictions hold")


def test_an_interrupt_keeps_what_is_done():
    cases = [
        Case(name="a", run=lambda: {"one": 1.0}, predictions=ONE),
        Case(name="b", run=interrupts, predictions=ONE),
        Case(name="c", run=lambda: {"one": 1.0}, predictions=ONE),
    ]
    report = run(cases)
    assert [r.name for r in report.results] == ["a"]
    assert report.interrupted and not report.passed
    assert report.summary.endswith("interrupted after 1 of 3 cases")


def test_nothing_passes_nothing():
    assert not run([]).passed


def test_a_broken_file_is_a_failure(tmp_path):
    (tmp_path / "broken.py").write_text("import nothing_of_that_name\nCASES = []\n")
    report = run(load(tmp_path).select())
    assert [r.name for r in report.results] == ["broken/*"]
    assert "nothing_of_that_name" in report.results[0].error
    assert not report.passed


def test_full_results_are_kept_and_quick_ones_are_not(tmp_path):
    cache = Cache(tmp_path / "kept")
    for tier, expected in (("full", 1), ("quick", 2)):
        folder = tmp_path / tier
        folder.mkdir()
        (folder / "counting.py").write_text(COUNTING.format(tier=tier, value=1.0))
        first, second = (run(load(folder), cache=cache) for _ in range(2))
        assert runs(folder) == expected
        assert first.passed and second.passed
        assert [r.cached for r in (*first.results, *second.results)] == [False, tier == "full"]
        assert second.results[0].table == ({"noise": 0.05},)
        assert second.results[0].note == "counted"


def test_no_resume_measures_again_and_keeps_that(tmp_path):
    (tmp_path / "counting.py").write_text(COUNTING.format(tier="full", value=1.0))
    cache = Cache(tmp_path / "kept")
    run(load(tmp_path), cache=cache, resume=False)
    run(load(tmp_path), cache=cache, resume=False)
    assert runs(tmp_path) == 2
    run(load(tmp_path), cache=cache)
    assert runs(tmp_path) == 2


@pytest.mark.parametrize("changed", ["counting.py", "_shared.py"])
def test_a_changed_source_is_measured_again(tmp_path, changed):
    (tmp_path / "_shared.py").write_text("")
    (tmp_path / "counting.py").write_text(COUNTING.format(tier="full", value=1.0))
    cache = Cache(tmp_path / "kept")
    run(load(tmp_path), cache=cache)
    with (tmp_path / changed).open("a") as source:
        source.write("\n# changed\n")
    run(load(tmp_path), cache=cache)
    assert runs(tmp_path) == 2


def test_kept_measurements_are_judged_anew(tmp_path):
    (tmp_path / "counting.py").write_text(COUNTING.format(tier="full", value=2.0))
    cache = Cache(tmp_path / "kept")
    verdicts = [run(load(tmp_path), cache=cache).results[0].verdicts[0] for _ in range(2)]
    assert [(v.measured, v.passed) for v in verdicts] == [(1.0, False), (1.0, False)]
    assert runs(tmp_path) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", '{"values": {"one": "text"}}'])
def test_an_unreadable_record_is_measured_again(tmp_path, content):
    (tmp_path / "counting.py").write_text(COUNTING.format(tier="full", value=1.0))
    cache = Cache(tmp_path / "kept")
    run(load(tmp_path), cache=cache)
    (record,) = cache.folder.iterdir()
    record.write_text(content)
    assert run(load(tmp_path), cache=cache).passed
    assert runs(tmp_path) == 2
    assert json.loads(record.read_text())["values"] == {"one": 1.0}


def test_a_case_that_raised_is_not_kept(tmp_path):
    text = COUNTING.format(tier="full", value=1.0).replace('"one": 1.0}}', '"uno": 1.0}}')
    (tmp_path / "counting.py").write_text(text.replace('"one": 1.0', '"uno": 1.0'))
    cache = Cache(tmp_path / "kept")
    assert not run(load(tmp_path), cache=cache).passed
    assert not cache.folder.exists()


def test_a_cache_that_cannot_be_written_loses_nothing(tmp_path, caplog):
    (tmp_path / "counting.py").write_text(COUNTING.format(tier="full", value=1.0))
    (tmp_path / "kept").write_text("a file where a folder is wanted")
    report = run(load(tmp_path), cache=Cache(tmp_path / "kept"))
    assert report.passed
    assert "could not be kept" in caplog.text


def test_key_depends_on_name_and_content(tmp_path):
    source = tmp_path / "case.py"
    source.write_text("1")
    keys = {content_key("a", [source]), content_key("a", [source]), content_key("b", [source])}
    source.write_text("2")
    keys.add(content_key("a", [source]))
    assert len(keys) == 3


def test_default_cache_is_chosen_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SCIML_CACHE", str(tmp_path))
    assert Cache.default().folder == tmp_path / "validation"
    monkeypatch.delenv("SCIML_CACHE")
    assert Cache.default().folder == Path(".sciml_cache") / "validation"


def figure():
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(1, 1))
    drawing.add_subplot().plot([0, 1])
    return drawing


def drawing_case(draw) -> Case:
    return Case(
        name="a", run=lambda: Measurements(values={"one": 1.0}, figure=draw), predictions=ONE
    )


def test_figures_are_drawn_on_request_only():
    assert run([drawing_case(figure)]).results[0].figure is None
    png = run([drawing_case(figure)], figures=True).results[0].figure
    assert png is not None and png.startswith(b"\x89PNG")


def test_a_figure_that_is_none_is_a_failure():
    (result,) = run([drawing_case(lambda: "picture")], figures=True).results
    assert "figure of a case returned str" in result.error


def test_a_case_that_cannot_run_here_is_skipped_with_its_reason():
    import unittest

    from sciml.theory import Prediction
    from sciml.validation import Case, run

    def absent():
        raise unittest.SkipTest("recordings not found")

    wanted = Prediction(name="x", value=1.0, kind="equals", rtol=0.1)
    (result,) = (report := run({"a": Case(name="a", run=absent, predictions=(wanted,))})).results
    assert result.skipped == "recordings not found"
    assert not result.error
    assert report.summary.startswith("0 passed, 0 failed")
    assert report.summary.endswith("1 skipped")
