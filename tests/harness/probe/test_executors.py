"""The two executors are one truth: what tests can ask about their process is the same in both."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.events import Finished
from tests.harness.sealed import SHARED, Bench, opened, outcomes

# What a test may ask about the process that it runs in, as JSON text by name.
MIRROR = """
import atexit, gc, json, locale, logging, multiprocessing, os, resource, signal, sys, tempfile
import threading, time, warnings
import mod

def ask():
    main = sys.modules["__main__"]
    limits = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    numbers = [n for n in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{n}")]
    return {
        "argv": sys.argv,
        "orig_argv": sys.orig_argv,
        "path": sys.path,
        "cwd": os.getcwd(),
        "environ": dict(os.environ),
        "executable": [sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix],
        "main": [main.__name__, main.__spec__.name, main.__file__, main.__package__],
        "main attributes": sorted(vars(main)),
        "flags": [str(sys.flags), sys.dont_write_bytecode, sys.pycache_prefix, sys.warnoptions],
        "options": sys._xoptions,
        "processes": [os.getpid(), os.getppid(), os.getsid(0), os.getpgid(0), os.getpriority(0, 0)],
        "user": [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()],
        "umask": os.umask(0o022),
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in limits},
        "signals": {str(n): str(signal.getsignal(n)) for n in signal.valid_signals()},
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "descriptors": sorted(map(int, numbers)),
        "streams": [[s.name, s.encoding, s.errors, s.line_buffering, s.isatty()] for s in
            (sys.__stdin__, sys.__stdout__, sys.__stderr__)],
        "threads": [thread.name for thread in threading.enumerate()],
        "recursion": sys.getrecursionlimit(),
        "collector": [gc.isenabled(), gc.get_threshold(), gc.get_debug()],
        "locale": [locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(False)],
        "zone": [time.tzname, time.timezone],
        "finders": [str(finder) for finder in sys.meta_path],
        "hooks": [str(sys.excepthook), str(sys.unraisablehook), str(sys.gettrace())],
        "warnings": [str(found) for found in warnings.filters],
        "logging": [str(logging.root), str(logging.root.handlers), logging.root.disabled],
        "temporary": tempfile.gettempdir(),
        "pools": [multiprocessing.current_process().name, multiprocessing.active_children()],
        "hash": hash("executor"),
        "capabilities": [line for line in open("/proc/self/status") if line.startswith("Cap")],
        "module": [mod.__file__, mod.__cached__, mod.__spec__.origin, mod.__name__],
    }

def test_mirror():
    with open(os.environ["PYTEST_CURRENT_TEST"].split("::")[0] + ".json", "w") as file:
        json.dump({name: repr(value) for name, value in ask().items()}, file)
    print("MIRROR", open("test_mirror.py.json").read())
"""

ENDINGS = """
import atexit, os, sys, threading, time

def test_leaves_work_for_the_end():
    atexit.register(lambda: print("first registered, last run"))
    atexit.register(lambda: os.write(1, b"last registered, first run\\n"))
    atexit.register(lambda: 1 / 0)

    def late():
        time.sleep(0.3)
        print("the thread ended")

    threading.Thread(target=late).start()
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
"""

POOLS = """
import concurrent.futures, multiprocessing, subprocess, sys
import pytest
import mod

def double(number):
    return 2 * number * mod.VALUE

@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pool(method):
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(double, range(5))) == [0, 2, 4, 6, 8]

def test_threads():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(double, range(5))) == [0, 2, 4, 6, 8]

def test_process_object():
    process = multiprocessing.Process(target=sys.exit, args=(7,))
    process.start()
    process.join()
    assert process.exitcode == 7
"""

CONFTEST = """
import sys

def leave(where):
    with open("leave.txt") as file:
        here, _, what = file.read().partition(" ")
    if here != where:
        return
    if what == "raise":
        raise RuntimeError("from the plugin")
    sys.exit(eval(what))

def pytest_configure(config):
    leave("configure")

def pytest_sessionfinish(session):
    leave("sessionfinish")

def pytest_unconfigure(config):
    leave("unconfigure")

def pytest_collection_finish(session):
    leave("collection")
