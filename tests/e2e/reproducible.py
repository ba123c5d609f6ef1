"""Turns one target, run over and over in every way, into the number of different reports.

``python -m tests.e2e.reproducible shortuuid slugify --rounds 5`` runs each target that often with
one and two workers, forked and fresh, and, if started by root, as an ordinary user as well.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ORDINARY = 65534  # nobody, on every Linux


def main() -> int:
    """1 if any target's reports differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--operators", default="classic")
    parser.add_argument("--python", help="an interpreter that an ordinary user can read")
    given = parser.parse_args()
    users = [os.getuid()] + ([ORDINARY] if os.getuid() == 0 else [])
    caches = {user: _cache(user, given.python, given.targets) for user in users}
    different = 0
    for target in given.targets:
        seen: collections.Counter[str] = collections.Counter()
        start = time.monotonic()
        ways = itertools.product(range(given.rounds), users, ("1", "2"), ("fork", "fresh"))
        for _, user, jobs, executor in ways:
            options = ("--operators", given.operators, "-j", jobs, "--executor", executor)
            seen[_report(target, user, caches[user], options)] += 1
        seconds = time.monotonic() - start
        print(f"{target}: {seen.total()} runs, {len(seen)} different report(s), {seconds:.0f} s")
        different += len(seen) > 1
    return 1 if different else 0


def _cache(user: int, python: str | None, targets: list[str]) -> dict[str, str]:
    """The environment of a user's runs; an ordinary user gets a cache of their own."""
    env = {**os.environ}
    if user == os.getuid():
        return env
    folder = Path(tempfile.gettempdir()) / f"hermutic-user-{user}"
    folder.mkdir(exist_ok=True)
    os.chown(folder, user, user)
    env.update(XDG_CACHE_HOME=str(folder), HOME=str(folder))
    if python:
        env["HERMUTIC_PYTHON"] = python
    for target in targets:
        _hermutic(user, env, "targets", "fetch", target)
    return env


def _report(target: str, user: int, env: dict[str, str], options: tuple[str, ...]) -> str:
    """The digest of report.json's bytes after a run that finds nothing stored."""
    shutil.rmtree(ROOT / "targets" / target / ".hermutic", ignore_errors=True)
    shutil.rmtree(Path(env.get("XDG_CACHE_HOME", "")) / "hermutic" / "results", ignore_errors=True)
    output = _hermutic(
        user, env, "run", f"targets/{target}", "--quiet", "--format", "json", *options
    )
    return hashlib.sha256(output).hexdigest()


def _hermutic(user: int, env: dict[str, str], *arguments: str) -> bytes:
    done = subprocess.run(
        [str(ROOT / "hermutic"), *arguments],
        env=env,
        cwd=ROOT,
        user=user,
        group=user,
        extra_groups=[],
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        sys.exit(f"hermutic {' '.join(arguments)} ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
