"""Turns arithmetic, bitwise and shift operators, in expressions and assignments, into others."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from harness.operators.operator import Apply, Change, Example, Operator
from harness.operators.precedence import swap
from harness.source import Tree

# Text and displays know `+`, `*` and `%` alone: any other operator only raises TypeError.
SEQUENCES = (
    cst.SimpleString,
    cst.ConcatenatedString,
    cst.FormattedString,
    cst.List,
    cst.Tuple,
    cst.ListComp,
)
NODES = (cst.BinaryOperation, cst.AugAssign)


def _swapper(
    old: type[cst.CSTNode], augmented: type[cst.CSTNode], new: type[cst.CSTNode], token: str
) -> Apply:
    def apply(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
        if isinstance(node, cst.AugAssign) and isinstance(node.operator, augmented):
            if not isinstance(node.value, SEQUENCES):
                yield Change(node, *tree.span(node.operator), f"{token}=")
            return
        if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, old):
            return
        if not isinstance(node.left, SEQUENCES) and not isinstance(node.right, SEQUENCES):
            yield swap(tree, node, new, token)

    return apply


def _operator(
    name: str,
    old: type[cst.CSTNode],
    augmented: type[cst.CSTNode],
    new: type[cst.CSTNode],
    token: str,
    *examples: Example,
) -> Operator:
    family, _, _ = name.partition(".")
    return Operator(name, family, NODES, _swapper(old, augmented, new, token), examples)


OPERATORS = (
    _operator(
        "arithmetic.add",
        cst.Add,
        cst.AddAssign,
        cst.Subtract,
        "-",
        ("a + b", ("a - b",)),
        ("a + b + c", ("a - b + c", "a + b - c")),
        ("a += 1", ("a -= 1",)),
        ("x = a+(b+c)", ("x = a-(b+c)", "x = a+(b-c)")),
        ("'a' + b; a + [1]; f'{a}' + b", ()),
    ),
    _operator(
        "arithmetic.subtract",
        cst.Subtract,
        cst.SubtractAssign,
        cst.Add,
        "+",
        ("a - b", ("a + b",)),
        ("a - -b", ("a + -b",)),
        ("a -= b - c", ("a += b - c", "a -= b + c")),
    ),
    _operator(
        "arithmetic.multiply",
        cst.Multiply,
        cst.MultiplyAssign,
        cst.Divide,
        "/",
        ("a * b", ("a / b",)),
        ("a * b * c", ("a / b * c", "a * b / c")),
        ("a *= b", ("a /= b",)),
        ("a * [0]; '-' * n", ()),
    ),
    _operator(
        "arithmetic.divide",
        cst.Divide,
        cst.DivideAssign,
        cst.Multiply,
        "*",
        ("a / b", ("a * b",)),
        ("a / b / c", ("a * b / c", "a / b * c")),
        ("a /= b", ("a *= b",)),
    ),
    _operator(
        "arithmetic.floordivide",
        cst.FloorDivide,
        cst.FloorDivideAssign,
        cst.Divide,
        "/",
        ("a // b", ("a / b",)),
        ("a // b % c", ("a / b % c",)),
        ("a //= b", ("a /= b",)),
    ),
    _operator(
        "arithmetic.modulo",
        cst.Modulo,
        cst.ModuloAssign,
        cst.FloorDivide,
        "//",
        ("a % b", ("a // b",)),
        ("a %= b", ("a //= b",)),
        ("'%s' % b", ()),
    ),
    _operator(
        "arithmetic.power",
        cst.Power,
        cst.PowerAssign,
        cst.Multiply,
        "*",
        ("a ** b", ("a * b",)),
        ("a ** -b", ("a * -b",)),
        ("-a ** b", ("-(a * b)",)),
        ("x / y ** 2", ("x / (y * 2)",)),
        ("y ** 2 / x", ("y * 2 / x",)),
        ("a ** b ** c", ("a * b ** c", "a ** (b * c)")),
        ("a **= b", ("a *= b",)),
    ),
    _operator(
        "bitwise.and",
        cst.BitAnd,
        cst.BitAndAssign,
        cst.BitOr,
        "|",
        ("a & b", ("a | b",)),
        ("a & b & c", ("(a | b) & c", "a & b | c")),
        ("a ^ b & c", ("a ^ (b | c)",)),
        ("a & b == c", ("a | b == c",)),
        ("a &= b", ("a |= b",)),
    ),
    _operator(
        "bitwise.or",
        cst.BitOr,
        cst.BitOrAssign,
        cst.BitAnd,
        "&",
        ("a | b", ("a & b",)),
        ("a | b | c", ("(a | b) & c", "a & b | c")),
        ("a | b & c", ("a & (b & c)",)),
        ("a ^ b | c ^ d", ("(a ^ b) & (c ^ d)",)),
        ("a |= b", ("a &= b",)),
    ),
    _operator(
        "bitwise.xor",
        cst.BitXor,
        cst.BitXorAssign,
        cst.BitAnd,
        "&",
        ("a ^ b", ("a & b",)),
        ("a ^ b ^ c", ("(a ^ b) & c", "a & b ^ c")),
        ("a ^= b", ("a &= b",)),
    ),
    _operator(
        "shift.left",
        cst.LeftShift,
        cst.LeftShiftAssign,
        cst.RightShift,
        ">>",
        ("a << b", ("a >> b",)),
        ("a << b << c", ("a >> b << c", "a << b >> c")),
        ("a <<= 1", ("a >>= 1",)),
    ),
    _operator(
        "shift.right",
        cst.RightShift,
        cst.RightShiftAssign,
        cst.LeftShift,
        "<<",
        ("a >> b", ("a << b",)),
        ("a >> b + c", ("a << b + c",)),
        ("a >>= 1", ("a <<= 1",)),
    ),
)
