"""Turns two builds of some targets' mutants into what an action costs beside its tests: BAZEL.md.

Run from the checkout, on a quiet machine: ``python3 -m tests.bench.bazel [LABEL...]``. The builds
have an output base of their own in the user's cache directory, and one action at a time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench import places

TARGETS = ("//targets/bank:bank", "//targets/cachetools:func")
PAGE = Path(__file__).with_name("BAZEL.md")
# What an action may cost beside its tests, in milliseconds.
MODES = (("worker", (), 40), ("linux-sandbox", ("--config=sandboxed",), 400))


@dataclass(frozen=True, slots=True)
class Action:
    """One mutant's action: its span in Bazel's profile, and its tests' own time in seconds."""

    label: str
    mutant: str
    began: float
    wall: float
    tests: float

    @property
    def cost(self) -> float:
        """Milliseconds beside the tests."""
        return 1000 * (self.wall - self.tests)


def main(labels: Sequence[str]) -> None:
    """Build in each mode, and write the page."""
    load = os.getloadavg()[0]
    rows: list[str] = []
    strategies: list[str] = []
    try:
        for mode, flags, wanted in MODES:
            said, profile = _build(mode, flags, labels)
            strategies.append(next(iter(re.findall(r"INFO: (\d+ processes: .*)\.", said)), "none"))
            actions = measured(profile, said)
            for label in labels:
                rows.append(row(mode, label, [a for a in actions if a.label == label], wanted))
    finally:
        _bazel("shutdown")
    PAGE.write_text(page(rows, strategies, load), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


def measured(profile: Iterable[dict[str, Any]], said: str) -> list[Action]:
    """The mutants' actions, from the profile's events and what the actions said themselves.

    A mutant that no test reaches makes no run: all of its action is cost.
    """
    lines = [json.loads(line) for line in said.splitlines() if line.startswith('{"id": ')]
    reported: dict[str, list[float]] = {}
    for line in lines:
        reported.setdefault(line["id"], []).append(line["tests"])
    found = []
    for event in sorted(profile, key=lambda event: float(event.get("ts", 0))):
        named = re.fullmatch(r"Judging (.*) of (//\S+)", str(event.get("name")))
        if named and event.get("cat") == "action processing":
            tests = reported.get(named[1], [0.0])
            found.append(
                Action(named[2], named[1], event["ts"] / 1e6, event["dur"] / 1e6, tests.pop(0))
            )
    return found


def row(mode: str, label: str, actions: Sequence[Action], wanted: int) -> str:
    """A line of the table. The first run of a worker or of a place warms it: it stands apart."""
    costs = [action.cost for action in actions]
    tests = [1000 * action.tests for action in actions if action.tests]
    if not costs:
        raise SystemExit(f"could not measure '{label}': none of its mutants was executed ({mode})")
    middle = statistics.median(costs)
    cells = [
        *(mode, label, str(len(costs)), f"{statistics.median(tests or [0]):.0f}"),
        *(f"{middle:.0f}", f"{max(costs[1:] or costs):.0f}", f"{costs[0]:.0f}"),
        *(f"{statistics.fmean(costs):.0f}", f"{wanted}{'' if middle <= wanted else ' (missed)'}"),
    ]
    return f"| {' | '.join(cells)} |"


def page(rows: Sequence[str], strategies: Sequence[str], load: float) -> str:
    """The page's text."""
    cores = os.cpu_count()
    return f"""\
# What a mutant costs as a Bazel action

Written by `python3 -m tests.bench.bazel` from the checkout on a quiet machine. Do not edit: run it
again.

Measured {datetime.now(UTC):%Y-%m-%d}: {cores} cores, one action at a time; load average before it
began: {load:.2f} (above {cores}, every figure here is larger than the machine's own).
Bazel's own words: {"; ".join(strategies)}.

| mode | target | actions | tests, ms | cost, ms | largest | the first | mean | wanted |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(rows)}

An action's time is its span in Bazel's profile: its key, its inputs, the process, its outputs. Its
tests' time is the run's in the sandbox, from the start of the tests to the end of their process
(with `fork` a process that exists already, without a worker a new interpreter that imports pytest);
what a second run that confirms a timeout or a kill takes is the tests' own as well. `tests` and
`cost` are medians, and the cost of an action is its time less its tests'. The first request to a
worker makes the sandbox and imports what the tests import: it is in the mean, and in a column of
its own.
"""


def _build(
    mode: str, flags: Sequence[str], labels: Sequence[str]
) -> tuple[str, list[dict[str, Any]]]:
    """What Bazel said, and its profile's events. Plans are made before: only mutants are timed."""
    profile = places.cache() / f"bazel-{mode}.json"
    words = ["build", "--color=no", "--symlink_prefix=/", "--jobs=1"]
    words += ["--action_env=HERMUTIC_TIMES=1", *flags, *(f"{label}.measured" for label in labels)]
    _bazel(*words, "--output_groups=plans")
    for folder in _base().glob("execroot/*/bazel-out/*/bin/**/verdicts"):
        shutil.rmtree(folder)  # what is missing is made again
    said = _bazel(*words, "--output_groups=verdicts", f"--profile={profile}")
    return said, json.loads(profile.read_text(encoding="utf-8"))["traceEvents"]


def _base() -> Path:
    folder = places.cache() / "bazel"
    folder.mkdir(exist_ok=True)
    return folder


def _bazel(*words: str) -> str:
    """Run Bazel with the benchmark's output base; SystemExit if it fails."""
    command = [str(places.ROOT / ".ci" / "bazel"), f"--output_base={_base()}", *words]
    done = subprocess.run(
        command,
        cwd=places.ROOT,
        env={**os.environ, "HERMUTIC_BIND": str(places.cache())},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"could not run {' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


if __name__ == "__main__":
    main(sys.argv[1:] or TARGETS)
