"""Turns a node into an answer about what it is: a docstring, a log call, a main block's test."""

from __future__ import annotations

import libcst as cst

from harness.source import Tree

DEFINITIONS = (cst.FunctionDef, cst.ClassDef)
LOG_METHODS = frozenset(
    {"debug", "info", "warning", "warn", "error", "critical", "exception", "log", "fatal"}
)
LOGGERS = ("log", "logger", "logging", "warnings")
ERROR_SUFFIXES = ("Error", "Exception", "Warning")


def assigned(statement: cst.CSTNode) -> list[str]:
    """The names that an assignment binds; none if it binds anything but bare names."""
    if isinstance(statement, cst.Assign):
        targets = [target.target for target in statement.targets]
    else:
        assert isinstance(statement, cst.AnnAssign | cst.AugAssign)
        targets = [statement.target]
    names = [target.value for target in targets if isinstance(target, cst.Name)]
    return names if len(names) == len(targets) else []


def tells_people(call: cst.Call) -> bool:
    """Whether a call makes an exception, a log line or a warning."""
    function = call.func
    if isinstance(function, cst.Name):
        return function.value.endswith(ERROR_SUFFIXES) or function.value == "warn"
    if not isinstance(function, cst.Attribute):
        return False
    method, owner = function.attr.value, function.value
    name = owner.attr if isinstance(owner, cst.Attribute) else owner
    logger = isinstance(name, cst.Name) and name.value.lower().lstrip("_") in LOGGERS
    return method.endswith(ERROR_SUFFIXES) or (logger and method in LOG_METHODS)


def is_main(test: cst.BaseExpression) -> bool:
    """`__name__ == "__main__"`, either way round."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    target = test.comparisons[0]
    sides = (test.left, target.comparator)
    names = [side.value for side in sides if isinstance(side, cst.Name)]
    texts = [side.raw_value for side in sides if isinstance(side, cst.SimpleString)]
    return isinstance(target.operator, cst.Equal) and (names, texts) == (["__name__"], ["__main__"])


def is_docstring(tree: Tree, node: cst.CSTNode, parent: cst.CSTNode) -> bool:
    """Whether a statement is the string that opens a module, a class or a function."""
    texts = (cst.SimpleString, cst.ConcatenatedString)
    if not isinstance(node, cst.Expr) or not isinstance(node.value, texts):
        return False
    if isinstance(parent, cst.SimpleStatementLine):
        suite = tree.parent(parent)
        first = getattr(suite, "body")[0] is parent and parent.body[0] is node  # noqa: B009
    else:
        suite = parent
        first = isinstance(parent, cst.SimpleStatementSuite) and parent.body[0] is node
    owner = tree.parents.get(id(suite))
    return first and (isinstance(suite, cst.Module) or isinstance(owner, DEFINITIONS))
