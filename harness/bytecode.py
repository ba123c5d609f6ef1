"""Turns a mutant into "compiles to other code", "compiles to the same code" or "does not parse"."""

from __future__ import annotations
import __future__

import ast
import re
import warnings
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType

import libcst as cst

from harness.codes import Shape, in_doubt, inner, places, shape
from harness.context import Unit
from harness.source import NOT_PARSED, SourceProblem, Tree

UNPARSED = "does not parse"
SAME = "same bytecode"
DOUBT = "other tables"  # said of a piece alone: what dead code leaves there may be elsewhere too
FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag

WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Compiler:
    """A clean file, compiled.

    ``live`` are the characters where what has code begins, in order; None if this Python cannot
    compile the file. ``nonlocals`` are the names that some function declares so. ``clean`` keeps
    the code of clean pieces and its shape, None for one that does not compile by itself.
    """

    tree: Tree
    flags: int
    live: tuple[int, ...] | None
    nonlocals: frozenset[str] = frozenset()
    clean: dict[str, tuple[CodeType, Shape] | None] = field(default_factory=dict)


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
    live = sorted({tree.source.character(*place) for place in places(code)})
    return Compiler(tree, code.co_flags & FUTURES, tuple(live), nonlocals)


def check(found: Compiler, unit: Unit, start: int, end: int, text: str) -> str | None:
    """None if the mutant is worth running, else why not.

    To compile the whole file for each mutant would take minutes, so the statement alone is
    compiled first. If that gives other code, and the clean file has code for the statement at
    all, then the mutant differs. Only else is the module's statement around it compiled, and the
    whole module if that leaves a doubt.
    """
    if found.live is None:
        return _parse(found.tree, unit, start, end, text)
    if _stands_alone(found, unit, start, end):
        before, after = _piece(found.tree, unit)
        clean = before + found.tree.text[unit.start : unit.end] + after
        body = found.tree.text
        mutant = before + body[unit.start : start] + text + body[end : unit.end] + after
        if _compare(found, clean, mutant) is None and not _chooses(found, unit, clean):
            return None
    return _around(found, unit, start, end, text)


def _stands_alone(found: Compiler, unit: Unit, start: int, end: int) -> bool:
    """Whether the statement by itself can show what the mutant does."""
    if start < unit.start or end > unit.end:
        return False
    if isinstance(unit.node, cst.MatchCase) or _overruled(found.tree, unit.node):
        return False
    if not found.nonlocals.isdisjoint(WORD.findall(found.tree.text[start:end])):
        return False  # a binding less can make it a syntax error elsewhere
    return _lives(found, unit.start, unit.end)


def _overruled(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a `finally` has the last word on where a jump goes."""
    if not isinstance(node, cst.Break | cst.Continue | cst.Return):
        return False
    while node is not tree.module:
        node = tree.parent(node)
        if isinstance(node, cst.Try | cst.TryStar) and node.finalbody is not None:
            return True
    return False


def _chooses(found: Compiler, unit: Unit, piece: str) -> bool:
    """Whether a header's condition is always so: then it is the branches that may be the same."""
    code = _clean(found, piece)
    return (
        isinstance(unit.node, cst.If | cst.While) and code is not None and _names(code[0]) <= {"_"}
    )


def _names(code: CodeType) -> set[str]:
    return set(code.co_names + code.co_varnames).union(*map(_names, inner(code)))


def _lives(found: Compiler, start: int, end: int) -> bool:
    """Whether the clean file has code for something there: not after a `raise`, for one."""
    assert found.live is not None
    return bisect_left(found.live, start) < bisect_left(found.live, end)


def _around(found: Compiler, unit: Unit, start: int, end: int, text: str) -> str | None:
    """Compare the module's statement around the change, and the whole module if that differs not
    for sure: what follows a statement may have a part in its code."""
    whole = found.tree.text
    top = found.tree.around(unit.top)
    docstring = unit.node is _first_statement(found.tree)
    if top[0] <= start and end <= top[1] and not docstring and _lives(found, *top):
        before = "pass\n"  # else an opening string would be a docstring
        clean = before + whole[top[0] : top[1]]
        mutant = before + whole[top[0] : start] + text + whole[end : top[1]]
        if _clean(found, clean) is not None and _compare(found, clean, mutant) is None:
            return None
    said = _compare(found, whole, whole[:start] + text + whole[end:])
    return None if said == DOUBT else said


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
    after = "" if isinstance(node, cst.BaseSmallStatement) else " _"
    return before + indent, after + "\n"


def _compare(found: Compiler, clean: str, mutant: str) -> str | None:
    """UNPARSED, SAME, DOUBT or None: it differs."""
    before = _clean(found, clean)
    if before is None:
        return UNPARSED
    after = _compiled(mutant, found.flags)
    if after is None:
        return UNPARSED
    if before[1] == shape(after):
        return SAME
    return DOUBT if in_doubt(before[0], after) else None


def _clean(found: Compiler, text: str) -> tuple[CodeType, Shape] | None:
    if text not in found.clean:
        code = _compiled(text, found.flags)
        found.clean[text] = None if code is None else (code, shape(code))
    return found.clean[text]


def _compiled(text: str, flags: int) -> CodeType | None:
    try:
        code: CodeType = compile(text, "<piece>", "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return None
    return code


def _parse(tree: Tree, unit: Unit, start: int, end: int, text: str) -> str | None:
    top, bottom = tree.around(unit.top)
    try:
        cst.parse_module(tree.text[top:start] + text + tree.text[end:bottom])
    except NOT_PARSED:
        return UNPARSED
    return None


@contextmanager
def quiet() -> Iterator[None]:
    """The compiler warns about dubious code: mutants are that by design."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
