"""The tutorials as pages: text and code of the notebooks, which are committed without outputs.

A hook of mkdocs and no plugin: nothing is executed, so that the site is built in seconds. The
notebooks themselves are executed by tests/test_notebooks.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]


def on_files(files: Files, *, config: Any) -> Files:
    """Add one page for each notebook."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        page = f"tutorials/{path.stem}.md"
        files.append(File.generated(config, page, content=page_of(path)))
    return files


def page_of(path: Path) -> str:
    """Return a notebook as Markdown, its title first."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = []
    for cell in cells:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    note = (
        f"*Made from `notebooks/{path.name}`; open it in Jupyter to run it and see the pictures.*"
    )
    parts.insert(1, note)
    # CommonMark, which Jupyter reads, lets a list follow a line of text; Python-Markdown does not.
    return "\n\n".join(part.replace(" to\n- ", " to\n\n- ") for part in parts) + "\n"
