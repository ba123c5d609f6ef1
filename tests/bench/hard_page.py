"""Turns what three tools say of each tree into PEERS_HARD.md."""

from __future__ import annotations

import os
import platform
import re
import time
from collections import Counter
from dataclasses import dataclass

from tests.bench.tools import COSMIC_RAY, MUTMUT
from tests.harness.trees import Tree

RIGHT, WRONG, NONE, NOT_RUN = "right", "wrong", "nothing in common", "did not run"
WORDS = (RIGHT, WRONG, NONE, NOT_RUN)
TOOLS = ("hermutic", MUTMUT, COSMIC_RAY)
LONGEST = 160

HEAD = """\
# Hard inputs: Hermutic beside its peers

Written by `./hermutic dev tests.bench.peers_hard` from the checkout. Do not edit: run it again. The
trees are those of [tests/trees](../trees/README.md), each with verdicts worked out by hand. mutmut
3.8.1 and cosmic-ray 8.7.0 are installed from the lock files here, in environments of their own
under the user's cache directory.
"""

METHOD = """\
## How it was compared

- Each tool gets a fresh copy of the tree, named as the tree, and its own default settings. mutmut
  is told which files to mutate and to copy the rest; cosmic-ray is told which files to mutate, and
  `python -m pytest -x -q` is its test command. Both get on PYTHONPATH what the tree's environment
  has: `src`, the folder of an editable install, an installed copy, pytest's plugins. Tests that are
  set aside are deselected.
- The peers make other mutants than Hermutic. Compared are only mutants of the tree's table whose
  changed line has the very same text before and after in the peer's mutant (and stands in the file
  once): detected (killed, broken, crashed, timeout) or not detected (survived, unreached) as worked
  out by hand. Which way a mutant was detected, and by which test, is not compared; rows that are
  unstable or suppressed have no counterpart and are not compared either.
- `right`: all that was compared agrees; in a tree that is to be refused, the tool refuses it, for
  whatever reason (or, where an installed copy is in the way, puts its mutant before the copy and
  detects it). `wrong`: one mutant or more does not agree, or a result is given where none can be.
  `nothing in common`: the tool runs (its run on the clean tree is green) and makes no mutant of the
  table. `did not run`: the tool ends with an error or not in time, and gives no result.
- A run of the clean tree without a change is the peers' own first step: were it not green, the tool
  would not run. Neither makes a no-op by default, so there is no more to compare of that.
- The peers run without a sandbox. So that a tree cannot harm the machine, each of their commands
  has 4 GB of address space and 60 s of the processor. cosmic-ray is given only the mutants of the
  table, 30 s each. A peer that is wrong or does not run gets a second try, which counts.
- Hermutic's column is stricter: every row of the table, by the name of its verdict.
"""


@dataclass(frozen=True)
class Said:
    """One of the four words, and one line of what the tool said."""

    word: str
    line: str


def one_line(text: str) -> str:
    """The line of a message that says most, without any folder of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["(said nothing)"]
    telling = [
        line for line in lines if re.search(r"\w*(Error|Exception)\b|[Ff]ailed|could not", line)
    ]
    line = re.sub(r"(?:/[^/\s'\":]+)+/([^/\s'\":]+)", r"\1", (telling or lines)[-1])
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


def render(
    trees: list[Tree], rows: dict[str, dict[str, Said]], version: str, seconds: float
) -> str:
    """The whole page."""
    measured = (
        f"Measured {time.strftime('%Y-%m-%d', time.gmtime())}: {os.cpu_count()} cores "
        f"({platform.machine()}), {platform.system()}, {version}, {seconds / 60:.0f} minutes.\n"
    )
    return "\n".join([HEAD, measured, _summary(rows), _table(trees, rows), METHOD])


def _summary(rows: dict[str, dict[str, Said]]) -> str:
    lines = [f"| {len(rows)} trees | {' | '.join(WORDS)} |", "| --- |" + " --- |" * len(WORDS)]
    for tool in TOOLS:
        counts = Counter(said[tool].word for said in rows.values())
        lines.append(f"| {tool} | {' | '.join(str(counts[word]) for word in WORDS)} |")
    return "\n".join(lines) + "\n"


def _table(trees: list[Tree], rows: dict[str, dict[str, Said]]) -> str:
    lines = [f"| tree | right verdicts | {' | '.join(TOOLS)} |", "| --- | --- |" + " --- |" * 3]
    for tree in trees:
        said = [rows[tree.name][tool] for tool in TOOLS]
        cells = [f"**{one.word}**: {_cell(one.line)}" for one in said]
        lines.append(f"| {tree.name} | {_verdicts(tree)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _verdicts(tree: Tree) -> str:
    if "exit" in tree.table:
        return "refused"
    counts = Counter(row["verdict"] for row in tree.rows)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
