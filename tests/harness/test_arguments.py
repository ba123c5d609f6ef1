"""The command line that a person is told to type."""

from __future__ import annotations

import pytest

from harness.arguments import by_hand

PYTEST = ("python", "-m", "pytest")
OURS = ("-p", "_hermutic_pytest", "--rootdir", "{project}", "--color=no", "--no-header")


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ((*OURS, "--tb=native", "--maxfail=0", "tests"), "tests"),
        ((*OURS, "-p", "no:anyio", "-p", "no:hypothesispytest", "tests"), "tests"),
        ((*OURS, "-p", "plugin", "-m", "not slow", "a b"), "-p plugin -m 'not slow' 'a b'"),
        ((*OURS, "-p", "no:randomly", "--maxfail=2"), "-p no:randomly --maxfail=2"),
    ],
)
def test_a_command_has_what_is_the_projects_own(given: tuple[str, ...], typed: str) -> None:
    assert by_hand((*PYTEST, *given)) == f"python -m pytest {typed}"
