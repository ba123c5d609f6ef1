"""The invariants of verify hold on a small project, and each of them can fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from harness import controls, invariants, loading, plan, session
from harness.checks import check_controls
from harness.interpreter import probe_interpreter
from harness.invariants import accounts, repeats, traps
from harness.invariants.scene import Scene, Seen
from harness.progress import Quiet
from harness.session import Options
from harness.verdict import Verdict
from tests.harness.test_session import write

OPTIONS = Options(operators="classic", jobs=2)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """An open session on the small project.

    Of its seven mutants the constant, both of price and the missing return of gift are killed, the
    sum of gift survives (6 - 5 is above 0), and both of unsold are reached by nothing.
    """
    root = write(tmp_path_factory.mktemp("verified") / "shop")
    project = loading.load(root, source=("shop.py",))
    found = session.find_mutants(project, OPTIONS)
    interpreter = probe_interpreter(project.python)
    with session.bench_of(project, OPTIONS, Quiet(), found, interpreter) as (bench, _):
        check_controls(bench, Quiet())
        report_on = partial(session.build_report, project, OPTIONS, bench, found)
        reach, usable = bench.suite.reach, bench.suite.usable
        active = [one for one in found.mutants if not one.suppressed]
        yield Scene(
            project=project,
            interpreter=interpreter,
            bench=bench,
            mutants=found.mutants,
            report=report_on,
            scratch=root,
            sample=tuple(one for one in active if plan.select(one, reach, usable)),
            unreached=tuple(one for one in active if not plan.reached(one, reach)),
        )


def on(scene: Scene, check: Callable[[Scene], Seen], **changed: Any) -> Seen:
    """What the check sees of the scene with some of it changed."""
    with TemporaryDirectory() as folder:
        return check(replace(scene, scratch=Path(folder), **changed))


def test_the_same_mutants_are_judged_the_same_in_every_way(scene: Scene) -> None:
    with TemporaryDirectory() as folder:
        here = replace(scene, scratch=Path(folder), cold={})
        for check in (repeats.serial, repeats.parallel, repeats.fresh, repeats.replayed):
            assert check(here)[1]
    words = [verdict.verdict for verdict in here.cold.values()]
    assert (words.count("killed"), words.count("survived")) == (4, 1)


@pytest.mark.parametrize("check", [repeats.parallel, repeats.fresh, repeats.replayed])
def test_a_verdict_that_differs_from_the_first_is_named(
    scene: Scene, check: Callable[[Scene], Seen]
) -> None:
    if check is repeats.fresh and scene.bench.suite.executor != "fork":
        pytest.skip("the runs are not forked here")
    first = {one.id: Verdict("unstable", "by hand") for one in scene.sample}
    seen, holds = on(scene, check, cold=first)
    assert not holds
    assert scene.sample[0].id in seen
    assert "unstable (by hand)" in seen


def test_a_vacuous_suite_gets_no_credit_but_for_what_cannot_be_imported(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert traps.vacuous_suite(scene) == ("a raise in a body survived, one at import broken", True)
    monkeypatch.setattr(controls, "canary", lambda source: source)
    assert traps.vacuous_suite(scene) == (
        "a raise in a body survived, one at import survived",
        False,
    )


def test_a_clean_run_is_no_run_of_a_mutant(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    assert traps.attestation(scene) == ("error in shop.py", True)
    monkeypatch.setattr(controls, "canary", lambda source: source)
    assert traps.attestation(scene) == ("survived in shop.py", False)


def test_old_bytecode_is_not_run_and_a_trap_above_the_project_is_not_seen(scene: Scene) -> None:
    """That both can fail is shown by their twins, in tests/bugs."""
    assert traps.stale_bytecode(scene) == ("broken in shop.py", True)
    assert traps.hostile_parent(scene) == ("2 of 2 tests of tests/test_shop.py are green", True)


def test_an_unreached_mutant_that_is_detected_is_named(scene: Scene) -> None:
    assert traps.reach(scene) == ("2 of 2 pass the whole suite", True)
    killed = next(one for one in scene.sample if one.qualname == "price")
    seen, holds = on(scene, traps.reach, unreached=(killed,))
    assert (seen, holds) == (f"{killed.id}: unreached, and killed", False)


def test_two_mutants_of_one_id_and_one_that_changes_nothing_are_named(scene: Scene) -> None:
    assert accounts.unique_ids(scene) == ("7 mutants, 7 ids", True)
    first = scene.mutants[0]
    seen, holds = on(scene, accounts.unique_ids, mutants=(*scene.mutants, first))
    assert (seen, holds) == (f"{first.id} stands for 2 mutants", False)
    same = scene.bench.sources[first.path][first.start : first.end]
    idle = replace(first, replacement=same)
    seen, holds = on(scene, accounts.unique_ids, mutants=(idle,))
    assert (seen, holds) == (f"{first.id} is not the change that it is said to be", False)


def test_the_log_holds_once_its_report_is_in_it_and_not_before(scene: Scene) -> None:
    seen, holds = on(scene, accounts.log_chain)
    assert not holds
    assert "there is no 'report' event" in seen
    assert on(scene, accounts.sums) == (
        "4 detected of 7 give 0.5714, counted again 0.5714",
        True,
    )
    assert on(scene, accounts.log_chain) == (
        "the log holds, one with a line changed does not",
        True,
    )


def test_a_report_that_counts_by_another_rule_is_found_out(tmp_path: Path) -> None:
    """The score of what is reached alone, in the place of the score."""
    project = loading.load(write(tmp_path / "shop"), source=("shop.py",))
    found = session.find_mutants(project, OPTIONS)
    with session.bench_of(project, OPTIONS, Quiet(), found) as (bench, _):

        def flattering(rows: Any) -> dict[str, Any]:
            built = session.build_report(project, OPTIONS, bench, found, rows)
            return {**built, "score": built["score_reached"]}

        interpreter = probe_interpreter(project.python)
        scene = Scene(project, interpreter, bench, found.mutants, flattering, tmp_path)
        here = replace(scene, sample=found.mutants)
        assert accounts.sums(here) == ("4 detected of 7 give 0.8, counted again 0.5714", False)


def test_every_invariant_says_what_to_do_where_it_does_not_hold() -> None:
    assert all(len(cure) > 20 for cure in invariants.CURES.values())
    assert len(invariants.CURES) == len(invariants.INVARIANTS)
