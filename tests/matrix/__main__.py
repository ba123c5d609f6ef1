"""Turns every supported pytest and Python into a table: does each verdict's tree get its verdict?

Run it from the checkout: ``python3 -m tests.matrix`` (standard library only; it installs what it
needs from the locks beside this file). Pythons are those on PATH, or as named.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from tests.bench import places, timed
from tests.bench.timed import Failed
from tests.matrix import cells

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# The trees that are measured side by side, of every verdict but one, and the one that is refused.
TESTS = "by_hand and not own or side_by_side or shadowed_by_a_wheel"


def main(argv: list[str] | None = None) -> int:
    """Measure each cell and print the table; 1 if a cell is wrong."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python3 -m tests.matrix", description=about)
    parser.add_argument("--pytest", action="append", choices=cells.PYTESTS, help="only this")
    parser.add_argument("--python", action="append", type=Path, help="this one; repeatable")
    given = parser.parse_args(argv)
    pythons = dict(map(_version, given.python)) if given.python else _on_path()
    rows, wrong = [], 0
    for version, python in pythons.items():
        row = []
        for pytest in given.pytest or cells.PYTESTS:
            said = _cell(pytest, python) if python else "no such Python here"
            wrong += bool(python) and not said.startswith("right")
            print(f"pytest {pytest}, Python {version}: {said}", file=sys.stderr, flush=True)
            row.append(said.partition("\n")[0])
        rows.append(f"| {version} | {' | '.join(row)} |")
    names = [f"pytest {name}" for name in given.pytest or cells.PYTESTS]
    print(f"| Python | {' | '.join(names)} |", "| --- |" + " --- |" * len(names), *rows, sep="\n")
    return 1 if wrong else 0


def _on_path() -> dict[str, Path | None]:
    """The supported Pythons, None for one that is not there (or is a stand-in that starts none)."""
    found: dict[str, Path | None] = {}
    for version in VERSIONS:
        name = shutil.which(f"python{version}")
        try:
            found[version] = _version(Path(name))[1] if name else None
        except Failed:
            found[version] = None
    return found


def _version(python: Path) -> tuple[str, Path]:
    ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    version, _, executable = timed.run([python, "-c", ask], places.ROOT).tail().partition(" ")
    return version, Path(executable)


def _cell(pytest: str, python: Path) -> str:
    """What the trees' own tests say where the tests' environment is this one."""
    env = {cells.VARIABLE: str(cells.environment(f"pytest-{pytest}", python))}
    tests = ["tests/harness/test_trees.py", "-q", "-k", TESTS]
    try:
        ran = timed.run([places.HERMUTIC, "selftest", *tests], places.ROOT, env)
    except Failed as error:
        return f"wrong\n{error}"
    passed = ran.tail().rpartition("\n")[2].partition(",")[0]
    return f"right, {passed}"


if __name__ == "__main__":
    sys.exit(main())
