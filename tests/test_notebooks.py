"""The tutorials run from top to bottom, and show what they say they show."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LIMIT = 180.0

SHOWN = {
    "01_discover_an_equation.ipynb": [
        r"u_t = -1\.000\*u\*u_x \+ 0\.1000\*u_xx",
        r"u: identified",
        r"(8[7-9]|9\d|100) of 100 intervals hold the true coefficient",
        r"u: ambiguous",
        r"moves at one speed without changing shape",
        r"u_t = -6\.000\*u\*u_x - 1\.000\*u_xxx",
    ],
    "02_registry_and_data.ipynb": [
        r"problems: .*burgers.*navier_stokes",
        r"u_t = -u\*u_x \+ 0\.05\*u_xx",
        r"refused: .*viscosity=-1\.0 is outside",
        r"128 points  relative error \d\.\de-(0[7-9]|1\d)",
        r"unknown name 'nu'",
        r"mode 10: variance",
        r"the lights went out; (24|25|26|27|28) of 64 samples are there",
        r"complete: True - 64 samples",
        r"verified: .*u, viscosity",
        r"assumed: time: the last entry has no frame",
    ],
    "03_corners_cracks_and_sources.ipynb": [
        r"2 exponents, relative residual 0\.0015, ok",
        r"r\^0\.(4999|5) +0\.(499|500)\d+ ",
        r"mu +(0\.[89]|1\.[01])\d+ ",
        r"r\^0\.5 log r +0\.5 ",
        r"0\.66666666666666",
        r"0\.66\d+ \+- 0\.001\d  amplitude +1\.00",
        r"DD  exponents \[0\.6[67]\d* 1\.3[23]\d*\]  left over 1\.\d%",
        r"wedge of 360 deg, NN: ok",
        r"coefficient of the square root: -1\.(299|300)",
        r"bias .* status ok",
        r"largest error of a coordinate: [0-3]\.\d of its standard errors",
        r"noise 1e-02: deviation foreseen 1\.\d+, answer unresolved",
        r"noise 1e-04: deviation foreseen 0\.010, answer ok",
        r"not_a_power_law",
        r"All samples are at one radius, 0\.3",
        r"network alone: +error [1-5]\.\de-02",
        r"network and one corner: error [0-9]\.\de-0[56]",
        r"strength of the corner: 0\.7500",
        r"learned exponent 0\.66[67]",
    ],
    "04_operators_across_resolutions.ipynb": [
        r"17 points: predicted \d\.\d+e-02, measured \d\.\d+e-02, ratio 0\.9[5-9]",
        r"129 points: .*ratio (0\.99|1\.00)\d",
        r"left .*0\.083 0\.167 0\.167 0\.167 0\.083 0\.333",
        r"refused: QuadNorm: axis_kinds .* never guessed",
        r"order of the outputs: (0\.9|1\.[0-3])\d",
        r"order of the outputs: (1\.9|2\.[01])\d",
        r"usual: E\(257\)/E\(33\) = 1\.(0[4-9]|[1-9]\d)",
        r"quadrature: E\(257\)/E\(33\) = (0\.9[6-9]|1\.0[0-2])",
        r"blocks\.0\.norm +InstanceNorm1d",
        r"all corrected: \d\.\d\de-(0[6-9]|1\d) left",
        r"weights of the mesh: finer changes \d\.\de-0[3-5], fine elsewhere \d\.\de-0[3-5]",
        r"weights all equal: .* fine elsewhere \d\.\de-0[12]",
        r"the same in another order: True",
        r"the same numbers: True",
    ],
    "05_repair_in_the_loop.ipynb": [
        r"Leray: changes true states by a mean square of \d\.\de-3[0-4]",
        r"aspect 15 % wrong: changes true states by a mean square of \d\.\de-05",
        r"gains a factor 1\.\d with the loss on f\(u\)",
        r"gains a factor ([5-9]|[1-4]\d)\.\d with the loss on C\(f\(u\)\)",
        r"LerayProjection, 12 trajectories, horizon 20: (post_hoc|in_loop) at strength 1\.00",
        r"in_loop because in the loop the error at the horizon is \d+ % below",
        r"post_hoc at strength 0\.[2-6]\d because the repair changes true states",
        r"prediction and measurement differ by \de-1[4-7]",
        r"Poisson cleanup: distortion \d\.\de-05",
        r"range projection: distortion \d\.\de-(29|3\d)",
        r"MinT +error 0\.02\d+  distortion \d\.\de-(29|3\d)",
        r"top-down +error 0\.0[34]\d+  distortion 3\.\de-02",
    ],
    "06_learning_a_propagator.ipynb": [
        r"eikonal +phi_t \+ phi_x\*sin\(x\)/2 \+ phi_x = 0",
        r"481 weights, parametrization homogeneous",
        r"largest error of a foot: \d\.\de-0[3-9]",
        r"cut by the window: \[0\.1",
        r"the window cuts most",
        r"Box: error .*holds: True",
        r"Gaussian: error .*holds: True",
        r"Tent: error .*holds: True",
        r"32 modes: floor 0\.1\d+, error 0\.1",
        r"512 modes: floor 0\.02\d+, error 0\.0[2-5]",
        r"the same: True",
    ],
    "07_the_loop.ipynb": [
        r"EqOD says: u: the chosen terms leave .* of 'stlsq' on the whole library",
        r"u_t = -1\.000\*u_x \+ 0\.45\d+\*u_x\*sin\(2\*x\) - 0\.2[01]\d+\*u_x\*cos\(2\*x\)",
        r"chi\^2 per row (0\.9|1\.0)\d+, explains the data: True",
        r"481 weights, parametrization homogeneous",
        r"t = 1\.5: relative error of the solver \d\.\de-04, of the network \d\.\de-03",
        r"t = 0\.5: error .* holds: True",
        r"t = 1\.0: error .* holds: True",
        r"t = 1\.5: error .* holds: True",
        r"learned against found: \d\.\de-0[3-9]",
        r"found against true: +\d\.\de-0[3-9]",
    ],
}
"""What a reader of each notebook must see, in this order."""
PICTURES = {
    "01_discover_an_equation.ipynb": 7,
    "02_registry_and_data.ipynb": 6,
    "03_corners_cracks_and_sources.ipynb": 6,
    "04_operators_across_resolutions.ipynb": 4,
    "05_repair_in_the_loop.ipynb": 5,
    "06_learning_a_propagator.ipynb": 3,
    "07_the_loop.ipynb": 2,
}


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def outputs(notebook: Any) -> list[Any]:
    return [item for cell in notebook.cells for item in cell.get("outputs", [])]


def test_there_are_notebooks():
    assert {path.name for path in NOTEBOOKS} == set(SHOWN)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_opens_with_what_the_reader_will_be_able_to_do(path):
    first = read(path).cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")
    assert "you will be able to" in first.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_committed_without_outputs_and_without_traces_of_a_machine(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert outputs(notebook) == []
    assert all(cell.get("execution_count") is None for cell in notebook.cells)
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert set(notebook.metadata["language_info"]) == {"name"}
    assert not re.search(r"/home/|/root/|/work/|/tmp/|[A-Z]:\\\\", path.read_text(encoding="utf-8"))


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_shows_what_it_says(path, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    # The kernel's own files stay out of the reader's home.
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("MPLBACKEND", raising=False)  # `make` sets agg, which shows nothing inline
    assert "MPLBACKEND" not in os.environ
    notebook = read(path)
    nbclient.NotebookClient(
        notebook, timeout=LIMIT, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    pages = [
        item.get("text", "") + item.get("data", {}).get("text/plain", "")
        for item in outputs(notebook)
    ]
    text, position = "\n".join(pages), 0
    for pattern in SHOWN[path.name]:
        found = re.compile(pattern).search(text, position)
        assert found, f"{pattern!r} does not appear after position {position} of:\n{text}"
        position = found.end()
    pictures = [item for item in outputs(notebook) if "image/png" in item.get("data", {})]
    assert len(pictures) == PICTURES[path.name]
    assert min(len(item["data"]["image/png"]) for item in pictures) > 10_000
    assert [item for item in outputs(notebook) if item.get("name") == "stderr"] == []
