"""Turns a mutant and reach into its selection: the tests that reach it, cheapest killers first."""

from __future__ import annotations

from harness.mutant import IMPORT, Mutant
from harness.reach import OUTSIDE, Reach


def reached(mutant: Mutant, reach: Reach) -> bool:
    """Whether anything executed the mutant's statement, on import or in a test."""
    return bool(reach.of_lines(mutant.path, mutant.first_line, mutant.last_line))


def select(mutant: Mutant, reach: Reach, usable: frozenset[str]) -> tuple[str, ...]:
    """The tests among ``usable`` that execute the mutant's statement, in running order.

    A statement that runs while its module is imported is seen by every test file that imports the
    module: pytest imports it once for all of them, so the lines alone would name the first.
    """
    mask = reach.of_lines(mutant.path, mutant.first_line, mutant.last_line)
    if mask and (mutant.place == IMPORT or mask & OUTSIDE):
        mask |= reach.importers[mutant.path]
    return ordered(mask, reach, usable)


def everything(reach: Reach, usable: frozenset[str]) -> tuple[str, ...]:
    """All usable tests, in the order of a selection."""
    return ordered(~OUTSIDE, reach, usable)


def left_out(
    selection: tuple[str, ...], reach: Reach, set_aside: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The other tests of the selection's files: whatever else is collected there is a new test.

    ``set_aside`` are names; one without parameters stands for all of them, also those that only a
    mutant makes.
    """
    chosen = frozenset(selection)
    files = {test.split("::")[0] for test in selection}
    others = [t for t in reach.tests if t not in chosen and t.split("::")[0] in files]
    named = [name for name in set_aside if name.split("::")[0] in files]
    return tuple(dict.fromkeys((*others, *named)))


def is_named(test: str, name: str) -> bool:
    """Whether ``name`` is the test's id, or that id without its parameters."""
    return test == name or test.startswith(name + "[")


def ordered(mask: int, reach: Reach, usable: frozenset[str]) -> tuple[str, ...]:
    """The usable tests of a mask: files by their cheapest test, the tests of a file by cost.

    A file's tests stay together, so that its fixtures are set up once. Cost is the number of
    executed lines, so that the order never depends on a clock; equal costs keep the suite's order.
    """
    chosen = [
        (reach.cost[index], index, test)
        for index, test in enumerate(reach.tests)
        if mask >> (index + 1) & 1 and test in usable
    ]
    files: dict[str, list[tuple[int, int, str]]] = {}
    for entry in sorted(chosen):
        files.setdefault(entry[2].split("::")[0], []).append(entry)
    return tuple(test for file in files.values() for _, _, test in file)


def files_of(selection: tuple[str, ...]) -> tuple[str, ...]:
    """The test files of a selection, in its order."""
    return tuple(dict.fromkeys(test.split("::")[0] for test in selection))
