"""What a run can see, write and reach: each line of the design's sandbox, tried from inside."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import loading, run, sandbox
from harness.events import Finished
from harness.mutant import sha256
from tests.harness.sealed import SCRATCH, SHARED, Bench, opened, outcomes, this_python, write

MUTATED = b"VALUE = 2\n"
PASSED = "passed"

# Tried from inside; each test is one fact, and asserts it itself.
FACTS = """
import hashlib, importlib.metadata, importlib.util, json, locale, os, pathlib, pwd, socket, sys
import stat, subprocess, tempfile, time
import pytest

OUTSIDE = json.loads(pathlib.Path("outside.json").read_text())

def mounted(path):
    return os.stat(path).st_dev

def test_the_working_folder_is_the_projects_own_view():
    assert os.getcwd() == "/hermutic/project"
    assert os.path.dirname(__file__) == "/hermutic/project"

def test_no_file_of_the_users_is_there():
    assert [path for path in OUTSIDE["private"] if os.path.lexists(path)] == []

def test_nothing_but_the_interpreter_lies_in_peoples_folders():
    found = []
    for top in ("/home", "/root", "/work", "/srv", "/opt", "/mnt", "/media", "/var", "/run"):
        for folder, _, files in os.walk(top):
            within = [path for path in OUTSIDE["shown"] if (folder + "/").startswith(path + "/")]
            if not within:
                found += [folder + "/" + file for file in files]
    assert found == []

def test_the_parent_folder_holds_nothing_that_pytest_reads(request):
    names = {"conftest.py", "pytest.ini", ".env", "tox.ini", "setup.cfg", "pyproject.toml"}
    for folder in ("/hermutic", "/"):
        assert names.isdisjoint(os.listdir(folder))
    assert request.config.inipath is None

@pytest.mark.parametrize("folder", ["/usr", "/etc", "/", "/var", "/run", "/dev", "/sys/kernel",
    sys.prefix, sys.base_prefix, os.path.dirname(pytest.__file__), "/proc/sys/kernel"])
def test_system_folders_are_read_only(folder):
    with pytest.raises(OSError) as caught:
        open(folder + "/hermutic-writes", "w")
    assert caught.value.errno in (30, 13, 2), caught.value  # read-only, not allowed, no such file
    if folder == "/proc/sys/kernel":
        with pytest.raises(OSError):
            open("/proc/sys/kernel/printk", "w")

def test_not_even_root_can_make_them_writable_again():
    for folder in ("/etc", "/", "/proc/sys"):
        done = subprocess.run(["mount", "-o", "remount,rw,bind", folder], capture_output=True)
        assert done.returncode != 0
    with pytest.raises(OSError):
        os.mknod("/dev/hermutic-disk", stat.S_IFBLK | 0o600, os.makedev(8, 0))
    with pytest.raises(OSError):
        time.clock_settime(time.CLOCK_REALTIME, time.time())

@pytest.mark.parametrize("folder", ["/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~"),
    tempfile.gettempdir(), "."])
def test_its_own_folders_can_be_written_to(folder):
    path = pathlib.Path(folder, "mine")
    path.write_text("x")
    assert path.read_text() == "x"
    path.unlink()

def test_home_is_empty_and_nobodys():
    assert os.environ["HOME"] == "/hermutic/home"
    assert os.listdir(os.environ["HOME"]) == []

def test_the_hosts_loopback_server_cannot_be_reached():
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", OUTSIDE["port"]), timeout=2)

def test_an_abstract_socket_of_the_host_cannot_be_reached():
    with socket.socket(socket.AF_UNIX) as mine, pytest.raises(ConnectionRefusedError):
        mine.connect("\\0" + OUTSIDE["abstract"])

def test_no_other_machine_can_be_reached():
    with pytest.raises(OSError) as caught:
        socket.create_connection(("192.0.2.1", 80), timeout=2)
    assert caught.value.errno == 101, "network is unreachable, said at once"

def test_loopback_is_the_only_interface():
    assert [name for _, name in socket.if_nameindex()] == ["lo"]

def test_its_own_loopback_server_can_be_reached():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname(), timeout=2):
            server.accept()[0].close()

def test_standard_input_is_empty():
    assert os.readlink("/proc/self/fd/0") == "/dev/null"
    assert os.read(0, 1) == b""

