"""The server: it leaks nothing, outlives nobody, and says why when a sandbox cannot be made."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.run import SandboxFailed
from harness.sandbox import COPY, NAMESPACES
from tests.harness.sealed import SHARED, Bench, children, marked, opened, outcomes, write

ROOT = Path(__file__).parents[3]
MARKER = f"hermutic-server-{os.getpid()}"
TESTS = """
import os, subprocess, sys, time
import mod

def test_value():
    assert mod.VALUE == 1

def test_hang():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "MARKER"])
    time.sleep(600)

def test_prints():
    print("x" * 100_000)

def test_says_when():
    began = time.monotonic()
    time.sleep(0.3)
    raise ValueError(f"{began} {time.monotonic()}")
""".replace("MARKER", MARKER)
FILES: dict[str, str | bytes] = {"mod.py": "VALUE = 1\n", "test_mod.py": TESTS}
STEADY = 3  # the two servers, and the maker of networks
SECONDS = 20.0  # for what takes a tenth of a second on an idle machine


def until(condition: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {SECONDS:g} s"
        time.sleep(0.02)


SHARED["test_server.py"] = TESTS


def _open(pids: list[int]) -> list[int]:
    return [len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids]


def _zombies(pids: list[int]) -> list[int]:
    inner = [child for pid in pids for child in children(pid)]
    return [pid for pid in inner if ") Z " in Path(f"/proc/{pid}/stat").read_text()]


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_many_runs_leave_no_descriptor_no_process_and_no_memory(sealed: Bench) -> None:
    def some(count: int) -> None:
        for number in range(count):
            sealed.start("test_server.py::test_prints", slot=number % 2)
        for _ in range(count):
            assert sealed.wait()[1].record.exit == 0

    some(6)

    def is_quiet() -> bool:
        """After the steady ones come the two processes that are ready for the next run."""
        return len(sealed.servers()) == STEADY + 2

    until(is_quiet, "processes of the first runs are left")
    pids = sealed.servers()[:STEADY]
    descriptors, memory = _open(pids), [_resident(pid) for pid in pids]
    some(24)
    until(is_quiet, "processes of the other runs are left")
    assert sealed.servers()[:STEADY] == pids
    assert _open(pids) == descriptors
    assert _zombies(pids) == []
    # The server keeps nothing of a run; what Python's allocator may hold back is a few pages.
    assert all(
        now - before < 2 << 20 for before, now in zip(memory, map(_resident, pids), strict=True)
    )


def test_a_runs_first_process_that_dies_is_the_instruments_fault(sealed: Bench) -> None:
    sealed.start("test_server.py::test_hang")
    until(lambda: marked(MARKER), "the run did not start")
    _, server = sealed.servers()[:2]
    # Not the one that is ready for the next run, which has a process as well.
    (init,) = (
        pid
        for pid in children(server)
        if any(set(children(tests)) & set(marked(MARKER)) for tests in children(pid))
    )
    os.kill(init, signal.SIGKILL)
    record = sealed.wait()[1].record
    assert record.fault == f"the run's first process ended with {int(signal.SIGKILL)}"
    assert marked(MARKER) == []
    assert outcomes(sealed.run("test_server.py::test_value")) == {"test_value": "passed"}


# A command that starts a run which would go on for ten minutes, and then waits for its own end.
COMMAND = """
import os, sys, time
from pathlib import Path
from tests.harness.sealed import opened

files = {"mod.py": "VALUE = 1", "test_mod.py": Path(sys.argv[2]).read_text()}
with opened(Path(sys.argv[1]), files, isolation=sys.argv[3]) as bench:
    bench.start("test_mod.py::test_hang", executor="fresh")
    print(bench.sandbox.spec["base"], flush=True)
    bench.wait()
