"""Turns the run records of a draft's trial into a decision: kept, or refused and why. No I/O."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from gate.draft import Decision
from gate.neighbours import followed, in_suite
from gate.reasons import (
    CONNECTS,
    CONTROL_KILLED,
    DETECTS_HARNESS,
    ENVIRONMENT_DIFFERS,
    FAILS_ELSEWHERE,
    FLAKY,
    INCOMPLETE,
    KEPT,
    PASSES_ON_MUTANT,
    PATCHES,
    READS_SOURCE,
    REASONS,
    STARTS_PROCESS,
    TIMES_OUT,
    WRITES_OUTSIDE,
)
from gate.split import tests_of
from gate.trial import Trial, Trouble, ended_early, failure, ids, out_of_time, short, unlike_pass
from harness.run import ERROR, FAILED, PASSED, RunRecord
from harness.verdict import Exit

__all__ = ["INCOMPLETE", "KEPT", "PASSES_ON_MUTANT", "REASONS", "Trial", "decide", "test_name"]

# The fewest runs on either side, and in the suite, that show a test to be steady.
REPEATS = 3
# What the probe's watch calls a thing that the draft did, and which refusal that is.
WATCHED = {
    "reads": (READS_SOURCE, "it reads the code under test instead of running it"),
    "harness": (DETECTS_HARNESS, "it looks at what runs it, not at what the code under test does"),
    "patches": (PATCHES, "it changes the code under test"),
    "writes": (WRITES_OUTSIDE, "it writes outside its temporary folder (tmp_path is inside)"),
    "connects": (CONNECTS, "it opens a connection"),
    "starts": (STARTS_PROCESS, "it starts a process"),
}


def decide(trial: Trial) -> Decision:
    """``kept`` only if every run that it needs is there and right; INCOMPLETE if nothing so far
    refuses the draft; else the first refusal that the records allow."""
    steps = (_faults, _watched, _on_clean, _conditions, _on_mutant, _on_control, in_suite)
    for step in steps:
        if trouble := step(trial):
            return Decision(False, *trouble)
    if missing := _missing(trial):
        return Decision(False, INCOMPLETE, f"nothing speaks against it so far, but {missing}")
    failed = next(result for result in trial.mutant[0].results if result.outcome == FAILED)
    return Decision(True, KEPT, f"on the clean code it passes, on the mutant {failure(failed)}")


def test_name(code: str) -> str:
    """The file name, without its suffix, that a draft's test gives it: ``test_`` and its words."""
    path = tests_of(ast.parse(code))
    name = str(getattr(path[0][-1], "name", "")) if path else ""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.removeprefix("test")).strip("_")
    return f"test_{words.lower() or 'draft'}"


def _missing(trial: Trial) -> str:
    """Which runs are still to be made, in words, or ""."""
    wanted = (
        (trial.clean, REPEATS, "on the clean code"),
        (trial.mutant, REPEATS, "on the mutant"),
        (trial.control, 1, "on the control"),
        (trial.suite, REPEATS, "with the existing tests"),
        (trial.baseline, len(trial.suite), "of the existing tests without it"),
    )
    for records, number, where in wanted:
        if len(records) < number:
            return f"it needs {number} run(s) {where} and has {len(records)}"
    if not any(
        followed(trial.draft, *pair) for pair in zip(trial.suite, trial.baseline, strict=False)
    ):
        return "in no order did an existing test run after it"
    return ""


def _faults(trial: Trial) -> Trouble | None:
    if trial.clean_digest == trial.mutant_digest:
        return ENVIRONMENT_DIFFERS, "the mutant has the clean file's bytes: there is no fault in it"
    for record in (*_alone(trial), *trial.suite, *trial.baseline):
        if record.fault:
            return ENVIRONMENT_DIFFERS, f"one of its runs failed by itself: {record.fault}"
    return None


def _watched(trial: Trial) -> Trouble | None:
    for record in (*_alone(trial), *trial.suite):
        for what, detail in record.watched:
            reason, words = WATCHED.get(what, WATCHED["harness"])
            return reason, f"{words}: {detail}"
    return None


def _alone(trial: Trial) -> tuple[RunRecord, ...]:
    return (*trial.clean, *trial.mutant, *trial.control)


def _on_clean(trial: Trial) -> Trouble | None:
    where = "on the clean code"
    for record in trial.clean:
        if other := trial.other_bytes(record, trial.clean_digest):
            return ENVIRONMENT_DIFFERS, f"{where} {other}"
    trouble = _unsteady(trial.clean, lambda record: unlike_pass(trial.draft, record))
    if trouble is not None:
        return trouble[0], f"{where} {trouble[1]}"
    if any(ids(record) != ids(trial.clean[0]) for record in trial.clean):
        return FLAKY, f"{where} its parameters have other names from run to run"
    return None


