"""Turns a project into a run of some of its tests below a directory that is full of traps."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import place
from harness.clean import CLEAN_LIMITS, Base
from harness.interpreter import Interpreter
from harness.project import Project
from harness.run import RunRecord

# Files that pytest, Python or common libraries look for in every folder above.
TRAPS = {
    ".env": "HERMUTIC_TRAP=1\nDEBUG=1\nDATABASE_URL=trap://\n",
    "conftest.py": "raise RuntimeError('a conftest.py of the parent directory')\n",
    "pytest.ini": "[pytest]\naddopts = --no-such-option\n",
    "sitecustomize.py": "raise RuntimeError('a sitecustomize.py of the parent directory')\n",
    ".coveragerc": "[run]\nplugins = no_such_plugin\n",
}


def clean_run(
    project: Project,
    interpreter: Interpreter,
    base: Base,
    tests: tuple[str, ...],
    left_out: tuple[str, ...],
    *,
    isolation: str,
) -> RunRecord:
    """The record of these tests on the clean code, in a copy of the project among the traps."""
    with TemporaryDirectory(prefix="hermutic-") as folder:
        for name, text in TRAPS.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        root = Path(folder, "project")
        for path in project.files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(project.root / path, root / path, follow_symlinks=False)
        among_traps = replace(project, root=root)
        with place.opened(among_traps, interpreter, None, isolation=isolation) as here:
            job = here.job(base.arguments, tests, left_out, CLEAN_LIMITS)
            return here.run(job).record
