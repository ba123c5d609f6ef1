"""The gate's part of a log, made by hand: each decision is judged anew from the runs that it names.

No test here starts a process; ``test_gate_audit.py`` does the same with the log of a real session.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gate.audit import audit
from harness.log import LogBroken, open_log
from harness.mutant import sha256
from harness.records import encode_record, selection_digest
from harness.run import Attestation, RunRecord, TestResult

Event = dict[str, Any]
Events = list[Event]

CLEAN = b"def f(a):\n    return a > 1\n"
# Two that drafts detect, one whose draft the suite refuses, one that no test reaches, one that only
# the refused draft detects, one that the project's tests detect, and one that is not run at all.
A, B, C, D, E, K, S = (f"m.py:f:constant:{number}" for number in range(1, 8))
VERDICTS = {
    A: "survived",
    B: "survived",
    C: "survived",
    D: "unreached",
    E: "survived",
    K: "killed",
    S: "suppressed",
}
OLD = "test_m.py::test_old"


def mutated(id_: str) -> bytes:
    return CLEAN + f"# {id_}\n".encode()


@dataclass(frozen=True)
class Drafted:
    """A draft's text, and the survivor that it was written for."""

    mutant: str
    code: str
    kind: str = "behaviour"

    @property
    def digest(self) -> str:
        return sha256(self.code.encode())

    @property
    def file(self) -> str:
        return f"test_hermutic_{self.digest[:12]}.py"

    @property
    def test(self) -> str:
        return f"{self.file}::test_it"

    def event(self) -> Event:
        fields = {"author": "stub", "kind": self.kind, "pins": False, "module": "m"}
        named = {"draft": self.digest, "mutant": self.mutant, "file": self.file}
        return {"event": "gate.draft", **named, **fields, "code": self.code, "exchange": None}


def a_test(text: str) -> str:
    return f"from m import f\n\n\ndef test_it():\n    assert {text}\n"


# ONE detects A, and so does BOTH, beside B: ONE is a duplicate then. LATE breaks its neighbour.
ONE = Drafted(A, a_test("f(1) == 1"))
WRONG = Drafted(B, a_test("f(2) == 3"))
TWO = Drafted(D, a_test("f(1)") + "\n\ndef test_more():\n    pass\n")
BLIND = Drafted(B, a_test("f(0) == 0"))
BOTH = Drafted(B, a_test("f(4) == 4"))
LATE = Drafted(C, a_test("f(5) == 5"))
SURFACE = Drafted(D, a_test("f"), "surface")
STRANGER = "0123456789abcdef"


def passed(test: str) -> TestResult:
    return TestResult(test, "passed", "call")


def failed(test: str) -> TestResult:
    return TestResult(test, "failed", "call", "assert 1 == 2")


def record(source: bytes, *results: TestResult, **changes: Any) -> RunRecord:
    red = any(result.outcome == "failed" for result in results)
    made = RunRecord(
        argv=("python", "-m", "pytest"),
        environment="env",
        input="in",
        executor="fork",
        isolation="namespaces",
        exit=1 if red else 0,
        signal=None,
        limit=None,
        collected=len(results),
        finished=True,
        results=results,
        running=None,
        attested=(Attestation("m.py", sha256(source)),),
    )
    return replace(made, **changes)


SELECTION = (OLD,)
SELECTED = selection_digest(SELECTION)


def run(name: str, role: str, made: RunRecord) -> Event:
    encoded = encode_record(made, SELECTION)
    fields = {"cached": False, "selection": SELECTED, "record": encoded}
    return {"event": "run", "run": name, "role": f"gate-{role}", **fields}


def named(draft: Drafted, role: str, number: int = 1) -> str:
    return f"{draft.digest[:6]}-{role}-{number}"


def runs_of(draft: Drafted, role: str, times: int, made: RunRecord) -> Events:
    return [run(named(draft, role, number + 1), role, made) for number in range(times)]


def names_of(draft: Drafted, **roles: int) -> dict[str, list[str]]:
    return {
        role: [named(draft, role, number + 1) for number in range(times)]
        for role, times in roles.items()
    }


