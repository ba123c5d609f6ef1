"""A reply into candidates: whatever a model wraps its code in, and one test in each file."""

from __future__ import annotations

import textwrap

import pytest

from gate.extract import Found, candidates

A = "def test_a():\n    assert f(1) == 2\n"
B = "def test_b():\n    assert f(2) == 3\n"
DOCSTRING = 'def test_a():\n    """Like this:\n\n```python\nf(1)\n```\n"""\n    assert f(1) == 2\n'


def fenced(code: str, language: str = "python", fence: str = "```") -> str:
    return f"{fence}{language}\n{code}{fence}\n"


def indented(text: str, by: str) -> str:
    return textwrap.indent(text, by)


@pytest.mark.parametrize(
    "reply",
    [
        fenced(A),
        fenced(A, ""),
        fenced(A, "py"),
        fenced(A, "Python3"),
        fenced(A, " python title=tests/test_a.py"),
        fenced(A, "python:tests/test_a.py"),
        fenced(A, "{.python}"),
        fenced(A, "python", "~~~"),
        fenced(A, "python", "`````"),
        f"Sure!\n\n{fenced(A)}\nThis `f(1)` is **it**.\n",
        fenced(A).replace("\n", "\r\n"),
        fenced(A).replace("\n", "\r"),
        f"```python\n{A}",
        f"```python\n\n\n{A}\n\n```",
        f"1. Here:\n\n{indented(fenced(A), '   ')}\nDone.",
        f"- Here:\n\n{indented(fenced(A), chr(9))}",
        f"```python\n{indented(A, '    ')}```\n",
        fenced(fenced(A), "markdown", "````"),
        fenced(fenced(A), "markdown"),
        fenced(fenced(A), "md"),
        fenced(A) + fenced(A),
        A,
        f"\ufeff\n{A}\n",
        f"{fenced('pip install pytest' + chr(10), '')}{fenced(A)}",
        f"```\n```\n{fenced(A)}",
        f"``` python ```\n\n{fenced(A)}",
    ],
)
def test_however_it_is_wrapped_it_is_the_same_candidate(reply: str) -> None:
    assert candidates(reply).codes == (A,)


def test_each_block_is_a_candidate_by_itself_and_a_broken_one_spoils_no_other() -> None:
    broken = "def test_x(:\n    pass\n"
    reply = f"One:\n{fenced(A)}or\n{fenced(broken)}or\n{fenced(B)}"
    # The gate refuses the broken one, so that it is counted there.
    assert candidates(reply) == Found((A, broken, B))


def test_a_fence_that_nothing_closed_before_the_next_block_ends_there() -> None:
    assert candidates(f"```python\n{A}```python\n{B}```\n").codes == (A, B)


def test_a_broken_block_without_an_end_does_not_swallow_the_next() -> None:
    assert candidates(f"```python\ndef test_x(:\n```python\n{B}```\n").codes == (
        "def test_x(:\n",
        B,
    )


def test_a_docstring_may_hold_fences() -> None:
    assert candidates(fenced(DOCSTRING)).codes == (DOCSTRING,)


def test_a_string_keeps_its_indentation() -> None:
    code = 'def test_a():\n    assert f() == """\none\n  two\n"""\n'
    reply = fenced(code.replace("\n", "\n  ").removesuffix("  "))
    assert candidates(fenced(code)).codes == (code,)
    assert len(candidates(reply).codes) == 1


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (fenced("pytest -q\n", "bash"), "a block was bash, not python"),
        (fenced('{"a": 1}\n', "json"), "a block was json, not python"),
        (fenced("1 passed\n", ""), "a block without a language"),
        (fenced("x = 1\n", ""), "a block without a language"),
        (fenced("-def test_a(): pass\n+def test_a(:\n", "diff"), "a block was a diff, not a file"),
    ],
)
def test_what_is_no_code_is_told_for_what_it_is(reply: str, problem: str) -> None:
    assert candidates(reply) == Found((), (problem,))


@pytest.mark.parametrize("reply", ["", "   \n", "I cannot do that.", "Sure", "x = 1\n", "```\n```"])
def test_a_reply_without_code_has_no_candidate(reply: str) -> None:
    assert candidates(reply) == Found()


@pytest.mark.parametrize("language", ["diff", "", "patch"])
def test_of_a_diff_the_new_side_counts(language: str) -> None:
    diff = (
        "--- /dev/null\n+++ b/test_a.py\n@@ -1,2 +1,2 @@\n"
        " def test_a():\n-    assert f(1) == 3\n+    assert f(1) == 2\n"
    )
    assert candidates(fenced(diff, language)).codes == (A,)


def test_of_a_reply_that_was_cut_off_the_last_block_does_not_count_even_if_it_parses() -> None:
    reply = f"{fenced(A)}and\n```python\ndef test_b():\n    assert f(2)\n"
    assert candidates(reply, cut=True) == Found((A,), ("the last block was cut off",))
    assert candidates(A, cut=True) == Found()


def test_text_with_a_null_or_very_deep_brackets_is_a_candidate_for_the_gate_to_refuse() -> None:
    deep = f"def test_a():\n    assert {'(' * 5000}1{')' * 5000}\n"
    assert candidates(fenced("def test_a():\n    '\0'\n")).codes == ("def test_a():\n    '\0'\n",)
    assert candidates(fenced(deep)).codes == (deep,)


def test_of_very_many_blocks_the_first_fifty_count() -> None:
    reply = "".join(fenced(f"def test_{number}():\n    pass\n") for number in range(60))
    assert len(candidates(reply).codes) == 50
    assert candidates(f"{A}```python\ndef test_x(:\n" * 2000).codes == (f"def test_x(:\n{A}",)


