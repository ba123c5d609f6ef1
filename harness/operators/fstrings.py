"""Turns f-strings into ones with a part missing."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from harness.operators.operator import Change, Operator
from harness.source import Tree


def _gone(node: cst.CSTNode, start: int, end: int) -> Change:
    return Change(node, start, end, "", glue=False)


def _text(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    if isinstance(tree.parent(node), cst.FormattedString):
        yield _gone(node, *tree.around(node))


def _expression(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    if isinstance(tree.parent(node), cst.FormattedString):
        yield _gone(node, *tree.around(node))


def _format(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.FormattedStringExpression)
    if node.conversion is None and node.format_spec is None:
        return
    _, start = tree.around(node.whitespace_after_expression)
    _, end = tree.around(node)
    yield _gone(node, start, end - len("}"))


OPERATORS = (
    Operator(
        "fstring.text",
        "fstring",
        (cst.FormattedStringText,),
        _text,
        (
            ("f'a{b}c'", ("f'{b}c'", "f'a{b}'")),
            ("f'{a:>10}'", ()),
            ("f'a' 'b' f\"{c}{{d\"", ("f'' 'b' f\"{c}{{d\"", "f'a' 'b' f\"{c}\"")),
        ),
    ),
    Operator(
        "fstring.expression",
        "fstring",
        (cst.FormattedStringExpression,),
        _expression,
        (
            ("f'a{b}c'", ("f'ac'",)),
            ("f'{a!r:>{b}}'", ("f''",)),
            ("f'{a}{f\"{b}\"}'", ("f'{f\"{b}\"}'", "f'{a}'", "f'{a}{f\"\"}'")),
        ),
    ),
    Operator(
        "fstring.format",
        "fstring",
        (cst.FormattedStringExpression,),
        _format,
        (
            ("f'{a!r}'", ("f'{a}'",)),
            ("f'{a !r:>{b:x}}'", ("f'{a }'", "f'{a !r:>{b}}'")),
            ("f'{a=:.2f}'", ("f'{a=}'",)),
            ("f'{a}'", ()),
        ),
    ),
)
