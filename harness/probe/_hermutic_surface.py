"""Turns a module into facts about what its import leaves behind: names, signatures, constants."""

from __future__ import annotations

import enum
import functools
import importlib
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import _hermutic_start
from _hermutic_literal import Literals

MOST = 2000  # facts of one module: more than a library's module has, and 300 kB at the most
_WHOLE = 8  # elements: a longer container is told element by element
_INSIDE = 20  # attributes of one object
_DUNDERS = frozenset(
    {
        *("__name__", "__doc__", "__package__", "__loader__", "__spec__", "__path__", "__file__"),
        *(
            "__cached__",
            "__builtins__",
            "__annotations__",
            "__annotate__",
            "__dict__",
            "__module__",
        ),
        *("__weakref__", "__firstlineno__", "__static_attributes__", "__qualname__", "__all__"),
        *(
            "__dataclass_fields__",
            "__dataclass_params__",
            "__annotations_cache__",
            "__orig_bases__",
        ),
        *("__parameters__", "__wrapped__", "__type_params__", "__conditional_annotations__"),
        *(
            "_abc_impl",
            "__annotate_func__",
            "__attrs_attrs__",
            "__classcell__",
            "__classdictcell__",
        ),
    }
)
_ENUM = frozenset({"_member_names_", "_member_map_", "_value2member_map_", "_new_member_"})

# One fact: what sort it is, about what (a dotted path in the module, "" for itself), a name (of an
# attribute or parameter; the text of a key), the text of the value or None, the imports that the
# text needs, and in words what it is where it has no text.
Fact = tuple[str, str, str, str | None, list[str], str]


def report(name: str) -> None:
    """Import the module by its name and report {"facts": [...], "more": whether there are more,
    "reachable": whether ``import name`` gives this module}."""
    module = importlib.import_module(name)
    facts: list[Fact] = []
    for fact in _module(module, name):
        if len(facts) == MOST:
            break
        facts.append(fact)
    data = {"facts": facts, "more": len(facts) == MOST, "reachable": _is_reachable(module, name)}
    _hermutic_start.write_data(data)


def _is_reachable(module: Any, name: str) -> bool:
    """Not so where a package gives the name of its module to something else in it."""
    found: Any = sys.modules.get(name.partition(".")[0])
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found is module


def _module(module: Any, home: str) -> Iterator[Fact]:
    """All the names first: what comes after them may be cut off."""
    listed = getattr(module, "__all__", ())
    for name in listed if isinstance(listed, (list, tuple, set)) else ():
        missing = "" if hasattr(module, str(name)) else "missing"
        yield ("all", "", str(name), None, [], missing)
    held = {key: value for key, value in list(vars(module).items()) if key not in _DUNDERS}
    for name, value in held.items():
        yield ("has", "", name, None, [], _sort(value))
    later: list[Iterator[Fact]] = []
    for name, value in held.items():
        is_own = getattr(value, "__module__", "") == module.__name__
        if inspect.isclass(value) and is_own:
            yield from _class(name, value, home, later)
        elif is_own and (inspect.isroutine(value) or hasattr(value, "__wrapped__")):
            yield from _function(name, value, home)
        elif not inspect.ismodule(value):
            yield from _value("", name, value, home, later)
    for more in later:
        yield from more


def _sort(value: object) -> str:
    """What sort of thing a name stands for, in one word."""
    if isinstance(value, (staticmethod, classmethod, property)):
        return type(value).__name__
    if inspect.iscoroutinefunction(value):
        return "coroutine function"
    if inspect.isasyncgenfunction(value):
        return "asynchronous generator function"
    if inspect.isgeneratorfunction(value):
        return "generator function"
    return type(value).__name__


