"""The audit: a good log holds; each way of damaging one is found, and for its own reason."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness.audit import Audit, audit
from harness.log import open_log
from harness.mutant import sha256
from harness.records import encode_record, selection_digest
from harness.run import Attestation, RunRecord, TestResult

Events = list[dict[str, Any]]

CLEAN = b"def f(a):\n    return a + 1\nX = 2\n"
MUTANTS = {
    "m.py:f:binop:0": b"def f(a):\n    return a - 1\nX = 2\n",
    "m.py:f:constant:0": b"def f(a):\n    return a + 2\nX = 2\n",
    "m.py:f:loop:0": b"def f(a):\n    while 1: a\nX = 2\n",
    "m.py::constant:0": b"def f(a):\n    return a + 1\nX = 3\n",
}
KILLED, SURVIVED, TIMEOUT, UNREACHED = MUTANTS
SUPPRESSED = "m.py::constant:1"
TESTS = ("test_m.py::test_one", "test_m.py::test_two")
SELECTION = selection_digest(TESTS)
PASSED = tuple(TestResult(test, "passed", "call") for test in TESTS)


def record(source: bytes, **changes: Any) -> RunRecord:
    return replace(
        RunRecord(
            argv=("python", "-m", "pytest", "-x"),
            environment="env",
            input="in",
            executor="fork",
            isolation="namespaces",
            exit=0,
            signal=None,
            limit=None,
            collected=2,
            finished=True,
            results=PASSED,
            running=None,
            attested=(Attestation("m.py", sha256(source)),),
        ),
        **changes,
    )


FAILING = {
    "exit": 1,
    "results": (PASSED[0], TestResult(TESTS[1], "failed", "call", "assert 1 == 2")),
}
ENDLESS = {
    "exit": None,
    "limit": "wall",
    "finished": False,
    "results": (),
    "running": TESTS[0],
}
RAISING = {"exit": 2, "collected": None, "results": (), "collect_errors": ("test_m.py: boom",)}


# A plant in a function that an import runs: no test is collected.
STOPPED = {"exit": 2, "collected": None, "results": ()}


def run(run_id: str, role: str, made: RunRecord) -> dict[str, Any]:
    return {
        "event": "run",
        "run": run_id,
        "role": role,
        "cached": False,
        "selection": SELECTION,
        "record": encode_record(made, TESTS),
    }


def mutant(id_: str, digest: str, suppressed: str | None = None) -> dict[str, Any]:
    path, qualname, operator, _ = id_.split(":")
    fields = {"kind": "constant", "line": 2, "column": 14, "before": "1", "after": "2"}
    return {
        "event": "mutant",
        "id": id_,
        "path": path,
        "qualname": qualname,
        "operator": operator,
        "place": "body" if qualname else "import",
        "digest": digest,
        "suppressed": suppressed,
        **fields,
    }


def verdict(id_: str, said: str, reason: str = "", **changes: Any) -> dict[str, Any]:
    event: dict[str, Any] = {
        "event": "verdict",
        "id": id_,
        "verdict": said,
        "reason": reason,
        "tests_run": 0,
        "detected_by": [],
        "asserted": False,
        "selection": SELECTION,
        "runs": {},
    }
    event.update(changes)
    event["runs"] = {
        kind: event["runs"].get(kind) for kind in ("mutant", "clean", "confirm", "again", "sample")
    }
    return event


def control(name: str, run_id: str, holds: bool = True) -> dict[str, Any]:
    return {
        "event": "control",
        "name": name,
        "predicted": "as it should",
        "seen": "as it should" if holds else "otherwise",
        "holds": holds,
        "runs": [run_id],
    }


def good_events() -> Events:
    """A run of five mutants, one a verdict, as a session would log it."""
    killed, survived, timeout, _ = MUTANTS.values()
    return [
        {"event": "session", "hermutic": "1", "schema": 1, "target": "m", "operators": "default"},
        {"event": "environment", "digest": "env", "interpreter": "3.11", "distributions": []},
        {"event": "source", "path": "m.py", "sha256": sha256(CLEAN), "problem": None},
        {"event": "source", "path": "n.py", "sha256": sha256(b"("), "problem": "does not parse"},
        *(mutant(id_, sha256(source)) for id_, source in MUTANTS.items()),
        mutant(SUPPRESSED, "f" * 64, "twin of m.py::constant:0"),
        {"event": "selection", "selection": SELECTION, "tests": list(TESTS)},
        run("clean-1", "clean", record(CLEAN)),
        {
            "event": "reach",
            "statements": 3,
            "executed": 2,
            "flaky": [],
            "set_aside": ["test_m.py::test_red"],
            "line_coverage": 0.6667,
        },
        run("canary", "control", record(b"raise", **RAISING)),
        run("no-op", "control", record(CLEAN)),
        run("plant", "control", record(b"plant", **FAILING)),
        control("clean", "clean-1"),
        control("canary", "canary"),
        control("no-op", "no-op"),
        control("plant", "plant"),
        run("r1", "mutant", record(killed, **FAILING, waited=0.3)),
        run("c1", "selection", record(CLEAN)),
        run("k2", "again", record(killed, **FAILING)),
        verdict(
            KILLED,
            "killed",
            tests_run=2,
            detected_by=[TESTS[1]],
            asserted=True,
            runs={"mutant": "r1", "clean": "c1", "again": "k2"},
        ),
        run("r2", "mutant", record(survived)),
        run("s2", "sample", record(survived, executor="fresh")),
        verdict(SURVIVED, "survived", tests_run=2, runs={"mutant": "r2", "sample": "s2"}),
        run("r3", "mutant", record(timeout, **ENDLESS)),
        run("again", "confirm", record(CLEAN)),
        verdict(
            TIMEOUT,
            "timeout",
            "over its budget",
            tests_run=1,
            detected_by=[TESTS[0]],
            runs={"mutant": "r3", "clean": "c1", "confirm": "again"},
        ),
        verdict(UNREACHED, "unreached", selection=None),
        verdict(SUPPRESSED, "suppressed", "twin of m.py::constant:0", selection=None),
    ]


@dataclass(frozen=True)
class Kept:
    """A log and its report on disk."""

    log: Path
    report: Path

    def write(self, events: Events) -> None:
        self.log.unlink(missing_ok=True)
        log = open_log(self.log)
        for event in events:
            fields = {k: v for k, v in event.items() if k not in {"event", "n", "previous"}}
            log.event(event["event"], **fields)
        log.close()

    def audit(self) -> Audit:
        return audit(self.log, self.report)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """A good log, its `report` event and its report.json."""
    made = Kept(tmp_path / "log.jsonl", tmp_path / "report.json")
    made.write(good_events())
    data = audit(made.log, None).report
    assert data is not None
    made.report.write_bytes(data)
    made.write([*good_events(), {"event": "report", "sha256": sha256(data), "bytes": len(data)}])
    return made


def whole(kept: Kept) -> Events:
    return [json.loads(line) for line in kept.log.read_bytes().splitlines()]


def find(events: Events, **wanted: Any) -> dict[str, Any]:
    (found,) = (event for event in events if wanted.items() <= event.items())
    return found


def test_a_good_log_holds_and_gives_the_report_byte_for_byte(kept: Kept) -> None:
    result = kept.audit()
    assert result.findings == ()
    assert result.ok
    assert result.report == kept.report.read_bytes()
    assert result.summary == (
        f"the log holds: {len(whole(kept))} lines, 5 verdicts; the report follows from the runs"
    )


def test_the_rebuilt_report_counts_what_the_log_was_made_to_hold(kept: Kept) -> None:
    report = json.loads(kept.report.read_bytes())
    assert report["totals"] == {
        "mutants": 4,
        "killed": 1,
        "timeout": 1,
        "survived": 1,
        "unreached": 1,
        "suppressed": 1,
        "broken": 0,
        "crashed": 0,
        "unstable": 0,
        "error": 0,
    }
    assert report["score"] == 0.5
    assert report["score_reached"] == 0.6667
    assert report["problems"] == {"n.py": "does not parse"}
    assert report["set_aside"] == ["test_m.py::test_red"]


def test_the_log_alone_is_enough(kept: Kept) -> None:
    kept.report.unlink()
    assert audit(kept.log, None).ok


Damage = Callable[[Events], Any]


def drop(**wanted: Any) -> Damage:
    return lambda events: events.remove(find(events, **wanted))


def change(wanted: dict[str, Any], **fields: Any) -> Damage:
    return lambda events: find(events, **wanted).update(fields)


def rerun(run_id: str, made: RunRecord, **fields: Any) -> Damage:
    wanted = {"event": "run", "run": run_id}
    return change(wanted, record=encode_record(made, TESTS), **fields)


def name_run(mutant_id: str, **runs: str | None) -> Damage:
    return lambda events: find(events, event="verdict", id=mutant_id)["runs"].update(runs)


def double(**wanted: Any) -> Damage:
    def damage(events: Events) -> None:
        found = find(events, **wanted)
        events.insert(events.index(found), copy.deepcopy(found))

    return damage


K, S, T = (MUTANTS[name] for name in (KILLED, SURVIVED, TIMEOUT))


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        (drop(event="report"), "there is no 'report' event"),
        (drop(event="session"), "there is no 'session' event"),
        (drop(event="reach"), "there is no 'reach' event"),
        (drop(event="control", name="canary"), "the control 'canary' was not run"),
        (drop(event="verdict", id=KILLED), f"there is no verdict on '{KILLED}'"),
        (drop(event="mutant", id=KILLED), f"'{KILLED}', which is no mutant of this log"),
        (drop(event="run", run="r1"), "the run 'r1' is not in the log before"),
        (drop(event="run", run="c1"), "the run 'c1' is not in the log before"),
        (drop(event="run", run="again"), "the run 'again' is not in the log before"),
        (drop(event="run", run="plant"), "the run 'plant' is not in the log"),
        (drop(event="selection"), "a selection that is not in the log"),
        (double(event="verdict", id=KILLED), f"'{KILLED}' comes a second time"),
        (double(event="run", run="r1"), "'r1' comes a second time"),
        (double(event="session"), "a second 'session' event"),
        (change({"event": "environment"}, event="weather"), "an unknown event 'weather'"),
        (change({"event": "selection"}, tests=[TESTS[0]]), "not the digest of its tests"),
        (change({"event": "report"}, sha256="0" * 64), "another sha256"),
        (change({"event": "report"}, bytes=1), "says 1 bytes"),
        (change({"event": "reach"}, line_coverage=0.9), "line coverage is 0.6667, not 0.9"),
        (change({"event": "reach"}, statements=4), "line coverage is 0.5, not 0.6667"),
        (change({"event": "verdict", "id": SURVIVED}, verdict="killed"), "does not follow"),
        (change({"event": "verdict", "id": KILLED}, detected_by=[TESTS[0]]), "does not follow"),
        (change({"event": "verdict", "id": KILLED}, tests_run=1), "does not follow"),
        (change({"event": "verdict", "id": KILLED}, asserted=False), "does not follow"),
        (change({"event": "verdict", "id": KILLED}, reason="so"), "does not follow"),
        (change({"event": "verdict", "id": UNREACHED}, verdict="killed"), "rests on no run"),
        (change({"event": "verdict", "id": UNREACHED}, selection=SELECTION), "tests were selected"),
        (change({"event": "mutant", "id": SURVIVED}, digest="0" * 64), "does not follow"),
        (change({"event": "mutant", "id": SUPPRESSED}, suppressed="pragma"), "does not follow"),
        (change({"event": "mutant", "id": KILLED}, suppressed="pragma"), "suppressed, but was run"),
        (change({"event": "control", "name": "plant"}, holds=False), "'plant' does not hold"),
        (rerun("plant", record(CLEAN)), "'plant' does not follow from its runs"),
        (rerun("plant", record(CLEAN, exit=1)), "'plant' does not follow from its runs"),
        (
            rerun("plant", record(CLEAN, **{**FAILING, "exit": 0})),
            "'plant' does not follow from its runs",
        ),
        (
            rerun("plant", record(CLEAN, **STOPPED, fault="no sandbox")),
            "'plant' does not follow from its runs",
        ),
        (rerun("no-op", record(CLEAN, **FAILING)), "'no-op' does not follow from its runs"),
        (rerun("canary", record(CLEAN)), "'canary' does not follow from its runs"),
        (rerun("clean-1", record(CLEAN, **FAILING)), "'clean' does not follow from its runs"),
        (rerun("clean-1", record(CLEAN, finished=False)), "'clean' does not follow from its runs"),
        (rerun("clean-1", record(CLEAN, collected=None)), "'clean' does not follow from its runs"),
        (
            rerun("clean-1", record(CLEAN, collect_errors=("test_m.py: boom",))),
            "'clean' does not follow from its runs",
        ),
        (rerun("clean-1", record(CLEAN, exit=1)), "'clean' does not follow from its runs"),
        (
            lambda events: events.insert(-1, control("weather", "clean-1")),
            "an unknown control 'weather'",
        ),
        (rerun("r1", record(K)), "does not follow"),
        (rerun("r1", record(CLEAN, **FAILING)), "does not follow"),
        (
            change(
                {"event": "run", "run": "r1"},
                selection=None,
                record=record(K, **FAILING).to_json(),
            ),
            "different selections",
        ),
        (rerun("c1", record(K)), "ran other bytes of 'm.py' than the clean ones"),
        (rerun("again", record(T)), "ran other bytes of 'm.py' than the clean ones"),
        (
            change({"event": "verdict", "id": KILLED}, verdict="survived", tests_run=1),
            "'survived', but its runs give 'killed'; tests_run is 1, but its runs give 2",
        ),
        (rerun("c1", record(CLEAN, **FAILING)), "does not follow"),
        (rerun("again", record(CLEAN, **ENDLESS)), "does not follow"),
        (rerun("s2", record(S, **FAILING)), "too few runs"),
        (rerun("r1", record(K, **FAILING), role="sample"), "which is a sample run"),
        (name_run(KILLED, clean=None), "too few runs"),
        (name_run(TIMEOUT, confirm=None), "too few runs"),
        (name_run(KILLED, again=None), "needs the mutant's run again"),
        (rerun("k2", record(K)), "its runs give 'unstable'"),
        (rerun("k2", record(S, **FAILING)), "its runs give 'error'"),
        (rerun("k2", record(K, **FAILING), role="mutant"), "as its again, which is a mutant run"),
        (name_run(KILLED, mutant=None), "rests on no run"),
        (name_run(KILLED, mutant="r2"), "the run 'r2' is not in the log before this line"),
        (name_run(TIMEOUT, mutant="r2"), "does not follow"),
        (change({"event": "run", "run": "r1"}, record={}), "has a wrong form"),
    ],
)
def test_a_log_that_was_altered_and_chained_anew_is_found_out(
    damage: Damage, finding: str, kept: Kept
) -> None:
    events = whole(kept)
    damage(events)
    kept.write(events)
    result = kept.audit()
    assert not result.ok
    assert any(finding in line for line in result.findings), result.findings


def test_a_finding_begins_with_the_line_that_it_is_about(kept: Kept) -> None:
    events = whole(kept)
    find(events, event="verdict", id=KILLED).update(reason="so")
    find(events, event="verdict", id=TIMEOUT).update(reason="so")
    kept.write(events)
    told = [line for line in kept.audit().findings if line.startswith("line ")]
    written = whole(kept)
    altered = [
        find(written, event="verdict", id=KILLED),
        find(written, event="verdict", id=TIMEOUT),
    ]
    assert [line.partition(":")[0] for line in told] == [
        f"line {written.index(event) + 1}" for event in altered
    ]


@pytest.mark.parametrize("role", ["clean", "clean-again", "selection"])
def test_a_verdict_may_rest_on_any_run_of_the_clean_code(role: str, kept: Kept) -> None:
    events = whole(kept)
    find(events, event="run", run="c1").update(role=role)
    kept.write(events)
    assert kept.audit().findings == ()


@pytest.mark.parametrize(
    "stopped", [STOPPED, RAISING, {**RAISING, "collected": 2}, {**STOPPED, "exit": 3}]
)
def test_a_plant_holds_where_no_test_could_be_collected(
    stopped: dict[str, Any], kept: Kept
) -> None:
    events = whole(kept)
    rerun("plant", record(b"plant", **stopped))(events)
    kept.write(events)
    assert kept.audit().findings == ()


def test_a_clean_run_may_fail_in_tests_that_are_set_aside(kept: Kept) -> None:
    red = TestResult("test_m.py::test_red", "failed", "call", "boom")
    events = whole(kept)
    clean = record(CLEAN, exit=1, collected=3, results=(*PASSED, red))
    rerun("clean-1", clean)(events)
    kept.write(events)
    assert kept.audit().findings == ()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("unstable", "only tests that are flaky or set aside reach it"),
        ("error", "no sandbox could be made"),
    ],
)
def test_what_counts_as_nothing_may_rest_on_no_run(said: str, reason: str, kept: Kept) -> None:
    events = whole(kept)
    find(events, event="verdict", id=UNREACHED).update(verdict=said, reason=reason)
    kept.write(events)
    assert not [line for line in kept.audit().findings if line.startswith("line ")]


def test_the_gates_events_are_left_to_the_gates_own_audit(kept: Kept) -> None:
    kept.write([*whole(kept), {"event": "gate.left", "mutant": SURVIVED, "why": "no idea"}])
    assert kept.audit().findings == ()


def test_an_event_after_the_report_is_found(kept: Kept) -> None:
    kept.write([*whole(kept), {"event": "source", "path": "z.py", "sha256": "0", "problem": None}])
    assert any("after the report" in line for line in kept.audit().findings)


def test_any_changed_byte_of_the_log_is_found(kept: Kept) -> None:
    data = kept.log.read_bytes()
    # Each byte of the last line (no later hash holds it), and a sample of those before.
    last = data.rindex(b"\n", 0, -1) + 1
    for position in [*range(0, last, 97), *range(last, len(data))]:
        changed = bytes([data[position] ^ 1])
        kept.log.write_bytes(data[:position] + changed + data[position + 1 :])
        assert not kept.audit().ok, f"byte {position}"


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        (lambda lines: [*lines[:9], *lines[10:]], "line 10: numbered 10, not 9"),
        (lambda lines: [*lines[:9], lines[10], lines[9], *lines[11:]], "line 10: numbered 10"),
        (lambda lines: [*lines[:-1], lines[-1][:-5]], "torn"),
        (lambda lines: lines[:-1], "there is no 'report' event"),
        (lambda lines: lines[:-2], f"there is no verdict on '{SUPPRESSED}'"),
        (lambda lines: lines[:0], "there is no 'session' event"),
    ],
    ids=["removed", "swapped", "torn", "no report", "cut off", "empty"],
)
def test_lines_that_are_missing_or_moved_are_found(
    damage: Callable[[list[bytes]], list[bytes]], finding: str, kept: Kept
) -> None:
    kept.log.write_bytes(b"".join(damage(kept.log.read_bytes().splitlines(keepends=True))))
    result = kept.audit()
    assert not result.ok
    assert any(finding in line for line in result.findings), result.findings


def test_a_report_whose_numbers_were_changed_is_told_value_by_value(kept: Kept) -> None:
    report = json.loads(kept.report.read_bytes())
    report["score"] = 0.99
    report["mutants"][0]["verdict"] = "error"
    del report["mutants"][-1]
    kept.report.write_text(json.dumps(report))
    findings = kept.audit().findings
    assert findings[0] == "the report's score is 0.99, the log gives 0.5"
    assert "the report's verdict of" in findings[1]
    assert "'error'" in findings[1]
    # Of the row that is gone, each of the fields; and nothing else is said.
    assert all("is None, the log gives" in line for line in findings[2:])
    assert len(findings) == 2 + 16


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        (lambda data: data + b"\n", "but not the bytes"),
        (lambda data: data[:0], "not in the form"),
        (lambda data: data[:0] + b"[]", "not in the form"),
        (lambda data: data[:-20], "not in the form"),
    ],
    ids=["newline", "empty", "list", "cut"],
)
def test_a_report_with_other_bytes_is_found(
    damage: Callable[[bytes], bytes], finding: str, kept: Kept
) -> None:
    kept.report.write_bytes(damage(kept.report.read_bytes()))
    (found,) = kept.audit().findings
    assert finding in found


def test_what_an_audit_found_cannot_be_altered(kept: Kept) -> None:
    with pytest.raises(FrozenInstanceError):
        kept.audit().ok = False  # type: ignore[misc]


def test_the_summary_counts_the_findings(kept: Kept) -> None:
    kept.report.write_bytes(b"")
    assert kept.audit().summary == "the log does not hold: 1 finding"
