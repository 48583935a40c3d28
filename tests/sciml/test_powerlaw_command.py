"""``sciml powerlaw``: files of several kinds, tables, JSON, pictures, refusals."""

from __future__ import annotations

import json

import meshio
import numpy as np
import pytest
from typer.testing import CliRunner

from sciml.cli.app import app
from sciml.cli.point_file import read_points

RUN = CliRunner()


def points(count=150):
    return np.random.default_rng(0).uniform(-1.0, 1.0, (count, 2))


X = points()
R = np.linalg.norm(X, axis=1)


def invoke(*arguments):
    return RUN.invoke(app, ["powerlaw", *map(str, arguments)])


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "field.csv"
    np.savetxt(path, np.c_[X, 2.0 * R**0.5], delimiter=",", header="x,y,u", comments="")
    return path


@pytest.fixture
def npz(tmp_path):
    path = tmp_path / "field.npz"
    np.savez(path, points=X, u=2.0 * R**0.5)
    return path


@pytest.fixture
def mesh(tmp_path):
    path = tmp_path / "field.vtk"
    cells = [("triangle", np.array([[0, 1, 2]]))]
    meshio.write(path, meshio.Mesh(np.c_[X, np.zeros(len(X))], cells, {"u": 2.0 * R**0.5}))
    return path


@pytest.mark.parametrize("kind", ["csv", "npz", "mesh"])
def test_exponents_of_every_kind_of_file(kind, request, tmp_path):
    path = request.getfixturevalue(kind)
    out = tmp_path / "result.json"
    result = invoke(path, "--json", out)
    assert result.exit_code == 0, result.output
    assert "150 values of u" in result.output and "r^0.5" in result.output
    (term,) = json.loads(out.read_text())["terms"]
    assert term["exponent"] == pytest.approx(0.5, abs=1e-9)
    assert term["coefficient"] == pytest.approx(2.0, abs=1e-9)


def test_radii_and_a_center(tmp_path):
    radii = tmp_path / "radii.csv"
    np.savetxt(radii, np.c_[R, R**-1.0], delimiter=",", header="r,u", comments="")
    assert "r^-1" in invoke(radii).output
    assert "leave it out" in invoke(radii, "--center", "0").output
    moved = tmp_path / "moved.npz"
    np.savez(moved, x=X[:, 0] + 2.0, y=X[:, 1] - 1.0, u=R**0.5)
    result = invoke(moved, "--center", "2,-1")
    assert "r^0.5" in result.output, result.output
    assert "wanted 2 numbers" in invoke(moved, "--center", "2").output


def test_sources_with_json_and_picture(tmp_path):
    path = tmp_path / "sources.npz"
    u = np.log(np.hypot(*(X - [0.3, 0.1]).T)) - np.log(np.hypot(*(X - [-0.5, -0.2]).T))
    np.savez(path, x=X[:, 0], y=X[:, 1], u=u)
    out, picture = tmp_path / "result.json", tmp_path / "map.png"
    result = invoke(path, "--sources", "2", "--json", out, "--plot", picture)
    assert result.exit_code == 0, result.output
    assert "exponent" in result.output and "status ok" in result.output
    found = json.loads(out.read_text())
    assert [row["x"] for row in found["sources"]] == pytest.approx([-0.5, 0.3], abs=1e-9)
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_values_are_asked_for_where_there_are_several(tmp_path):
    path = tmp_path / "two.npz"
    np.savez(path, x=X[:, 0], y=X[:, 1], u=R**0.5, pressure=R)
    assert "u, pressure could be the values: say --value" in invoke(path).output
    assert "r^0.5" in invoke(path, "--value", "u").output
    assert "Did you mean 'pressure'" in invoke(path, "--value", "presure").output


def test_what_cannot_be_read_is_said(tmp_path, csv):
    def said(*arguments):
        result = invoke(*arguments)
        assert result.exit_code == 2 and "Traceback" not in result.output
        return " ".join(result.output.split())

    assert "no such file" in said(tmp_path / "none.csv")
    names = {"numbers.csv": "1,2,3\n4,5,6\n", "short.csv": "x,y,u\n", "words.csv": "x,u\n1,a\n",
             "twice.csv": "x,x\n1,2\n", "lost.csv": "a,b\n1,2\n2,3\n"}  # fmt: skip
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    assert "wanted names of the columns" in said(tmp_path / "numbers.csv")
    assert "wanted a line of names and numbers" in said(tmp_path / "short.csv")
    assert "no table of numbers" in said(tmp_path / "words.csv")
    assert "all different" in said(tmp_path / "twice.csv")
    assert "which are the coordinates?" in said(tmp_path / "lost.csv")
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 nothing")
    assert "no archive of plain arrays" in said(tmp_path / "broken.npz")
    np.savez(tmp_path / "ragged.npz", x=X[:, 0], u=R[:-1])
    assert "one row for each point" in said(tmp_path / "ragged.npz")
    (tmp_path / "thing.xyzq").write_text("?")
    assert "nor a mesh that can be read" in said(tmp_path / "thing.xyzq")
    assert "--order 'many': wanted a whole number or auto" in said(csv, "--order", "many")
    assert "--sources 'x': wanted" in said(csv, "--sources", "x")
    assert "must end in" in said(csv, "--plot", tmp_path / "a.gif")


def test_pickles_are_not_opened(tmp_path):
    path = tmp_path / "objects.npz"
    np.savez(path, x=np.array([{}, {}], dtype=object), u=np.ones(2))
    with pytest.raises(ValueError, match="no archive of plain arrays"):
        read_points(path)


def test_files_of_the_wrong_kind_are_said(tmp_path):
    np.savez(tmp_path / "complex.npz", points=X, u=np.exp(1j * R))
    np.savez(tmp_path / "words.npz", points=X, u=np.full(len(X), "a"))
    (tmp_path / "broken.vtu").write_text("<VTKFile><Unstructured")
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    cells = [("triangle", np.array([[0, 1, 2], [0, 2, 3]]))]
    meshio.write(tmp_path / "cells.vtu", meshio.Mesh(square, cells, cell_data={"u": [np.ones(2)]}))
    for name, words in [
        ("complex.npz", "'u' is complex"),
        ("words.npz", "'u' has dtype"),
        ("broken.vtu", "nor a mesh that can be read"),
        ("cells.vtu", "values of its cells \\(u\\)"),
        ("", "is a directory"),
    ]:
        with pytest.raises(ValueError, match=words):
            read_points(tmp_path / name)
    result = invoke(tmp_path / "complex.npz")
    assert result.exit_code != 0 and "Traceback" not in result.output
