"""Turns a judged mutant and its runs into its verdict file: all the evidence, nothing that varies.

The local command and Bazel write the same bytes for the same verdict, on any machine: no time, no
path, no output (its durations are in the log), and of the limits only whether one was reached.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.errors import FAULT, Problem
from harness.records import decode_record, encode_record
from harness.run import RunRecord
from harness.verdict import Verdict, number_of_tests, steady

SCHEMA = 1
ROLES = ("mutant", "clean", "confirm", "again")
TIME = "time"  # the limit that was reached, of the two
# What is the same in every run of a session, or differs between two runs of the same bytes.
_LEFT_OUT = (
    *("environment", "executor", "input", "isolation"),
    *("output", "waited", "wall", "cpu", "peak"),
)
_MUTANT = (
    *("id", "path", "qualname", "operator", "kind", "place"),
    *("line", "column", "before", "after", "digest"),
)


def build(
    mutant: Mapping[str, Any],
    verdict: Verdict,
    *,
    environment: str,
    selection: tuple[str, ...],
    runs: Mapping[str, RunRecord | None],
) -> dict[str, Any]:
    """The evidence for one verdict. ``mutant`` are the fields of one, ``environment`` the
    ``Interpreter.digest()`` of its tests' own; ``runs`` are the records behind the verdict, by role
    (see ``ROLES``)."""
    own = runs.get("mutant")
    told = {role: essence(runs.get(role), selection) for role in ROLES}
    if verdict.verdict != "unstable":
        told["again"] = None  # whether a run is made again depends on the machine's load
    if told["confirm"]:
        # Whether the clean file is compiled anew depends on which runs there were before.
        told["confirm"]["attested"] = []
    return {
        "schema": SCHEMA,
        **{name: mutant[name] for name in _MUTANT},
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "detected_by": list(verdict.detected_by),
        "asserted": verdict.asserted,
        "tests_run": number_of_tests(own) if own else 0,
        "environment": environment,
        "selection": list(selection),
        "runs": told,
    }


def file_name(id_: str) -> str:
    """A mutant's verdict file below its target's folder: its id, in letters that any build takes.

    The rule in private/mutation.bzl makes the same names.
    """
    return re.sub(r"[^A-Za-z0-9._/-]", "_", id_.replace(":", "/")) + ".json"


def write_all(log: Path, folder: Path) -> None:
    """Write the verdict files of a local run below ``folder``. Problem if one cannot be written."""
    from harness.log import read_log  # noqa: PLC0415 - not needed where the build makes one file

    try:
        for id_, data in of_log(read_log(log)).items():
            path = folder / file_name(id_)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise Problem(
            FAULT, f"could not write the evidence to '{folder}': {error.strerror}; give another DIR"
        ) from error


def of_log(events: Iterable[Mapping[str, Any]]) -> dict[str, bytes]:
    """Every mutant's verdict file, from the events of a local run's log."""
    environment = ""
    selections: dict[str | None, tuple[str, ...]] = {None: ()}
    mutants: dict[str, Mapping[str, Any]] = {}
    runs: dict[str, Mapping[str, Any]] = {}
    found = {}
    for event in events:
        match event["event"]:
            case "environment":
                environment = event["packages"]
            case "selection":
                selections[event["selection"]] = tuple(event["tests"])
            case "mutant":
                mutants[event["id"]] = event
            case "run":
                runs[event["run"]] = event
            case "verdict":
                verdict = Verdict(
                    event["verdict"],
                    event["reason"],
                    tuple(event["detected_by"]),
                    event["asserted"],
                )
                built = build(
                    mutants[event["id"]],
                    verdict,
                    environment=environment,
                    selection=selections[event["selection"]],
                    runs=_records(event["runs"], runs, selections),
                )
                found[event["id"]] = to_bytes(built)
    return found


def _records(
    names: Mapping[str, str | None],
    runs: Mapping[str, Mapping[str, Any]],
    selections: Mapping[str | None, tuple[str, ...]],
) -> dict[str, RunRecord | None]:
    found: dict[str, RunRecord | None] = {}
    for role in ROLES:
        event = runs.get(names[role] or "")
        found[role] = (
            decode_record(event["record"], selections[event["selection"]]) if event else None
        )
    return found


def to_bytes(evidence: Mapping[str, Any]) -> bytes:
    """The verdict file's bytes."""
    return (json.dumps(evidence, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()


def essence(record: RunRecord | None, selection: tuple[str, ...]) -> dict[str, Any] | None:
    """What of a run record is the same on every machine."""
    if record is None:
        return None
    results = tuple(replace(result, message=steady(result.message)) for result in record.results)
    errors = tuple(error.partition(": ")[0] for error in record.collect_errors)
    quiet = replace(record, results=results, collect_errors=errors)
    if record.limit is not None:  # which one comes first depends on what else the machine does
        quiet = replace(quiet, limit=TIME, signal=None)
    data = encode_record(quiet, selection)
    return {name: value for name, value in data.items() if name not in _LEFT_OUT}


def record_of(
    data: Mapping[str, Any], selection: tuple[str, ...], *, environment: str
) -> RunRecord:
    """A record that ``judge`` decides on as it did on the one that ``essence`` was taken from."""
    return decode_record(logged(data, environment), selection)


def logged(data: Mapping[str, Any], environment: str) -> dict[str, Any]:
    """An essence in the shape of the log's records; what it does not say is empty there."""
    times = dict.fromkeys(("waited", "wall", "cpu"), 0.0)
    unknown = dict.fromkeys(_LEFT_OUT, "") | times | {"peak": 0}
    return {**unknown, "environment": environment, **data}
