"""Turns a call that shows a mutant into simpler ones that may show it too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from gate.authors.calls import Argument, Call

_LETTERS = ("'a'", "'b'", "'A'", "'1'", "'aa'", "'ab'")
T = TypeVar("T", str, bytes)

_MOST = 60  # simpler calls in one round
# What explains itself costs little to read: values of the project's own tests and code, and these.
_FAMILIAR = 0.3
_SHORT = 16
_PLAIN = {
    **{"'a'": 0.8, "''": 1.0, "'abc'": 1.0, "None": 0.8, "[]": 1.0, "{}": 1.0, "()": 1.0},
    **{"0": 0.6, "1": 0.5, "2": 0.6, "10": 0.5, "100": 0.5, "True": 0.5, "False": 0.5},
}


def simpler(call: Call, familiar: frozenset[str]) -> list[Call]:
    """Calls that take less to read, the simplest first. ``familiar`` are observed texts."""
    limit = weight(call, familiar)
    found: dict[Call, float] = {}
    for changed in _changes(call, familiar):
        heavy = weight(changed, familiar)
        if heavy < limit:
            found.setdefault(changed, heavy)
    return sorted(found, key=lambda item: found[item])[:_MOST]


def weight(call: Call, familiar: frozenset[str]) -> float:
    """How much there is to read and to understand."""
    arguments = (*call.arguments, *(item for more in call.then for item in more))
    total = sum(
        1.0 + 0.3 * bool(item.name) + item.cost + _size(item.text, familiar) for item in arguments
    )
    if call.receiver is not None:
        total += _size(call.receiver.text, familiar) + 3.0 * len(call.receiver.before)
    return total + 2.0 * bool(call.globals) + call.cost + 2.0 * len(call.then)


def _size(text: str, familiar: frozenset[str]) -> float:
    if text in familiar and len(text) < _SHORT:
        return _FAMILIAR
    if text in _PLAIN:
        return _PLAIN[text]
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return 1 + len(text) / 4
    if isinstance(tree, ast.Call):  # what it is handed counts as much as what a function is
        handed = [*tree.args, *(keyword.value for keyword in tree.keywords)]
        size = 1 + sum(0.5 + _size(ast.unparse(item), familiar) for item in handed)
        return size * _FAMILIAR if text in familiar else size
    nodes = sum(isinstance(node, ast.expr) for node in ast.walk(tree))
    size = nodes + len(text) / 4 + sum(not character.isascii() for character in text)
    return size * _FAMILIAR if text in familiar else size


def _changes(call: Call, familiar: frozenset[str]) -> Iterator[Call]:
    if call.receiver is not None:
        receiver = call.receiver
        yield replace(call, receiver=replace(receiver, before=()))
        for place in range(len(receiver.before)):
            rest = receiver.before[:place] + receiver.before[place + 1 :]
            yield replace(call, receiver=replace(receiver, before=rest))
        for text in _simpler_texts(receiver.text, familiar):
            yield replace(call, receiver=replace(receiver, text=text))
    for number, argument in enumerate(call.arguments):
        if argument.name or number == len(call.arguments) - 1:
            rest_of = call.arguments[:number] + call.arguments[number + 1 :]
            yield replace(call, arguments=rest_of)
        for text in _simpler_texts(argument.text, familiar):
            yield _with(call, number, replace(argument, text=text))


def _with(call: Call, number: int, argument: Argument) -> Call:
    arguments = list(call.arguments)
    arguments[number] = argument
    return replace(call, arguments=tuple(arguments))


def _simpler_texts(text: str, familiar: frozenset[str]) -> Iterator[str]:
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return
    yield from _reduced(tree)
    for known in sorted(familiar):
        if _sort(known) == _sort(text) and known != text:
            yield known


def _sort(text: str) -> str:
    try:
        return type(ast.literal_eval(text)).__name__
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return text.partition("(")[0]


def _reduced(node: ast.expr) -> Iterator[str]:
    """Texts of the node with something in it gone or plainer."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        value = node
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        plain = [0, 1, 2, 10, 100, int(value / 2), int(value)]
        yield from (repr(item) for item in plain if item != value)
    elif isinstance(value, str):
        yield from map(repr, _shorter(value))
        yield from _LETTERS
    elif isinstance(value, bytes):
        yield from map(repr, _shorter(value))
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        yield from _fewer(node)
    elif isinstance(node, ast.Dict):
        yield from _fewer_pairs(node)
    elif isinstance(node, ast.Call):
        yield from _fewer_arguments(node)


def _shorter(value: T) -> Iterator[T]:
    half = len(value) // 2
    yield from (value[:0], value[:half], value[half:])
    for place in range(min(len(value), 20)):
        yield value[:place] + value[place + 1 :]
    yield value[:1] + value[-1:]


def _fewer(node: ast.List | ast.Tuple | ast.Set) -> Iterator[str]:
    for place, item in enumerate(node.elts[:12]):
        rest = [*node.elts[:place], *node.elts[place + 1 :]]
        if rest or not isinstance(node, ast.Set):
            yield ast.unparse(type(node)(rest))
        for text in _reduced(item):
            changed = [
                *node.elts[:place],
                ast.parse(text, mode="eval").body,
                *node.elts[place + 1 :],
            ]
            yield ast.unparse(type(node)(changed))


def _fewer_pairs(node: ast.Dict) -> Iterator[str]:
    for place in range(min(len(node.keys), 12)):
        keys = [*node.keys[:place], *node.keys[place + 1 :]]
        values = [*node.values[:place], *node.values[place + 1 :]]
        yield ast.unparse(ast.Dict(keys, values))
        for text in _reduced(node.values[place]):
            changed = list(node.values)
            changed[place] = ast.parse(text, mode="eval").body
            yield ast.unparse(ast.Dict(node.keys, changed))


def _fewer_arguments(node: ast.Call) -> Iterator[str]:
    if node.args:
        yield ast.unparse(ast.Call(node.func, node.args[:-1], node.keywords))
    for place in range(len(node.keywords)):
        rest = node.keywords[:place] + node.keywords[place + 1 :]
        yield ast.unparse(ast.Call(node.func, node.args, rest))
        for text in _reduced(node.keywords[place].value):
            keyword = ast.keyword(node.keywords[place].arg, ast.parse(text, mode="eval").body)
            changed = [*node.keywords[:place], keyword, *node.keywords[place + 1 :]]
            yield ast.unparse(ast.Call(node.func, node.args, changed))
    for place, item in enumerate(node.args):
        for text in _reduced(item):
            args = list(node.args)
            args[place] = ast.parse(text, mode="eval").body
            yield ast.unparse(ast.Call(node.func, args, node.keywords))
