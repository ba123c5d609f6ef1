"""Files that nobody wrote: find says what each holds, and never raises.

HERMUTIC_NIGHTLY=1 tries a hundred times as many.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.find import find
from tests.harness import grammar, holds

NIGHTLY = bool(os.environ.get("HERMUTIC_NIGHTLY"))
FEW = settings(
    max_examples=10_000 if NIGHTLY else 100,
    derandomize=not NIGHTLY,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


# What the nights have found: mutants that are the same because of dead code or of branches that are
# the same, and odd encodings.
FOUND = (
    b"a = a\nif 0:\n    a = a\n",
    b"if 0: a = a + a\n",
    b"raise\nclass A(a, metaclass=b, k=a):\n    a = a\n",
    b"def a():\n    if a:\n        a = a\n    elif 0:\n        a = a\n    else:\n        a = a\n",
    b"match a:\n    case 1:\n        a = a\nwhile not 1:\n    a = [a for a in a if a]\n",
    b"match a:\n    case -2:\n        a = a\n    case 1 | 'a' | None:\n        pass\n",
    b"match a + a:\n    case 1 | 'a' | None:\n        0\na = a\n",
    b"match a:\n    case [a, *b] if a:\n        a = a\n    case 1:\n        pass\na = a\n",
    b"for a in a:\n    try:\n        break\n    finally:\n        break\n",
    b"def a():\n    try:\n        return 5\n    finally:\n        return 6\n",
    b"# coding: latin-1\ra = a + '\xe9'\r",
    b"#!/bin/python\r\n# coding: latin-1\r\na = a + '\xe9'\r\n",
    b"class A(self, metaclass=b, k=a):  # \xb6\n    a = a\n",
)


@pytest.mark.parametrize("source", FOUND)
def test_what_was_found_before_is_found_no_more(source: bytes) -> None:
    holds.check(source)


@FEW
@given(grammar.files(), st.sampled_from(["default", "classic"]))
def test_every_mutant_of_a_composed_file_holds_what_it_says(source: bytes, operators: str) -> None:
    holds.check(source, operators=operators, at_most=30)


@FEW
@given(grammar.files(), st.data())
def test_a_file_with_a_piece_torn_out_is_measured_or_named(
    source: bytes, data: st.DataObject
) -> None:
    first, last = sorted(data.draw(st.integers(0, len(source))) for _ in range(2))
    torn = source[:first] + source[last:]
    if holds.compiled(torn) is None:
        find(torn, "m.py")
    else:
        holds.check(torn, at_most=10)


@FEW
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
@example(b"\xef\xbb\xbf# coding: latin-1\n")
@example(b"x = \x00")
@example(b"\xf0\x93\x91\xa0")  # a letter of Unicode 16
def test_any_bytes_at_all_are_measured_or_named(source: bytes) -> None:
    found = find(source, "m.py")
    assert found.problem is None or found.mutants == ()
    assert found.problem is None or found.problem.startswith("could not")
