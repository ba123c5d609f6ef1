"""Turns names into what is measured: fetched targets, and the peers' own environments."""

from __future__ import annotations

import fcntl
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


def cache(room: str = "bench") -> Path:
    """A folder under the user's cache directory; the benchmark's own unless another is named."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else Path.home() / ".cache"
    folder = base / "hermutic" / room
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def peer(name: str, python: Path) -> Path:
    """The ``bin`` of a peer's environment.

    It is made from the interpreter that the targets' tests run in, so all tools use the same one.
    """
    return environment(HERE / f"{name}.lock", python, cache())


def environment(lock: Path, python: Path, folder: Path) -> Path:
    """The ``bin`` of an environment in ``folder``, made from the lock on first use.

    The marker is written last: an environment that was cut off half-way is made anew.
    """
    version = timed.run([python, "-c", "import sys; print(sys.version)"], ROOT).tail()
    digest = hashlib.sha256(lock.read_bytes() + version.encode()).hexdigest()[:8]
    env = folder / f"{lock.stem}-{digest}"
    with (folder / f"{env.name}.lock").open("w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)  # two test processes may want it at the same time
        if not (env / "ready").exists():
            shutil.rmtree(env, ignore_errors=True)
            _make(env, lock, python)
            (env / "ready").touch()
    return env / "bin"


def _make(env: Path, lock: Path, python: Path) -> None:
    timed.run([python, "-m", "venv", env], ROOT)
    pip: list[str | Path] = [env / "bin" / "python", "-m", "pip", "install", "--quiet"]
    exact = ["--no-input", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    timed.run([*pip, *exact, "--requirement", lock], ROOT)
