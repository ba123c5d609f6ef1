"""Turns the numbers of invariants into what was predicted and what was seen, for any instrument.

    ./hermutic dev tests.invariants [NUMBER...] [--instrument FOLDER] [--python PYTHON] [--json]

FOLDER holds another copy of harness/ and gate/. The exit code is 1 if one does not hold.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def main() -> int:
    """Run them in the order given."""
    parser = argparse.ArgumentParser(prog="./hermutic dev tests.invariants")
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--instrument", type=Path)
    parser.add_argument("--python", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.instrument:
        sys.path.insert(0, str(given.instrument.resolve()))
    # Only now: importing them imports the instrument.
    from tests.invariants.all import INVARIANTS  # noqa: PLC0415
    from tests.invariants.environment import environment, place  # noqa: PLC0415
    from tests.invariants.invariant import INSTRUMENT, seen  # noqa: PLC0415

    if given.instrument and given.instrument.resolve() != INSTRUMENT:
        parser.error(f"could not use the instrument at '{given.instrument}': '{INSTRUMENT}' came")
    failed = 0
    with environment(given.python) as python:
        for number in given.numbers or sorted(INVARIANTS):
            invariant = INVARIANTS[number]
            with place(python) as here:
                found = seen(invariant, here)
            holds = found == invariant.predicted
            failed += not holds
            if given.json:
                row = {"number": number, "holds": holds, "seen": found}
                print(json.dumps(row), flush=True)
                continue
            print(f"{number:>2} {invariant.name}: {'holds' if holds else 'DOES NOT HOLD'}")
            print(f"   predicted  {invariant.predicted}\n   seen       {found}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
