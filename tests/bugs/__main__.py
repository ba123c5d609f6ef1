"""Turns every patch here into a twin, tries its invariant on it, and writes README.md's table.

    ./hermutic dev tests.bugs [NUMBER...]

The exit code is 1 if a twin's invariant holds, or fails for another reason than the predicted one.
"""

from __future__ import annotations

import subprocess
import sys

from tests.bugs.table import PAGE, page, printed_before
from tests.bugs.twin import BUGS, tried
from tests.invariants.environment import environment


def main(numbers: list[int]) -> int:
    """Try them in turn, each with its line."""
    printed = printed_before()
    missed = 0
    with environment() as python:
        for number in numbers or BUGS:
            bug = BUGS[number]
            try:
                outcome = tried(bug, python)
            except subprocess.CalledProcessError as error:
                print(f"{number:>2} {bug.patch.name} does not apply:\n{error.stderr}", flush=True)
                missed += 1
                continue
            printed[number] = outcome.seen
            missed += not outcome.caught
            said = "caught" if outcome.caught else f"MISSED, wanted {bug.seen!r}"
            print(f"{number:>2} {bug.patch.stem}: {said}: {outcome.seen}", flush=True)
    PAGE.write_text(page(printed), encoding="utf-8")
    print(
        f"{len(numbers or BUGS) - missed} of {len(numbers or BUGS)} caught; {PAGE.name} is written"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main([int(number) for number in sys.argv[1:]]))
