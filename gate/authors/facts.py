"""Turns a module's source and a mutant in it into what the code says about good arguments."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.mutant import Mutant

POSITIONAL = "positional"
EITHER = "either"
KEYWORD = "keyword"
STAR = "star"
STARS = "stars"

# The frame of the caller is looked at: where a call is made from is then an argument too.
_CALLER = ("_getframe", "currentframe", "f_globals", "stack")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, without ``self`` or ``cls``; ``kind`` is one of the constants above."""

    name: str
    kind: str = EITHER
    annotation: ast.expr | None = None
    default: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function as its source describes it.

    ``binding`` is "function", "method", "classmethod" or "property". ``owner`` is the class that it
    is a method of. ``outer`` is the outermost function around a nested one.
    """

    qualname: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    parameters: tuple[Parameter, ...]
    binding: str
    owner: ast.ClassDef | None
    outer: str

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def docstring(self) -> str:
        return ast.get_docstring(self.node) or ""

    @property
    def asynchronous(self) -> bool:
        return isinstance(self.node, ast.AsyncFunctionDef)

    @property
    def generator(self) -> bool:
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own(self.node))

    @property
    def looks_at_caller(self) -> bool:
        names = {node.attr for node in ast.walk(self.node) if isinstance(node, ast.Attribute)}
        return bool(names & set(_CALLER))


def find(tree: ast.Module, qualname: str) -> Function | None:
    """The function of that qualified name, ``<locals>`` included; the last if there are several."""
    parts = [part for part in qualname.split(".") if part != "<locals>"]
    body: list[ast.stmt] = tree.body
    owner: ast.ClassDef | None = None
    node: ast.stmt | None = None
    for part in parts:
        node = _named(body, part)
        if node is None:
            return None
        if part != parts[-1]:
            owner = node if isinstance(node, ast.ClassDef) else None
            body = getattr(node, "body", [])
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    binding = _binding(node, owner)
    parameters = tuple(_parameters(node.args))
    if owner is not None and binding != "staticmethod":
        parameters = parameters[1:]
    if binding == "staticmethod":
        binding = "function"
    return Function(qualname, node, parameters, binding, owner, parts[0])


def class_parameters(tree: ast.Module, owner: ast.ClassDef) -> tuple[Parameter, ...] | None:
    """What the class's constructor takes, its own or that of a base in the same module; None where
    that is not to be seen (a base from elsewhere)."""
    init = _named(owner.body, "__init__")
    if isinstance(init, ast.FunctionDef):
        return tuple(_parameters(init.args))[1:]
    if any("dataclass" in ast.unparse(decorator) for decorator in owner.decorator_list):
        return tuple(
            Parameter(node.target.id, EITHER, node.annotation, node.value)
            for node in owner.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        )
    for base in owner.bases:
        found = _named(tree.body, ast.unparse(base))
        if isinstance(found, ast.ClassDef):
            return class_parameters(tree, found)
    return ()


def constants(nodes: Iterable[ast.AST]) -> list[str]:
    """The distinct literals below these nodes, as texts, without docstrings."""
    found: dict[str, None] = {}
    for node in nodes:
        documentation = {
            id(item.value)
            for item in ast.walk(node)
            if isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
        }
        for item in ast.walk(node):
            if id(item) in documentation or isinstance(item, ast.JoinedStr):
                continue
            if isinstance(item, ast.UnaryOp) and isinstance(item.operand, ast.Constant):
                found.setdefault(ast.unparse(item))
            elif isinstance(item, ast.Constant) and item.value not in (None, True, False, ...):
                found.setdefault(repr(item.value))
    return list(found)


def near(function: Function, mutant: Mutant) -> list[ast.AST]:
    """The expressions of the statement that the mutant lies in (of a compound one its header)."""
    lines = range(mutant.first_line, mutant.last_line + 1)
    found: list[ast.AST] = []
    for node in ast.walk(function.node):
        if not isinstance(node, ast.expr) or not hasattr(node, "lineno"):
            continue
        if node.lineno in lines:
            found.append(node)
    return found


def guards(function: Function, mutant: Mutant) -> list[ast.expr]:
    """The conditions that decide whether the mutated line runs, the innermost last."""
    found: list[ast.expr] = []
    for node in ast.walk(function.node):
        if not isinstance(node, ast.If | ast.While | ast.IfExp):
            continue
        first, last = node.lineno, node.end_lineno or node.lineno
        if first <= mutant.line <= last:
            found.append(node.test)
    return found


def compared(function: Function) -> list[tuple[str, str]]:
    """Pairs of parameter names that some comparison of the function has on its two sides."""
    names = {parameter.name for parameter in function.parameters}
    found: dict[tuple[str, str], None] = {}
    for node in ast.walk(function.node):
        if not isinstance(node, ast.Compare):
            continue
        sides = [_names(side) & names for side in (node.left, *node.comparators)]
        for one, other in itertools.pairwise(sides):
            for pair in ((a, b) for a in sorted(one) for b in sorted(other) if a != b):
                found.setdefault(pair)
    return list(found)


def involved(function: Function, mutant: Mutant) -> set[str]:
    """The parameters that the mutated statement and its guards speak of, or all if none."""
    names = {parameter.name for parameter in function.parameters}
    nodes = [*near(function, mutant), *guards(function, mutant)]
    return {name for node in nodes for name in _names(node)} & names or names


def raised(tree: ast.Module) -> set[str]:
    """The last names of the exception classes that the module raises itself."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            found.add(ast.unparse(kind).rpartition(".")[2])
    return found


def _named(body: list[ast.stmt], name: str) -> ast.stmt | None:
    found = None
    for node in _statements(body):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.name == name
        ):
            found = found if _is_setter(node) else node
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a scope, those inside of its conditions too."""
    for node in body:
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, name, []))
        for handler in getattr(node, "handlers", []):
            yield from _statements(handler.body)


def _is_setter(node: ast.stmt) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any(ast.unparse(item).endswith((".setter", ".deleter")) for item in decorators)


def _binding(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef | None) -> str:
    if owner is None:
        return "function"
    decorators = {ast.unparse(item).rpartition(".")[2] for item in node.decorator_list}
    if "staticmethod" in decorators or "classmethod" in decorators:
        return "classmethod" if "classmethod" in decorators else "staticmethod"
    return "property" if decorators & {"property", "cached_property"} else "method"


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    for number, (item, default) in enumerate(zip(plain, defaults, strict=True)):
        kind = POSITIONAL if number < len(arguments.posonlyargs) else EITHER
        yield Parameter(item.arg, kind, item.annotation, default)
    if arguments.vararg is not None:
        yield Parameter(arguments.vararg.arg, STAR, arguments.vararg.annotation)
    for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(item.arg, KEYWORD, item.annotation, value)
    if arguments.kwarg is not None:
        yield Parameter(arguments.kwarg.arg, STARS, arguments.kwarg.annotation)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What is below the node, without the functions inside of it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _own(child)


def _names(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