def test_no_terminal_controls_it():
    with pytest.raises(OSError):
        os.open("/dev/tty", os.O_RDWR)
    assert os.getsid(0) == os.getpgid(0) == os.getpid()

def test_no_descriptor_of_ours_is_open():
    names = {os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")
             if os.path.lexists(f"/proc/self/fd/{n}")}
    assert not [name for name in names if name.startswith(("socket:", "pipe:", "net:", "pid:"))]

def test_no_other_process_is_seen():
    assert {int(name) for name in os.listdir("/proc") if name.isdigit()} == {1, os.getpid()}

def test_the_environment_is_fixed():
    given = {"PATH", "HOME", "TMPDIR", "TZ", "LANG", "LC_ALL", "PYTHONHASHSEED",
        "PYTHONNOUSERSITE", "PYTHONPYCACHEPREFIX", "VIRTUAL_ENV"}
    added = {name for name in os.environ if name.startswith("PYTEST_")}
    assert set(os.environ) - added - given == set()

def test_the_hash_seed_is_zero():
    assert hash("seal") == OUTSIDE["hash"]

def test_the_time_zone_is_utc():
    assert time.tzname == ("UTC", "UTC") and time.localtime(0).tm_hour == 0

def test_the_locale_is_plain_utf_8():
    assert os.environ["LC_ALL"] == "C.UTF-8"
    assert locale.getpreferredencoding(False).lower().replace("-", "") == "utf8"
    assert sys.getfilesystemencoding() == "utf-8"

def test_the_host_has_a_fixed_name():
    assert socket.gethostname() == "localhost"

def test_the_mask_of_new_files_is_fixed():
    before = os.umask(0)
    os.umask(before)
    assert before == 0o022

def test_the_user_is_the_one_who_asked():
    assert [os.getuid(), os.getgid()] == OUTSIDE["user"]

def test_nothing_of_ours_can_be_imported_but_the_probe():
    for name in ("harness", "gate", "tests", "libcst_is_not_ours"):
        assert importlib.util.find_spec(name) is None

def test_no_user_site_is_used():
    assert not [path for path in sys.path if ".local" in path]
"""

WRITES = """
import os

def folders():
    for top in os.listdir("/"):
        for folder, inner, _ in os.walk("/" + top):
            if folder.startswith(("/proc", "/sys")) or folder.count("/") > 3:
                inner.clear()
            else:
                yield folder

def test_write_wherever_it_goes():
    written = []
    for folder in folders():
        try:
            with open(folder + "/hermutic-was-here", "w") as file:
                file.write("x")
            written.append(folder)
        except OSError:
            pass
    assert {"/tmp", "/var/tmp", "/dev/shm", "/hermutic/home", os.getcwd()} <= set(written)
    with open("keep.txt", "a") as file:
        file.write("changed")
    os.unlink("gone.txt")

def test_nothing_is_left():
    found = [path for path in folders() if os.path.lexists(path + "/hermutic-was-here")]
    assert found == []
    assert open("keep.txt").read() == "kept" and open("gone.txt").read() == "there"
"""

MUTATION = """
import inspect, multiprocessing, os, pathlib, runpy, subprocess, sys
import mod

def show():
    import mod
    return mod.VALUE

def test_import():
    assert mod.VALUE == 2

def test_a_subprocess():
    for options in ([], ["-I"], ["-B"], ["-E"]):
        code = "import sys; sys.path.insert(0, '.'); import mod; print(mod.VALUE)"
        done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True)
        assert done.stdout == b"2\\n", done

def test_a_script():
    assert subprocess.run([sys.executable, "mod.py"], capture_output=True).stdout == b""
    assert runpy.run_path("mod.py")["VALUE"] == 2
    assert runpy.run_module("mod")["VALUE"] == 2

def test_its_source():
    assert inspect.getsource(mod) == "VALUE = 2\\n"

def test_a_file_beside_it():
    assert pathlib.Path(mod.__file__).with_name("data.txt").read_text() == "data"