def _class(path: str, cls: Any, home: str, later: list[Iterator[Fact]]) -> Iterator[Fact]:
    for base in cls.__bases__:
        naming = Literals()
        if base is not object and (text := naming.name(base)):
            yield ("base", path, text, text, sorted(naming.imports), "")
    names = [name for name in vars(cls) if name not in _DUNDERS | _ENUM]
    inherited = set(dir(cls)) - set(dir(object)) - set(names)
    for name in names:
        yield ("has", path, name, None, [], _sort(vars(cls)[name]))
    yield ("inherited", path, "", None, [], " ".join(sorted(inherited)))
    for name in getattr(getattr(cls, "__dataclass_params__", None), "__slots__", ()):
        value = getattr(cls.__dataclass_params__, name)
        yield ("value", f"{path}.__dataclass_params__", name, repr(value), [], "")
    is_enum = issubclass(cls, enum.Enum)
    for name in names:
        value = vars(cls)[name]
        if is_enum and name in cls.__members__:
            yield from _value(f"{path}.{name}", "value", cls.__members__[name].value, home, later)
        elif inspect.isclass(value) and value.__qualname__ == f"{cls.__qualname__}.{name}":
            yield from _class(f"{path}.{name}", value, home, later)
        elif isinstance(value, property):
            for part in ("fget", "fset", "fdel"):
                yield ("property", path, f"{name}.{part}", repr(bool(getattr(value, part))), [], "")
        elif inspect.isroutine(value) or isinstance(value, (staticmethod, classmethod)):
            yield from _function(f"{path}.{name}", getattr(cls, name, value), home)
        elif not hasattr(type(value), "__get__"):
            yield from _value(path, name, value, home, later)


def _function(path: str, value: Any, home: str) -> Iterator[Fact]:
    if value_of := getattr(value, "cache_parameters", None):  # of a cache around the function
        text, imports, about = _text(_called(value_of), home)
        yield ("call", path, "cache_parameters", text, imports, about)
    if hasattr(value, "__wrapped__"):
        yield ("has", path, "__wrapped__", None, [], "")
    for number, parameter in enumerate(_parameters(value)):
        kind = f"{parameter.kind.description} {number}"
        yield ("parameter", path, parameter.name, None, [], kind)
        if parameter.default is not parameter.empty:
            yield ("default", path, parameter.name, *_text(parameter.default, home))
    for name, held in list(getattr(value, "__dict__", {}).items())[:_INSIDE]:
        if name not in _DUNDERS and not callable(held):
            yield ("value", path, name, *_text(held, home))


def _called(function: Any) -> object:
    try:
        return function()
    except Exception as error:
        return type(error)


def _parameters(value: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(value).parameters.values())
    except Exception:  # written in C, or with annotations that cannot be evaluated
        return []


def _text(value: object, home: str) -> tuple[str | None, list[str], str]:
    """The text of a value, its imports, and in words what the value is where it has no text."""
    literals = Literals([home])
    text = literals.write(value)
    about = "" if text is not None else type(value).__qualname__
    return text, sorted(literals.imports), about


def _value(
    owner: str, name: str, value: Any, home: str, later: list[Iterator[Fact]]
) -> Iterator[Fact]:
    """A constant; a long one by its length at once, and by its elements at the end."""
    path = f"{owner}.{name}" if owner else name
    if isinstance(value, (list, tuple, dict, set, frozenset)) and len(value) > _WHOLE:
        yield ("length", path, "", repr(len(value)), [], "")
        later.append(_elements(path, value, home))
        return
    text, imports, about = _text(value, home)
    if text == name and imports == [f"from {home} import {name}"]:
        text, imports, about = None, [], type(value).__qualname__  # it only names itself
    yield ("value", owner, name, text, imports, about)
    if text is None and isinstance(value, (str, bytes)):
        yield ("length", path, "", repr(len(value)), [], "")
    elif text is None and (
        isinstance(value, functools.partial)  # from Python 3.14 on, a partial counts as a routine
        or not inspect.isroutine(value)
    ):
        for part, held in _inside(value):
            yield ("value", path, part, *_text(held, home))


def _elements(path: str, value: Any, home: str) -> Iterator[Fact]:
    if isinstance(value, (set, frozenset)):
        for element in value:
            text, imports, _ = _text(element, home)
            if text is not None:
                yield ("element", path, text, None, imports, "")
        return
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, held in pairs:
        written, imports, _ = _text(key, home)
        text, more, about = _text(held, home)
        if written is not None:
            yield ("item", path, written, text, sorted({*imports, *more}), about)


def _inside(value: Any) -> list[tuple[str, object]]:
    if isinstance(value, functools.partial):
        return [("args", value.args), ("keywords", value.keywords)]
    held = getattr(value, "__dict__", {})
    return [(name, part) for name, part in list(held.items())[:_INSIDE] if name.isidentifier()]
