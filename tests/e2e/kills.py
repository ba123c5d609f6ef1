"""Turns kills with -9 at random moments of run, harden and a Bazel build into what they leave.

``./hermutic dev tests.e2e.kills [--run 50] [--harden 30] [--bazel 20] [--seed N]``. After each: the
sources are as they were, no process is left, and the same command, let to its end, gives the same
bytes as one that nobody disturbed. The Bazel builds want what .ci/bazel wants.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.e2e.commands import MARKER, ROOT, environment, git, until
from tests.harness.sealed import marked

BANK = ROOT / "targets" / "bank"
SETTINGS = f'[tool.hermutic]\nenv = {{ MARKER = "{MARKER}" }}\n'
COMMON = ("--operators", "classic", "--quiet")
# A few of the mutants take a session through all its steps in a time in which it is killed often.
OPTIONS = {"run": COMMON, "harden": (*COMMON, "--only", "bank.py:14")}
QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
LABEL = "//targets/bank:bank.measured"


def main() -> int:
    """1 if any kill left something."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, count in (("run", 50), ("harden", 30), ("bazel", 20)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    moments = random.Random(given.seed)
    print(f"seed {given.seed}", flush=True)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="hermutic-kills-") as folder:
        for name in ("run", "harden"):
            if not getattr(given, name):
                continue
            wrong += _commands(name, getattr(given, name), Path(folder), moments)
    if given.bazel:
        wrong += _builds(given.bazel, moments)
    return 1 if wrong else 0


def _commands(name: str, kills: int, folder: Path, moments: random.Random) -> int:
    start = time.monotonic()
    expected = _ended(name, _project(folder / f"{name}-undisturbed"))
    assert expected, "nothing to compare with"
    seconds = time.monotonic() - start

    def killed_once(number: int) -> str:
        root = _project(folder / f"{name}-{number}")
        process = subprocess.Popen(_command(name, root), env=environment(), **QUIET)
        time.sleep(moments.uniform(0, seconds))
        process.kill()
        process.wait()
        until(lambda: not marked(MARKER), "a process is left")
        changed = git(root, "status", "--porcelain", "--untracked-files=all")
        again = _ended(name, root)
        shutil.rmtree(root)
        if changed:
            return f"sources changed: {changed}"
        return "" if again == expected else "the rerun gave something else"

    return _told(name, kills, seconds, killed_once)


def _command(name: str, root: Path) -> list[str]:
    return [sys.executable, "-m", "gate", name, *OPTIONS[name], str(root)]


def _project(folder: Path) -> Path:
    root = folder / "bank"  # the report names it
    root.mkdir(parents=True)
    for name in ("bank.py", "test_bank.py"):
        shutil.copy(BANK / name, root)
    (root / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "all")
    return root


def _ended(name: str, root: Path) -> dict[str, bytes]:
    """What the command leaves for its user when it ends by itself."""
    subprocess.run(_command(name, root), env=environment(), check=True, **QUIET)
    kept = root / ".hermutic"
    names = [file for file in kept.rglob("*") if file.is_file() and _result(file)]
    return {str(file.relative_to(kept)): file.read_bytes() for file in names}


def _result(file: Path) -> bool:
    """The report and the kept tests. Logs and certificates name a session, the store is a cache."""
    return file.name == "report.json" or file.name.startswith("test_")


def _builds(kills: int, moments: random.Random) -> int:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hermutic"
    with tempfile.TemporaryDirectory(dir=cache, prefix="kills-") as scratch:
        os.environ["HERMUTIC_BIND"] = scratch
        base = Path(scratch) / "base"
        _bazel(base, "build", LABEL).wait()  # external repositories and tools are there from now on
        _bazel(base, "clean").wait()
        start = time.monotonic()
        expected = _built(base)
        seconds = time.monotonic() - start

        def killed_once(_: int) -> str:
            before = git(ROOT, "status", "--porcelain")
            _bazel(base, "clean").wait()
            process = _bazel(base, "build", LABEL)
            time.sleep(moments.uniform(0, seconds))
            server = base / "server" / "server.pid.txt"
            if server.exists():
                os.kill(int(server.read_text()), signal.SIGKILL)
            process.kill()
            process.wait()
            if said := _lasting(base):
                return said
            if git(ROOT, "status", "--porcelain") != before:
                return "sources changed"
            return "" if _built(base) == expected else "the rebuild gave something else"

        wrong = _told("bazel", kills, seconds, killed_once)
        _bazel(base, "shutdown").wait()
    return wrong


def _bazel(base: Path, *command: str) -> subprocess.Popen[bytes]:
    """Start Bazel on the checkout, with this output base."""
    words = [str(ROOT / ".ci" / "bazel"), f"--output_base={base}", *command]
    if command[0] == "build":
        words += ["--symlink_prefix=/", "--output_groups=+verdicts", "--noshow_progress"]
    return subprocess.Popen(words, cwd=ROOT, **QUIET)


def _built(base: Path) -> dict[str, bytes]:
    """The verdict files, made from a clean output tree."""
    assert _bazel(base, "build", LABEL).wait() == 0
    (folder,) = base.glob("execroot/*/bazel-out/*/bin/targets/bank/bank")
    files = [*folder.glob("verdicts/**/*.json")]
    assert files, f"no verdict files in {folder}"
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def _lasting(base: Path) -> str:
    """What is still there of a build after a while, which is then ended."""
    try:
        until(lambda: not _left(base), "a process is left")
    except AssertionError as error:
        said = [f"{error}"]
        for pid in _left(base):
            with suppress(OSError):  # it has ended by now
                words = Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ")
                said.append(f"  {pid} {words[:300].decode(errors='replace')}")
                os.kill(int(pid), signal.SIGKILL)
        return "\n".join(said)
    return ""


def _left(base: Path) -> list[str]:
    """The processes that a build has left: those whose command line or folder is the base's."""
    found = [str(pid) for pid in marked(str(base))]
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if str(base) in str(link.readlink()):
                found.append(link.parent.name)
        except OSError:
            continue  # it has ended
    return found


def _told(name: str, kills: int, seconds: float, once: Callable[[int], str]) -> int:
    """How many of so many kills left something; each of those with its line."""
    wrong = 0
    for number in range(kills):
        said = once(number)
        if said:
            wrong += 1
            print(f"{name}, kill {number}: {said}", flush=True)
    print(f"{name}: {kills - wrong} of {kills} kills left nothing ({seconds:.1f} s undisturbed)")
    sys.stdout.flush()
    return wrong


if __name__ == "__main__":
    sys.exit(main())
