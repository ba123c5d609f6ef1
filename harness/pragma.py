"""Turns `# pragma: no mutate` comments into the spans that they leave unmutated."""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.context import Unit
from harness.source import Span, Tree

PRAGMA = re.compile(r"#\s*pragma:[^#]*?\bno mutate\b\s*(?::\s*(?P<reason>[^#]*))?", re.IGNORECASE)


def pragmas(tree: Tree, units: Iterable[Unit]) -> dict[Span, str]:
    """The spans without mutants, each with its reason ("pragma" or "pragma: <reason given>").

    At the end of a line, a pragma is for the statement on that line, and for the whole block if
    the statement opens one. On a line of its own, it is for the statement below it, with all its
    blocks. Comments alone are looked at: a string that reads like one is none.
    """
    if "pragma" not in tree.text:
        return {}
    found: dict[Span, str] = {}
    listed = sorted(units, key=lambda unit: unit.start)
    for node in tree.comments:
        match = PRAGMA.search(node.value)
        if match is not None:
            given = (match["reason"] or "").strip()
            reason = f"pragma: {given}" if given else "pragma"
            at, _ = tree.span(node)
            found.update(dict.fromkeys(_spans(tree, listed, at), reason))
    return found


def _spans(tree: Tree, units: list[Unit], at: int) -> Iterable[Span]:
    line = tree.source.line(at)
    owners = [unit for unit in units if _first(tree, unit) <= line <= _last(tree, unit)]
    if owners:
        return [(unit.start, unit.suite) for unit in owners]
    column = tree.source.column(at)
    below = next((unit for unit in units if unit.start > at), None)
    if below is None or tree.source.column(below.start) != column:
        return []
    return [(below.start, below.whole)]


def _first(tree: Tree, unit: Unit) -> int:
    return tree.source.line(unit.start)


def _last(tree: Tree, unit: Unit) -> int:
    return tree.source.line(max(unit.start, unit.end - 1))
