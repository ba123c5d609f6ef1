"""Turns a command into what it printed and when, its exit code, and its own peak memory."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# Often enough to see the last growth of a command that runs for seconds, too seldom to disturb it.
POLL_SECONDS = 0.05
# Far longer than any command here takes: a tool that hangs is reported, not waited for.
LONGEST_SECONDS = 900.0
TAIL = 12


class Failed(Exception):
    """A tool that could not be measured; the message is its own error."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One command's life: ``lines`` are (seconds since its start, text); ``peak`` is in bytes.

    ``peak`` is the resident memory of the command's own process; its children are not in it.
    """

    seconds: float
    code: int
    lines: tuple[tuple[float, str], ...]
    peak: int

    def tail(self) -> str:
        """The end of what it printed."""
        return "\n".join(text for _, text in self.lines[-TAIL:])


def run(
    argv: Sequence[str | Path],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    *,
    codes: frozenset[int] = frozenset({0}),
) -> Ran:
    """Run the command to its end. Raises Failed for an exit code that is not in ``codes``."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in argv],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        chunks, peak = _follow(process, begun)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    code = process.wait()
    ran = Ran(time.perf_counter() - begun, code, _lines(chunks), peak)
    if code not in codes:
        raise Failed(f"`{' '.join(map(str, argv))}` ended with {code}:\n{ran.tail()}")
    return ran


def _follow(
    process: subprocess.Popen[bytes], begun: float
) -> tuple[list[tuple[float, bytes]], int]:
    """What the process writes, with the time of each piece, until it closes its output."""
    assert process.stdout is not None
    chunks: list[tuple[float, bytes]] = []
    peak, looked = 0, 0.0
    while True:
        ready, _, _ = select.select([process.stdout], [], [], POLL_SECONDS)
        now = time.perf_counter() - begun
        if now - looked >= POLL_SECONDS or not looked:
            peak, looked = max(peak, _peak(process.pid)), now
        if now > LONGEST_SECONDS:
            raise Failed(f"no end within {LONGEST_SECONDS:.0f} s")
        if not ready:
            continue
        data = os.read(process.stdout.fileno(), 1 << 16)
        if not data:
            return chunks, peak
        chunks.append((now, data))


def _peak(pid: int) -> int:
    """The high-water mark of the process's resident memory; 0 once it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _lines(chunks: list[tuple[float, bytes]]) -> tuple[tuple[float, str], ...]:
    """Lines with the time of their first byte; a spinner's carriage return ends a line too."""
    found: list[tuple[float, str]] = []
    rest, since = b"", 0.0
    for at, data in chunks:
        since = since if rest else at
        *whole, rest = re.split(rb"\r\n|\r|\n", rest + data)
        for index, line in enumerate(whole):
            found.append((at if index else since, line.decode("utf-8", "replace")))
        since = at if whole else since
    if rest:
        found.append((since, rest.decode("utf-8", "replace")))
    return tuple(line for line in found if line[1].strip())
