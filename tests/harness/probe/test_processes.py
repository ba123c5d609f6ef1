"""How a run ends, whatever its processes do: nothing is left, and the record says what was."""

from __future__ import annotations

import os
import signal
import time

import pytest

from harness.events import Finished
from harness.run import Limits
from tests.harness.sealed import SHARED, Bench, marked, outcomes

PASSED = "passed"

# Each leaves processes behind that no longer belong to its session, group or parent. The marker is
# in their command line, so that the test can look for them on the machine.
LEAVES = """
import os, subprocess, sys, time
import pytest

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)", "MARKER"]

def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            os.execv(SLEEP[0], SLEEP)
        os._exit(0)
    os.wait()

def test_daemon_then_fail():
    daemon()
    assert False

def test_daemon_then_hang():
    daemon()
    subprocess.Popen(SLEEP, start_new_session=True)
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass

def test_daemon_then_crash():
    daemon()
    os.abort()

def test_many():
    for _ in range(200):
        if os.fork() == 0:
            os.setsid()
            os.environ["MARKER"] = "MARKER"
            time.sleep(600)
            os._exit(0)
"""

ENDS = {
    "import_ok.py": "def test_one(): pass\ndef test_two(): pass\n",
    "import_exits.py": "import sys; sys.exit(0)\n",
    "import_exits_now.py": "import os; os._exit(0)\n",
    "test_ends.py": """
        import os, signal, sys, threading, time
        import pytest

        def test_before():
            pass

        def test_exit_now():
            os._exit(0)

        def test_abort():
            os.abort()

        def test_exit():
            sys.exit(3)

        def test_segfault():
            os.kill(os.getpid(), signal.SIGSEGV)

        def test_terminated():
            os.kill(os.getpid(), signal.SIGTERM)

        def test_pytest_exit():
            pytest.exit("enough", returncode=9)

        def test_interrupt():
            raise KeyboardInterrupt

        def test_everybody_is_killed():
            os.fork() or time.sleep(600)
            os.kill(-1, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

        def test_bytes_that_are_not_utf_8():
            os.write(1, b"\\xff\\xfe caf\\xe9")

        def test_close_every_descriptor():
            os.closerange(3, 4096)

        def test_reuse_the_descriptors():
            os.closerange(3, 4096)
            while os.open("mine.txt", os.O_CREAT | os.O_RDWR) < 250:
                pass

        def test_mine_is_empty():
            assert os.path.getsize("mine.txt") == 0

        def test_after():
            pass

        def test_forks_and_falls_through():
            os.fork()

        def test_spin():
            while True:
                pass

        def test_spin_and_swallow():
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    pass

        def test_sleep():
            time.sleep(600)

        def test_allocate():
            kept = []
            while True:
                kept.append(bytearray(8 << 20))

        def test_allocate_at_once():
            bytes(1 << 42)
    """,
}


MARKER = f"hermutic-left-{os.getpid()}"
SHARED.update({**ENDS, "test_leaves.py": LEAVES.replace("MARKER", MARKER)})


def run(bench: Bench, *names: str, wall: float = 60.0, cpu: int = 0) -> Finished:
    return bench.run(*names, limits=Limits(wall, cpu, 0))


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("test_daemon_then_fail", (1, None, None)),
        ("test_daemon_then_hang", (None, signal.SIGKILL, "wall")),
        ("test_daemon_then_crash", (None, signal.SIGABRT, None)),
        ("test_many", (0, None, None)),
    ],
)
def test_no_process_is_left_when_a_run_ends(
    either: Bench, name: str, ending: tuple[int | None, int | None, str | None]
) -> None:
    wall = 2.0 if name.endswith("hang") else 60.0
    record = run(either, f"test_leaves.py::{name}", wall=wall).record
    assert (record.exit, record.signal, record.limit) == ending, record.output
    assert marked(MARKER) == []


@pytest.mark.parametrize(
    ("name", "ended", "finished", "running"),
    [
        ("test_exit_now", (0, None), False, True),
        ("test_abort", (None, signal.SIGABRT), False, True),
        ("test_exit", (1, None), True, False),
        ("test_segfault", (None, signal.SIGSEGV), False, True),
        ("test_terminated", (None, signal.SIGTERM), False, True),
        ("test_pytest_exit", (9, None), True, True),
        ("test_interrupt", (2, None), True, True),
    ],
)
def test_the_record_says_how_the_tests_process_ended(
    sealed: Bench, name: str, ended: tuple[int | None, int | None], finished: bool, running: bool
) -> None:
    selection = ["test_ends.py::test_before", f"test_ends.py::{name}", "test_ends.py::test_after"]
    record = run(sealed, *selection).record
    assert (record.exit, record.signal, record.limit) == (*ended, None), record.output
    assert record.finished is finished
    assert record.running == (f"test_ends.py::{name}" if running else None)
    assert record.results[0].outcome == PASSED
    assert record.collected == 3


