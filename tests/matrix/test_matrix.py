"""A slice of the matrix: the trees of all verdicts under the oldest pytest that is supported."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.harness import test_trees
from tests.harness.test_trees import STREET, check_rows, side_by_side
from tests.matrix import cells

small_budgets = test_trees.small_budgets
# An error is the ninth: it prints no report, and is tried by a tree of its own.
WANTED = {
    *("killed", "broken", "crashed_by_abort", "timeout_python", "survived", "unreached"),
    *("unstable_flaky", "suppressed"),
}


def test_under_the_oldest_pytest_every_verdict_has_its_tree(tmp_path: Path) -> None:
    python = cells.environment(f"pytest-{cells.PYTESTS[0]}", Path(sys.executable))
    trees = [tree for tree in STREET if tree.name in WANTED]
    measured = side_by_side(trees, tmp_path / "street", str(python))
    assert set(measured.rows) == WANTED
    for tree in trees:
        check_rows(measured.outcome.report, measured.rows[tree.name], f"{tree.name}/")
    totals = measured.outcome.report["totals"]
    verdicts = {tree.rows[0]["verdict"] for tree in trees}
    assert all(totals[name] for name in verdicts)
    assert len(verdicts) == len(WANTED)


def test_the_locks_are_of_the_pytests_that_they_are_named_for() -> None:
    for name in cells.PYTESTS:
        text = (cells.HERE / f"pytest-{name}.lock").read_text(encoding="utf-8")
        assert f"\npytest=={name}." in text