ALONE = {"clean": 3, "mutant": 3, "control": 1}
WHOLE = {**ALONE, "baseline": 3, "suite": 3}


def alone(draft: Drafted) -> Events:
    """The runs of a draft that passes its trial alone."""
    return [
        *runs_of(draft, "clean", 3, record(CLEAN, passed(draft.test))),
        *runs_of(draft, "mutant", 3, record(mutated(draft.mutant), failed(draft.test))),
        *runs_of(draft, "control", 1, record(CLEAN + b"#\n", passed(draft.test))),
    ]


def suite(draft: Drafted, *old: TestResult) -> Events:
    """The existing tests without it and with it; the old one comes after it."""
    return [
        *runs_of(draft, "baseline", 3, record(CLEAN, passed(OLD))),
        *runs_of(draft, "suite", 3, record(CLEAN, passed(draft.test), *old)),
    ]


def decision(
    draft: Drafted, reason: str, runs: Mapping[str, list[str]], detail: str = "so"
) -> Event:
    fields = {"kept": reason == "kept", "reason": reason, "detail": detail, "runs": runs}
    return {"event": "gate.decision", "draft": draft.digest, "mutant": draft.mutant, **fields}


def passes(draft: Drafted) -> Event:
    runs = names_of(draft, **ALONE)
    return {"event": "gate.passed", "draft": draft.digest, "mutant": draft.mutant, "runs": runs}


def score(draft: Drafted, **also: str) -> Event:
    return {"event": "gate.score", "draft": draft.digest, "mutant": draft.mutant, "also": also}


def scored(draft: Drafted, *others: str) -> Events:
    """The runs on other survivors that a draft detects, and what the gate said of them."""
    names = {other: f"{draft.digest[:6]}-score-{other[-1]}" for other in others}
    runs = [
        run(name, "score", record(mutated(other), failed(draft.test)))
        for other, name in names.items()
    ]
    return [*runs, score(draft, **names)]


def fabricated(draft: Drafted) -> Events:
    name = named(draft, "fabricated")
    return [
        run(name, "fabricated", record(CLEAN, passed(draft.test))),
        {"event": "gate.fabricated", "draft": draft.digest, "run": name, "killed": False},
    ]


def measured() -> Events:
    """What the log says before the gate has its say."""
    return [
        {"event": "session", "hermutic": "1", "schema": 1, "target": "m", "operators": "classic"},
        {"event": "source", "path": "m.py", "sha256": sha256(CLEAN), "problem": None},
        *(
            {"event": "mutant", "id": id_, "path": "m.py", "digest": sha256(mutated(id_))}
            for id_ in VERDICTS
        ),
        {"event": "selection", "selection": SELECTED, "tests": list(SELECTION)},
        *({"event": "verdict", "id": id_, "verdict": said} for id_, said in VERDICTS.items()),
    ]


def totals(**counts: int) -> dict[str, int]:
    verdicts = ("killed", "broken", "crashed", "timeout", "survived", "unreached", "unstable")
    return {**dict.fromkeys((*verdicts, "suppressed", "error", "mutants"), 0), **counts}


