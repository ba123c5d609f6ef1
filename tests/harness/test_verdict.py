"""Every row of the verdict table, each beside a near miss that must not get that verdict."""

from __future__ import annotations

import itertools
import signal
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from harness.run import Attestation, RunRecord, TestResult
from harness.verdict import (
    DETECTED,
    VERDICTS,
    Exit,
    Verdict,
    judge,
    needs_again,
    needs_clean,
    needs_confirm,
    number_of_tests,
    steady,
)

PATH = "slug/special.py"
DIGEST = "d" * 64
OTHER = "e" * 64
A, B, C = "tests/test_s.py::test_a", "tests/test_s.py::test_b", "tests/test_s.py::test_c"
ALL = (A, B, C)


def result(id: str, outcome: str = "passed", phase: str = "call", message: str = "") -> TestResult:
    return TestResult(id, outcome, phase, message)


GREEN_RUN = RunRecord(
    argv=("python", "-m", "pytest"),
    environment="env",
    input="in",
    executor="fork",
    isolation="namespaces",
    exit=0,
    signal=None,
    limit=None,
    collected=3,
    finished=True,
    results=tuple(result(test) for test in ALL),
    running=None,
    attested=(Attestation(PATH, DIGEST),),
)
CLEAN = replace(GREEN_RUN, attested=(Attestation(PATH, OTHER),))
KILLED_RUN = replace(GREEN_RUN, exit=1, results=(result(A), result(B, "failed")))
WAITING = replace(KILLED_RUN, waited=0.3)
OVER = replace(GREEN_RUN, exit=None, limit="cpu", finished=False, results=(result(A),), running=B)
UNCOLLECTED = replace(
    GREEN_RUN,
    exit=2,
    collected=None,
    results=(),
    collect_errors=("tests/test_s.py: NameError",),
)


def judged(
    run: RunRecord,
    clean: RunRecord | None = CLEAN,
    confirm: RunRecord | None = None,
    again: RunRecord | None = None,
    repeat: Verdict | None = None,
) -> Verdict:
    return judge(
        path=PATH,
        digest=DIGEST,
        selection=ALL,
        run=run,
        clean=clean,
        confirm=confirm,
        again=again,
        repeat=repeat,
    )


def test_exit_codes_are_those_that_pytest_documents() -> None:
    assert {code.name: code.value for code in Exit} == {
        "PASSED": int(pytest.ExitCode.OK),
        "FAILED": int(pytest.ExitCode.TESTS_FAILED),
        "INTERRUPTED": int(pytest.ExitCode.INTERRUPTED),
        "INTERNAL": int(pytest.ExitCode.INTERNAL_ERROR),
        "USAGE": int(pytest.ExitCode.USAGE_ERROR),
        "NO_TESTS": int(pytest.ExitCode.NO_TESTS_COLLECTED),
    }


# survived


def test_exit_0_with_every_selected_test_passed_is_survived_without_a_clean_run() -> None:
    assert judged(GREEN_RUN, clean=None) == Verdict("survived")
    assert judged(GREEN_RUN) == Verdict("survived")


def test_a_survivor_whose_tests_were_skipped_or_not_collected_says_how_many() -> None:
    run = replace(GREEN_RUN, collected=2, results=(result(A), result(B, "skipped", "setup")))
    assert judged(run) == Verdict("survived", "of 3 selected tests 1 skipped and 1 not collected")


def test_a_session_that_ended_without_a_test_and_with_exit_0_did_not_end_early() -> None:
    run = replace(GREEN_RUN, collected=0, results=())
    assert judged(run) == Verdict("survived", "of 3 selected tests 3 not collected")


@pytest.mark.parametrize(
    "odd",
    [
        {"results": (result(A), result(B, "failed"), result(C))},
        {"collect_errors": ("tests/test_s.py: NameError",)},
        {"collected": None},
    ],
)
def test_exit_0_with_a_failure_in_the_record_is_an_error_not_a_survivor(
    odd: dict[str, Any],
) -> None:
    run = replace(GREEN_RUN, **odd)
    assert judged(run) == Verdict("error", "exit 0, but the record holds a failure")


