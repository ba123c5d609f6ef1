"""Turns the controls of a session into what was seen of them, before any mutant is run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from harness import controls, plan
from harness.controls import Control
from harness.judging import Bench, Judged, judge_bytes
from harness.lab import Task
from harness.reach import OUTSIDE
from harness.verdict import DETECTED, NAMED

# Plants tried until one is killed: a test may swallow exceptions, five functions' tests hardly all.
PLANTS = 5


def check_controls(bench: Bench, listener: Any) -> tuple[Control, ...]:
    """The controls of a run, in order; each goes to the log with what was predicted and seen."""
    listener.phase("running the controls", None)
    found = [(_clean(bench), list(bench.suite.runs))]
    found += [bench.lab.one(check(bench)) for check in (_canary, _no_op, _plant)]
    for control, runs in found:
        bench.lab.log.event("control", **asdict(control), runs=runs)
    return tuple(control for control, _ in found)


def _clean(bench: Bench) -> Control:
    """Reaching this line means that it holds: a suite that is not green has ended the session."""
    usable, all_tests = len(bench.suite.usable), len(bench.suite.reach.tests)
    aside = all_tests - usable
    seen = f"{usable} of {all_tests} tests green twice" + (f", {aside} left aside" if aside else "")
    return Control("clean", "green", seen, holds=True)


Checked = tuple[Control, list[str]]


def _canary(bench: Bench) -> Task[Checked]:
    """The file that most tests reach must not be importable unnoticed."""
    path = _most_reached(bench)
    if path is None:
        return _inapplicable("canary", "detected", "no test executes any line of the sources")
    data = controls.canary(bench.sources[path])
    everyone = plan.everything(bench.suite.reach, bench.suite.usable)
    judged = yield from judge_bytes(bench, "control", path, data, everyone)
    holds = judged.verdict.verdict in DETECTED
    return _seen("canary", "detected", judged, holds, path)


def _no_op(bench: Bench) -> Task[Checked]:
    path = _most_reached(bench)
    if path is None:
        return _inapplicable("no-op", "survived", "no test executes any line of the sources")
    everyone = plan.everything(bench.suite.reach, bench.suite.usable)
    judged = yield from judge_bytes(bench, "control", path, bench.sources[path], everyone)
    return _seen("no-op", "survived", judged, judged.verdict.verdict == "survived", path)


def _plant(bench: Bench) -> Task[Checked]:
    """The first killed one among a few functions with most tests."""
    candidates = [
        plant for path, data in bench.sources.items() for plant in controls.plants(path, data)
    ]
    tries = list(_plant_selections(bench, candidates))
    if not tries:
        return _inapplicable("plant", "killed", "no test executes the body of any function")
    checked: list[Checked] = []
    for plant, selection, expected in tries[:PLANTS]:
        judged = yield from judge_bytes(bench, "control", plant.path, plant.data, selection)
        holds = judged.verdict.verdict in expected
        predicted, where = " or ".join(expected), f"{plant.path}:{plant.qualname}"
        checked.append(_seen("plant", predicted, judged, holds, where))
        if holds:
            break
    control, _ = checked[-1]
    return control, [run for _, runs in checked for run in runs]


def _plant_selections(
    bench: Bench, candidates: list[controls.Planted]
) -> Iterator[tuple[controls.Planted, tuple[str, ...], tuple[str, ...]]]:
    """Each plant, its tests, and the verdicts it may have: one that import runs breaks it."""
    for plant, mask in controls.reached(candidates, bench.suite.reach):
        selection = plan.ordered(mask, bench.suite.reach, bench.suite.usable)
        if selection:
            yield plant, selection, ("killed", "broken") if mask & OUTSIDE else ("killed",)


def _most_reached(bench: Bench) -> str | None:
    """The source file with most executed lines; ties go to the first name.

    Where no line of any ran, the first: if the tests import a copy that lies elsewhere, its runs
    say so, and no score is printed.
    """
    lines = bench.suite.reach.lines
    return min(bench.sources, key=lambda path: (-len(lines.get(path, ())), path), default=None)


def _seen(name: str, predicted: str, judged: Judged, holds: bool, where: str) -> Checked:
    verdict = judged.verdict
    why = verdict.reason or ("" if holds else ", ".join(verdict.detected_by[:NAMED]))
    seen = f"{verdict.verdict} in {where}" + (f" ({why})" if why else "")
    return Control(name, predicted, seen, holds), [r for r in judged.runs.values() if r]


def _inapplicable(name: str, predicted: str, why: str) -> Checked:
    return Control(name, predicted, f"not applicable: {why}", holds=True), []
