"""An operator: turns one syntax node into the changes to make there, and carries its examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import libcst as cst

from harness.source import Tree


@dataclass(frozen=True, slots=True)
class Change:
    """One replacement: ``text`` for the characters from ``start`` to ``end``.

    ``anchor`` is the node whose surroundings say what sort of thing is changed. ``glue`` is off
    where a space beside the replacement would be content (inside an f-string).
    """

    anchor: cst.CSTNode
    start: int
    end: int
    text: str
    glue: bool = True


Apply = Callable[[cst.CSTNode, Tree], Iterable[Change]]
Example = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Operator:
    """``apply`` is called with every node of one of the types in ``nodes``.

    ``examples`` pair a snippet with every mutated snippet that this operator alone makes of it,
    in order: what the operator does, as a test can check it.
    """

    name: str
    family: str
    nodes: tuple[type[cst.CSTNode], ...]
    apply: Apply
    examples: tuple[Example, ...]


def replace(tree: Tree, node: cst.CSTNode, text: str) -> Change:
    """Replace the node, leaving the parentheses around it where they are."""
    start, end = tree.span(node)
    return Change(node, start, end, text)
