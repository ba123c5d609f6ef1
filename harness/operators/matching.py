"""Turns the cases of a match statement into ones that always or never apply."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from harness.operators.operator import Change, Operator
from harness.source import Tree


def _guard(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.MatchCase)
    if node.guard is not None:
        yield Change(node, *tree.span(node.guard), "True")


def _case(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.MatchCase)
    if node.guard is not None:
        yield Change(node, *tree.span(node.guard), "False")
        return
    _, end = tree.around(node.pattern)
    yield Change(node, end, end, " if False")


OPERATORS = (
    Operator(
        "match.guard",
        "match",
        (cst.MatchCase,),
        _guard,
        (
            ("match a:\n    case b if c: d", ("match a:\n    case b if True: d",)),
            ("match a:\n    case [b] if(c): d", ("match a:\n    case [b] if(True): d",)),
            ("match a:\n    case b: c", ()),
        ),
    ),
    Operator(
        "match.case",
        "match",
        (cst.MatchCase,),
        _case,
        (
            ("match a:\n    case b if c: d", ("match a:\n    case b if False: d",)),
            ("match a:\n    case A() | B(): c", ("match a:\n    case A() | B() if False: c",)),
            (
                "match a:\n    case -2: b\n    case _: c",
                (
                    "match a:\n    case -2 if False: b\n    case _: c",
                    "match a:\n    case -2: b\n    case _ if False: c",
                ),
            ),
            ("match a:\n    case b, *c : d", ("match a:\n    case b, *c if False : d",)),
            ("match a:\n    case b,: c", ("match a:\n    case b, if False: c",)),
            ("match a:\n    case (B() as c): d", ("match a:\n    case (B() as c) if False: d",)),
        ),
    ),
)
