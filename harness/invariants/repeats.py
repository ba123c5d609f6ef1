"""Turns the same mutants, judged in several ways, into whether the verdicts are the same."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from harness import plan
from harness.invariants.scene import Scene, Seen
from harness.judging import Bench, Judged, judge_bytes
from harness.lab import Lab, Task
from harness.log import open_log
from harness.mutant import Mutant
from harness.run import FORK, FRESH
from harness.store import Store
from harness.verdict import Verdict

# A fresh interpreter costs ten forked runs.
FRESH_SAMPLE = 3
NOTHING = "not applicable: no test reaches a mutant"


def serial(scene: Scene) -> Seen:
    """Twice, one mutant after another, each time from nothing."""
    if not scene.sample:
        return NOTHING, True
    executor = scene.bench.suite.executor
    scene.cold.update(_verdicts(scene, "first", scene.sample, Store(scene.scratch / "first")))
    return _compared(scene, "serial", 1, executor, scene.sample)


def parallel(scene: Scene) -> Seen:
    """As many at a time as there are workers."""
    jobs, executor = scene.bench.lab.jobs, scene.bench.suite.executor
    if jobs == 1:  # it would be the serial check once more
        return "not applicable: one run at a time", True
    return _compared(scene, "parallel", jobs, executor, scene.sample)


def fresh(scene: Scene) -> Seen:
    """In interpreters of their own."""
    if scene.bench.suite.executor != FORK:
        return "not applicable: the runs are not forked", True
    jobs = scene.bench.lab.jobs
    return _compared(scene, "fresh", jobs, FRESH, scene.sample[:FRESH_SAMPLE])


def replayed(scene: Scene) -> Seen:
    """Judged with the project's own store, which earlier sessions have filled."""
    if not scene.sample:
        return NOTHING, True
    found: dict[str, Verdict] = {}
    for name in ("warm", "again"):
        found = _verdicts(scene, name, scene.sample, scene.bench.lab.store)
    stale = [id_ for id_, verdict in found.items() if verdict != scene.cold[id_]]
    if stale:
        both = f"{_words(found[stale[0]])} in the store, and {_words(scene.cold[stale[0]])}"
        return f"{stale[0]} is {both} when it is run", False
    return f"{len(found)} of {len(found)} verdicts are those of a cold run", True


def _compared(
    scene: Scene, name: str, jobs: int, executor: str, mutants: tuple[Mutant, ...]
) -> Seen:
    """The mutants judged anew, beside the first time."""
    if not mutants:
        return NOTHING, True
    store = Store(scene.scratch / name)
    found = _verdicts(scene, name, mutants, store, jobs=jobs, executor=executor)
    other = [id_ for id_, verdict in found.items() if verdict != scene.cold[id_]]
    if other:
        both = f"was {_words(scene.cold[other[0]])}, then {_words(found[other[0]])}"
        return f"{len(other)} of {len(found)} differ: {other[0]} {both}", False
    return f"{len(found)} of {len(found)} verdicts are the same", True


def _verdicts(
    scene: Scene,
    name: str,
    mutants: Sequence[Mutant],
    store: Store,
    *,
    jobs: int = 1,
    executor: str = "",
) -> dict[str, Verdict]:
    """By id; in the session's sandbox, with a log of its own."""
    lab, suite = scene.bench.lab, scene.bench.suite
    with closing(open_log(scene.scratch / f"{name}.jsonl")) as log:
        own = Lab(store, log, lab.sandbox, lab.runner, lab.environment, jobs)
        suite = replace(suite, executor=executor or suite.executor)
        bench = replace(scene.bench, lab=own, suite=suite)
        judged = dict(own.drive(_task(bench, mutant) for mutant in mutants))
    return {mutant.id: judged[mutant.id].verdict for mutant in mutants}


def _task(bench: Bench, mutant: Mutant) -> Task[tuple[str, Judged]]:
    selection = plan.select(mutant, bench.suite.reach, bench.suite.usable)
    data = mutant.apply(bench.sources[mutant.path])
    judged = yield from judge_bytes(bench, "mutant", mutant.path, data, selection)
    return mutant.id, judged


def _words(verdict: Verdict) -> str:
    return f"{verdict.verdict} ({verdict.reason})" if verdict.reason else verdict.verdict
