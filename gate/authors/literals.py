"""Turns the text of an argument into what kind of value it is, and into others of its kind."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

_LONGEST_SIZED = 200  # characters or elements made up to reach a length that the code speaks of


def value_of(text: str) -> object:
    """The value of a literal; None where the text is none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return None


def kind_of(text: str) -> type | None:
    """The type of a literal; None where the text is none."""
    value = value_of(text)
    return None if value is None and text != "None" else type(value)


def same_sort(one: str, other: str) -> bool:
    """Whether the one could stand for the other: both of a type, or made by the same call."""
    kinds = [kind_of(text) for text in (one, other)]
    if None in kinds:
        return kinds[0] is kinds[1] and one.partition("(")[0] == other.partition("(")[0]
    return kinds[0] is kinds[1] or set(kinds) <= {int, float}


def around(text: str) -> list[str]:
    """The constant; of a number also its neighbours, of a string its beginnings."""
    value = ast.literal_eval(text)
    if isinstance(value, int | float):
        return [text, repr(value - 1), repr(value + 1)]
    return [text, repr(value[:-1]), repr(value * 2)] if value else [text]


def sized(text: str, near: Sequence[str]) -> list[str]:
    """The value repeated or cut to the lengths that the code near the mutant speaks of."""
    value = value_of(text)
    if not isinstance(value, str | bytes | list | tuple) or not value:
        return []
    found = []
    for constant in near:
        length = ast.literal_eval(constant)
        if isinstance(length, int) and 0 <= length <= _LONGEST_SIZED:
            for size in (length, length - 1, length + 1):
                if size >= 0:
                    whole = value * (size // len(value) + 1)
                    found += [repr(whole[:size]), repr(value[:1] * size)]
            if isinstance(value, str):
                found.append(repr("0" * length))
    return found


def ends_changed(text: str) -> list[str]:
    """A string of digits with every first and last one: some pair keeps a check digit right."""
    value = value_of(text)
    if not isinstance(value, str) or len(value) < 3 or not value.isdecimal():
        return []
    return [
        repr(first + value[1:-1] + last)
        for first, last in itertools.product("1234567890", repeat=2)
        if first != value[0]
    ]


def length_of(text: str) -> list[str]:
    """The length of a text, a list and the like, as a literal; [] of anything else."""
    value = value_of(text)
    return [str(len(value))] if isinstance(value, str | bytes | list | tuple | dict) else []
