"""Starts processes, and turns what they did into run records. No other module starts a process."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

# The server ends its runs by signal; longer than this is a hang, or an import that takes its time.
_CLOSE_SECONDS = 1.5
# Until the private root exists, bytecode would be written to the user's own disk. The option -B
# would be seen by forked tests, in sys.flags.
_START = (
    "import sys; sys.dont_write_bytecode = True; sys.path[0] = sys.argv[1]; "
    "import _hermutic_server; _hermutic_server.main()"
)

FORK = "fork"
FRESH = "fresh"

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
    ``watched`` is what a draft's test did that no honest test does: what, and in which words.
    ``waited``, ``wall`` and ``cpu`` are seconds, ``peak`` bytes; they go to the log, never to a
    report. A failed test has ``waited`` while its process did not compute: for a clock, for
    another process, or because the machine was busy.
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
    watched: tuple[tuple[str, str], ...] = ()
    fault: str = ""
    output: str = ""
    waited: float = 0.0
    wall: float = 0.0
    cpu: float = 0.0
    peak: int = 0

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data, the shape documented in the README."""
        data = asdict(self)
        if not self.watched:  # only drafts are watched
            del data["watched"]
        return data

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RunRecord:
        """The inverse of ``to_json``."""
        fields = dict(data)
        fields["argv"] = tuple(data["argv"])
        fields["results"] = tuple(TestResult(**row) for row in data["results"])
        fields["attested"] = tuple(Attestation(**row) for row in data["attested"])
        fields["collect_errors"] = tuple(data["collect_errors"])
        fields["watched"] = tuple(tuple(pair) for pair in data.get("watched", ()))
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one run: wall and CPU seconds, bytes of address space (0: none)."""

    wall: float
    cpu: int
    memory: int


@dataclass(frozen=True, slots=True)
class Job:
    """One run to be made: a selection (None: what the arguments collect), on clean or on a mutant.

    ``left_out`` are the known tests of the selection's files that are not to run; a test that is in
    neither is one that the mutant made (a renamed parameter), and runs. ``mutation`` is (path,
    mutated bytes) or None; ``attest`` are the project's files whose compilation is reported;
    ``reach`` are the files whose lines are traced (the reach run only). ``seed`` marks the clean
    run whose bytecode later runs may read. ``trace`` asks which of the project's files the run
    uses; ``absent`` are files that are not there for it, ``added`` are some that are, with their
    bytes. ``env`` wins over the fixed environment (a hash seed is heeded only by ``fresh``);
    ``shuffle`` seeds the order of the tests; ``task`` is more for the probe.
    """

    executor: str
    args: tuple[str, ...]
    limits: Limits
    input: str
    attest: tuple[str, ...]
    selection: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()
    mutation: tuple[str, bytes] | None = None
    reach: tuple[str, ...] = ()
    seed: bool = False
    trace: bool = False
    absent: tuple[str, ...] = ()
    added: tuple[tuple[str, bytes], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    shuffle: int | None = None
    task: Mapping[str, Any] = field(default_factory=dict)


class Runner:
    """A server process that makes sealed runs, and the runs now under way in it."""

    def __init__(self, python: str, spec: dict[str, Any], probe: Path) -> None:
        ours, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the runner
        self._process = subprocess.Popen(
            [python, "-c", _START, str(probe), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=self._errors,
            stderr=self._errors,
            pass_fds=[theirs.fileno()],
            env=spec["server_env"],
            start_new_session=True,
        )
        theirs.close()
        self._connection = ours
        self._jobs: dict[int, Job] = {}
        self._next = 0
        try:
            self._send(spec)
            started = self._receive()
            if "ready" not in started:
                raise SandboxFailed(started.get("fault", "the server gave no reason"))
        except BaseException:
            self.close()
            raise

    def warm(self, modules: list[str], env: dict[str, str], roots: list[str]) -> str:
        """Import the modules in the server, for ``fork``; what prevents that executor, or ""."""
        self._send({"op": "warm", "modules": modules, "env": env, "roots": roots})
        return str(self._receive()["warm"])

    def submit(self, job: Job, request: dict[str, Any]) -> int:
        """Start a run; ``request`` is what the sandbox adds (see ``harness.sandbox.request``)."""
        self._next += 1
        self._jobs[self._next] = job
        self._send({"op": "run", "id": self._next, **request})
        return self._next

    def wait(self) -> tuple[int, Job, dict[str, Any]]:
        """Block until some run is done: its number, its job, and what its processes reported."""
        answer = self._receive()
        return answer["id"], self._jobs.pop(answer["id"]), answer["result"]

    @property
    def under_way(self) -> int:
        """How many runs are not done yet."""
        return len(self._jobs)

    def close(self) -> None:
        """End the server and with it every process of every run."""
        self._connection.close()
        try:
            self._process.wait(timeout=_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        try:
            self._connection.sendall(struct.pack(">Q", len(data)) + data)
        except OSError as error:
            raise SandboxFailed(self._last_words()) from error

    def _receive(self) -> dict[str, Any]:
        length = struct.unpack(">Q", self._exactly(8))[0]
        message: dict[str, Any] = json.loads(self._exactly(length))
        return message

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            try:
                part = self._connection.recv(min(count - len(data), 1 << 20))
            except ConnectionError:  # it ended before it had read what we sent
                part = b""
            if not part:
                raise SandboxFailed(self._last_words())
            data += part
        return bytes(data)

    def _last_words(self) -> str:
        self._errors.seek(0)
        text = self._errors.read()[-2000:].decode("utf-8", "backslashreplace").strip()
        return text or "the sandbox's server ended without a word"


class SandboxFailed(Exception):
    """The sandbox could not be made or its server has ended; the message says why."""


def tool(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a helper program (pip, an interpreter's self-description) and return what it said.

    OSError if it cannot be started, TimeoutError if it takes longer than ``timeout`` seconds.
    """
    try:
        return subprocess.run(
            list(argv),
            env=None if env is None else dict(env),
            cwd=cwd,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"no answer within {timeout:g} s") from error


def stream(argv: Sequence[str], cwd: Path | None = None) -> int:
    """Run a program on this terminal; its exit code."""
    return subprocess.run(list(argv), cwd=cwd, check=False).returncode
