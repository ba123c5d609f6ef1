"""What the processes of a run reported, read into its record; each case is written by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness import events
from harness.events import Finished
from harness.run import Attestation, Job, Limits, TestResult

JOB = Job("fresh", ("-x", "test_a.py"), Limits(1.0, 1, 1), "input", ("a.py",))
BEGIN_A = ["begin", "test_a.py::test_a"]
END_A = ["end", "test_a.py::test_a", "passed", "call", "", 0.25]


def lines(*found: list[Any]) -> str:
    return "".join(json.dumps(event) + "\n" for event in found)


def read(own: str, *others: str, **result: Any) -> Finished:
    told = {"exit": 0, "own": own, "events": list(others), **result}
    return events.finished(JOB, told, environment="e", isolation="copy")


def test_results_are_in_running_order_with_their_times() -> None:
    collected = ["collected", ["test_a.py::test_a", "test_a.py::test_b"]]
    end_b = ["end", "test_a.py::test_b", "failed", "call", "assert 0", 1.0]
    found = read(lines(collected, BEGIN_A, END_A, ["begin", "test_a.py::test_b"], end_b))
    assert found.record.results == (
        TestResult("test_a.py::test_a", "passed", "call"),
        TestResult("test_a.py::test_b", "failed", "call", "assert 0"),
    )
    assert found.seconds == {"test_a.py::test_a": 0.25, "test_a.py::test_b": 1.0}
    assert found.collected == ("test_a.py::test_a", "test_a.py::test_b")
    assert found.record.collected == 2
    assert found.record.running is None
    assert found.record.argv == ("python", "-m", "pytest", "-x", "test_a.py")


@pytest.mark.parametrize(
    ("own", "collected", "running"),
    [
        ("", None, None),
        (lines(["collected", []]), 0, None),
        (lines(["collected", ["a"]], BEGIN_A), 1, "test_a.py::test_a"),
        (lines(["collected", ["a"]], BEGIN_A, END_A), 1, None),
    ],
)
def test_what_was_under_way_is_what_began_and_did_not_end(
    own: str, collected: int | None, running: str | None
) -> None:
    record = read(own).record
    assert (record.collected, record.running) == (collected, running)
    assert not record.finished


def test_a_test_that_failed_and_never_ended_has_failed() -> None:
    failing = ["failing", "test_a.py::test_a", "failed", "call", "assert 0", 0.25]
    record = read(lines(BEGIN_A, failing), exit=None, signal=6).record
    assert record.results == (TestResult("test_a.py::test_a", "failed", "call", "assert 0"),)
    assert record.running == "test_a.py::test_a"
    assert (record.exit, record.signal) == (None, 6)


def test_how_long_a_failed_test_waited_is_in_the_record_and_of_several_the_longest() -> None:
    one = ["failing", "test_a.py::test_a", "failed", "call", "assert 0", 0.25]
    other = ["failing", "test_a.py::test_b", "error", "teardown", "assert 1", 0.5]
    assert read(lines(BEGIN_A, one, END_A, ["begin", "b"], other)).record.waited == 0.5
    assert read(lines(BEGIN_A, END_A)).record.waited == 0.0


def test_other_processes_attest_but_have_no_results() -> None:
    own = lines(BEGIN_A, ["attest", "a.py", "1" * 64], END_A, ["finished", 0])
    fallen_through = lines(["attest", "a.py", "2" * 64], END_A, ["collected", ["x", "y"]])
    record = read(own, fallen_through, lines(["attest", "a.py", "1" * 64])).record
    assert record.attested == (Attestation("a.py", "1" * 64), Attestation("a.py", "2" * 64))
    assert len(record.results) == 1
    assert record.collected is None
    assert record.finished


def test_an_event_cut_short_by_the_end_of_its_process_never_happened() -> None:
    record = read(lines(BEGIN_A, END_A) + '["end", "test_a.py::te').record
    assert (len(record.results), record.fault) == (1, "")


def test_an_event_that_cannot_be_read_is_the_instruments_fault() -> None:
    own = lines(BEGIN_A) + '["end", "test_a.py::te' + lines(END_A)
    assert read(own).record.fault.startswith("could not read what the run reported")
    assert read("", "nonsense\n").record.fault.startswith("could not read what the run reported")


def test_a_run_without_a_word_is_a_record_too() -> None:
    record = events.finished(JOB, {"fault": "no sandbox"}, environment="", isolation="copy").record
    assert (record.fault, record.exit, record.signal, record.results) == (
        "no sandbox",
        None,
        None,
        (),
    )
