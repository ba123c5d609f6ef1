"""Turns a mutant's run record, beside its selection's record on clean, into a verdict. No I/O."""

from __future__ import annotations

import enum
import signal
from collections.abc import Iterable
from dataclasses import dataclass

from harness.run import ERROR, FAILED, GREEN, SKIPPED, RunRecord, TestResult

VERDICTS = (
    "killed",
    "broken",
    "crashed",
    "timeout",
    "survived",
    "unreached",
    "unstable",
    "suppressed",
    "error",
)
DETECTED = frozenset({"killed", "broken", "crashed", "timeout"})
FAILURES = frozenset({FAILED, ERROR})
# How a failed assertion's message begins: in a test of any style, pytest.raises and pytest.fail.
ASSERTIONS = ("AssertionError", "assert ", "Failed: ")
STARVED = "MemoryError"
# Seconds of waiting that count. Less may be the kernel's rounding, which counts in ticks of 4 ms.
WAITED = 0.005
NAMED = 3  # tests named in one reason: enough to start looking, short enough for one line


class Exit(enum.IntEnum):
    """pytest's exit codes."""

    PASSED = 0
    FAILED = 1
    INTERRUPTED = 2
    INTERNAL = 3
    USAGE = 4
    NO_TESTS = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict of design.md's table, why, and the tests that detected the mutant.

    ``reason`` is empty or one sentence; like everything here it holds nothing that varies between
    runs of the same mutant (no time, no address, no absolute path). ``asserted``: a killed one's
    tests failed in an assertion, and not only because the program raised something.
    """

    verdict: str
    reason: str = ""
    detected_by: tuple[str, ...] = ()
    asserted: bool = False


def judge(
    *,
    path: str,
    digest: str,
    selection: tuple[str, ...],
    run: RunRecord,
    clean: RunRecord | None,
    confirm: RunRecord | None = None,
    again: RunRecord | None = None,
    repeat: Verdict | None = None,
) -> Verdict:
    """The verdict on one mutant of ``path`` whose mutated bytes have the sha256 ``digest``.

    ``clean`` is needed when ``needs_clean(run)``, ``confirm`` when ``needs_confirm(run)``, the run
    made ``again`` when ``needs_again(run)``; ValueError says which one is missing. ``repeat`` is
    the verdict that the other executor gave.
    """
    once = _once(path, digest, selection, run=run, clean=clean, confirm=confirm)
    if once.verdict == "killed" and again is not None:
        twice = _once(path, digest, selection, run=again, clean=clean, confirm=confirm)
        once = _seen_twice(once, twice)
    elif once.verdict == "killed" and needs_again(run):
        raise ValueError(f"could not judge a mutant of '{path}': it needs the mutant's run again")
    if repeat is None or once.verdict in (repeat.verdict, "error"):
        return once
    if repeat.verdict == "error":
        return repeat
    both = " and ".join(sorted((once.verdict, repeat.verdict)))
    return Verdict("unstable", f"the two executors disagree: {both}")


def needs_clean(run: RunRecord) -> bool:
    """Whether the verdict on ``run`` rests on the selection's clean run too."""
    return not (_green(run) and _unreported(run) == 0)


def needs_confirm(run: RunRecord) -> bool:
    """Whether the clean selection must be run again right now."""
    return run.limit is not None


def needs_again(run: RunRecord) -> bool:
    """Whether a kill must be seen twice: its test waited, and what it waited for may have failed it
    without any mutant."""
    return run.exit == Exit.FAILED and run.limit is None and run.waited > WAITED


def steady(message: str) -> str:
    """What of a failed test's message a verdict rests on; the rest may hold addresses and times."""
    parts = [ASSERTIONS[0]] if message.startswith(ASSERTIONS) else []
    return " ".join(parts + [STARVED] * (STARVED in message))


def number_of_tests(run: RunRecord) -> int:
    """How many tests ran: those that reported, and the one under way when the process ended."""
    ids = {result.id for result in run.results}
    return len(ids | {run.running} if run.running else ids)


def _once(
    path: str,
    digest: str,
    selection: tuple[str, ...],
    *,
    run: RunRecord,
    clean: RunRecord | None,
    confirm: RunRecord | None,
) -> Verdict:
    """The whole decision, top to bottom: the first line that applies is the verdict."""
    if run.fault:
        return Verdict("error", f"the run failed: {run.fault}")
    if strange := _unattested(path, digest, run):
        return Verdict("error", strange)
    if clean is None and not needs_clean(run):
        return Verdict("survived", _absent(selection, run))
    if clean is None:
        raise ValueError(f"could not judge a mutant of '{path}': it needs the clean run")
    if clean.fault:
        return Verdict("error", f"the clean run failed: {clean.fault}")
    if not _green(clean):
        return Verdict("unstable", f"not green on clean by itself{_why_red(clean)}")
    if run.limit is not None:
        return _timeout(path, run, confirm)
    if run.signal is not None:
        return _crashed(run, f"ended by {_signal_name(run.signal)}")
    if run.exit is None:
        return Verdict("error", "the process ended with neither an exit code nor a signal")
    return _by_exit(run.exit, selection, run, clean)


