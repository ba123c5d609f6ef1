"""Turns a change of a binary operator into text that parses as that change and no other."""

from __future__ import annotations

import libcst as cst

from harness.operators.operator import Change
from harness.source import Tree

OR, AND, NOT, COMPARISON, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, UNARY, POWER, ATOM = range(
    2, 15
)
LOOSE = 0  # lambda, if-expression, yield, walrus, bare tuple

LEVELS: dict[type[cst.CSTNode], int] = {
    cst.Or: OR,
    cst.And: AND,
    cst.Not: NOT,
    cst.BitOr: BIT_OR,
    cst.BitXor: BIT_XOR,
    cst.BitAnd: BIT_AND,
    cst.LeftShift: SHIFT,
    cst.RightShift: SHIFT,
    cst.Add: SUM,
    cst.Subtract: SUM,
    cst.Multiply: PRODUCT,
    cst.Divide: PRODUCT,
    cst.FloorDivide: PRODUCT,
    cst.Modulo: PRODUCT,
    cst.MatrixMultiply: PRODUCT,
    cst.Plus: UNARY,
    cst.Minus: UNARY,
    cst.BitInvert: UNARY,
    cst.Power: POWER,
}
LOOSE_NODES = (cst.Lambda, cst.IfExp, cst.Yield, cst.NamedExpr, cst.Tuple)
Binary = cst.BinaryOperation | cst.BooleanOperation


def level(node: cst.CSTNode) -> int:
    """How tightly an expression binds; parentheses around it make it an atom."""
    if getattr(node, "lpar", ()):
        return ATOM
    if isinstance(node, cst.BinaryOperation | cst.BooleanOperation | cst.UnaryOperation):
        return LEVELS[type(node.operator)]
    if isinstance(node, cst.Comparison):
        return COMPARISON
    return LOOSE if isinstance(node, LOOSE_NODES) else ATOM


def swap(tree: Tree, node: Binary, new: type[cst.CSTNode], token: str) -> Change:
    """Put ``token`` for the node's operator, with the parentheses that this makes necessary."""
    operator = tree.span(node.operator)
    old, tight = LEVELS[type(node.operator)], LEVELS[new]
    left = level(node.left) < tight
    right = level(node.right) < tight or (
        level(node.right) == tight and not _joins(node.right, new)
    )
    around = not node.lpar and _needs_parentheses(tree, node, new)
    if old == tight or not (left or right or around):
        return Change(node, *operator, token)
    start, end = tree.span(node)
    first, second = tree.around(node.left), tree.around(node.right)
    text = (
        _wrapped(tree.text[start : first[1]], left)
        + tree.text[first[1] : operator[0]]
        + token
        + tree.text[operator[1] : second[0]]
        + _wrapped(tree.text[second[0] : end], right)
    )
    if around:
        return Change(node, start, end, f"({text})")
    return _narrowed(tree, node, text, right)


def _narrowed(tree: Tree, node: Binary, text: str, right: bool) -> Change:
    """Leave out an operand that stays as it is, so that the span stays small."""
    start, end = tree.span(node)
    if not right:
        kept = end - tree.around(node.right)[0]
        return Change(node, start, end - kept, text[: len(text) - kept])
    if text.startswith(tree.text[start : tree.around(node.left)[1]]):
        kept = tree.around(node.left)[1] - start
        return Change(node, start + kept, end, text[kept:])
    return Change(node, start, end, text)


def _wrapped(text: str, wrap: bool) -> str:
    return f"({text})" if wrap else text


def _joins(node: cst.CSTNode, new: type[cst.CSTNode]) -> bool:
    """`a and (b and c)` says the same as `a and b and c`."""
    return isinstance(node, cst.BooleanOperation) and isinstance(node.operator, new)


def _needs_parentheses(tree: Tree, node: Binary, new: type[cst.CSTNode]) -> bool:
    parent = tree.parent(node)
    tight = LEVELS[new]
    if isinstance(parent, cst.UnaryOperation):
        return LEVELS[type(parent.operator)] > tight
    if isinstance(parent, cst.Comparison | cst.ComparisonTarget):
        return tight <= COMPARISON
    if not isinstance(parent, cst.BinaryOperation | cst.BooleanOperation):
        return False
    outer = LEVELS[type(parent.operator)]
    if outer != tight:
        return outer > tight
    return parent.right is node and not isinstance(parent.operator, new | cst.Power)
