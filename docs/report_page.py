"""Writes the report of the kept results into the site, a hook of MkDocs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from ucd_planners.cli import main

RESULTS = Path(__file__).parent / "results"


def on_files(files: Any, config: Any) -> Any:
    """Adds report.html to the files of the site. Raises RuntimeError if the report cannot be written."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        if main(["report", "--folder", str(RESULTS), "--output", str(page), "--title", "Results of the experiments"]) != 0:
            raise RuntimeError("the report of the kept results was not written")
        files.append(File.generated(config, "report.html", content=page.read_text(encoding="utf-8")))
    return files
