"""Turns a suite's runs with a draft, beside those without it, into what the draft does to it."""

from __future__ import annotations

from gate.reasons import (
    BREAKS_NEIGHBOUR,
    ENVIRONMENT_DIFFERS,
    SHADOWS_NEIGHBOUR,
    TIMES_OUT,
)
from gate.trial import (
    Trial,
    Trouble,
    ended_early,
    failure,
    file_of,
    ids,
    out_of_time,
    red,
    short,
)
from harness.run import GREEN, PASSED, RunRecord, TestResult
from harness.verdict import Exit

WHERE = "with the existing tests, on the clean code,"


def in_suite(trial: Trial) -> Trouble | None:
    """The first refusal that the suite's runs are evidence of, or None."""
    for beside, without in zip(trial.suite, trial.baseline, strict=False):
        for look in (_whole_run, _own_test, _neighbours, _strangers):
            if trouble := look(trial, beside, without):
                return trouble
    return None


def followed(draft: str, beside: RunRecord, without: RunRecord) -> bool:
    """Whether an existing test, if there is any, ran after the draft."""
    existing = {result.id for result in without.results}
    order = [result.id for result in beside.results]
    own = [place for place, test in enumerate(order) if file_of(test) == draft]
    return not existing or (bool(own) and not existing.isdisjoint(order[max(own) + 1 :]))


def _whole_run(trial: Trial, beside: RunRecord, without: RunRecord) -> Trouble | None:
    if without.limit or ended_early(without):
        return ENVIRONMENT_DIFFERS, "without it the existing tests do not end by themselves either"
    if beside.limit is not None:
        return TIMES_OUT, f"{WHERE} {out_of_time(beside)}"
    for error in sorted(set(beside.collect_errors) - set(without.collect_errors)):
        return BREAKS_NEIGHBOUR, f"{WHERE} pytest cannot collect a file: {short(error)}"
    if ended := ended_early(beside):
        return BREAKS_NEIGHBOUR, f"{WHERE} {ended}"
    for record in (beside, without):
        if other := trial.other_bytes(record, trial.clean_digest):
            return ENVIRONMENT_DIFFERS, f"{WHERE} {other}"
    return None


def _own_test(trial: Trial, beside: RunRecord, _: RunRecord) -> Trouble | None:
    """The draft's own test among the others."""
    own = [result for result in beside.results if file_of(result.id) == trial.draft]
    if trial.clean and {result.id for result in own} != ids(trial.clean[0]):
        return SHADOWS_NEIGHBOUR, f"{WHERE} pytest does not collect it as it does alone"
    for result in own:
        if (result.outcome, result.phase) != (PASSED, "call"):
            reason, words = red(result)
            return reason, f"{WHERE} {words}"
    return None


def _neighbours(_: Trial, beside: RunRecord, without: RunRecord) -> Trouble | None:
    """The existing tests: each is there, and as green as it is without the draft."""
    now = {result.id: result for result in beside.results}
    for before in without.results:
        after = now.get(before.id)
        if after is None:
            return SHADOWS_NEIGHBOUR, f"beside it {before.id} is not collected any more"
        if _worse(before, after):
            return BREAKS_NEIGHBOUR, f"beside it {before.id} does not pass: {failure(after)}"
    return None


def _strangers(_: Trial, beside: RunRecord, without: RunRecord) -> Trouble | None:
    """Whatever else differs. Tests in other new files may be there too: other drafts."""
    files = {file_of(id_) for id_ in ids(without)}
    for id_ in sorted(ids(beside) - ids(without)):
        if file_of(id_) in files:
            return SHADOWS_NEIGHBOUR, f"beside it a test is collected that was not there: {id_}"
    others_fail = beside.exit == Exit.FAILED and any(
        result.outcome not in GREEN and file_of(result.id) not in files for result in beside.results
    )
    if beside.exit != without.exit and not others_fail:
        exits = f"exit {beside.exit}, without it with exit {without.exit}"
        return BREAKS_NEIGHBOUR, f"beside it pytest ends with {exits}"
    return None


def _worse(before: TestResult, after: TestResult) -> bool:
    if before.outcome == PASSED:
        return after.outcome != PASSED
    return before.outcome in GREEN and after.outcome not in GREEN
