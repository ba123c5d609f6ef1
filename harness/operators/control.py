"""Turns conditions, loops, jumps and if-expressions into ones that go one way only."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from harness.operators.operator import Apply, Change, Operator, replace
from harness.source import Tree


def _constant(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Integer) or (
        isinstance(node, cst.Name) and node.value in ("True", "False", "None")
    )


def _decide(kind: type[cst.If | cst.IfExp], value: str) -> Apply:
    def apply(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
        assert isinstance(node, cst.If | cst.IfExp)
        if isinstance(node, kind) and not _constant(node.test):
            yield replace(tree, node.test, value)

    return apply


def _skip_loop(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    if isinstance(node, cst.While):
        if not (isinstance(node.test, cst.Name) and node.test.value in ("False", "None")):
            yield replace(tree, node.test, "False")
        return
    assert isinstance(node, cst.For)
    if node.asynchronous is None:  # no literal can be iterated asynchronously
        yield replace(tree, node.iter, "()")


def _swap_jump(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    yield replace(tree, node, "continue" if isinstance(node, cst.Break) else "break")


def _filters(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.CompIf)
    if not _constant(node.test):
        yield Change(node, *tree.span(node.test), "True")
        yield Change(node, *tree.span(node.test), "False")


OPERATORS = (
    Operator(
        "condition.true",
        "condition",
        (cst.If,),
        _decide(cst.If, "True"),
        (
            ("if a: b", ("if True: b",)),
            (
                "if(a):\n    b\nelif c:\n    d",
                ("if(True):\n    b\nelif c:\n    d", "if(a):\n    b\nelif True:\n    d"),
            ),
            ("if True: a\nif 1: b", ()),
        ),
    ),
    Operator(
        "condition.false",
        "condition",
        (cst.If,),
        _decide(cst.If, "False"),
        (
            ("if a < b: c", ("if False: c",)),
            ("if (x := f()) and y: x", ("if False: x",)),
            (
                "if a:\n    b\nelse:\n    if c: d",
                ("if False:\n    b\nelse:\n    if c: d", "if a:\n    b\nelse:\n    if False: d"),
            ),
        ),
    ),
    Operator(
        "ifexp.body",
        "ifexp",
        (cst.IfExp,),
        _decide(cst.IfExp, "True"),
        (
            ("x = a if b else c", ("x = a if True else c",)),
            ("x = a if(b)else c", ("x = a if(True)else c",)),
            (
                "a if b else c if d else e",
                ("a if True else c if d else e", "a if b else c if True else e"),
            ),
        ),
    ),
    Operator(
        "ifexp.orelse",
        "ifexp",
        (cst.IfExp,),
        _decide(cst.IfExp, "False"),
        (
            ("x = a if b else c", ("x = a if False else c",)),
            ("x = a if 'b'else c", ("x = a if False else c",)),
            ("f'{a if b else c}'", ("f'{a if False else c}'",)),
        ),
    ),
    Operator(
        "loop.skip",
        "loop",
        (cst.For, cst.While),
        _skip_loop,
        (
            ("for a in b: c", ("for a in (): c",)),
            ("while a < b: c", ("while False: c",)),
            ("for a, b in c, d:\n    e\nelse:\n    f", ("for a, b in ():\n    e\nelse:\n    f",)),
            ("async def f():\n    async for a in b: c", ()),
        ),
    ),
    Operator(
        "loop.jump",
        "loop",
        (cst.Break, cst.Continue),
        _swap_jump,
        (
            ("for a in b: break", ("for a in b: continue",)),
            ("for a in b:\n    continue", ("for a in b:\n    break",)),
            (
                "while a:\n    if b: break\n    continue",
                (
                    "while a:\n    if b: continue\n    continue",
                    "while a:\n    if b: break\n    break",
                ),
            ),
        ),
    ),
    Operator(
        "comprehension.filter",
        "comprehension",
        (cst.CompIf,),
        _filters,
        (
            ("[a for a in b if c]", ("[a for a in b if True]", "[a for a in b if False]")),
            (
                "{a for a in b if(c)if d}",
                (
                    "{a for a in b if(True)if d}",
                    "{a for a in b if(False)if d}",
                    "{a for a in b if(c)if True}",
                    "{a for a in b if(c)if False}",
                ),
            ),
            ("[a for a in b]", ()),
        ),
    ),
)
