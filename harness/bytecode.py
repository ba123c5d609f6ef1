"""Turns a mutant into "compiles to other code", "compiles to the same code" or "does not parse"."""

from __future__ import annotations
import __future__

import ast
import dis
import marshal
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import libcst as cst

from harness.context import Unit
from harness.source import SourceProblem, Tree

UNPARSED = "does not parse"
SAME = "same bytecode"
FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag

_HAS_DOCSTRING = 0x4000000  # of a function's flags, from Python 3.13 on

WORD = re.compile(r"\w+")

Shape = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Compiler:
    """A clean file, compiled.

    ``live`` are the lines with code; None if this Python cannot compile the file. ``nonlocals``
    are the names that some function declares so. ``clean`` keeps the shape of clean pieces, None
    for one that does not compile by itself.
    """

    tree: Tree
    flags: int
    live: frozenset[int] | None
    nonlocals: frozenset[str] = frozenset()
    clean: dict[str, Shape | None] = field(default_factory=dict)


def clean_code(text: str) -> CodeType | None:
    """The clean file's code; None if its syntax is newer than this Python's.

    Raises SourceProblem if no Python would run it.
    """
    try:
        return compile(text, "<clean>", "exec", dont_inherit=True)
    except SyntaxError as error:
        # "too many nested parentheses" and the like: no other Python allows more.
        if _parses_here(text) or error.msg.startswith("too many"):
            where = f"line {error.lineno}" if error.lineno else "the file"
            raise SourceProblem(f"could not compile {where}: {error.msg}") from error
        return None
    except (ValueError, RecursionError, MemoryError) as error:
        cause = str(error) or "it is nested too deeply"
        raise SourceProblem(f"could not compile the file: {cause}") from error