# killed


def test_exit_1_with_a_test_that_passed_on_clean_and_failed_is_killed_by_that_test() -> None:
    assert judged(KILLED_RUN) == Verdict("killed", "", (B,))


@pytest.mark.parametrize("phase", ["setup", "call", "teardown"])
def test_a_failure_in_any_phase_of_the_test_kills(phase: str) -> None:
    run = replace(KILLED_RUN, results=(result(A, "error", phase),))
    assert judged(run) == Verdict("killed", "", (A,))


@pytest.mark.parametrize("outcome", ["skipped", "xfailed", "xpassed"])
def test_a_test_that_was_not_red_on_clean_kills_when_it_fails(outcome: str) -> None:
    clean = replace(CLEAN, results=(result(A), result(B, outcome), result(C)))
    assert judged(KILLED_RUN, clean) == Verdict("killed", "", (B,))


def test_a_failing_test_that_did_not_run_on_clean_kills_nothing() -> None:
    clean = replace(CLEAN, collected=2, results=(result(A), result(C)))
    assert judged(KILLED_RUN, clean) == Verdict(
        "unstable", f"failed, but did not run on clean: {B}"
    )


def test_a_test_whose_parameters_the_mutant_renames_kills_as_its_function_was_green() -> None:
    one, other = f"{B}[1]", f"{B}[2]"
    clean = replace(CLEAN, results=(result(A), result(one)))
    run = replace(KILLED_RUN, results=(result(A), result(other, "failed")))
    verdict = judge(path=PATH, digest=DIGEST, selection=(A, one), run=run, clean=clean)
    assert verdict == Verdict("killed", "", (other,))


@pytest.mark.parametrize(
    ("number", "names"),
    [(2, "t0, t1"), (3, "t0, t1, t2"), (4, "t0, t1, t2 and 1 more"), (7, "t0, t1, t2 and 4 more")],
)
def test_three_tests_are_named_and_the_others_counted(number: int, names: str) -> None:
    run = replace(KILLED_RUN, results=tuple(result(f"t{n}", "failed") for n in range(number)))
    assert judged(run).reason == f"failed, but did not run on clean: {names}"


def test_a_failing_test_outside_the_selection_kills_nothing() -> None:
    stranger = "tests/test_other.py::test_x"
    run = replace(KILLED_RUN, results=(result(stranger, "failed"),))
    clean = replace(CLEAN, results=(*CLEAN.results, result(stranger)))
    assert judged(run, clean).verdict == "unstable"


def test_exit_1_without_a_failed_test_is_an_error_when_the_session_ended() -> None:
    run = replace(KILLED_RUN, results=GREEN_RUN.results)
    assert judged(run).verdict == "error"


def test_a_kill_by_the_memory_limit_says_so() -> None:
    run = replace(KILLED_RUN, results=(result(A, "failed", message="MemoryError"),))
    assert judged(run) == Verdict("killed", "memory limit", (A,))


def test_a_kill_by_an_assertion_does_not_speak_of_memory() -> None:
    run = replace(KILLED_RUN, results=(result(A, "failed", message="AssertionError"),))
    assert judged(run).reason == ""


@pytest.mark.parametrize(
    ("message", "asserted"),
    [
        ("assert 1 == 2\n +  where 1 = f()", True),
        ("AssertionError: 1 != 2", True),
        ("AssertionError", True),
        ("Failed: DID NOT RAISE <class 'ValueError'>", True),
        ("ValueError: assert", False),
        ("asserted: nothing", False),
        ("", False),
    ],
)
def test_a_kill_says_whether_an_assertion_failed_or_the_program_raised(
    message: str, asserted: bool
) -> None:
    run = replace(KILLED_RUN, results=(result(A, "failed", message=message),))
    assert judged(run) == Verdict("killed", "", (A,), asserted)


def test_one_failed_assertion_among_several_failures_is_enough() -> None:
    results = (result(A, "failed", message="ValueError"), result(B, "failed", message="assert 0"))
    assert judged(replace(KILLED_RUN, results=results)).asserted


