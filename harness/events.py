"""Turns what the processes of a run reported into its run record."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from harness.run import Attestation, Job, RunRecord, TestResult


@dataclass(frozen=True, slots=True)
class Finished:
    """A run's record, and what only the clean runs are asked for.

    ``collected`` are the ids in running order, ``seconds`` each test's time, ``reach`` the raw line
    data of each process, ``statements`` per file the numbers of its statements and of those run;
    ``data`` is what the run answered to an author;
    ``used`` are the project's files that a traced run opened, ``asked`` those that it would have
    read and that were not there, ``listed`` the folders it listed.
    """

    record: RunRecord
    collected: tuple[str, ...]
    seconds: dict[str, float]
    reach: list[dict[str, Any]]
    statements: dict[str, Any]
    data: tuple[Any, ...] = ()
    used: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()


def finished(job: Job, result: dict[str, Any], *, environment: str, isolation: str) -> Finished:
    """Read a run's raw events into its record."""
    events, fault = _events(result.get("own", ""))
    # Of the other processes only what they compiled counts: a test that forks, and whose child
    # falls through into pytest's own work, would be reported twice.
    others = [_events(text) for text in result.get("events", ())]
    everyone = [*events, *(event for found, _ in others for event in found)]
    faults = [result.get("fault", ""), fault, *(fault for _, fault in others)]
    tests, seconds = _tests(events)
    collected = next((event[1] for event in events if event[0] == "collected"), None)
    begun = [event[1] for event in events if event[0] == "begin"]
    record = RunRecord(
        argv=("python", "-m", "pytest", *job.args),
        environment=environment,
        input=job.input,
        executor=job.executor,
        isolation=isolation,
        exit=result.get("exit"),
        signal=result.get("signal"),
        limit=result.get("limit"),
        collected=None if collected is None else len(collected),
        finished=any(event[0] == "finished" for event in events),
        results=tests,
        running=begun[-1] if begun and begun[-1] not in seconds else None,
        attested=_attested(everyone),
        collect_errors=tuple(
            f"{event[1]}: {event[2]}" for event in events if event[0] == "uncollected"
        ),
        watched=tuple(
            sorted({(event[1], event[2]) for event in everyone if event[0] == "watched"})
        ),
        fault=next(filter(None, faults), ""),
        output=result.get("output", ""),
        waited=max((event[5] for event in events if event[0] == "failing"), default=0.0),
        wall=result.get("wall", 0.0),
        cpu=result.get("cpu", 0.0),
        peak=result.get("peak", 0),
    )
    return Finished(
        record,
        tuple(collected or ()),
        seconds,
        [json.loads(text) for text in result.get("reach", ())],
        json.loads(result.get("statements") or "{}"),
        tuple(json.loads(line) for text in result.get("data", ()) for line in text.splitlines()),
        *(
            frozenset(event[1] for event in everyone if event[0] == name)
            for name in ("used", "asked", "listed")
        ),
    )


def _events(text: str) -> tuple[list[list[Any]], str]:
    """A process's events, and what could not be read. One cut short by its end never happened."""
    found: list[list[Any]] = []
    fault = ""
    for line in text.splitlines(keepends=True):
        try:
            found.append(json.loads(line))
        except ValueError:
            if line.endswith("\n"):
                fault = f"could not read what the run reported: {line[:200]!r}"
    return found, fault


def _tests(events: list[list[Any]]) -> tuple[tuple[TestResult, ...], dict[str, float]]:
    """Each test's outcome in running order; one that failed and then never ended has failed."""
    found: dict[str, TestResult] = {}
    seconds: dict[str, float] = {}
    for event in events:
        if event[0] in ("failing", "end"):
            found[event[1]] = TestResult(*event[1:5])
        if event[0] == "end":
            seconds[event[1]] = event[5]
    return tuple(found.values()), seconds


def _attested(events: list[list[Any]]) -> tuple[Attestation, ...]:
    pairs = {(event[1], event[2]) for event in events if event[0] == "attest"}
    return tuple(Attestation(*pair) for pair in sorted(pairs))
