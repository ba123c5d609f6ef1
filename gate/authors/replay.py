"""Turns a file of recorded exchanges into answers, and a session's exchanges into such a file.

The file has one exchange a line (``gate.authors.exchange.record_of``), JSON with sorted keys, with
no times, no key and no endpoint: the same answers make the same bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate.authors.conversation import Conversation
from gate.authors.exchange import (
    NOT_RECORDED,
    SETTLED,
    Answer,
    Budget,
    Parameters,
    Request,
    answer_of,
    record_of,
)
from harness.errors import USAGE, Problem
from harness.records import render

Exchanges = dict[str, Mapping[str, Any]]


@dataclass(slots=True)
class Recording:
    """Recorded exchanges by request digest, asked as a model is: ``record`` gets each as one."""

    exchanges: Exchanges
    record: Callable[[Mapping[str, Any]], None]
    budget: Budget = field(default_factory=Budget)
    _asked: set[str] = field(default_factory=set, init=False, repr=False)

    def ask(self, request: Request) -> Answer:
        """The recorded answer, or the outcome "not-recorded"."""
        recorded = self.exchanges.get(request.digest)
        if not self.budget.affords(request):
            answer = self.budget.spent(request)
        elif recorded is None:
            detail = f"no exchange for the request {request.digest[:12]} in the recording"
            answer = Answer(NOT_RECORDED, detail=detail)
        else:
            answer = answer_of(recorded)
        if request.digest not in self._asked:
            self.budget.charge(answer)
        self._asked.add(request.digest)
        self.record({**record_of(request, answer), "final": True, "stored": True})
        return answer

    def settings(self, model: str | None = None) -> tuple[str, Parameters]:
        """The model and the parameters of the exchanges. Problem if there are several or none."""
        found = {
            (one["model"], tuple(sorted(one["parameters"].items())))
            for one in self.exchanges.values()
            if model in (None, one["model"])
        }
        if len(found) == 1:
            return found.pop()
        wanted = f" of the model '{model}'" if model else ""
        there = ", ".join(sorted(f"{name} {dict(parameters)}" for name, parameters in found))
        raise Problem(
            USAGE,
            f"could not replay the recording{wanted}: it has "
            + (f"several: {there}; name one" if found else "no such exchange"),
        )


def author(
    recording: Recording,
    read: Callable[[str], str | None],
    *,
    retries: int = 1,
    model: str | None = None,
) -> Conversation:
    """The author ``replay``, who asks as the recording's model was asked."""
    chosen, parameters = recording.settings(model)
    return Conversation("replay", recording.ask, chosen, parameters, read, retries)


def read_recording(path: Path) -> Exchanges:
    """The file's exchanges by request digest; of several for one request, the first.

    Problem, with the line, for what is no exchange or was changed by hand. A last line without an
    end (its writer was killed) is left out.
    """
    found: Exchanges = {}
    for number, line in _lines(path):
        try:
            record = json.loads(line)
            request = Request(
                record["model"],
                tuple(sorted(record["parameters"].items())),
                tuple(record["messages"]),
                record["sample"],
            )
            true = record_of(request, answer_of(record))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _broken(path, number, f"no exchange ({type(error).__name__}: {error})") from error
        if record != true:
            wrong = sorted(name for name in {*record, *true} if record.get(name) != true.get(name))
            raise _broken(path, number, f"{', '.join(wrong)} does not match the rest")
        found.setdefault(request.digest, record)
    return found


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Problem(
            USAGE,
            f"could not read the recording '{path}': {error.strerror or error}; name a file that "
            "an earlier session recorded",
        ) from error
    yield from enumerate(data.split(b"\n")[:-1], 1)


def _broken(path: Path, number: int, why: str) -> Problem:
    message = f"could not use line {number} of the recording '{path}': {why}; record it again"
    return Problem(USAGE, message)


@dataclass(slots=True)
class Recorder:
    """Adds the answers of a session to a file, one whole line at a time, each request once."""

    path: Path
    known: set[str] = field(default_factory=set)

    def record(self, record: Mapping[str, Any]) -> None:
        """Write the record if the model answered and the file does not have it; else nothing."""
        if record["outcome"] not in SETTLED or record["request"] in self.known:
            return
        request = Request(
            record["model"],
            tuple(sorted(record["parameters"].items())),
            tuple(record["messages"]),
            record["sample"],
        )
        line = render(record_of(request, answer_of(record))).encode() + b"\n"
        _append(self.path, line)
        self.known.add(record["request"])


def open_recorder(path: Path) -> Recorder:
    """A recorder that goes on with the file if there is one; a torn last line is taken out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        return Recorder(path)
    known = set(read_recording(path))
    data = path.read_bytes()
    if not data.endswith(b"\n"):
        os.truncate(path, data.rfind(b"\n") + 1)
    return Recorder(path, known)


def _append(path: Path, line: bytes) -> None:
    """One write to the end: another reader or writer sees the line whole or not at all."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        written = os.write(descriptor, line)
    finally:
        os.close(descriptor)
    if written != len(line):
        raise OSError(f"could not write to '{path}': the disk took {written} of {len(line)} bytes")