def hardened() -> Events:
    """A session in which one test was kept, and drafts were refused in every way that there is."""
    return [
        *measured(),
        ONE.event(),
        *alone(ONE),
        *scored(ONE),
        passes(ONE),
        WRONG.event(),
        *runs_of(WRONG, "clean", 1, record(CLEAN, failed(WRONG.test))),
        *runs_of(WRONG, "mutant", 1, record(mutated(B), failed(WRONG.test))),
        decision(WRONG, "fails-on-clean", names_of(WRONG, clean=1, mutant=1)),
        TWO.event(),
        decision(TWO, "several-tests", {}),
        BLIND.event(),
        *runs_of(BLIND, "clean", 1, record(CLEAN, passed(BLIND.test))),
        *runs_of(BLIND, "mutant", 1, record(mutated(B), passed(BLIND.test))),
        *scored(BLIND),
        decision(BLIND, "passes-on-mutant", names_of(BLIND, clean=1, mutant=1)),
        BOTH.event(),
        *alone(BOTH),
        *scored(BOTH, A),
        passes(BOTH),
        LATE.event(),
        *alone(LATE),
        *scored(LATE, E),
        passes(LATE),
        SURFACE.event(),
        decision(SURFACE, "left-out", {}),
        {"event": "gate.left", "mutant": D, "author": "stub", "why": "the drawer is empty"},
        {"event": "gate.left", "mutant": D, "author": "other", "why": "no idea"},
        *suite(LATE, failed(OLD)),
        decision(LATE, "breaks-neighbour", names_of(LATE, **WHOLE), "it breaks test_old"),
        *suite(ONE, passed(OLD)),
        decision(ONE, "duplicate", names_of(ONE, **WHOLE)),
        *suite(BOTH, passed(OLD)),
        decision(BOTH, "kept", names_of(BOTH, **WHOLE)),
        *fabricated(BOTH),
        {
            "event": "gate.hardened",
            "summary": {
                "schema": 1,
                "before": {
                    "score": 0.1667,
                    "score_reached": 0.2,
                    "totals": totals(mutants=6, killed=1, survived=4, unreached=1, suppressed=1),
                },
                "after": {
                    "score": 0.5,
                    "score_reached": 0.6,
                    "totals": totals(mutants=6, killed=3, survived=2, unreached=1, suppressed=1),
                },
                "kept": [
                    {
                        "test": "test_it",
                        "draft": BOTH.digest,
                        "mutant": B,
                        "author": "stub",
                        "kind": "behaviour",
                        "pins": False,
                        "catches": [A, B],
                    }
                ],
                "left": {
                    C: ["stub: refused in the suite (it breaks test_old)"],
                    D: ["stub: the drawer is empty", "other: no idea"],
                    E: ["no author was asked"],
                },
                "refused": {
                    "breaks-neighbour": 1,
                    "duplicate": 1,
                    "fails-on-clean": 1,
                    "passes-on-mutant": 1,
                    "several-tests": 1,
                },
            },
        },
    ]


def plain(draft: Drafted, name: str | None, passing: bool) -> Event:
    fields = {"path": "m.py", "run": name, "passes": passing}
    return {"event": "gate.plain", "draft": draft.digest, **fields}


def untargeted(draft: Drafted) -> Drafted:
    return replace(draft, mutant="")


def studied() -> Events:
    """A study of two arms: tests without a target, and drafts as in a session."""
    return [
        *measured(),
        {"event": "gate.arm", "arm": "A", "survivors": [A, B], "ceiling": None},
        {"event": "gate.exchange", "request": "r", "outcome": "answer"},
        ONE.event(),
        *runs_of(ONE, "clean", 1, record(CLEAN, passed(ONE.test))),
        plain(ONE, named(ONE, "clean"), True),
        *scored(untargeted(ONE), A, B),
        replace(WRONG, mutant=A).event(),
        *runs_of(WRONG, "clean", 1, record(CLEAN, failed(WRONG.test))),
        plain(WRONG, named(WRONG, "clean"), False),
        replace(TWO, mutant=A).event(),
        plain(TWO, None, False),
        {"event": "gate.arm-end", "arm": "A", "seconds": 1.0},
        {"event": "gate.arm", "arm": "S", "survivors": [A, B], "ceiling": None},
        BOTH.event(),
        *alone(BOTH),
        passes(BOTH),
        *suite(BOTH, passed(OLD)),
        decision(BOTH, "kept", names_of(BOTH, **WHOLE)),
        {"event": "gate.arm-end", "arm": "S", "seconds": 1.0},
    ]


def find(events: Events, **wanted: Any) -> Event:
    (found,) = (event for event in events if wanted.items() <= event.items())
    return found


Audited = Callable[[Iterable[Event]], tuple[str, ...]]


@pytest.fixture
def audited(tmp_path: Path) -> Audited:
    """The findings of the audit in a log of these events."""

    def findings(events: Iterable[Event]) -> tuple[str, ...]:
        log = open_log(tmp_path / "log.jsonl")
        for event in copy.deepcopy(list(events)):
            log.event(event.pop("event"), **event)
        log.close()
        return audit(tmp_path / "log.jsonl")

    return findings


