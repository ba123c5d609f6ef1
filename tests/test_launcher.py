"""The launcher with stand-in interpreters: what it says, where it writes, what it passes on."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A Python that runs the probe for real but says that it is itself the base interpreter, and whose
# environments hold a script in place of an interpreter.
INTERPRETER = """#!/bin/sh
echo "python $*" | head -n 1 >> '{calls}'
case "$*" in
*hashlib*) exec '{real}' -c '
import subprocess, sys
out = subprocess.check_output(["{real}"] + sys.argv[1:]).decode().split()
print("\\n".join(["{version}" or out[0], "{me}", out[-1]]))' "$@" ;;
*"import venv"*) exit {ensurepip} ;;
*"-m venv "*) mkdir -p "$4/bin" && cp '{environment}' "$4/bin/python" ;;
*) exec '{real}' "$@" ;;
esac
"""
# What stands in for the environment's interpreter: pip does nothing (after a delay), all else is
# written down: the arguments, the working directory and the environment.
ENVIRONMENT = """#!/bin/sh
case "$*" in
*"-m pip"*) echo pip install >> '{calls}'; sleep {delay}; exit 0 ;;
esac
pwd > '{seen}.cwd'
env > '{seen}.env'
for argument in "$@"; do printf '%s\\n' "<$argument>"; done > '{seen}.argv'
{then}
"""


class Machine:
    """A home, a PATH and a copy of the checkout under one temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        self.calls = folder / "calls"
        self.seen = folder / "seen"
        self.checkout = folder / "a check-out é"
        self.checkout.mkdir()
        for name in ("hermutic", "requirements.lock", "requirements-dev.lock"):
            shutil.copy(ROOT / name, self.checkout)
        for tool in ("sh", "dirname", "readlink", "sed", "mkdir", "rm", "grep", "head", "tail"):
            found = shutil.which(tool)
            assert found
            (self.bin / tool).symlink_to(found)
        for tool in ("cp", "sleep", "env", "cat"):
            (self.bin / tool).symlink_to(str(shutil.which(tool)))

    def python(
        self,
        name: str = "python3",
        *,
        version: str = "",
        ensurepip: int = 0,
        delay: float = 0,
        then: str = "",
    ) -> Path:
        script = self.bin / name
        environment = self.folder / f"{name}-environment"
        self.write(
            environment,
            ENVIRONMENT.format(calls=self.calls, delay=delay, seen=self.seen, then=then),
        )
        self.write(
            script,
            INTERPRETER.format(
                calls=self.calls,
                real=sys.executable,
                version=version,
                me=script,
                ensurepip=ensurepip,
                environment=environment,
            ),
        )
        return script

    @staticmethod
    def write(path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        return {"PATH": str(self.bin), "HOME": str(self.home), **more}

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.checkout / "hermutic", *arguments],
            env=self.environment(more),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def argv(self) -> list[str]:
        return [line[1:-1] for line in Path(f"{self.seen}.argv").read_text().splitlines()]

    def count(self, call: str) -> int:
        return sum(call in line for line in self.calls.read_text().splitlines())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_first_use_says_one_line_and_later_uses_say_nothing(machine: Machine) -> None:
    machine.python()
    first = machine.run("list")
    assert (first.returncode, first.stdout) == (0, "")
    assert len(first.stderr.splitlines()) == 1
    assert "setting up in" in first.stderr
    second = machine.run("list")
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert machine.count("pip install") == 1


def test_arguments_and_working_directory_reach_the_command_as_they_are(machine: Machine) -> None:
    machine.python()
    machine.run("run", "a b", "", "*", "--only", "x:1-2")
    assert machine.argv()[-5:] == ["a b", "", "*", "--only", "x:1-2"]
    assert Path(f"{machine.seen}.cwd").read_text().strip() == str(machine.folder)


def test_the_environment_of_the_command_does_not_name_the_checkout(machine: Machine) -> None:
    machine.python()
    machine.run("list", PYTHONPATH="/somewhere")
    seen = Path(f"{machine.seen}.env").read_text().splitlines()
    assert "PYTHONPATH=/somewhere" in seen  # the tests' own affair: passed on, not used by -I
    assert [line for line in seen if str(machine.checkout) in line and line[:2] != "_="] == []
    assert "-I" in machine.argv()


def test_nothing_is_written_outside_the_cache(machine: Machine) -> None:
    machine.python()
    before = sorted(machine.checkout.rglob("*"))
    machine.run("list")
    assert sorted(machine.checkout.rglob("*")) == before
    assert [path.name for path in machine.home.iterdir()] == [".cache"]
    assert [path.name for path in (machine.home / ".cache").iterdir()] == ["hermutic"]


def test_xdg_cache_home_is_used_when_absolute_and_ignored_when_relative(machine: Machine) -> None:
    machine.python()
    machine.run("list", XDG_CACHE_HOME=str(machine.folder / "elsewhere"))
    assert (machine.folder / "elsewhere" / "hermutic").is_dir()
    machine.run("list", XDG_CACHE_HOME="relative")
    assert not (machine.folder / "relative").exists()
    assert (machine.home / ".cache" / "hermutic").is_dir()


def test_a_link_to_the_launcher_finds_the_checkout(machine: Machine) -> None:
    machine.python()
    (machine.bin / "hermutic").symlink_to("../a check-out é/hermutic")
    done = subprocess.run(
        [machine.bin / "hermutic", "list"], env=machine.environment({}), check=False
    )
    assert done.returncode == 0
    assert machine.argv()[-2:] == [str(machine.checkout), "list"]


