"""Turns the namespaces of the code under test, before and after a test's call, into its patches."""

from __future__ import annotations

import builtins
import sys
from types import FunctionType

from _hermutic_whose import DRAFT, SOURCE, kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Names = dict[str, Any]

_MOCKS = ("unittest.mock", "mock")


def namespaces() -> Names:
    """The modules under test, and all that can be called in them and their classes, by name."""
    found: Names = {}
    for name, module in list(sys.modules.items()):
        held = getattr(module, "__dict__", {})
        if kind(str(held.get("__file__"))) != SOURCE:
            continue
        found[name] = module
        waiting = [(name, held)]
        while waiting:
            owner, space = waiting.pop()
            for key, value in list(space.items()):
                whole = f"{owner}.{key}"
                # Python makes and removes those that begin so by itself, from 3.14 on.
                if whole in found or key.startswith("__annot") or not _is_callable(value):
                    continue
                found[whole] = value
                if isinstance(value, type) and vars(value).get("__module__") == name:
                    waiting.append((whole, vars(value)))
    return found


def at_once(before: Names) -> Iterator[str]:
    """What is the draft's own already when the test begins: patched by its module or fixtures."""
    return (name for name, value in before.items() if is_drafts(value))


def since(before: Names, after: Names) -> Iterator[str]:
    """What has been replaced or removed, and what hides something else."""
    for name, value in before.items():
        if after.get(name) is not value:
            yield name
    for name in after.keys() - before.keys():
        if is_drafts(after[name]) and (_is_new(name, before) or _hides(name, after)):
            yield name


def _is_callable(value: Any) -> bool:
    return callable(value) or type(value) in (staticmethod, classmethod, property)


def is_drafts(value: Any) -> bool:
    """Whether a function or class is the draft's own, or a mock."""
    if type(value) in (staticmethod, classmethod):
        value = value.__func__
    elif type(value) is property:
        value = value.fget
    if type(value) is FunctionType:
        return kind(value.__code__.co_filename) == DRAFT
    module = str(vars(value if isinstance(value, type) else type(value)).get("__module__"))
    file = getattr(sys.modules.get(module), "__dict__", {}).get("__file__")
    return module in _MOCKS or kind(str(file)) == DRAFT


def _is_new(name: str, before: Names) -> bool:
    """Whether the name's module has been imported since."""
    return not any(name.startswith(f"{known}.") for known in before)


def _hides(name: str, after: Names) -> bool:
    """Whether a new name stands in for a built-in function, or for what a class inherits."""
    owner, _, key = name.rpartition(".")
    held = after.get(owner)
    return hasattr(held.__base__, key) if isinstance(held, type) else hasattr(builtins, key)
