"""Turns an expression into others like it: one constant or container in it changed a little."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

# Longer texts are seldom what a person would put into a test.
_LONGEST = 400
_WIDEST = 8  # elements of a container that are dropped or doubled, one at a time


def variations(text: str, constants: Sequence[str] = ()) -> Iterator[str]:
    """Each differs from ``text`` in one place, likely ones first, without repeats.

    ``constants`` are literals of the code under test: strings among them are put before, behind and
    in place of strings, numbers in place of numbers, one less and one more.
    """
    seen = {text}
    for changed in _everywhere(text, [ast.literal_eval(item) for item in constants]):
        if changed not in seen and len(changed) <= _LONGEST:
            seen.add(changed)
            yield changed


def _everywhere(text: str, constants: list[object]) -> Iterator[str]:
    """Turn by turn over the expression's parts, so that no part waits for all of another's."""
    tree = ast.parse(text, mode="eval")
    turns = [_changes(node, constants) for node in _parts(tree.body)]
    paths = list(range(len(turns)))
    while paths:
        for number in list(paths):
            replacement = next(turns[number], None)
            if replacement is None:
                paths.remove(number)
            else:
                yield _with(tree, number, replacement)


def _parts(node: ast.expr) -> list[ast.expr]:
    """The node and the values inside of it, not the names of what is called."""
    found = [node]
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return found
    children: list[ast.expr] = []
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        children = node.elts
    elif isinstance(node, ast.Dict):
        children = [*(key for key in node.keys if key is not None), *node.values]
    elif isinstance(node, ast.Call):
        children = [*node.args, *(keyword.value for keyword in node.keywords)]
    for child in children:
        found += _parts(child)
    return found


def _with(tree: ast.Expression, number: int, replacement: ast.expr) -> str:
    changed = copy.deepcopy(tree)
    target = _parts(changed.body)[number]

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return replacement if node is target else self.generic_visit(node)

    return ast.unparse(Replace().visit(changed))


def _changes(node: ast.expr, constants: list[object]) -> Iterator[ast.expr]:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        value = node
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield from map(_literal, numbers(value, constants))
    elif isinstance(value, str):
        yield from map(_literal, strings(value, [c for c in constants if isinstance(c, str)]))
    elif isinstance(value, bytes):
        yield from (ast.Constant(item) for item in (b"", value[:-1], value + b"a", value * 2))
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        yield from _containers(node)
    elif isinstance(node, ast.Dict):
        yield from _dicts(node)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    if value is not None:
        yield ast.Constant(None)
    else:
        yield from (ast.Constant(item) for item in (0, 1, "", "a", True))


def numbers(value: float, constants: Sequence[object] = ()) -> list[float]:
    """Neighbours, boundaries, and the code's own numbers with their neighbours."""
    found: list[float] = [value - 1, value + 1, 0, 1, -1, -value, value * 2]
    for constant in constants:
        if isinstance(constant, int | float) and not isinstance(constant, bool):
            found += [constant, constant - 1, constant + 1]
    if isinstance(value, float):
        found += [value + 0.5, value / 2]
    return found


def strings(value: str, constants: Sequence[str] = ()) -> list[str]:
    """One character changed, dropped, added; other case; doubled; with the code's own strings."""
    found = [*constants, ""]
    found += [constant + value for constant in constants]
    found += [value + constant for constant in constants]
    for place in dict.fromkeys((len(value) - 1, 0, len(value) // 2)):
        if 0 <= place < len(value):
            head, old, tail = value[:place], value[place], value[place + 1 :]
            found += [head + other(old) + tail, head + tail, head + old + old + tail]
    found += [value.upper(), value.lower(), value.swapcase(), value.title()]
    found += [value + "a", value + " ", " " + value, value + "0", value * 2, value[::-1]]
    found += [constant[:-1] for constant in constants] + ["é" + value]
    return found


def other(character: str) -> str:
    """Another character of the same sort, never the same."""
    for low, high in ("09", "az", "AZ"):
        if low <= character <= high:
            return low if character == high else chr(ord(character) + 1)
    return "a"


def _containers(node: ast.Tuple | ast.List | ast.Set) -> Iterator[ast.expr]:
    items = node.elts
    if items:
        yield _like(node, [])
    for place in range(min(len(items), _WIDEST)):
        yield _like(node, items[:place] + items[place + 1 :])
        yield _like(node, [*items[: place + 1], items[place], *items[place + 1 :]])
    if not isinstance(node, ast.Set) and len(items) > 1:
        yield _like(node, items[::-1])
    if not items:
        yield from (_like(node, [ast.Constant(item)]) for item in (0, 1, "a", None))
        yield _like(node, [ast.Constant(1), ast.Constant(2)])


def _like(node: ast.Tuple | ast.List | ast.Set, items: list[ast.expr]) -> ast.expr:
    if isinstance(node, ast.Set) and not items:
        return ast.Call(ast.Name("set"), [], [])
    if isinstance(node, ast.Set):
        return ast.Set(items)
    return ast.Tuple(items) if isinstance(node, ast.Tuple) else ast.List(items)


def _dicts(node: ast.Dict) -> Iterator[ast.expr]:
    pairs = list(zip(node.keys, node.values, strict=True))
    if pairs:
        yield ast.Dict([], [])
    else:
        yield from (ast.Dict([ast.Constant(key)], [ast.Constant(1)]) for key in ("a", 1))
    for place in range(min(len(pairs), _WIDEST)):
        rest = pairs[:place] + pairs[place + 1 :]
        yield ast.Dict([key for key, _ in rest], [item for _, item in rest])


def _calls(node: ast.Call) -> Iterator[ast.expr]:
    """Keyword arguments left out, one at a time; the last positional one too."""
    for place in range(len(node.keywords)):
        rest = node.keywords[:place] + node.keywords[place + 1 :]
        yield ast.Call(node.func, node.args, rest)
    if node.args and not node.keywords:
        yield ast.Call(node.func, node.args[:-1], [])


def _literal(value: float | str) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body
