"""Turns a log into the report anew, and into findings where anything in it does not follow."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import report as reporting
from harness.log import LogBroken, read_log
from harness.mutant import sha256
from harness.reread import Event, Seen, take

CONTROLS = ("clean", "canary", "no-op", "plant")


@dataclass(frozen=True, slots=True)
class Audit:
    """``findings`` are plain sentences, none if ``ok``; ``report`` is the rebuilt report.json."""

    ok: bool
    findings: tuple[str, ...]
    report: bytes | None
    summary: str


def audit(log: Path, report: Path | None) -> Audit:
    """Check ``log`` by itself, and the file ``report`` (if given) against it; opens nothing else.

    OSError if one of the two cannot be read.
    """
    seen = Seen()
    lines = 0
    try:
        for event in read_log(log):
            lines += 1
            take(seen, event)
    except LogBroken as broken:
        return _done([f"the log is broken: {broken}"], None, "")
    findings = [*seen.findings, *_missing(seen)]
    rebuilt = _rebuilt(seen)
    if rebuilt is not None:
        findings += _against_log(rebuilt, seen.reported)
        findings += _against_file(rebuilt, report)
    return _done(findings, rebuilt, f"{lines} lines, {len(seen.rows)} verdicts")


def _done(findings: list[str], report: bytes | None, checked: str) -> Audit:
    if not findings:
        summary = f"the log holds: {checked}; the report follows from the runs"
        return Audit(True, (), report, summary)
    many = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
    return Audit(False, tuple(findings), report, f"the log does not hold: {many}")


def _missing(seen: Seen) -> Iterator[str]:
    """What a whole log has and this one does not."""
    for name in ("session", "reach"):
        if getattr(seen, name) is None:
            yield f"there is no '{name}' event"
    for name in CONTROLS:
        if name not in seen.controls:
            yield f"the control '{name}' was not run"
    for mutant in seen.mutants:
        if mutant not in seen.verdicts:
            yield f"there is no verdict on '{mutant}'"
    if seen.reported is None:
        yield "there is no 'report' event: the run did not end, or the log's end was cut off"


def _rebuilt(seen: Seen) -> bytes | None:
    if seen.session is None or seen.reach is None:
        return None
    problems = {path: event["problem"] for path, event in seen.sources.items() if event["problem"]}
    report = reporting.build(
        seen.rows,
        target=seen.session["target"],
        operators=seen.session["operators"],
        statements=seen.reach["statements"],
        executed=seen.reach["executed"],
        set_aside=seen.reach["set_aside"],
        flaky=seen.reach["flaky"],
        problems=problems,
    )
    return reporting.to_bytes(report)


def _against_log(rebuilt: bytes, reported: Event | None) -> Iterator[str]:
    if reported is None:
        return
    if reported.get("sha256") != sha256(rebuilt):
        yield "the 'report' event has another sha256 than the report that the log gives"
    if reported.get("bytes") != len(rebuilt):
        yield f"the 'report' event says {reported.get('bytes')} bytes, not {len(rebuilt)}"


def _against_file(rebuilt: bytes, path: Path | None) -> Iterator[str]:
    if path is None:
        return
    given = path.read_bytes()
    if given == rebuilt:
        return
    try:
        differences = list(_differences(json.loads(rebuilt), json.loads(given)))
    except (AttributeError, KeyError, TypeError, ValueError):
        yield "the report is not in the form that Hermutic writes"
        return
    yield from differences or ["the report has the log's values, but not the bytes"]


def _differences(ours: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*ours, *given} - {"mutants"}):
        if ours.get(name) != given.get(name):
            yield f"the report's {name} is {given.get(name)!r}, the log gives {ours.get(name)!r}"
    by_id = {row["id"]: row for row in ours["mutants"]}
    theirs = {row["id"]: row for row in given["mutants"]}
    for mutant in sorted({*by_id, *theirs}):
        mine, other = by_id.get(mutant, {}), theirs.get(mutant, {})
        for name in sorted({*mine, *other}):
            if mine.get(name) != other.get(name):
                yield (
                    f"the report's {name} of '{mutant}' is {other.get(name)!r}, "
                    f"the log gives {mine.get(name)!r}"
                )