def test_pools():
    for method in ("spawn", "fork"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.apply(show) == 2

def test_without_the_bytecode_prefix():
    code = "import sys; sys.path.insert(0, '.'); import mod; print(mod.VALUE, sys.pycache_prefix)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env={})
    assert done.stdout == b"2 None\\n", done
"""

SCRATCH_TESTS = f"""
import os, pytest

def test_fill():
    with open("/tmp/large", "wb") as file:
        while True:
            file.write(bytes(1 << 20))

@pytest.mark.parametrize("number", range(200))
def test_after(number):
    assert os.path.getsize("/tmp/large") <= {SCRATCH}
"""

# Whatever the mutant's file is, it has the time stamp that the clean file's bytecode names.
PINNED = """
import os
os.utime(os.path.join(os.path.dirname(__file__), "pinned.py"), (1_700_000_000,) * 2)
"""
PINNED_TESTS = """
import os, pinned

def test_value():
    assert int(os.stat(pinned.__file__).st_mtime) == 1_700_000_000
    assert pinned.VALUE == 1
"""

PORT = """
import socket, time

def test_a_fixed_port():
    with socket.create_server(("127.0.0.1", 47123)) as server:
        print("from", time.monotonic())
        with socket.create_connection(("127.0.0.1", 47123), timeout=2):
            server.accept()[0].close()
        time.sleep(1)
        print("to", time.monotonic())
"""


SHARED.update(
    {
        "outside.json": "{}",
        "test_facts.py": FACTS,
        "test_writes.py": WRITES,
        "test_mutation.py": MUTATION,
        "test_port.py": PORT,
        "test_scratch.py": SCRATCH_TESTS,
        "data.txt": "data",
        "keep.txt": "kept",
        "gone.txt": "there",
        "__pycache__/mod.cpython-311.pyc": b"no bytecode",
        "pinned/conftest.py": PINNED,
        "pinned/pinned.py": "VALUE = 1\n",
        "pinned/test_pinned.py": PINNED_TESTS,
    }
)


@pytest.fixture(scope="module")
def listening() -> Iterator[dict[str, Any]]:
    """Servers on this machine, which no run may reach."""
    name = f"hermutic-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind("\0" + name)
        local.listen()
        yield {"port": server.getsockname()[1], "abstract": name}


@pytest.fixture(scope="module")
def outside(sealed: Bench, listening: dict[str, Any]) -> bytes:
    """What the facts are compared with: things of this machine that no run may see."""
    parent = sealed.root.parent
    # Hostile neighbours: each of them would change the outcome of an ordinary pytest run.
    hostile = "raise SystemExit('a file beside the project was read')\n"
    write(parent, {"conftest.py": hostile, "pytest.ini": "[pytest]\naddopts = --nonsense\n"})
    write(parent, {".env": "PYTEST_ADDOPTS=--nonsense\n", "secret.txt": "secret"})
    return json.dumps(
        {
            **listening,
            "private": [str(parent / "secret.txt"), str(sealed.root), *_home()],
            "shown": [sys.prefix, sys.base_prefix],
            "user": [os.getuid(), os.getgid()],
            "hash": _hash_with_seed_zero("seal"),
        }
    ).encode()


def _home() -> list[str]:
    """What lies in the user's home, but for what leads to the interpreter."""
    prefixes = (f"{sys.prefix}/", f"{sys.base_prefix}/")
    found = [str(path) for path in Path.home().iterdir()]
    return [path for path in found if not any(p.startswith(path + "/") for p in prefixes)]


def _hash_with_seed_zero(text: str) -> int:
    code = f"print(hash({text!r}))"
    env = {"PYTHONHASHSEED": "0"}
    return int(
        subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, check=True
        ).stdout
    )


def _facts() -> list[str]:
    lines = FACTS.splitlines()
    return [
        line.split("(")[0].removeprefix("def ") for line in lines if line.startswith("def test")
    ]


@pytest.fixture(scope="module", params=["fork", "fresh"])
def facts(sealed: Bench, outside: bytes, request: pytest.FixtureRequest) -> Finished:
    written = ("outside.json", outside)
    return sealed.run("test_facts.py", executor=request.param, mutation=written)


@pytest.mark.parametrize("fact", _facts())
def test_inside_the_sandbox(facts: Finished, fact: str) -> None:
    found = {
        name: outcome for name, outcome in outcomes(facts).items() if name.split("[")[0] == fact
    }
    assert found, facts.record.output
    assert set(found.values()) == {PASSED}, found


def test_what_one_run_writes_no_other_run_and_no_user_sees(sealed: Bench) -> None:
    before = _tree(sealed.root.parent)
    for name in ("test_write_wherever_it_goes", "test_nothing_is_left"):
        finished = sealed.run(f"test_writes.py::{name}")
        assert outcomes(finished) == {name: PASSED}, finished.record.output
    assert _tree(sealed.root.parent) == before


