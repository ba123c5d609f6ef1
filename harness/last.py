"""Turns a project's .hermutic folder into its last report, that report's log, and its sources."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import loading, store
from harness.errors import USAGE, Problem
from harness.log import LogBroken, read_log
from harness.mutant import sha256
from harness.report.data import SCHEMA

REPORT = "report.json"
LOGS = "logs"
LAST_LINE = 65536  # bytes: a report event has a few hundred


@dataclass(frozen=True, slots=True)
class Saved:
    """The last report at a place: its rows as read, and the folder that it lies in."""

    report: dict[str, Any]
    data: bytes
    folder: Path
    root: Path


def read(path: Path) -> Saved:
    """The report of the last run at ``path`` that came to its end. Raises Problem if none did."""
    root = loading.root_of(path)
    folder = results_folder(path)
    try:
        data = (folder / REPORT).read_bytes()
        found = json.loads(data)
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise ValueError(f"it is no report of schema {SCHEMA}")
    except FileNotFoundError as error:
        raise Problem(
            USAGE,
            f"could not find a report in '{folder}': no run has come to its end yet; run "
            f"`hermutic run {path}` first",
        ) from error
    except (OSError, ValueError) as error:
        raise Problem(
            USAGE,
            f"could not read '{folder / REPORT}': {error}; run `hermutic run {path}` again",
        ) from error
    return Saved(found, data, folder, root)


def results_folder(path: Path) -> Path:
    """Where a run at ``path`` puts its results: beside it, or in the cache if it is read-only."""
    beside = path.resolve() / store.RESULTS
    writable = os.access(beside if beside.exists() else path, os.W_OK)
    return beside if writable else store.prepare_results(path.resolve())


def newest_log(path: Path) -> Path | None:
    """The last log written at ``path``, or None."""
    return next(iter(logs(results_folder(path))), None)


def logs(folder: Path) -> list[Path]:
    """The logs in a folder of results, the newest first."""
    found = [log for log in (folder / LOGS).glob("*") if log.is_file()]
    return sorted(found, key=lambda log: (log.stat().st_mtime_ns, log.name), reverse=True)


def report_log(folder: Path) -> Path | None:
    """The log that ends with the very report in ``folder``: not always the newest (verify)."""
    report = folder / REPORT
    if not report.is_file():
        return None
    digest = sha256(report.read_bytes())
    return next((log for log in logs(folder) if _reported(log) == digest), None)


def _reported(log: Path) -> str | None:
    """The digest in the log's last line, if that is a report event; the chain is not checked."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LAST_LINE))
        line = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    try:
        event = json.loads(line)
    except ValueError:
        return None  # torn by kill -9, or longer than any report event: not the report's log
    return event.get("sha256") if event.get("event") == "report" else None


def sources(saved: Saved) -> dict[str, bytes]:
    """The present bytes of the report's files, by path; a file that is gone is left out."""
    paths = {row["path"] for row in saved.report["mutants"]}
    files = {path: saved.root / path for path in paths}
    return {path: file.read_bytes() for path, file in files.items() if file.is_file()}


def events(saved: Saved) -> list[dict[str, Any]]:
    """The events of the report's own log; none if that has been deleted."""
    log = report_log(saved.folder)
    if log is None:
        return []
    try:
        return list(read_log(log))
    except LogBroken as error:
        raise Problem(
            USAGE, f"could not read '{log}': {error}; `hermutic audit '{log}'` says more"
        ) from error
