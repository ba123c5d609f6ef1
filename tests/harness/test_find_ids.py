"""A mutant's id is stable: only an edit in its own scope can change it."""

from __future__ import annotations

import pytest

from harness.find import find

SOURCE = '''"""A module."""

LIMIT = 10


class Counter:
    """Counts."""

    start = 0

    def __init__(self, step=1):
        self.value = self.start
        self.step = step

    def up(self):
        if self.value + self.step < LIMIT and self.step > 0:
            self.value += self.step
            return True
        raise OverflowError("too many")


def total(values, start=0):
    def add(one, other):
        return one + other
    result = start
    for value in values:
        result = add(result, value)
    return result
'''
FUNCTION = "def other(a, b=1):\n    return a + b if a < b else [c for c in a if c]\n\n\n"
EDITS = [
    ("# a comment\n" + SOURCE),
    SOURCE.replace("\nclass", "\n# a comment\nclass"),
    SOURCE.replace("        if self", "        # a comment\n\n        if self"),
    SOURCE.replace("step = step", "step = step  # a comment"),
    SOURCE.replace("class Counter", FUNCTION + "class Counter"),
    SOURCE.replace("def total", FUNCTION + "def total"),
    SOURCE.replace("    def up", "    def other(self, a=2):\n        return a * 3\n\n    def up"),
    SOURCE.replace("    def add", "    def sub(one, other):\n        return one - 1\n    def add"),
    SOURCE.replace('"""Counts."""', '"""Counts\n\n    and counts."""'),
    SOURCE.replace(" < LIMIT", "\\\n            < LIMIT"),
    SOURCE.replace("class Counter", "@decorated(1)\nclass Another:\n    x = 1\n\n\nclass Counter"),
    SOURCE.replace("    ", "\t"),
    SOURCE.replace("\n", "\r\n"),
    "\ufeff" + SOURCE,
]


def ids(text: str) -> set[str]:
    found = [mutant.id for mutant in find(text.encode(), "pkg/m.py").mutants]
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("edited", EDITS)
def test_a_comment_or_a_definition_above_changes_no_id(edited: str) -> None:
    assert edited != SOURCE
    assert ids(SOURCE) <= ids(edited)


def test_a_pragma_changes_no_id() -> None:
    edited = SOURCE.replace("step = step", "step = step  # pragma: no mutate")
    assert ids(SOURCE) == ids(edited)


def test_an_id_names_path_scope_operator_and_occurrence() -> None:
    found = find(b"def f():\n    return a + b + c\n", "pkg/m.py")
    named = [mutant.id for mutant in found.mutants if mutant.operator == "arithmetic.add"]
    assert named == ["pkg/m.py:f:arithmetic.add:1", "pkg/m.py:f:arithmetic.add:2"]


def test_several_replacements_at_one_site_count_on() -> None:
    found = find(b"[a for a in b if a > c]\n", "m.py")
    named = [mutant.id for mutant in found.mutants if mutant.operator == "comprehension.filter"]
    assert named == ["m.py:<module>:comprehension.filter:1", "m.py:<module>:comprehension.filter:2"]


def test_functions_of_one_name_share_a_count() -> None:
    text = (
        b"class A:\n    @property\n    def b(self): return 1\n"
        b"    @b.setter\n    def b(self, c=2): d\n"
    )
    named = [m.id for m in find(text, "m.py").mutants if m.operator == "constant.integer"]
    assert named == ["m.py:A.b:constant.integer:1", "m.py:A.b:constant.integer:2"]
