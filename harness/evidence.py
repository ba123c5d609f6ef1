"""Turns a judged mutant and its runs into its verdict file: all the evidence, nothing that varies.

The local command and Bazel write the same bytes for the same verdict, on any machine: no time, no
path, no output (its durations are in the log), and of the limits only whether one was reached.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.mutant import Mutant
from harness.records import decode_record, encode_record
from harness.run import RunRecord
from harness.verdict import Verdict, number_of_tests

SCHEMA = 1
ROLES = ("mutant", "clean", "confirm")
# What is the same in every run of a session, or differs between two runs of the same bytes.
_LEFT_OUT = ("environment", "executor", "input", "isolation", "output", "wall", "cpu", "peak")
_MUTANT = (
    *("id", "path", "qualname", "operator", "kind", "place"),
    *("line", "column", "before", "after", "digest"),
)


def build(
    mutant: Mutant,
    verdict: Verdict,
    *,
    environment: str,
    selection: tuple[str, ...],
    runs: Mapping[str, RunRecord | None],
) -> dict[str, Any]:
    """The evidence for one verdict. ``environment`` is ``Interpreter.digest()`` of the tests' own;
    ``runs`` are the records behind the verdict, by role (see ``ROLES``)."""
    own = runs.get("mutant")
    return {
        "schema": SCHEMA,
        **{name: getattr(mutant, name) for name in _MUTANT},
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "detected_by": list(verdict.detected_by),
        "tests_run": number_of_tests(own) if own else 0,
        "environment": environment,
        "selection": list(selection),
        "runs": {role: essence(runs.get(role), selection) for role in ROLES},
    }


def to_bytes(evidence: Mapping[str, Any]) -> bytes:
    """The verdict file's bytes."""
    return (json.dumps(evidence, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()


def essence(record: RunRecord | None, selection: tuple[str, ...]) -> dict[str, Any] | None:
    """What of a run record is the same on every machine. Messages may hold addresses and times."""
    if record is None:
        return None
    results = tuple(replace(result, message="") for result in record.results)
    errors = tuple(error.partition(": ")[0] for error in record.collect_errors)
    quiet = replace(record, results=results, collect_errors=errors)
    data = encode_record(quiet, selection)
    return {name: value for name, value in data.items() if name not in _LEFT_OUT}


def record_of(
    data: Mapping[str, Any], selection: tuple[str, ...], *, environment: str
) -> RunRecord:
    """A record that ``judge`` decides on as it did on the one that ``essence`` was taken from."""
    return decode_record(logged(data, environment), selection)


def logged(data: Mapping[str, Any], environment: str) -> dict[str, Any]:
    """An essence in the shape of the log's records; what it does not say is empty there."""
    unknown = dict.fromkeys(_LEFT_OUT, "") | {"wall": 0.0, "cpu": 0.0, "peak": 0}
    return {**unknown, "environment": environment, **data}
