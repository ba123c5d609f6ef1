"""Turns a log's events into what they say, checking each against the ones before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness import report as reporting
from harness.records import decode_record, selection_digest
from harness.run import RunRecord
from harness.verdict import FAILURES, Exit, Verdict, judge, needs_clean, number_of_tests

Event = dict[str, Any]

GATE = "gate."  # what the gate's events begin with
CLEAN_ROLES = frozenset({"clean", "clean-again", "selection"})
# The roles in which each run of a verdict may have been made.
ROLES = {
    "mutant": frozenset({"mutant"}),
    "clean": CLEAN_ROLES,
    "confirm": frozenset({"confirm"}),
    "again": frozenset({"again"}),
    "sample": frozenset({"sample"}),
}
ROW_FROM_MUTANT = (
    *("id", "path", "qualname", "operator", "kind", "place"),
    *("line", "column", "before", "after", "digest"),
)


class Wrong(Exception):
    """Something that the log says does not follow from the rest of it."""


@dataclass(slots=True)
class Seen:
    """What the log has said so far, and what was wrong with it."""

    session: Event | None = None
    reach: Event | None = None
    reported: Event | None = None
    sources: dict[str, Event] = field(default_factory=dict)
    mutants: dict[str, Event] = field(default_factory=dict)
    selections: dict[str, tuple[str, ...]] = field(default_factory=dict)
    runs: dict[str, Event] = field(default_factory=dict)
    controls: dict[str, Event] = field(default_factory=dict)
    verdicts: dict[str, Event] = field(default_factory=dict)
    rows: list[reporting.Row] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def take(seen: Seen, event: Event) -> None:
    """Take one event in. What it rests on has come before it."""
    if event["event"].startswith(GATE):
        return  # the gate's own audit reads them
    where = f"line {event['n'] + 1}"
    try:
        _taken(seen, event)
    except Wrong as wrong:
        seen.findings.append(f"{where}: {wrong}")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        cause = f"{type(error).__name__}: {error}"
        seen.findings.append(f"{where}: the '{event['event']}' event has a wrong form: {cause}")


def _taken(seen: Seen, event: Event) -> None:
    if seen.reported is not None:
        raise Wrong(f"a '{event['event']}' event after the report")
    match event["event"]:
        case "session":
            seen.session = _only(seen.session, event)
        case "environment":
            pass  # no number rests on it: it is there for the reader
        case "source":
            _new(seen.sources, event["path"], event)
        case "mutant":
            _new(seen.mutants, event["id"], event)
        case "selection":
            _new(seen.selections, _selection(event), tuple(event["tests"]))
        case "run":
            _new(seen.runs, event["run"], event)
        case "reach":
            seen.reach = _only(seen.reach, event)
            _check_reach(event)
        case "control":
            _new(seen.controls, event["name"], event)
            _check_control(seen, event)
        case "verdict":
            _new(seen.verdicts, event["id"], event)
            _check_verdict(seen, event)
        case "report":
            seen.reported = event
        case other:
            raise Wrong(f"an unknown event '{other}'")


def _only(before: Event | None, event: Event) -> Event:
    if before is not None:
        raise Wrong(f"a second '{event['event']}' event")
    return event


def _new(known: dict[str, Any], name: str, value: Any) -> None:
    if name in known:
        raise Wrong(f"'{name}' comes a second time")
    known[name] = value


def _selection(event: Event) -> str:
    digest: str = event["selection"]
    if digest != selection_digest(tuple(event["tests"])):
        raise Wrong(f"the selection '{digest}' is not the digest of its tests")
    return digest


def _check_reach(event: Event) -> None:
    coverage = reporting.ratio(event["executed"], event["statements"])
    if event["line_coverage"] != coverage:
        raise Wrong(f"line coverage is {coverage}, not {event['line_coverage']}")


def _check_control(seen: Seen, event: Event) -> None:
    name = event["name"]
    runs = [_run(seen, run)[0] for run in event["runs"]]
    if not event["holds"]:
        raise Wrong(
            f"the control '{name}' does not hold: predicted {event['predicted']}, "
            f"seen {event['seen']}"
        )
    if runs and not _control_holds(seen, name, runs):
        raise Wrong(f"the control '{name}' does not follow from its runs")


def _control_holds(seen: Seen, name: str, runs: list[RunRecord]) -> bool:
    """Whether the runs show it. One at least is the control's own; others may be on clean."""
    match name:
        case "clean":
            return all(_green_but_for(_left_out(seen), run) for run in runs)
        case "no-op":
            return not any(needs_clean(run) for run in runs)
        case "canary":
            return any(needs_clean(run) and not run.fault for run in runs)
        case "plant":
            return any(_stopped(run) or (run.exit == Exit.FAILED and _failed(run)) for run in runs)
    raise Wrong(f"an unknown control '{name}'")


def _stopped(run: RunRecord) -> bool:
    """Whether collection failed: what a plant does in a function that an import runs."""
    return bool(run.collect_errors) or (run.collected is None and not run.fault)


