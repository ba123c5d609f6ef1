"""Verdict files: what is in them, what is not, and what they are called."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from harness import evidence
from harness.report import again
from harness.run import Attestation, RunRecord, TestResult
from harness.verdict import Verdict, judge

TESTS = ("t.py::a", "t.py::b")
RUN = RunRecord(
    argv=("python", "-m", "pytest", "t.py"),
    environment="e",
    input="i",
    executor="fork",
    isolation="namespaces",
    exit=1,
    signal=None,
    limit=None,
    collected=2,
    finished=True,
    results=(TestResult("t.py::a", "failed", "call", "assert <object at 0x7f01> == 1"),),
    running=None,
    attested=(Attestation("m.py", "d1"),),
    output="1 failed in 0.07s",
    wall=0.07,
    cpu=0.06,
    peak=1 << 20,
)
CLEAN = replace(
    RUN,
    exit=0,
    results=tuple(TestResult(test, "passed", "call") for test in TESTS),
    attested=(),
)
MUTANT: dict[str, Any] = {
    "id": "m.py:f:return.none:1",
    "path": "m.py",
    "qualname": "f",
    "operator": "return.none",
    "kind": "behaviour",
    "place": "body",
    "line": 2,
    "column": 12,
    "before": "1",
    "after": "None",
    "digest": "d1",
}


def built(run: RunRecord) -> dict[str, Any]:
    return evidence.build(
        MUTANT,
        Verdict("killed", "", ("t.py::a",)),
        environment="env",
        selection=TESTS,
        runs={"mutant": run, "clean": CLEAN},
    )


@pytest.mark.parametrize(
    "other",
    [
        {"wall": 9.0, "cpu": 8.0, "peak": 5, "waited": 1.0},
        {"output": "1 failed in 3.21s"},
        {"executor": "fresh"},
        {"isolation": "copy"},
        {"input": "another"},
        {"results": (replace(RUN.results[0], message="assert <object at 0x7f02> == 1"),)},
    ],
)
def test_what_differs_between_two_runs_of_the_same_bytes_is_not_in_the_file(
    other: dict[str, Any],
) -> None:
    assert evidence.to_bytes(built(RUN)) == evidence.to_bytes(built(replace(RUN, **other)))


@pytest.mark.parametrize(
    "other",
    [
        {"exit": 2},
        {"signal": 9},
        {"limit": "cpu"},
        {"collected": 1},
        {"finished": False},
        {"running": "t.py::b"},
        {"attested": (Attestation("m.py", "d2"),)},
        {"results": (replace(RUN.results[0], id="t.py::b"),)},
        {"results": (replace(RUN.results[0], phase="setup"),)},
        {"results": (replace(RUN.results[0], message="ValueError: no"),)},
        {"results": (replace(RUN.results[0], message="MemoryError"),)},
        {"argv": ("python", "-m", "pytest", "other.py")},
        {"fault": "disk full"},
    ],
)
def test_what_a_verdict_rests_on_is_in_the_file(other: dict[str, Any]) -> None:
    assert evidence.to_bytes(built(RUN)) != evidence.to_bytes(built(replace(RUN, **other)))


def test_which_limit_of_time_a_run_reaches_first_is_not_in_the_file() -> None:
    by_cpu = replace(RUN, exit=None, signal=24, limit="cpu", results=(), finished=False)
    by_wall = replace(by_cpu, signal=9, limit="wall")
    assert evidence.to_bytes(built(by_cpu)) == evidence.to_bytes(built(by_wall))
    assert built(by_cpu)["runs"]["mutant"]["limit"] == "time"


def test_whether_the_confirming_run_compiled_the_clean_file_anew_is_not_in_the_file() -> None:
    over = replace(RUN, exit=None, signal=9, limit="wall", results=(), finished=False)
    files = {
        evidence.to_bytes(
            evidence.build(
                MUTANT,
                Verdict("timeout", "", ()),
                environment="env",
                selection=TESTS,
                runs={"mutant": over, "clean": CLEAN, "confirm": replace(CLEAN, attested=seen)},
            )
        )
        for seen in ((), (Attestation("m.py", "clean"),))
    }
    assert len(files) == 1


def test_whether_a_kill_had_to_be_seen_twice_is_not_in_the_file() -> None:
    """It depends on how busy the machine was."""
    killed = Verdict("killed", "", ("t.py::a",))
    waited = replace(RUN, waited=1.0)
    files = [
        evidence.build(MUTANT, killed, environment="env", selection=TESTS, runs=runs)
        for runs in (
            {"mutant": waited, "clean": CLEAN, "again": RUN},
            {"mutant": RUN, "clean": CLEAN},
        )
    ]
    assert files[0] == files[1]


def test_the_file_of_a_kill_that_was_not_seen_twice_has_both_runs_and_gives_the_same_verdict() -> (
    None
):
    green = replace(CLEAN, attested=RUN.attested)
    runs = {"mutant": replace(RUN, waited=1.0), "clean": CLEAN, "again": green}
    said = judge(
        path="m.py", digest="d1", selection=TESTS, run=runs["mutant"], clean=CLEAN, again=green
    )
    assert said.verdict == "unstable"
    data = evidence.build(MUTANT, said, environment="env", selection=TESTS, runs=runs)["runs"]
    run, clean, again_ = (
        evidence.record_of(data[role], TESTS, environment="env")
        for role in ("mutant", "clean", "again")
    )
    assert said == judge(
        path="m.py", digest="d1", selection=TESTS, run=run, clean=clean, again=again_
    )


@pytest.mark.parametrize("message", ["assert 1 == 2", "MemoryError", "ValueError: no"])
def test_a_record_taken_from_the_file_is_judged_as_the_one_that_was_put_in(message: str) -> None:
    own = replace(RUN, results=(replace(RUN.results[0], message=message),))
    data = json.loads(evidence.to_bytes(built(own)))["runs"]
    run, clean = (
        evidence.record_of(data[role], TESTS, environment="env") for role in ("mutant", "clean")
    )
    verdicts = [
        judge(path="m.py", digest="d1", selection=TESTS, run=one, clean=other)
        for one, other in ((own, CLEAN), (run, clean))
    ]
    assert verdicts[0] == verdicts[1]
    assert verdicts[0].verdict == "killed"


def test_a_verdict_file_is_named_for_its_mutant_in_letters_that_a_build_takes() -> None:
    assert (
        evidence.file_name("src/a.py:C.<locals>.f:classic.raise:12")
        == "src/a.py/C._locals_.f/classic.raise/12.json"
    )


def test_more_is_shown_by_the_command_of_whoever_made_the_report() -> None:
    assert again.show("shop") == "hermutic show ID shop"
    assert again.show("a b", "x:<module>:y:1") == "hermutic show 'x:<module>:y:1' 'a b'"
    assert again.show("//shop:price") == "bazel run //shop:price.show -- ID"
    assert again.survivors("//shop:price") == "bazel run //shop:price.show"
    assert again.survivors("shop") == "hermutic survivors shop"
