"""What a session knows of a project: what is mutated, by which tests, under which interpreter."""

from __future__ import annotations

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