def _tree(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("executor", ["fork", "fresh"])
def test_the_mutated_file_is_on_disk_for_whoever_looks(sealed: Bench, executor: str) -> None:
    job = {"mutation": ("mod.py", MUTATED), "attest": ("mod.py",)}
    finished = sealed.run("test_mutation.py", executor=executor, **job)
    assert set(outcomes(finished).values()) == {PASSED}, finished.record.output
    assert [(a.path, a.sha256) for a in finished.record.attested] == [("mod.py", sha256(MUTATED))]


def test_the_next_run_is_clean_again(sealed: Bench) -> None:
    sealed.run("test_mutation.py::test_import", mutation=("mod.py", MUTATED))
    finished = sealed.run("test_mutation.py::test_import", attest=("mod.py",))
    assert outcomes(finished)["test_import"].startswith("failed")
    assert finished.record.attested[0].sha256 == sha256(b"VALUE = 1\n")


def test_two_runs_at_once_can_serve_on_the_same_port(sealed: Bench) -> None:
    for slot in (0, 1):
        sealed.start("-s", "test_port.py", slot=slot)
    finished = [sealed.wait()[1] for _ in range(2)]
    assert [outcomes(f) for f in finished] == [{"test_a_fixed_port": PASSED}] * 2
    words = [f.record.output.split() for f in finished]
    spans = [[float(w[w.index(word) + 1]) for word in ("from", "to")] for w in words]
    assert max(start for start, _ in spans) < min(end for _, end in spans), "they did not overlap"


def test_bytecode_with_the_mutants_size_and_time_is_never_run(sealed: Bench) -> None:
    job: dict[str, Any] = {"executor": "fresh", "attest": ("pinned/pinned.py",)}
    seed = sealed.run("pinned", seed=True, **job)
    again = sealed.run("pinned", **job)
    assert outcomes(seed) == outcomes(again) == {"test_value": PASSED}
    assert seed.record.attested
    assert not again.record.attested, "nothing was compiled: the bytecode was found"
    mutant = sealed.run("pinned", mutation=("pinned/pinned.py", MUTATED), **job)
    assert outcomes(mutant)["test_value"].startswith("failed assert 2 == 1")
    assert mutant.record.attested[0].sha256 == sha256(MUTATED)


def test_what_the_mutant_compiled_never_becomes_clean_bytecode(sealed: Bench) -> None:
    for _ in range(2):
        sealed.run("test_mutation.py::test_import", executor="fresh", mutation=("mod.py", MUTATED))
    finished = sealed.run("test_mutation.py::test_import", executor="fresh", attest=("mod.py",))
    assert outcomes(finished)["test_import"].startswith("failed assert 1 == 2")


def test_our_own_packages_are_hidden_where_they_are_installed(tmp_path: Path) -> None:
    """As when Hermutic is installed in the tests' own environment."""
    hidden = Path(pytest.__file__).parent.parent / "pluggy"  # stands in for our package there
    files: dict[str, str | bytes] = {"mod.py": "VALUE = 1\n", "test_mod.py": ""}
    with opened(tmp_path / "project", files, spec={"masks": [str(hidden)]}) as bench:
        finished = bench.run("test_mod.py", executor="fresh")
    assert finished.record.exit == 1
    assert "pluggy" in finished.record.output, finished.record.output


def test_a_source_that_changes_while_the_run_starts_is_refused(tmp_path: Path) -> None:
    root = write(tmp_path / "project", {"mod.py": "VALUE = 1\n", "test_mod.py": ""})
    loaded = loading.load(root, python=sys.executable)
    digests = {path: sha256((root / path).read_bytes()) for path in loaded.files}
    described = sandbox.describe(loaded, this_python(), digests, "namespaces", 1)
    write(root, {"mod.py": "VALUE = 3\n"})
    with pytest.raises(run.SandboxFailed, match=r"mod\.py changed while the run was starting"):
        run.Runner(described.python, described.spec, sandbox.PROBE)


def test_scratch_space_has_an_end_and_the_run_says_so(sealed: Bench) -> None:
    finished = sealed.run("test_scratch.py")
    found = outcomes(finished)
    assert found["test_fill"].startswith("failed OSError: [Errno 28]"), finished.record.output
    assert [found.get(f"test_after[{number}]") for number in range(200)] == [PASSED] * 200
    assert (finished.record.exit, finished.record.finished) == (1, True)
