"""Files that nobody wrote: find says what each holds, and never raises.

HERMUTIC_NIGHTLY=1 tries a hundred times as many.
"""

from __future__ import annotations

import os

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
def test_any_bytes_at_all_are_measured_or_named(source: bytes) -> None:
    found = find(source, "m.py")
    assert found.problem is None or found.mutants == ()
    assert found.problem is None or found.problem.startswith("could not")
