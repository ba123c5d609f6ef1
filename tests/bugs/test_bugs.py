"""Every past fault has its patch, which applies; its twin makes the invariant fail as predicted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bugs import table
from tests.bugs.twin import BUGS, tried, twin
from tests.invariants.all import INVARIANTS

FAULTS = 31
# Those that are tried here: five that need no sandbox, and stale bytecode, which needs one.
# `python3 -m tests.bugs` tries all of them.
SLICE = (3, 7, 8, 10, 15, 31)


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


def test_the_table_is_up_to_date() -> None:
    text = table.PAGE.read_text(encoding="utf-8")
    printed = table.printed_before()
    assert text == table.page(printed), "write it anew with: python3 -m tests.bugs"
    for number, bug in BUGS.items():
        assert re.search(bug.seen, printed[number]), f"{number}: python3 -m tests.bugs {number}"