def said(findings: tuple[str, ...]) -> list[str]:
    """The findings without the lines that they are on."""
    return [re.sub(r"^line \d+: ", "", finding) for finding in findings]


def test_a_session_that_says_what_its_runs_give_has_no_findings(audited: Audited) -> None:
    assert audited(hardened()) == ()


def test_a_study_that_says_what_its_runs_give_has_no_findings(audited: Audited) -> None:
    assert audited(studied()) == ()


def test_a_measurement_without_drafts_needs_no_summary(audited: Audited) -> None:
    assert audited(measured()) == ()


Damage = Callable[[Events], Any]


def change(wanted: dict[str, Any], **fields: Any) -> Damage:
    return lambda events: find(events, **wanted).update(fields)


def decided(draft: Drafted, **fields: Any) -> Damage:
    return change({"event": "gate.decision", "draft": draft.digest}, **fields)


def drop(**wanted: Any) -> Damage:
    return lambda events: events.remove(find(events, **wanted))


def rerun(name: str, made: RunRecord, **fields: Any) -> Damage:
    encoded = encode_record(made, SELECTION)
    return change({"event": "run", "run": name}, record=encoded, **fields)


def summary(where: str, **fields: Any) -> Damage:
    def damage(events: Events) -> None:
        said = find(events, event="gate.hardened")["summary"]
        (said[where][0] if where == "kept" else said[where]).update(fields)

    return damage


def says(**fields: Any) -> Damage:
    return lambda events: find(events, event="gate.hardened")["summary"].update(fields)


def both(*damages: Damage) -> Damage:
    def damage(events: Events) -> None:
        for one in damages:
            one(events)

    return damage


def gives(draft: Drafted, claimed: str, reason: str, detail: str) -> str:
    runs = f"its runs give '{reason}' ({detail})"
    return f"the gate said '{claimed}' of '{draft.digest}', but {runs}"


