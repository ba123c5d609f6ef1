"""Turns a model's reply into candidates: the text of test files, one test in each."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from dataclasses import dataclass

from gate.split import single_tests

PYTHON = frozenset({"python", "python3", "py", "py3", "pytest", "python-test"})
DIFF = frozenset({"diff", "patch", "udiff"})
# A fence around the whole reply: what counts is inside.
WRAPPERS = frozenset({"markdown", "md"})
# A docstring with more fences than this many is none that a test has.
MOST_ENDS = 12
# A reply of more blocks is noise, and each has to be parsed.
MOST_BLOCKS = 50

FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*(.*?)[ \t]*")
LANGUAGE = re.compile(r"\{?\.?([\w+#-]*)")
DIFF_MARK = re.compile(r"(--- |\+\+\+ |@@ |diff )")
DIFF_START = re.compile(r"\A\s*(--- .*\n\+\+\+ |@@ -|diff --git )")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the first word after its fence, its text, and whether a fence ended it."""

    language: str
    text: str
    closed: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What a reply holds: ``codes`` are whole files, of which the gate refuses what does not parse;
    ``problems`` say in plain words why other blocks are none."""

    codes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def candidates(reply: str, *, cut: bool = False) -> Found:
    """Each fenced block by itself; a block with several tests becomes as many files.

    ``cut``: the reply ended at its longest, so a block without an end is not whole. A reply without
    any fence is a candidate if all of it is Python with a function in it.
    """
    text = reply.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    blocks = fenced(text)
    if not blocks:
        whole = _tidy(text)
        return Found(_each(whole)) if parses(whole) and _defines(whole) and not cut else Found()
    codes: list[str] = []
    problems: list[str] = []
    for block in blocks:
        code, problem = _judge(block, cut)
        codes += _each(code) if code else ()
        problems += [problem] if problem else []
    return Found(tuple(dict.fromkeys(codes)), tuple(dict.fromkeys(problems)))


def _judge(block: Block, cut: bool) -> tuple[str, str]:
    """The block's code, or why it has none."""
    if cut and not block.closed:
        return "", "the last block was cut off"
    if block.language in DIFF or (block.language not in PYTHON and DIFF_START.match(block.text)):
        code = _tidy(_new_side(block.text))
        return (code, "") if parses(code) else ("", "a block was a diff, not a file")
    if block.language in PYTHON:
        return block.text, ""
    if block.language:
        return "", f"a block was {block.language}, not python"
    return (block.text, "") if _defines(block.text) else ("", "a block without a language")


def fenced(text: str) -> list[Block]:
    """The fenced blocks, in order, without those that are empty; at most fifty.

    A block ends at the first fence that leaves it valid Python (a docstring may hold fences), or
    else at the first fence.
    """
    lines = text.split("\n")
    found: list[Block] = []
    at = 0
    while at < len(lines) and len(found) < MOST_BLOCKS:
        opening = _opening(lines[at])
        if opening is None or opening[2] in WRAPPERS:
            at += 1
            continue
        end = _end(lines, at + 1, opening)
        content = _content(lines[at + 1 : end], opening[0])
        closed = end < len(lines)
        if content and not (not closed and not opening[2] and not parses(content)):
            found.append(Block(opening[2], content, closed))
        # A fence that names a language opens the next block.
        at = end if closed and _info(lines[end]) else end + 1
    return found


def _opening(line: str) -> tuple[str, str, str] | None:
    """The indentation, the fence and the language of a line that opens a block."""
    match = FENCE.fullmatch(line)
    if match is None or ("`" in match[3] and match[2][0] == "`"):
        return None
    language = LANGUAGE.match(match[3])
    return match[1], match[2], language[1].lower() if language else ""


def _info(line: str) -> str:
    opening = _opening(line)
    return opening[2] if opening else ""


def _end(lines: list[str], start: int, opening: tuple[str, str, str]) -> int:
    """The line of the fence that ends the block which starts there; len(lines): none does."""
    indent, fence, _ = opening
    ends = [at for at in range(start, len(lines)) if _may_end(lines[at], fence)]
    for end in [*ends[:MOST_ENDS], len(lines)]:
        content = _content(lines[start:end], indent)
        if content and parses(content):
            return end
    return ends[0] if ends else len(lines)


def _may_end(line: str, fence: str) -> bool:
    found = _opening(line)
    return found is not None and found[1][0] == fence[0] and len(found[1]) >= len(fence)


def _content(lines: list[str], indent: str) -> str:
    """A block's text without the indentation that its fence has."""
    return _tidy("\n".join(line.removeprefix(indent) for line in lines))


def _tidy(text: str) -> str:
    """The text without blank lines around it and common indentation, with a newline at its end."""
    text = text if parses(text) else textwrap.dedent(text)
    text = text.strip("\n").rstrip()
    return f"{text}\n" if text.strip() else ""


def _new_side(text: str) -> str:
    """What a diff's lines leave behind: those that it adds and those around them."""
    lines = [line for line in text.split("\n") if not DIFF_MARK.match(line)]
    return "\n".join(line[1:] for line in lines if not line.startswith("-"))


def parses(text: str) -> bool:
    """Whether the text is Python, by this interpreter."""
    return _tree(text) is not None


def _defines(text: str) -> bool:
    tree = _tree(text)
    if tree is None:
        return re.search(r"^\s*(async )?def test", text, re.MULTILINE) is not None
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(isinstance(node, kinds) for node in ast.walk(tree))


def _tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _each(code: str) -> tuple[str, ...]:
    """The code as it is if it has one test or none, else one file for each."""
    tree = _tree(code)
    files = single_tests(code, tree) if tree else ()
    return files if len(files) > 1 else (code,)
