"""Turns the unchanged project into its suite: reach, usable tests, budgets, the executor."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness import arguments, plan
from harness.errors import NOT_GREEN, USAGE, Problem, did_you_mean
from harness.events import Finished
from harness.lab import Answer, Ask, Lab, Task
from harness.mutant import sha256
from harness.reach import Reach, measure
from harness.run import FORK, FRESH, GREEN, Job, Limits
from harness.sandbox import NAMESPACES
from harness.store import key

# A clean suite may be slow, but one that has not ended in this time never will.
CLEAN_LIMITS = Limits(wall=4 * 3600.0, cpu=0, memory=0)
# A test of a few milliseconds may take seconds on a machine that is busy elsewhere.
WALL_FLOOR = 20.0
CPU_FLOOR = 3.0
# Address space: interpreters and thread stacks map far more than they use.
MEMORY_FLOOR = 2 << 30
MEMORY_PER_PEAK = 4


@dataclass(frozen=True, slots=True)
class Base:
    """What all runs of a session share. ``project_digest`` covers all files and settings."""

    project_digest: str
    environment: str
    arguments: tuple[str, ...]
    tests: tuple[str, ...]
    sources: tuple[str, ...]
    timeout_factor: float
    limits: Limits | None = None
    set_aside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """The clean suite. ``usable`` tests passed twice and can judge; ``seconds`` is each one's time,
    ``overhead`` what a run takes beside them, ``peak`` the memory of the whole suite in bytes."""

    reach: Reach
    executor: str
    can_fork: bool
    usable: frozenset[str]
    flaky: tuple[str, ...]
    set_aside: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: dict[str, float]
    overhead: float
    peak: int
    runs: tuple[str, ...]


def ask(
    base: Base,
    role: str,
    executor: str,
    limits: Limits,
    *,
    selection: tuple[str, ...] | None = None,
    left_out: tuple[str, ...] = (),
    mutation: tuple[str, bytes] | None = None,
    reach: bool = False,
    nonce: str = "",
) -> Ask:
    """A run with its key. ``nonce`` makes a run that must be made again one of its own."""
    files = base.tests if selection is None else plan.files_of(selection)
    # A mutant's run may end at the first failure: one is enough. A clean one names them all.
    stop = ("-x",) if mutation else ("--maxfail=0",)
    changed = [mutation[0], sha256(mutation[1])] if mutation else None
    run_key = key(
        run=[executor, base.arguments, stop, files, selection, changed, nonce],
        project=base.project_digest,
        environment=base.environment,
        limits=[limits.wall, limits.cpu, limits.memory],
        reach=base.sources if reach else None,
    )
    job = Job(
        executor=executor,
        args=(*base.arguments, *stop, *files),
        limits=limits,
        input=key(project=base.project_digest, changed=changed),
        attest=(mutation[0],) if mutation else base.sources,
        selection=selection,
        left_out=left_out,
        mutation=mutation,
        reach=base.sources if reach else (),
        seed=reach,
    )
    return Ask(role, run_key, job)


def measure_suite(lab: Lab, base: Base, wanted: str, set_aside: tuple[str, ...]) -> Suite:
    """Two clean runs, or three where they disagree; Problem if the suite is not green."""
    first, reach = _reach(lab, base)
    _refuse_uncollected(lab, first)
    executor, notes = _executor(lab, base, reach, wanted)
    can_fork = executor == FORK
    second = lab.one(_single(ask(base, "clean-again", executor, CLEAN_LIMITS)))
    if executor == FORK and _differing(first, second):
        third = lab.one(_single(ask(base, "clean-again", FRESH, CLEAN_LIMITS)))
        if not _differing(first, third):
            executor, can_fork, second = FRESH, False, third
            notes += ("executor: fresh, because the clean suite ends otherwise when forked",)
    set_aside = _set_aside(lab, reach.tests, set_aside)
    flaky = _differing(first, second)
    red = {r.id for r in second.record.results if r.outcome not in GREEN} - set(flaky)
    _refuse_red(second, red, set_aside)
    usable = frozenset(reach.tests) - red - set(flaky) - set(set_aside)
    if not usable:
        raise Problem(
            NOT_GREEN,
            "could not measure: no test is left that passes on clean and is not set aside",
        )
    seconds = second.finished.seconds
    return Suite(
        reach=reach,
        executor=executor,
        can_fork=can_fork,
        usable=usable,
        flaky=flaky,
        set_aside=set_aside,
        notes=notes,
        seconds=seconds,
        overhead=max(0.0, second.record.wall - sum(seconds.values())),
        peak=max(first.record.peak, second.record.peak),
        runs=(first.run, second.run),
    )


def limits(suite: Suite, base: Base, selection: Iterable[str]) -> Limits:
    """The budget of a selection: as given, or its time on clean, scaled, with a generous floor."""
    if base.limits:
        return base.limits
    expected = suite.overhead + sum(suite.seconds.get(test, 0.0) for test in selection)
    scaled = expected * base.timeout_factor
    return Limits(
        wall=round(max(WALL_FLOOR, 2 * scaled), 1),
        cpu=math.ceil(max(CPU_FLOOR, scaled)),
        memory=max(MEMORY_FLOOR, MEMORY_PER_PEAK * suite.peak),
    )


def _single(wanted: Ask) -> Task[Answer]:
    answer = yield wanted
    return answer


def _reach(lab: Lab, base: Base) -> tuple[Answer, Reach]:
    """The reach run, whose bytecode later runs may read; or, if it is stored, what it gave."""
    wanted = ask(base, "clean", FRESH, CLEAN_LIMITS, reach=True)
    name = key(reach=wanted.key)
    stored = lab.store.get(name)
    if stored is not None and lab.store.get(wanted.key) is not None:
        lab.prepare = lambda: _seed(lab, base)
        return lab.one(_single(wanted)), Reach.from_json(stored)
    answer = lab.make(wanted)
    _refuse_uncollected(lab, answer)
    reach = measure(answer.finished, lab.sandbox.roots(0), base.sources)
    lab.store.put(name, reach.to_json())
    return answer, reach


def _seed(lab: Lab, base: Base) -> None:
    """The reach run came from the store: import everything once, for the bytecode alone."""
    wanted = ask(base, "seed", FRESH, CLEAN_LIMITS)
    job = replace(wanted.job, args=(*wanted.job.args, "--collect-only"), seed=True)
    lab.make(Ask("seed", key(seed=wanted.key), job))


def _executor(lab: Lab, base: Base, reach: Reach, wanted: str) -> tuple[str, tuple[str, ...]]:
    """``fork`` where it is safe, else ``fresh`` and the reason."""
    if wanted == FRESH:
        return FRESH, ()
    if lab.sandbox.isolation != NAMESPACES:
        return FRESH, ("executor: fresh, because fork needs the namespaces' sandbox",)
    modules = list(reach.modules)
    name = key(warm=modules, environment=base.environment, project=base.project_digest)
    stored = lab.store.get(name)
    seed = lab.prepare

    def warm() -> str:
        seed()
        return lab.runner.warm(modules, lab.sandbox.env_of(0), lab.sandbox.roots(0))

    if stored is None:
        stored = {"prevents": warm()}
        lab.prepare = lambda: None
        lab.store.put(name, stored)
    else:
        lab.prepare = lambda: _ignore(warm())
    if stored["prevents"]:
        return FRESH, (f"executor: fresh, because {stored['prevents']}",)
    return FORK, ()


def _ignore(_reason: str) -> None:
    """The reason why fork is not safe is already known from the store."""


def _differing(first: Answer, second: Answer) -> tuple[str, ...]:
    """The tests whose outcome is not the same in both runs."""
    one = {result.id: result.outcome for result in first.record.results}
    other = {result.id: result.outcome for result in second.record.results}
    return tuple(
        sorted(test for test in one.keys() | other.keys() if one.get(test) != other.get(test))
    )


def _refuse_uncollected(lab: Lab, answer: Answer) -> None:
    record = answer.record
    if record.fault:
        raise Problem(4, f"could not run the clean suite: {record.fault}")
    if record.collect_errors:
        # pytest says it again for each argument that a file is below.
        errors = "\n".join(dict.fromkeys(record.collect_errors)).replace("\n", "\n  ")
        raise Problem(
            NOT_GREEN,
            f"could not collect the tests on clean:\n  {errors}\n"
            f"make `{arguments.by_hand(record.argv)}` pass first; "
            f"the tests' python is {lab.sandbox.python} (--python names another)",
        )
    if record.collected is None or not record.finished:
        raise Problem(
            NOT_GREEN,
            "could not measure: the clean suite did not end by itself "
            f"({_ending(answer.finished)}):\n" + _tail(record.output),
        )
    if not record.collected:
        raise Problem(
            NOT_GREEN, "could not measure: pytest finds no tests; name them with --tests PATH"
        )


def _set_aside(lab: Lab, tests: tuple[str, ...], named: tuple[str, ...]) -> tuple[str, ...]:
    """The tests that are set aside: as named, or all parameters of one that is named without.

    A name in a file of the project that is not collected this time stands for nothing.
    """
    files = {test.split("::")[0] for test in tests}
    elsewhere = {path for path, _ in lab.sandbox.spec["files"]} - files
    found: list[str] = []
    for name in named:
        meant = [test for test in tests if plan.is_named(test, name)]
        if not meant and name.split("::")[0] not in elsewhere:
            hint = did_you_mean(name, tests)
            raise Problem(USAGE, f"could not set aside '{name}': the suite has no such test{hint}")
        found += meant
    return tuple(sorted(set(found)))


def _refuse_red(answer: Answer, red: set[str], set_aside: tuple[str, ...]) -> None:
    left = sorted(red - set(set_aside))
    if left:
        messages = {r.id: r.message.splitlines() for r in answer.record.results}
        lines = "\n".join(f"  {test}\n      {(messages[test] or [''])[0]}" for test in left)
        raise Problem(
            NOT_GREEN,
            f"the clean suite is not green; {len(left)} test(s) fail without any mutant:\n{lines}\n"
            "mend them, or go on without them: --set-aside NODEID for each",
        )
    failed = {result.outcome for result in answer.record.results} - GREEN  # flaky ones as well
    if answer.record.exit not in ((0, 1) if failed else (0,)):
        raise Problem(
            NOT_GREEN,
            f"every test passes on clean, but pytest ends with {_ending(answer.finished)}:\n"
            + _tail(answer.record.output),
        )


def _ending(finished: Finished) -> str:
    record = finished.record
    return f"signal {record.signal}" if record.signal is not None else f"exit code {record.exit}"


def _tail(output: str, lines: int = 15) -> str:
    return "\n".join("  " + line for line in output.rstrip().splitlines()[-lines:])
