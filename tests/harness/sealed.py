"""Turns a few files into a project with a sandbox around it, for tests that look at single runs."""

from __future__ import annotations

import functools
import os
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness import arguments, events, loading
from harness import sandbox as sandboxes
from harness.events import Finished
from harness.interpreter import Interpreter, probe_interpreter
from harness.mutant import sha256
from harness.run import Job, Limits, Runner
from harness.sandbox import NAMESPACES, Sandbox

NO_LIMITS = Limits(wall=60.0, cpu=0, memory=0)
SCRATCH = 64 << 20
# The project of the session's sandboxes (see conftest.py): each test module adds its own files.
SHARED: dict[str, str | bytes] = {
    "mod.py": "VALUE = 1\n",
    "test_quiet.py": "import time\n\ndef test_quiet():\n    time.sleep(1)\n",
}


@dataclass
class Bench:
    """A server that makes runs of one project, and what the tests need to ask it for one."""

    root: Path
    sandbox: Sandbox
    runner: Runner
    arguments: tuple[str, ...]

    def start(
        self,
        *args: str,
        executor: str = "",
        slot: int = 0,
        limits: Limits = NO_LIMITS,
        **job: Any,
    ) -> int:
        """Submit a run of pytest with ``args``; ``job`` are the other fields of a Job."""
        executor = executor or ("fork" if self.sandbox.isolation == NAMESPACES else "fresh")
        whole = {"input": "", "attest": (), **job}
        wanted = Job(executor=executor, args=(*self.arguments, *args), limits=limits, **whole)
        request = sandboxes.request(self.sandbox, wanted, slot, environment="")
        return self.runner.submit(wanted, request)

    def wait(self) -> tuple[int, Finished]:
        identity, job, result = self.runner.wait()
        isolation = self.sandbox.isolation
        return identity, events.finished(job, result, environment="", isolation=isolation)

    def run(self, *args: str, **options: Any) -> Finished:
        """One run, from its start to its end."""
        number = self.start(*args, **options)
        done, finished = self.wait()
        assert done == number, "another run was under way"
        return finished

    def warm(self, *modules: str) -> str:
        """What prevents the fork executor, or ""."""
        env, roots = self.sandbox.env_of(0), self.sandbox.roots(0)
        return self.runner.warm(list(modules), env, roots)

    def servers(self) -> list[int]:
        """The server's processes, as the system outside numbers them."""
        found = [self.runner._process.pid]
        for pid in found:
            found += children(pid)
        return found


@functools.cache
def this_python() -> Interpreter:
    return probe_interpreter(Path(sys.executable))


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """The files below ``root``, their text without the indent that it has in the test."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text if isinstance(text, bytes) else textwrap.dedent(text).lstrip("\n").encode()
        path.write_bytes(data)
    return root


@contextmanager
def opened(
    root: Path,
    files: dict[str, str | bytes],
    *,
    isolation: str = NAMESPACES,
    spec: dict[str, Any] | None = None,
    **fields: Any,
) -> Iterator[Bench]:
    """A bench over ``files``; ``spec`` and ``fields`` replace parts of the sandbox and project."""
    write(root, files)
    # Hypothesis's plugin takes longer to import than all else that these runs do.
    fields = {"pytest_args": ("-p", "no:hypothesispytest"), **fields}
    loaded = replace(loading.load(root, python=sys.executable), **fields)
    digests = {
        path: "" if (root / path).is_symlink() else sha256((root / path).read_bytes())
        for path in loaded.files
    }
    sandbox = sandboxes.describe(loaded, this_python(), digests, isolation, jobs=2)
    sandbox.spec.update(spec or {})
    runner = Runner(sandbox.python, sandbox.spec, sandboxes.PROBE)
    try:
        yield Bench(root, sandbox, runner, arguments.of_runs(loaded, this_python()))
    finally:
        runner.close()
        sandboxes.discard(sandbox)


def outcomes(finished: Finished) -> dict[str, str]:
    """Each test's outcome by its name (without the file), with the message where it failed."""
    return {
        result.id.partition("::")[2]: f"{result.outcome} {result.message}".strip()
        for result in finished.record.results
    }


def marked(marker: str) -> list[int]:
    """The living processes whose command line or environment holds the marker."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - names only, of a folder that changes
        if name.isdigit() and int(name) != os.getpid() and marker.encode() in _said_by(name):
            found.append(int(name))
    return found


def _said_by(pid: str) -> bytes:
    try:
        return b"".join(Path(f"/proc/{pid}/{file}").read_bytes() for file in ("cmdline", "environ"))
    except OSError:
        return b""  # it has ended, or is another user's


def children(pid: int) -> list[int]:
    """The direct child processes of a process."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, path.read_text().split())
    return found
