"""Which verdicts count as identical, worked out by hand."""

from __future__ import annotations

import pytest

from tests.e2e.reproducible import PYTHON, _compared

ONE, TWO = "fresh, one worker", "fresh, two workers"
OTHER, AGAIN = f"{PYTHON}, -j1", f"{PYTHON}, -j2"
WORKER, SANDBOX = "Bazel's worker", "Bazel's sandbox"


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ({ONE: "killed", TWO: "killed", OTHER: "killed", AGAIN: "killed"}, True),
        ({ONE: "killed", TWO: "survived", OTHER: "killed", AGAIN: "killed"}, False),
        ({ONE: "killed", TWO: "killed", OTHER: "survived", AGAIN: "survived"}, False),
        ({ONE: "killed (1 skipped)", TWO: "killed (2 skipped)"}, False),
        ({ONE: "killed (1 skipped)", TWO: "killed (1 skipped)", OTHER: "killed (2 skipped)"}, True),
        ({ONE: "killed (1 skipped)", OTHER: "killed (2 skipped)", AGAIN: "killed"}, False),
        ({ONE: "killed (1 skipped)", OTHER: "killed"}, True),
        ({ONE: "killed", TWO: None}, False),
        ({ONE: "killed (1 skipped)", WORKER: "killed", SANDBOX: "killed"}, True),
        ({ONE: "killed", WORKER: "killed", SANDBOX: "killed (1 skipped)"}, False),
        ({ONE: "killed", WORKER: "survived", SANDBOX: "survived"}, False),
    ],
)
def test_a_verdict_is_one_everywhere_and_its_reason_where_the_python_is(
    said: dict[str, str | None], same: bool
) -> None:
    found = {way: {"m": words} if words else {} for way, words in said.items()}
    assert _compared(found)[0] == int(same)


def test_what_differs_is_listed_by_its_ways() -> None:
    found = {ONE: {"m": "killed", "n": "killed"}, TWO: {"m": "killed"}}
    assert _compared(found) == (1, {"n": {"killed": [ONE], "not found": [TWO]}})


def test_bazel_is_not_asked_for_the_files_that_it_does_not_judge() -> None:
    found = {ONE: {"a.py:f": "killed", "b.py:f": "killed"}, WORKER: {"a.py:f": "killed"}}
    assert _compared(found, ["a.py"])[0] == 2
    assert _compared(found, ["a.py", "b.py"])[0] == _compared(found)[0] == 1
    assert _compared({**found, TWO: {"a.py:f": "killed"}}, ["a.py"])[0] == 1
