"""Turns the bytes of one source file into its mutants."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import libcst as cst

from harness import bytecode, context
from harness.context import Context, Unit
from harness.mutant import Mutant
from harness.operators import SETS, Change, Operator
from harness.pragma import pragmas
from harness.source import SourceProblem, Span, Tree, decode, deep_recursion, parse

INCLUDES = frozenset({"annotations", "docstrings", "type_checking", "main"})
WORD_OR_QUOTE = frozenset("'\"_")


@dataclass(frozen=True, slots=True)
class Found:
    """One file's mutants in file order, suppressed ones included, or why there are none."""

    path: str
    mutants: tuple[Mutant, ...]
    problem: str | None


@dataclass(frozen=True, slots=True)
class Site:
    """A change, with the operator that makes it and what is around it."""

    operator: str
    change: Change
    context: Context
    unit: Unit


def find(
    source: bytes,
    path: str,
    *,
    operators: str = "default",
    include: frozenset[str] = frozenset(),
) -> Found:
    """Every mutant of the file at the relative ``path``; never raises for what the file holds.

    ``operators`` names a set ("default", "classic"). ``include`` takes in what is suppressed
    unless asked for: "annotations", "docstrings", "type_checking", "main".
    """
    try:
        with bytecode.quiet():
            text = decode(source)
            code = bytecode.clean_code(text.text)
            with deep_recursion():
                tree = parse(text)
                compiler = bytecode.compiler(tree, code)
                return Found(
                    path, tuple(_mutants(source, path, compiler, operators, include)), None
                )
    except SourceProblem as problem:
        return Found(path, (), str(problem))
    except (RecursionError, MemoryError) as error:
        return Found(path, (), f"could not take the file apart: {type(error).__name__}")


def _mutants(
    source: bytes, path: str, compiler: bytecode.Compiler, operators: str, include: frozenset[str]
) -> Iterator[Mutant]:
    tree = compiler.tree
    around = context.contexts(tree)
    sites = _sites(tree, around, SETS[operators])
    units = {found.unit for found in around.values() if found.unit is not None}
    kept_out = pragmas(tree, units)
    seen: dict[str, str] = {}
    for site, mutant in zip(sites, _named(source, path, tree, sites), strict=True):
        reason = (
            _pragma(kept_out, site)
            or _unasked(site, mutant, include)
            or _repeated(source, mutant, seen)
            or _pointless(compiler, site)
        )
        if reason is None:
            seen[mutant.digest] = mutant.id
        yield replace(mutant, suppressed=reason) if reason else mutant


def _sites(tree: Tree, around: dict[int, Context], operators: Iterable[Operator]) -> list[Site]:
    by_type: dict[type[cst.CSTNode], list[Operator]] = defaultdict(list)
    for operator in operators:
        for node_type in operator.nodes:
            by_type[node_type].append(operator)
    sites = []
    for node in tree.nodes:
        for operator in by_type.get(type(node), ()):
            for change in operator.apply(node, tree):
                found = around[id(change.anchor)]
                if found.unit is not None:
                    sites.append(Site(operator.name, _glued(tree, change), found, found.unit))
    return sorted(sites, key=lambda site: (site.change.start, site.change.end))


def _glued(tree: Tree, change: Change) -> Change:
    """The change, with a space where its text would run into the word beside it."""
    if not change.glue:
        return change
    left = tree.text[max(0, change.start - 1) : change.start]
    right = tree.text[change.end : change.end + 1]
    text = change.text
    if _word(left) and _wordy((text or right)[:1]):
        text = f" {text}"
    if _word(text[-1:]) and _wordy(right):
        text = f"{text} "
    return replace(change, text=text)


def _word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _wordy(char: str) -> bool:
    return _word(char) or char in WORD_OR_QUOTE


def _named(source: bytes, path: str, tree: Tree, sites: Iterable[Site]) -> Iterator[Mutant]:
    occurrences: dict[tuple[str, str], int] = defaultdict(int)
    prefix, done = hashlib.sha256(), 0
    for site in sites:
        name = (site.context.qualname, site.operator)
        occurrences[name] += 1
        start, end = _bytes(tree, site.change)
        prefix.update(source[done:start])
        done = start
        replacement = site.change.text.encode(tree.source.encoding)
        digest = prefix.copy()
        digest.update(replacement + source[end:])
        ran = site.unit.setter or site.unit
        yield Mutant(
            id=f"{path}:{':'.join(name)}:{occurrences[name]}",
            path=path,
            qualname=site.context.qualname,
            operator=site.operator,
            kind=context.kind(site.change.anchor, site.context),
            place=site.context.place,
            start=start,
            end=end,
            line=tree.source.line(site.change.start),
            column=tree.source.column(site.change.start),
            first_line=tree.source.line(ran.start),
            last_line=tree.source.line(max(ran.start, ran.end - 1)),
            before=tree.text[site.change.start : site.change.end],
            after=site.change.text,
            replacement=replacement,
            digest=digest.hexdigest(),
        )


def _bytes(tree: Tree, change: Change) -> Span:
    return tree.source.byte(change.start), tree.source.byte(change.end)


def _pragma(kept_out: dict[Span, str], site: Site) -> str | None:
    for (start, end), reason in kept_out.items():
        if start <= site.unit.start and site.unit.end <= end:
            return reason
    return None


def _unasked(site: Site, mutant: Mutant, include: frozenset[str]) -> str | None:
    """Why a mutant is left out unless asked for."""
    if mutant.kind == "annotation" and "annotations" not in include:
        return "annotation"
    if mutant.kind == "docstring" and "docstrings" not in include:
        return "docstring"
    if site.context.block == "TYPE_CHECKING block" and "type_checking" not in include:
        return site.context.block
    if site.context.block == "__main__ block" and "main" not in include:
        return site.context.block
    return None


def _repeated(source: bytes, mutant: Mutant, seen: dict[str, str]) -> str | None:
    if mutant.replacement == source[mutant.start : mutant.end]:
        return "no-op"
    twin = seen.get(mutant.digest)
    return f"twin of {twin}" if twin else None


def _pointless(compiler: bytecode.Compiler, site: Site) -> str | None:
    return bytecode.check(compiler, site.unit, site.change.start, site.change.end, site.change.text)
