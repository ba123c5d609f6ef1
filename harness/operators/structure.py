"""Turns defaults, slices, handlers, decorators and keyword arguments into their absence."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from harness.operators.operator import Apply, Change, Operator, replace
from harness.operators.statements import is_name
from harness.source import Tree

# They say something to a type checker and do nothing when the program runs.
INERT_DECORATORS = frozenset({"overload", "final", "override", "no_type_check"})


def _default_none(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.Param)
    # `...` is neither None nor false, so both `if a is None` and `a or b` can tell it.
    if node.default is not None and is_name(node.default, "None"):
        yield replace(tree, node.default, "...")


def _default_value(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.Param)
    # constant.bool changes a boolean for certain; None would often do the same as False.
    if node.default is not None and not is_name(node.default, "None", "True", "False"):
        yield replace(tree, node.default, "None")


def _bound(side: str) -> Apply:
    def apply(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
        bound = getattr(node, side)
        if bound is not None:
            yield Change(node, *tree.around(bound), "")

    return apply


def _handler(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    """`except ():` catches nothing."""
    assert isinstance(node, cst.ExceptHandler | cst.ExceptStarHandler)
    if node.type is not None:
        yield Change(node, *tree.around(node.type), "()")
        return
    start, _ = tree.span(node)
    end = start + len("except")
    yield Change(node, end, end, " ()")


def _decorator(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.Decorator)
    if tree.code(node.decorator).rpartition(".")[2] not in INERT_DECORATORS:
        start, _ = tree.span(node)
        yield Change(node, start, tree.around(node.decorator)[1], "")


def _keyword(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.Arg)
    if node.keyword is None:
        return
    start, end = tree.span(node)
    if isinstance(node.comma, cst.Comma):
        end, _ = tree.around(node.comma.whitespace_after)
    yield Change(node, start, end, "")


OPERATORS = (
    Operator(
        "default.none",
        "default",
        (cst.Param,),
        _default_none,
        (
            ("def f(a=None): b", ("def f(a=...): b",)),
            (
                "def f(a: int = None, *, b=(None)): c",
                ("def f(a: int = ..., *, b=(None)): c", "def f(a: int = None, *, b=(...)): c"),
            ),
            ("lambda a=None: b", ("lambda a=...: b",)),
        ),
    ),
    Operator(
        "default.value",
        "default",
        (cst.Param,),
        _default_value,
        (
            ("def f(a=b): c", ("def f(a=None): c",)),
            (
                "def f(a=1, /, *, b: int = c()): d",
                ("def f(a=None, /, *, b: int = c()): d", "def f(a=1, /, *, b: int = None): d"),
            ),
            ("lambda a=lambda b=1: c: d", ("lambda a=None: d", "lambda a=lambda b=None: c: d")),
            ("def f(a, b=True, *c, **d): e", ()),
        ),
    ),
    Operator(
        "slice.lower",
        "slice",
        (cst.Slice,),
        _bound("lower"),
        (
            ("a[b:c]", ("a[:c]",)),
            ("a[b:]", ("a[:]",)),
            ("a[(b):c, d:]", ("a[:c, d:]", "a[(b):c, :]")),
            ("a[:b]; a[b]", ()),
        ),
    ),
    Operator(
        "slice.upper",
        "slice",
        (cst.Slice,),
        _bound("upper"),
        (
            ("a[b:c]", ("a[b:]",)),
            ("a[:-1]", ("a[:]",)),
            ("a[b:c[:d]]", ("a[b:]", "a[b:c[:]]")),
        ),
    ),
    Operator(
        "slice.step",
        "slice",
        (cst.Slice,),
        _bound("step"),
        (
            ("a[::-1]", ("a[::]",)),
            ("a[b:c:d]", ("a[b:c:]",)),
            ("a[b:c]", ()),
        ),
    ),
    Operator(
        "handler.skip",
        "handler",
        (cst.ExceptHandler, cst.ExceptStarHandler),
        _handler,
        (
            ("try:\n    a\nexcept B:\n    c", ("try:\n    a\nexcept ():\n    c",)),
            ("try:\n    a\nexcept (B, C) as d:\n    e", ("try:\n    a\nexcept () as d:\n    e",)),
            ("try:\n    a\nexcept:\n    b", ("try:\n    a\nexcept ():\n    b",)),
            ("try:\n    a\nexcept* B:\n    c", ("try:\n    a\nexcept* ():\n    c",)),
            (
                "try:\n    a\nexcept(B): c\nexcept C: d",
                (
                    "try:\n    a\nexcept(): c\nexcept C: d",
                    "try:\n    a\nexcept(B): c\nexcept (): d",
                ),
            ),
        ),
    ),
    Operator(
        "decorator.remove",
        "decorator",
        (cst.Decorator,),
        _decorator,
        (
            ("@a\ndef f(): b", ("\ndef f(): b",)),
            ("@a(b)  # c\n@d\nclass E: f", ("  # c\n@d\nclass E: f", "@a(b)  # c\n\nclass E: f")),
            ("class A:\n    @b.c\n    def d(self): e", ("class A:\n    \n    def d(self): e",)),
            ("@typing.overload\ndef f(): b", ()),
        ),
    ),
    Operator(
        "keyword.remove",
        "keyword",
        (cst.Arg,),
        _keyword,
        (
            ("f(a=b)", ("f()",)),
            ("f(a, b=c)", ("f(a, )",)),
            ("f(a=b, c=d,)", ("f( c=d,)", "f(a=b, )")),
            ("f(*a, b=(c), **d)", ("f(*a,  **d)",)),
            ("class A(B, metaclass=C): d", ("class A(B, ): d",)),
        ),
    ),
)