def _left_out(seen: Seen) -> set[str]:
    """The tests that judge no mutant, and so may fail on clean."""
    return set() if seen.reach is None else {*seen.reach["set_aside"], *seen.reach["flaky"]}


def _green_but_for(left_out: set[str], run: RunRecord) -> bool:
    ended = run.finished and run.collected is not None and not run.collect_errors
    failed = _failed(run)
    return ended and run.exit == (Exit.FAILED if failed else Exit.PASSED) and failed <= left_out


def _failed(run: RunRecord) -> set[str]:
    return {result.id for result in run.results if result.outcome in FAILURES}


def _check_verdict(seen: Seen, event: Event) -> None:
    """Judge the mutant anew; the rebuilt report holds what was judged, not what the event says."""
    mutant = seen.mutants.get(event["id"])
    if mutant is None:
        raise Wrong(f"a verdict on '{event['id']}', which is no mutant of this log")
    verdict, ran = _judged(seen, mutant, event)
    seen.rows.append(
        reporting.Row(
            **{name: mutant[name] for name in ROW_FROM_MUTANT},
            verdict=verdict.verdict,
            reason=verdict.reason,
            tests_run=ran,
            detected_by=verdict.detected_by,
            asserted=verdict.asserted,
        )
    )
    judged = {
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "tests_run": ran,
        "detected_by": list(verdict.detected_by),
        "asserted": verdict.asserted,
    }
    wrong = [
        f"{name} is {event[name]!r}, but its runs give {value!r}"
        for name, value in judged.items()
        if event[name] != value
    ]
    if wrong:
        raise Wrong(f"the verdict on '{event['id']}' does not follow: {'; '.join(wrong)}")


def _judged(seen: Seen, mutant: Event, event: Event) -> tuple[Verdict, int]:
    """The verdict that the runs give, and how many tests ran."""
    ids = event["runs"]
    if mutant["suppressed"] is not None:
        if any(ids.values()):
            raise Wrong(f"'{event['id']}' is suppressed, but was run")
        return Verdict("suppressed", mutant["suppressed"]), 0
    if ids["mutant"] is None:
        return _without_run(event), 0
    selection = seen.selections.get(event["selection"])
    if selection is None:
        raise Wrong(f"'{event['id']}' was run with a selection that is not in the log")
    records = {kind: _verdict_run(seen, mutant, event, kind) for kind in ROLES}
    run, sample = records["mutant"], records["sample"]
    assert run is not None  # its id is not null

    def judged(record: RunRecord, repeat: Verdict | None) -> Verdict:
        return judge(
            path=mutant["path"],
            digest=mutant["digest"],
            selection=selection,
            run=record,
            clean=records["clean"],
            confirm=records["confirm"],
            again=records["again"],
            repeat=repeat,
        )

    try:
        repeat = None if sample is None else judged(sample, None)
        return judged(run, repeat), number_of_tests(run)
    except ValueError as error:  # a run that the verdict needs is not named
        raise Wrong(f"the verdict on '{event['id']}' has too few runs: {error}") from error


def _without_run(event: Event) -> Verdict:
    """Only what counts as not detected, or as nothing, may rest on no run."""
    if event["verdict"] not in {"unreached", "unstable", "error"}:
        raise Wrong(f"'{event['id']}' is {event['verdict']}, but rests on no run")
    if event["selection"] is not None:
        raise Wrong(f"'{event['id']}' was not run, but tests were selected for it")
    return Verdict(event["verdict"], event["reason"])


def _verdict_run(seen: Seen, mutant: Event, event: Event, kind: str) -> RunRecord | None:
    """The run that the verdict names as ``kind``, if it may be what it is named as."""
    run_id = event["runs"][kind]
    if run_id is None:
        return None
    record, run = _run(seen, run_id)
    if run["role"] not in ROLES[kind]:
        raise Wrong(f"'{event['id']}' names '{run_id}' as its {kind}, which is a {run['role']} run")
    if run["selection"] != event["selection"]:
        raise Wrong(f"'{event['id']}' and its {kind} run '{run_id}' have different selections")
    if kind in {"clean", "confirm"}:
        _check_clean(seen, mutant["path"], run_id, record)
    return record


def _check_clean(seen: Seen, path: str, run_id: str, record: RunRecord) -> None:
    """A run on clean ran the clean bytes of the mutated file."""
    clean = seen.sources[path]["sha256"]
    other = {item.sha256 for item in record.attested if item.path == path} - {clean}
    if other:
        raise Wrong(f"the clean run '{run_id}' ran other bytes of '{path}' than the clean ones")


def _run(seen: Seen, run_id: str) -> tuple[RunRecord, Event]:
    event = seen.runs.get(run_id)
    if event is None:
        raise Wrong(f"the run '{run_id}' is not in the log before this line")
    selection = seen.selections.get(event["selection"], ())
    return decode_record(event["record"], selection), event
