"""Turns a few files, or trees of tests/trees, into a session's outcome and that into words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import loading, session
from harness.log import read_log
from harness.progress import Quiet
from harness.project import Project
from harness.session import Options, Outcome
from tests.harness.sealed import write
from tests.harness.trees import TREES, all_mutants, chosen, load, plant
from tests.invariants.invariant import Place

Files = dict[str, str | bytes]


def loaded(place: Place, root: Path, **given: Any) -> Project:
    """The project at ``root``, its tests under the check's own environment."""
    return loading.load(root, python=str(place.python), **given)


def measured(place: Place, root: Path, files: Files, **options: Any) -> Outcome:
    """A session on these files; ``options`` are those of the session."""
    return run(place, write(root, files), **options)


def run(
    place: Place,
    root: Path,
    listener: Any = None,
    *,
    source: tuple[str, ...] = (),
    **options: Any,
) -> Outcome:
    """A session on what is at ``root``."""
    project = loaded(place, root, source=source)
    return session.run(project, Options(**options), listener or Quiet())


def tree(place: Place, *names: str, **options: Any) -> Outcome:
    """A session on trees of tests/trees and the mutants of their tables.

    Several trees are folders of one project, a single one is a project of its own.
    """
    root = place.folder / "trees"
    trees = {name: load(TREES / name) for name in names}
    folders = {name: f"{name}/" if len(trees) > 1 else "" for name in trees}
    for name, one in trees.items():
        plant(one, root / folders[name])
    project = loaded(place, root)
    mutants = all_mutants(project)
    only = [id_ for name, one in trees.items() for id_ in chosen(one, mutants, folders[name])]
    return session.run(project, Options(only=tuple(only), **options), Quiet())


def verdicts(outcome: Outcome) -> str:
    """ "price killed, gift survived", in the order of the report."""
    return ", ".join(f"{row['qualname']} {row['verdict']}" for row in outcome.report["mutants"])


def runs(outcome: Outcome, role: str) -> list[dict[str, Any]]:
    """The session's runs in that role, as the log has them."""
    events = read_log(outcome.log_path)
    return [event for event in events if event["event"] == "run" and event["role"] == role]
