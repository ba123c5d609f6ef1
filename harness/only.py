"""Turns --only's patterns (an id, a path, path:line-line) into a choice among mutants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, TypeVar

from harness.errors import USAGE, Problem, nearest

_LINES = re.compile(r"(?P<path>.+\.pyi?):(?P<first>\d+)(?:-(?P<last>\d+))?")


class Placed(Protocol):
    """What has an id and a place: a mutant, or a row of a report."""

    @property
    def id(self) -> str:
        """Path, qualified name, operator and occurrence."""

    @property
    def path(self) -> str:
        """The file, relative to the project."""

    @property
    def line(self) -> int:
        """The first line of the replaced span, from 1."""


T = TypeVar("T", bound=Placed)


def choose(patterns: Sequence[str], mutants: Sequence[T]) -> list[T]:
    """The mutants that some pattern means, in their order; all of them if there is no pattern.

    A pattern that means none is a Problem that names the nearest id or path.
    """
    if not patterns:
        return list(mutants)
    chosen: set[str] = set()
    for pattern in patterns:
        found = {mutant.id for mutant in mutants if matches(pattern, mutant)}
        if not found:
            raise _nothing(pattern, mutants)
        chosen |= found
    return [mutant for mutant in mutants if mutant.id in chosen]


def matches(pattern: str, mutant: Placed) -> bool:
    """Whether ``pattern`` is the mutant's id, its file, a folder above it, or lines with it."""
    plain = pattern.removeprefix("./").rstrip("/")
    if plain in (mutant.id, mutant.path, ".") or mutant.path.startswith(plain + "/"):
        return True
    lines = _LINES.fullmatch(plain)
    if lines is None or lines["path"] != mutant.path:
        return False
    return int(lines["first"]) <= mutant.line <= int(lines["last"] or lines["first"])


def _nothing(pattern: str, mutants: Sequence[Placed]) -> Problem:
    lines = _LINES.fullmatch(pattern)
    paths = {mutant.path for mutant in mutants}
    if lines is not None and lines["path"] in paths:
        at = sorted({mutant.line for mutant in mutants if mutant.path == lines["path"]})
        near = min(at, key=lambda line: abs(line - int(lines["first"])))
        hint = f"the nearest line of '{lines['path']}' with a mutant is {near}"
    else:
        close = nearest(pattern, {mutant.id for mutant in mutants} | paths)
        hint = f"did you mean '{close}'?" if close else "`hermutic list` prints every id"
    return Problem(USAGE, f"could not choose mutants by '{pattern}': it names none; {hint}")