# broken


@pytest.mark.parametrize("code", [1, 2, 3, 4, 5])
def test_a_collection_that_fails_on_the_mutant_alone_is_broken(code: int) -> None:
    assert judged(replace(UNCOLLECTED, exit=code)) == Verdict("broken", "collection failed")


@pytest.mark.parametrize("code", [2, 3, 4])
def test_a_collection_that_never_ended_is_broken(code: int) -> None:
    run = replace(UNCOLLECTED, exit=code, collect_errors=(), finished=False)
    assert judged(run).verdict == "broken"


def test_no_test_collected_is_broken() -> None:
    run = replace(GREEN_RUN, exit=5, collected=0, results=())
    assert judged(run) == Verdict("broken", "no test was collected")


def test_a_collection_that_fails_on_clean_too_is_not_broken_but_unstable() -> None:
    clean = replace(UNCOLLECTED, attested=CLEAN.attested)
    assert judged(UNCOLLECTED, clean) == Verdict("unstable", "not green on clean by itself: exit 2")


def test_a_usage_error_after_collection_is_the_instruments_error() -> None:
    run = replace(GREEN_RUN, exit=4, results=())
    assert judged(run) == Verdict("error", "pytest refused its arguments (exit 4)")


# crashed


def test_a_run_that_a_signal_ended_is_crashed_in_the_test_under_way() -> None:
    run = replace(
        GREEN_RUN,
        exit=None,
        signal=signal.SIGABRT,
        finished=False,
        results=(result(A),),
        running=B,
    )
    assert judged(run) == Verdict("crashed", f"ended by SIGABRT in {B}", (B,))


def test_a_signal_without_a_name_is_told_by_its_number() -> None:
    run = replace(GREEN_RUN, exit=None, signal=40, finished=False)
    assert judged(run) == Verdict("crashed", "ended by signal 40")


def test_exit_0_before_the_session_ended_is_crashed_not_survived() -> None:
    run = replace(GREEN_RUN, finished=False, results=(result(A),), running=B)
    assert judged(run) == Verdict("crashed", f"ended early with exit 0 in {B}", (B,))


def test_exit_0_with_collected_tests_that_never_reported_is_crashed_not_survived() -> None:
    run = replace(GREEN_RUN, results=(result(A),))
    assert judged(run) == Verdict("crashed", "ended early with exit 0")


def test_tests_that_do_not_report_on_clean_either_do_not_make_a_crash() -> None:
    run = replace(GREEN_RUN, results=(result(A),))
    clean = replace(CLEAN, results=(result(A),))
    assert judged(run, clean).verdict == "survived"


@pytest.mark.parametrize("code", [1, 7, 255])
def test_an_early_end_without_a_failed_test_is_crashed_whatever_its_code(code: int) -> None:
    run = replace(GREEN_RUN, exit=code, finished=False, results=())
    assert judged(run).verdict == "crashed"


@pytest.mark.parametrize("code", [2, 3])
def test_a_session_stopped_after_collection_is_crashed(code: int) -> None:
    assert judged(replace(GREEN_RUN, exit=code, results=(result(A),))).verdict == "crashed"


def test_an_exit_code_that_is_not_pytests_is_an_error_when_the_session_ended() -> None:
    assert judged(replace(GREEN_RUN, exit=7)).verdict == "error"


# killed by a test that waited


def test_a_kill_by_a_test_that_waited_needs_the_run_again() -> None:
    assert needs_again(WAITING)
    with pytest.raises(ValueError, match="the mutant's run again"):
        judged(WAITING)


@pytest.mark.parametrize(
    "run",
    [
        KILLED_RUN,
        replace(KILLED_RUN, waited=0.005),
        replace(KILLED_RUN, waited=0.004),  # a tick of the kernel's
        replace(KILLED_RUN, waited=-0.004),
        replace(WAITING, exit=0),
        replace(OVER, waited=0.3),
        replace(WAITING, exit=None, signal=9),
    ],
    ids=["computed", "5 ms", "a tick", "a tick less", "passed", "over its budget", "signal"],
)
def test_any_other_run_is_believed_at_once(run: RunRecord) -> None:
    assert not needs_again(run)


