"""Turns literals (numbers, booleans, strings) into others of their type."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import libcst as cst

from harness.operators.operator import Change, Operator, replace
from harness.source import Tree

FILLED = "mutant"  # what an empty string becomes
STRINGS = (cst.SimpleString, cst.ConcatenatedString)
PREFIXES = "rRbBuU"


def integer(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    """n to n + 1, in the literal's own base; to 0 where Python will not print so long a one."""
    assert isinstance(node, cst.Integer)
    form = {"0x": hex, "0o": oct, "0b": bin}.get(node.value[:2].lower(), str)
    try:
        text = form(int(node.value, 0) + 1)
    except ValueError:
        text = "0"
    yield replace(tree, node, text)


def floating(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    """x to x + 1.0, or to 0.0 where that is the same number (1e300) or infinite."""
    assert isinstance(node, cst.Float)
    value = ast.literal_eval(node.value)
    changed = value + 1.0
    yield replace(tree, node, repr(changed if changed != value else 0.0))


def boolean(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    """True to False and back."""
    assert isinstance(node, cst.Name)
    if node.value in ("True", "False"):
        yield replace(tree, node, "False" if node.value == "True" else "True")


def pieces(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The literals of an implicit concatenation, in order."""
    if isinstance(node, cst.ConcatenatedString):
        return [*pieces(node.left), *pieces(node.right)]
    return [node]


def literals(node: cst.CSTNode, tree: Tree) -> Iterable[cst.CSTNode]:
    """The string constants at a node: implicit concatenation is one, unless an f-string joins."""
    if isinstance(tree.parent(node), cst.ConcatenatedString):
        return
    parts = pieces(node)
    if all(isinstance(part, cst.SimpleString) for part in parts):
        yield node
    else:
        yield from (part for part in parts if isinstance(part, cst.SimpleString))


def string_value(node: cst.CSTNode) -> str | bytes:
    """What the literal, or the concatenation of literals, stands for."""
    first, *rest = (ast.literal_eval(part.value) for part in _simple(node))
    for value in rest:
        first += value
    assert isinstance(first, str | bytes)
    return first


def _simple(node: cst.CSTNode) -> list[cst.SimpleString]:
    return [part for part in pieces(node) if isinstance(part, cst.SimpleString)]


def emptied(node: cst.CSTNode, content: str = "") -> str:
    """The literal with this content instead: same prefix, same quotes."""
    first = _simple(node)[0]
    prefix = first.value[: len(first.value) - len(first.value.lstrip(PREFIXES))]
    return f"{prefix}{first.quote}{content}{first.quote}"


def string(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    """A string to the empty one, the empty one to another."""
    for literal in literals(node, tree):
        yield replace(tree, literal, emptied(literal, "" if string_value(literal) else FILLED))


OPERATORS = (
    Operator(
        "constant.integer",
        "constant",
        (cst.Integer,),
        integer,
        (
            ("x = 0", ("x = 1",)),
            ("f(1_000, 0xff)", ("f(1001, 0xff)", "f(1_000, 0x100)")),
            ("x = -1", ("x = -2",)),
            ("x = 0b11 + 0o17", ("x = 0b100 + 0o17", "x = 0b11 + 0o20")),
            (
                "y = 1 if x else 99999999999999999999",
                ("y = 2 if x else 99999999999999999999", "y = 1 if x else 100000000000000000000"),
            ),
        ),
    ),
    Operator(
        "constant.float",
        "constant",
        (cst.Float,),
        floating,
        (
            ("x = .6", ("x = 1.6",)),
            ("x = 1e300", ("x = 0.0",)),
            ("x = 1e999", ("x = 0.0",)),
            ("x = 1_0.5 * 2.", ("x = 11.5 * 2.", "x = 1_0.5 * 3.0")),
        ),
    ),
    Operator(
        "constant.bool",
        "constant",
        (cst.Name,),
        boolean,
        (
            ("x = True", ("x = False",)),
            ("f(False, a=True)", ("f(True, a=True)", "f(False, a=False)")),
            ("x = None", ()),
        ),
    ),
    Operator(
        "constant.string",
        "constant",
        STRINGS,
        string,
        (
            ("x = 'abc'", ("x = ''",)),
            ("x = ''", ("x = 'mutant'",)),
            ('x = rb"""a\nb"""', ('x = rb""""""',)),
            ("x = 'a' \"b\"", ("x = ''",)),
            ("x = 'a' f'{b}' 'c'", ("x = '' f'{b}' 'c'", "x = 'a' f'{b}' ''")),
            ("x = f\"{d['k']}\"", ("x = f\"{d['']}\"",)),
        ),
    ),
)