def test_the_exit_code_is_the_commands_own(machine: Machine) -> None:
    machine.python(then="exit 3")
    assert machine.run("run").returncode == 3


def test_two_first_uses_at_once_set_up_once_and_both_run(machine: Machine) -> None:
    machine.python(delay=0.5)
    both = [machine.start("list"), machine.start("list")]
    said = "".join(process.communicate(timeout=60)[1] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert said.count("setting up in") == 1
    assert machine.count("pip install") == 1


def test_a_set_up_killed_half_way_is_made_anew(machine: Machine) -> None:
    machine.python(delay=30)
    process = machine.start("list")
    deadline = time.monotonic() + 30
    while not (machine.calls.exists() and machine.count("pip install")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    machine.python()
    again = machine.run("list")
    assert again.returncode == 0
    assert "setting up in" in again.stderr


def test_a_changed_lock_gets_an_environment_of_its_own(machine: Machine) -> None:
    machine.python()
    machine.run("list")
    with (machine.checkout / "requirements.lock").open("a") as lock:
        lock.write("# changed\n")
    assert "setting up in" in machine.run("list").stderr


def test_selftest_uses_the_development_lock_and_passes_arguments_to_pytest(
    machine: Machine,
) -> None:
    machine.python()
    machine.run("list")
    done = machine.run("selftest", "-k", "one thing")
    assert "setting up in" in done.stderr
    assert machine.argv()[-2:] == ["-k", "one thing"]
    assert "pytest" in machine.argv()
    assert Path(f"{machine.seen}.cwd").read_text().strip() == str(machine.checkout)


def test_dev_runs_a_module_of_the_development_environment(machine: Machine) -> None:
    machine.python()
    machine.run("dev", "ruff", "check")
    assert machine.argv()[-3:] == ["-m", "ruff", "check"]
    assert machine.run("dev").returncode == 2


def test_an_old_python3_is_passed_over_for_a_newer_one(machine: Machine) -> None:
    machine.python(version="3.10.13")
    newer = machine.python("python3.12", version="3.12.1")
    assert machine.run("list").returncode == 0
    assert f"venv {machine.home}" in machine.calls.read_text()
    assert machine.count("-m venv") == 1
    assert newer.exists()


@pytest.mark.parametrize("version", ["2.7.18", "3.10.13", "3.15.0", "4.0.0"])
def test_a_python_out_of_range_is_named_with_its_version(machine: Machine, version: str) -> None:
    machine.python(version=version)
    done = machine.run("list")
    assert done.returncode == 4
    assert done.stderr == (
        f"hermutic: could not find a Python 3.11 to 3.14: 'python3' is {version}; "
        "install one, or set HERMUTIC_PYTHON to its path\n"
    )


def test_no_python_at_all_is_said(machine: Machine) -> None:
    done = machine.run("list")
    assert done.returncode == 4
    assert "no python3 on PATH runs" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_hermutic_python_is_the_only_one_tried(machine: Machine) -> None:
    machine.python()
    done = machine.run("list", HERMUTIC_PYTHON="/no/such/python")
    assert done.returncode == 2
    assert "HERMUTIC_PYTHON='/no/such/python'" in done.stderr
    old = machine.python("old", version="3.9.18")
    done = machine.run("list", HERMUTIC_PYTHON=str(old))
    assert done.returncode == 2
    assert "it is Python 3.9.18" in done.stderr


def test_a_python_without_ensurepip_is_told_which_package_brings_it(machine: Machine) -> None:
    script = machine.python(version="3.11.2", ensurepip=1)
    done = machine.run("list")
    assert done.returncode == 4
    assert done.stderr == (
        f"hermutic: could not make an environment with '{script}': its venv or ensurepip module "
        "is missing; install it (Debian, Ubuntu: apt-get install python3.11-venv)\n"
    )


def test_a_cache_that_cannot_be_written_is_named(machine: Machine) -> None:
    machine.python()
    (machine.folder / "file").touch()
    where = str(machine.folder / "file" / "cache")
    done = machine.run("list", XDG_CACHE_HOME=where)
    assert done.returncode == 4
    assert f"could not write to the cache directory '{where}/hermutic'" in done.stderr
    assert "set XDG_CACHE_HOME" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_no_home_and_no_cache_directory_is_said(machine: Machine) -> None:
    machine.python()
    done = subprocess.run(
        [machine.checkout / "hermutic", "list"],
        env={"PATH": str(machine.bin)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert "set XDG_CACHE_HOME to a folder that you can write" in done.stderr


def test_an_index_that_does_not_answer_is_called_no_network(machine: Machine) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    done = machine.run(
        "list",
        HERMUTIC_PYTHON=sys.executable,
        PIP_CONFIG_FILE=os.devnull,
        PIP_INDEX_URL=f"http://127.0.0.1:{port}/simple",
        PIP_NO_CACHE_DIR="1",
        PIP_RETRIES="0",
    )
    assert done.returncode == 4
    set_up, failure = done.stderr.splitlines()
    assert "setting up in" in set_up
    assert "could not install requirements.lock into" in failure
    assert "no answer from pip's package index (no network?)" in failure
    assert "pip config list" in failure


def test_the_real_command_runs_and_leaves_the_checkout_out_of_every_path(machine: Machine) -> None:
    machine.python(then=f"exec '{sys.executable}' \"$@\"")
    for name in ("gate", "harness"):
        shutil.copytree(ROOT / name, machine.checkout / name, ignore=_no_bytecode)
    done = machine.run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("hermutic ")
    assert list(machine.checkout.rglob("__pycache__")) == []


def _no_bytecode(_folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]