def _unsteady(
    records: Sequence[RunRecord], look: Callable[[RunRecord], Trouble | None]
) -> Trouble | None:
    """The trouble with some of these runs; where the others are as they should be, it is flaky."""
    troubles = [look(record) for record in records]
    found = next(filter(None, troubles), None)
    right = troubles.count(None)
    if found is None or not right or found[0] == TIMES_OUT:
        return found
    return FLAKY, f"{right} of {len(records)} runs are as they should be; in another {found[1]}"


def _conditions(trial: Trial) -> Trouble | None:
    """Whether the runs of either side differ in the mutated file's bytes alone."""
    for side, name in ((trial.mutant, "mutant"), (trial.control, "control")):
        for clean, other in zip(trial.clean, side, strict=False):
            if what := _difference(clean, other, ("argv", "environment", "isolation", "executor")):
                return ENVIRONMENT_DIFFERS, f"a run on the {name} has another {what} than on clean"
    for without, beside in zip(trial.baseline, trial.suite, strict=False):
        if what := _difference(without, beside, ("environment", "isolation", "executor")):
            return ENVIRONMENT_DIFFERS, f"a run of the suite has another {what} than without it"
    return None


def _difference(one: RunRecord, other: RunRecord, names: Sequence[str]) -> str:
    return next((name for name in names if getattr(one, name) != getattr(other, name)), "")


def _on_mutant(trial: Trial) -> Trouble | None:
    where = "on the mutant"
    for record in trial.mutant:
        if other := trial.other_bytes(record, trial.mutant_digest):
            return ENVIRONMENT_DIFFERS, f"{where} {other}"
    trouble = _unsteady(trial.mutant, lambda record: _unlike_failure(trial, record))
    if trouble is not None:
        return trouble[0], f"{where} {trouble[1]}"
    for record in trial.mutant:
        if not trial.bytes_of(record):
            return ENVIRONMENT_DIFFERS, f"{where} it fails, but {trial.path} was never loaded"
        if _failing(record) != _failing(trial.mutant[0]):
            return FLAKY, f"{where} it fails for other parameters from run to run"
    return None


def _unlike_failure(trial: Trial, record: RunRecord) -> Trouble | None:
    """What keeps a run of the mutant from being a failure in the test's own call, or None."""
    if record.limit is not None:
        return TIMES_OUT, f"{out_of_time(record)}; a test has to fail by itself"
    if record.collect_errors:
        error = short(record.collect_errors[0])
        return FAILS_ELSEWHERE, f"pytest cannot collect it, so the test itself never runs: {error}"
    for result in record.results:
        if result.outcome == ERROR or (result.outcome == FAILED and result.phase != "call"):
            return FAILS_ELSEWHERE, f"it is not its own call that fails: {failure(result)}"
    if ended := ended_early(record):
        return FAILS_ELSEWHERE, f"no test fails by itself: {ended}"
    if trial.clean and ids(record) != ids(trial.clean[0]):
        names = ", ".join(sorted(ids(record))) or "none"
        return FAILS_ELSEWHERE, f"pytest collects other tests than on the clean code: {names}"
    if not _failing(record):
        return PASSES_ON_MUTANT, _blind(trial, record)
    for result in record.results:
        if result.outcome not in (PASSED, FAILED):
            return FAILS_ELSEWHERE, f"{result.id} is {result.outcome}; on the clean code it passes"
    if record.exit != Exit.FAILED:
        return FAILS_ELSEWHERE, f"it fails, but pytest ends with exit {record.exit}"
    return None


def _blind(trial: Trial, record: RunRecord) -> str:
    """Why a test that does not fail on the mutant does not."""
    odd = [result.outcome for result in record.results if result.outcome != PASSED]
    if odd:
        return f"it does not fail but is {odd[0]}"
    if not trial.bytes_of(record):
        return f"it passes too: it never loads {trial.path}"
    return "it passes too: what it checks is the same with and without the fault"


def _failing(record: RunRecord) -> set[str]:
    return {result.id for result in record.results if result.outcome == FAILED}


def _on_control(trial: Trial) -> Trouble | None:
    """Clean code with other bytes: who fails on it looks at more than what the code does."""
    where = "on clean code with one comment more"
    for record in trial.control:
        trouble = unlike_pass(trial.draft, record)
        if trouble is not None:
            reason = TIMES_OUT if trouble[0] == TIMES_OUT else CONTROL_KILLED
            return reason, f"{where}, which does the same, {trouble[1]}"
        seen = trial.bytes_of(record)
        if len(seen) != 1 or seen & {trial.clean_digest, trial.mutant_digest}:
            return ENVIRONMENT_DIFFERS, f"{where} {trial.path} was loaded without that comment"
    return None
