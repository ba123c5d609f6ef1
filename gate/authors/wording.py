"""Turns facts about a module into the words and assertions of a test."""

from __future__ import annotations

import re

from gate.authors.scene import Fact

_IDENTICAL = frozenset({"None", "True", "False", "...", "NotImplemented"})
_EMPTY = frozenset({'""', 'b""', "()", "[]", "{}", "set()", "frozenset()"})
_SHOWN = 40  # characters of a value in a sentence
_SPOKEN = 24  # characters of a value in a test's name

# How a person would assert that a name stands for a thing of this sort.
_OF_SORT = {
    "coroutine function": "inspect.iscoroutinefunction({})",
    "asynchronous generator function": "inspect.isasyncgenfunction({})",
    "generator function": "inspect.isgeneratorfunction({})",
    "type": "inspect.isclass({})",
    "module": "inspect.ismodule({})",
}
_STATIC = frozenset({"property", "staticmethod", "classmethod"})


def is_private(path: str) -> bool:
    """Whether a part of a dotted path is: a name of Python's own, as ``__init__``, is not."""
    parts = path.split(".")
    return any(part.startswith("_") and not part.endswith("__") for part in parts)


def compared(held: str, fact: Fact) -> str:
    """The assertion that an expression has the value of the fact."""
    if fact.text is None:
        return f'assert type({held}).__name__ == "{fact.about}"'
    if fact.text == 'float("nan")':
        return f"assert {held} != {held}"
    return f"assert {held} {'is' if fact.text in _IDENTICAL else '=='} {fact.text}"


def is_of_sort(held: str, fact: Fact) -> str:
    """The condition that an expression stands for a thing of the fact's sort."""
    if fact.about in _STATIC and fact.owner:
        owner = held.rpartition(".")[0]
        return f'isinstance(inspect.getattr_static({owner}, "{fact.name}"), {fact.about})'
    if fact.about in _OF_SORT:
        return _OF_SORT[fact.about].format(held)
    return f'type({held}).__name__ == "{fact.about}"'


def shown(fact: Fact | None) -> str:
    """A value in a sentence."""
    if fact is None:
        return "missing"
    return short(fact.text) if fact.text is not None else f"some {fact.about}"


def short(text: str) -> str:
    """The beginning of a text, with dots if that is not all."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def spoken(fact: Fact) -> str:
    """A fact's value in a test's name."""
    return say(fact.text) if fact.text is not None else f"a {fact.about}"


def say(text: str) -> str:
    """A literal in a test's name, which has no signs; a long one is only alluded to."""
    if text in _EMPTY:
        return "empty"
    text = f"minus {text[1:]}" if re.match(r"-\d", text) else text
    return text if len(text) <= _SPOKEN and re.search(r"[a-zA-Z0-9]", text) else "as it was"


def plain(fact: Fact) -> str:
    """A value as a docstring would have it: without the quotes."""
    return (fact.text or fact.about).strip("\"'")
