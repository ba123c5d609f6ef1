"""Turns statements into ones that do nothing, or hand on nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from harness.operators.operator import Change, Operator, replace
from harness.source import Tree


def is_name(node: cst.CSTNode | None, *names: str) -> bool:
    """Whether the node is one of these bare names (True, False and None are names to libcst)."""
    return isinstance(node, cst.Name) and node.value in names


def _return(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    # `return False` to `return None` is seldom a difference: constant.bool changes it for certain.
    assert isinstance(node, cst.Return)
    if node.value is not None and not is_name(node.value, "None", "False"):
        yield Change(node, *tree.span(node.value), "None")


def _raise(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    yield replace(tree, node, "pass")


def _call(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.Expr)
    value = node.value.expression if isinstance(node.value, cst.Await) else node.value
    if isinstance(value, cst.Call):
        yield replace(tree, node, "pass")


def _targets(node: cst.CSTNode) -> Sequence[cst.BaseExpression]:
    if isinstance(node, cst.Assign):
        return [target.target for target in node.targets]
    assert isinstance(node, cst.AnnAssign | cst.AugAssign)
    return [node.target] if node.value is not None else []


def _reads_itself(node: cst.CSTNode, tree: Tree) -> bool:
    """`x = f(x)`: without it x keeps the value that it has."""
    assert isinstance(node, cst.Assign | cst.AnnAssign)
    if node.value is None:
        return False
    names = {target.value for target in _targets(node) if isinstance(target, cst.Name)}
    # Most values name none of them: the text says so without a walk.
    if not any(name in tree.code(node.value) for name in names):
        return False
    return any(name in names for name in _names_in(node.value))


def _names_in(node: cst.CSTNode) -> list[str]:
    if isinstance(node, cst.Name):
        return [node.value]
    if isinstance(node, cst.Attribute):
        return _names_in(node.value)
    return [name for child in node.children for name in _names_in(child)]


def _removable(node: cst.CSTNode, tree: Tree) -> bool:
    """Removing a name's first assignment leaves it unbound, which any use of it shows."""
    targets = _targets(node)
    if isinstance(node, cst.AugAssign):
        return True
    stored = any(isinstance(target, cst.Attribute | cst.Subscript) for target in targets)
    return bool(targets) and (stored or _reads_itself(node, tree))


def _assign(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    if _removable(node, tree):
        yield replace(tree, node, "pass")


def _assign_none(node: cst.CSTNode, tree: Tree) -> Iterable[Change]:
    assert isinstance(node, cst.Assign | cst.AnnAssign)
    targets = _targets(node)
    if not targets or node.value is None or is_name(node.value, "None"):
        return
    if all(isinstance(target, cst.Name) for target in targets) and not _removable(node, tree):
        yield replace(tree, node.value, "None")


OPERATORS = (
    Operator(
        "return.none",
        "return",
        (cst.Return,),
        _return,
        (
            ("def f(): return a", ("def f(): return None",)),
            ("def f():\n    return(a)", ("def f():\n    return(None)",)),
            ("def f():\n    return a, b", ("def f():\n    return None",)),
            ("def f():\n    return'a'", ("def f():\n    return None",)),
            ("def f():\n    return\ndef g():\n    return None\ndef h():\n    return False", ()),
        ),
    ),
    Operator(
        "raise.remove",
        "raise",
        (cst.Raise,),
        _raise,
        (
            ("raise A", ("pass",)),
            ("if a:\n    raise A('b') from c", ("if a:\n    pass",)),
            ("try:\n    a\nexcept B:\n    raise", ("try:\n    a\nexcept B:\n    pass",)),
        ),
    ),
    Operator(
        "statement.call",
        "statement",
        (cst.Expr,),
        _call,
        (
            ("a()", ("pass",)),
            ("a.b(\n    c,\n).d(); e", ("pass; e",)),
            ("async def f():\n    await a()", ("async def f():\n    pass",)),
            ("a\n'b'\nc[d]", ()),
        ),
    ),
    Operator(
        "statement.assign",
        "statement",
        (cst.Assign, cst.AnnAssign, cst.AugAssign),
        _assign,
        (
            ("a.b = c", ("pass",)),
            ("a = a.strip()", ("pass",)),
            ("a[b] = c = d", ("pass",)),
            ("a += 1", ("pass",)),
            ("a.b: int = 1", ("pass",)),
            ("a = b\na, b = c\na: int\na.b: int", ()),
        ),
    ),
    Operator(
        "assign.none",
        "assign",
        (cst.Assign, cst.AnnAssign),
        _assign_none,
        (
            ("a = b", ("a = None",)),
            ("a = b = c", ("a = b = None",)),
            ("a: int = b()", ("a: int = None",)),
            ("def f(): a = (yield)", ("def f(): a = (None)",)),
            ("a = None\na = a + 1\na, b = c\na.b = c\na: int", ()),
        ),
    ),
)
