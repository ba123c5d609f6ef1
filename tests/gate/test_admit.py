"""Every refusal that run records are evidence of, each one change away from a kept draft."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gate import admit
from gate.admit import INCOMPLETE, REASONS, Trial, decide
from gate.draft import Decision
from harness.run import Attestation, RunRecord, TestResult

DRAFT = "tests/test_hermutic_ab.py"
TEST = f"{DRAFT}::test_zero"
PATH = "bank.py"
CLEAN, MUTANT, CONTROL = "c" * 64, "d" * 64, "e" * 64
OLD = ("tests/test_bank.py::test_a", "tests/test_bank.py::test_b[1]")


def passed(test: str = TEST) -> TestResult:
    return TestResult(test, "passed", "call")


def failed(test: str = TEST, message: str = "assert 1 == 2") -> TestResult:
    return TestResult(test, "failed", "call", message)


def error(phase: str, test: str = TEST) -> TestResult:
    return TestResult(test, "error", phase, "RuntimeError: no")


def run(digest: str, *results: TestResult, code: int = 0, **fields: Any) -> RunRecord:
    whole: dict[str, Any] = {
        "argv": ("python", "-m", "pytest", DRAFT),
        "environment": "env",
        "input": digest,
        "executor": "fork",
        "isolation": "namespaces",
        "exit": code,
        "signal": None,
        "limit": None,
        "collected": len(results),
        "finished": True,
        "results": results,
        "running": None,
        "attested": (Attestation(PATH, digest),),
    }
    return RunRecord(**{**whole, **fields})


GREEN = run(CLEAN, passed())
RED = run(MUTANT, failed(), code=1)
SAME = run(CONTROL, passed())
BESIDE = run(CLEAN, *map(passed, (OLD[0], TEST, OLD[1])))
ALONE = run(CLEAN, *map(passed, OLD))
KEPT = Trial(
    draft=DRAFT,
    path=PATH,
    clean_digest=CLEAN,
    mutant_digest=MUTANT,
    clean=(GREEN,) * 3,
    mutant=(RED,) * 3,
    control=(SAME,),
    suite=(BESIDE,) * 3,
    baseline=(ALONE,) * 3,
)


def decided(**fields: Any) -> Decision:
    return decide(replace(KEPT, **fields))


def refusal(**fields: Any) -> tuple[str, str]:
    decision = decided(**fields)
    assert not decision.kept
    assert decision.reason in REASONS
    return decision.reason, decision.detail


def test_a_draft_with_every_run_there_and_right_is_kept() -> None:
    assert decide(KEPT) == Decision(
        True, "kept", "on the clean code it passes, on the mutant it fails: assert 1 == 2"
    )


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ({"clean": (GREEN,) * 2}, "3 run(s) on the clean code and has 2"),
        ({"mutant": ()}, "3 run(s) on the mutant and has 0"),
        ({"control": ()}, "1 run(s) on the control and has 0"),
        ({"suite": (BESIDE,) * 2}, "3 run(s) with the existing tests and has 2"),
        ({"baseline": (ALONE,)}, "3 run(s) of the existing tests without it and has 1"),
    ],
)
def test_a_draft_that_nothing_speaks_against_waits_for_the_runs_that_are_missing(
    missing: dict[str, Any], words: str
) -> None:
    decision = decided(**missing)
    assert (decision.kept, decision.reason) == (False, INCOMPLETE)
    assert words in decision.detail


def test_one_right_run_of_either_side_speaks_for_the_draft_so_far() -> None:
    nothing: dict[str, Any] = {"control": (), "suite": (), "baseline": ()}
    assert decided(clean=(GREEN,), mutant=(RED,), **nothing).reason == "incomplete"


def test_a_kept_draft_shows_how_its_first_run_failed() -> None:
    second = run(MUTANT, failed(message="assert 3 == 4"), code=1)
    assert decided(mutant=(RED, second, second)).detail.endswith("it fails: assert 1 == 2")


def test_what_the_module_offers_is_there() -> None:
    assert [name for name in admit.__all__ if not hasattr(admit, name)] == []


def test_a_refusal_needs_no_run_after_the_one_that_shows_it() -> None:
    nothing: dict[str, Any] = {"control": (), "suite": (), "baseline": ()}
    bad = run(CLEAN, failed(), code=1)
    assert refusal(clean=(bad,), mutant=(), **nothing)[0] == "fails-on-clean"
    blind = run(MUTANT, passed())
    assert refusal(clean=(GREEN,), mutant=(blind,), **nothing)[0] == "passes-on-mutant"


# The clean side: what a run of it is, and the same in one run of three


@pytest.mark.parametrize(
    ("bad", "reason", "words"),
    [
        (run(CLEAN, failed(), code=1), "fails-on-clean", "it fails: assert 1 == 2"),
        (run(CLEAN, error("setup"), code=1), "errors-on-clean", "its setup fails: RuntimeError"),
        (run(CLEAN, error("teardown"), code=1), "errors-on-clean", "its teardown fails"),
        (
            run(CLEAN, code=2, collected=None, collect_errors=("t.py: NameError: x",)),
            "errors-on-clean",
            "cannot collect it: t.py: NameError: x",
        ),
        (run(CLEAN, code=4, collected=None), "errors-on-clean", "ends early, with exit 4"),
        (
            run(CLEAN, code=0, collected=1, finished=False, running=TEST),
            "errors-on-clean",
            f"ends early, with exit 0 in {TEST}",
        ),
        (
            run(CLEAN, exit=None, signal=11, finished=False, collected=1, running=TEST),
            "errors-on-clean",
            "signal 11",
        ),
        (run(CLEAN, code=2, collected=1), "errors-on-clean", "of 1 tests 1 never reported"),
        (run(CLEAN, passed(), code=1), "errors-on-clean", "it passes, but pytest ends with exit 1"),
        (run(CLEAN, code=5), "no-test", "finds no test"),
        (run(CLEAN, TestResult(TEST, "skipped", "setup")), "no-test", "but is skipped"),
        (run(CLEAN, TestResult(TEST, "xfailed", "call")), "no-test", "but is xfailed"),
        (run(CLEAN, TestResult(TEST, "xpassed", "call")), "no-test", "but is xpassed"),
        (
            run(CLEAN, passed(), passed(f"{DRAFT}::T::test_b")),
            "several-tests",
            "2 tests in it, not one: T::test_b, test_zero",
        ),
        (run(CLEAN, passed(), passed(OLD[0])), "several-tests", "outside its own file"),
    ],
)
def test_a_clean_run_that_is_not_one_test_passing_refuses(
    bad: RunRecord, reason: str, words: str
) -> None:
    found, detail = refusal(clean=(bad,) * 3)
    assert (found, words in detail) == (reason, True), detail
    assert detail.startswith("on the clean code ")
    found, detail = refusal(clean=(GREEN, GREEN, bad))
    assert found == "flaky"
    assert "2 of 3 runs are as they should be" in detail
    assert words in detail


@pytest.mark.parametrize("limit", ["wall", "cpu"])
def test_a_run_over_its_limit_refuses_on_every_side(limit: str) -> None:
    over: dict[str, Any] = {"exit": None, "limit": limit, "finished": False, "collected": 1}
    slow = {side: run(digest, **over) for side, digest in (("c", CLEAN), ("m", MUTANT))}
    assert refusal(clean=(GREEN, GREEN, slow["c"]))[0] == "times-out"
    reason, detail = refusal(mutant=(RED, RED, slow["m"]))
    assert reason == "times-out"
    assert "has to fail by itself" in detail
    assert refusal(control=(run(CONTROL, **over),))[0] == "times-out"
    assert refusal(suite=(BESIDE, BESIDE, slow["c"]))[0] == "times-out"


def test_parameters_count_as_one_test_in_functions_and_methods() -> None:
    ids = [f"{DRAFT}::TestA::test_b[{text}]" for text in ("1", "a::b", "x]y[z")]
    fields: dict[str, Any] = {
        "clean": (run(CLEAN, *map(passed, ids)),) * 3,
        "mutant": (run(MUTANT, passed(ids[0]), failed(ids[1]), passed(ids[2]), code=1),) * 3,
        "control": (run(CONTROL, *map(passed, ids)),),
        "suite": (run(CLEAN, *map(passed, (*ids, *OLD))),) * 3,
    }
    assert decided(**fields).kept


def test_parameters_that_change_their_names_from_run_to_run_are_flaky() -> None:
    one, other = run(CLEAN, passed(f"{TEST}[a]")), run(CLEAN, passed(f"{TEST}[b]"))
    assert refusal(clean=(one, other, one))[0] == "flaky"


# The mutant's side


@pytest.mark.parametrize(
    ("bad", "reason", "words"),
    [
        (run(MUTANT, passed()), "passes-on-mutant", "the same with and without the fault"),
        (run(MUTANT, passed(), attested=()), "passes-on-mutant", "it never loads bank.py"),
        (
            run(MUTANT, TestResult(TEST, "skipped", "call")),
            "passes-on-mutant",
            "does not fail but is skipped",
        ),
        (run(MUTANT, TestResult(TEST, "skipped", "setup")), "passes-on-mutant", "is skipped"),
        (run(MUTANT, TestResult(TEST, "xfailed", "call")), "passes-on-mutant", "is xfailed"),
        (run(MUTANT, error("setup"), code=1), "fails-elsewhere", "its setup fails"),
        (run(MUTANT, error("teardown"), code=1), "fails-elsewhere", "its teardown fails"),
        (
            run(MUTANT, TestResult(TEST, "failed", "setup"), code=1),
            "fails-elsewhere",
            "it is not its own call that fails",
        ),
        (
            run(MUTANT, code=2, collected=None, collect_errors=("t.py: ImportError",)),
            "fails-elsewhere",
            "cannot collect it, so the test itself never runs: t.py: ImportError",
        ),
        (run(MUTANT, code=5), "fails-elsewhere", "other tests than on the clean code: none"),
        (run(MUTANT, failed(f"{TEST}[x]"), code=1), "fails-elsewhere", "collects other tests"),
        (
            run(MUTANT, failed(), failed(OLD[0]), code=1),
            "fails-elsewhere",
            f"collects other tests than on the clean code: {OLD[0]}, {TEST}",
        ),
        (
            run(MUTANT, exit=None, signal=6, finished=False, collected=1, running=TEST),
            "fails-elsewhere",
            "signal 6",
        ),
        (
            run(MUTANT, code=1, collected=1, finished=False, running=TEST),
            "fails-elsewhere",
            "ends early, with exit 1",
        ),
        (run(MUTANT, code=2, collected=1), "fails-elsewhere", "never reported"),
        (run(MUTANT, failed(), code=2), "fails-elsewhere", "pytest ends with exit 2"),
        (run(MUTANT, failed(), code=0), "fails-elsewhere", "pytest ends with exit 0"),
    ],
)
def test_a_run_of_the_mutant_that_is_not_the_test_failing_in_its_call_refuses(
    bad: RunRecord, reason: str, words: str
) -> None:
    found, detail = refusal(mutant=(bad,) * 3)
    assert (found, words in detail) == (reason, True), detail
    assert detail.startswith("on the mutant ")
    found, detail = refusal(mutant=(RED, bad, RED))
    assert found == "flaky"
    assert "2 of 3 runs are as they should be" in detail


def test_other_parameters_that_fail_from_run_to_run_are_flaky() -> None:
    ids = (f"{TEST}[a]", f"{TEST}[b]")
    clean = run(CLEAN, *map(passed, ids))
    one = run(MUTANT, failed(ids[0]), passed(ids[1]), code=1)
    other = run(MUTANT, passed(ids[0]), failed(ids[1]), code=1)
    found, detail = refusal(clean=(clean,) * 3, mutant=(one, one, other))
    assert (found, "other parameters" in detail) == ("flaky", True)


def test_a_parameter_that_is_skipped_on_the_mutant_alone_refuses() -> None:
    ids = (f"{TEST}[a]", f"{TEST}[b]")
    clean = run(CLEAN, *map(passed, ids))
    bad = run(MUTANT, failed(ids[0]), TestResult(ids[1], "skipped", "call"), code=1)
    assert refusal(clean=(clean,) * 3, mutant=(bad,) * 3)[0] == "fails-elsewhere"


# What ran, and under which conditions


@pytest.mark.parametrize("side", ["clean", "mutant", "suite", "baseline"])
def test_other_bytes_than_those_of_the_side_refuse(side: str) -> None:
    records = getattr(KEPT, side)
    mixed = replace(records[1], attested=(*records[1].attested, Attestation(PATH, "f" * 64)))
    found, detail = refusal(**{side: (records[0], mixed, records[2])})
    assert found == "environment-differs"
    assert f"sha256 {'f' * 12}" in detail


def test_bytecode_that_was_there_needs_no_attestation_on_clean_but_on_the_mutant_it_does() -> None:
    assert decided(clean=(replace(GREEN, attested=()),) * 3).kept
    found, detail = refusal(mutant=(replace(RED, attested=()),) * 3)
    assert (found, "was never loaded" in detail) == ("environment-differs", True)


@pytest.mark.parametrize("digests", [(), (CLEAN,), (MUTANT,), (CONTROL, CLEAN)])
def test_a_control_that_did_not_run_its_own_bytes_refuses(digests: tuple[str, ...]) -> None:
    control = replace(SAME, attested=tuple(Attestation(PATH, one) for one in digests))
    assert refusal(control=(control,))[0] == "environment-differs"


def test_other_files_may_be_loaded_with_whatever_bytes() -> None:
    more = (Attestation("other.py", "f" * 64), Attestation("/site/bank.py", "f" * 64))
    loaded = tuple(replace(GREEN, attested=(*GREEN.attested, *more)) for _ in range(3))
    assert decided(clean=loaded).kept


@pytest.mark.parametrize("side", ["mutant", "control"])
@pytest.mark.parametrize(
    "other", [{"environment": "x"}, {"argv": ("x",)}, {"isolation": "copy"}, {"executor": "fresh"}]
)
def test_any_condition_but_the_bytes_that_differs_refuses(side: str, other: Any) -> None:
    records = getattr(KEPT, side)
    changed = (*records[:-1], replace(records[-1], **other))
    assert refusal(**{side: changed}) == (
        "environment-differs",
        f"a run on the {side} has another {next(iter(other))} than on clean",
    )


def test_runs_are_compared_with_those_of_the_same_number() -> None:
    def thrice(record: RunRecord) -> tuple[RunRecord, ...]:
        fresh = replace(record, executor="fresh")
        return (record, fresh, fresh)

    assert decided(clean=thrice(GREEN), mutant=thrice(RED)).kept
    assert refusal(clean=thrice(GREEN))[0] == "environment-differs"


@pytest.mark.parametrize("side", ["clean", "mutant", "control", "suite", "baseline"])
def test_a_fault_of_any_run_refuses(side: str) -> None:
    records = getattr(KEPT, side)
    broken = (*records[:-1], replace(records[-1], fault="no room"))
    assert refusal(**{side: broken}) == (
        "environment-differs",
        "one of its runs failed by itself: no room",
    )


def test_a_mutant_with_the_clean_bytes_is_fabricated_and_nothing_kills_it() -> None:
    runs = {"mutant": (run(CLEAN, failed(), code=1),) * 3}
    assert refusal(mutant_digest=CLEAN, **runs)[0] == "environment-differs"


# What the watch saw


@pytest.mark.parametrize("side", ["clean", "mutant", "control", "suite"])
@pytest.mark.parametrize(
    ("what", "reason", "words"),
    [
        ("reads", "reads-source", "it reads the code under test instead of running it"),
        ("harness", "detects-harness", "it looks at what runs it"),
        ("patches", "patches", "it changes the code under test"),
        ("writes", "writes-outside", "it writes outside its temporary folder"),
        ("connects", "connects", "it opens a connection"),
        ("starts", "starts-process", "it starts a process"),
    ],
)
def test_what_the_watch_saw_in_any_run_refuses_by_its_own_reason(
    side: str, what: str, reason: str, words: str
) -> None:
    records = getattr(KEPT, side)
    seen = (*records[:-1], replace(records[-1], watched=((what, "open(x)"),)))
    found, detail = refusal(**{side: seen})
    assert found == reason
    assert detail.startswith(words)
    assert detail.endswith(": open(x)")


def test_what_the_watch_saw_comes_before_what_the_test_did() -> None:
    bad = replace(run(CLEAN, failed(), code=1), watched=(("reads", "x"),))
    assert refusal(clean=(bad,))[0] == "reads-source"


def test_a_report_that_the_watch_does_not_make_is_forged() -> None:
    assert refusal(clean=(replace(GREEN, watched=(("kept", "x"),)),))[0] == "detects-harness"


# The control


def test_a_test_that_fails_on_the_same_program_with_other_bytes_is_refused() -> None:
    bad = run(CONTROL, failed(message="assert 812 == 833"), code=1)
    found, detail = refusal(control=(bad,))
    assert found == "control-killed"
    assert detail == (
        "on clean code with one comment more, which does the same, it fails: assert 812 == 833"
    )


# The existing tests


def beside(*results: TestResult, **fields: Any) -> tuple[RunRecord, ...]:
    return (BESIDE, BESIDE, run(CLEAN, *results, **fields))


@pytest.mark.parametrize(
    ("bad", "reason", "words"),
    [
        (beside(passed(), passed(OLD[0]), failed(OLD[1]), code=1), "breaks-neighbour", OLD[1]),
        (
            beside(passed(), passed(OLD[0]), TestResult(OLD[1], "skipped", "setup")),
            "breaks-neighbour",
            "it is skipped",
        ),
        (beside(passed(), passed(OLD[0])), "shadows-neighbour", "not collected any more"),
        (
            beside(*map(passed, (TEST, *OLD, "tests/test_bank.py::test_new"))),
            "shadows-neighbour",
            "collected that was not there: tests/test_bank.py::test_new",
        ),
        (beside(*map(passed, OLD)), "shadows-neighbour", "as it does alone"),
        (beside(failed(), *map(passed, OLD), code=1), "fails-on-clean", "it fails: assert 1"),
        (beside(error("setup"), *map(passed, OLD), code=1), "errors-on-clean", "its setup fails"),
        (
            beside(TestResult(TEST, "skipped", "setup"), *map(passed, OLD)),
            "errors-on-clean",
            "it is skipped",
        ),
        (beside(*map(passed, (TEST, *OLD)), code=1), "breaks-neighbour", "exit 1, without it"),
        (
            beside(passed(), exit=None, signal=9, collected=3, running=OLD[0]),
            "breaks-neighbour",
            f"signal 9 in {OLD[0]}",
        ),
        (beside(passed(), code=0, collected=3, finished=False), "breaks-neighbour", "ends early"),
        (beside(passed(), collected=3), "breaks-neighbour", "of 3 tests 2 never reported"),
        (
            beside(code=2, collected=None, collect_errors=("tests/test_bank.py: ImportError",)),
            "breaks-neighbour",
            "cannot collect a file: tests/test_bank.py: ImportError",
        ),
    ],
)
def test_a_run_of_the_suite_that_is_not_as_without_the_draft_refuses(
    bad: tuple[RunRecord, ...], reason: str, words: str
) -> None:
    found, detail = refusal(suite=bad)
    assert (found, words in detail) == (reason, True), detail


def test_what_is_red_without_the_draft_may_stay_red_and_what_was_skipped_may_pass() -> None:
    without = run(CLEAN, failed(OLD[0]), TestResult(OLD[1], "skipped", "setup"), code=1)
    with_it = run(CLEAN, failed(OLD[0]), passed(), passed(OLD[1]), code=1)
    assert decided(suite=(with_it,) * 3, baseline=(without,) * 3).kept


def test_a_skipped_neighbour_that_fails_beside_the_draft_refuses() -> None:
    without = run(CLEAN, passed(OLD[0]), TestResult(OLD[1], "skipped", "setup"))
    with_it = run(CLEAN, passed(OLD[0]), passed(), failed(OLD[1]), code=1)
    runs: dict[str, Any] = {"suite": (with_it,) * 3, "baseline": (without,) * 3}
    assert refusal(**runs)[0] == "breaks-neighbour"


def test_a_draft_that_always_ran_last_has_not_shown_what_it_leaves_behind() -> None:
    last = run(CLEAN, *map(passed, (*OLD, TEST)))
    decision = decided(suite=(last,) * 3)
    assert (decision.kept, decision.reason) == (False, "incomplete")
    assert "in no order did an existing test run after it" in decision.detail
    # A run of the existing tests more changes nothing.
    assert decided(suite=(last,) * 3, baseline=(ALONE,) * 4) == decision
    first = run(CLEAN, *map(passed, (TEST, *OLD)))
    assert decided(suite=(last, last, first)).kept


def test_another_draft_in_the_same_runs_is_no_neighbour_whatever_becomes_of_it() -> None:
    other = "tests/test_hermutic_cd.py::test_x"
    for result, code in ((passed(other), 0), (failed(other), 1)):
        together = run(CLEAN, *map(passed, (TEST, *OLD)), result, code=code)
        assert decided(suite=(together,) * 3).kept


def test_a_suite_that_does_not_end_without_the_draft_shows_nothing() -> None:
    stuck = replace(ALONE, exit=None, limit="wall", finished=False)
    assert refusal(baseline=(stuck,) * 3)[0] == "environment-differs"


@pytest.mark.parametrize("name", ["environment", "isolation", "executor"])
def test_the_suite_runs_under_the_conditions_of_its_baseline(name: str) -> None:
    other: dict[str, Any] = {name: "x"}
    changed = replace(ALONE, **other)
    assert refusal(baseline=(ALONE, ALONE, changed))[0] == "environment-differs"
    assert decided(baseline=(replace(ALONE, argv=("python", "tests")),) * 3).kept


# The name of a kept test's file


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def test_zero(): pass", "test_zero"),
        ("async def test_zero(): pass", "test_zero"),
        ("class TestBank:\n    def helper(self): pass\n    def test_fee(self): pass", "test_fee"),
        (
            "import unittest\nclass T(unittest.TestCase):\n    def testBigFee(self): pass",
            "test_big_fee",
        ),
        ("def test(): pass", "test_draft"),
    ],
)
def test_a_file_is_named_for_its_only_test(code: str, name: str) -> None:
    assert admit.test_name(code) == name


# The whole space

EXITS = (None, 0, 1, 2, 5)
RESULTS: tuple[tuple[TestResult, ...], ...] = (
    (),
    (passed(),),
    (failed(),),
    (error("setup"),),
    (TestResult(TEST, "xfailed", "call"),),
    (passed(), failed(OLD[0])),
)
BOOLS = (False, True)


def variants(digest: str) -> list[RunRecord]:
    space = itertools.product(EXITS, (None, 11), (None, "wall"), BOOLS, RESULTS, BOOLS, BOOLS)
    return [
        run(
            digest,
            *results,
            exit=code,
            signal=signal,
            limit=limit,
            finished=finished,
            attested=(Attestation(PATH, digest),) if attested else (),
            collect_errors=("x: y",) if errors else (),
        )
        for code, signal, limit, finished, results, attested, errors in space
    ]


@pytest.mark.parametrize(
    ("side", "digest", "right"),
    [
        ("clean", CLEAN, lambda one: one.exit == 0 and one.results == (passed(),)),
        ("mutant", MUTANT, lambda one: one.exit == 1 and one.results == (failed(),)),
        ("control", CONTROL, lambda one: one.exit == 0 and one.results == (passed(),)),
    ],
)
def test_whatever_a_run_looks_like_only_the_right_one_lets_a_draft_be_kept(
    side: str, digest: str, right: Callable[[RunRecord], bool]
) -> None:
    kept = 0
    for record in variants(digest):
        records = (*getattr(KEPT, side)[:-1], record)
        decision = decided(**{side: records})
        assert decision.reason in REASONS
        assert decision.kept == (decision.reason == "kept")
        if decision.kept:
            kept += 1
            assert right(record)
            assert (record.signal, record.limit, record.finished) == (None, None, True)
            assert not record.collect_errors
            assert record.attested or side == "clean"
    assert kept == (2 if side == "clean" else 1)
