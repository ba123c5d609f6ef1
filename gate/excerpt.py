"""Turns a mutant's file into the few numbered lines of it that a reader needs to see the fault."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Sequence

from gate.draft import Survivor
from harness.mutant import IMPORT

EXCERPT_LINES = 60
# A longer function is shown by its header and the lines around the statement.
FUNCTION_LINES = 40
AROUND = 6
STATEMENT_LINES = 8
INIT_LINES = 12
LONGEST_LINE = 160

MODULE = "<module>"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def where(survivor: Survivor, around: Sequence[ast.stmt]) -> str:
    """The place in words: function and class by qualified name, file and module."""
    mutant = survivor.mutant
    classes = ".".join(node.name for node in around if isinstance(node, ast.ClassDef))
    names = []
    if mutant.qualname != MODULE:
        inside = any(isinstance(node, Function) for node in around)
        names.append(f"{'the function' if inside else 'the class'} `{mutant.qualname}`")
        names += [f"of class `{classes}`"] if inside and classes else []
        names.append("in")
    names.append(f"{mutant.path} (module `{survivor.module}`)")
    names += [", where it runs when the module is imported"] if mutant.place == IMPORT else []
    return " ".join(names).replace(" ,", ",")


def enclosing(source: bytes, line: int) -> list[ast.stmt]:
    """The classes and functions around a line, from the outside inward; [] if it does not parse."""
    try:
        body: Sequence[ast.AST] = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[ast.stmt] = []
    while True:
        inside = [node for node in body if isinstance(node, ast.stmt) and _holds(node, line)]
        if not inside:
            return found
        if isinstance(inside[0], Function | ast.ClassDef):
            found.append(inside[0])
        body = list(_statements(inside[0]))


def _statements(node: ast.stmt) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from child.body


def _holds(node: ast.stmt, line: int) -> bool:
    return _first(node) <= line <= (node.end_lineno or node.lineno)


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def numbered(lines: Sequence[str], survivor: Survivor, around: Sequence[ast.stmt]) -> str:
    """The excerpt in a fence, its lines numbered, the statement's marked."""
    mutant = survivor.mutant
    first = max(mutant.first_line, mutant.line - STATEMENT_LINES)
    end = max(mutant.last_line, mutant.line)  # a docstring is below the `def` that sets it
    last = min(end, mutant.line + STATEMENT_LINES)
    chosen = sorted(_chosen(around, first, last, len(lines)))
    rows: list[str] = []
    for before, number in zip([chosen[0] - 1, *chosen], chosen, strict=False):
        if number != before + 1:
            rows.append("       ...")
        mark = ">" if mutant.first_line <= number <= end else " "
        rows.append(f"{mark}{number:>5} {lines[number - 1]}".rstrip())
    return fence("", clipped(rows, EXCERPT_LINES))


def _chosen(around: Sequence[ast.stmt], first: int, last: int, count: int) -> set[int]:
    """The numbers of the lines to show."""
    near = set(range(max(1, first - AROUND), min(count, last + AROUND) + 1))
    functions = [node for node in around if isinstance(node, Function)]
    classes = [node for node in around if isinstance(node, ast.ClassDef)]
    chosen = {number for node in classes for number in _header(node)}
    if functions:
        whole = set(range(_first(functions[0]), (functions[0].end_lineno or 0) + 1))
        long = len(whole) > FUNCTION_LINES
        chosen |= set(_header(functions[0])) | (near & whole) if long else whole
    else:
        chosen |= near
    if classes and functions and functions[0].name != "__init__":
        chosen |= set(_constructor(classes[-1]))
    return chosen


def _header(node: ast.stmt) -> range:
    """A class's or function's own lines, up to its body."""
    body: Sequence[ast.stmt] = getattr(node, "body", ())
    return range(_first(node), max(node.lineno + 1, _first(body[0]) if body else 0))


def _constructor(node: ast.ClassDef) -> range:
    for one in node.body:
        if isinstance(one, Function) and one.name == "__init__":
            start, end = _first(one), one.end_lineno or one.lineno
            return range(start, min(end, start + INIT_LINES - 1) + 1)
    return range(0)


def decoded(source: bytes) -> list[str]:
    """The lines of a Python file, without their ends."""
    return text_of(source).split("\n")


def text_of(source: bytes) -> str:
    """The file's text as Python reads it; what cannot be decoded is replaced."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding)
    except (SyntaxError, ValueError, LookupError):
        text = source.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def clipped(lines: Sequence[str], most: int) -> str:
    """At most so many lines, none too long; what is left out is in the middle, and said."""
    short = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..." for line in lines]
    if len(short) > most:
        head = most // 3
        tail = most - head - 1
        short = [*short[:head], f"# ... {len(short) - most + 1} lines left out", *short[-tail:]]
    return "\n".join(short).rstrip()


def fence(language: str, text: str) -> str:
    """The text in a fence longer than any in it."""
    marks = "```"
    while marks in text:
        marks += "`"
    return f"{marks}{language}\n{text}\n{marks}"
