"""The study's seven families, one mutant a site, as its published numbers count them."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from harness.operators import constants
from harness.operators.logic import comparer, dropper
from harness.operators.operator import Change, Operator, replace
from harness.operators.precedence import swap
from harness.operators.statements import is_name
from harness.source import Tree

# The study left longer strings alone.
LONGEST_STRING = 40

COMPARE: dict[type[cst.CSTNode], str] = {
    cst.LessThan: "<=",
    cst.LessThanEqual: "<",
    cst.GreaterThan: ">=",
    cst.GreaterThanEqual: ">",
    cst.Equal: "!=",
    cst.NotEqual: "==",
    cst.Is: "is not",
    cst.IsNot: "is",
    cst.In: "not in",
    cst.NotIn: "in",
}
BINARY: dict[type[cst.CSTNode], tuple[type[cst.CSTNode], str]] = {
    cst.Add: (cst.Subtract, "-"),
    cst.Subtract: (cst.Add, "+"),
    cst.Multiply: (cst.FloorDivide, "//"),
    cst.Divide: (cst.Multiply, "*"),
    cst.FloorDivide: (cst.Multiply, "*"),
    cst.Modulo: (cst.Multiply, "*"),
    cst.Power: (cst.Multiply, "*"),
}


def _binary(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.BinaryOperation)
    if type(node.operator) in BINARY:
        yield swap(tree, node, *BINARY[type(node.operator)])


def _boolean(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.BooleanOperation)
    if isinstance(node.operator, cst.And):
        yield swap(tree, node, cst.Or, "or")
    else:
        yield swap(tree, node, cst.And, "and")


def _constant(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    if isinstance(node, cst.Integer):
        yield from constants.integer(node, tree)
    elif isinstance(node, cst.Float):
        yield from constants.floating(node, tree)
    elif isinstance(node, cst.Name):
        yield from constants.boolean(node, tree)
    else:
        yield from _string(node, tree)


def _string(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    for literal in constants.literals(node, tree):
        value = constants.string_value(literal)
        alone = not isinstance(tree.parent(literal), cst.ConcatenatedString)
        if alone and isinstance(value, str) and 0 < len(value) <= LONGEST_STRING:
            yield replace(tree, literal, constants.emptied(literal))


def _raise(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.Raise)
    if node.exc is not None:
        yield replace(tree, node, "pass")


def _return(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.Return)
    if node.value is not None and not is_name(node.value, "None"):
        yield Change(node, *tree.span(node.value), "None")


OPERATORS = (
    Operator(
        "classic.compare",
        "compare",
        (cst.ComparisonTarget,),
        comparer(COMPARE),
        (
            ("a < b", ("a <= b",)),
            ("a >= b == c", ("a > b == c", "a >= b != c")),
            ("a not in b is c", ("a in b is c", "a not in b is not c")),
        ),
    ),
    Operator(
        "classic.binop",
        "binop",
        (cst.BinaryOperation,),
        _binary,
        (
            ("a + b + c", ("a - b + c", "a + b - c")),
            ("a * b", ("a // b",)),
            ("a / b // c % d", ("a * b // c % d", "a / b * c % d", "a / b // c * d")),
            ("a / b ** c", ("a * b ** c", "a / (b * c)")),
            ("a | b; a @ b", ()),
        ),
    ),
    Operator(
        "classic.boolop",
        "boolop",
        (cst.BooleanOperation,),
        _boolean,
        (
            ("a and b", ("a or b",)),
            ("x and y or z", ("x or y or z", "x and y and z")),
            ("a or b or c", ("(a or b) and c", "a and b or c")),
        ),
    ),
    Operator(
        "classic.constant",
        "constant",
        (cst.Integer, cst.Float, cst.Name, *constants.STRINGS),
        _constant,
        (
            (
                "x = True, 1, .5, 'a'",
                (
                    "x = False, 1, .5, 'a'",
                    "x = True, 2, .5, 'a'",
                    "x = True, 1, 1.5, 'a'",
                    "x = True, 1, .5, ''",
                ),
            ),
            ("x = 'a' 'b'", ("x = ''",)),
            (
                f"x = '{'a' * 40}', '{'b' * 41}', '', None, b'c'",
                (f"x = '', '{'b' * 41}', '', None, b'c'",),
            ),
            ("x = 'a' f'{b}c'", ()),
        ),
    ),
    Operator(
        "classic.not",
        "not",
        (cst.UnaryOperation,),
        dropper(cst.Not),
        (
            ("not a", ("a",)),
            ("a and not (b)", ("a and (b)",)),
            ("not not a", ("not a", "not a")),
        ),
    ),
    Operator(
        "classic.raise",
        "raise",
        (cst.Raise,),
        _raise,
        (
            ("raise A", ("pass",)),
            ("raise A(b) from c", ("pass",)),
            ("try:\n    a\nexcept B:\n    raise", ()),
        ),
    ),
    Operator(
        "classic.return",
        "return",
        (cst.Return,),
        _return,
        (
            ("def f(): return a", ("def f(): return None",)),
            ("def f(): return False", ("def f(): return None",)),
            ("def f():\n    return\ndef g():\n    return None", ()),
        ),
    ),
)
