"""Turns the start of any Python process of a run into attestations and, on clean, into reach.

Imported by ``_hermutic.pth`` in every process that the run's interpreter starts, child processes
of the tests included. It does nothing where there is no task file.
"""

from __future__ import annotations

import json
import os
import sys

# Every process of the tests pays for what is imported here: CPython's own bare digest, where it has
# one (hashlib loads OpenSSL), and nothing that only type checkers need.
try:
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TASK = "/hermutic/task.json"

_task: dict[str, Any] = {}
_events = -1
_events_file = (0, 0)  # device and number of the file behind that descriptor
_attested: set[tuple[str, str]] = set()


def read_task() -> dict[str, Any]:
    """The task of this run, or {} outside a run."""
    try:
        with open(os.environ.get("HERMUTIC_TASK", TASK), encoding="utf-8") as file:
            task: dict[str, Any] = json.load(file)
            return task
    except OSError:
        return {}


def digest(data: bytes) -> str:
    """The sha256, in hex."""
    found: str = sha256(data).hexdigest()
    return found


def emit(*fields: Any) -> None:
    """Append one event to this process's own file in the run's out folder; survives a crash."""
    global _events
    line = json.dumps(fields).encode() + b"\n"
    if not _is_open():  # the tests may have closed every descriptor, and opened others
        _events = _open_events()
    os.write(_events, line)


def _is_open() -> bool:
    try:
        status = os.fstat(_events)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == _events_file


def _open_events() -> int:
    global _events_file
    name = f"{_task['out']}/events-{os.getpid()}"
    low = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    status = os.fstat(low)
    _events_file = (status.st_dev, status.st_ino)
    # A high number keeps out of the way of tests that expect the lowest free descriptor.
    import fcntl

    try:
        high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 200)
    except OSError:
        return low  # this process may not have so many
    os.close(low)
    return high


def start(task: dict[str, Any]) -> None:
    """Install what the task asks for in this process."""
    global _task, _events
    _task = task
    _events = -1
    if not task:
        return
    names = {root + "/" + path: path for root in task["roots"] for path in task["attest"]}
    # The same module found elsewhere (a wheel that shadows the checkout) is reported as well.
    tails = tuple("/" + "/".join(path.split("/")[-2:]) for path in task["attest"])
    if names:

        def watch(event: str, args: Any) -> None:
            if event == "compile":
                _compiled(args, names, tails)

        sys.addaudithook(watch)
    if task["trace"]:
        import _hermutic_files

        _hermutic_files.watch(task, emit)
    if task.get("watch"):
        import _hermutic_watch

        _hermutic_watch.start(task, emit)
    if task.get("observe"):
        import _hermutic_observe

        _hermutic_observe.start(task["observe"])
    os.register_at_fork(after_in_child=_after_fork)
    if task.get("reach"):
        import _hermutic_reach  # only here: it brings coverage.py with it

        _hermutic_reach.start(task)


def _after_fork() -> None:
    global _events
    _events = -1
    _attested.clear()


def _compiled(args: Any, names: dict[str, str], tails: tuple[str, ...]) -> None:
    """On every compilation of a watched file: which file, and the digest of the bytes compiled."""
    source, filename = args
    if isinstance(filename, bytes):
        filename = os.fsdecode(filename)
    if not isinstance(filename, str) or not filename.endswith(".py"):
        return
    try:
        filename = os.path.abspath(filename)
    except OSError:
        return  # relative to a working directory that is gone
    if not filename.endswith(tails):
        return
    path = names.get(filename, filename)
    if not isinstance(source, bytes):  # a syntax tree, or a script that C reads: what is on disk
        try:
            with open(filename, "rb") as file:
                source = file.read()
        except OSError:
            return
    elif b"\n" not in source and _is_part(source, filename):
        return  # Python 3.11 and 3.12 parse a failing line again, to mark the place in a traceback
    pair = (path, digest(source))
    if pair not in _attested:
        _attested.add(pair)
        emit("attest", *pair)


def _is_part(text: bytes, filename: str) -> bool:
    """Whether the text is a piece of the file, and not the whole of it."""
    try:
        with open(filename, "rb") as file:
            whole = file.read()
    except OSError:
        return False
    return text != whole and text in whole


def write_data(value: Any) -> None:
    """Report one JSON value, by which a run answers a question that an author asked."""
    with open(f"{_task['out']}/data-{os.getpid()}", "a", encoding="utf-8") as file:
        file.write(json.dumps(value) + "\n")


def current_test() -> str:
    """The test under way in the run's pytest process (a child process counts as its work)."""
    try:
        with open(_task["out"] + "/current", encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def write_whole(name: str, text: str) -> None:
    """Write a file of the out folder so that it is there whole or not at all, even if killed."""
    temporary = f"{_task['out']}/partial-{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, f"{_task['out']}/{name}")


def _on_import() -> None:
    task = read_task()
    if task:
        start(task)


_on_import()
