"""Turns events into a hash-chained, append-only file of JSON lines, and such a file into events."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import structlog

from harness.mutant import sha256
from harness.records import render

Event = MutableMapping[str, Any]
START = "0" * 64
CHAIN = ("n", "previous")


class LogBroken(Exception):
    """The log's chain does not hold; the message says in which line and how."""


@dataclass(slots=True)
class Log:
    """A log being written: its file, the next line's number and the hash of the line before."""

    file: BinaryIO
    n: int = 0
    previous: str = START
    logger: structlog.BoundLogger = field(init=False)

    def __post_init__(self) -> None:
        # Built by hand: structlog.get_logger would read (and share) the global configuration.
        sink = structlog.BytesLogger(self.file)
        self.logger = structlog.BoundLogger(sink, [self._chain, self._to_line], {})

    def event(self, event: str, /, **fields: Any) -> None:
        """Append one line and flush it. TypeError or ValueError if a field is not JSON data."""
        self.logger.msg(event, **fields)

    def close(self) -> None:
        """Close the file; the chain stays as it is."""
        self.file.close()

    def _chain(self, _logger: Any, _method: str, event: Event) -> Event:
        for name in CHAIN:
            if name in event:
                raise TypeError(f"could not log '{event['event']}': '{name}' is the chain's field")
        return {**event, "n": self.n, "previous": self.previous}

    def _to_line(self, _logger: Any, _method: str, event: Event) -> bytes:
        line = render(event).encode()
        self.n += 1
        self.previous = _hash(line)
        return line


def open_log(path: Path) -> Log:
    """Start a new log at ``path``. FileExistsError if there is one: a log is never rewritten."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return Log(open(path, "ab", opener=_exclusive))


def _exclusive(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_EXCL, 0o666)


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """Every event in order. LogBroken as soon as a line does not belong where it stands."""
    previous = START
    with path.open("rb") as file:
        for n, line in enumerate(file):
            yield _checked(n, line, previous)
            previous = _hash(line.removesuffix(b"\n"))


def _checked(n: int, line: bytes, previous: str) -> dict[str, Any]:
    where = f"line {n + 1}"
    if not line.endswith(b"\n"):
        raise LogBroken(f"{where}: torn: the writer was stopped in the middle of it")
    body = line[:-1]
    try:
        event = json.loads(body)
    except ValueError as error:
        raise LogBroken(f"{where}: not JSON: {error}") from error
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise LogBroken(f"{where}: not an event")
    if event.get("n") != n:
        raise LogBroken(f"{where}: numbered {event.get('n')}, not {n}: lines are missing or moved")
    if event.get("previous") != previous:
        raise LogBroken(f"{where}: the line before it is not the one that was written")
    if render(event).encode() != body:
        raise LogBroken(f"{where}: not in the form that Hermutic writes")
    return event


def _hash(line: bytes) -> str:
    """What the next line carries: `sed -n 5p LOG | sha256sum`, so the newline belongs to it."""
    return sha256(line + b"\n")