def _by_exit(code: int, selection: tuple[str, ...], run: RunRecord, clean: RunRecord) -> Verdict:
    """The verdict on a run that ended by itself, beside a clean run that is green."""
    failed = _failed(run.results)
    stopped = bool(run.collect_errors) or run.collected is None
    match code:
        case Exit.PASSED if not run.finished:
            return _crashed(run, "ended early with exit 0")
        case Exit.PASSED if failed or stopped:
            return Verdict("error", "exit 0, but the record holds a failure")
        case Exit.PASSED if _unreported(run) > _unreported(clean):
            return _crashed(run, "ended early with exit 0")
        case Exit.PASSED:
            return Verdict("survived", _absent(selection, run))
        case Exit.FAILED if failed:
            return _killed(selection, failed, clean)
        case Exit.FAILED if run.collect_errors:
            return Verdict("broken", "collection failed")
        case Exit.INTERRUPTED | Exit.INTERNAL | Exit.USAGE if stopped:
            return Verdict("broken", "collection failed")
        case Exit.NO_TESTS:
            return Verdict("broken", "collection failed" if stopped else "no test was collected")
        case Exit.INTERRUPTED | Exit.INTERNAL:
            return _crashed(run, f"pytest was stopped with exit {code}")
        case Exit.USAGE:
            return Verdict("error", "pytest refused its arguments (exit 4)")
        case _ if not run.finished:
            return _crashed(run, f"ended early with exit {code}")
    return Verdict("error", f"exit {code}, but no test failed")


def _timeout(path: str, run: RunRecord, confirm: RunRecord | None) -> Verdict:
    """Over the budget: believed only when clean, run again right then, is within it."""
    if confirm is None:
        raise ValueError(f"could not judge a mutant of '{path}': it needs the clean run again")
    if confirm.fault:
        return Verdict("error", f"the clean run again failed: {confirm.fault}")
    if not _green(confirm):
        return Verdict("unstable", f"over its budget, but so was clean{_why_red(confirm)}")
    return Verdict("timeout", "over its budget", _running(run))


def _killed(
    selection: tuple[str, ...], failed: tuple[TestResult, ...], clean: RunRecord
) -> Verdict:
    """Exit 1 with failed tests: killed by those that were green on clean.

    A mutant may rename the parameters of a test; its function was green on clean all the same.
    """
    green = {result.id for result in clean.results if result.outcome in GREEN}
    functions = {_function(test) for test in green & {*selection}}
    killers = [result for result in failed if _function(result.id) in functions]
    if not killers:
        names = _names(result.id for result in failed)
        return Verdict("unstable", f"failed, but did not run on clean: {names}")
    starved = any(STARVED in result.message for result in killers)
    ids = tuple(dict.fromkeys(result.id for result in killers))
    asserted = any(result.message.startswith(ASSERTIONS) for result in killers)
    return Verdict("killed", "memory limit" if starved else "", ids, asserted)


def _seen_twice(once: Verdict, twice: Verdict) -> Verdict:
    """What a killed mutant is after the same run again."""
    if twice.verdict == "error":
        return twice
    if twice.verdict == "killed":
        return once
    by = _names(once.detected_by)
    return Verdict("unstable", f"killed by {by}, and {twice.verdict} when run again")


def _function(test: str) -> str:
    """A test's id without its parameters."""
    return test.partition("[")[0]


def _crashed(run: RunRecord, how: str) -> Verdict:
    where = f" in {run.running}" if run.running else ""
    return Verdict("crashed", how + where, _running(run))


def _running(run: RunRecord) -> tuple[str, ...]:
    return (run.running,) if run.running else ()


def _failed(results: Iterable[TestResult]) -> tuple[TestResult, ...]:
    return tuple(result for result in results if result.outcome in FAILURES)


def _green(run: RunRecord) -> bool:
    """Exit code and record agree that collection and the session ended and nothing failed."""
    ended = run.exit == Exit.PASSED and run.finished and run.signal is None and run.limit is None
    collected = run.collected is not None and not run.collect_errors
    return ended and collected and not run.fault and not _failed(run.results)


def _unreported(run: RunRecord) -> int:
    """How many collected tests never reported (a session that was stopped, yet exits with 0)."""
    return max(0, (run.collected or 0) - len({result.id for result in run.results}))


def _absent(selection: tuple[str, ...], run: RunRecord) -> str:
    """The reason of a survivor whose selection did not run whole: how many tests, and how."""
    outcomes = {result.id: result.outcome for result in run.results}
    skipped = sum(outcomes.get(test) == SKIPPED for test in selection)
    missing = sum(test not in outcomes for test in selection)
    parts = [f"{skipped} skipped"] * bool(skipped) + [f"{missing} not collected"] * bool(missing)
    return f"of {len(selection)} selected tests {' and '.join(parts)}" if parts else ""


def _why_red(clean: RunRecord) -> str:
    if failed := _failed(clean.results):
        return f": {_names(result.id for result in failed)}"
    if clean.limit is not None:
        return ": over the budget"
    if clean.signal is not None:
        return f": ended by {_signal_name(clean.signal)}"
    return f": exit {clean.exit}"


def _names(ids: Iterable[str]) -> str:
    names = list(dict.fromkeys(ids))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has a number only
        return f"signal {number}"


def _unattested(path: str, digest: str, run: RunRecord) -> str:
    """Why this run did not (only) run the mutated bytes, or the empty string."""
    seen = {item.sha256 for item in run.attested if item.path == path}
    if digest in seen and len(seen) == 1:
        return ""
    if seen:
        other = sorted(seen - {digest})[0]
        return f"{path} was loaded with other bytes: sha256 {other[:12]}, not {digest[:12]}"
    tail = "/" + "/".join(path.removeprefix("src/").split("/")[-2:])
    elsewhere = sorted(item.path for item in run.attested if item.path.endswith(tail))
    if elsewhere:
        return f"{path} was not loaded; {_elided(elsewhere[0], tail)} was"
    return f"{path} was not loaded"


def _elided(path: str, tail: str) -> str:
    """``path`` from one folder above ``tail`` on: a reason holds no absolute path."""
    head = path.removesuffix(tail).rsplit("/", 1)
    return path if len(head) == 1 else f"/…/{head[1]}{tail}"
