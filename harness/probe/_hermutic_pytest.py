"""Turns one pytest session into events: what was collected, each test's outcome, how it ended.

PYTEST_DONT_REWRITE: the fork executor has this module loaded before pytest starts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import _hermutic_start as probe
import pytest

_MESSAGE_LENGTH = 300  # enough for an assertion's first lines; the whole output is kept elsewhere

# In a tuple: a test may put others in the place of these, in `time` or wherever they have a name.
_CLOCKS = (time.perf_counter, time.process_time)

_task: dict[str, Any] = {}
_worst: dict[str, tuple[str, str, str]] = {}
_began: dict[str, tuple[float, float]] = {}  # on the clock, and in this process's own computing
# Of several reports on one test the worst counts; a test with a skipped subtest has still passed.
_RANK = {"skipped": 0, "passed": 1, "xpassed": 2, "xfailed": 3, "failed": 4, "error": 5}


def pytest_configure(config: pytest.Config) -> None:
    _task.clear()
    _task.update(probe.read_task())
    _worst.clear()
    _began.clear()
    if _task.get("watch"):
        config.pluginmanager.register(_Watched())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """After every other plugin: the selection in its order, then tests that clean does not have."""
    yield
    if _task.get("selection") is not None:
        _select(config, items, _task["selection"])
    if _task.get("shuffle") is not None:
        _shuffle(items, _task["shuffle"])


def _select(config: pytest.Config, items: list[pytest.Item], selection: list[str]) -> None:
    by_id: dict[str, list[pytest.Item]] = {}
    for item in items:
        by_id.setdefault(item.nodeid, []).append(item)
    chosen = [item for test in selection for item in by_id.pop(test, ())]
    left_out = frozenset(_task["left_out"])
    dropped = [
        item
        for test in list(by_id)
        if test in left_out or test.partition("[")[0] in left_out
        for item in by_id.pop(test)
    ]
    config.hook.pytest_deselected(items=dropped)
    items[:] = chosen + [item for rest in by_id.values() for item in rest]


def _shuffle(items: list[pytest.Item], seed: int) -> None:
    """Files in another order, and the tests of each file, which still come together.

    By digest, so that a test more or less changes nothing in the order of the others; but for the
    files that the task wants first.
    """
    first = frozenset(_task.get("first", ()))

    def rank(name: str) -> str:
        return probe.digest(f"{seed}:{name}".encode("utf-8", "surrogatepass"))

    def order(item: pytest.Item) -> tuple[bool, str, str]:
        file = item.nodeid.partition("::")[0]
        return file not in first, rank(file), rank(item.nodeid)

    items.sort(key=order)


class _Watched:
    """A plugin only where a draft is tried: every test would pay for it."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        watch = sys.modules["_hermutic_watch"]
        watch.call_begins(item)
        try:
            return (yield)
        finally:
            watch.call_ends(item)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """pytest_collection_finish is called even where collection was stopped, by sys.exit, say."""
    yield
    probe.emit("collected", [item.nodeid for item in session.items])


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        probe.emit("uncollected", report.nodeid, _cause(report))


def pytest_runtest_logstart(nodeid: str) -> None:
    probe.emit("begin", nodeid)
    _began[nodeid] = _now()
    _set_current_test(nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    outcome = _outcome(report)
    if outcome is None:
        return
    before = _worst.get(report.nodeid)
    if before is None or _RANK[outcome] > _RANK[before[0]]:
        _worst[report.nodeid] = (outcome, report.when or "", _message(report))
        if outcome in ("failed", "error"):
            probe.emit("failing", report.nodeid, *_worst[report.nodeid], _waited(report.nodeid))


def pytest_runtest_logfinish(nodeid: str) -> None:
    now = _now()
    seconds = now[0] - _began.pop(nodeid, now)[0]
    outcome, phase, message = _worst.pop(nodeid, ("skipped", "", "no report"))
    probe.emit("end", nodeid, outcome, phase, message, round(seconds, 6))
    _set_current_test("")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(exitstatus: int) -> None:
    probe.emit("finished", int(exitstatus))
    if reach := _reach():
        reach.save_statements()


@pytest.hookimpl(tryfirst=True)
def pytest_keyboard_interrupt(excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """Where collection failed, pytest stops itself, and then reads the source of each frame of its
    own between here and its start to print none of them: as long as a short session."""
    if isinstance(excinfo.value, pytest.Session.Interrupted):
        excinfo.traceback = excinfo.traceback[-1:]


def pytest_internalerror(excrepr: Any) -> None:
    probe.emit("internal", str(excrepr)[-_MESSAGE_LENGTH:])


def _outcome(report: pytest.TestReport) -> str | None:
    if report.failed:
        return "failed" if report.when == "call" else "error"
    expected_to_fail = hasattr(report, "wasxfail")
    if report.skipped:
        return "xfailed" if expected_to_fail else "skipped"
    if report.when == "call" and report.passed:
        return "xpassed" if expected_to_fail else "passed"
    return None


def _message(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr or "")
    return text[:_MESSAGE_LENGTH] if report.failed else ""


def _waited(test: str) -> float:
    """The seconds since the test began in which this process did not compute."""
    now = _now()
    clock, computing = _began.get(test, now)
    return round(now[0] - clock - (now[1] - computing), 6)


def _now() -> tuple[float, float]:
    return _CLOCKS[0](), _CLOCKS[1]()


def _cause(report: pytest.CollectReport) -> str:
    """Why collection failed: of a whole traceback, which a failed import has, what ends it."""
    if hasattr(report.longrepr, "reprcrash"):
        return _message(report)
    lines = str(report.longrepr or "").rstrip().splitlines()
    marked = [line[1:].strip() for line in lines if line.startswith("E ")]
    return "\n".join(marked or lines[-1:])[-_MESSAGE_LENGTH:]


def _reach() -> Any:
    """The tracer of this process, on the reach run."""
    return sys.modules.get("_hermutic_reach")


def _set_current_test(test: str) -> None:
    if reach := _reach():
        reach.set_current_test(test)
