"""Turns a class, a function, a module or a module's constant into where it can be imported from."""

from __future__ import annotations

import builtins
import re
import sys
import types
from collections.abc import Iterable, Iterator

# Modules that people import whole, to write `re.compile` and `datetime.date`.
IMPORTED_WHOLE = frozenset(
    {
        *("asyncio", "calendar", "csv", "datetime", "inspect", "io", "itertools", "json"),
        *("logging", "math", "operator", "os", "random", "re", "socket", "string", "struct"),
        *("sys", "threading", "time", "typing", "warnings"),
    }
)
# Nothing can be imported for good from the tests themselves, or from what is ours.
_NOT_FOR_TESTS = re.compile(r"(^|\.)(test_\w+|\w+_test|tests?|conftest|__main__)(\.|$)|^_hermutic")

Home = tuple[str, str]  # the module's dotted name, and the qualified name in it ("": the module)


def home(value: object) -> Home | None:
    """Where a class, a function or a module that is loaded is to be found by its own name."""
    if isinstance(value, types.ModuleType):
        name = value.__name__
        is_there = sys.modules.get(name) is value and not _NOT_FOR_TESTS.search(name)
        return (name, "") if is_there else None
    qualname = getattr(value, "__qualname__", None)
    module = getattr(value, "__module__", None)
    if module is None:  # of str.upper and the like
        module = getattr(getattr(value, "__objclass__", None), "__module__", None)
    if not isinstance(qualname, str) or not isinstance(module, str) or "<" in qualname:
        return None
    for place in _places(module):
        found = lookup(place, qualname)
        if found is value or (isinstance(value, types.MethodType) and found == value):
            return place, qualname
    return None


def constant(value: object, modules: Iterable[str]) -> Home | None:
    """The name by which one of the modules, its own or its class's holds this very object.

    Only for what is told apart by identity: a sentinel, a lock, ``random.choice``.
    """
    for module in (str(getattr(value, "__module__", "")), *modules, type(value).__module__):
        for place in _places(module):
            for name, found in list(vars(sys.modules[place]).items()):
                if found is value and name.isidentifier() and not name.startswith("__"):
                    return place, name
    return None


def lookup(module: str, qualname: str) -> object:
    """What a loaded module has by that qualified name, or None."""
    found: object = sys.modules.get(module)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found


def _places(module: str) -> Iterator[str]:
    """The loaded modules that may have it, the one that a person would import it from first: the
    package above a private module, the public one of the same name, then the module itself."""
    if module == builtins.__name__:
        yield module
        return
    parts = module.split(".")
    private = [number for number, part in enumerate(parts) if part.startswith("_")]
    names = [".".join(parts[:number]) for number in range(len(parts) - 1, 0, -1) if private]
    public = [".".join(part.lstrip("_") for part in parts)] if private else []
    for name in (*names, *public, module):
        if name in sys.modules and not _NOT_FOR_TESTS.search(name):
            yield name
