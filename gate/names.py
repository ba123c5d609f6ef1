"""Turns a draft's syntax tree into what its names stand for, and its expressions' constant text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# What gives a module by its name.
IMPORTERS = frozenset(
    {"importlib.import_module", "__import__", "pytest.importorskip", "sys.modules.get"}
)
# Text put together from more than this is nobody's name for anything.
LONGEST = 10_000
RELATIVE = "."  # what a relative import's names begin with: a part of the project, whichever


@dataclass(eq=False)
class Scope:
    """A function's names, or the module's: what each stands for ("" for anything of its own)."""

    around: Scope | None
    names: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def bind(self, name: str, origin: str = "") -> None:
        """A name may be bound several times: what comes from elsewhere counts."""
        self.names[name] = self.names.get(name) or origin


@dataclass(eq=False)
class Names:
    """Every node of a tree with its scope and its parent.

    An *origin* is the dotted name of what an expression stands for, as far as imports and plain
    assignments tell: ``bank.withdraw``, ``sys.modules``; a call's result ends in ``()``. A name
    that the file does not bind stands for itself: it is a built-in.
    """

    nodes: list[ast.AST] = field(default_factory=list)
    scopes: dict[int, Scope] = field(default_factory=dict)
    parents: dict[int, ast.AST] = field(default_factory=dict)

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.parents.get(id(node))

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that the node lies in, from the inside."""
        inner = self.parent(node)
        while inner is not None:
            yield inner
            inner = self.parent(inner)

    def origin(self, node: ast.AST) -> str:
        """What the expression stands for, or "" where that cannot be told."""
        match node:
            case ast.Name(id=name):
                return self._lookup(node, name)
            case ast.Attribute(value=value, attr=name):
                return _joined(self.origin(value), name)
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self.origin(value)
            case ast.IfExp(body=one, orelse=other):
                return self.origin(one) or self.origin(other)
            case ast.Subscript(value=value, slice=key):
                return self._item(self.origin(value), self.text(key))
            case ast.Call():
                return self._result(node)
        return ""

    def text(self, node: ast.AST) -> str | None:
        """The text that a constant expression gives, put together from its parts; None if it is
        not constant. Bytes count as text."""
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Constant(value=bytes(data)):
                return data.decode("latin-1")
            case ast.Name(id=name):
                return self._text_of(node, name)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._together([left, right])
            case ast.JoinedStr(values=parts):
                return self._together(parts)
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self.text(value)
            case ast.Subscript(value=value, slice=ast.Slice(None, None, ast.UnaryOp())):
                backward = self.text(value)  # [::-1]
                return None if backward is None else backward[::-1]
            case ast.Call(func=ast.Attribute(value=between, attr="join"), args=[many]) if (
                isinstance(many, ast.List | ast.Tuple)
            ):
                return self._together(many.elts, self.text(between))
        return None

    def _together(self, parts: list[ast.expr], between: str | None = "") -> str | None:
        texts = [text for part in parts if (text := self.text(part)) is not None]
        whole = between.join(texts) if between is not None and len(texts) == len(parts) else None
        return None if whole is None or len(whole) > LONGEST else whole

    def _lookup(self, node: ast.AST, name: str) -> str:
        scope = self.scopes.get(id(node))
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.around
        return name

    def _text_of(self, node: ast.AST, name: str) -> str | None:
        scope = self.scopes.get(id(node))
        while scope is not None:
            if name in scope.names:
                return scope.texts.get(name)
            scope = scope.around
        return None

    def _item(self, base: str, key: str | None) -> str:
        if key is not None and base == "sys.modules":
            return key
        if key is not None and base.endswith(".__dict__"):
            return f"{base.removesuffix('.__dict__')}.{key}"
        return ""

    def _result(self, call: ast.Call) -> str:
        function = self.origin(call.func).removeprefix("builtins.")
        first = call.args[0] if call.args else None
        if first is not None and function in IMPORTERS:
            return self.text(first) or ""
        if first is not None and function == "vars":
            return _joined(self.origin(first), "__dict__")
        if first is not None and function == "type" and len(call.args) == 1:
            return _joined(self.origin(first), "__class__")
        if function == "getattr" and len(call.args) > 1:
            return _joined(self.origin(call.args[0]), self.text(call.args[1]) or "")
        return f"{function}()" if function else ""


def read(tree: ast.Module) -> Names:
    """All of a file's nodes, in the order of the file as far as its statements go."""
    names = Names()
    assigned: list[tuple[Scope, str, ast.expr]] = []
    waiting: list[tuple[ast.AST, Scope]] = [(tree, Scope(None))]
    while waiting:
        node, scope = waiting.pop()
        names.nodes.append(node)
        names.scopes[id(node)] = scope
        _bind(node, scope, assigned)
        inner = Scope(scope) if isinstance(node, Function) else scope
        for child in reversed(list(ast.iter_child_nodes(node))):
            names.parents[id(child)] = node
            waiting.append((child, inner if _is_inside(node, child) else scope))
    for _ in range(2):  # once more: a name may be used above the line that gives it
        for scope, name, value in assigned:
            scope.bind(name, names.origin(value))
    for scope, name, value in assigned:
        text = names.text(value)
        if text is not None:
            scope.texts[name] = text
    return names


def _is_inside(node: ast.AST, child: ast.AST) -> bool:
    """Whether a function's part is evaluated in it, and not where it is defined."""
    if isinstance(node, ast.Lambda):
        return True
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return isinstance(child, ast.stmt | ast.arguments)
    return False


def _bind(node: ast.AST, scope: Scope, assigned: list[tuple[Scope, str, ast.expr]]) -> None:
    """Put what the node binds into its scope, or, where a value has to be read, on the list."""
    match node:
        case ast.Import() | ast.ImportFrom():
            for name, origin in imported(node):
                scope.bind(name, origin)
        case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
            scope.bind(name)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            scope.bind(name)
        case ast.Name(id=name, ctx=ast.Store()):
            scope.bind(name)
        case _:
            assigned += [(scope, name, value) for name, value in _given(node)]


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """The names that an import binds, each with its origin."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            base = RELATIVE if node.level else node.module or ""
            yield alias.asname or alias.name, f"{base}.{alias.name}"
        else:
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or whole, whole


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a node binds to expressions of its own."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _matched(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _matched(target, value)
        case ast.NamedExpr(target=target, value=value):
            yield from _matched(target, value)
        case ast.For(target=target, iter=ast.List(elts=values) | ast.Tuple(elts=values)):
            for value in values:
                yield from _matched(target, value)
        case ast.arguments(posonlyargs=first, args=rest, defaults=values) if values:
            for argument, value in zip([*first, *rest][-len(values) :], values, strict=True):
                yield argument.arg, value


def _matched(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _matched(one, other)


def _joined(base: str, name: str) -> str:
    return f"{base}.{name}" if base and name else ""
