"""Tables in the long and in the wide form, with the separators and heads that people use."""

from __future__ import annotations

import numpy as np
import pytest

from pdes.data import ReadError, assumptions, read


@pytest.fixture
def table(tmp_path):
    def write(text, encoding="utf-8"):
        (tmp_path / "run.csv").write_text(text, encoding=encoding)
        return tmp_path / "run.csv"

    return write


def long_form(wave, separator=",", head="t,x,u"):
    rows = [
        separator.join(repr(float(value)) for value in (t, x, wave.u[i, k]))
        for i, x in enumerate(wave.x)
        for k, t in enumerate(wave.t)
    ]
    return "\n".join([head.replace(",", separator), *rows])


def wide_form(wave, corner="x", label=repr):
    head = ",".join([corner, *(label(float(t)) for t in wave.t)])
    rows = [",".join(repr(float(v)) for v in [x, *wave.u[i]]) for i, x in enumerate(wave.x)]
    return "\n".join([head, *rows])


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", "   "])
def test_long_form(table, wave, separator):
    assert wave.matches(read(table(long_form(wave, separator))).u)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(table, wave, encoding):
    text = "# température mesurée\n" + long_form(wave)
    assert wave.matches(read(table(text, encoding)).u)


def test_rows_in_any_order(table, wave):
    head, *rows = long_form(wave).split("\n")
    np.random.default_rng(1).shuffle(rows)
    assert wave.matches(read(table("\n".join([head, *rows]))).u)


def test_units_in_the_head(table, wave):
    data = read(table(long_form(wave, head="t (s),x [m],speed (m/s)")))
    assert wave.matches(data.speed)
    assert (data.time.attrs["units"], data.x.attrs["units"]) == ("s", "m")
    assert data.speed.attrs["units"] == "m/s"


def test_foreign_heads_are_named_by_the_caller(table, wave):
    path = table(long_form(wave, head="tau,position,height"))
    with pytest.raises(ReadError, match="no time axis found"):
        read(path)
    assert wave.matches(read(path, time="tau", space="position").height)


def test_commented_head_of_savetxt(tmp_path, wave):
    x, t = np.meshgrid(wave.x, wave.t)
    columns = np.column_stack([t.ravel(), x.ravel(), wave.u.T.ravel()])
    np.savetxt(tmp_path / "run.txt", columns, header="t x u", fmt="%.17g")
    assert wave.matches(read(tmp_path / "run.txt").u)


def test_decimal_commas(table, wave):
    text = long_form(wave, ";").replace(".", ",")
    data = read(table(text))
    assert wave.matches(data.u)
    assert "decimal commas read as points" in assumptions(data)


@pytest.mark.parametrize(
    ("corner", "label", "sentence"),
    [
        ("x", repr, "column heads taken as values of the axis time"),
        ("x", lambda t: f"t={t!r}", None),
        ("x", lambda t: f"u @ t={t!r}", None),
        ("x\\t", repr, None),
        ("x (m)", lambda t: f"u (m/s) @ t = {t!r}", None),
    ],
)
def test_wide_form(table, wave, corner, label, sentence):
    data = read(table(wide_form(wave, corner, label)))
    assert wave.matches(data.u)
    assert (sentence in assumptions(data)) == (sentence is not None)


def test_wide_form_with_time_going_down(table, wave):
    head = ",".join(["t", *(repr(float(x)) for x in wave.x)])
    rows = [",".join(repr(float(v)) for v in [t, *wave.u[:, k]]) for k, t in enumerate(wave.t)]
    data = read(table("\n".join([head, *rows])))
    assert wave.matches(data.u)
    assert "column heads taken as values of the axis x" in assumptions(data)


def test_wide_form_with_an_empty_corner_asks_for_axes(table, wave):
    path = table(wide_form(wave, corner=""))
    with pytest.raises(ReadError, match=r"'rows' is not known as an axis.*axes=\('t', 'x'\)"):
        read(path)
    assert wave.matches(read(path, axes=("x", "t")).u)


def test_several_fields_side_by_side(table, wave):
    both = wide_form(wave, "x", lambda t: f"u @ t={t!r}").split("\n")
    other = wide_form(wave, "x", lambda t: f"v @ t={t!r}").split("\n")
    text = "\n".join(a + "," + b.split(",", 1)[1] for a, b in zip(both, other, strict=True))
    with pytest.raises(ReadError, match="2 variables could be the field"):
        read(table(text))
    data = read(table(text), field=["u", "v"])
    assert wave.matches(data.u) and np.array_equal(data.u, data.v)


def test_missing_cells_are_nan(table, wave):
    lines = long_form(wave).split("\n")
    for k, gap in ((5, ""), (6, "nan"), (7, "NA")):
        lines[k] = lines[k].rsplit(",", 1)[0] + "," + gap
    data = read(table("\n".join(lines)))
    assert np.isnan(data.u.values).sum() == 3
    assert np.isnan(data.u.values[4:7, 0]).all()


def test_array_without_head(tmp_path, wave):
    np.savetxt(tmp_path / "run.txt", wave.u, fmt="%.17g")
    with pytest.raises(ReadError, match="For columns, add a header line such as t,x,u"):
        read(tmp_path / "run.txt")
    assert wave.matches(read(tmp_path / "run.txt", time=wave.t, space=wave.x).u)


def test_incomplete_grid(table, wave):
    lines = long_form(wave).split("\n")
    with pytest.raises(
        ReadError, match="83 rows do not fill the grid of 7 time x 12 x = 84 points"
    ):
        read(table("\n".join(lines[:-1])))


def test_repeated_point(table, wave):
    lines = long_form(wave).split("\n")
    lines[-1] = lines[1]
    lines.append(lines[1])
    with pytest.raises(ReadError, match="the point time = 0, x = -1 occurs 3 times"):
        read(table("\n".join(lines)))


@pytest.mark.parametrize(
    ("line", "replacement", "message"),
    [
        (4, "0.1,0.2,fast", "run.csv, line 4, column 3: 'fast' is not a number"),
        (4, "0.1,0.2", "run.csv, line 4: 2 cells, wanted 3"),
        (4, "nan,0.2,0.3", "the coordinate time is nan in data row 3"),
        (1, "t,x,x", "two columns called 'x'"),
    ],
)
def test_broken_lines_are_located(table, wave, line, replacement, message):
    lines = long_form(wave).split("\n")
    lines[line - 1] = replacement
    with pytest.raises(ReadError, match=message):
        read(table("\n".join(lines)))
