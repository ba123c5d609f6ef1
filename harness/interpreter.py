"""Turns a python's path into what is installed there, checked for what measuring tests needs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import run
from harness.errors import USAGE, Problem

OLDEST = (3, 11)
NEWEST = (3, 14)
# The first pytest that gives Python 3.11's own exception groups and notes, and the first coverage
# that measures 3.11 with contexts reliably; both are years old.
OLDEST_PYTEST = (7, 2)
OLDEST_COVERAGE = (7, 0)
# Listing a large environment takes about a second; a minute is a hung start, not a slow disk.
SECONDS = 60.0

_SCRIPT = r"""
import hashlib, json, os, site, sys
from importlib import metadata
from urllib.parse import unquote, urlsplit

def digest(record):
    # What the installer adds for the place (scripts, bytecode) is not what the tests import.
    lines = [
        line for line in (record or "").splitlines()
        if not line.startswith("../") and "__pycache__" not in line
    ]
    text = "\n".join(sorted(lines))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest() if text else ""

distributions, editable, seen = [], [], set()
for distribution in metadata.distributions():
    name = (distribution.metadata["Name"] or "").strip()
    key = name.lower().replace("_", "-").replace(".", "-")
    if not key or key in seen:
        continue
    seen.add(key)
    record = distribution.read_text("RECORD")
    distributions.append((name, distribution.version, digest(record)))
    try:
        direct = json.loads(distribution.read_text("direct_url.json") or "{}")
    except ValueError:
        direct = {}
    if direct.get("dir_info", {}).get("editable"):
        editable.append((name, unquote(urlsplit(direct["url"]).path)))
print("\n" + json.dumps({
    "version": ".".join(map(str, sys.version_info[:3])),
    "prefix": sys.prefix,
    "base_prefix": sys.base_prefix,
    "sys_path": sys.path,
    "site_dirs": site.getsitepackages(),
    "distributions": sorted(distributions),
    "executable": sys.executable,
    "editable": sorted(editable),
}))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A python as it says of itself, asked in isolated mode (no PYTHONPATH, no user site).

    ``distributions`` are (name, version, sha256 of RECORD or ""), ``editable`` (name, folder) of
    what is installed in place; both sorted. ``pytest`` and ``coverage`` are versions.
    """

    version: str
    prefix: str
    base_prefix: str
    sys_path: tuple[str, ...]
    site_dirs: tuple[str, ...]
    distributions: tuple[tuple[str, str, str], ...]
    executable: str
    editable: tuple[tuple[str, str], ...]
    pytest: str | None
    coverage: str | None

    def digest(self) -> str:
        """sha256, in hex, of the Python and what is installed: the same wherever it lies."""
        data = json.dumps([self.version, self.distributions])
        return hashlib.sha256(data.encode()).hexdigest()


def choose(root: Path, asked: str | None, configured: str | None) -> Path:
    """The tests' python: asked for, configured, beside the project, active, or our own.

    ``asked`` is relative to the working directory, ``configured`` to ``root``. Links are kept: a
    venv's python is a link, and resolved it would be another environment.
    """
    if asked:
        return _named(asked, Path.cwd())
    if configured:
        return _named(configured, root)
    for folder in _environments(root):
        python = folder / "bin" / "python"
        if os.access(python, os.X_OK):
            return python
    return Path(sys.executable)


def _environments(root: Path) -> list[Path]:
    folders = [root / ".venv", root / "venv"]
    active = os.environ.get("VIRTUAL_ENV")
    # Hermutic's launcher may have activated its own environment: that one is not the tests'.
    if active and Path(active).resolve() != Path(sys.prefix).resolve():
        folders.append(Path(active))
    return folders


def _named(value: str, base: Path) -> Path:
    found = shutil.which(value) if os.sep not in value else None
    path = Path(found) if found else base / Path(value).expanduser()
    if path.is_dir():
        path = path / "bin" / "python"
    if not path.exists():
        raise _unusable(value, "there is no such file")
    if not path.is_file() or not os.access(path, os.X_OK):
        raise _unusable(value, "it is not an executable file")
    return _plain(path)


def _plain(path: Path) -> Path:
    """Absolute and without "..", links kept (Path.resolve would follow them)."""
    return Path(os.path.normpath(path))


def _unusable(value: str | Path, cause: str) -> Problem:
    return Problem(
        USAGE,
        f"could not use '{value}' as the tests' python: {cause}; "
        "give an interpreter or a virtual environment with --python",
    )


def probe_interpreter(python: Path) -> Interpreter:
    """Asks ``python`` what it is; a Problem says what keeps it from measuring tests."""
    found = _parse(python, _ask(python))
    _check_version(python, found.version)
    _check_tool(python, "pytest", found.pytest, OLDEST_PYTEST)
    _check_tool(python, "coverage", found.coverage, OLDEST_COVERAGE)
    return found


def _ask(python: Path) -> dict[str, Any]:
    try:
        done = run.tool([str(python), "-I", "-c", _SCRIPT], timeout=SECONDS)
    except OSError as error:
        raise _unusable(python, error.strerror or str(error)) from error
    last = done.stdout.strip().rpartition("\n")[2]
    try:
        answer = json.loads(last)
    except ValueError:
        answer = None
    if done.returncode or not isinstance(answer, dict):
        said = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2] or "nothing"
        raise _unusable(python, f"asked for its version, it ended with {done.returncode}: {said}")
    return answer


def _parse(python: Path, data: dict[str, Any]) -> Interpreter:
    versions = {name.lower(): version for name, version, _ in data["distributions"]}
    return Interpreter(
        version=data["version"],
        prefix=data["prefix"],
        base_prefix=data["base_prefix"],
        sys_path=tuple(data["sys_path"]),
        site_dirs=tuple(data["site_dirs"]),
        distributions=tuple((str(n), str(v), str(d)) for n, v, d in data["distributions"]),
        executable=data["executable"] or str(python),
        editable=tuple((str(name), str(folder)) for name, folder in data["editable"]),
        pytest=versions.get("pytest"),
        coverage=versions.get("coverage"),
    )


def _check_version(python: Path, version: str) -> None:
    if OLDEST <= _numbers(version) <= NEWEST:
        return
    span = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
    raise _unusable(python, f"it is Python {version}, and Hermutic supports {span}")


def _check_tool(python: Path, name: str, version: str | None, oldest: tuple[int, int]) -> None:
    if version is None:
        cause, cure = f"has no {name}", f"add it with '{python} -m pip install {name}'"
    elif _numbers(version) < oldest:
        cause = f"has {name} {version}, older than {oldest[0]}.{oldest[1]}"
        cure = f"renew it with '{python} -m pip install --upgrade {name}'"
    else:
        return
    raise Problem(USAGE, f"could not measure tests with '{python}': it {cause}; {cure}")


def _numbers(version: str) -> tuple[int, int]:
    """The first two numbers of a version such as "7.4.1", "8.0rc1" or "9"."""
    found = re.match(r"(\d+)(?:\.(\d+))?", version)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)