"""

FILES: dict[str, str | bytes] = {
    "test_mirror.py": MIRROR,
    "test_endings.py": ENDINGS,
    "test_pools.py": POOLS,
    "plugged/conftest.py": CONFTEST,
    "plugged/test_one.py": "def test_one(): pass\n",
    "leave.txt": "nowhere",
}


SHARED.update(FILES)


def both(sealed: Bench, *args: str, **job: Any) -> tuple[Finished, Finished]:
    numbers = [
        sealed.start(*args, executor=executor, slot=slot, **job)
        for slot, executor in enumerate(("fork", "fresh"))
    ]
    ended = dict(sealed.wait() for _ in numbers)
    return ended[numbers[0]], ended[numbers[1]]


def told(finished: Finished) -> str:
    """What the run printed, but for the time that it took."""
    return re.sub(r"in \d+\.\d\ds", "in TIME", finished.record.output)


@pytest.fixture(scope="module")
def mirrors(sealed: Bench) -> tuple[dict[str, str], dict[str, str]]:
    found = [
        json.loads(finished.record.output.partition("MIRROR ")[2].splitlines()[0])
        for finished in both(sealed, "-s", "test_mirror.py")
    ]
    return found[0], found[1]


def _questions() -> list[str]:
    return re.findall(r'^        "([a-z_ ]+)":', MIRROR, re.MULTILINE)


@pytest.mark.parametrize("question", _questions())
def test_the_process_looks_the_same(
    mirrors: tuple[dict[str, str], dict[str, str]], question: str
) -> None:
    forked, fresh = (re.sub(r"0x\w+", "ADDRESS", mirror[question]) for mirror in mirrors)
    assert forked == fresh


def test_threads_and_exit_handlers_end_the_process_the_same_way(sealed: Bench) -> None:
    forked, fresh = both(sealed, "test_endings.py")
    # The interpreter's order, as its documentation has it: threads, then handlers, the last first.
    order = ["the thread ended", "last registered, first run", "ZeroDivision", "first registered"]
    for finished in (forked, fresh):
        places = [finished.record.output.find(text) for text in order]
        assert -1 not in places, finished.record.output
        assert finished.record.exit == 0
    assert forked.record.output.count("Traceback") == fresh.record.output.count("Traceback")


def test_pools_and_child_processes_work_the_same_way(sealed: Bench) -> None:
    job = {"mutation": ("mod.py", b"VALUE = 1  # changed\n"), "attest": ("mod.py",)}
    forked, fresh = both(sealed, "test_pools.py", **job)
    assert set(outcomes(forked).values()) == {"passed"}, forked.record.output
    assert outcomes(forked) == outcomes(fresh)
    assert forked.record.attested == fresh.record.attested != ()


@pytest.mark.parametrize(
    ("leave", "code"),
    [
        ("configure 7", 3),
        ("collection 7", 3),
        ("sessionfinish 7", 7),
        ("unconfigure -1", 255),
        ("unconfigure None", 0),
        ("unconfigure 'a message'", 1),
        ("unconfigure raise", 1),
    ],
)
def test_a_plugin_that_leaves_gives_the_same_exit_code(
    sealed: Bench, leave: str, code: int
) -> None:
    job = {"mutation": ("leave.txt", leave.encode())}
    forked, fresh = both(sealed, "plugged/test_one.py", **job)
    assert [f.record.exit for f in (forked, fresh)] == [code] * 2, fresh.record.output
    assert [f.record.signal for f in (forked, fresh)] == [None] * 2
    assert outcomes(forked) == outcomes(fresh)


def test_the_report_of_a_failing_session_reads_the_same(sealed: Bench) -> None:
    job = {"mutation": ("mod.py", b"VALUE = 5\n"), "attest": ("mod.py",)}
    forked, fresh = both(sealed, "test_pools.py::test_threads", **job)
    assert told(forked) == told(fresh)
    assert forked.record.results == fresh.record.results
    assert forked.record.attested == fresh.record.attested
    assert (forked.record.exit, forked.record.finished) == (1, True)


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        (
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n",
            "importing the tests' third-party modules started 1 thread(s)",
        ),
        (
            "import importlib\nimportlib.invalidate_caches()\nimport mod\n",
            "importing the tests' third-party modules loads mod of the project",
        ),
        ("import sys\nsys.exit(5)\n", "importing library ended the interpreter (5)"),
    ],
    ids=["a thread", "the project", "the end"],
)
def test_warming_says_what_prevents_forking(tmp_path: Path, library: str, reason: str) -> None:
    outside = tmp_path / "site"
    outside.mkdir()
    (outside / "library.py").write_text(library)
    files: dict[str, str | bytes] = {"mod.py": "VALUE = 1\n", "test_mod.py": ""}
    env = (("PYTHONPATH", f"{outside}:{{home}}/project"),)
    with opened(tmp_path / "project", files, inputs=(str(outside),), env=env) as bench:
        assert bench.warm("library") == reason


def test_a_module_that_cannot_be_imported_alone_prevents_nothing(sealed: Bench) -> None:
    assert sealed.warm("no_such_module_anywhere") == ""
