"""Turns a source file into its controls: changes whose outcome is known before they are run."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from harness.reach import OUTSIDE, Reach

CANARY = b"raise RuntimeError('hermutic canary: this module must not be importable')\n"
PLANT = b"raise RuntimeError('hermutic plant')"
# What it means for the user if a control does not hold. (The clean suite ends the session itself.)
CURES = {
    "canary": "the tests do not import the files that are mutated, but a copy of them elsewhere: "
    "see which file was loaded, and name the right one with --source, or the folder that they are "
    "imported from with the key `pythonpath`",
    "no-op": "the tests fail on a file that is written anew with the same bytes: look for tests "
    "that compare times or permissions of the sources, and set them aside with --set-aside",
    "plant": "the tests pass though a function that they call raises: look for tests that swallow "
    "every exception, or for --source that names the wrong files",
}


@dataclass(frozen=True, slots=True)
class Control:
    """A check on the instrument: what was predicted before it ran, and what was seen."""

    name: str
    predicted: str
    seen: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Planted:
    """A plant: the mutated bytes, the function they are in, and the lines it must be reached on."""

    path: str
    qualname: str
    line: int
    last_line: int
    data: bytes


def canary(source: bytes) -> bytes:
    """The file, raising at the end of its import: whatever its header, that is always valid."""
    ending = b"" if source.endswith((b"\n", b"\r")) or not source else b"\n"
    return source + ending + CANARY


def plants(path: str, source: bytes) -> list[Planted]:
    """One plant per function: its first statement is preceded by a raise on the same line.

    A function whose first statement shares its line with something else is passed over.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    lines = source.splitlines(keepends=True)
    found = []
    for node, qualname in _functions(tree, ""):
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        planted = _plant(path, qualname, body[0], lines) if body else None
        if planted:
            found.append(planted)
    return found


def reached(candidates: list[Planted], reach: Reach) -> list[tuple[Planted, int]]:
    """The plants that tests execute in a function's own run, most tests first, with their masks."""
    found = []
    for plant in candidates:
        mask = reach.of_lines(plant.path, plant.line, plant.last_line)
        if mask & ~OUTSIDE:
            found.append((plant, mask))

    # What no import runs comes first: elsewhere the raise keeps the module from loading. Then most
    # tests: if one of them swallows exceptions, another will not. Ties by place.
    def rank(entry: tuple[Planted, int]) -> tuple[int, int, str, int]:
        plant, mask = entry
        return mask & OUTSIDE, -mask.bit_count(), plant.path, plant.line

    return sorted(found, key=rank)


def _functions(
    node: ast.AST, scope: str
) -> list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    found = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((child, scope + child.name))
            found += _functions(child, f"{scope}{child.name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            found += _functions(child, f"{scope}{child.name}.")
        else:
            found += _functions(child, scope)
    return found


def _plant(path: str, qualname: str, first: ast.stmt, lines: list[bytes]) -> Planted | None:
    """``raise ...; statement`` keeps any indentation; a compound statement needs another line."""
    simple = not hasattr(first, "body") and not isinstance(first, ast.Match)
    # The statement begins with its decorators, though its own line is that of its def.
    start = min(node.lineno for node in [first, *getattr(first, "decorator_list", ())])
    line = lines[start - 1] if start <= len(lines) else b""
    indentation = line[: first.col_offset]
    if indentation.strip(b" \t\f") or not simple:
        if indentation.strip(b" \t\f") or not line.strip():
            return None
        # A compound statement cannot follow a semicolon: give the raise a line of its own.
        insert = indentation + PLANT + _line_end(line)
    else:
        insert = indentation + PLANT + b"; "
        line = line[first.col_offset :]
    data = b"".join(lines[: start - 1]) + insert + line + b"".join(lines[start:])
    return Planted(path, qualname, start, first.end_lineno or start, data)


def _line_end(line: bytes) -> bytes:
    return b"\r\n" if line.endswith(b"\r\n") else b"\n"
