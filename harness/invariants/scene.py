"""What every invariant is given of a session, and the form in which it is stated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.interpreter import Interpreter
from harness.judging import Bench
from harness.mutant import Mutant
from harness.project import Project
from harness.report import Row
from harness.verdict import Verdict

Seen = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Scene:
    """A session to be tried: ``sample`` are some of its mutants that tests reach, ``unreached``
    some that none does. ``report`` makes the session's report of rows; ``scratch`` is a folder for
    stores and logs of the checks' own; ``cold`` are the sample's verdicts, from an empty store.
    """

    project: Project
    interpreter: Interpreter
    bench: Bench
    mutants: tuple[Mutant, ...]
    report: Callable[[Iterable[Row]], dict[str, Any]]
    scratch: Path
    sample: tuple[Mutant, ...] = ()
    unreached: tuple[Mutant, ...] = ()
    cold: dict[str, Verdict] = field(default_factory=dict)

    def most_reached(self) -> str:
        """The source file with most executed lines; ties go to the first name."""
        lines = self.bench.suite.reach.lines
        return min(self.bench.sources, key=lambda path: (-len(lines.get(path, ())), path))


@dataclass(frozen=True, slots=True)
class Invariant:
    """A fault tried for, and the outcome that shows its absence.

    ``check`` says what was seen, and whether it is what was predicted; ``cure`` what it means for
    the user if it is not.
    """

    name: str
    predicted: str
    cure: str
    check: Callable[[Scene], Seen]