"""


@pytest.mark.parametrize("isolation", [NAMESPACES, COPY])
def test_nothing_outlives_a_command_that_is_killed(tmp_path: Path, isolation: str) -> None:
    write(tmp_path, {"tests.txt": TESTS})
    arguments = [str(tmp_path / "project"), str(tmp_path / "tests.txt"), isolation]
    command = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(COMMAND), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    assert command.stdout is not None
    base = command.stdout.readline().decode().strip()
    until(lambda: marked(MARKER), "the run did not start")
    command.kill()
    command.wait()
    command.stdout.close()
    until(lambda: marked(MARKER) + marked(str(tmp_path)) == [], "processes are left")
    until(lambda: not base or not Path(base).exists(), "the copied trees are left")


def test_a_copied_tree_is_removed_with_its_runs(tmp_path: Path) -> None:
    with opened(tmp_path / "project", FILES, isolation=COPY) as bench:
        base = Path(bench.sandbox.spec["base"])
        assert (base / "project/mod.py").read_text() == "VALUE = 1\n"
        bench.start("test_mod.py::test_value", executor="fresh")
    assert not base.exists()
    assert marked(str(base)) == []


def test_ignored_signals_of_the_command_are_not_ignored_in_a_run(tmp_path: Path) -> None:
    """As under nohup, or below a shell that has ignored SIGCHLD."""
    tests = """
        import os, signal, subprocess

        def test_signals():
            ignored = {n for n in signal.valid_signals() if signal.getsignal(n) == signal.SIG_IGN}
            assert ignored == {signal.SIGPIPE, signal.SIGXFSZ}
            assert subprocess.call(["false"]) == 1
    """
    numbers = (signal.SIGHUP, signal.SIGCHLD, signal.SIGQUIT, signal.SIGUSR1)
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in numbers]
    try:
        with opened(tmp_path / "project", {"mod.py": "", "test_mod.py": tests}) as bench:
            finished = bench.run("test_mod.py", executor="fresh")
    finally:
        for number, handler in before:
            signal.signal(number, handler)
    assert outcomes(finished) == {"test_signals": "passed"}, finished.record.output


# Each makes one thing fail in the server, as a locked-down system would.
REFUSALS = {
    "overlay": (
        "kernel.mount = lambda source, target, kind='', flags=0, data='': _mount("
        "source, target, 'no-such-overlay' if kind == 'overlay' else kind, flags, data)",
        r"mount no-such-overlay on .*: No such device",
    ),
    "proc": (
        "kernel.mount = lambda source, target, kind='', flags=0, data='': _mount("
        "source, target, 'no-such-proc' if kind == 'proc' else kind, flags, data)",
        r"mount no-such-proc on .*: No such device",
    ),
    "namespaces": (
        "kernel.unshare = lambda flags: kernel._check(kernel._libc.unshare(-1), 'unshare')",
        r"unshare: Invalid argument",
    ),
    "networks": (
        "kernel.unshare = lambda flags: _unshare(-1 if flags == kernel.CLONE_NEWNET else flags)",
        r"network namespace: .*unshare: Invalid argument",
    ),
}


@pytest.mark.parametrize("refused", REFUSALS)
def test_a_sandbox_that_cannot_be_made_says_what_was_refused(
    tmp_path: Path, refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch, said = REFUSALS[refused]
    probe = tmp_path / "probe"
    patched_probe(probe, f"import _hermutic_kernel as kernel\n{patch}\n")
    monkeypatch.setattr("harness.sandbox.PROBE", probe)
    with pytest.raises(SandboxFailed, match=said), opened(tmp_path / "project", FILES):
        pass


def patched_probe(folder: Path, patch: str) -> None:
    """A copy of the probe whose kernel module ends in ``patch``."""
    folder.mkdir()
    for path in (ROOT / "harness/probe").glob("_hermutic*.py"):
        text = path.read_text()
        if path.name == "_hermutic_kernel.py":
            text += f"\nimport sys\n_mount, _unshare = mount, unshare\n{patch}"
        (folder / path.name).write_text(text)


def test_a_run_made_ready_begins_only_when_a_worker_is_free(sealed: Bench) -> None:
    jobs = sealed.sandbox.spec["jobs"]
    for _ in range(jobs + 2):
        sealed.start("test_server.py::test_says_when")
    times = []
    for _ in range(jobs + 2):
        (result,) = sealed.wait()[1].record.results
        began, ended = result.message.removeprefix("ValueError: ").split()
        times += [(float(began), 1), (float(ended), -1)]
    under_way = [sum(step for _, step in sorted(times)[: n + 1]) for n in range(len(times))]
    assert max(under_way) == jobs
