"""Turns a folder of tests/trees into a project that can be measured, with its table of verdicts."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import find
from harness.mutant import Mutant
from harness.project import Project
from tests.matrix import cells

TREES = Path(__file__).parent.parent / "trees"
TABLE = "EXPECTED.toml"
KEYS = {
    *("trait", "alone", "mutant", "source", "venv", "exit", "says"),
    *("flaky", "set_aside", "line_coverage", "problems", "lines", "environment"),
}
ROW_KEYS = {"at", "change", "verdict", "reason", "detected_by", "why", "column"}


@dataclass(frozen=True)
class Tree:
    """A tree and its table. ``rows`` are the mutants that are run, each with what is expected."""

    name: str
    table: dict[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return TREES / self.name

    @property
    def alone(self) -> bool:
        return bool(self.table.get("alone"))


def load(folder: Path) -> Tree:
    """The tree in ``folder``; a key that nobody reads is a mistake."""
    table = tomllib.loads((folder / TABLE).read_text(encoding="utf-8"))
    assert set(table) <= KEYS, f"{folder.name}: unknown keys {set(table) - KEYS}"
    for row in table.get("mutant", []):
        assert set(row) <= ROW_KEYS, f"{folder.name}: unknown keys {set(row) - ROW_KEYS}"
        assert row["why"], f"{folder.name}: a verdict by hand has a reason"
    return Tree(folder.name, table, table.get("mutant", []))


ALL = [load(file.parent) for file in sorted(TREES.glob(f"*/{TABLE}"))]


def plant(tree: Tree, folder: Path) -> None:
    """A copy of the tree without its table.

    ``lines`` writes a file out again and again until it has so many lines.
    """
    ignored = shutil.ignore_patterns(TABLE, "__pycache__", ".hermutic", ".pytest_cache")
    shutil.copytree(tree.folder, folder, ignore=ignored, symlinks=True)
    for name, lines in tree.table.get("lines", {}).items():
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(text * (lines // text.count("\n")), encoding="utf-8")


def environment(tree: Tree, root: Path, folder: Path, base: str | None = None) -> str | None:
    """The tests' interpreter: ``base``, or of an environment of its own if the table wants one.

    ``environment`` names a lock of the matrix. ``venv`` makes an environment in ``folder`` that
    sees the packages of ``base`` (our own, if None) through a .pth file: ``venv.path`` are folders
    of the tree that an editable install would put on the path, ``venv.installed`` maps a package of
    the tree to a copy of it among the installed packages.
    """
    if "environment" in tree.table:
        return str(cells.environment(tree.table["environment"], Path(sys.executable)))
    wanted = tree.table.get("venv")
    if wanted is None:
        return base
    base = base or sys.executable
    subprocess.run([base, "-m", "venv", "--without-pip", "--symlinks", folder], check=True)
    python = str(folder / "bin" / "python")
    site = purelib(python)
    paths = [*(str(root / path) for path in wanted.get("path", [])), str(purelib(base))]
    (site / "tests_environment.pth").write_text("\n".join([*paths, ""]), encoding="utf-8")
    for package, name in wanted.get("installed", {}).items():
        shutil.copytree(root / package, site / name)
    return python


def purelib(python: str) -> Path:
    """Where the interpreter has its installed packages."""
    ask = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip())


def shown(text: str) -> str:
    """A mutant's text as the tables have it."""
    return text.strip() or "(nothing)"


def fits(row: dict[str, Any], mutant: Any, prefix: str = "") -> bool:
    """Whether the row of a table means the mutant, or what has the fields of one."""
    path, _, line = row["at"].rpartition(":")
    return (
        (mutant.path, mutant.line) == (prefix + path, int(line))
        and f"{shown(mutant.before)} -> {shown(mutant.after)}" == row["change"]
        and row.get("column") in (None, mutant.column)
    )


def chosen(tree: Tree, mutants: tuple[Mutant, ...], prefix: str = "") -> dict[str, dict[str, Any]]:
    """The mutant's id for every row of the table: exactly one mutant fits each."""
    ids: dict[str, dict[str, Any]] = {}
    for row in tree.rows:
        fitting = [mutant.id for mutant in mutants if fits(row, mutant, prefix)]
        assert len(fitting) == 1, f"{tree.name}: {row['at']} {row['change']} fits {fitting}"
        ids[fitting[0]] = row
    assert len(ids) == len(tree.rows), f"{tree.name}: two rows mean the same mutant"
    return ids


def all_mutants(loaded: Project) -> tuple[Mutant, ...]:
    found = [find.find((loaded.root / path).read_bytes(), path) for path in loaded.sources]
    return tuple(mutant for one in found for mutant in one.mutants)
