"""Turns a draft's text into the refusal that can be read off it, without running any of it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence

from gate.draft import Decision
from gate.names import Names, read
from gate.patching import changes
from gate.reasons import DETECTS_HARNESS, DOES_NOT_PARSE, NO_TEST, SEVERAL_TESTS
from gate.rules import DYNAMIC, Tested, looks
from gate.trial import Trouble

Function = ast.FunctionDef | ast.AsyncFunctionDef
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def vet(code: str, modules: Sequence[str]) -> Decision | None:
    """The refusal of a draft by its text alone, or None: then its runs decide.

    ``modules`` are the dotted names of the code under test; whatever is in one of their top-level
    packages counts as it.
    """
    try:
        tree = parsed(code)
    except UNPARSABLE as error:
        return Decision(False, DOES_NOT_PARSE, f"Python cannot parse it: {_words(error)}")
    try:
        trouble = _number_of_tests(tree) or _forbidden(tree, Tested(tuple(modules)))
    except RecursionError:
        trouble = DETECTS_HARNESS, "it is nested too deeply to be read by the gate"
    return None if trouble is None else Decision(False, *trouble)


def parsed(code: str) -> ast.Module:
    """The tree; one of UNPARSABLE if there is none. What Python would warn of is left to it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def _words(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})"
    return str(error) or type(error).__name__


def _number_of_tests(tree: ast.Module) -> Trouble | None:
    found = list(dict.fromkeys(_tests(tree.body, "", set())))
    if not found:
        return NO_TEST, "it holds no function that pytest collects: their names begin with test_"
    if len(found) > 1:
        return SEVERAL_TESTS, f"it holds {len(found)} tests, not one: {', '.join(found)}"
    return None


def _tests(body: Iterable[ast.stmt], owner: str, cases: set[str]) -> Iterator[str]:
    """The names under which pytest would collect tests; ``cases`` are unittest's classes so far."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name.startswith("test") and not _is_fixture(node):
                    yield owner + name
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() | ast.Name()):
                if name.startswith("test"):
                    yield owner + name
            case ast.ClassDef(name=name):
                if _is_collected(node, cases):
                    yield from _tests(node.body, f"{owner}{name}.", cases)
            case ast.If(test=test) if "__main__" in ast.unparse(test):
                continue
            case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
                yield from _tests(_blocks(node), owner, cases)


def _blocks(node: ast.stmt) -> Iterator[ast.stmt]:
    for block in ("body", "orelse", "finalbody"):
        yield from getattr(node, block, ())
    for handler in getattr(node, "handlers", ()):
        yield from handler.body


def _is_fixture(node: Function) -> bool:
    names = (ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list)
    return any(name.rpartition(".")[2] in ("fixture", "yield_fixture") for name in names)


def _is_collected(node: ast.ClassDef, cases: set[str]) -> bool:
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    if bases & cases or any(base.endswith("TestCase") for base in bases):
        cases.add(node.name)
        return True
    methods = {one.name for one in node.body if isinstance(one, Function)}
    return node.name.startswith("Test") and not methods & {"__init__", "__new__"}


def _forbidden(tree: ast.Module, tested: Tested) -> Trouble | None:
    """The first thing in the file, from the top, that no draft may do."""
    names = read(tree)
    for node in names.nodes:
        for look in (looks, changes):
            for reason, words in look(names, node, tested):
                line = getattr(node, "lineno", None)
                return reason, words + (f" (line {line})" if line else "")
        inner = _inner(names, node)
        if inner is not None and (trouble := _forbidden(inner, tested)):
            return trouble
    return None


def _inner(names: Names, node: ast.AST) -> ast.Module | None:
    """The tree of constant code that is handed to eval, exec or compile."""
    if not isinstance(node, ast.Call) or not node.args:
        return None
    if names.origin(node.func).removeprefix("builtins.") not in DYNAMIC:
        return None
    try:
        return parsed(names.text(node.args[0]) or "")
    except UNPARSABLE:
        return None
