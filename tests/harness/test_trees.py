"""Every tree of tests/trees gets the verdicts that its EXPECTED.toml works out by hand.

A tree is a tiny project named for its one trait. Its table says which mutants are run, the verdict
of each, and why. Trees that need no settings of their own are measured side by side, as folders of
one project: that is quicker, and no tree may disturb its neighbour. ``alone = true`` in a table
gives a tree a project of its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness import clean, loading, session
from harness.audit import audit
from harness.errors import Problem
from harness.progress import Quiet
from harness.project import Project
from harness.session import Options, Outcome
from tests.harness.trees import (
    ALL,
    TABLE,
    TREES,
    Tree,
    all_mutants,
    chosen,
    environment,
    plant,
)
from tests.matrix import cells

# The tests' interpreter, where it is not our own: the matrix names one after the other.
PYTHON = os.environ.get(cells.VARIABLE)
STREET = [tree for tree in ALL if not tree.alone]
ALONE = [tree for tree in ALL if tree.alone]


@pytest.fixture(autouse=True, scope="module")
def small_budgets() -> Any:
    """Tiny trees end in no time: a mutant that does not is given up soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clean, "WALL_FLOOR", 15.0)
        patch.setattr(clean, "MEMORY_FLOOR", 1 << 29)
        yield


def check_rows(report: dict[str, Any], rows: dict[str, dict[str, Any]], prefix: str = "") -> None:
    """Every verdict of the table, and every wrong one named with its reason."""
    by_id = {row["id"]: row for row in report["mutants"]}
    wrong = []
    for name, row in rows.items():
        got = by_id[name]
        tests = [prefix + test for test in row["detected_by"]] if "detected_by" in row else None
        if (
            got["verdict"] != row["verdict"]
            or row.get("reason", "") not in got["reason"]
            or (tests is not None and list(got["detected_by"]) != tests)
        ):
            wrong.append(f"{name}: {got['verdict']} ({got['reason']}) by {got['detected_by']}")
            wrong.append(f"    expected: {row}")
    assert not wrong, "\n".join(wrong)


def check_problems(report: dict[str, Any], tree: Tree, prefix: str = "") -> None:
    """The files that are left out are those of the table, each for its reason."""
    problems = {
        path.removeprefix(prefix): why
        for path, why in report["problems"].items()
        if path.startswith(prefix)
    }
    expected = tree.table.get("problems", {})
    assert problems.keys() == expected.keys()
    for path, why in expected.items():
        assert why in problems[path]


@dataclass(frozen=True)
class Street:
    """The one session of all trees that need no settings of their own."""

    outcome: Outcome
    rows: dict[str, dict[str, dict[str, Any]]]


def side_by_side(trees: list[Tree], root: Path, python: str | None) -> Street:
    """Measure the trees as folders of one project."""
    for tree in trees:
        plant(tree, root / tree.name)
    loaded = loading.load(root, python=python)
    mutants = all_mutants(loaded)
    rows = {tree.name: chosen(tree, mutants, f"{tree.name}/") for tree in trees}
    only = tuple(name for ids in rows.values() for name in ids)
    outcome = session.run(loaded, Options(only=only, jobs=2, timeout_factor=2.0), Quiet())
    return Street(outcome, rows)


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Street:
    return side_by_side(STREET, tmp_path_factory.mktemp("street") / "street", PYTHON)


@pytest.mark.parametrize("tree", STREET, ids=lambda tree: tree.name)
def test_a_tree_gets_the_verdicts_worked_out_by_hand(tree: Tree, street: Street) -> None:
    check_rows(street.outcome.report, street.rows[tree.name], f"{tree.name}/")
    check_problems(street.outcome.report, tree, f"{tree.name}/")
    for test in tree.table.get("flaky", []):
        assert f"{tree.name}/{test}" in street.outcome.report["flaky"]


def test_trees_side_by_side_run_nothing_but_their_tables_and_pass_the_audit(street: Street) -> None:
    named = {name for ids in street.rows.values() for name in ids}
    assert {row["id"] for row in street.outcome.report["mutants"]} == named
    assert all(control.holds for control in street.outcome.controls)
    said = audit(street.outcome.log_path, street.outcome.report_path)
    assert said.ok, said.findings


def planted(tree: Tree, base: Path) -> Project:
    root = base / tree.name
    plant(tree, root)
    return loading.load(
        root,
        source=tuple(tree.table.get("source", ())),
        python=environment(tree, root, base / f"{tree.name}-env", PYTHON),
    )


@pytest.mark.parametrize("tree", ALONE, ids=lambda tree: tree.name)
def test_a_project_of_its_own_gets_the_verdicts_worked_out_by_hand(
    tree: Tree, tmp_path: Path
) -> None:
    loaded = planted(tree, tmp_path)
    rows = chosen(tree, all_mutants(loaded))
    options = Options(
        only=tuple(rows),
        jobs=2,
        set_aside=tuple(tree.table.get("set_aside", ())),
        include=frozenset(loading.settings_of(loaded.root).include),
    )
    if "exit" in tree.table:
        with pytest.raises(Problem) as caught:
            session.run(loaded, options, Quiet())
        assert caught.value.code == tree.table["exit"]
        for text in tree.table["says"]:
            assert text in caught.value.message
        assert not (loaded.root / ".hermutic" / "report.json").exists()
        return
    outcome = session.run(loaded, options, Quiet())
    check_rows(outcome.report, rows)
    check_problems(outcome.report, tree)
    for key in ("flaky", "set_aside", "line_coverage"):
        if key in tree.table:
            assert outcome.report[key] == tree.table[key]
    assert all(control.holds for control in outcome.controls)
    said = audit(outcome.log_path, outcome.report_path)
    assert said.ok, said.findings


def test_every_tree_has_a_table() -> None:
    folders = [entry for entry in os.scandir(TREES) if entry.is_dir()]
    without = [f.name for f in folders if not Path(f.path, TABLE).exists()]
    assert not without, f"without an {TABLE} nothing would ever run them: {without}"


def test_every_verdict_has_a_tree() -> None:
    shown_verdicts = {row["verdict"] for tree in ALL for row in tree.rows}
    wanted = {"killed", "broken", "crashed", "timeout", "survived", "unreached", "unstable"}
    assert wanted | {"suppressed"} <= shown_verdicts
    # An error prints no score, so a tree shows it by the exit code.
    assert any(tree.table.get("exit") == 4 for tree in ALL)
