"""Turns judged mutants into report.json (schema 1): the same rows always give the same bytes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from harness.mutant import BODY, IMPORT
from harness.verdict import DETECTED, VERDICTS

SCHEMA = 1
DECIMALS = 4  # of every ratio: a hundredth of a percent, finer than one mutant in any real module


@dataclass(frozen=True, slots=True)
class Row:
    """A mutant with its verdict: one row of the report (the fields of Mutant and of Verdict)."""

    id: str
    path: str
    qualname: str
    operator: str
    kind: str
    place: str
    line: int
    column: int
    before: str
    after: str
    digest: str
    verdict: str
    reason: str
    tests_run: int
    detected_by: tuple[str, ...]
    asserted: bool = False


def build(
    rows: Iterable[Row],
    *,
    target: str,
    operators: str,
    statements: int,
    executed: int,
    set_aside: Iterable[str] = (),
    flaky: Iterable[str] = (),
    problems: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The report. ``statements`` and ``executed`` are counts over the mutated files on clean.

    ``problems`` maps the path of a file that was left out to the reason. A ratio of nothing is
    None, and so is every score while a verdict is "error".
    """
    ordered = sorted(rows, key=lambda row: (row.path, row.line, row.column, row.id))
    everything = _section(ordered)
    return {
        "schema": SCHEMA,
        "target": target,
        "operators": operators,
        "mutants": [asdict(row) for row in ordered],
        **everything,
        "places": {
            place: _section([row for row in ordered if row.place == place])
            for place in (BODY, IMPORT)
        },
        "statements": statements,
        "executed": executed,
        "line_coverage": ratio(executed, statements),
        "set_aside": sorted(set_aside),
        "flaky": sorted(flaky),
        "problems": dict(problems or {}),
        "suppressed_reasons": _by_reason(ordered),
    }


def to_bytes(report: Mapping[str, Any]) -> bytes:
    """report.json's bytes."""
    return (json.dumps(report, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()


def detected(totals: Mapping[str, int]) -> int:
    """How many mutants the tests detected, whichever way."""
    return sum(totals[verdict] for verdict in DETECTED)


def ratio(part: int, whole: int) -> float | None:
    """``part / whole`` as reports give it, or None if there is nothing to divide by."""
    return round(part / whole, DECIMALS) if whole else None


def scores(totals: Mapping[str, int]) -> dict[str, float | None]:
    """The scores that follow from the totals; None while a verdict is "error"."""
    found = detected(totals)
    reached = found + totals["survived"]
    scored = 0 if totals["error"] else 1
    return {
        "score": ratio(found, scored * (reached + totals["unreached"])),
        "score_reached": ratio(found, scored * reached),
    }


def _section(rows: list[Row]) -> dict[str, Any]:
    """The totals and the scores of some rows."""
    counts = Counter(row.verdict for row in rows)
    if unknown := set(counts) - set(VERDICTS):
        raise ValueError(f"could not count the verdict '{unknown.pop()}': not one of {VERDICTS}")
    totals = {verdict: counts[verdict] for verdict in VERDICTS}
    totals["mutants"] = len(rows) - totals["suppressed"]
    return {"totals": totals, **scores(totals)}


def _by_reason(rows: list[Row]) -> dict[str, int]:
    reasons = (without_details(row.reason) for row in rows if row.verdict == "suppressed")
    return dict(Counter(reasons))


def without_details(reason: str) -> str:
    """ "pragma: why" is a pragma, "twin of some-id" a twin."""
    return "twin" if reason.startswith("twin of ") else reason.split(":", 1)[0]
