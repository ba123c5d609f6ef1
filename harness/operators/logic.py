"""Turns comparisons, and/or, not and unary signs into their neighbours."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from harness.operators.operator import Apply, Change, Operator, replace
from harness.operators.precedence import swap
from harness.source import Tree

BOUNDARY: dict[type[cst.CSTNode], str] = {
    cst.LessThan: "<=",
    cst.LessThanEqual: "<",
    cst.GreaterThan: ">=",
    cst.GreaterThanEqual: ">",
}
NEGATION: dict[type[cst.CSTNode], str] = {
    cst.LessThan: ">=",
    cst.LessThanEqual: ">",
    cst.GreaterThan: "<=",
    cst.GreaterThanEqual: "<",
    cst.Equal: "!=",
    cst.NotEqual: "==",
    cst.Is: "is not",
    cst.IsNot: "is",
    cst.In: "not in",
    cst.NotIn: "in",
}


def comparer(table: dict[type[cst.CSTNode], str]) -> Apply:
    """An ``apply`` that puts, for a comparison operator, the one that the table names."""

    def apply(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
        assert isinstance(node, cst.ComparisonTarget)
        token = table.get(type(node.operator))
        if token is not None:
            yield replace(tree, node.operator, token)

    return apply


def _to_or(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.And):
        yield swap(tree, node, cst.Or, "or")


def _to_and(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
        yield swap(tree, node, cst.And, "and")


def dropper(sign: type[cst.CSTNode]) -> Apply:
    """An ``apply`` that drops a unary operator, and the space behind it."""

    def apply(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, sign):
            start, _ = tree.span(node)
            operand, _ = tree.around(node.expression)
            yield Change(node, start, operand, "")

    return apply


OPERATORS = (
    Operator(
        "compare.boundary",
        "compare",
        (cst.ComparisonTarget,),
        comparer(BOUNDARY),
        (
            ("a < b", ("a <= b",)),
            ("a < b <= c", ("a <= b <= c", "a < b < c")),
            ("a>=b", ("a>b",)),
            ("a == b; a is b; a in b", ()),
        ),
    ),
    Operator(
        "compare.negate",
        "compare",
        (cst.ComparisonTarget,),
        comparer(NEGATION),
        (
            ("a < b", ("a >= b",)),
            ("a == b != c", ("a != b != c", "a == b == c")),
            ("a is not b", ("a is b",)),
            ("(a)is(b)", ("(a)is not(b)",)),
            ("a not  in b", ("a in b",)),
            ("f(a)in b", ("f(a)not in b",)),
        ),
    ),
    Operator(
        "logic.and",
        "logic",
        (cst.BooleanOperation,),
        _to_or,
        (
            ("a and b", ("a or b",)),
            ("x and y or z", ("x or y or z",)),
            ("a and b and c", ("(a or b) and c", "a and b or c")),
            ("(a)and(b)", ("(a)or(b)",)),
            ("not a and b", ("not a or b",)),
        ),
    ),
    Operator(
        "logic.or",
        "logic",
        (cst.BooleanOperation,),
        _to_and,
        (
            ("a or b", ("a and b",)),
            ("x and y or z", ("x and y and z",)),
            ("a or b or c", ("(a or b) and c", "a and b or c")),
            ("a or b and c", ("a and b and c",)),
            ("(a or b) or c", ("(a and b) or c", "(a or b) and c")),
        ),
    ),
    Operator(
        "logic.not",
        "logic",
        (cst.UnaryOperation,),
        dropper(cst.Not),
        (
            ("not a", ("a",)),
            ("x = not(a)", ("x = (a)",)),
            ("not a == b", ("a == b",)),
            ("not not a", ("not a", "not a")),
            ("x = (not\\\n a)", ("x = (a)",)),
        ),
    ),
    Operator(
        "unary.minus",
        "unary",
        (cst.UnaryOperation,),
        dropper(cst.Minus),
        (
            ("-a", ("a",)),
            ("a - -b", ("a - b",)),
            ("a = b if-c else d", ("a = b if c else d",)),
            ("-a ** -b", ("a ** -b", "-a ** b")),
        ),
    ),
    Operator(
        "unary.invert",
        "unary",
        (cst.UnaryOperation,),
        dropper(cst.BitInvert),
        (
            ("~a", ("a",)),
            ("a & ~b", ("a & b",)),
            ("~ -a", ("-a",)),
        ),
    ),
)
