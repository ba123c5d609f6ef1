"""Turns a mutant into one line on its fault, and a call into the words of a test's name."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from gate.authors import differences as kinds
from gate.authors.calls import Argument, Call
from gate.authors.differences import Difference
from gate.draft import Survivor

_LONGEST = 60  # characters of code in a docstring's one line
_NUMBERS = ("zero", "one", "two", "three")


def fault(survivor: Survivor) -> str:
    """`a <= b` changed to `a < b` in `function` (path:line)."""
    mutant = survivor.mutant
    before, after = mutant.before, mutant.after
    around = _around(survivor.source, mutant.start, mutant.end)
    if around is not None:
        start, end = around
        whole = survivor.source[start:end].decode()
        shifted = len(survivor.mutated) - len(survivor.source)
        changed = survivor.mutated[start : end + shifted].decode()
        if max(len(whole), len(changed)) <= _LONGEST and "\n" not in whole + changed:
            before, after = whole, changed
    before, after = (_short(text) for text in (before, after))
    place = f"in `{mutant.qualname}` ({mutant.path}:{mutant.line})"
    return f"`{before}` changed to `{after}` {place}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 2 * _LONGEST else text[: 2 * _LONGEST - 3] + "..."


def _around(source: bytes, start: int, end: int) -> tuple[int, int] | None:
    """The span of the smallest expression or simple statement that is more than the changed one."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found: tuple[int, int] | None = None
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.expr | ast.Return | ast.Assign | ast.AugAssign | ast.Raise):
            continue
        if node.end_lineno is None or node.end_col_offset is None:
            continue
        first = lines[node.lineno - 1] + node.col_offset
        last = lines[node.end_lineno - 1] + node.end_col_offset
        larger = first <= start and end <= last and (last - first) > (end - start)
        if larger and (found is None or last - first < found[1] - found[0]):
            found = first, last
    return found


def names_behaviour(call: Call, clean: Mapping[str, Any], shown: Difference) -> str:
    """What the test's name says behind the function's: raises invalid amount for zero."""
    if "raised" in clean:
        error = clean["raised"]["name"].rpartition(".")[2]
        what = f"raises {snake(error)}"
        if shown.rank == kinds.MESSAGE:
            what += " with its message"
    elif shown.where:
        what = f"leaves its argument as {_say(shown.expected)}"
    elif shown.rank in (kinds.STATE, kinds.HIDDEN):
        what = f"leaves {_looked(shown.look)} {_say(shown.expected)}"
    elif shown.rank == kinds.YIELDED:
        what = "yields its items"
    elif shown.rank == kinds.PRINTED:
        what = "prints its text"
    elif shown.look == "isinstance":
        what = f"returns {_article(snake(shown.expected.rpartition('.')[2]))}"
    elif shown.look == "{}":
        what = f"returns {_say(shown.expected)}"
    else:
        what = f"returns {_looked(shown.look)} {_say(shown.expected)}"
    told = [words for argument in call.arguments if (words := _argument(argument))]
    return f"{what} for {' and '.join(told)}" if told else what


def snake(name: str) -> str:
    """InvalidAmount as words: invalid amount."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()


def _article(words: str) -> str:
    return f"an {words}" if words[:1] in "aeiou" else f"a {words}"


def _looked(look: str) -> str:
    return {"len({})": "length", "bool({})": "truth", "repr({})": "as text", "list({})": ""}.get(
        look, look.rpartition(".")[2].strip("_(){}")
    )


def _argument(argument: Argument) -> str:
    value = _say(argument.text)
    return f"{argument.name} {value}" if argument.name and value else value


def _say(text: str) -> str:
    """A literal in a word or two; "" where there is no short way."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        name = re.match(r"[A-Za-z_.]+", text)
        return snake(name[0].rpartition(".")[2]) if name and "lambda" not in text else ""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, int | float):
        sign = "minus " if value < 0 else ""
        size = abs(value)
        small = isinstance(value, int) and size < len(_NUMBERS)
        return sign + (_NUMBERS[int(size)] if small else str(size).replace(".", " point "))
    if isinstance(value, str):
        words = re.findall(r"[a-zA-Z0-9]+", value)
        return ("_".join(words[:3]).lower() or "other_text") if value else "empty text"
    kind = type(value).__name__
    return f"empty {kind}" if not value else _article(kind)
