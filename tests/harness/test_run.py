"""Run records as data, helper programs, and a runner whose server does not do what it should."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from harness import run
from harness.run import Attestation, Runner, RunRecord, SandboxFailed, TestResult
from tests.harness.sealed import Bench, opened

RECORD = RunRecord(
    argv=("python", "-m", "pytest", "-x"),
    environment="e" * 64,
    input="i" * 64,
    executor="fork",
    isolation="namespaces",
    exit=None,
    signal=9,
    limit="wall",
    collected=2,
    finished=False,
    results=(TestResult("test_a.py::test_a", "failed", "call", "assert 1 == 2"),),
    running="test_a.py::test_b",
    attested=(Attestation("a.py", "a" * 64),),
    collect_errors=("test_c.py: no",),
    fault="",
    output="\udcff\x00é",
    wall=1.5,
    cpu=0.25,
    peak=1 << 40,
)


def test_a_record_survives_the_way_through_json() -> None:
    assert RunRecord.from_json(json.loads(json.dumps(RECORD.to_json()))) == RECORD


def test_a_helper_program_reads_nothing_and_its_bytes_are_shown_escaped() -> None:
    code = "import sys; print(sys.stdin.read() == ''); sys.stdout.flush(); "
    code += "sys.stdout.buffer.write(b'\\xff'); sys.exit(3)"
    done = run.tool([sys.executable, "-c", code])
    assert (done.returncode, done.stdout) == (3, "True\n\\xff")


def test_a_helper_program_that_hangs_is_ended_in_time() -> None:
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r"no answer within 0\.5 s"):
        run.tool([sys.executable, "-c", "import time; time.sleep(600)"], timeout=0.5)
    assert time.monotonic() - start < 10


def test_a_helper_program_that_does_not_exist_is_an_error_with_its_name() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        run.tool(["/no-such-program"])


def test_a_program_on_this_terminal_gives_its_exit_code(tmp_path: Path) -> None:
    code = "import os, sys; sys.exit(7 if os.path.samefile('.', sys.argv[1]) else 1)"
    assert run.stream([sys.executable, "-c", code, str(tmp_path)], cwd=tmp_path) == 7


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ("def main(): raise RuntimeError('the cause')", "RuntimeError: the cause"),
        ("def main(): pass", "ended without a word"),
    ],
)
def test_a_server_that_ends_at_once_is_a_failed_sandbox_with_its_last_words(
    tmp_path: Path, server: str, said: str
) -> None:
    (tmp_path / "_hermutic_server.py").write_text(server)
    with pytest.raises(SandboxFailed, match=said):
        Runner(sys.executable, {"server_env": {}}, tmp_path)


def test_a_server_that_is_killed_in_the_middle_of_a_run_fails_that_run(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"mod.py": "", "test_mod.py": "def test_one(): pass\n"}
    with opened(tmp_path / "project", files) as bench:
        bench.start("test_mod.py", executor="fresh")
        os.kill(bench.runner._process.pid, signal.SIGKILL)
        with pytest.raises(SandboxFailed):
            bench.wait()
        with pytest.raises(SandboxFailed):
            bench.start("test_mod.py")


def test_a_runner_knows_how_many_runs_are_under_way(sealed: Bench) -> None:
    assert sealed.runner.under_way == 0
    sealed.start("test_quiet.py::no_such_test", slot=0)
    sealed.start("test_quiet.py::no_such_test", slot=1)
    assert sealed.runner.under_way == 2
    assert [sealed.wait()[1].record.exit for _ in range(2)] == [4, 4]
    assert sealed.runner.under_way == 0
