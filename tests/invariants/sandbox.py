"""Faults of the place that mutants run in: what ran was not the mutant, or not the mutant alone."""

from __future__ import annotations

from tests.invariants.invariant import Invariant, Place
from tests.invariants.projects import measured, verdicts

EQUAL = "def is_five(n):\n    return n == 5\n"
TEST_EQUAL = "from five import is_five\n\ndef test_five():\n    assert is_five(5)\n"
# The same time on clean and on the mutant, whatever the instrument does: both have one size, too.
PINS = """
    import os
    from pathlib import Path

    os.utime(Path(__file__).with_name("five.py"), (1_000_000_000, 1_000_000_000))
"""
OWN_FOLDERS = '[tool.hermutic]\nenv = { PYTHONPYCACHEPREFIX = "" }\n'


def stale_bytecode(place: Place) -> str:
    """A flip of the same length, its time pinned, beside bytecode that the clean run has left."""
    files: dict[str, str | bytes] = {
        "five.py": EQUAL,
        "test_five.py": TEST_EQUAL,
        "conftest.py": PINS,
    }
    flip = ("five.py:is_five:compare.negate:1",)
    shared = measured(place, place.folder / "shared", files, only=flip)
    own = {**files, "pyproject.toml": OWN_FOLDERS}
    apart = measured(place, place.folder / "apart", own, only=flip, executor="fresh")
    return f"shared prefix: {verdicts(shared)}; none: {verdicts(apart)}"


INVARIANTS = (
    Invariant(
        3,
        "stale bytecode",
        "a change of the same length within the same second runs the old bytecode",
        "shared prefix: is_five killed; none: is_five killed",
        stale_bytecode,
    ),
)
