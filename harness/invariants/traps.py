"""Turns traps that instruments have fallen into, set in a session's sandbox, into what is seen."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from harness import clean, controls, plan
from harness.events import Finished
from harness.invariants import hostile
from harness.invariants.scene import Scene, Seen
from harness.judging import judge_bytes
from harness.mutant import sha256
from harness.project import module_of
from harness.reach import OUTSIDE
from harness.run import GREEN, Job
from harness.store import key
from harness.verdict import DETECTED, judge, needs_clean

VACUOUS = "test_hermutic_vacuous.py"
BROKEN = b"1/0\n"  # raises on import, and fits into any file that holds a statement


def vacuous_suite(scene: Scene) -> Seen:
    """A test that imports the module and asserts nothing, beside a plant and the canary."""
    plants = [
        plant
        for path, source in scene.bench.sources.items()
        for plant in controls.plants(path, source)
    ]
    reached = controls.reached(plants, scene.bench.suite.reach)
    called = [plant for plant, mask in reached if not mask & OUTSIDE]
    if not called:
        return "not applicable: no test executes the body of any function", True
    path = called[0].path
    on_clean = _vacuous(scene, path, None)
    found = []
    for data in (called[0].data, controls.canary(scene.bench.sources[path])):
        run = _vacuous(scene, path, data).record
        verdict = judge(
            path=path,
            digest=sha256(data),
            selection=on_clean.collected,
            run=run,
            clean=on_clean.record if needs_clean(run) else None,
            confirm=on_clean.record,
            again=run,  # one is enough: no verdict is published
        )
        found.append(verdict.verdict)
    holds = found[0] == "survived" and found[1] in DETECTED
    return f"a raise in a body {found[0]}, one at import {found[1]}", holds


def _vacuous(scene: Scene, path: str, data: bytes | None) -> Finished:
    """The run of that test, on clean or with the file's bytes changed."""
    suite, base = scene.bench.suite, scene.bench.base
    file = posixpath.join(posixpath.dirname(suite.reach.tests[0].partition("::")[0]), VACUOUS)
    code = (
        f"import {module_of(path, scene.project.pythonpath)}\n\n\ndef test_vacuous():\n    pass\n"
    )
    everyone = plan.everything(suite.reach, suite.usable)
    limits = clean.limits(suite, base, everyone)
    ask = clean.ask(base, "control", suite.executor, limits)
    job = Job(
        executor=suite.executor,
        args=(*base.arguments, file),
        limits=limits,
        input=ask.job.input,
        attest=(path,),
        mutation=None if data is None else (path, data),
        added=((file, code.encode()),),
    )
    changed = None if data is None else sha256(data)
    name = key(vacuous=[ask.key, file, code, changed])
    return scene.bench.lab.make(replace(ask, key=name, job=job)).finished


def stale_bytecode(scene: Scene) -> Seen:
    """A file of the same size and time that raises on import, beside the clean one's bytecode."""
    path = scene.most_reached()
    size = len(scene.bench.sources[path])
    if size < len(BROKEN) or not scene.bench.suite.reach.lines.get(path):
        return f"not applicable: nothing of {path} runs", True
    data = BROKEN + b"#" * (size - len(BROKEN))
    everyone = plan.everything(scene.bench.suite.reach, scene.bench.suite.usable)
    task = judge_bytes(scene.bench, "control", path, data, everyone, keep_time=True)
    verdict = scene.bench.lab.one(task).verdict
    return f"{verdict.verdict} in {path}", verdict.verdict in DETECTED


def attestation(scene: Scene) -> Seen:
    """A run of the clean file, passed off as one of the canary."""
    path, suite, base = scene.most_reached(), scene.bench.suite, scene.bench.base
    source = scene.bench.sources[path]
    everyone = plan.everything(suite.reach, suite.usable)
    limits = clean.limits(suite, base, everyone)
    ask = clean.ask(
        base, "control", suite.executor, limits, selection=everyone, mutation=(path, source)
    )
    record = scene.bench.lab.make(replace(ask, key=key(attestation=ask.key))).record
    wanted = sha256(controls.canary(source))
    verdict = judge(path=path, digest=wanted, selection=everyone, run=record, clean=record)
    return f"{verdict.verdict} in {path}", verdict.verdict == "error"


def hostile_parent(scene: Scene) -> Seen:
    """The tests of one file, in a copy of the project whose parent directory is full of traps."""
    suite = scene.bench.suite
    everyone = plan.everything(suite.reach, suite.usable)
    file = plan.files_of(everyone)[0]
    tests = tuple(test for test in everyone if test.partition("::")[0] == file)
    left_out = plan.left_out(tests, suite.reach, scene.bench.base.set_aside)
    isolation, base = scene.bench.lab.sandbox.isolation, scene.bench.base
    record = hostile.clean_run(
        scene.project, scene.interpreter, base, tests, left_out, isolation=isolation
    )
    green = {one.id for one in record.results if one.outcome in GREEN} & {*tests}
    holds = record.exit == 0 and len(green) == len(tests)
    return f"{len(green)} of {len(tests)} tests of {file} are green", holds


def reach(scene: Scene) -> Seen:
    """What no test is seen to execute, tried on the whole suite."""
    if not scene.unreached:
        return "not applicable: every mutant is reached", True
    everyone = plan.everything(scene.bench.suite.reach, scene.bench.suite.usable)
    for mutant in scene.unreached:
        data = mutant.apply(scene.bench.sources[mutant.path])
        task = judge_bytes(scene.bench, "sample", mutant.path, data, everyone)
        verdict = scene.bench.lab.one(task).verdict.verdict
        if verdict in DETECTED:
            return f"{mutant.id}: unreached, and {verdict}", False
    many = len(scene.unreached)
    return f"{many} of {many} pass the whole suite", True
