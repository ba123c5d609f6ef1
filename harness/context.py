"""Turns a syntax tree into what is around each of its nodes: scope, place, kind and statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import libcst as cst

from harness.mutant import BODY, IMPORT
from harness.source import Tree
from harness.syntax import DEFINITIONS, assigned, is_docstring, is_main, tells_people

MODULE = "<module>"
BLOCKS = (
    cst.If,
    cst.For,
    cst.While,
    cst.With,
    cst.Try,
    cst.TryStar,
    cst.FunctionDef,
    cst.ClassDef,
    cst.Match,
    cst.MatchCase,
    cst.Else,
    cst.Finally,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
)
STRINGS = (
    cst.SimpleString,
    cst.ConcatenatedString,
    cst.FormattedString,
    cst.FormattedStringText,
    cst.FormattedStringExpression,
)
ASSIGNMENTS = (cst.Assign, cst.AnnAssign, cst.AugAssign)
TYPES = frozenset({cst.Annotation, cst.TypeParameters})
SMALL = {
    found
    for found in vars(cst).values()
    if isinstance(found, type) and issubclass(found, cst.BaseSmallStatement)
}
STATEMENTS = frozenset({*BLOCKS, *SMALL})


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A statement, or the header of a compound one: the thing that is executed or not.

    ``start`` to ``end`` is its own text (a header ends after its colon); ``suite`` ends its
    block and ``whole`` ends everything that hangs on it (`else`, `except`, ...). All count
    characters.
    """

    node: cst.CSTNode
    start: int
    end: int
    suite: int
    whole: int
    top: cst.CSTNode
    function: str  # "", "def" or "async def": what the statement stands in
    setter: Unit | None = None  # of a function's docstring: the header of the `def` that sets it


@dataclass(frozen=True, slots=True)
class Context:
    """What is around a node. ``prefix`` goes before the names defined inside."""

    qualname: str
    prefix: str
    place: str
    scope: str  # "module", "class" or "function"
    function: str
    region: str  # "" or the kind that the surroundings give to everything inside
    message: bool
    block: str | None  # why everything inside is suppressed
    unit: Unit | None


OUTERMOST = Context(MODULE, "", IMPORT, "module", "", "", False, None, None)


def contexts(tree: Tree) -> dict[int, Context]:
    """The context of every node (by its id), from its parent's."""
    found = {id(tree.module): OUTERMOST}
    for node in tree.nodes[1:]:
        parent = tree.parent(node)
        context = _entering(node, parent, found[id(parent)])
        if type(node) in STATEMENTS:
            context = _statement(tree, node, parent, context)
        found[id(node)] = context
    return found


def kind(node: cst.CSTNode, context: Context) -> str:
    """What sort of thing a change at this node changes."""
    if context.region:
        return context.region
    return "message" if context.message and isinstance(node, STRINGS) else "behaviour"


