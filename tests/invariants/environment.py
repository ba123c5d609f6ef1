"""Turns the packages that our own tests run with into an environment for the projects of checks.

It holds what measuring needs and nothing else, and brings its bytecode along: most of a session on
a tiny project would otherwise be spent on compiling pytest.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.invariants.invariant import Place

NEEDED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "coverage")
# What a session's processes import, so that all of it is compiled once.
WARMING = "import coverage.parser, coverage.results, json, socket, runpy\n\ndef test(): pass\n"


@contextmanager
def environment(python: Path | None = None) -> Iterator[Path]:
    """The python of such an environment: the given one, or a new one that is gone at the end."""
    if python is not None:
        yield python
        return
    with TemporaryDirectory(prefix="hermutic-invariants-") as folder:
        yield made(Path(folder) / "env")


def made(folder: Path) -> Path:
    """The python of a new environment at ``folder``."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in NEEDED:
        for file in metadata.files(name) or ():
            if not {"..", "__pycache__"} & set(file.parts):
                target = site / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(str(file.locate()), target)
    python = folder / "bin" / "python"
    (folder / "test_warming.py").write_text(WARMING, encoding="utf-8")
    subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_warming.py"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPYCACHEPREFIX": str(folder / "bytecode")},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    (folder / "bytecode" / "READY").touch()
    return python


def leading_to(python: Path, folder: Path, path: Path) -> Path:
    """The python of another environment at ``folder``: the same packages, and ``path`` on its path,
    as after an editable install."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    (site / "editable.pth").write_text(f"{path}\n{packages}\n", encoding="utf-8")
    (folder / "bytecode").symlink_to(python.parents[1] / "bytecode")
    return folder / "bin" / "python"


@contextmanager
def place(python: Path) -> Iterator[Place]:
    """An empty folder for one check."""
    with TemporaryDirectory(prefix="hermutic-invariant-") as folder:
        yield Place(Path(folder), python)
