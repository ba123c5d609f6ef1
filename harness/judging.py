"""Turns mutants into verdicts, and controls into what was seen of them, each from its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from harness import clean, plan
from harness.clean import Base, Suite
from harness.errors import FAULT, Problem
from harness.lab import Answer, Ask, Lab, Task
from harness.mutant import Mutant, sha256
from harness.report import Row
from harness.run import FORK, FRESH
from harness.sandbox import NAMESPACES
from harness.store import key
from harness.verdict import (
    DETECTED,
    Verdict,
    judge,
    needs_again,
    needs_clean,
    needs_confirm,
    number_of_tests,
)

# One in so many mutants is tried in both executors, and a few unreached ones in the whole suite:
# enough that a fault of the instrument's shows within a few runs, few enough to cost little.
ONE_IN = 200
SAMPLE = 4
UNREACHED_SAMPLE = 2
EMPTY: dict[str, str | None] = dict.fromkeys(("mutant", "clean", "confirm", "again", "sample"))
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
    reached = [mutant for mutant in active if plan.reached(mutant, bench.suite.reach)]
    sample = _sampled(reached, min(SAMPLE, 1 + len(reached) // ONE_IN))
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


def _sampled(mutants: Iterable[Mutant], size: int) -> set[str]:
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
    judged = yield from judge_bytes(bench, "mutant", mutant.path, data, selection, sampled=sampled)
    return mutant, judged


def judge_bytes(
    bench: Bench,
    role: str,
    path: str,
    data: bytes,
    selection: tuple[str, ...],
    *,
    sampled: bool = False,
    keep_time: bool = False,
) -> Task[Judged]:
    """Run the mutated bytes, then what the verdict on that run needs.

    ``keep_time`` gives the mutated file the clean one's time.
    """
    wanted = _asker(bench, path, data, selection)
    own = wanted(role, bench.suite.executor)
    if keep_time:
        job = replace(own.job, task={"keep_time": True})
        own = replace(own, key=key(keep_time=own.key), job=job)
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
    again_ask = None
    again: Answer | None = None
    if any(needs_again(record) for record in records):
        again_ask = wanted("again", bench.suite.executor, nonce=own.key)
        again = yield again_ask
        records.append(again.record)
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
            again=again.record if again else None,
            repeat=repeat,
        )

    verdict = verdict_on(run, verdict_on(sample, None) if sample else None)
    if verdict.verdict == "timeout":
        # Confirmed, and so final: only now may a run over its limit be stored.
        bench.lab.keep(own, run)
        if sample and sample_ask:
            bench.lab.keep(sample_ask, sample)
    if again and verdict.verdict == "unstable":
        # What the machine's load does is tried anew the next time.
        for ask in (own, sample_ask, again_ask):
            if ask:
                bench.lab.store.forget(ask.key)
    runs = {
        "mutant": run.run,
        "clean": on_clean.run if on_clean else None,
        "confirm": confirm.run if confirm else None,
        "again": again.run if again else None,
        "sample": sample.run if sample else None,
    }
    return Judged(verdict, number_of_tests(run.record), bench.lab.selection(selection), runs)


def _asker(bench: Bench, path: str, data: bytes, selection: tuple[str, ...]) -> Callable[..., Ask]:
    """Makes the asks about one selection; in the clean roles without the mutation."""
    budget = clean.limits(bench.suite, bench.base, selection)
    left_out = plan.left_out(selection, bench.suite.reach, bench.base.set_aside)

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
        asserted=judged.verdict.asserted,
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
        asserted=judged.verdict.asserted,
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
        judged = yield from judge_bytes(bench, "sample", mutant.path, data, selection)
        return mutant, judged

    for mutant, judged in bench.lab.drive(task(m) for m in unreached if m.id in names):
        # Red where clean is green is noticed too, when the file was loaded past the attestation.
        noticed = judged.verdict.verdict == "error" and judged.runs["clean"] is not None
        if judged.verdict.verdict in DETECTED or noticed:
            why = f" ({judged.verdict.reason})" if judged.verdict.reason else ""
            raise Problem(
                FAULT,
                f"no score is printed: '{mutant.id}' is detected, though no test was seen to reach "
                f"it{why}, so reach is wrong; please report this with the log",
            )