def _entering(node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    """The context on the way from a parent to one of its children."""
    if type(node) in TYPES:
        return replace(context, region="annotation")
    if type(node) is cst.Decorator:
        return _within(context, "decorator")
    rule = RULES.get(type(parent))
    return context if rule is None else rule(node, parent, context)


def _within(context: Context, region: str) -> Context:
    return context if context.region == "annotation" else replace(context, region=region)


def _in_function(node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    assert isinstance(parent, cst.FunctionDef)
    if parent.body is not node:
        return context
    return replace(
        context,
        prefix=f"{context.qualname}.<locals>.",
        place=BODY,
        scope="function",
        function="def" if parent.asynchronous is None else "async def",
    )


def _in_class(node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    assert isinstance(parent, cst.ClassDef)
    if parent.body is not node:
        return context
    return replace(context, prefix=f"{context.qualname}.", scope="class")


def _in_lambda(node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    assert isinstance(parent, cst.Lambda)
    if parent.body is not node:
        return context
    region = context.region if context.region == "annotation" else ""
    return replace(context, place=BODY, region=region, message=False)


def _in_parameter(node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    assert isinstance(parent, cst.Param)
    return _within(context, "default") if parent.default is node else context


def _in_alias(node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    assert isinstance(parent, cst.TypeAlias)
    return replace(context, region="annotation") if parent.value is node else context


def _in_call(node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    assert isinstance(parent, cst.Call)
    if type(node) is not cst.Arg or not tells_people(parent):
        return context
    return replace(context, message=True)


def _in_assert(node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    assert isinstance(parent, cst.Assert)
    return replace(context, message=True) if parent.msg is node else context


def _in_assignment(node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    assert isinstance(parent, ASSIGNMENTS)
    return _assigning(parent, context) if parent.value is node else context


def _assigning(statement: cst.CSTNode, context: Context) -> Context:
    """Assignments in a module or class: metadata for dunder names, else constants."""
    if context.scope == "function":
        return context
    names = assigned(statement)
    if any(name.startswith("__") and name.endswith("__") for name in names):
        return _within(context, "metadata")
    return _within(context, "constant") if names else context


def _in_if(node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    assert isinstance(parent, cst.If)
    name = parent.test.attr if isinstance(parent.test, cst.Attribute) else parent.test
    checking = isinstance(name, cst.Name) and name.value == "TYPE_CHECKING"
    if checking and parent.orelse is not node:
        return replace(context, block="TYPE_CHECKING block")
    return context


RULES: dict[type[cst.CSTNode], Callable[[cst.CSTNode, cst.CSTNode, Context], Context]] = {
    cst.FunctionDef: _in_function,
    cst.ClassDef: _in_class,
    cst.Lambda: _in_lambda,
    cst.Param: _in_parameter,
    cst.TypeAlias: _in_alias,
    cst.Call: _in_call,
    cst.Assign: _in_assignment,
    cst.AnnAssign: _in_assignment,
    cst.AugAssign: _in_assignment,
    cst.If: _in_if,
    cst.Assert: _in_assert,
}


def _statement(tree: Tree, node: cst.CSTNode, parent: cst.CSTNode, context: Context) -> Context:
    """The context of a statement: it is its own owner."""
    outer = context.unit
    unit = _unit(tree, node, outer.top if outer else _line(tree, node), context.function)
    context = replace(context, unit=unit)
    if isinstance(node, DEFINITIONS):
        return replace(context, qualname=context.prefix + node.name.value)
    if isinstance(node, cst.Raise):
        return replace(context, message=True)
    if isinstance(node, cst.If) and is_main(node.test):
        return replace(context, block="__main__ block")
    if isinstance(node, ASSIGNMENTS) and assigned(node):
        return _assigning(node, context)
    if is_docstring(tree, node, parent):
        # Set when the `def` is executed, not when the function runs.
        place = BODY if "<locals>" in context.qualname else IMPORT
        if context.scope == "function":
            unit = replace(unit, setter=outer)
        return replace(context, region="docstring", place=place, unit=unit)
    return context


def _line(tree: Tree, node: cst.CSTNode) -> cst.CSTNode:
    """The module's own statement that a node is part of."""
    while tree.parent(node) is not tree.module:
        node = tree.parent(node)
    return node


def _unit(tree: Tree, node: cst.CSTNode, top: cst.CSTNode, function: str) -> Unit:
    start, whole = tree.span(node)
    if isinstance(node, cst.BaseSmallStatement):
        return Unit(node, start, whole, whole, whole, top, function)
    if isinstance(node, DEFINITIONS) and node.decorators:
        start, _ = tree.span(node.decorators[0])
    if isinstance(node, cst.Match):
        colon, _ = tree.around(node.whitespace_after_colon)
        return Unit(node, start, colon, whole, whole, top, function)
    body: cst.BaseSuite = node.body  # type: ignore[attr-defined] # every other block has one
    return Unit(node, start, tree.around(body)[0], tree.span(body)[1], whole, top, function)
