"""The command line, through the same door as a user."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import sciml
from sciml.cli.app import app
from sciml.cli.document import plain
from sciml.cli.failure import check_target
from sciml.cli.simulate import parse_settings

KEYS = [
    "equation",
    "latex",
    "terms",
    "standard_errors",
    "chi2",
    "identifiability",
    "rivals",
    "symmetry",
    "noise_estimate",
    "data",
    "version",
]

CASES = """
from sciml.theory import Prediction
from sciml.validation import Case

def predict(value):
    return (Prediction(name="one", value=value, kind="equals"),)

def stop():
    raise KeyboardInterrupt

CASES = [
    Case(name="right", run=lambda: {"one": 1.0}, predictions=predict(1.0)),
    Case(name="wrong", run=lambda: {"one": 1.0}, predictions=predict(2.0)),
    Case(name="raises", run=lambda: 1 / 0, predictions=predict(1.0)),
    Case(name="stops", run=stop, predictions=predict(1.0)),
    Case(name="long", run=lambda: {"one": 1.0}, predictions=predict(1.0), tier="full"),
]
"""


def sciml_command(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


# --- the command itself ----------------------------------------------------------------------


def test_help_names_every_command():
    result = sciml_command("--help")
    assert result.exit_code == 0
    for command in ("discover", "simulate", "validate", "list"):
        assert command in result.stdout
    assert sciml_command().stdout.split() == result.stdout.split()  # no arguments: help


@pytest.mark.parametrize("command", ["discover", "simulate", "validate", "list"])
def test_every_command_explains_itself(command):
    assert sciml_command(command, "--help").exit_code == 0


def test_version():
    assert sciml_command("--version").stdout == f"sciml-pdes {sciml.__version__}\n"


def test_unknown_commands_and_options_are_usage_errors():
    assert sciml_command("discovr").exit_code == 2
    assert sciml_command("validate", "--teir", "full").exit_code == 2
    assert sciml_command("validate", "--tier", "slow").exit_code == 2


# --- validate --------------------------------------------------------------------------------


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "topic.py").write_text(CASES)
    return folder


@pytest.mark.parametrize(
    ("pattern", "code", "words"),
    [
        ("right", 0, "1 passed, 0 failed"),
        ("wrong", 1, "0 passed, 1 failed"),
        ("topic/r*", 1, "1 passed, 1 failed"),
        ("raises", 1, "ZeroDivisionError: division by zero"),
        ("stops", 130, "interrupted after 0 of 1 cases"),
    ],
)
def test_validate_says_and_exits(suite, pattern, code, words):
    result = sciml_command("validate", pattern, "--suite", suite)
    assert result.exit_code == code
    assert words in result.stdout
    assert "Traceback" not in result.output


def test_validate_offers_the_closest_names(suite):
    result = sciml_command("validate", "rihgt", "--suite", suite)
    assert result.exit_code == 2
    assert "No validation case fits 'rihgt'. Closest: topic/right" in result.stderr
    result = sciml_command("validate", "long", "--suite", suite)
    assert result.exit_code == 2
    assert "--tier full" in result.stderr


def test_validate_writes_json_and_html(suite, tmp_path):
    result = sciml_command(
        "validate", "r*g*", "--suite", suite, "--json", "out/r.json", "--html", "out/html"
    )
    assert result.exit_code == 0
    plain_report = json.loads((tmp_path / "out" / "r.json").read_text())
    assert [r["name"] for r in plain_report["results"]] == ["topic/right"]
    assert plain_report["version"] == sciml.__version__
    assert "topic/right" in (tmp_path / "out" / "html" / "index.html").read_text()


@pytest.mark.parametrize(
    "target",
    [
        ("--json", "suite"),
        ("--json", "suite/topic.py/r.json"),
        ("--html", "suite/topic.py"),
        ("--html", "suite/topic.py/r.html"),
    ],
)
def test_validate_refuses_what_it_cannot_write_before_the_work(suite, tmp_path, target):
    (suite / "mark.py").write_text(
        "from pathlib import Path\n"
        + CASES.replace('lambda: {"one": 1.0}', 'lambda: Path("ran").touch() or {"one": 1.0}')
    )
    result = sciml_command("validate", "mark/right", "--suite", suite, *target)
    assert result.exit_code == 2
    assert result.stderr.startswith(" ".join(target))
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here")
def test_targets_are_tried_and_nothing_is_left(tmp_path, recording, fake):
    result = sciml_command("discover", recording, "--json", "/proc/x.json")
    assert result.exit_code == 2
    assert "--json /proc/x.json cannot be written, since /proc takes no new" in result.stderr
    before = sorted(tmp_path.iterdir())
    check_target("--json", tmp_path / "deep" / "r.json")
    assert sorted(tmp_path.iterdir()) == before


def test_validate_does_not_break_names_of_cases(suite, monkeypatch):
    name = "a_name_that_is_long_enough_to_be_folded"
    (suite / "topic.py").write_text(CASES.replace('name="right"', f'name="{name}"'))
    monkeypatch.setenv("COLUMNS", "80")
    assert f"topic/{name}" in sciml_command("validate", name, "--suite", suite).stdout


def test_validate_keeps_long_results(suite, tmp_path):
    command = ("validate", "long", "--suite", suite, "--tier", "full", "--cache", "kept")
    assert "from the cache" not in sciml_command(*command).stdout
    assert "1 from the cache" in sciml_command(*command).stdout
    assert "from the cache" not in sciml_command(*command, "--no-resume").stdout
    assert len(list((tmp_path / "kept" / "validation").iterdir())) == 1


def test_validate_debug_shows_the_traceback_of_a_case(suite):
    result = sciml_command("validate", "raises", "--suite", suite, "--debug")
    assert "Traceback" in result.stdout


# --- discover --------------------------------------------------------------------------------


@dataclass
class FakeTest:
    statistic: float = 3.0
    holds: bool = True
    meaning: str = "unchanged by a boost"


class FakeReport:
    tests = {"galilean": FakeTest()}  # noqa: RUF012

    def to_dict(self) -> dict[str, object]:
        return {"gate_open": True, "statistic": np.float64(3.0)}


@dataclass
class FakeVerdict:
    verdict: str = "weak"
    ratio: float = 2.0


class FakeModel:
    """What the command needs of an estimator, with numbers that are easy to find again."""

    terms_ = {"u": {"u*u_x": -1.25, "u_xx": 0.125}}  # noqa: RUF012
    standard_errors_ = {"u": {"u*u_x": 0.01, "u_xx": np.float64(0.002)}}  # noqa: RUF012
    chi2_ = {"u": 1.02}  # noqa: RUF012
    n_rows_ = 2002
    adequate_ = {"u": True}  # noqa: RUF012
    rivals_ = {  # noqa: RUF012
        "u": [
            {"without": "u_xx", "terms": {"1": -0.5, "u_x": 3.0}, "ratio": 2.0, "verdict": "weak"}
        ]
    }
    identifiability_ = {"u": FakeVerdict()}  # noqa: RUF012
    symmetry_ = {"u": FakeReport()}  # noqa: RUF012
    noise_estimate_ = {"u": float("nan")}  # noqa: RUF012
    field_scale_ = {"u": 1.0}  # noqa: RUF012

    def equations(self) -> list[str]:
        return ["u_t = -1.25*u*u_x + 0.125*u_xx"]

    def latex(self) -> str:
        return r"u_t = -1.25 u u_x"

    def plot(self) -> np.ndarray:
        from matplotlib.figure import Figure

        return np.ravel(Figure(figsize=(2, 1)).subplots(1, 2))


@pytest.fixture(autouse=True)
def free_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output must not fold at a width that a test runner sets for its workers."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Three decaying Fourier modes: u_t = 0.1 u_xx on a periodic axis, written by numpy."""
    x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 2, 80)
    u = sum(np.exp(-0.1 * k**2 * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
    np.savez(tmp_path / "heat.npz", u=u, x=x, t=t)
    return tmp_path / "heat.npz"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Replace the estimator, and keep what it was called with."""
    calls = SimpleNamespace()

    def discover(data, **options):
        calls.data, calls.options = data, options
        warnings.warn("u: only a few windows fit", UserWarning, stacklevel=2)
        warnings.warn("u: only a few windows fit", UserWarning, stacklevel=2)
        warnings.warn("overflow encountered", RuntimeWarning, stacklevel=2)
        return FakeModel()

    monkeypatch.setitem(vars(sciml), "discover", discover)
    monkeypatch.setitem(vars(sciml), "Library", lambda extra: ("library", extra))
    return calls


def test_discover_prints_terms_evidence_and_warnings(recording, fake):
    result = sciml_command("discover", recording)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "u_t = -1.25*u*u_x + 0.125*u_xx" in lines
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.strip()}
    assert rows["u*u_x"] == ["-1.25", "0.01", "125"]
    assert rows["u_xx"] == ["2", "times", "u_t", "=", "-0.5", "+", "3*u_x"]  # the rival without it
    assert rows["galilean"][:2] == ["3", "compatible"]
    assert any(line.startswith("weak: another equation") for line in lines)
    assert any(line.startswith("chi2/n = 1.02: what is left over looks like") for line in lines)
    assert lines.count("Note: u: only a few windows fit") == 1
    assert "overflow" not in result.output


def test_discover_says_if_the_equation_does_not_explain_the_data(recording, fake, monkeypatch):
    monkeypatch.setattr(FakeModel, "chi2_", {"u": 7.0})
    monkeypatch.setattr(FakeModel, "adequate_", {"u": False})
    assert "probably needs something outside the library" in sciml_command(
        "discover", recording
    ).stdout.replace("\n", " ")


@pytest.mark.parametrize(
    ("chi2", "adequate", "rows", "words"),
    [
        (0.5, True, 2002, "less is left over than noise or the grid explain"),
        (1.01, True, 2002, "looks like the noise, as it should"),
        (1.28, True, 2002, "a little more is left over than white noise explains"),
        (1.28, True, 102, "looks like the noise, as it should"),  # 2 standard deviations
        (1.01, False, 2002, "the equation does not explain the data, as the notes say"),
        (1.28, False, 2002, "more is left over than noise or the grid explain; the equation"),
    ],
)
def test_words_about_the_residual_fit_its_size(
    recording, fake, monkeypatch, chi2, adequate, rows, words
):
    monkeypatch.setattr(FakeModel, "chi2_", {"u": chi2})
    monkeypatch.setattr(FakeModel, "adequate_", {"u": adequate})
    monkeypatch.setattr(FakeModel, "n_rows_", rows)
    lines = sciml_command("discover", recording).stdout.splitlines()
    line = next(line for line in lines if line.startswith("chi2/n"))
    assert line.startswith(f"chi2/n = {chi2:g}: ")
    assert words in line


def test_discover_writes_exactly_the_agreed_json(recording, fake, tmp_path):
    sciml_command(
        "discover", recording, "--noise", "0.1", "--seed", "7", "--json", tmp_path / "r.json"
    )
    text = (tmp_path / "r.json").read_text()
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert list(found) == KEYS
    assert found["equation"] == "u_t = -1.25*u*u_x + 0.125*u_xx"
    assert found["terms"] == FakeModel.terms_
    assert found["standard_errors"] == FakeModel.standard_errors_
    assert found["identifiability"] == {"u": {"verdict": "weak", "ratio": 2.0}}
    assert found["symmetry"] == {"u": {"gate_open": True, "statistic": 3.0}}
    assert found["noise_estimate"] == {"u": "nan"}
    assert found["data"]["file"] == "heat.npz"
    assert found["data"]["sizes"] == {"time": 80, "x": 64}
    assert found["data"]["ranges"]["time"] == [0.0, 2.0]
    assert (found["data"]["noise_added"], found["data"]["noise_seed"]) == (0.1, 7)
    assert found["data"]["warnings"] == ["u: only a few windows fit"]


def test_discover_hands_the_options_on(recording, fake):
    sciml_command(
        "discover", recording, "--estimator", "eqod", "--seed", "3",
        "--terms", "u_x/x", "--terms", "u_x^2", "--periodic", "x",
        "--field", "u", "--time", "t", "--space", "x", "--axes", "x, t",
    )  # fmt: skip
    assert fake.options == {
        "library": ("library", ("u_x/x", "u_x^2")),
        "estimator": "eqod",
        "random_state": 3,
    }
    assert fake.data.x.attrs["periodic"] == 1
    assert fake.data.u.dims == ("time", "x")


def test_discover_looks_for_second_order_in_time(recording, fake):
    sciml_command("discover", recording, "--time-order", 2)
    assert fake.options["time_order"] == 2
    result = sciml_command("discover", recording, "--time-order", 2, "--estimator", "eqod")
    assert result.exit_code == 2
    assert "--time-order 2 does not go with --estimator eqod" in result.stderr
    assert sciml_command("discover", recording, "--time-order", 3).exit_code == 2


def test_discover_finds_a_wave(tmp_path):
    x, t = np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, 4, 120)
    u = sum(np.cos(1.5 * k * t) * np.cos(k * x[:, None] + k) for k in (1, 2, 3))
    np.savez(tmp_path / "wave.npz", u=u, x=x, t=t)
    result = sciml_command(
        "discover", tmp_path / "wave.npz", "--time-order", 2, "--periodic", "x",
        "--json", tmp_path / "r.json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["terms"]["u"] == {"u_xx": pytest.approx(2.25, rel=1e-2)}
    assert found["equation"].startswith("u_tt = ")


def test_discover_adds_noise_of_the_stated_strength(recording, fake):
    sciml_command("discover", recording)
    clean = fake.data.u
    assert fake.options["library"] is None
    sciml_command("discover", recording, "--noise", "0.1", "--seed", "1")
    change = fake.data.u - clean
    assert float(change.std()) == pytest.approx(0.1 * float(clean.std()), rel=0.05)
    sciml_command("discover", recording, "--noise", "0.1", "--seed", "2")
    assert not np.allclose(fake.data.u - clean, change)


def test_discover_takes_axes_that_the_file_lacks(fake, tmp_path):
    np.save(tmp_path / "bare.npy", np.random.default_rng(0).normal(size=(30, 20)))
    result = sciml_command(
        "discover", tmp_path / "bare.npy", "--time", "0:1:30", "--space", "1:2:20", "--axes", "t,x"
    )
    assert result.exit_code == 0, result.output
    np.testing.assert_allclose(fake.data.time, np.linspace(0, 1, 30))
    np.testing.assert_allclose(fake.data.x, np.linspace(1, 2, 20))


@pytest.mark.parametrize(
    "text", ["0:1", "0:1:ten", "0:1:1", "0:1:-3", "0:1:10:2", ":", "a:b:3", "0:inf:3"]
)
def test_axes_that_are_none_are_refused(recording, fake, text):
    result = sciml_command("discover", recording, "--time", text)
    assert result.exit_code == 2
    assert "nor START:STOP:POINTS" in result.stderr.replace("\n", " ")


def test_reading_errors_name_the_options(fake, tmp_path):
    np.save(tmp_path / "bare.npy", np.zeros((30, 20)))
    result = sciml_command("discover", tmp_path / "bare.npy")
    assert result.exit_code == 2
    assert "On the command line: --field, --time, --space and --axes" in result.stderr


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_discover_draws(recording, tmp_path, suffix):
    result = sciml_command("discover", recording, "--plot", tmp_path / f"a.{suffix}")
    assert result.exit_code == 0, result.output
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert (tmp_path / f"a.{suffix}").read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--field", "w"], "w"),
        (["--noise", "-1"], "level of the noise is -1.0"),
        (["--periodic", "y"], "'y' is no space axis of heat.npz: it has ['x']"),
        (["--plot", "a.xyz"], "xyz"),
        (["--seed", "-3"], "--seed"),
        (["--json", "."], "--json . is a folder: name a file"),
        (["--json", "heat.npz/r.json"], "--json heat.npz/r.json cannot be written"),
    ],
)
def test_discover_fails_with_one_paragraph(recording, fake, tmp_path, monkeypatch, change, words):
    monkeypatch.chdir(tmp_path)
    result = sciml_command("discover", recording, *change)
    assert result.exit_code == 2
    assert words in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.output
    assert not (tmp_path / "a.xyz").exists()


def test_discover_explains_files_that_are_none(tmp_path, fake):
    (tmp_path / "empty.npz").write_bytes(b"")
    for path in (tmp_path / "empty.npz", tmp_path / "missing.mat"):
        result = sciml_command("discover", path)
        assert result.exit_code == 2
        assert path.name in result.stderr
        assert "Traceback" not in result.output


def test_debug_lets_the_exception_through(tmp_path):
    result = sciml_command("discover", tmp_path / "missing.mat", "--debug")
    assert isinstance(result.exception, Exception)
    assert not isinstance(result.exception, SystemExit)


def test_an_error_nobody_foresaw_is_called_one(recording, monkeypatch):
    def discover(*_, **__):
        raise KeyError("half_width")

    monkeypatch.setitem(vars(sciml), "discover", discover)
    result = sciml_command("discover", recording)
    assert result.exit_code == 2
    assert "Unexpected KeyError: 'half_width' (--debug shows where it happened)" in result.stderr


def test_discover_finds_the_heat_equation(recording, tmp_path):
    result = sciml_command(
        "discover", recording, "--periodic", "x", "--noise", "0.02", "--json", tmp_path / "r.json"
    )
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "r.json").read_text())
    assert list(found) == KEYS
    assert list(found["terms"]["u"]) == ["u_xx"]
    coefficient, error = found["terms"]["u"]["u_xx"], found["standard_errors"]["u"]["u_xx"]
    assert abs(coefficient - 0.1) < 4 * error < 0.01
    assert found["data"]["periodic"] == ["x"]
    assert 0.7 < found["chi2"]["u"] < 1.4


# --- simulate and list -----------------------------------------------------------------------


def test_settings_are_numbers_or_text():
    assert parse_settings(["a=1", "b=0.5", "c=text", "d=[1, 2]", "e=x=y"]) == {
        "a": 1,
        "b": 0.5,
        "c": "text",
        "d": [1, 2],
        "e": "x=y",
    }
    for bad in (["viscosity"], ["=1"], ["a b=1"]):
        with pytest.raises(ValueError, match="wanted NAME=VALUE"):
            parse_settings(bad)
    with pytest.raises(ValueError, match="gives 'a' twice"):
        parse_settings(["a=1", "a=2"])


def test_json_of_odd_values():
    assert plain([np.float32(0.5), {1: (1j, None)}, np.bool_(True), float("inf")]) == [
        0.5,
        {"1": [[0.0, 1.0], None]},
        True,
        "inf",
    ]


def test_list_shows_every_problem_with_its_equation():
    import pdes

    result = sciml_command("list")
    assert result.exit_code == 0
    rows = [line for line in result.stdout.splitlines() if "u_t = -u*u_x + 0.1*u_xx" in line]
    assert any(row.startswith("burgers ") and "benchmark" in row for row in rows)
    first = [line.split()[0].rstrip(",") for line in result.stdout.splitlines()]
    assert set(pdes.available()) <= set(first)


@pytest.mark.parametrize("width", [80, 120])
def test_list_has_one_line_for_each_problem(monkeypatch, width):
    import pdes

    monkeypatch.setenv("COLUMNS", str(width))
    lines = sciml_command("list").stdout.splitlines()
    assert [line.split()[0].rstrip(",…") for line in lines] == ["name", *pdes.available()]
    assert max(map(len, lines)) <= width
    battery = next(line for line in lines if line.startswith("battery"))
    assert "steady: -(p u_x)_x - (q" in battery


def test_list_by_tag():
    chaotic = sciml_command("list", "--tag", "chaotic").stdout
    assert "kuramoto_sivashinsky" in chaotic and "heat" not in chaotic
    result = sciml_command("list", "--tag", "nonsense")
    assert result.exit_code == 2
    assert "no problem has the tag 'nonsense'; tags: " in result.stderr


def test_list_describes_one_problem():
    import pdes

    result = sciml_command("list", "burgers")
    assert result.exit_code == 0, result.output
    assert result.output.strip() == str(pdes.describe("burgers")).strip()
    assert "viscosity = 0.1  [0.0001, 10]  nu, the viscosity [L^2/T]" in result.output
    for arguments, words in (
        (["list", "burger"], "did you mean 'burgers'?"),
        (["list", "burgers", "--tag", "1d"], "leave it out"),
        (["list", "--tag", "benchmrk"], "did you mean 'benchmark'?"),
    ):
        failed = sciml_command(*arguments)
        assert failed.exit_code == 2
        assert words in " ".join(failed.output.split())


def test_simulate_replaces_a_file_only_when_told(tmp_path):
    out = tmp_path / "u.nc"
    out.write_text("precious")
    refused = sciml_command("simulate", "heat_one_mode", "--out", out)
    assert refused.exit_code == 2
    words = " ".join(refused.output.split())
    assert "exists: choose another name, or replace it (--overwrite)" in words
    assert out.read_text() == "precious"
    assert sciml_command("simulate", "heat_one_mode", "--out", out, "--overwrite").exit_code == 0
    assert out.read_bytes()[:8] != b"precious"


def test_simulate_takes_a_grid_and_an_initial_field_as_json(tmp_path):
    from pdes.data import load

    out = tmp_path / "u.nc"
    result = sciml_command(
        *("simulate", "heat", "--out", out, "--set", 'grid={"x": [0, 1, 32]}'),
        *("--set", 'initial={"family": "RandomFourier", "modes": 2}', "--set", "times=[0, 0.1]"),
        *("--set", "stored_points=null"),
    )
    assert result.exit_code == 0, result.output
    assert load(out).sizes == {"time": 2, "x": 32}
    for text, words in (("grid=64", "wanted JSON such as"), ("initial=sine", "wanted JSON")):
        failed = sciml_command("simulate", "heat", "--out", tmp_path / "v.nc", "--set", text)
        assert failed.exit_code == 2 and words in failed.output


def test_warnings_of_a_run_are_sentences(tmp_path):
    result = sciml_command(
        "simulate", "burgers", "--out", tmp_path / "u.nc", "--set", "times=[0, 0.01]",
        "--set", "viscosity=0.0001", "--set", 'grid={"x": [0, 6.28, 16]}',
        "--set", "stored_points=16",
    )  # fmt: skip
    assert "Warning: the highest modes hold" in result.output
    assert "ResolutionWarning" not in result.output and ".py:" not in result.output


def test_simulate_writes_what_the_library_simulates(tmp_path):
    import xarray as xr

    import pdes

    out = tmp_path / "u.nc"
    result = sciml_command("simulate", "burgers", "--set", "viscosity=0.2", "--out", out)
    assert result.exit_code == 0, result.output
    assert "u_t = -u*u_x + 0.2*u_xx" in result.stdout
    assert "status ok" in result.stdout
    expected = pdes.simulate(pdes.get("burgers", viscosity=0.2))
    xr.testing.assert_equal(pdes.data.load(out), expected)


def test_simulate_solves_what_is_steady(tmp_path):
    import xarray as xr

    import pdes

    out = tmp_path / "u.nc"
    result = sciml_command("simulate", "battery", "--set", "resolution=2", "--out", out)
    assert result.exit_code == 0, result.output
    expected = pdes.solve(pdes.get("battery", resolution=2))
    xr.testing.assert_equal(pdes.data.load(out), expected)
    assert result.stdout.startswith("steady: -(p u_x)_x - (q u_y)_y = f")
    assert f"point {expected.sizes['point']}, status ok" in result.stdout


def test_simulate_follows_a_steady_problem_in_time(tmp_path):
    from pdes.data import load

    out = tmp_path / "u.nc"
    result = sciml_command(
        "simulate", "thermoelastic_mode", "--set", "resolution=2", "--in-time", "--out", out
    )
    assert result.exit_code == 0, result.output
    assert load(out)["T"].dims == ("time", "point")
    failed = sciml_command("simulate", "motz", "--in-time", "--out", tmp_path / "v.nc")
    assert failed.exit_code == 2 and "'motz' is a SteadyProblem" in failed.output


def test_simulate_names_the_axes_before_their_lengths(tmp_path):
    result = sciml_command("simulate", "darcy", "--out", tmp_path / "u.nc")
    assert "x 64, y 64, status ok" in result.stdout.splitlines()


def test_simulate_draws_samples_by_seed(tmp_path):
    import pdes

    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        sciml_command(
            "simulate", "heat", "--samples", 2, "--seed", seed, "--out", tmp_path / f"{name}.nc"
        )
    a, b, c = (pdes.data.load(tmp_path / f"{name}.nc").u for name in "abc")
    assert a.sizes["sample"] == 2
    assert a.equals(b) and not a.equals(c)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["burgrs", "--out", "u.nc"], "did you mean 'burgers'?"),
        (["burgers", "--out", "u.txt"], ".txt"),
        (["burgers", "--out", "u.nc", "--set", "viscosity=-1"], "viscosity=-1 is outside"),
        (["burgers", "--out", "u.nc", "--set", "viscosty=0.1"], "viscosity"),
        (["burgers", "--out", "u.nc", "--set", "0.1"], "wanted NAME=VALUE"),
        (["burgers", "--out", "u.nc", "--seed", "-3"], "'--seed'"),
        (["battery", "--out", "u.nc", "--seed", "3"], "--seed 3 does not apply"),
        (["battery", "--out", "u.nc", "--samples", "3"], "--samples 3 does not apply"),
    ],
)
def test_simulate_fails_with_one_paragraph(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    result = sciml_command("simulate", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_simulated_data_give_their_equation_back(tmp_path):
    sciml_command("simulate", "burgers", "--out", tmp_path / "u.nc")
    result = sciml_command("discover", tmp_path / "u.nc", "--noise", "0.05", "--seed", "1")
    assert result.exit_code == 0, result.output
    line = next(line for line in result.stdout.splitlines() if line.startswith("u_t = "))
    assert [term.split("*", 1)[1] for term in line.removeprefix("u_t = ").split(" + ")] == [
        "u*u_x",
        "u_xx",
    ]


def test_long_rivals_are_cut_short(recording, fake, monkeypatch):
    terms = {f"u^{k}": -1.0 * k for k in range(1, 10)}
    rival = {"without": "u_xx", "terms": terms, "ratio": 1.0, "verdict": "ambiguous"}
    monkeypatch.setattr(FakeModel, "rivals_", {"u": [rival]})
    text = " ".join(sciml_command("discover", recording).stdout.split())
    assert "u_t = -1*u^1 - 2*u^2 - 3*u^3 - 4*u^4 - 5*u^5 + ... (4 more)" in text


def test_an_equation_without_terms_is_shown(recording, fake, monkeypatch):
    for name in ("terms_", "standard_errors_"):
        monkeypatch.setattr(FakeModel, name, {"u": {}})
    monkeypatch.setattr(FakeModel, "identifiability_", {"u": FakeVerdict(verdict="unknown")})
    result = sciml_command("discover", recording)
    assert result.exit_code == 0
    assert "no term of the library explains the data" in result.stdout
    assert "chi2" not in result.stdout
    assert "rival" not in result.stdout
