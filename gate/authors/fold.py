"""Turns a statement that is too long for a line into the lines that a formatter makes of it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass

WIDTH = 100
_STEP = "    "
_OPENING, _CLOSING = "([{", ")]}"
_COMPARISONS = ("==", "!=", "<=", ">=", "<", ">", "is", "in", "not")
# Statements whose expression may be put into parentheses without a change.
_HEADS = re.compile(r"(assert |return |yield |await |\w+ = )")


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of brackets that no other is around: where each of them is in the text."""

    opening: int
    closing: int


def fold(text: str, indent: str) -> list[str]:
    """The lines of one statement (or one element of a list), each indented by ``indent``.

    What cannot be read, or has no place to be broken at, stays as it is.
    """
    if len(indent) + len(text) <= WIDTH:
        return [indent + text]
    try:
        tokens = _tokens(text)
    except (tokenize.TokenError, SyntaxError):
        return [indent + text]
    return (
        _at_last_brackets(text, indent, tokens)
        or _at_string(text, indent, tokens)
        or _in_parentheses(text, indent)
        or _at_any_brackets(text, indent, tokens)
        or [indent + text]
    )


def _tokens(text: str) -> list[tuple[str, int, int]]:
    """Each token's text, start and end. An element of a list or a header is no whole statement,
    which the tokenizer does not mind."""
    return [
        (token.string, token.start[1], token.end[1])
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.string.strip()
    ]


def _pairs(tokens: list[tuple[str, int, int]]) -> list[Pair]:
    found, opened = [], list[int]()
    for string, start, _ in tokens:
        if string in _OPENING:
            opened.append(start)
        elif string in _CLOSING:
            opening = opened.pop()
            if not opened:
                found.append(Pair(opening, start))
    return found


def _at_last_brackets(text: str, indent: str, tokens: list[tuple[str, int, int]]) -> list[str]:
    """`assert f(x) == [`, the elements, `]`: where the text ends with brackets. If what is before
    them is too long, the brackets before are broken up as well."""
    pairs = _pairs(tokens)
    if not pairs or text[pairs[-1].closing + 1 :] not in ("", ":", ","):
        return []
    last = pairs[-1]
    if last.closing == last.opening + 1:
        return []
    if last.opening < WIDTH - len(indent):
        return _broken(text, indent, last)
    first = pairs[-2] if len(pairs) > 1 else last
    between = last.opening + 1 - first.closing
    if max(first.opening + 1, between) + len(indent) > WIDTH or first.closing == first.opening + 1:
        return []
    *lines, tail = _broken(text, indent, first)
    if len(tail) <= WIDTH:
        return [*lines, tail]
    rest = Pair(last.opening - first.closing, last.closing - first.closing)
    return [*lines, *_broken(tail.removeprefix(indent), indent, rest)]


def _at_any_brackets(text: str, indent: str, tokens: list[tuple[str, int, int]]) -> list[str]:
    for pair in reversed(_pairs(tokens)):
        head, tail = pair.opening + 1, len(text) - pair.closing
        if pair.closing > head and max(head, tail) + len(indent) <= WIDTH:
            return _broken(text, indent, pair)
    return []


def _broken(text: str, indent: str, pair: Pair) -> list[str]:
    head, tail = text[: pair.opening + 1], text[pair.closing :]
    body = text[pair.opening + 1 : pair.closing].strip()
    deeper = indent + _STEP
    is_part = bool(re.search(r"[\w)\]]$", head[:-1]))  # of a call or a subscript
    if (is_part or "," not in body) and len(deeper) + len(body) <= WIDTH:
        return [indent + head, deeper + body, indent + tail]
    elements = _elements(body.removesuffix(","))
    comma = "," if len(elements) > 1 or body.endswith(",") else ""
    if not comma and len(parts := _cut(body, ("for",))) > 1:
        elements = parts
    elif not is_part and head[-1] != "(":
        comma = ","
    lines = [line for element in elements for line in fold(element + comma, deeper)]
    if is_part and len(elements) == 1 and (lines[0].strip(), lines[-1].strip()) == ("(", ")"):
        lines = [line.removeprefix(_STEP) for line in lines[1:-1]]  # a string in pieces, alone
    return [indent + head, *lines, indent + tail]


def _elements(body: str) -> list[str]:
    """What stands between the commas that no bracket is around."""
    cuts, depth = [-1], 0
    for string, start, _ in _tokens(body):
        depth += (string in _OPENING) - (string in _CLOSING)
        if string == "," and not depth:
            cuts.append(start)
    bounds = zip(cuts, [*cuts[1:], len(body)], strict=True)
    return [body[start + 1 : end].strip() for start, end in bounds]


def _in_parentheses(text: str, indent: str) -> list[str]:
    """`assert (`, one operand of the comparison a line, `)`."""
    head = _HEADS.match(text)
    if not head:
        return []
    rest = text[head.end() :]
    deeper = indent + _STEP
    if len(deeper) + len(rest) <= WIDTH:
        return [f"{indent}{head[1]}(", deeper + rest, f"{indent})"]
    operands = _cut(rest, _COMPARISONS)
    if len(operands) == 1:
        return []
    lines = [line for operand in operands for line in fold(operand, deeper)]
    return [f"{indent}{head[1]}(", *lines, f"{indent})"]


def _cut(text: str, words: tuple[str, ...]) -> list[str]:
    """The parts that begin with one of the words (`not in` is one) outside of brackets."""
    cuts, depth, before = [0], 0, ""
    for string, start, _ in _tokens(text):
        depth += (string in _OPENING) - (string in _CLOSING)
        if not depth and string in words and before not in words:
            cuts.append(start)
        before = string
    return [
        text[start:end].strip() for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)
    ]


def _at_string(text: str, indent: str, tokens: list[tuple[str, int, int]]) -> list[str]:
    """A string that is too long becomes several, in parentheses."""
    strings = [(start, end) for string, start, end in tokens if re.match(r"[bB]?[\"']", string)]
    if not strings:
        return []
    start, end = strings[-1]
    tail = text[end:]
    deeper = indent + _STEP
    if tail not in ("", ",") or start + len(indent) >= WIDTH:
        return []
    pieces = _pieces(ast.literal_eval(text[start:end]), WIDTH - len(deeper))
    return [f"{indent}{text[:start]}(", *(deeper + piece for piece in pieces), f"{indent}){tail}"]


def _pieces(value: str | bytes, width: int) -> list[str]:
    """Literals that make the value when they stand beside each other: cut after the end of a line,
    else after a space, else anywhere."""
    found = []
    while value:
        size = len(value)
        while len(_quoted(value[:size])) > width:
            size -= 1
        part = value[:size]
        newline, space = ("\n", " ") if isinstance(part, str) else (b"\n", b" ")
        lines = part.rfind(newline) + 1  # type: ignore[arg-type]
        spaces = part.rfind(space) + 1 if size < len(value) else size  # type: ignore[arg-type]
        size = lines or spaces or size
        found.append(_quoted(value[:size]))
        value = value[size:]
    return found


def _quoted(value: str | bytes) -> str:
    """In double quotes, unless that takes more backslashes."""
    text = repr(value)
    prefix = "b" if isinstance(value, bytes) else ""
    body = text[len(prefix) + 1 : -1]
    if text.endswith('"'):
        return text
    double = body.replace("\\'", "'").replace('"', '\\"')
    return text if double.count("\\") > body.count("\\") else f'{prefix}"{double}"'
