"""Turns one mutant, its source and its run record into the page that `hermutic show` prints."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from harness.report import again
from harness.report.diff import Mismatch, diff, encoding_of
from harness.report.text import PLACES, change

UTF8 = {"utf-8", "utf-8-sig"}
MEBIBYTE = 2**20


def show_text(
    row: Mapping[str, Any],
    source: bytes | None,
    record: Mapping[str, Any] | None,
    selection: Sequence[str],
    *,
    path: str = "PATH",
) -> str:
    """Everything known about a mutant. Its diff stands unindented: `patch -p1` takes the page.

    ``row`` is the report's, ``source`` the clean file, ``record`` the mutant run's ``to_json()``
    (None if it was not run), ``selection`` the tests that reach the mutant.
    """
    sources = {} if source is None else {row["path"]: source}
    blocks = [
        _facts(row),
        change(row, sources).rstrip("\n"),
        _tests(record, selection),
        _record(record),
        _by_hand(row, source, selection, path),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _facts(row: Mapping[str, Any]) -> str:
    scope = f" in {row['qualname']}" if row["qualname"] else ""
    facts = [
        ("verdict", row["verdict"] + (f": {row['reason']}" if row["reason"] else "")),
        ("where", f"{row['path']}, line {row['line']}, column {row['column']}{scope}"),
        ("operator", f"{row['operator']} ({row['kind']}, {PLACES[row['place']]})"),
        ("digest", row["digest"]),
    ]
    facts += [("detected by", test) for test in row["detected_by"]]
    return "\n".join([row["id"], *(f"  {name:<12} {value}" for name, value in facts)])


def _tests(record: Mapping[str, Any] | None, selection: Sequence[str]) -> str:
    """The selected tests in the order they run, each with its outcome on this mutant."""
    if not selection:
        return "no test executes its statement"
    results = {} if record is None else {result["id"]: result for result in record["results"]}
    running = None if record is None else record["running"]
    lines = [f"  {_outcome(test, results, running):<16} {test}" for test in selection]
    return "\n".join([f"tests that reach it ({len(selection)}), in running order", *lines])


def _outcome(test: str, results: Mapping[str, Mapping[str, Any]], running: str | None) -> str:
    result = results.get(test)
    if result is None:
        return "under way" if test == running else "not run"
    phase = "" if result["phase"] == "call" else f" in {result['phase']}"
    return f"{result['outcome']}{phase}"


def _record(record: Mapping[str, Any] | None) -> str:
    if record is None:
        return "it was not run"
    attested = [f"{item['sha256']}  {item['path']}" for item in record["attested"]]
    facts = [
        ("ended", _ending(record)),
        ("collected", "not ended" if record["collected"] is None else record["collected"]),
        *_measured(record),
        ("environment", record["environment"]),
        ("arguments", shlex.join(record["argv"])),
        *(("ran", line) for line in attested),
        *(("collection", error) for error in record["collect_errors"]),
    ]
    return "\n".join(["run record", *(f"  {name:<12} {value}" for name, value in facts)])


def _measured(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a build's verdict files leave out, because it differs from machine to machine."""
    if not record["executor"]:
        return []
    return [
        ("executor", f"{record['executor']}, isolation {record['isolation']}"),
        ("wall, cpu", f"{record['wall']:.2f} s, {record['cpu']:.2f} s"),
        ("memory", f"{record['peak'] / MEBIBYTE:.0f} MiB at its peak"),
        ("input", record["input"]),
    ]


def _ending(record: Mapping[str, Any]) -> str:
    if record["fault"]:
        return f"fault: {record['fault']}"
    if record["limit"] is not None:
        return f"over its {record['limit']} limit"
    if record["signal"] is not None:
        return f"signal {record['signal']}"
    return f"exit {record['exit']}" + ("" if record["finished"] else ", before pytest was done")


def _by_hand(
    row: Mapping[str, Any], source: bytes | None, selection: Sequence[str], path: str
) -> str:
    """Commands for a copy of the project; nothing where the diff cannot be made."""
    if source is None or row["verdict"] == "suppressed":
        return ""
    try:
        diff(row, source)
    except Mismatch:
        return ""
    encoding = encoding_of(source)
    recode = "" if encoding in UTF8 else f" | iconv -c -f utf-8 -t {encoding}"
    shown = again.show(path, row["id"])
    commands = [f"{shown}{recode} | patch -p1"]
    if selection:
        commands.append(f"python -m pytest -x {shlex.join(selection)}")
    return "\n".join(["by hand, in a copy of the project", *(f"  {line}" for line in commands)])
