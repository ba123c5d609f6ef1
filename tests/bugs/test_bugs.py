"""Every past fault has its patch, which applies; its twin makes the invariant fail as predicted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.invariants import CURES
from tests.bugs import table
from tests.bugs.twin import BUGS, tried, twin
from tests.harness.sealed import write
from tests.invariants.all import INVARIANTS
from tests.invariants.sandbox import PINNED as FILES

FAULTS = 31
# Those that are tried here: they need no sandbox. `./hermutic dev tests.bugs` tries all of them.
SLICE = (7, 8, 10, 15, 31)
# What a user's own project shows of a twin: each fails these checks of `verify`, and no other.
SHOWN = {3: ("stale bytecode", "attestation"), 28: ("hostile parent directory",)}


def test_every_fault_has_an_invariant_and_a_patch() -> None:
    assert sorted(INVARIANTS) == sorted(BUGS) == list(range(1, FAULTS + 1))


@pytest.mark.parametrize("number", BUGS)
def test_a_patch_applies_as_it_is(number: int) -> None:
    with twin(BUGS[number]) as copy:
        assert (copy / "harness").is_dir()


@pytest.mark.parametrize("number", BUGS)
def test_what_is_predicted_of_the_twin_is_not_predicted_of_the_instrument(number: int) -> None:
    assert not re.search(BUGS[number].seen, INVARIANTS[number].predicted)


@pytest.mark.parametrize("number", SLICE)
def test_a_twin_makes_its_invariant_fail_for_the_predicted_reason(
    number: int, checks_python: Path
) -> None:
    outcome = tried(BUGS[number], checks_python)
    assert outcome.caught, outcome.seen


@pytest.mark.nightly
@pytest.mark.parametrize("number", SHOWN)
def test_verify_shows_the_fault_on_a_project_and_says_what_to_do(
    number: int, checks_python: Path, tmp_path: Path
) -> None:
    root = write(tmp_path / "project", FILES)
    with twin(BUGS[number]) as copy:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "verify", root, "--python", checks_python],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
        )
    wrong = SHOWN[number]
    rows = [line for line in done.stdout.splitlines() if line.endswith("NO")]
    assert done.returncode == 4, done.stdout + done.stderr
    assert tuple(row.split("  ")[0] for row in rows) == wrong
    assert f"not as predicted: {', '.join(wrong)}; no score from here" in done.stderr
    for name in wrong:
        assert f"{name}: {CURES[name]}" in done.stderr


def test_the_table_is_up_to_date() -> None:
    text = table.PAGE.read_text(encoding="utf-8")
    printed = table.printed_before()
    assert text == table.page(printed), "write it anew with: ./hermutic dev tests.bugs"
    for number, bug in BUGS.items():
        assert re.search(bug.seen, printed[number]), f"{number}: ./hermutic dev tests.bugs {number}"
