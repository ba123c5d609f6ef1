"""Turns a folder and arguments into the command's own process, started as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.harness.sealed import write

ROOT = Path(__file__).parents[2]
SECONDS = 60.0  # for what takes a second on an idle machine


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "harness", *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    """The caller's own, with the checkout importable and its bytecode where the launcher has it."""
    bytecode = {"PYTHONPYCACHEPREFIX": sys.pycache_prefix} if sys.pycache_prefix else {}
    return {**os.environ, "PYTHONPATH": str(ROOT), **bytecode, **more}


def hermutic(*arguments: str | Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    options: dict[str, Any] = {"capture_output": True, "text": True, "env": environment(), **more}
    return subprocess.run(command(*arguments), check=False, **options)


def started(*arguments: str | Path, **more: Any) -> subprocess.Popen[str]:
    """Start the command in a session of its own; its messages are read from its stderr."""
    options: dict[str, Any] = {
        "env": environment(),
        "start_new_session": True,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.PIPE,
        **more,
    }
    return subprocess.Popen(command(*arguments), text=True, **options)


def report(project: Path) -> bytes:
    return (project / ".hermutic/report.json").read_bytes()


def events(project: Path) -> Iterator[dict[str, Any]]:
    """What the newest log of the project says so far."""
    logs = sorted((project / ".hermutic/logs").glob("*.jsonl"))
    for line in logs[-1].read_bytes().splitlines() if logs else ():
        try:
            yield json.loads(line)
        except ValueError:
            return  # still being written


def until(condition: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {SECONDS:g} s"
        time.sleep(0.02)


def git(project: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=project, capture_output=True, text=True, check=True
    )
    return done.stdout


MARKER = f"hermutic-e2e-{os.getpid()}"
FILES: dict[str, str | bytes] = {
    # Whatever hermutic starts has the marker in its environment.
    "pyproject.toml": f"""
        [tool.hermutic]
        env = {{ MARKER = "{MARKER}" }}
        # Its import takes longer than these tests.
        pytest-args = ["-p", "no:hypothesispytest"]
    """,
    "calc.py": """
        def add(a, b):
            return a + b


        def unused(a):
            return a - 1
    """,
    "test_calc.py": """
        import subprocess, sys
        import calc

        def test_add():
            assert calc.add(1, 2) == 3

        def test_add_in_a_child_process():
            code = "import calc; assert calc.add(2, 2) == 4"
            subprocess.run([sys.executable, "-c", code], check=True)
    """,
}
RUN = ("run", "--operators", "classic", "-j2", "--quiet")


def project(folder: Path) -> Path:
    """The tiny project under git, with everything committed."""
    root = write(folder / "calc", FILES)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "all")
    return root


# Root's own view of the machine, changed so that an ordinary user can read what the tests need:
# each folder on the way that is closed to others is replaced by one that holds nothing else.
_AS_USER = """
import os, subprocess, sys, tempfile
user, count = int(sys.argv[1]), int(sys.argv[2])
needed, command = sys.argv[3 : 3 + count], sys.argv[3 + count :]

def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)

def closed(path):
    for end in range(1, len(parts := path.split("/")) + 1):
        folder = "/".join(parts[:end]) or "/"
        if not os.stat(folder).st_mode & 0o001:
            return folder
    return ""

for path in needed:
    while folder := closed(path):
        if folder == path:
            sys.exit(f"{path} itself is closed to others")
        held = tempfile.mkdtemp()
        mount("--bind", folder, held)
        mount("-t", "tmpfs", "-o", "mode=755", "none", folder)
        for inner in needed:
            if inner.startswith(folder + "/"):
                os.makedirs(inner, exist_ok=True)
                mount("--bind", held + inner[len(folder) :], inner)
os.setgroups([])
os.setgid(user)
os.setuid(user)
os.execvp(command[0], command)
"""
ORDINARY = 65533  # a user that no system has


def as_ordinary_user(
    *argv: str | Path, folder: Path, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program as a user without any right; ``folder`` is given to that user."""
    os.chown(folder, ORDINARY, ORDINARY)
    folder.chmod(0o755)
    needed = list(dict.fromkeys(map(str, (sys.prefix, sys.base_prefix, ROOT, folder))))
    arguments = [str(ORDINARY), str(len(needed)), *needed, *map(str, argv)]
    home = {"HOME": str(folder), "TMPDIR": str(folder)}
    return subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", _AS_USER, *arguments],
        env={**environment(), **home, "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
        **more,
    )