def test_a_kill_that_is_seen_twice_is_the_first_one() -> None:
    other = replace(WAITING, results=(result(A), result(B), result(C, "failed")))
    assert judged(WAITING, again=WAITING) == Verdict("killed", "", (B,))
    assert judged(WAITING, again=other) == Verdict("killed", "", (B,))


def test_a_test_that_failed_once_and_then_passed_kills_nothing() -> None:
    assert judged(WAITING, again=GREEN_RUN) == Verdict(
        "unstable", f"killed by {B}, and survived when run again"
    )


@pytest.mark.parametrize(
    ("again", "verdict"),
    [
        (UNCOLLECTED, "broken"),
        (OVER, "timeout"),
        (replace(WAITING, exit=None, signal=11), "crashed"),
    ],
)
def test_a_kill_that_is_detected_otherwise_when_run_again_is_unstable(
    again: RunRecord, verdict: str
) -> None:
    found = judged(WAITING, confirm=CLEAN, again=again)
    assert found == Verdict("unstable", f"killed by {B}, and {verdict} when run again")


def test_a_run_again_that_ran_other_bytes_is_an_error() -> None:
    again = replace(WAITING, attested=CLEAN.attested)
    assert judged(WAITING, again=again).verdict == "error"


def test_a_run_again_counts_even_where_the_first_one_no_longer_says_that_it_waited() -> None:
    """As in a verdict file, which holds no times."""
    assert judged(KILLED_RUN, again=GREEN_RUN).verdict == "unstable"


def test_what_was_not_killed_is_not_changed_by_the_run_again_that_its_sample_needs() -> None:
    assert judged(GREEN_RUN, again=WAITING) == Verdict("survived")


def test_a_kill_that_is_seen_twice_may_still_differ_in_the_other_executor() -> None:
    found = judged(WAITING, again=WAITING, repeat=Verdict("survived"))
    assert found == Verdict("unstable", "the two executors disagree: killed and survived")


# timeout


def test_over_its_budget_while_clean_is_within_it_again_is_a_timeout() -> None:
    assert judged(OVER, confirm=CLEAN) == Verdict("timeout", "over its budget", (B,))


@pytest.mark.parametrize("limit", ["wall", "cpu"])
def test_which_limit_it_was_does_not_show_since_it_may_vary(limit: str) -> None:
    assert judged(replace(OVER, limit=limit), confirm=CLEAN).reason == "over its budget"


def test_over_its_budget_while_clean_is_over_it_too_is_unstable() -> None:
    verdict = judged(OVER, confirm=replace(OVER, attested=CLEAN.attested))
    assert verdict == Verdict("unstable", "over its budget, but so was clean: over the budget")


def test_over_its_budget_while_clean_fails_when_run_again_is_unstable() -> None:
    verdict = judged(OVER, confirm=replace(CLEAN, exit=1, results=(result(C, "failed"),)))
    assert verdict.verdict == "unstable"
    assert C in verdict.reason


def test_over_its_budget_needs_the_clean_run_again() -> None:
    assert needs_confirm(OVER)
    with pytest.raises(ValueError, match="clean run again"):
        judged(OVER)


# unstable


def test_a_selection_that_is_not_green_on_clean_is_unstable_and_names_the_tests() -> None:
    clean = replace(CLEAN, exit=1, results=(result(A, "failed"), result(B), result(C)))
    assert judged(KILLED_RUN, clean) == Verdict("unstable", f"not green on clean by itself: {A}")


def test_a_selection_that_a_signal_ends_on_clean_is_unstable_and_names_the_signal() -> None:
    clean = replace(CLEAN, exit=None, signal=signal.SIGKILL, finished=False)
    assert judged(KILLED_RUN, clean) == Verdict(
        "unstable", "not green on clean by itself: ended by SIGKILL"
    )