def _parses_here(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def compiler(tree: Tree, code: CodeType | None) -> Compiler:
    """What ``check`` needs to know of a clean file and its code."""
    if code is None:
        return Compiler(tree, 0, None)
    nonlocals = frozenset(
        item.name.value
        for node in tree.nodes
        if isinstance(node, cst.Nonlocal)
        for item in node.names
    )
    return Compiler(tree, code.co_flags & FUTURES, frozenset(_lines(code)), nonlocals)


def check(found: Compiler, unit: Unit, start: int, end: int, text: str) -> str | None:
    """None if the mutant is worth running, else why not.

    To compile the whole file for each mutant would take minutes, so the statement alone is
    compiled first. If that gives other code, and the clean file has code for the statement at
    all, then the mutant differs. Only else is the module's statement around it compiled.
    """
    if found.live is None:
        return _parse(found.tree, unit, start, end, text)
    if _stands_alone(found, unit, start, end):
        before, after = _piece(found.tree, unit)
        clean = before + found.tree.text[unit.start : unit.end] + after
        body = found.tree.text
        mutant = before + body[unit.start : start] + text + body[end : unit.end] + after
        if _compare(found, clean, mutant) is None:
            return None
    return _around(found, unit, start, end, text)


def _stands_alone(found: Compiler, unit: Unit, start: int, end: int) -> bool:
    """Whether the statement by itself can show what the mutant does."""
    if start < unit.start or end > unit.end:
        return False
    if not found.nonlocals.isdisjoint(WORD.findall(found.tree.text[start:end])):
        return False  # a binding less can make it a syntax error elsewhere
    return _lives(found, unit.start, unit.end)


def _lives(found: Compiler, start: int, end: int) -> bool:
    """Whether the clean file has code for some line there: not after a `raise`, for one."""
    assert found.live is not None
    source = found.tree.source
    return not found.live.isdisjoint(range(source.line(start), source.line(end - 1) + 1))


def _around(found: Compiler, unit: Unit, start: int, end: int, text: str) -> str | None:
    """Compare the module's statement around the change; the whole module where that can't tell."""
    whole = found.tree.text
    top = found.tree.around(unit.top)
    docstring = unit.node is _first_statement(found.tree)
    if top[0] <= start and end <= top[1] and not docstring and _lives(found, *top):
        before = "pass\n"  # else an opening string would be a docstring
        clean = before + whole[top[0] : top[1]]
        mutant = before + whole[top[0] : start] + text + whole[end : top[1]]
        if _shape(found, clean) is not None:
            return _compare(found, clean, mutant)
    return _compare(found, whole, whole[:start] + text + whole[end:])


def _first_statement(tree: Tree) -> cst.CSTNode | None:
    first = tree.module.body[0]
    return first.body[0] if isinstance(first, cst.SimpleStatementLine) else None


def _piece(tree: Tree, unit: Unit) -> tuple[str, str]:
    """What goes before and after a statement, so that it compiles by itself."""
    node = unit.node
    decorated = isinstance(node, cst.FunctionDef | cst.ClassDef) and node.decorators
    indent = " " * (tree.source.column(unit.start) - 1) if decorated else "  "
    before = f"{unit.function} _():\n" if unit.function else ""
    if not decorated:
        # Not always in a loop, but never wrong: only `break` and `continue` mind.
        before += " for _ in _:\n" if unit.function else "for _ in _:\n"
    if isinstance(node, cst.If) and tree.text.startswith("elif", unit.start):
        before += f"{indent}if _: _\n"
    elif isinstance(node, cst.ExceptHandler | cst.ExceptStarHandler):
        before += f"{indent}try: _\n"
    elif isinstance(node, cst.MatchCase):
        before += f"{indent}match _:\n"
        indent += " "
    after = "" if isinstance(node, cst.BaseSmallStatement) else " _"
    return before + indent, after + "\n"


def _compare(found: Compiler, clean: str, mutant: str) -> str | None:
    before = _shape(found, clean)
    if before is None:
        return UNPARSED
    after = _compiled(mutant, found.flags)
    if after is None:
        return UNPARSED
    return SAME if before == after else None


def _shape(found: Compiler, clean: str) -> Shape | None:
    if clean not in found.clean:
        found.clean[clean] = _compiled(clean, found.flags)
    return found.clean[clean]


def _compiled(text: str, flags: int) -> Shape | None:
    try:
        return shape(compile(text, "<piece>", "exec", flags=flags, dont_inherit=True))
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return None


def shape(code: CodeType) -> Shape:
    """Everything in a code object that running it can show, so no line numbers."""
    return (
        code.co_code,
        tuple(_constant(value) for value in _used(code)),
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_flags,
        code.co_name,
        code.co_exceptiontable,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
    )


def _used(code: CodeType) -> Iterable[Any]:
    """The constants; from Python 3.14 on, those of dead code are among them and are left out."""
    if sys.version_info < (3, 14):
        return code.co_consts
    found = {0} if code.co_flags & _HAS_DOCSTRING else set()
    extended = 0
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        whole = extended | argument
        if operation in dis.hasconst:
            found.add(whole)
        extended = whole << 8 if operation == dis.EXTENDED_ARG else 0
    return [value for number, value in enumerate(code.co_consts) if number in found]


def _constant(value: Any) -> object:
    """A constant, told from its equals: 1, 1.0, True; 0.0, -0.0. (Format 2 has no references.)"""
    if isinstance(value, CodeType):
        return shape(value)
    if isinstance(value, slice):  # a constant from Python 3.14 on, which format 2 does not know
        return slice, *(_constant(part) for part in (value.start, value.stop, value.step))
    if isinstance(value, tuple):
        return tuple, *(_constant(part) for part in value)
    return marshal.dumps(value, 2)


def _lines(code: CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line is not None)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _lines(value)


def _parse(tree: Tree, unit: Unit, start: int, end: int, text: str) -> str | None:
    top, bottom = tree.around(unit.top)
    try:
        cst.parse_module(tree.text[top:start] + text + tree.text[end:bottom])
    except cst.ParserSyntaxError:
        return UNPARSED
    return None


@contextmanager
def quiet() -> Iterator[None]:
    """The compiler warns about dubious code: mutants are that by design."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
