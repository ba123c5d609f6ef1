"""Turns a project's pytest configuration into the paths where pytest finds its tests."""

from __future__ import annotations

import configparser
import shlex
from pathlib import Path
from typing import Any

from harness.errors import USAGE, Problem
from harness.settings import read_toml

USUAL = ("tests", "test")


def tests(root: Path) -> tuple[str, ...]:
    """What pytest would run in ``root``: its testpaths, else tests/ or test/, else everything."""
    found: set[str] = set()
    for pattern in _words(options(root).get("testpaths", [])):
        found.update(_matches(root, pattern))
    if found:
        return tuple(sorted(found))
    # pytest itself goes on with "." when no testpath exists; so do we, after the usual folders.
    return tuple(name for name in USUAL if (root / name).is_dir())[:1] or (".",)


def python_files(root: Path) -> tuple[str, ...]:
    """The project's own names of test files, but those that would match any file at all."""
    patterns = _words(options(root).get("python_files", []))
    return tuple(pattern for pattern in patterns if pattern not in ("*", "*.py"))


def options(root: Path) -> dict[str, Any]:
    """The options of the file that pytest would take, in the order in which pytest looks."""
    for name in ("pytest.toml", ".pytest.toml"):
        if (root / name).is_file():
            return _table(read_toml(root / name).get("pytest"))
    for name in ("pytest.ini", ".pytest.ini"):
        if (root / name).is_file():
            return _section(root / name, "pytest") or {}
    pyproject = root / "pyproject.toml"
    tool = read_toml(pyproject).get("tool", {}) if pyproject.is_file() else {}
    if "pytest" in tool:
        table = _table(tool["pytest"])
        return _table(table["ini_options"]) if "ini_options" in table else table
    for name, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        found = _section(root / name, section)
        if found is not None:
            return found
    return {}


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _section(file: Path, section: str) -> dict[str, Any] | None:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read(file, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        why = str(error).replace("\n", " ")
        raise Problem(USAGE, f"could not read '{file}': {why}; mend the file there") from error
    return dict(parser[section]) if parser.has_section(section) else None


def _words(value: object) -> list[str]:
    if isinstance(value, str):
        try:
            return shlex.split(value)
        except ValueError:
            return value.split()  # an apostrophe in a folder's name
    return [str(item) for item in value] if isinstance(value, list) else []


def _matches(root: Path, pattern: str) -> list[str]:
    """A testpath is a path or a glob; one that leaves the project or is not there gives nothing."""
    if (root / pattern).exists():
        paths = [root / pattern]
    elif Path(pattern).is_absolute():
        paths = []
    else:
        paths = list(root.glob(pattern))
    resolved = [path.resolve() for path in paths]
    return [p.relative_to(root).as_posix() for p in resolved if p.is_relative_to(root)]
