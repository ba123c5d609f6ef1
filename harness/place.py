"""Turns a project and an interpreter into a place where single runs are made and judged."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness import events, launch, staging
from harness import sandbox as sandboxes
from harness.errors import FAULT, Problem
from harness.events import Finished
from harness.interpreter import Interpreter
from harness.plan import files_of
from harness.project import Project
from harness.run import FORK, FRESH, Job, Limits, Runner, RunRecord
from harness.sandbox import Sandbox
from harness.store import key
from harness.verdict import Verdict, judge, needs_again, needs_clean, needs_confirm

# The run that only imports, for its bytecode, needs no budget of its own: the build has one.
_NO_LIMITS = Limits(wall=3600.0, cpu=0, memory=0)
# An open place holds the tests' modules and the project in memory. A build goes through its targets
# one after another, each with a few views of its files.
KEPT = 4


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, its records by role, and what the mutant's run looked for: files, and folders that
    it listed."""

    verdict: Verdict
    runs: Mapping[str, RunRecord | None]
    asked: frozenset[str]


@dataclass(frozen=True, slots=True)
class Place:
    """A started sandbox. ``executor`` is what its runs are made by."""

    sandbox: Sandbox
    runner: Runner
    executor: str
    sources: tuple[str, ...]

    def job(
        self,
        arguments: Sequence[str],
        selection: tuple[str, ...],
        left_out: tuple[str, ...],
        limits: Limits,
        mutation: tuple[str, bytes] | None = None,
    ) -> Job:
        """One run of a selection, on clean or on a mutant."""
        stop = ("-x",) if mutation else ("--maxfail=0",)
        return Job(
            executor=self.executor,
            args=(*arguments, *stop, *files_of(selection)),
            limits=limits,
            input="",
            attest=(mutation[0],) if mutation else self.sources,
            selection=selection,
            left_out=left_out,
            mutation=mutation,
        )

    def run(self, job: Job) -> Finished:
        """Make the run now."""
        self.runner.submit(job, sandboxes.request(self.sandbox, job, 0, ""))
        _, _, result = self.runner.wait()
        return events.finished(job, result, environment="", isolation=self.sandbox.isolation)

    def judged(self, job: Job, digest: str, on_clean: RunRecord) -> Judged:
        """The verdict on a mutant's run, with what it rests on."""
        assert job.mutation is not None
        assert job.selection is not None
        finished = self.run(job)
        run = finished.record
        clean = on_clean if needs_clean(run) else None
        again = self.run(job).record if needs_again(run) else None
        confirm = None
        if needs_confirm(run) or (again is not None and needs_confirm(again)):
            stop = tuple("--maxfail=0" if word == "-x" else word for word in job.args)
            confirm = self.run(replace(job, mutation=None, attest=self.sources, args=stop)).record
        verdict = judge(
            path=job.mutation[0],
            digest=digest,
            selection=job.selection,
            run=run,
            clean=clean,
            confirm=confirm,
            again=again,
        )
        runs = {"mutant": run, "clean": clean, "confirm": confirm, "again": again}
        return Judged(verdict, runs, finished.asked | finished.listed)


@contextmanager
def opened(
    project: Project,
    interpreter: Interpreter,
    modules: Sequence[str] | None,
    *,
    isolation: str = launch.AUTO,
) -> Iterator[Place]:
    """A place for runs of ``project``; warmed with ``modules`` for ``fork``, unless None.

    Problem if it could be sealed on this system, and is not, though nobody asked for that: a build
    shows no note, and its verdicts are shared.
    """
    digests = launch.digests_of(project)
    sandbox, runner, notes = launch.start(project, interpreter, digests, isolation=isolation)
    try:
        if notes and sandboxes.can_isolate():
            raise Problem(
                FAULT,
                f"could not seal a build's runs ({'; '.join(notes)}); allow user namespaces: "
                "sysctl user.max_user_namespaces",
            )
        executor = _warmed(project, sandbox, runner, modules)
        yield Place(sandbox, runner, executor, project.sources)
    finally:
        runner.close()
        sandboxes.discard(sandbox)


def _warmed(
    project: Project, sandbox: Sandbox, runner: Runner, modules: Sequence[str] | None
) -> str:
    """``fork`` once the server is ready for it, else ``fresh``.

    A forked run that only collects then leaves the bytecode of the project's own modules to those
    that follow; the environment brings its own along, or warming makes it.
    """
    if modules is None or sandbox.isolation != sandboxes.NAMESPACES:
        return FRESH
    if runner.warm(list(modules), sandbox.env_of(0), sandbox.roots(0)):
        return FRESH
    probe = ("-p", "_hermutic_pytest", "--rootdir", "{project}")
    # A plan leaves out what its tests do not use, and pytest collects nothing if a name is missing.
    tests = [name for name in project.tests if (project.root / name.split("::")[0]).exists()]
    job = Job(
        executor=FORK,
        args=(*probe, *project.pytest_args, "--collect-only", *tests),
        limits=_NO_LIMITS,
        input="",
        attest=(),
        seed=True,
    )
    runner.submit(job, sandboxes.request(sandbox, job, 0, ""))
    runner.wait()
    return FORK


class Places:
    """Places kept open for the next mutant with the same files; all closed on the way out.

    ``inputs`` is what the build says of the request's environment: paths and digests. One that has
    changed is never served by a process that imported what was there before.
    """

    def __init__(self) -> None:
        self.inputs: list[tuple[str, str]] = []
        self._kept: OrderedDict[str, tuple[Place, ExitStack]] = OrderedDict()

    def __enter__(self) -> Places:
        return self

    def __exit__(self, *_: object) -> None:
        while self._kept:
            self._close_oldest()

    def of(self, file: Path, plan: Mapping[str, Any], python: Path, executor: str) -> Place:
        """The place for the runs of the plan in ``file``: one that is open, or a new one."""
        needed = ("files", "config", "interpreter", "arguments", "modules")
        # An environment that was made again is another folder, even with the same files.
        marker = (python.parent.parent / "pyvenv.cfg").stat()
        made = [str(python), marker.st_ino, marker.st_mtime_ns]
        shared = [plan[name] for name in needed]
        name = key(shared=shared, python=made, executor=executor, inputs=self.inputs)
        if name not in self._kept:
            while len(self._kept) >= KEPT:
                self._close_oldest()
            self._kept[name] = self._open(file, plan, python, executor)
        self._kept.move_to_end(name)
        return self._kept[name][0]

    def _open(
        self, file: Path, plan: Mapping[str, Any], python: Path, executor: str
    ) -> tuple[Place, ExitStack]:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="hermutic-")))
            staging.unpack(file, folder)
            config = staging.config_of(plan["config"])
            project = staging.project_of(config, python, folder, tuple(sorted(plan["files"])))
            modules = plan["modules"] if executor == FORK == plan["executor"] else None
            interpreter = staging.located(plan["interpreter"], python)
            place = stack.enter_context(opened(project, interpreter, modules))
            return place, stack.pop_all()
        raise AssertionError("an exit stack swallows nothing")

    def _close_oldest(self) -> None:
        _, (_, stack) = self._kept.popitem(last=False)
        stack.close()
