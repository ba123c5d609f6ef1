"""Turns a lock's name and a Python into an environment in which trees are measured."""

from __future__ import annotations

from pathlib import Path

from tests.bench import places

HERE = Path(__file__).resolve().parent
# Names the tests' interpreter to tests/harness/test_trees.py.
VARIABLE = "HERMUTIC_TREES_PYTHON"
PYTESTS = ("7.4", "8", "9")


def environment(name: str, python: Path) -> Path:
    """The interpreter of the environment that the lock describes, made on first use."""
    return places.environment(HERE / f"{name}.lock", python, places.cache("matrix")) / "python"
