"""Turns names into what is measured: fetched targets, and the peers' own environments."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.bench import timed

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HERMUTIC = ROOT / "hermutic"


@dataclass(frozen=True, slots=True)
class Module:
    """A module and the tests that every tool runs for it; all paths are relative to the tree."""

    target: str
    source: str
    tests: str
    pythonpath: str  # "." or "src": where the tests import from
    package: str  # the folder that mutmut copies and may mutate in

    @property
    def name(self) -> str:
        """How the tables call it."""
        return f"{self.target} {Path(self.source).stem}"


MODULES = (
    Module("cachetools", "src/cachetools/keys.py", "tests/test_keys.py", "src", "src"),
    Module("shortuuid", "shortuuid/main.py", "shortuuid/test_shortuuid.py", ".", "shortuuid"),
    Module("boltons", "boltons/cacheutils.py", "tests/test_cacheutils.py", ".", "boltons"),
)


@dataclass(frozen=True, slots=True)
class Target:
    """A fetched target: its unpacked source, never touched here, and its tests' interpreter."""

    tree: Path
    python: Path


def fetch(name: str) -> Target:
    """The target through Hermutic's own command."""
    ran = timed.run([HERMUTIC, "targets", "fetch", name], ROOT)
    prefix = f"{name}: "
    tree = next(Path(text[len(prefix) :]) for _, text in ran.lines if text.startswith(prefix))
    python = tree.parents[1] / "env" / "bin" / "python"
    if not python.exists():
        raise timed.Failed(f"could not find the tests' interpreter at '{python}'")
    return Target(tree, python)


def copy(target: Target, into: Path) -> Path:
    """A private copy of the target's tree without any earlier run's results."""
    skip = shutil.ignore_patterns("__pycache__", ".hermutic", "mutants", ".pytest_cache")
    shutil.copytree(target.tree, into, ignore=skip, symlinks=True)
    return into


def cache() -> Path:
    """The benchmark's folder under the user's cache directory."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else Path.home() / ".cache"
    folder = base / "hermutic" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def peer(name: str, python: Path) -> Path:
    """The ``bin`` of a peer's environment, made from its lock on first use.

    It is made from the interpreter that the targets' tests run in, so all tools use the same one.
    The marker is written last: an environment that was cut off half-way is made anew.
    """
    lock = HERE / f"{name}.lock"
    version = timed.run([python, "-c", "import sys; print(sys.version)"], ROOT).tail()
    digest = hashlib.sha256(lock.read_bytes() + version.encode()).hexdigest()[:8]
    env = cache() / f"{name}-{digest}"
    if not (env / "ready").exists():
        shutil.rmtree(env, ignore_errors=True)
        timed.run([python, "-m", "venv", env], ROOT)
        pip: list[str | Path] = [
            env / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
        ]
        exact: list[str | Path] = [
            "--require-hashes",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--requirement",
            lock,
        ]
        timed.run([*pip, *exact], ROOT)
        (env / "ready").touch()
    return env / "bin"