def test_statements_that_share_a_line_stay_together() -> None:
    code = f"import a; import b\n\n\n{A}\n\n{B.replace('f(2)', 'b.f(2)')}"
    first, second = candidates(fenced(code)).codes
    assert first == f"import a; import b\n\n\n{A}"
    assert second == f"import a; import b\n\n\n{B.replace('f(2)', 'b.f(2)')}"


# Several tests in one block.

FILE = '''\
"""Tests of the shop."""

from __future__ import annotations

import os, sys
from shop import (
    buy,
    imaginary,  # there is no such name
)

import pytest

LIMIT = 3
BROKEN = imaginary(1)

sys.path.insert(0, "x")


@pytest.fixture(autouse=True)
def quiet():
    yield


@pytest.fixture
def basket():
    return [LIMIT]


def helper(value):
    return value + 1


# About one.
def test_one(basket):
    assert buy(basket) == 1


# About two.
@pytest.mark.parametrize("x", [1, 2])
def test_two(x):
    assert helper(x) == BROKEN


class TestShop:
    """The shop."""

    limit = 4

    def setup_method(self):
        self.x = 1

    def test_three(self):
        # in it
        assert self.x == 1

    async def test_four(self):
        assert os.sep


class Empty:
    pass


if __name__ == "__main__":
    pytest.main()
'''

ONE = '''\
"""Tests of the shop."""

from __future__ import annotations

import sys
from shop import buy

import pytest

LIMIT = 3

sys.path.insert(0, "x")


@pytest.fixture(autouse=True)
def quiet():
    yield


@pytest.fixture
def basket():
    return [LIMIT]


# About one.
def test_one(basket):
    assert buy(basket) == 1
'''

TWO = '''\
"""Tests of the shop."""

from __future__ import annotations

import sys
from shop import imaginary

import pytest

BROKEN = imaginary(1)

sys.path.insert(0, "x")


@pytest.fixture(autouse=True)
def quiet():
    yield


def helper(value):
    return value + 1


# About two.
@pytest.mark.parametrize("x", [1, 2])
def test_two(x):
    assert helper(x) == BROKEN
'''

HEAD = '''\
"""Tests of the shop."""

from __future__ import annotations

import sys

import pytest

sys.path.insert(0, "x")


@pytest.fixture(autouse=True)
def quiet():
    yield


class TestShop:
    """The shop."""

    limit = 4

    def setup_method(self):
        self.x = 1
'''

THREE = f"""\
{HEAD}
    def test_three(self):
        # in it
        assert self.x == 1
"""

FOUR = f"""\
{HEAD.replace("import sys", "import os, sys")}
    async def test_four(self):
        assert os.sep
"""


def test_a_file_of_several_tests_becomes_files_of_one_with_what_each_needs() -> None:
    assert candidates(fenced(FILE)).codes == (ONE, TWO, THREE, FOUR)


def test_one_test_alone_is_left_as_it_is() -> None:
    code = f"import unused\n\n\n{A}"
    assert candidates(fenced(code)).codes == (code,)


def test_a_unittest_class_is_split_by_method_and_a_base_class_keeps_no_test() -> None:
    code = """\
import unittest


class Base(unittest.TestCase):
    def test_base(self):
        self.assertEqual(1, 1)


class Shop(Base):
    def test_shop(self):
        self.assertEqual(2, 2)
"""
    base, shop = candidates(fenced(code)).codes
    assert base == code[: code.index("\n\n\nclass Shop")] + "\n"
    assert shop == (
        "import unittest\n\n\nclass Base(unittest.TestCase):\n    pass\n\n\n"
        "class Shop(Base):\n    def test_shop(self):\n        self.assertEqual(2, 2)\n"
    )


def test_a_class_in_a_class_is_split_too() -> None:
    code = (
        "class TestA:\n    class TestB:\n        def test_x(self):\n            assert 1\n\n"
        "    class TestC:\n        def test_y(self):\n            assert 2\n"
    )
    assert candidates(fenced(code)).codes == (
        "class TestA:\n    class TestB:\n        def test_x(self):\n            assert 1\n",
        "class TestA:\n    class TestC:\n        def test_y(self):\n            assert 2\n",
    )


def test_a_fixture_named_in_a_string_comes_along() -> None:
    code = (
        "import pytest\n\n\n@pytest.fixture\ndef clean():\n    yield\n\n\n"
        '@pytest.mark.usefixtures("clean")\ndef test_a():\n    assert 1\n\n\n'
        "def test_b():\n    assert 2\n"
    )
    first, second = candidates(fenced(code)).codes
    assert first == code[: code.index("\n\ndef test_b")]
    assert second == "def test_b():\n    assert 2\n"


def test_two_tests_of_one_name_are_two_candidates() -> None:
    code = "def test_a():\n    assert 1\n\n\ndef test_a():\n    assert 2\n"
    assert candidates(fenced(code)).codes == (
        "def test_a():\n    assert 1\n",
        "def test_a():\n    assert 2\n",
    )


def test_optional_imports_and_marks_of_the_module_stay() -> None:
    code = (
        "import pytest\n\ntry:\n    import numpy\nexcept ImportError:\n    numpy = None\n\n"
        f"pytestmark = pytest.mark.slow\n\n\n{A}\n\n{B}"
    )
    first, second = candidates(fenced(code)).codes
    assert first == code[: code.index("\n\ndef test_b")]
    assert second == code.replace(f"\n\n{A}", "")
