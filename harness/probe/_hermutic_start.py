"""Turns the start of any Python process of a run into attestations and, on clean, into reach.

Imported by ``_hermutic.pth`` in every process that the run's interpreter starts, child processes
of the tests included. It does nothing where there is no task file.
"""

from __future__ import annotations

import atexit
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
    import types
    from typing import Any

TASK = "/hermutic/task.json"

coverage: Any = None  # the running coverage.Coverage of this process, on the reach run only
_task: dict[str, Any] = {}
_events = -1
_events_file = (0, 0)  # device and number of the file behind that descriptor
_attested: set[tuple[str, str]] = set()
_edges: set[tuple[str, str]] = set()


def read_task() -> dict[str, Any]:
    """The task of this run, or {} outside a run."""
    try:
        with open(os.environ.get("HERMUTIC_TASK", TASK), encoding="utf-8") as file:
            task: dict[str, Any] = json.load(file)
            return task
    except OSError:
        return {}


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
    os.register_at_fork(after_in_child=_after_fork)
    if task.get("reach"):
        _start_reach(task["reach"])


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
    pair = (path, sha256(source).hexdigest())
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


def _start_reach(options: dict[str, Any]) -> None:
    global coverage
    import coverage as library

    include = [root + "/" + path for root in _task["roots"] for path in options["files"]]
    measure = library.Coverage(
        data_file=None, config_file=False, include=include, messages=False, check_preimported=False
    )
    try:
        measure.set_option("run:core", "ctrace")  # the one that tells contexts apart
    except library.CoverageException:
        pass  # a coverage older than that option has no other
    measure.set_option("run:disable_warnings", ["no-data-collected", "module-not-imported"])
    measure.set_option("run:concurrency", ["thread"])
    measure.start()
    coverage = measure
    coverage.switch_context(current_test())
    _watch_imports()
    atexit.register(save_reach)
    _save_on_exit()


def current_test() -> str:
    """The test under way in the run's pytest process (a child process counts as its work)."""
    try:
        with open(_task["out"] + "/current", encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def set_current_test(test: str) -> None:
    """Tell this process's coverage, and every child process to come, which test is under way."""
    if coverage is None:
        return
    coverage.switch_context(test)
    _write_whole("current", test)


def _save_on_exit() -> None:
    """Children of multiprocessing leave through os._exit, and pools are ended by SIGTERM."""
    import signal

    leave = os._exit

    def save_then_leave(status: int) -> None:
        save_reach()
        leave(status)

    os._exit = save_then_leave  # type: ignore[assignment]
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:

        def save_then_die(number: int, _frame: types.FrameType | None) -> None:
            save_reach()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

        try:
            signal.signal(signal.SIGTERM, save_then_die)
        except ValueError:
            pass  # not the main thread: nothing can be installed


def save_reach() -> None:
    """Write which lines ran under which test, which modules import which, and what is loaded."""
    if coverage is None:
        return
    coverage.stop()
    data = coverage.get_data()
    lines = {path: data.contexts_by_lineno(path) for path in data.measured_files()}
    modules = {
        name: getattr(module, "__file__", None) or ""
        for name, module in list(sys.modules.items())
        if module is not None
    }
    text = json.dumps({"lines": lines, "edges": sorted(_edges), "modules": modules})
    _write_whole(f"reach-{os.getpid()}", text)
    coverage.start()


def _write_whole(name: str, text: str) -> None:
    """Write a file of the out folder so that it is there whole or not at all, even if killed."""
    temporary = f"{_task['out']}/partial-{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, f"{_task['out']}/{name}")


def save_statements() -> None:
    """Write each measured file's statements and those that ran in this process (line coverage)."""
    if coverage is None:
        return
    found = {}
    for path in _task["reach"]["files"]:
        try:
            _, statements, _, missing, _ = coverage.analysis2(_task["roots"][0] + "/" + path)
        except Exception:  # not Python, or not this Python's: the finder reports such a file
            continue
        found[path] = {"statements": statements, "missing": missing}
    _write_whole("statements", json.dumps(found))


def _watch_imports() -> None:
    """Note for each import, by statement or by importlib, which module asked for which."""
    import builtins
    import importlib

    by_statement = builtins.__import__
    by_call = importlib.import_module

    def watched(
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        module = by_statement(name, globals, locals, fromlist, level)
        asker = (globals or {}).get("__name__", "")
        package = getattr(module, "__name__", name) if fromlist or level else name
        _note(asker, package, fromlist or ())
        return module

    def watched_call(name: str, package: str | None = None) -> Any:
        module = by_call(name, package)
        _note("importlib", getattr(module, "__name__", name), ())
        return module

    builtins.__import__ = watched
    importlib.import_module = watched_call


def _note(asker: str, package: str, parts: Any) -> None:
    if asker.startswith(("importlib", "_pytest", "pytest")):
        asker = _user_of_library()
    _edges.add((asker, package))
    for part in parts:
        if f"{package}.{part}" in sys.modules:
            _edges.add((asker, f"{package}.{part}"))


def _user_of_library() -> str:
    """The nearest module on the stack that is not a library's import helper (importorskip, say)."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith(("importlib", "_pytest", "pytest", "pluggy", "_hermutic")):
            return name
        frame = frame.f_back
    return ""


def _on_import() -> None:
    task = read_task()
    if task:
        start(task)


_on_import()
