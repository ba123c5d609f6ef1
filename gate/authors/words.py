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

_LONGEST = 84  # characters of a fault: with what is around it, a line of a test file
_NUMBERS = ("zero", "one", "two", "three")


def fault(survivor: Survivor) -> str:
    """`a <= b` changed to `a < b` in `function` (path:line): as much as a line has room for."""
    mutant = survivor.mutant
    pairs = [(mutant.before, mutant.after), _apart(mutant.before, mutant.after)]
    around = _around(survivor.source, mutant.start, mutant.end)
    if around is not None:
        start, end = around
        whole = survivor.source[start:end].decode()
        shifted = len(survivor.mutated) - len(survivor.source)
        changed = survivor.mutated[start : end + shifted].decode()
        pairs.insert(0, (whole, changed))
    at = f"({mutant.path}:{mutant.line})"
    for where in (f"in `{mutant.qualname}` {at}", at):
        for before, after in pairs:
            line = f"`{before}` changed to `{after}` {where}"
            if "\n" not in line and len(line) <= _LONGEST:
                return line
    room = _LONGEST - len(f"`` changed to `` {at}")
    before, after = (_short(text, room // 2) for text in pairs[-1])
    return f"`{before}` changed to `{after}` {at}"


def _apart(before: str, after: str) -> tuple[str, str]:
    """The words in which the two differ."""
    old, new = before.split(), after.split()
    while old[1:] and new[1:] and old[-1] == new[-1]:
        old.pop()
        new.pop()
    while old[1:] and new[1:] and old[0] == new[0]:
        del old[0], new[0]
    return " ".join(old), " ".join(new)


def _short(text: str, room: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= room else text[: max(room - 3, 0)] + "..."


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
