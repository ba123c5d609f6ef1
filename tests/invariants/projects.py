"""Turns a few files, or a tree of tests/trees, into a session's outcome and that into words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import loading, session
from harness.log import read_log
from harness.progress import Quiet
from harness.project import Project
from harness.session import Options, Outcome
from tests.harness.sealed import write
from tests.invariants.invariant import Place

Files = dict[str, str | bytes]


def loaded(place: Place, root: Path) -> Project:
    """The project at ``root``, its tests under the check's own environment."""
    return loading.load(root, python=str(place.python))


def measured(place: Place, root: Path, files: Files, **options: Any) -> Outcome:
    """A session on these files; ``options`` are those of the session."""
    return run(place, write(root, files), **options)


def run(place: Place, root: Path, listener: Any = None, **options: Any) -> Outcome:
    """A session on what is at ``root``."""
    return session.run(loaded(place, root), Options(**options), listener or Quiet())


def verdicts(outcome: Outcome) -> str:
    """ "price killed, gift survived", in the order of the report."""
    return ", ".join(f"{row['qualname']} {row['verdict']}" for row in outcome.report["mutants"])


def runs(outcome: Outcome, role: str) -> list[dict[str, Any]]:
    """The session's runs in that role, as the log has them."""
    events = read_log(outcome.log_path)
    return [event for event in events if event["event"] == "run" and event["role"] == role]
