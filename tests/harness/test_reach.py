"""Reach from line data made by hand: which tests execute a line, and which import a module."""

from __future__ import annotations

import json
from typing import Any

from harness.events import Finished
from harness.reach import OUTSIDE, Reach, measure
from harness.run import RunRecord

ROOT = "/hermutic/project"
A, B, C = "tests/test_a.py::test_one", "tests/test_a.py::test_two", "tests/test_b.py::test_three"
TESTS = (A, B, C)
# Bit 0 is OUTSIDE; test number i has bit i + 1.
BIT_A, BIT_B, BIT_C = 2, 4, 8

EMPTY_RECORD = RunRecord(
    argv=(),
    environment="",
    input="",
    executor="fresh",
    isolation="namespaces",
    exit=0,
    signal=None,
    limit=None,
    collected=3,
    finished=True,
    results=(),
    running=None,
    attested=(),
)


def process(
    lines: dict[str, dict[str, list[str]]] | None = None,
    modules: dict[str, str] | None = None,
    edges: list[list[str]] | None = None,
) -> dict[str, Any]:
    """One process's line data, as the probe writes it."""
    return {
        "lines": {f"{ROOT}/{path}": found for path, found in (lines or {}).items()},
        "modules": modules or {},
        "edges": edges or [],
    }


def reach_of(
    *processes: dict[str, Any],
    statements: dict[str, Any] | None = None,
    sources: tuple[str, ...] = ("pkg/m.py",),
    roots: tuple[str, ...] = (ROOT,),
) -> Reach:
    finished = Finished(EMPTY_RECORD, TESTS, {}, list(processes), statements or {})
    return measure(finished, roots, sources)


def test_a_line_is_reached_by_the_tests_whose_context_it_ran_in() -> None:
    reach = reach_of(process({"pkg/m.py": {"3": [A, C], "4": [B]}}))
    assert reach.lines["pkg/m.py"] == {3: BIT_A | BIT_C, 4: BIT_B}


def test_a_line_that_ran_in_no_test_is_marked_as_outside() -> None:
    reach = reach_of(process({"pkg/m.py": {"1": [""], "2": ["", A]}}))
    assert reach.lines["pkg/m.py"] == {1: OUTSIDE, 2: OUTSIDE | BIT_A}


def test_a_test_that_was_not_collected_counts_as_outside() -> None:
    reach = reach_of(process({"pkg/m.py": {"1": ["tests/test_z.py::test_gone"]}}))
    assert reach.lines["pkg/m.py"] == {1: OUTSIDE}


def test_lines_of_a_child_process_are_added_to_those_of_its_parent() -> None:
    reach = reach_of(
        process({"pkg/m.py": {"1": [""], "5": [A]}}), process({"pkg/m.py": {"1": [B], "6": [B]}})
    )
    assert reach.lines["pkg/m.py"] == {1: OUTSIDE | BIT_B, 5: BIT_A, 6: BIT_B}


def test_a_project_seen_under_two_paths_is_one_project() -> None:
    lines = {ROOT + "/pkg/m.py": {"3": [A]}, "/home/me/checkout/pkg/m.py": {"3": [B]}}
    seen = {"lines": lines, "modules": {}, "edges": []}
    reach = reach_of(seen, roots=(ROOT, "/home/me/checkout"))
    assert reach.lines == {"pkg/m.py": {3: BIT_A | BIT_B}}


def test_a_file_outside_the_project_is_no_part_of_reach() -> None:
    reach = reach_of({"lines": {"/usr/lib/m.py": {"3": [A]}}, "modules": {}, "edges": []})
    assert reach.lines == {}


def test_a_statement_is_reached_if_any_of_its_lines_is() -> None:
    # A call over lines 3 to 5: the interpreter reports 3 and 5, and a mutant may be on line 4.
    reach = reach_of(process({"pkg/m.py": {"3": [A], "5": [B], "9": [C]}}))
    assert reach.of_lines("pkg/m.py", 3, 5) == BIT_A | BIT_B
    assert reach.of_lines("pkg/m.py", 4, 4) == 0
    assert reach.of_lines("pkg/other.py", 3, 5) == 0


def test_cost_counts_the_lines_that_each_test_executes() -> None:
    reach = reach_of(process({"pkg/m.py": {"1": [""], "3": [A, C], "4": [A]}, "n.py": {"7": [A]}}))
    assert reach.cost == (3, 0, 1)


def test_line_coverage_counts_what_only_a_child_executed() -> None:
    # The pytest process missed 2 and 5; a child ran the statement that starts on line 5, seen on 6.
    reach = reach_of(
        process({"pkg/m.py": {"1": [""], "6": [A]}}),
        statements={"pkg/m.py": {"statements": [1, 2, 5], "missing": [2, 5]}},
    )
    assert (reach.executed, reach.statements) == (2, 3)


