"""Turns a mutant's bytes into the exit code of the whole suite, in a tree that is clean before."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue

WORKERS = 2
# These suites take about a second: thirty are a hang even where the machine is busy elsewhere.
SECONDS = 30.0
CLEAN_SECONDS = 600.0
# Address space in KiB for each process: a mutant that allocates without bound ends there.
MEMORY = 4 << 20
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".git", ".hermutic", ".*_cache", ".venv")
CANARY = b"raise RuntimeError('the canary: whoever imports this module fails')\n"
PROGRESS = 25  # runs from one line of progress to the next

# What of the environment an exit code may depend on.
INSTALLED = (
    "import sys; from importlib import metadata as m; print(sys.version); "
    "print(sorted((d.metadata['Name'], d.version) for d in m.distributions()))"
)


class Broken(Exception):
    """The oracle cannot say anything: why, and what to do."""


@dataclass(frozen=True, slots=True)
class Target:
    """A project as its settings describe it; ``folder`` is what the command is given for it."""

    name: str
    folder: Path
    root: Path
    python: Path
    tests: tuple[str, ...]
    arguments: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Case:
    """One mutant: the bytes that are to be written to ``path``. ``suppressed``: why, or None."""

    id: str
    path: str
    digest: str
    data: bytes
    suppressed: str | None


@dataclass(frozen=True, slots=True)
class Worker:
    """A copy of the tree that one run at a time uses. ``clean`` is its contents before a run."""

    target: Target
    folder: Path
    clean: Mapping[str, str]

    @property
    def tree(self) -> Path:
        return self.folder / self.target.root.name


class Memory:
    """The exit codes of earlier calls: one line each in a file, so an interrupted one goes on."""

    def __init__(self, target: Target, file: Path) -> None:
        said = subprocess.run(
            [str(target.python), "-I", "-c", INSTALLED], stdout=subprocess.PIPE, check=True
        ).stdout.decode()
        given = [contents(target.root), said, target.tests, target.arguments, dict(target.env)]
        self._context = json.dumps(given, sort_keys=True)
        self._file = file
        self._lock = threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        self._known = dict(
            json.loads(line) for line in lines if line.endswith("]")
        )  # or it is torn

    def _key(self, case: Case) -> str:
        return hashlib.sha256(f"{self._context}\n{case.path}\n{case.digest}".encode()).hexdigest()

    def __contains__(self, case: Case) -> bool:
        return self._key(case) in self._known

    def __getitem__(self, case: Case) -> int | None:
        code: int | None = self._known[self._key(case)]
        return code

    def add(self, case: Case, code: int | None) -> None:
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            self._known[self._key(case)] = code
            file.write("\n" + json.dumps([self._key(case), code]))


def run_all(target: Target, chosen: Sequence[Case], memory: Memory, jobs: int) -> None:
    """Fills ``memory`` with the exit code of each case that it lacks; a twin is run once."""
    lacking = {(case.path, case.digest): case for case in chosen if case not in memory}
    if not lacking:
        return
    paths = sorted({case.path for case in chosen})
    with tempfile.TemporaryDirectory(prefix="oracle-") as scratch:
        idle: SimpleQueue[Worker] = SimpleQueue()
        places = [Path(scratch).resolve() / str(n) for n in range(min(jobs, len(lacking)))]
        done = 0

        def one(case: Case) -> None:
            nonlocal done
            worker = idle.get()
            try:
                memory.add(case, believed(worker, case))
            finally:
                idle.put(worker)
            done += 1
            if done % PROGRESS == 0:
                print(f"{target.name}: {done} of {len(lacking)} runs", file=sys.stderr)

        with ThreadPoolExecutor(len(places)) as pool:
            # The canaries of one worker will do: the others are hired in the same way.
            canaries = [paths, *([] for _ in places[1:])]
            for worker in pool.map(partial(hire, target), places, canaries):
                idle.put(worker)
            list(pool.map(one, lacking.values()))


def hire(target: Target, folder: Path, paths: Iterable[str]) -> Worker:
    """A worker whose clean suite is green and whose canaries die. Its bytecode is warm then."""
    shutil.copytree(target.root, folder / target.root.name, ignore=LEFT_OUT, symlinks=True)
    worker = Worker(target, folder, {})
    worker = Worker(target, folder, contents(worker.tree))
    seen = suite(worker, CLEAN_SECONDS, warm=True)
    if seen != 0:
        raise Broken(f"could not use '{target.name}': its clean suite ends with {seen}")
    for path in paths:
        if attempt(worker, path, CANARY) == 0:
            raise Broken(f"could not use '{target.name}': a canary in '{path}' goes unnoticed")
    return worker


def contents(tree: Path) -> dict[str, str]:
    """The sha256 of every file below ``tree``, "" for a folder; not the instrument's results."""
    return {
        name.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in tree.rglob("*")
        if ".hermutic" not in (name := path.relative_to(tree)).parts
    }


def attempt(worker: Worker, path: str, data: bytes) -> int | None:
    """The whole suite's exit code with ``data`` in ``path``; None after a timeout."""
    if contents(worker.tree) != worker.clean:  # the run before left something behind
        shutil.rmtree(worker.tree)
        shutil.copytree(worker.target.root, worker.tree, ignore=LEFT_OUT, symlinks=True)
    file = worker.tree / path
    cached = worker.folder / "pycache" / file.parent.relative_to(file.anchor)
    for stale in cached.glob(f"{file.stem}.*.pyc"):
        stale.unlink()
    clean = file.read_bytes()
    file.write_bytes(data)
    try:
        return suite(worker, SECONDS)
    finally:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(clean)


def believed(worker: Worker, case: Case) -> int | None:
    """The exit code of a mutant; a timeout only if the clean suite has time enough right then."""
    code = attempt(worker, case.path, case.data)
    clean = (worker.target.root / case.path).read_bytes()
    if code is None and attempt(worker, case.path, clean) != 0:
        name = worker.target.name
        raise Broken(f"could not believe a timeout of '{name}': clean has one too; try when idle")
    return code


def suite(worker: Worker, seconds: float, *, warm: bool = False) -> int | None:
    """The exit code of all tests in one fresh process, killed with its children at the end."""
    target = worker.target
    for name in ("home", "tmp"):
        shutil.rmtree(worker.folder / name, ignore_errors=True)
        (worker.folder / name).mkdir()
    env = {
        "PATH": f"{target.python.parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(worker.folder / "home"),
        "TMPDIR": str(worker.folder / "tmp"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPYCACHEPREFIX": str(worker.folder / "pycache"),
        # Only the clean run leaves bytecode. It stays true: no other file than the mutated one
        # changes, and copies keep the times of their files.
        **({} if warm else {"PYTHONDONTWRITEBYTECODE": "1"}),
        **{name: value.replace("{tree}", str(worker.tree)) for name, value in target.env.items()},
    }
    pytest = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--color=no"]
    limited = ["sh", "-c", f'ulimit -v {MEMORY} 2>/dev/null; exec nice -n 10 "$@"', "sh"]
    with (worker.folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [*limited, str(target.python), *pytest, *target.arguments, *target.tests],
            cwd=worker.tree,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kills what is left of the process's session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
