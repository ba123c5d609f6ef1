"""Turns mutants into verdicts, and controls into what was seen of them, each from its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from harness import clean, controls, plan
from harness.clean import FORK, FRESH, Base, Suite
from harness.controls import Control
from harness.errors import FAULT, Problem
from harness.lab import Answer, Ask, Lab, Task
from harness.mutant import Mutant, sha256
from harness.report import Row
from harness.sandbox import NAMESPACES
from harness.verdict import (
    DETECTED,
    Verdict,
    judge,
    needs_clean,
    needs_confirm,
    number_of_tests,
)

# How many mutants of a run are tried in both executors, and how many unreached ones in the whole
# suite: enough that a fault of the instrument's shows within a few runs, few enough to cost little.
SAMPLE = 4
UNREACHED_SAMPLE = 2
# Plants tried until one is killed: a test may swallow exceptions, five functions' tests hardly all.
PLANTS = 5
EMPTY: dict[str, str | None] = {"mutant": None, "clean": None, "confirm": None, "sample": None}
# The fields of a mutant that the log and the report show.
SHOWN = (
    *("id", "path", "qualname", "operator", "kind", "place"),
    *("line", "column", "before", "after", "digest", "suppressed"),
)


@dataclass(frozen=True, slots=True)
class Bench:
    """All that judging needs: where runs are made, the clean suite, and the clean sources."""

    lab: Lab
    base: Base
    suite: Suite
    sources: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with the names of the runs it rests on."""

    verdict: Verdict
    tests_run: int
    selection: str | None
    runs: dict[str, str | None]


def judge_all(bench: Bench, mutants: tuple[Mutant, ...], listener: Any) -> list[Row]:
    """A row per mutant, in the order in which the verdicts come."""
    for mutant in mutants:
        fields = asdict(mutant)
        bench.lab.log.event("mutant", **{name: fields[name] for name in SHOWN})
    active = [mutant for mutant in mutants if mutant.suppressed is None]
    sample = _sampled(m for m in active if plan.reached(m, bench.suite.reach))
    listener.phase("running mutants", len(mutants))
    rows = []
    # Each plan is made when its turn comes: all of them together would fill the memory.
    tasks = (_task(bench, mutant, mutant.id in sample) for mutant in mutants)
    for mutant, judged in bench.lab.drive(tasks):
        _log_verdict(bench, mutant, judged)
        rows.append(_row(mutant, judged))
        listener.advance(judged.verdict.verdict)
    _refuse_errors(rows)
    _check_unreached(bench, [m for m in active if not plan.reached(m, bench.suite.reach)])
    return rows


def _sampled(mutants: Iterable[Mutant], size: int = SAMPLE) -> set[str]:
    """Chosen by digest: the same mutants in every run, and no part of the file preferred."""
    return {m.id for m in sorted(mutants, key=lambda m: m.digest)[:size]}


def _task(bench: Bench, mutant: Mutant, sampled: bool) -> Task[tuple[Mutant, Judged]]:
    if mutant.suppressed is not None:
        return mutant, Judged(Verdict("suppressed", mutant.suppressed), 0, None, EMPTY)
    if not plan.reached(mutant, bench.suite.reach):
        return mutant, Judged(Verdict("unreached"), 0, None, EMPTY)
    selection = plan.select(mutant, bench.suite.reach, bench.suite.usable)
    if not selection:
        reason = "only tests that are flaky or set aside reach it"
        return mutant, Judged(Verdict("unstable", reason), 0, None, EMPTY)
    data = mutant.apply(bench.sources[mutant.path])
    judged = yield from _judge(bench, "mutant", mutant.path, data, selection, sampled=sampled)
    return mutant, judged


def _judge(
    bench: Bench,
    role: str,
    path: str,
    data: bytes,
    selection: tuple[str, ...],
    *,
    sampled: bool = False,
) -> Task[Judged]:
    """Run the mutated bytes, then what the verdict on that run needs."""
    wanted = _asker(bench, path, data, selection)
    own = wanted(role, bench.suite.executor)
    run = yield own
    sample_ask = None
    sample: Answer | None = None
    other = _other_executor(bench) if sampled else None
    if other:
        sample_ask = wanted("sample", other)
        sample = yield sample_ask
    records = [run.record] + ([sample.record] if sample else [])
    on_clean: Answer | None = None
    if any(needs_clean(record) for record in records):
        on_clean = yield wanted("selection", bench.suite.executor)
    confirm: Answer | None = None
    if any(needs_confirm(record) for record in records):
        confirm = yield wanted("confirm", bench.suite.executor, nonce=own.key)

    def verdict_on(answer: Answer, repeat: Verdict | None) -> Verdict:
        return judge(
            path=path,
            digest=sha256(data),
            selection=selection,
            run=answer.record,
            clean=on_clean.record if on_clean else None,
            confirm=confirm.record if confirm else None,
            repeat=repeat,
        )

    verdict = verdict_on(run, verdict_on(sample, None) if sample else None)
    if verdict.verdict == "timeout":
        # Confirmed, and so final: only now may a run over its limit be stored.
        bench.lab.keep(own, run)
        if sample and sample_ask:
            bench.lab.keep(sample_ask, sample)
    runs = {
        "mutant": run.run,
        "clean": on_clean.run if on_clean else None,
        "confirm": confirm.run if confirm else None,
        "sample": sample.run if sample else None,
    }
    return Judged(verdict, number_of_tests(run.record), bench.lab.selection(selection), runs)