# As the events come: the suite has its say at the end.
REFUSED = (
    "{'fails-on-clean': 1, 'several-tests': 1, 'passes-on-mutant': 1, 'breaks-neighbour': 1, "
    "'duplicate': 1}"
)
LEFT = (
    f"{{'{C}': ['stub: refused in the suite (it breaks test_old)'], "
    f"'{D}': ['stub: the drawer is empty', 'other: no idea'], '{E}': ['no author was asked']}}"
)
FAILS = "on the clean code it fails: assert 1 == 2"
NOT_THOSE = "the kept tests, or what they catch, are not those of the gate's decisions"
GOOD = "on the clean code it passes, on the mutant it fails: assert 1 == 2"
BROKEN = f"beside it {OLD} does not pass: it fails: assert 1 == 2"


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        # A decision that its runs do not give
        (
            decided(WRONG, kept=True, reason="kept"),
            gives(WRONG, "kept", "fails-on-clean", FAILS),
        ),
        (
            decided(WRONG, kept=True, reason="duplicate"),
            gives(WRONG, "duplicate", "fails-on-clean", FAILS),
        ),
        (
            decided(WRONG, reason="duplicate"),
            gives(WRONG, "kept", "fails-on-clean", FAILS),
        ),
        (
            decided(WRONG, kept=True, reason="left-out"),
            gives(WRONG, "left-out", "fails-on-clean", FAILS),
        ),
        (
            decided(WRONG, kept=True),
            gives(WRONG, "fails-on-clean", "fails-on-clean", FAILS),
        ),
        (decided(WRONG, reason="flaky"), gives(WRONG, "flaky", "fails-on-clean", FAILS)),
        (decided(BOTH, kept=False, reason="flaky"), gives(BOTH, "flaky", "kept", GOOD)),
        (decided(BOTH, kept=True, reason="duplicate"), gives(BOTH, "duplicate", "kept", GOOD)),
        (
            decided(LATE, kept=True, reason="kept"),
            gives(LATE, "kept", "breaks-neighbour", BROKEN),
        ),
        (
            decided(TWO, reason="no-test"),
            gives(TWO, "no-test", "several-tests", "it holds 2 tests, not one: test_it, test_more"),
        ),
        (
            rerun(named(BOTH, "mutant"), record(mutated(B), passed(BOTH.test))),
            gives(
                BOTH,
                "kept",
                "flaky",
                "on the mutant 2 of 3 runs are as they should be; in another it passes too: what "
                "it checks is the same with and without the fault",
            ),
        ),
        (
            rerun(named(BOTH, "mutant"), record(CLEAN, failed(BOTH.test))),
            gives(
                BOTH,
                "kept",
                "environment-differs",
                "on the mutant m.py was loaded with other bytes: sha256 "
                f"{sha256(CLEAN)[:12]}, not {sha256(mutated(B))[:12]}",
            ),
        ),
        (
            rerun(named(ONE, "control"), record(CLEAN + b"#\n", failed(ONE.test))),
            gives(
                ONE,
                "incomplete",
                "control-killed",
                "on clean code with one comment more, which does the same, it fails: assert 1 == 2",
            ),
        ),
        (
            change({"event": "mutant", "id": B}, digest=sha256(CLEAN)),
            gives(
                BOTH,
                "kept",
                "environment-differs",
                "the mutant has the clean file's bytes: there is no fault in it",
            ),
        ),
        (
            change({"event": "source"}, sha256="0" * 64),
            gives(
                BOTH,
                "kept",
                "environment-differs",
                "on the clean code m.py was loaded with other bytes: sha256 "
                f"{sha256(CLEAN)[:12]}, not {'0' * 12}",
            ),
        ),
        # What a decision names
        (
            lambda events: find(events, event="gate.decision", draft=BOTH.digest)["runs"].pop(
                "suite"
            ),
            gives(
                BOTH,
                "kept",
                "incomplete",
                "nothing speaks against it so far, but it needs 3 run(s) with the existing tests "
                "and has 0",
            ),
        ),
        (
            lambda events: find(events, event="gate.decision", draft=BOTH.digest)["runs"].update(
                control=[named(BOTH, "clean")]
            ),
            f"'{named(BOTH, 'clean')}' is named as a run of control, but is a gate-clean run",
        ),
        (
            change({"event": "run", "run": named(BOTH, "clean")}, run=STRANGER),
            f"the run '{named(BOTH, 'clean')}' is not in the log before this line",
        ),
        (
            decided(BOTH, mutant=A),
            f"'{BOTH.digest}' was not drafted for '{A}'",
        ),
        (
            change({"event": "gate.passed", "draft": BOTH.digest}, draft=STRANGER),
            f"'{STRANGER}' was not drafted for '{B}'",
        ),
        (
            change({"event": "gate.draft", "draft": BOTH.digest}, code=a_test("f(6) == 6")),
            f"the code is not that of the draft '{BOTH.digest}'",
        ),
        (
            drop(event="gate.draft", draft=WRONG.digest),
            f"'{WRONG.digest}' was not drafted for '{B}'",
        ),
        (
            decided(WRONG, runs=None),
            "the 'gate.decision' event has a wrong form: AttributeError: 'NoneType' object has no "
            "attribute 'get'",
        ),
        (
            change({"event": "run", "run": named(BOTH, "clean")}, selection="?"),
            "the 'run' event has a wrong form: KeyError: '?'",
        ),
        (
            lambda events: events.append({"event": "gate.weather", "sun": True}),
            "an unknown event 'gate.weather'",
        ),
        # What a draft detects beside its own survivor
        (
            change({"event": "gate.score", "draft": BOTH.digest}, also={E: named(LATE, "score")}),
            f"the run '{named(LATE, 'score')}' is not in the log before this line",
        ),
        (
            change({"event": "gate.score", "draft": BOTH.digest}, also={A: named(BOTH, "clean")}),
            f"'{named(BOTH, 'clean')}' is named as a run of score, but is a gate-clean run",
        ),
        (
            rerun(f"{BOTH.digest[:6]}-score-1", record(mutated(A), passed(BOTH.test))),
            f"'{BOTH.digest}' does not detect '{A}' in the run '{BOTH.digest[:6]}-score-1'",
        ),
        (
            rerun(f"{BOTH.digest[:6]}-score-1", record(mutated(E), failed(BOTH.test))),
            f"'{BOTH.digest}' does not detect '{A}' in the run '{BOTH.digest[:6]}-score-1'",
        ),
        (
            rerun(f"{BOTH.digest[:6]}-score-1", record(mutated(A), failed(ONE.test))),
            f"'{BOTH.digest}' does not detect '{A}' in the run '{BOTH.digest[:6]}-score-1'",
        ),
        (
            change({"event": "gate.score", "draft": BOTH.digest}, mutant=A),
            f"'{BOTH.digest}' was not drafted for '{A}'",
        ),
        # The control of a kept test
        (
            drop(event="gate.fabricated"),
            f"the control was not run for the kept test '{BOTH.digest}'",
        ),
        (
            change({"event": "gate.fabricated"}, draft=ONE.digest),
            f"the run '{named(BOTH, 'fabricated')}' is not of '{ONE.digest}' but of {BOTH.file}",
        ),
        (
            change({"event": "gate.fabricated"}, draft=STRANGER),
            f"'{STRANGER}' was not drafted for ''",
        ),
        (
            change({"event": "gate.fabricated"}, killed=True),
            f"'{BOTH.digest}' fails on clean code shown as a mutant",
        ),
        (
            rerun(named(BOTH, "fabricated"), record(CLEAN, failed(BOTH.test))),
            f"'{BOTH.digest}' fails on clean code shown as a mutant",
        ),
        (
            rerun(named(BOTH, "fabricated"), record(CLEAN)),
            f"'{BOTH.digest}' fails on clean code shown as a mutant",
        ),
        (
            rerun(named(BOTH, "fabricated"), record(CLEAN, passed(BOTH.test)), role="gate-clean"),
            f"'{named(BOTH, 'fabricated')}' is named as a run of fabricated, but is a gate-clean "
            "run",
        ),
        # The summary
        (
            drop(event="gate.hardened"),
            "there is no 'gate.hardened' event: the session did not end",
        ),
        (
            change({"event": "gate.hardened"}, summary={}),
            "the 'gate.hardened' event has a wrong form: KeyError: 'kept'",
        ),
        (summary("kept", catches=[A, B, E]), NOT_THOSE),
        (summary("kept", catches=[B]), NOT_THOSE),
        (summary("kept", mutant=A), NOT_THOSE),
        (summary("kept", author="a person"), NOT_THOSE),
        (summary("kept", kind="surface"), NOT_THOSE),
        (summary("kept", pins=True), NOT_THOSE),
        (summary("kept", draft=ONE.digest), NOT_THOSE),
        (decided(ONE, kept=True, reason="kept"), NOT_THOSE),
        (decided(BOTH, kept=False, reason="duplicate"), NOT_THOSE),
        (
            decided(BOTH, kept=False, reason="duplicate"),
            f"'{ONE.digest}' is no duplicate: no kept test catches {A}",
        ),
        (
            decided(BOTH, kept=False, reason="duplicate"),
            f"'{BOTH.digest}' is no duplicate: no kept test catches {A}",
        ),
        (says(refused={}), f"the summary says refused {{}}, the decisions give {REFUSED}"),
        (
            says(refused={"duplicate": 5}),
            f"the summary says refused {{'duplicate': 5}}, the decisions give {REFUSED}",
        ),
        (
            both(says(refused={}), drop(event="gate.decision", draft=TWO.digest)),
            "the summary says refused {}, the decisions give "
            + REFUSED.replace("'several-tests': 1, ", ""),
        ),
        (says(left={}), f"the summary says left {{}}, the events give {LEFT}"),
        (
            says(left={A: ["no author was asked"]}),
            f"the summary says left {{'{A}': ['no author was asked']}}, the events give {LEFT}",
        ),
        (
            both(says(left={}), drop(event="gate.left", author="other")),
            "the summary says left {}, the events give " + LEFT.replace(", 'other: no idea'", ""),
        ),
        (
            summary("before", score=0.5),
            "the summary says score 0.5 before, the events give 0.1667",
        ),
        (
            summary("before", score_reached=0.5),
            "the summary says score_reached 0.5 before, the events give 0.2",
        ),
        (summary("after", score=1.0), "the summary says score 1.0 after, the events give 0.5"),
        (
            summary("after", score_reached=None),
            "the summary says score_reached None after, the events give 0.6",
        ),
        (
            summary("before", totals={}),
            "the summary says totals {} before, the events give {'killed': 1, 'broken': 0, "
            "'crashed': 0, 'timeout': 0, 'survived': 4, 'unreached': 1, 'unstable': 0, "
            "'suppressed': 1, 'error': 0, 'mutants': 6}",
        ),
        (
            summary("after", totals={}),
            "the summary says totals {} after, the events give {'killed': 3, 'broken': 0, "
            "'crashed': 0, 'timeout': 0, 'survived': 2, 'unreached': 1, 'unstable': 0, "
            "'suppressed': 1, 'error': 0, 'mutants': 6}",
        ),
    ],
)
def test_a_session_that_was_altered_is_found_out(
    damage: Damage, finding: str, audited: Audited
) -> None:
    events = hardened()
    damage(events)
    assert finding in said(audited(events))


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        (
            change({"event": "gate.plain", "draft": WRONG.digest}, passes=True),
            f"'{WRONG.digest}' is said to pass on clean code, but its run does not",
        ),
        (
            change({"event": "gate.plain", "draft": TWO.digest}, passes=True),
            f"'{TWO.digest}' is said to pass on clean code, but its run does not",
        ),
        (
            change({"event": "gate.plain", "draft": ONE.digest}, passes=False),
            f"'{ONE.digest}' is said to fail on clean code, but its run does not",
        ),
        (
            rerun(named(ONE, "clean"), record(CLEAN)),
            f"'{ONE.digest}' is said to pass on clean code, but its run does not",
        ),
        (
            change(
                {"event": "gate.plain", "draft": WRONG.digest},
                passes=True,
                run=named(ONE, "clean"),
            ),
            f"the run '{named(ONE, 'clean')}' is not of '{WRONG.digest}' but of {ONE.file}",
        ),
        (
            rerun(named(ONE, "clean"), record(CLEAN, passed(ONE.test)), role="gate-control"),
            f"'{named(ONE, 'clean')}' is named as a run of clean, but is a gate-control run",
        ),
        (
            rerun(f"{ONE.digest[:6]}-score-2", record(mutated(B), passed(ONE.test))),
            f"'{ONE.digest}' does not detect '{B}' in the run '{ONE.digest[:6]}-score-2'",
        ),
        (drop(event="gate.arm-end", arm="A"), "the arm 'A' did not end"),
        (decided(BOTH, kept=False, reason="flaky"), gives(BOTH, "flaky", "kept", GOOD)),
    ],
)
def test_a_study_that_was_altered_is_found_out(
    damage: Damage, finding: str, audited: Audited
) -> None:
    events = studied()
    damage(events)
    assert said(audited(events)) == [finding]


def test_a_finding_begins_with_the_line_that_it_is_about(audited: Audited) -> None:
    events = hardened()
    altered = [
        find(events, event="gate.decision", draft=TWO.digest),
        find(events, event="gate.decision", draft=BLIND.digest),
    ]
    altered[0]["runs"] = None
    altered[1]["reason"] = "flaky"
    findings = audited(events)
    for number, event in enumerate(altered):
        assert findings[number].startswith(f"line {events.index(event) + 1}: ")


def test_a_chain_that_does_not_hold_is_not_judged_at_all(tmp_path: Path) -> None:
    log = open_log(tmp_path / "log.jsonl")
    for event in measured():
        log.event(event["event"], **{k: v for k, v in event.items() if k != "event"})
    log.close()
    whole = (tmp_path / "log.jsonl").read_bytes()
    (tmp_path / "log.jsonl").write_bytes(whole.replace(b'"survived"', b'"killed"', 1))
    with pytest.raises(LogBroken):
        audit(tmp_path / "log.jsonl")
