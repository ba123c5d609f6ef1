"""Who detects whom, and the fewest tests: worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.scoring import detects, fewest
from harness.run import Attestation, RunRecord, TestResult

FILE = "tests/test_hermutic_abc.py"
TEST = f"{FILE}::test_x"
KILLED = RunRecord(
    argv=("python", "-m", "pytest"),
    environment="e",
    input="i",
    executor="fork",
    isolation="namespaces",
    exit=1,
    signal=None,
    limit=None,
    collected=1,
    finished=True,
    results=(TestResult(TEST, "failed", "call", "assert 1 == 2"),),
    running=None,
    attested=(Attestation("m.py", "mutated"),),
)


def seen(record: RunRecord) -> bool:
    return detects(record, FILE, "m.py", "mutated")


def test_a_failure_in_the_drafts_own_call_detects() -> None:
    assert seen(KILLED)


def test_a_file_that_was_not_imported_again_detects_all_the_same() -> None:
    assert seen(replace(KILLED, attested=()))


@pytest.mark.parametrize(
    "wrong",
    [
        {"exit": 0},
        {"exit": None, "signal": 11},
        {"limit": "wall"},
        {"fault": "no sandbox"},
        {"collect_errors": ("tests: no",)},
        {"results": (TestResult(TEST, "error", "setup"),)},
        {"results": (TestResult("tests/test_other.py::test_y", "failed", "call"),)},
        {"results": (*KILLED.results, TestResult("tests/test_o.py::test_y", "failed", "call"))},
        {"results": ()},
        {"attested": (Attestation("m.py", "clean"),)},
    ],
)
def test_whatever_else_went_wrong_detects_nothing(wrong: dict[str, object]) -> None:
    assert not seen(replace(KILLED, **wrong))  # type: ignore[arg-type]


def test_a_draft_that_catches_more_makes_the_others_superfluous() -> None:
    assert fewest({"a": ["1"], "b": ["1", "2"], "c": ["2"]}) == ["b"]


def test_the_greedy_choice_goes_if_the_others_cover_it_together() -> None:
    kills = {"a": ["1", "2", "3", "4"], "b": ["1", "2", "5"], "c": ["3", "4", "6"]}
    assert fewest(kills) == ["b", "c"]


def test_the_order_given_decides_between_equals_and_nothing_is_lost() -> None:
    assert fewest({"a": ["1"], "b": ["1"], "c": ["2"]}) == ["a", "c"]
    assert fewest({}) == []
