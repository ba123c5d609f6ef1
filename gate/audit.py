"""Turns the gate's events of a log into findings: what does not follow from its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate import admit, scoring
from gate.admit import Trial
from gate.draft import Decision
from gate.trials import ROLES, modules
from gate.vet import vet
from harness.log import read_log
from harness.mutant import sha256
from harness.records import decode_record
from harness.report.data import DECIMALS, detected
from harness.run import RunRecord

Event = dict[str, Any]
# What is decided by other means than runs; each is checked in its own way.
LEFT_OUT, DUPLICATE = "left-out", "duplicate"


class Wrong(Exception):
    """Something that the log says does not follow from the rest of it."""


@dataclass
class Seen:
    """What the log has said so far."""

    digests: dict[str, str] = field(default_factory=dict)  # clean, by path
    mutants: dict[str, Event] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    selections: dict[str, tuple[str, ...]] = field(default_factory=dict)
    runs: dict[str, RunRecord] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    drafts: dict[tuple[str, str], Event] = field(default_factory=dict)  # by digest and mutant
    also: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    passed: dict[str, Event] = field(default_factory=dict)
    decisions: list[Event] = field(default_factory=list)
    left: dict[str, list[str]] = field(default_factory=dict)
    fabricated: set[str] = field(default_factory=set)
    summary: Mapping[str, Any] | None = None
    arms: list[str] = field(default_factory=list)  # of a study
    ended: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def audit(log: Path) -> tuple[str, ...]:
    """Plain sentences, none if every decision follows; LogBroken if the chain does not hold."""
    seen = Seen()
    for event in read_log(log):
        try:
            _take(seen, event)
        except Wrong as wrong:
            seen.findings.append(f"line {event['n'] + 1}: {wrong}")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            cause = f"{type(error).__name__}: {error}"
            seen.findings.append(
                f"line {event['n'] + 1}: the '{event['event']}' event has a wrong form: {cause}"
            )
    seen.findings += [f"the arm '{arm}' did not end" for arm in seen.arms if arm not in seen.ended]
    if seen.drafts and seen.summary is None and not seen.arms:
        seen.findings.append("there is no 'gate.hardened' event: the session did not end")
    if seen.summary is not None:
        seen.findings += _against(seen, seen.summary)
    return tuple(seen.findings)


def _take(seen: Seen, event: Event) -> None:
    """Take one event in. What it rests on has come before it."""
    match event["event"]:
        case "source":
            seen.digests[event["path"]] = event["sha256"]
        case "mutant":
            seen.mutants[event["id"]] = event
        case "verdict":
            seen.verdicts[event["id"]] = event["verdict"]
        case "selection":
            seen.selections[event["selection"]] = tuple(event["tests"])
        case "run":
            selection = seen.selections[event["selection"]]
            seen.runs[event["run"]] = decode_record(event["record"], selection)
            seen.roles[event["run"]] = event["role"]
        case name if name.startswith("gate."):
            _take_own(seen, event)


def _take_own(seen: Seen, event: Event) -> None:
    match event["event"]:
        case "gate.draft":
            _take_draft(seen, event)
        case "gate.score":
            _check_score(seen, event)
        case "gate.passed":
            seen.passed[event["draft"]] = event
            _check(seen, event, Decision(False, admit.INCOMPLETE, ""))
        case "gate.decision":
            seen.decisions.append(event)
            if event["reason"] not in (LEFT_OUT, DUPLICATE):
                decision = Decision(event["kept"], event["reason"], event["detail"])
                _check(seen, event, decision)
        case "gate.fabricated":
            _check_fabricated(seen, event)
        case "gate.left":
            seen.left.setdefault(event["mutant"], []).append(f"{event['author']}: {event['why']}")
        case "gate.hardened":
            seen.summary = event["summary"]
        case "gate.arm":
            seen.arms.append(event["arm"])
        case "gate.arm-end":
            seen.ended.append(event["arm"])
        case "gate.plain":
            _check_plain(seen, event)


def _take_draft(seen: Seen, event: Event) -> None:
    if sha256(event["code"].encode()) != event["draft"]:
        raise Wrong(f"the code is not that of the draft '{event['draft']}'")
    seen.drafts[event["draft"], event["mutant"]] = event
    seen.drafts[event["draft"], ""] = event  # a test without a target is scored under no mutant


def _draft(seen: Seen, event: Event) -> Event:
    found = seen.drafts.get((event["draft"], event["mutant"]))
    if found is None:
        raise Wrong(f"'{event['draft']}' was not drafted for '{event['mutant']}'")
    return found


def _check(seen: Seen, event: Event, said: Decision) -> None:
    """Decide anew. Of a draft that has only passed alone, no more than that is said."""
    draft = _draft(seen, event)
    mutant = seen.mutants[event["mutant"]]
    trial = Trial(
        draft=draft["file"],
        path=mutant["path"],
        clean_digest=seen.digests[mutant["path"]],
        mutant_digest=mutant["digest"],
        **{role: tuple(_records(seen, event, role)) for role in ROLES},
    )
    refused = vet(draft["code"], modules(draft["module"]))
    decided = refused or admit.decide(trial)
    if (decided.kept, decided.reason) != (said.kept, said.reason):
        raise Wrong(
            f"the gate said '{said.reason}' of '{event['draft']}', but its runs give "
            f"'{decided.reason}' ({decided.detail})"
        )


def _records(seen: Seen, event: Event, role: str) -> Iterator[RunRecord]:
    for name in event["runs"].get(role, ()):
        yield _record(seen, name, role)


def _record(seen: Seen, name: str, role: str) -> RunRecord:
    if name not in seen.runs:
        raise Wrong(f"the run '{name}' is not in the log before this line")
    if seen.roles[name] != f"gate-{role}":
        raise Wrong(f"'{name}' is named as a run of {role}, but is a {seen.roles[name]} run")
    return seen.runs[name]


def _check_plain(seen: Seen, event: Event) -> None:
    """A test without a target passes on clean, or does not; what has no run does not."""
    _draft(seen, {**event, "mutant": ""})
    record = None if event["run"] is None else _record(seen, event["run"], "clean")
    passes = record is not None and record.exit == 0 and bool(record.results)
    if passes != event["passes"]:
        said = "pass" if event["passes"] else "fail"
        raise Wrong(f"'{event['draft']}' is said to {said} on clean code, but its run does not")


def _check_score(seen: Seen, event: Event) -> None:
    file = _draft(seen, event)["file"]
    for id_, name in event["also"].items():
        mutant = seen.mutants[id_]
        record = _record(seen, name, "score")
        if not scoring.detects(record, file, mutant["path"], mutant["digest"]):
            raise Wrong(f"'{event['draft']}' does not detect '{id_}' in the run '{name}'")
    seen.also[event["draft"], event["mutant"]] = tuple(event["also"])


def _check_fabricated(seen: Seen, event: Event) -> None:
    if event["killed"] or _record(seen, event["run"], "fabricated").exit != 0:
        raise Wrong(f"'{event['draft']}' fails on clean code shown as a mutant")
    seen.fabricated.add(event["draft"])


def _against(seen: Seen, summary: Mapping[str, Any]) -> Iterator[str]:
    """What the summary says and the events do not."""
    kept = {event["draft"]: event for event in seen.decisions if event["kept"]}
    catches = {
        digest: {event["mutant"], *seen.also.get((digest, event["mutant"]), ())}
        for digest, event in kept.items()
    }
    said = {one["draft"]: set(one["catches"]) for one in summary["kept"]}
    if said != catches:
        yield "the kept tests, or what they catch, are not those of the gate's decisions"
    for digest in kept:
        if digest not in seen.fabricated:
            yield f"the control was not run for the kept test '{digest}'"
    refused = Counter(
        event["reason"]
        for event in seen.decisions
        if not event["kept"] and event["reason"] != LEFT_OUT
    )
    if summary["refused"] != dict(refused):
        yield f"the summary says refused {summary['refused']}, the decisions give {dict(refused)}"
    caught = set().union(*catches.values())
    for event in seen.decisions:
        own = {event["mutant"], *seen.also.get((event["draft"], event["mutant"]), ())}
        if event["reason"] == DUPLICATE and not own <= caught:
            yield f"'{event['draft']}' is no duplicate: no kept test catches {min(own - caught)}"
    yield from _against_scores(seen, summary, caught)


def _against_scores(seen: Seen, summary: Mapping[str, Any], caught: Iterable[str]) -> Iterator[str]:
    after = Counter(seen.verdicts.values())
    after["mutants"] = len(seen.verdicts) - after["suppressed"]
    before = {name: after[name] for name in summary["before"]["totals"]}
    if before != summary["before"]["totals"]:
        yield f"the summary says {summary['before']['totals']} before, the verdicts give {before}"
    for id_ in caught:
        after[seen.verdicts[id_]] -= 1
        after["killed"] += 1
    totals = {name: after[name] for name in summary["after"]["totals"]}
    if totals != summary["after"]["totals"]:
        yield f"the summary says {summary['after']['totals']} after, the events give {totals}"
    whole = detected(totals) + totals["survived"] + totals["unreached"]
    score = round(detected(totals) / whole, DECIMALS) if whole else None
    if score != summary["after"]["score"]:
        yield f"the summary says a score of {summary['after']['score']}, the events give {score}"
