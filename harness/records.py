"""Turns a run record into the small JSON data that is kept of it, and such data into the record."""

from __future__ import annotations

import functools
import json
from typing import Any

from harness.mutant import sha256
from harness.run import ERROR, FAILED, PASSED, SKIPPED, XFAILED, XPASSED, RunRecord

NOT_RUN = "-"
CODES = {PASSED: ".", FAILED: "F", ERROR: "E", SKIPPED: "s", XFAILED: "x", XPASSED: "X"}
OUTCOME = {code: outcome for outcome, code in CODES.items()}

# ASCII, so that a lone surrogate (a test id that is not UTF-8) survives the way there and back.
render = functools.partial(
    json.dumps, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
)


def selection_digest(tests: tuple[str, ...]) -> str:
    """What a selection is called in the log: the sha256 of the JSON list of its test ids."""
    return sha256(render(list(tests)).encode())


def encode_record(record: RunRecord, selection: tuple[str, ...]) -> dict[str, Any]:
    """``record.to_json()`` made small: ``selection`` is known and need not be said again.

    ``results`` becomes ``{"codes", "odd"}``: one character per selected test (``.`` passed, F E s
    x X, ``-`` not run; a tail of ``-`` is left out), and in ``odd`` the id, phase and message of
    each that did not simply pass in its call. Results out of the selection's order stay a list.
    """
    data = record.to_json()
    data["results"] = _short_results(record, selection)
    return data


def decode_record(data: dict[str, Any], selection: tuple[str, ...]) -> RunRecord:
    """The inverse of ``encode_record``; takes a plain ``to_json()`` as well."""
    full = dict(data)
    if isinstance(data["results"], dict):
        full["results"] = _long_results(data["results"], selection)
    return RunRecord.from_json(full)


def _short_results(record: RunRecord, selection: tuple[str, ...]) -> Any:
    index = {test: position for position, test in enumerate(selection)}
    order = [index.get(result.id, -1) for result in record.results]
    rising = all(a < b for a, b in zip([-1, *order], order, strict=False))
    if not rising or len(index) != len(selection):
        return record.to_json()["results"]
    codes = [NOT_RUN] * len(selection)
    odd = []
    for position, result in zip(order, record.results, strict=True):
        codes[position] = CODES[result.outcome]
        if (result.outcome, result.phase, result.message) != (PASSED, "call", ""):
            odd.append([result.id, result.phase, result.message])
    return {"codes": "".join(codes).rstrip(NOT_RUN), "odd": odd}


def _long_results(short: dict[str, Any], selection: tuple[str, ...]) -> list[dict[str, str]]:
    if len(short["codes"]) > len(selection):
        raise ValueError("could not decode a record: it has more results than selected tests")
    odd = {test: (phase, message) for test, phase, message in short["odd"]}
    results = []
    for test, code in zip(selection, short["codes"], strict=False):
        if code == NOT_RUN:
            continue
        phase, message = odd.get(test, ("call", ""))
        outcome = OUTCOME[code]
        results.append({"id": test, "outcome": outcome, "phase": phase, "message": message})
    return results
