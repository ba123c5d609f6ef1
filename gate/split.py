"""Turns a test file into files of one test each, with the imports, helpers and class of that test.

What only other tests use is left out, so that one bad test or import never spoils the others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

Function = ast.FunctionDef | ast.AsyncFunctionDef
Import = ast.Import | ast.ImportFrom
# What is there for a test by another way than its name.
HOOKS = frozenset(
    {
        "setup_module",
        "teardown_module",
        "setup_function",
        "teardown_function",
        "setUpModule",
        "tearDownModule",
        "pytestmark",
        "pytest_plugins",
    }
)

Path = tuple[ast.stmt, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines ``first`` to ``last`` (from 1) become ``lines``."""

    first: int
    last: int
    lines: tuple[str, ...] = ()


def single_tests(code: str, tree: ast.Module) -> tuple[str, ...]:
    """One file for each test, in the file's order; ``tree`` is the code's."""
    return tuple(only(code, tree, path) for path in tests_of(tree))


def only_test(code: str, names: Sequence[str]) -> str | None:
    """The file with just the test of these names (class, ..., function), or None if it has none."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for path in tests_of(tree):
        if [_name(node) for node in path] == list(names):
            return only(code, tree, path)
    return None


def tests_of(tree: ast.Module) -> list[Path]:
    """The tests that pytest would collect by its own rules, each with the classes around it."""
    cases: set[str] = set()
    return list(_tests(tree.body, (), cases))


def _tests(body: Iterable[ast.stmt], around: Path, cases: set[str]) -> Iterator[Path]:
    for node in body:
        if isinstance(node, Function) and node.name.startswith("test"):
            yield (*around, node)
        elif isinstance(node, ast.ClassDef) and _collected(node, cases):
            yield from _tests(node.body, (*around, node), cases)


def _collected(node: ast.ClassDef, cases: set[str]) -> bool:
    """Whether pytest looks for tests in the class; ``cases`` are the unittest ones so far."""
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    if any(base.endswith("TestCase") for base in bases) or bases & cases:
        cases.add(node.name)
        return True
    return node.name.startswith("Test")


def only(code: str, tree: ast.Module, path: Path) -> str:
    """The code with ``path``'s test alone, and of the rest what it needs."""
    lines = code.split("\n")
    others = {id(found[-1]) for found in tests_of(tree)} - {id(path[-1])}
    kept, used = _needed(tree, path, others)
    edits = list(_dropped(lines, tree.body, {id(node) for node in tree.body} - kept, 0))
    for node in tree.body:
        if id(node) not in kept:
            continue
        if isinstance(node, Import):
            edits += _fewer_names(node, used)
        elif isinstance(node, ast.ClassDef):
            edits += _fewer_members(lines, node, others)
    return _applied(lines, edits)


def _needed(tree: ast.Module, path: Path, others: set[int]) -> tuple[set[int], set[str]]:
    """The top-level statements to keep, by identity, and all the names that they use."""
    tests = {_name(node) for node in tree.body if id(node) in others}
    kept = {id(path[0])}
    used = set(_uses(path[0], others))
    for node in tree.body:
        if _always(node) and not (tests & set(_uses(node, others))):
            kept.add(id(node))
            used |= set(_uses(node, others))
    while True:
        more = [
            node for node in tree.body if id(node) not in kept | others and used & set(_binds(node))
        ]
        if not more:
            return kept, used
        for node in more:
            kept.add(id(node))
            used |= set(_uses(node, others))