def _asker(bench: Bench, path: str, data: bytes, selection: tuple[str, ...]) -> Callable[..., Ask]:
    """Makes the asks about one selection; in the clean roles without the mutation."""
    budget = clean.limits(bench.suite, bench.base, selection)
    left_out = plan.left_out(selection, bench.suite.reach)

    def wanted(role: str, executor: str, nonce: str = "") -> Ask:
        return clean.ask(
            bench.base,
            role,
            executor,
            budget,
            selection=selection,
            left_out=left_out,
            mutation=None if role in ("selection", "confirm") else (path, data),
            nonce=nonce,
        )

    return wanted


def _other_executor(bench: Bench) -> str | None:
    if bench.suite.executor == FORK:
        return FRESH
    return FORK if bench.suite.can_fork and bench.lab.sandbox.isolation == NAMESPACES else None


def _log_verdict(bench: Bench, mutant: Mutant, judged: Judged) -> None:
    bench.lab.log.event(
        "verdict",
        id=mutant.id,
        verdict=judged.verdict.verdict,
        reason=judged.verdict.reason,
        tests_run=judged.tests_run,
        detected_by=list(judged.verdict.detected_by),
        selection=judged.selection,
        runs=judged.runs,
    )


def _row(mutant: Mutant, judged: Judged) -> Row:
    fields = asdict(mutant)
    return Row(
        **{name: fields[name] for name in SHOWN if name != "suppressed"},
        verdict=judged.verdict.verdict,
        reason=judged.verdict.reason,
        tests_run=judged.tests_run,
        detected_by=judged.verdict.detected_by,
    )


def _refuse_errors(rows: list[Row]) -> None:
    wrong = [row for row in rows if row.verdict == "error"]
    if wrong:
        lines = "\n".join(f"  {row.id}: {row.reason}" for row in wrong[:10])
        raise Problem(
            FAULT,
            f"no score is printed: {len(wrong)} mutant(s) could not be judged, "
            f"for example\n{lines}",
        )


def _check_unreached(bench: Bench, unreached: list[Mutant]) -> None:
    """Detected implies executed: a few of those called unreached meet the whole suite."""
    names = _sampled(unreached, UNREACHED_SAMPLE)
    selection = plan.everything(bench.suite.reach, bench.suite.usable)

    def task(mutant: Mutant) -> Task[tuple[Mutant, Judged]]:
        data = mutant.apply(bench.sources[mutant.path])
        judged = yield from _judge(bench, "sample", mutant.path, data, selection)
        return mutant, judged

    for mutant, judged in bench.lab.drive(task(m) for m in unreached if m.id in names):
        if judged.verdict.verdict in DETECTED:
            raise Problem(
                FAULT,
                f"no score is printed: '{mutant.id}' is detected, though no test was seen to reach "
                "it, so reach is wrong; please report this with the log",
            )


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
    judged = yield from _judge(bench, "control", path, data, everyone)
    holds = judged.verdict.verdict in DETECTED
    return _seen("canary", "detected", judged, holds, path)


def _no_op(bench: Bench) -> Task[Checked]:
    path = _most_reached(bench)
    if path is None:
        return _inapplicable("no-op", "survived", "no test executes any line of the sources")
    everyone = plan.everything(bench.suite.reach, bench.suite.usable)
    judged = yield from _judge(bench, "control", path, bench.sources[path], everyone)
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
    for plant, selection in tries[:PLANTS]:
        judged = yield from _judge(bench, "control", plant.path, plant.data, selection)
        holds = judged.verdict.verdict == "killed"
        checked.append(_seen("plant", "killed", judged, holds, f"{plant.path}:{plant.qualname}"))
        if holds:
            break
    control, _ = checked[-1]
    return control, [run for _, runs in checked for run in runs]


def _plant_selections(
    bench: Bench, candidates: list[controls.Planted]
) -> Iterator[tuple[controls.Planted, tuple[str, ...]]]:
    for plant, mask in controls.reached(candidates, bench.suite.reach):
        selection = plan.ordered(mask, bench.suite.reach, bench.suite.usable)
        if selection:
            yield plant, selection


def _most_reached(bench: Bench) -> str | None:
    """The source file with most executed lines; ties go to the first name."""
    lines = bench.suite.reach.lines
    reached = [path for path in bench.sources if lines.get(path)]
    return min(reached, key=lambda path: (-len(lines[path]), path), default=None)


def _seen(name: str, predicted: str, judged: Judged, holds: bool, where: str) -> Checked:
    verdict = judged.verdict
    seen = f"{verdict.verdict} in {where}" + (f" ({verdict.reason})" if verdict.reason else "")
    return Control(name, predicted, seen, holds), [r for r in judged.runs.values() if r]


def _inapplicable(name: str, predicted: str, why: str) -> Checked:
    return Control(name, predicted, f"not applicable: {why}", holds=True), []
