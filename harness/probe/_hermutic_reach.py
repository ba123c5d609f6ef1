"""Turns a process of the reach run into its lines, each with the test under way, and imports."""

from __future__ import annotations

import atexit
import json
import os
import sys
import types
from typing import Any

import _hermutic_start as probe

coverage: Any = None  # the running coverage.Coverage of this process
_task: dict[str, Any] = {}
_edges: set[tuple[str, str]] = set()
_saving = False
_again: list[int] = []  # a signal that came while this process was saving


def start(task: dict[str, Any]) -> None:
    """Trace this process's lines, and its imports, until it ends."""
    global coverage
    _task.update(task)
    import coverage as library

    include = [root + "/" + path for root in _task["roots"] for path in task["reach"]["files"]]
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
    _take_up_current_test()
    # A fork server was started under one test and makes processes for others.
    os.register_at_fork(after_in_child=_take_up_current_test)
    _watch_imports()
    atexit.register(save_reach)
    _save_on_exit()


def _take_up_current_test() -> None:
    coverage.switch_context(probe.current_test())


def set_current_test(test: str) -> None:
    """Tell this process's coverage, and every child process to come, which test is under way."""
    if coverage is None:
        return
    coverage.switch_context(test)
    probe.write_whole("current", test)


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
            if _saving:
                _again.append(number)
                return
            save_reach()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

        try:
            signal.signal(signal.SIGTERM, save_then_die)
        except ValueError:
            pass  # not the main thread: nothing can be installed


def save_reach() -> None:
    """Write which lines ran under which test, which modules import which, and what is loaded.

    A signal may ask for it in the midst of itself: what coverage.py has taken out of its tracer and
    not put down yet would be lost. The signal then comes once more.
    """
    global _saving
    if coverage is None or _saving:
        return
    _saving = True
    try:
        _save()
    finally:
        _saving = False
    if _again:
        os.kill(os.getpid(), _again.pop())


def _save() -> None:
    coverage.stop()
    data = coverage.get_data()
    lines = {path: data.contexts_by_lineno(path) for path in data.measured_files()}
    modules = {
        name: getattr(module, "__file__", None) or ""
        for name, module in list(sys.modules.items())
        if module is not None
    }
    text = json.dumps({"lines": lines, "edges": sorted(_edges), "modules": modules})
    probe.write_whole(f"reach-{os.getpid()}", text)
    coverage.start()


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
    probe.write_whole("statements", json.dumps(found))


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
