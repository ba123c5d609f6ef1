"""Turns a project and options into a report: find, reach, plan, run, judge, in that order."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from harness import __version__, arguments, clean, find, launch, only, report
from harness import sandbox as sandboxes
from harness.checks import check_controls
from harness.controls import Control
from harness.errors import FAULT, USAGE, Problem
from harness.interpreter import Interpreter, probe_interpreter
from harness.judging import Bench, judge_all
from harness.lab import Lab
from harness.log import open_log
from harness.mutant import Mutant, sha256
from harness.project import Project
from harness.run import Limits, SandboxFailed
from harness.store import Store, key, prepare_results

# With fewer workers than two, nothing that verify tries would run side by side.
SIDE_BY_SIDE = 2


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: the command's options, with their defaults filled in."""

    operators: str = "default"
    only: tuple[str, ...] = ()
    jobs: int = 1
    executor: str = "auto"
    isolation: str = "auto"
    timeout_factor: float = 10.0
    set_aside: tuple[str, ...] = ()
    include: frozenset[str] = frozenset()
    limits: Limits | None = None  # None: measured, from the clean suite


class Listener(Protocol):
    """Who is told how far the session is."""

    def phase(self, name: str, total: int | None) -> None: ...

    def advance(self, verdict: str | None) -> None: ...

    def say(self, line: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run: the report, where it and its log are, and the controls that allow it."""

    report: dict[str, Any]
    report_path: Path
    log_path: Path
    warnings: tuple[str, ...]
    sources: dict[str, bytes]
    controls: tuple[Control, ...]
    isolation: str
    executor: str


@dataclass(frozen=True, slots=True)
class Found:
    """What is to be mutated: sources, the mutants of the run, and the files left out, with why."""

    sources: dict[str, bytes]
    mutants: tuple[Mutant, ...]
    problems: dict[str, str]


def run(project: Project, options: Options, listener: Listener) -> Outcome:
    """Every mutant's verdict, and the report. Raises Problem; Ctrl-C leaves what is stored."""
    listener.phase("finding mutants", None)
    found = find_mutants(project, options)
    with bench_of(project, options, listener, found) as (bench, results):
        controls = check_controls(bench, listener)
        refuse_unless_all_hold(controls)
        rows = judge_all(bench, found.mutants, listener)
        built = build_report(project, options, bench, found, rows)
        path = results / "report.json"
        write_whole(path, log_report(bench, built))
        return Outcome(
            report=built,
            report_path=path,
            log_path=Path(bench.lab.log.file.name),
            warnings=(*bench.suite.notes, *bench.lab.store.warnings),
            sources=found.sources,
            controls=controls,
            isolation=bench.lab.sandbox.isolation,
            executor=bench.suite.executor,
        )


def build_report(
    project: Project, options: Options, bench: Bench, found: Found, rows: Iterable[report.Row]
) -> dict[str, Any]:
    """The report on these rows."""
    return report.build(
        rows,
        target=project.name,
        operators=options.operators,
        statements=bench.suite.reach.statements,
        executed=bench.suite.reach.executed,
        set_aside=bench.suite.set_aside,
        flaky=bench.suite.flaky,
        problems=found.problems,
    )


def log_report(bench: Bench, built: dict[str, Any]) -> bytes:
    """The report's bytes, once the log has their digest: nothing comes after it there."""
    data = report.to_bytes(built)
    bench.lab.log.event("report", sha256=sha256(data), bytes=len(data))
    return data


def verify(project: Project, options: Options, listener: Listener) -> tuple[Control, ...]:
    """The controls, and where they hold the invariants as well."""
    from harness.invariants import check_all  # noqa: PLC0415 - no other command needs them
    from harness.invariants.scene import Scene  # noqa: PLC0415

    options = replace(options, jobs=max(SIDE_BY_SIDE, options.jobs))
    found = find_mutants(project, options)
    interpreter = probe_interpreter(project.python)
    with (
        TemporaryDirectory(prefix="hermutic-") as scratch,
        bench_of(project, options, listener, found, interpreter) as (bench, _),
    ):
        for note in bench.suite.notes:
            listener.say(note)
        shown = check_controls(bench, listener)
        if not all(control.holds for control in shown):
            return shown
        report_on = partial(build_report, project, options, bench, found)
        scene = Scene(project, interpreter, bench, found.mutants, report_on, Path(scratch))
        return (*shown, *check_all(scene, listener))


def find_mutants(project: Project, options: Options) -> Found:
    """Read the sources and find their mutants, as far as ``--only`` lets them through."""
    sources = {path: (project.root / path).read_bytes() for path in project.sources}
    mutants: list[Mutant] = []
    problems: dict[str, str] = {}
    for path, source in sources.items():
        result = find.find(source, path, operators=options.operators, include=options.include)
        mutants += result.mutants
        if result.problem:
            problems[path] = result.problem
    if not sources:
        raise Problem(
            USAGE,
            f"could not find anything to mutate in '{project.root}': it holds no Python file but "
            "tests; name the sources with --source",
        )
    chosen = only.choose(options.only, mutants) if options.only else mutants
    return Found(sources, tuple(chosen), problems)


@contextmanager
def bench_of(
    project: Project,
    options: Options,
    listener: Listener,
    found: Found,
    interpreter: Interpreter | None = None,
) -> Iterator[tuple[Bench, Path]]:
    """Everything that runs need, in the order in which it comes to be; all ended on the way out."""
    interpreter = interpreter or probe_interpreter(project.python)
    digests = launch.digests_of(project)
    results = prepare_results(project.results or project.root)
    log = open_log(_log_path(results))
    sandbox, runner, notes = launch.start(
        project, interpreter, digests, isolation=options.isolation, jobs=options.jobs
    )
    try:
        environment = _environment_digest(interpreter, sandbox)
        log.event(
            "session",
            hermutic=__version__,
            schema=1,
            target=project.name,
            operators=options.operators,
            executor=options.executor,
            isolation=sandbox.isolation,
            python=interpreter.version,
            arguments=list(sys.argv[1:]),
        )
        log.event(
            "environment",
            digest=environment,
            packages=interpreter.digest(),
            interpreter=interpreter.version,
            distributions=[[name, version] for name, version, _ in interpreter.distributions],
        )
        for path, source in found.sources.items():
            log.event("source", path=path, sha256=sha256(source), problem=found.problems.get(path))
        store = Store(results / "store")
        jobs = options.jobs if sandbox.isolation == sandboxes.NAMESPACES else 1
        if jobs < options.jobs:
            notes = (*notes, "isolation: one run at a time: copied trees share the network's ports")
        lab = Lab(store, log, sandbox, runner, environment, jobs)
        base = clean.Base(
            project_digest=key(files=sorted(digests.items()), arguments=project.pytest_args),
            environment=environment,
            arguments=arguments.of_runs(project, interpreter),
            tests=project.tests,
            sources=tuple(path for path in found.sources if path not in found.problems),
            timeout_factor=options.timeout_factor,
            limits=options.limits,
            set_aside=options.set_aside,
        )
        listener.phase("running the clean suite", None)
        suite = clean.measure_suite(lab, base, options.executor, options.set_aside)
        suite = replace(suite, notes=(*notes, *suite.notes))
        log.event(
            "reach",
            statements=suite.reach.statements,
            executed=suite.reach.executed,
            flaky=sorted(suite.flaky),
            set_aside=sorted(suite.set_aside),
            line_coverage=report.ratio(suite.reach.executed, suite.reach.statements),
        )
        yield Bench(lab, base, suite, found.sources), results
    except SandboxFailed as error:
        raise Problem(FAULT, f"the sandbox failed: {error}") from error
    finally:
        runner.close()
        sandboxes.discard(sandbox)
        log.close()


def _environment_digest(interpreter: Interpreter, sandbox: sandboxes.Sandbox) -> str:
    """Everything outside the project that an outcome may depend on, wherever it lies."""
    place = interpreter.prefix
    return key(
        interpreter=interpreter.digest(),
        probe=[sha256(path.read_bytes()) for path in sorted(sandboxes.PROBE.glob("_hermutic*"))],
        env=[
            (name, value.replace(place, "{prefix}"))
            for name, value in sandbox.env
            if sandbox.isolation == sandboxes.NAMESPACES
        ],
        isolation=sandbox.isolation,
    )


def _log_path(results: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    return results / "logs" / f"{stamp}-{time.time_ns() % 10**9:09d}-{os.getpid()}.jsonl"


def refuse_unless_all_hold(controls: tuple[Control, ...]) -> None:
    failed = [control for control in controls if not control.holds]
    if failed:
        details = "; ".join(f"{c.name}: predicted {c.predicted}, seen {c.seen}" for c in failed)
        raise Problem(
            FAULT,
            f"no score is printed, because a control did not hold ({details}); "
            "`hermutic verify` shows them all",
        )


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(path)