def test_two_executors_that_disagree_make_it_unstable_whichever_came_first() -> None:
    reason = "the two executors disagree: killed and survived"
    assert judged(GREEN_RUN, repeat=Verdict("killed", "", (B,))) == Verdict("unstable", reason)
    assert judged(KILLED_RUN, repeat=Verdict("survived")) == Verdict("unstable", reason)


def test_two_executors_that_agree_change_nothing() -> None:
    assert judged(KILLED_RUN, repeat=Verdict("killed", "", (A,))) == Verdict("killed", "", (B,))


def test_an_error_of_either_executor_stays_an_error() -> None:
    error = Verdict("error", "the run failed: no sandbox")
    assert judged(GREEN_RUN, repeat=error) == error
    assert (
        judged(replace(GREEN_RUN, fault="no fork"), repeat=Verdict("survived")).verdict == "error"
    )


# error and attestation


def test_a_fault_of_the_run_is_an_error_whatever_else_it_holds() -> None:
    run = replace(KILLED_RUN, fault="could not mount")
    assert judged(run) == Verdict("error", "the run failed: could not mount")


def test_a_run_that_never_loaded_the_mutated_file_is_an_error_not_a_survivor() -> None:
    run = replace(GREEN_RUN, attested=())
    assert judged(run) == Verdict("error", f"{PATH} was not loaded")


def test_a_run_that_loaded_an_installed_copy_says_which_without_an_absolute_path() -> None:
    installed = "/home/u/venv/lib/python3.11/site-packages/slug/special.py"
    run = replace(GREEN_RUN, attested=(Attestation(installed, OTHER),))
    assert judged(run) == Verdict(
        "error",
        "slug/special.py was not loaded; /…/site-packages/slug/special.py was",
    )


def test_a_src_layout_shadowed_by_a_wheel_names_the_wheels_file() -> None:
    run = replace(GREEN_RUN, attested=(Attestation("/v/site-packages/slug/a.py", OTHER),))
    verdict = judge(path="src/slug/a.py", digest=DIGEST, selection=ALL, run=run, clean=CLEAN)
    assert verdict.reason == "src/slug/a.py was not loaded; /…/site-packages/slug/a.py was"


def test_a_single_module_below_src_that_a_wheel_shadows_names_the_wheels_file() -> None:
    run = replace(GREEN_RUN, attested=(Attestation("/v/site-packages/a.py", OTHER),))
    verdict = judge(path="src/a.py", digest=DIGEST, selection=ALL, run=run, clean=CLEAN)
    assert verdict.reason == "src/a.py was not loaded; /…/site-packages/a.py was"


def test_a_module_deep_in_the_checkout_is_known_elsewhere_by_its_folder_and_name() -> None:
    run = replace(GREEN_RUN, attested=(Attestation("/v/site-packages/slug/a.py", OTHER),))
    verdict = judge(path="python/lib/slug/a.py", digest=DIGEST, selection=ALL, run=run, clean=None)
    assert verdict.reason == "python/lib/slug/a.py was not loaded; /…/site-packages/slug/a.py was"


def test_stale_bytecode_is_an_error_that_names_both_digests() -> None:
    run = replace(KILLED_RUN, attested=(Attestation(PATH, OTHER),))
    assert judged(run) == Verdict(
        "error",
        "slug/special.py was loaded with other bytes: sha256 eeeeeeeeeeee, not dddddddddddd",
    )


def test_one_process_with_the_clean_bytes_is_an_error_even_beside_the_mutated_ones() -> None:
    run = replace(KILLED_RUN, attested=(Attestation(PATH, DIGEST), Attestation(PATH, OTHER)))
    assert judged(run).verdict == "error"


def test_other_files_may_be_attested_with_whatever_bytes() -> None:
    run = replace(KILLED_RUN, attested=(*KILLED_RUN.attested, Attestation("slug/b.py", OTHER)))
    assert judged(run).verdict == "killed"


def test_attestation_comes_before_the_timeout_and_needs_no_clean_run() -> None:
    assert judged(replace(OVER, attested=()), clean=None).verdict == "error"


