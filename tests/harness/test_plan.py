"""Selections from reach made by hand: who runs, in which order, and what is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.mutant import BODY, IMPORT, Mutant
from harness.plan import everything, files_of, is_named, left_out, reached, select
from harness.reach import OUTSIDE, Reach

A1, A2, A3 = "tests/test_a.py::one", "tests/test_a.py::two", "tests/test_a.py::three"
B1, B2 = "tests/test_b.py::one", "tests/test_b.py::two"
TESTS = (A1, A2, A3, B1, B2)
BITS = {test: 2 << index for index, test in enumerate(TESTS)}
ALL = frozenset(TESTS)

MUTANT = Mutant(
    id="m.py:f:arithmetic.add:1",
    path="m.py",
    qualname="f",
    operator="arithmetic.add",
    kind="behaviour",
    place=BODY,
    start=0,
    end=1,
    line=11,
    column=1,
    first_line=10,
    last_line=12,
    before="+",
    after="-",
    replacement=b"-",
    digest="d",
)


def mask(*tests: str) -> int:
    return sum(BITS[test] for test in tests)


def reach(
    lines: dict[int, int],
    cost: tuple[int, ...] = (1, 1, 1, 1, 1),
    importers: int = mask(*TESTS),
) -> Reach:
    return Reach(
        tests=TESTS,
        lines={"m.py": lines},
        importers={"m.py": importers},
        cost=cost,
        statements=1,
        executed=1,
        modules=(),
    )


def test_only_the_tests_that_reach_the_statement_are_selected() -> None:
    found = reach({10: mask(A2, B1), 20: mask(A1)})
    assert set(select(MUTANT, found, ALL)) == {A2, B1}
    assert reached(MUTANT, found)


def test_the_whole_statement_counts_and_not_the_line_of_the_change_alone() -> None:
    assert select(MUTANT, reach({12: mask(B2)}), ALL) == (B2,)


@pytest.mark.parametrize("line", [9, 13])
def test_the_lines_beside_the_statement_do_not_count(line: int) -> None:
    assert select(MUTANT, reach({line: mask(A1)}), ALL) == ()
    assert not reached(MUTANT, reach({line: mask(A1)}))


def test_a_file_that_no_run_measured_is_not_reached() -> None:
    assert not reached(replace(MUTANT, path="other.py"), reach({10: mask(A1)}))


def test_a_statement_run_on_import_goes_to_every_test_that_imports_the_module() -> None:
    at_import = replace(MUTANT, place=IMPORT)
    found = reach({10: OUTSIDE}, importers=mask(A1, A3))
    assert set(select(at_import, found, ALL)) == {A1, A3}


def test_a_body_that_runs_while_the_module_is_imported_goes_to_its_importers_too() -> None:
    found = reach({10: OUTSIDE | mask(B1)}, importers=mask(A1))
    assert set(select(MUTANT, found, ALL)) == {A1, B1}


def test_a_statement_of_the_import_that_never_ran_is_not_reached_by_importing() -> None:
    at_import = replace(MUTANT, place=IMPORT)
    assert select(at_import, reach({}), ALL) == ()
    assert not reached(at_import, reach({}))


def test_a_body_reached_in_tests_alone_does_not_go_to_the_other_importers() -> None:
    assert select(MUTANT, reach({10: mask(A1)}), ALL) == (A1,)


def test_tests_that_cannot_judge_are_left_out_but_have_reached() -> None:
    assert select(MUTANT, reach({10: mask(A1)}), ALL - {A1}) == ()
    assert reached(MUTANT, reach({10: mask(A1)}))


def test_cheap_tests_come_first() -> None:
    found = reach({10: mask(A1, A2, A3)}, cost=(9, 5, 7, 0, 0))
    assert select(MUTANT, found, ALL) == (A2, A3, A1)


def test_equal_costs_keep_the_order_of_the_suite() -> None:
    assert select(MUTANT, reach({10: mask(B2, A3, A1)}), ALL) == (A1, A3, B2)


def test_a_files_tests_stay_together_and_the_file_with_the_cheapest_comes_first() -> None:
    found = reach({10: mask(*TESTS)}, cost=(5, 6, 7, 1, 9))
    assert select(MUTANT, found, ALL) == (B1, B2, A1, A2, A3)


def test_everything_is_every_usable_test_the_last_one_included() -> None:
    assert everything(reach({}), ALL) == TESTS
    assert everything(reach({}), ALL - {A2}) == (A1, A3, B1, B2)


def test_left_out_are_the_other_known_tests_of_the_same_files() -> None:
    assert left_out((A2,), reach({})) == (A1, A3)
    assert left_out((A2, B1), reach({})) == (A1, A3, B2)
    assert left_out(TESTS, reach({})) == ()


def test_the_files_of_a_selection_keep_its_order_and_come_once() -> None:
    assert files_of((B1, A2, B2, A1)) == ("tests/test_b.py", "tests/test_a.py")
    assert files_of(()) == ()


def test_a_test_set_aside_without_parameters_is_left_out_with_any() -> None:
    named = ("tests/test_a.py::more", "tests/test_c.py::other")
    assert left_out((A2,), reach({}), named) == (A1, A3, "tests/test_a.py::more")


def test_a_name_stands_for_its_test_and_for_each_of_its_parameters() -> None:
    assert is_named("t.py::test_a", "t.py::test_a")
    assert is_named("t.py::test_a[1-x]", "t.py::test_a")
    assert not is_named("t.py::test_a[1-x]", "t.py::test_a[1-y]")
    assert not is_named("t.py::test_ab[1]", "t.py::test_a")
