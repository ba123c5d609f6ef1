"""Turns the gate's events of a log into findings: what does not follow from its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate import admit, scoring
from gate.reasons import DUPLICATE, INCOMPLETE, KEPT
from gate.trial import Trial, file_of, ids
from gate.trials import ROLES, modules
from gate.vet import vet
from harness.log import read_log
from harness.mutant import sha256
from harness.records import decode_record
from harness.report.data import scores
from harness.run import RunRecord
from harness.verdict import VERDICTS, Exit

Event = dict[str, Any]
LEFT_OUT = "left-out"  # by --kinds, and so not tried
NOT_DETECTED = ("survived", "unreached")


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
    passed: set[tuple[str, str]] = field(default_factory=set)
    decisions: list[Event] = field(default_factory=list)
    left: dict[str, list[str]] = field(default_factory=dict)
    fabricated: set[str] = field(default_factory=set)
    hardened: Event | None = None
    arms: list[str] = field(default_factory=list)  # of a study
    ended: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def audit(log: Path) -> tuple[str, ...]:
    """Plain sentences, none if every decision follows; LogBroken if the chain does not hold."""
    seen = Seen()
    for event in read_log(log):
        _look(seen, event, _take)
    seen.findings += [f"the arm '{arm}' did not end" for arm in seen.arms if arm not in seen.ended]
    if seen.hardened is not None:
        _look(seen, seen.hardened, _against)
    elif seen.drafts and not seen.arms:
        seen.findings.append("there is no 'gate.hardened' event: the session did not end")
    return tuple(seen.findings)


def _look(seen: Seen, event: Event, look: Callable[[Seen, Event], None]) -> None:
    """What is wrong with an event becomes a finding on its line."""
    where = f"line {event['n'] + 1}"
    try:
        look(seen, event)
    except Wrong as wrong:
        seen.findings.append(f"{where}: {wrong}")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        cause = f"{type(error).__name__}: {error}"
        seen.findings.append(f"{where}: the '{event['event']}' event has a wrong form: {cause}")


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
            seen.passed.add((event["draft"], event["mutant"]))
            _check(seen, event, kept=False, reason=INCOMPLETE)
        case "gate.decision":
            _take_decision(seen, event)
        case "gate.fabricated":
            _check_fabricated(seen, event)
        case "gate.left":
            seen.left.setdefault(event["mutant"], []).append(f"{event['author']}: {event['why']}")
        case "gate.hardened":
            seen.hardened = event
        case "gate.arm":
            seen.arms.append(event["arm"])
        case "gate.arm-end":
            seen.ended.append(event["arm"])
        case "gate.plain":
            _check_plain(seen, event)
        case "gate.exchange":
            pass  # no decision rests on it
        case other:
            raise Wrong(f"an unknown event '{other}'")


def _take_draft(seen: Seen, event: Event) -> None:
    if sha256(event["code"].encode()) != event["draft"]:
        raise Wrong(f"the code is not that of the draft '{event['draft']}'")
    seen.drafts[event["draft"], event["mutant"]] = event
    seen.drafts[event["draft"], ""] = event  # a test without a target is scored under no mutant


def _draft(seen: Seen, draft: str, mutant: str = "") -> Event:
    found = seen.drafts.get((draft, mutant))
    if found is None:
        raise Wrong(f"'{draft}' was not drafted for '{mutant}'")
    return found


def _take_decision(seen: Seen, event: Event) -> None:
    """A decision that runs give. A duplicate is a draft that could have been kept."""
    draft = _draft(seen, event["draft"], event["mutant"])
    seen.decisions.append(event)
    kept, reason = event["kept"], event["reason"]
    if (kept, reason) == (False, LEFT_OUT):
        return
    if (kept, reason) == (False, DUPLICATE):
        kept, reason = True, KEPT
    elif not kept and (event["draft"], event["mutant"]) in seen.passed:
        why = f"{draft['author']}: refused in the suite ({event['detail']})"
        seen.left.setdefault(event["mutant"], []).append(why)
    _check(seen, event, kept=kept, reason=reason)


def _check(seen: Seen, event: Event, *, kept: bool, reason: str) -> None:
    """Decide anew. Of a draft that has only passed alone, no more than that is said."""
    draft = _draft(seen, event["draft"], event["mutant"])
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
    if (decided.kept, decided.reason) != (kept, reason):
        said = f"'{reason}' of '{event['draft']}'"
        runs = f"'{decided.reason}' ({decided.detail})"
        raise Wrong(f"the gate said {said}, but its runs give {runs}")


def _records(seen: Seen, event: Event, role: str) -> Iterator[RunRecord]:
    for name in event["runs"].get(role, ()):
        yield _record(seen, name, role)


def _record(seen: Seen, name: str, role: str) -> RunRecord:
    if name not in seen.runs:
        raise Wrong(f"the run '{name}' is not in the log before this line")
    if seen.roles[name] != f"gate-{role}":
        raise Wrong(f"'{name}' is named as a run of {role}, but is a {seen.roles[name]} run")
    return seen.runs[name]


def _passes(seen: Seen, event: Event, role: str) -> bool:
    """Whether the draft passes in the run that the event names, which has to be of it alone."""
    file = _draft(seen, event["draft"])["file"]
    record = _record(seen, event["run"], role)
    if others := sorted({file_of(test) for test in ids(record)} - {file}):
        raise Wrong(f"the run '{event['run']}' is not of '{event['draft']}' but of {others[0]}")
    return record.exit == Exit.PASSED and bool(record.results)


def _check_plain(seen: Seen, event: Event) -> None:
    """A test without a target passes on clean, or does not; what has no run does not."""
    passes = event["run"] is not None and _passes(seen, event, "clean")
    if passes != event["passes"]:
        said = "pass" if event["passes"] else "fail"
        raise Wrong(f"'{event['draft']}' is said to {said} on clean code, but its run does not")


def _check_score(seen: Seen, event: Event) -> None:
    file = _draft(seen, event["draft"], event["mutant"])["file"]
    for id_, name in event["also"].items():
        mutant = seen.mutants[id_]
        record = _record(seen, name, "score")
        if not scoring.detects(record, file, mutant["path"], mutant["digest"]):
            raise Wrong(f"'{event['draft']}' does not detect '{id_}' in the run '{name}'")
    seen.also[event["draft"], event["mutant"]] = tuple(event["also"])


def _check_fabricated(seen: Seen, event: Event) -> None:
    if event["killed"] or not _passes(seen, event, "fabricated"):
        raise Wrong(f"'{event['draft']}' fails on clean code shown as a mutant")
    seen.fabricated.add(event["draft"])


def _against(seen: Seen, event: Event) -> None:
    """What the summary says and the events do not."""
    summary = event["summary"]
    kept = [event for event in seen.decisions if event["kept"]]
    caught = set().union(*(_catches(seen, event) for event in kept))
    seen.findings.extend(_against_kept(seen, summary, kept))
    seen.findings.extend(_against_refused(seen, summary, caught))
    seen.findings.extend(_against_left(seen, summary, caught))
    seen.findings.extend(_against_scores(seen, summary, caught))


def _catches(seen: Seen, event: Event) -> set[str]:
    return {event["mutant"], *seen.also.get((event["draft"], event["mutant"]), ())}


def _against_kept(seen: Seen, summary: Mapping[str, Any], kept: Iterable[Event]) -> Iterator[str]:
    names = ("draft", "mutant", "author", "kind", "pins")
    ours = [
        {name: _draft(seen, event["draft"], event["mutant"])[name] for name in names}
        | {"catches": sorted(_catches(seen, event))}
        for event in kept
    ]
    said = [{name: one[name] for name in (*names, "catches")} for one in summary["kept"]]
    if sorted(said, key=str) != sorted(ours, key=str):
        yield "the kept tests, or what they catch, are not those of the gate's decisions"
    for event in kept:
        if event["draft"] not in seen.fabricated:
            yield f"the control was not run for the kept test '{event['draft']}'"


def _against_refused(seen: Seen, summary: Mapping[str, Any], caught: set[str]) -> Iterator[str]:
    refused = [event for event in seen.decisions if not event["kept"]]
    counts = dict(Counter(one["reason"] for one in refused if one["reason"] != LEFT_OUT))
    if summary["refused"] != counts:
        yield f"the summary says refused {summary['refused']}, the decisions give {counts}"
    for event in refused:
        only = _catches(seen, event) - caught
        if event["reason"] == DUPLICATE and only:
            yield f"'{event['draft']}' is no duplicate: no kept test catches {min(only)}"


def _against_left(seen: Seen, summary: Mapping[str, Any], caught: set[str]) -> Iterator[str]:
    left = {
        id_: seen.left.get(id_, ["no author was asked"])
        for id_, verdict in seen.verdicts.items()
        if verdict in NOT_DETECTED and id_ not in caught
    }
    if summary["left"] != left:
        yield f"the summary says left {summary['left']}, the events give {left}"


def _against_scores(seen: Seen, summary: Mapping[str, Any], caught: set[str]) -> Iterator[str]:
    after = {**seen.verdicts, **dict.fromkeys(caught, "killed")}
    for when, verdicts in (("before", seen.verdicts), ("after", after)):
        counts = Counter(verdicts.values())
        totals = {verdict: counts[verdict] for verdict in VERDICTS}
        totals["mutants"] = len(verdicts) - totals["suppressed"]
        for name, value in {"totals": totals, **scores(totals)}.items():
            said = summary[when][name]
            if said != value:
                yield f"the summary says {name} {said} {when}, the events give {value}"
