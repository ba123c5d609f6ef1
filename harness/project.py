"""What a session knows of a project: what is mutated, by which tests, under which interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Project:
    """Everything a session needs to know before it looks into a file.

    ``root`` is absolute, its links resolved. ``python`` is absolute with its links kept: a venv's
    python must stay the venv's. Paths are relative to ``root`` and posix; ``sources`` (what is
    mutated) and ``files`` (the snapshot, see ``tree.snapshot``) are sorted; ``tests`` are paths or
    node ids. ``pythonpath`` holds "" for the root itself. ``inputs`` are absolute and only read.
    ``results`` is the folder that gets .hermutic, if that is not the root.
    """

    root: Path
    name: str
    python: Path
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    files: tuple[str, ...]
    pythonpath: tuple[str, ...]
    pytest_args: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    inputs: tuple[str, ...]
    results: Path | None


def module_of(path: str, pythonpath: Sequence[str]) -> str:
    """The dotted name by which tests import a file: from the innermost folder on their path."""
    roots = sorted((root for root in pythonpath if root), key=len, reverse=True)
    root = next((root for root in roots if path.startswith(root + "/")), "")
    inner = path[len(root) :].lstrip("/").removesuffix(".py")
    return inner.removesuffix("/__init__").replace("/", ".")