def test_line_coverage_is_summed_over_all_files() -> None:
    reach = reach_of(
        process({"a.py": {"1": [""]}}),
        statements={
            "a.py": {"statements": [1], "missing": []},
            "b.py": {"statements": [1, 2, 3], "missing": [1, 2, 3]},
        },
    )
    assert (reach.executed, reach.statements) == (1, 4)


MODULES = {
    "test_a": f"{ROOT}/tests/test_a.py",
    "test_b": f"{ROOT}/tests/test_b.py",
    "pkg": f"{ROOT}/pkg/__init__.py",
    "pkg.m": f"{ROOT}/pkg/m.py",
    "pkg.other": f"{ROOT}/pkg/other.py",
}


def test_every_test_of_a_file_that_imports_the_module_counts_as_an_importer() -> None:
    reach = reach_of(process(modules=MODULES, edges=[["test_a", "pkg.m"]]))
    assert reach.importers["pkg/m.py"] == BIT_A | BIT_B


def test_an_import_through_another_module_counts() -> None:
    edges = [["test_b", "pkg.other"], ["pkg.other", "pkg.m"], ["test_a", "pkg"]]
    reach = reach_of(process(modules=MODULES, edges=edges))
    assert reach.importers["pkg/m.py"] == BIT_C


def test_importing_a_submodule_imports_its_package() -> None:
    reach = reach_of(
        process(modules=MODULES, edges=[["test_a", "pkg.m"]]), sources=("pkg/__init__.py",)
    )
    assert reach.importers["pkg/__init__.py"] == BIT_A | BIT_B


def test_what_a_conftest_imports_counts_for_the_tests_below_it() -> None:
    modules = {**MODULES, "conftest": f"{ROOT}/tests/conftest.py"}
    edges = [["conftest", "pkg.m"]]
    reach = reach_of(process(modules=modules, edges=edges))
    assert reach.importers["pkg/m.py"] == BIT_A | BIT_B | BIT_C


def test_what_a_conftest_elsewhere_imports_does_not_count() -> None:
    modules = {**MODULES, "conftest": f"{ROOT}/tests/deep/conftest.py"}
    edges = [["conftest", "pkg.m"], ["test_b", "pkg.m"]]
    reach = reach_of(process(modules=modules, edges=edges))
    assert reach.importers["pkg/m.py"] == BIT_C


def test_a_test_file_that_executes_a_line_imports_the_module_however_it_got_there() -> None:
    # Loaded by a path of its own, say: no import names it.
    reach = reach_of(process({"pkg/m.py": {"3": [C]}}, modules=MODULES))
    assert reach.importers["pkg/m.py"] == BIT_C


def test_a_module_that_no_test_file_is_seen_to_import_may_be_imported_by_all() -> None:
    reach = reach_of(process({"pkg/m.py": {"1": [""]}}, modules=MODULES))
    assert reach.importers["pkg/m.py"] == BIT_A | BIT_B | BIT_C


def test_a_test_file_that_is_no_module_of_the_run_may_import_everything() -> None:
    # A doctest in a text file, or a module that was dropped from sys.modules again.
    modules = {name: path for name, path in MODULES.items() if name != "test_b"}
    reach = reach_of(process(modules=modules, edges=[["test_a", "pkg.m"]]))
    assert reach.importers["pkg/m.py"] == BIT_A | BIT_B | BIT_C


def test_imports_in_a_circle_come_to_an_end() -> None:
    edges = [["test_a", "pkg.m"], ["pkg.m", "pkg.other"], ["pkg.other", "pkg.m"]]
    reach = reach_of(process(modules=MODULES, edges=edges))
    assert reach.importers["pkg/m.py"] == BIT_A | BIT_B


def test_only_modules_of_the_environment_are_imported_ahead() -> None:
    modules = {
        **MODULES,
        "json": "/usr/lib/python3/json/__init__.py",
        "coverage": "/env/coverage/__init__.py",
        "_hermutic_start": "/hermutic/site/_hermutic_start.py",
        "__main__": "/env/pytest/__main__.py",
    }
    assert reach_of(process(modules=modules)).modules == ("json",)


def test_reach_survives_a_round_through_json() -> None:
    reach = reach_of(
        process({"pkg/m.py": {"1": [""], "3": [A]}}, MODULES, [["test_b", "pkg.m"]]),
        statements={"pkg/m.py": {"statements": [1, 3], "missing": [3]}},
    )
    assert Reach.from_json(json.loads(json.dumps(reach.to_json()))) == reach
