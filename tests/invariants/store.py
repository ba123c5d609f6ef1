"""Faults of what is kept from one session to the next: verdicts that are stale, or never were."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from harness.log import read_log
from tests.e2e.commands import events, until
from tests.harness.sealed import write
from tests.harness.test_session import CHANGES, FILES
from tests.invariants.invariant import INSTRUMENT, ROOT, Invariant, Place
from tests.invariants.projects import run, verdicts
from tests.invariants.verdicts import BUDGET, Loaded, busy_project

ONLY = ("shop.py:price:arithmetic.multiply:1", "shop.py:gift:arithmetic.add:1")


def interrupted(place: Place) -> str:
    """Killed while a run is over its budget because the machine is busy; then run again."""
    root, load = busy_project(place)
    before = _sources(root)
    code = "from tests.invariants.store import session_to_be_killed as run; run()"
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(root), str(load), str(place.python)],
        cwd=INSTRUMENT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        until(lambda: _has_judged(root) or child.poll() is not None, "no mutant was run")
    finally:
        child.kill()
        child.wait()
    untouched = "untouched" if _sources(root) == before else "changed"
    load.write_text("0")
    return f"sources {untouched}; {verdicts(run(place, root, only=ONLY, limits=BUDGET))}"


def session_to_be_killed() -> None:
    """The session of a process of its own: the arguments are the project, the load, the python."""
    root, load, python = map(Path, sys.argv[1:])
    run(Place(root, python), root, Loaded(load), only=ONLY, limits=BUDGET, jobs=1)


def _has_judged(root: Path) -> bool:
    return any(event.get("role") == "mutant" for event in events(root))


def _sources(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()}


def gauntlet(place: Place) -> str:
    """Changes of one line, each of which flips a verdict: every warm run has noticed."""
    root = write(place.folder / "shop", {**FILES})
    options: dict[str, Any] = {"only": ONLY[1:], "source": ("shop.py",)}
    said = [f"before: {verdicts(run(place, root, **options))}"]
    for what, (name, old, new) in CHANGES.items():
        text = (root / name).read_text(encoding="utf-8")
        (root / name).write_text(text.replace(old, new), encoding="utf-8")
        said.append(f"{what}: {verdicts(run(place, root, **options))}")
        (root / name).write_text(text, encoding="utf-8")
    again = run(place, root, **options)
    made = [e for e in read_log(again.log_path) if e["event"] == "run" and not e["cached"]]
    return "; ".join([*said, f"after: {verdicts(again)}, {len(made)} runs"])


INVARIANTS = (
    Invariant(
        22,
        "interrupted run",
        "what an interrupted run had so far was kept as final",
        "sources untouched; gift survived, price killed",
        interrupted,
    ),
    Invariant(
        23,
        "cache replay",
        "the cache's key left out what the tests use: bodies, helpers, fixtures, data files",
        "before: gift survived; test body: gift killed; conftest: gift killed; "
        "helper: gift killed; constant: gift killed; data file: gift killed; "
        "after: gift survived, 0 runs",
        gauntlet,
    ),
)
