"""Starts processes, and turns what they did into run records. No other module starts a process."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

PASSED = "passed"
FAILED = "failed"
ERROR = "error"
SKIPPED = "skipped"
XFAILED = "xfailed"
XPASSED = "xpassed"
OUTCOMES = (PASSED, FAILED, ERROR, SKIPPED, XFAILED, XPASSED)
GREEN = frozenset({PASSED, SKIPPED, XFAILED, XPASSED})


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test's outcome in one run: ``phase`` is the phase that decided it."""

    __test__ = False

    id: str
    outcome: str
    phase: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Attestation:
    """A file that some process of the run compiled, and the sha256 of the bytes it compiled."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What one child process did.

    Exactly one of ``exit`` and ``signal`` is set, unless ``limit`` ended it ("wall", "cpu").
    ``collected`` counts the tests that collection found, or is None if collection did not end.
    ``finished`` says whether pytest's session ended by itself. ``results`` are in running order.
    ``running`` is the test that was under way when the process ended early.
    ``wall`` and ``cpu`` are seconds, ``peak`` bytes; they go to the log, never to a report.
    """

    argv: tuple[str, ...]
    environment: str
    input: str
    executor: str
    isolation: str
    exit: int | None
    signal: int | None
    limit: str | None
    collected: int | None
    finished: bool
    results: tuple[TestResult, ...]
    running: str | None
    attested: tuple[Attestation, ...]
    collect_errors: tuple[str, ...] = ()
    fault: str = ""
    output: str = ""
    wall: float = 0.0
    cpu: float = 0.0
    peak: int = 0

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data, the shape documented in the README."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RunRecord:
        """The inverse of ``to_json``."""
        fields = dict(data)
        fields["argv"] = tuple(data["argv"])
        fields["results"] = tuple(TestResult(**row) for row in data["results"])
        fields["attested"] = tuple(Attestation(**row) for row in data["attested"])
        fields["collect_errors"] = tuple(data["collect_errors"])
        return cls(**fields)
