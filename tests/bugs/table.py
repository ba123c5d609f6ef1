"""Turns the twins' outcomes into the table of README.md here, and that back into its cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.bugs.twin import BUGS, Bug
from tests.invariants.all import INVARIANTS

PAGE = Path(__file__).with_name("README.md")
HEAD = """# The instrument's past faults, re-introduced

Each row is a fault that instruments of this kind have really had. Its patch puts it back into a
copy of this one, and its invariant, run against that copy, must print something else than what was
predicted: the last column. `./hermutic dev tests.invariants` runs the invariants
([tests/invariants](../invariants)) against the instrument as it is, and with `--instrument FOLDER`
against any other copy of `harness/` and `gate/`.

`./hermutic dev tests.bugs` tries all twins, in some minutes, and writes this table; numbers choose
rows. `hermutic selftest` runs all invariants, checks that every patch still applies, and tries
seven of the twins, two of them by `hermutic verify` (test_bugs.py says which).

| # | the fault | its patch | what the patch does | invariant | predicted | printed |
|---|---|---|---|---|---|---|
"""


def page(printed: Mapping[int, str]) -> str:
    """The whole page; ``printed`` is what each twin's invariant printed last."""
    rows = [[*static(bug), _cell(printed.get(number, ""))] for number, bug in BUGS.items()]
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def static(bug: Bug) -> list[str]:
    """The cells of a row that no run is needed for."""
    one = INVARIANTS[bug.number]
    fault = f"{one.fault} ({bug.note})" if bug.note else one.fault
    link = f"[{bug.patch.stem}]({bug.patch.name})"
    return [
        _cell(text) for text in (str(bug.number), fault, link, bug.why, one.name, one.predicted)
    ]


def cells(text: str) -> Iterator[list[str]]:
    """The cells of every row of a page."""
    for line in text.splitlines():
        if line.startswith("| ") and line.split()[1].isdigit():
            yield line.removeprefix("| ").removesuffix(" |").split(" | ")


def printed_before() -> dict[int, str]:
    """What the page says that each twin's invariant printed."""
    if not PAGE.exists():
        return {}
    rows = cells(PAGE.read_text(encoding="utf-8"))
    return {int(row[0]): row[-1] for row in rows}


def _cell(text: str) -> str:
    """Text that a table can hold."""
    return text.replace("|", "/")
