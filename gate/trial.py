"""Turns the run records of one draft into what each of them says of its test."""

from __future__ import annotations

from dataclasses import dataclass

from gate.reasons import ERRORS_ON_CLEAN, FAILS_ON_CLEAN, NO_TEST, SEVERAL_TESTS, TIMES_OUT
from harness.run import ERROR, FAILED, PASSED, RunRecord, TestResult
from harness.verdict import Exit

# What happened in one run: the refusal that it would be, and the words for it.
Trouble = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Trial:
    """The records of one draft, each with the draft alone unless said otherwise.

    ``draft`` is its project-relative file, ``path`` the mutated one; the digests are those of the
    mutated file's bytes on either side. ``control`` is clean code with other bytes (one comment
    more), ``suite`` the existing tests on clean with the draft among them, ``baseline`` the same
    orders without it. Runs of one number in ``clean``, ``mutant`` and ``control`` differ in those
    bytes alone. A tuple may be shorter than it will be: what is missing has not been run yet.
    """

    draft: str
    path: str
    clean_digest: str
    mutant_digest: str
    clean: tuple[RunRecord, ...] = ()
    mutant: tuple[RunRecord, ...] = ()
    control: tuple[RunRecord, ...] = ()
    suite: tuple[RunRecord, ...] = ()
    baseline: tuple[RunRecord, ...] = ()

    def bytes_of(self, record: RunRecord) -> set[str]:
        """The digests of what a run compiled of the mutated file; none if bytecode was there."""
        return {item.sha256 for item in record.attested if item.path == self.path}

    def other_bytes(self, record: RunRecord, digest: str) -> str:
        """In words, what else than the bytes of that digest a run compiled of the file, or ""."""
        for other in sorted(self.bytes_of(record) - {digest}):
            was = f"{self.path} was loaded with other bytes"
            return f"{was}: sha256 {other[:12]}, not {digest[:12]}"
        return ""


def unlike_pass(draft: str, record: RunRecord) -> Trouble | None:
    """What keeps a run of the draft alone from being one test that passes, or None."""
    if record.limit is not None:
        return TIMES_OUT, out_of_time(record)
    if record.collect_errors:
        return ERRORS_ON_CLEAN, f"pytest cannot collect it: {short(record.collect_errors[0])}"
    for result in record.results:
        if result.outcome in (FAILED, ERROR):
            return red(result)
    if ended := ended_early(record):
        return ERRORS_ON_CLEAN, ended
    if trouble := _not_one_test(draft, record):
        return trouble
    for result in record.results:
        if (result.outcome, result.phase) != (PASSED, "call"):
            return NO_TEST, f"it does not pass but is {result.outcome}, which proves nothing"
    if record.exit != Exit.PASSED:
        return ERRORS_ON_CLEAN, f"it passes, but pytest ends with exit {record.exit}"
    return None


def red(result: TestResult) -> Trouble:
    """A test that does not pass on clean code."""
    return FAILS_ON_CLEAN if result.phase == "call" else ERRORS_ON_CLEAN, failure(result)


def _not_one_test(draft: str, record: RunRecord) -> Trouble | None:
    functions = {_function(result.id) for result in record.results}
    if not functions:
        return NO_TEST, "pytest finds no test in it"
    names = ", ".join(sorted(name.removeprefix(f"{draft}::") for name in functions))
    if not all(name.startswith(f"{draft}::") for name in functions):
        return SEVERAL_TESTS, f"tests outside its own file run with it: {names}"
    if len(functions) > 1:
        return SEVERAL_TESTS, f"pytest finds {len(functions)} tests in it, not one: {names}"
    return None


def ended_early(record: RunRecord) -> str:
    """How the process ended before pytest had reported every test, or ""."""
    where = f" in {record.running}" if record.running else ""
    if record.signal is not None:
        return f"the process is ended by signal {record.signal}{where}"
    if record.collected is None or not record.finished:
        return f"the process ends early, with exit {record.exit}{where}"
    missing = record.collected - len(ids(record))
    return f"of {record.collected} tests {missing} never reported" if missing > 0 else ""


def out_of_time(record: RunRecord) -> str:
    """In words, that a limit ended the run."""
    return f"the run does not end within its limit of {record.limit} time"


def ids(record: RunRecord) -> set[str]:
    """The tests that reported."""
    return {result.id for result in record.results}


def file_of(test: str) -> str:
    """The file of a test's id."""
    return test.partition("::")[0]


def _function(test: str) -> str:
    """A test's id without its parameters."""
    file, _, names = test.partition("::")
    return f"{file}::{names.partition('[')[0]}"


def failure(result: TestResult) -> str:
    """In words, how a test ended that did not pass."""
    message = f": {short(result.message)}" if result.message else ""
    if result.outcome == FAILED:
        return f"it fails{message}"
    if result.outcome == ERROR:
        return f"its {result.phase} fails{message}"
    return f"it is {result.outcome}"


def short(message: str) -> str:
    """A message on one line."""
    return " ".join(message.split())