def test_a_run_that_kills_every_process_it_sees_ends_only_itself(sealed: Bench) -> None:
    record = run(sealed, "test_ends.py::test_everybody_is_killed").record
    assert (record.signal, record.fault) == (signal.SIGKILL, "")
    assert run(sealed, "import_ok.py").record.exit == 0


@pytest.mark.parametrize(
    ("file", "exit_", "collected"),
    [("import_exits.py", 3, None), ("import_exits_now.py", 0, None), ("import_ok.py", 0, 2)],
)
def test_an_exit_at_import_is_no_finished_collection(
    sealed: Bench, file: str, exit_: int, collected: int | None
) -> None:
    record = run(sealed, file).record
    assert (record.exit, record.collected) == (exit_, collected), record.output
    assert record.results == () or collected


def test_output_that_is_not_utf_8_is_kept_as_escapes(sealed: Bench) -> None:
    record = run(sealed, "-s", "test_ends.py::test_bytes_that_are_not_utf_8").record
    assert "\\xff\\xfe caf\\xe9" in record.output
    assert record.exit == 0


def test_closing_every_descriptor_loses_no_event(sealed: Bench) -> None:
    names = ["test_before", "test_close_every_descriptor", "test_after"]
    finished = run(sealed, "-s", *(f"test_ends.py::{name}" for name in names))
    assert outcomes(finished) == dict.fromkeys(names, PASSED), finished.record.output
    # By hand, pytest also ends such a session with 1: it cannot close its own log file any more.
    assert (finished.record.exit, finished.record.finished) == (1, True)


def test_no_event_is_written_into_a_file_of_the_tests(sealed: Bench) -> None:
    names = ["test_reuse_the_descriptors", "test_mine_is_empty"]
    finished = run(sealed, "-s", *(f"test_ends.py::{name}" for name in names))
    assert outcomes(finished) == dict.fromkeys(names, PASSED), finished.record.output


def test_a_child_that_falls_through_into_pytest_reports_nothing_twice(sealed: Bench) -> None:
    names = ["test_forks_and_falls_through", "test_after"]
    finished = run(sealed, *(f"test_ends.py::{name}" for name in names))
    expected = [f"test_ends.py::{name}" for name in names]
    assert [result.id for result in finished.record.results] == expected
    assert finished.record.collected == 2


@pytest.mark.parametrize("name", ["test_spin", "test_spin_and_swallow"])
def test_too_much_processor_time_is_the_limit_cpu(sealed: Bench, name: str) -> None:
    record = run(sealed, f"test_ends.py::{name}", cpu=1).record
    assert (record.limit, record.signal) == ("cpu", signal.SIGXCPU)
    assert record.running == f"test_ends.py::{name}"
    assert record.cpu >= 0.9


def test_too_much_time_is_the_limit_wall(sealed: Bench) -> None:
    start = time.monotonic()
    record = run(sealed, "test_ends.py::test_sleep", wall=2.0).record
    assert (record.limit, record.exit) == ("wall", None)
    assert record.running == "test_ends.py::test_sleep"
    assert 2.0 <= time.monotonic() - start < 2.0 + 3.0  # the kill itself takes milliseconds


@pytest.mark.parametrize("name", ["test_allocate", "test_allocate_at_once"])
def test_memory_without_bound_ends_at_its_limit_and_disturbs_no_other_run(
    sealed: Bench, name: str
) -> None:
    quiet = sealed.start("test_quiet.py", slot=0)
    sealed.start(f"test_ends.py::{name}", slot=1, limits=Limits(60.0, 0, 512 << 20))
    ended = dict(sealed.wait() for _ in range(2))
    assert outcomes(ended.pop(quiet)) == {"test_quiet": PASSED}
    (large,) = ended.values()
    assert outcomes(large)[name].startswith("failed MemoryError"), large.record.output
    assert large.record.exit == 1
    assert large.record.peak < 1 << 30