def _always(node: ast.stmt) -> bool:
    """Whether the statement is kept though nothing names it: it does something by being there."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__" or node.names[0].name == "*"
    if isinstance(node, Function):
        decorators = " ".join(ast.unparse(one) for one in node.decorator_list)
        return node.name in HOOKS or node.name.startswith("pytest_") or "autouse" in decorators
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.Import | ast.ClassDef):
        return any(name in HOOKS for name in _binds(node)) or not list(_binds(node))
    return not (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test))


def _binds(node: ast.stmt) -> Iterator[str]:
    """The names that a top-level statement defines; none for what is not a plain definition."""
    if isinstance(node, Function | ast.ClassDef):
        yield node.name
    elif isinstance(node, Import):
        yield from (_bound(alias) for alias in node.names)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    yield part.id


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _uses(node: ast.AST, others: set[int]) -> Iterator[str]:
    """The names in a statement, without those of other tests in it: also what its functions take
    (fixtures) and what its strings say (``usefixtures``, annotations)."""
    if id(node) in others:
        return
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        yield from _uses(child, others)


def _dropped(
    lines: Sequence[str], body: Sequence[ast.stmt], drop: set[int], before: int
) -> Iterator[Edit]:
    """Edits that take statements out, each with the comments and blank lines above it.

    ``before`` is the last line above the body. A line that another statement shares stays. Between
    what is left there are as many blank lines as there were at most.
    """
    ends = [before, *(node.end_lineno or node.lineno for node in body)]
    starts = [*(_first(node) for node in body), len(lines) + 1]
    gone = [
        id(node) in drop and ends[at] < starts[at] and ends[at + 1] < starts[at + 1]
        for at, node in enumerate(body)
    ]
    for out, run in groupby(range(len(body)), key=lambda at: gone[at]):
        members = list(run)
        if not out:
            continue
        first, last = ends[members[0]] + 1, ends[members[-1] + 1]
        after = _blank(lines, last)
        if members[0] == 0:
            yield Edit(first, last + after)
        else:
            most = max(_blank(lines, ends[at]) for at in members)
            yield Edit(first, last, ("",) * max(0, most - after))


def _blank(lines: Sequence[str], line: int) -> int:
    """How many blank lines follow a line."""
    count = 0
    while line + count < len(lines) and not lines[line + count].strip():
        count += 1
    return count


def _first(node: ast.stmt) -> int:
    """The line on which a statement starts, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _fewer_names(node: Import, used: set[str]) -> Iterator[Edit]:
    """The import with only the names that are used."""
    wanted = [alias for alias in node.names if _bound(alias) in used or alias.name == "*"]
    future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    if future or not wanted or len(wanted) == len(node.names):
        return
    if isinstance(node, ast.Import):
        text = ast.unparse(ast.Import(wanted))
    else:
        text = ast.unparse(ast.ImportFrom(node.module, wanted, node.level))
    yield Edit(node.lineno, node.end_lineno or node.lineno, (text,))


def _fewer_members(lines: Sequence[str], node: ast.ClassDef, others: set[int]) -> Iterator[Edit]:
    """The class without the other tests in it."""
    drop = {id(one) for one in node.body if id(one) in others or _only_others(one, others)}
    header = max([node.lineno, *(base.end_lineno or 0 for base in node.bases)])
    edits = list(_dropped(lines, node.body, drop, min(header, _first(node.body[0]) - 1)))
    if edits and len(drop) == len(node.body):
        indent = " " * node.body[0].col_offset
        end = node.body[-1].end_lineno or node.body[-1].lineno
        edits = [Edit(edits[0].first, end, (f"{indent}pass",))]
    yield from edits
    for one in node.body:
        if isinstance(one, ast.ClassDef) and id(one) not in drop:
            yield from _fewer_members(lines, one, others)


def _only_others(node: ast.stmt, others: set[int]) -> bool:
    """Whether a class inside a class is one of tests, none of which is wanted."""
    if not isinstance(node, ast.ClassDef):
        return False
    tests = [one for one in ast.walk(node) if isinstance(one, Function) and "test" in one.name[:4]]
    return bool(tests) and all(id(one) in others for one in tests)


def _applied(lines: list[str], edits: Iterable[Edit]) -> str:
    for edit in sorted(edits, key=lambda one: one.first, reverse=True):
        lines[edit.first - 1 : edit.last] = edit.lines
    return "\n".join(lines).strip("\n") + "\n"


def _name(node: ast.stmt) -> str:
    return str(getattr(node, "name", ""))