def test_a_fault_of_a_clean_run_is_an_error() -> None:
    broken = replace(CLEAN, fault="no sandbox")
    assert judged(KILLED_RUN, clean=broken).verdict == "error"
    assert judged(OVER, confirm=broken).verdict == "error"


def test_neither_an_exit_code_nor_a_signal_is_an_error() -> None:
    assert judged(replace(KILLED_RUN, exit=None)).verdict == "error"


# what the caller is told


def test_only_a_simply_green_run_needs_no_clean_run() -> None:
    assert not needs_clean(GREEN_RUN)
    for run in (
        KILLED_RUN,
        OVER,
        UNCOLLECTED,
        replace(GREEN_RUN, finished=False),
        replace(GREEN_RUN, collected=None),
        replace(GREEN_RUN, collect_errors=("tests/test_s.py: NameError",)),
        replace(GREEN_RUN, results=()),
        replace(GREEN_RUN, exit=None, signal=9),
    ):
        assert needs_clean(run)
        with pytest.raises(ValueError, match="needs the clean run"):
            judged(run, clean=None)


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("assert 0x7f01 == 0x7f02", "AssertionError"),
        ("Failed: DID NOT RAISE", "AssertionError"),
        ("AssertionError: took 0.13 s", "AssertionError"),
        ("MemoryError: 4096 bytes", "MemoryError"),
        ("assert f() raised MemoryError", "AssertionError MemoryError"),
        ("ValueError: at 0x7f01", ""),
    ],
)
def test_of_a_message_only_what_a_verdict_rests_on_is_kept(message: str, kept: str) -> None:
    assert steady(message) == kept
    run = replace(KILLED_RUN, results=(result(A, "failed", message=message),))
    same = replace(KILLED_RUN, results=(result(A, "failed", message=kept),))
    assert judged(run) == judged(same)


def test_a_verdict_cannot_be_altered() -> None:
    with pytest.raises(FrozenInstanceError):
        judged(GREEN_RUN).verdict = "killed"  # type: ignore[misc]


def test_a_test_under_way_at_the_end_has_run() -> None:
    assert number_of_tests(GREEN_RUN) == 3
    assert number_of_tests(OVER) == 2
    assert number_of_tests(replace(OVER, results=(result(A), result(B, "failed")))) == 2


# the whole space

EXITS = (None, 0, 1, 2, 3, 4, 5, 7)
SIGNALS = (None, 11)
LIMITS = (None, "wall")
COLLECTED = (None, 0, 3)
RESULTS: tuple[tuple[TestResult, ...], ...] = (
    (),
    GREEN_RUN.results,
    (result(A), result(B, "failed")),
    (result(A, "error", "setup"),),
)
ATTESTED = ((), (Attestation(PATH, OTHER),), (Attestation(PATH, DIGEST),))
CLEANS = (CLEAN, replace(CLEAN, exit=1, results=(result(A, "failed"),)))
BOOLS = (False, True)


def test_whatever_a_run_looks_like_the_verdict_is_one_that_its_evidence_allows() -> None:
    space = itertools.product(
        EXITS, SIGNALS, LIMITS, COLLECTED, BOOLS, RESULTS, ATTESTED, CLEANS, BOOLS
    )
    for code, number, limit, collected, finished, results, attested, clean, errors in space:
        run = replace(
            GREEN_RUN,
            exit=code,
            signal=number,
            limit=limit,
            collected=collected,
            finished=finished,
            results=results,
            attested=attested,
            collect_errors=("x",) if errors else (),
        )
        assert not needs_again(run)
        verdict = judged(run, clean, confirm=CLEAN).verdict
        assert verdict in set(VERDICTS) - {"unreached", "suppressed"}
        if attested != (Attestation(PATH, DIGEST),):
            assert verdict == "error"
        if verdict == "survived":
            assert (code, number, limit, finished) == (0, None, None, True)
            assert all(item.outcome == "passed" for item in results)
        if verdict in DETECTED:
            assert clean is CLEAN
        if verdict == "killed":
            assert code == 1
            assert any(item.outcome in {"failed", "error"} for item in results)
        if verdict == "timeout":
            assert limit is not None
