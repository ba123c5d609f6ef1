"""Turns values, exceptions and objects into what can be said of them in the text of a test."""

from __future__ import annotations

import contextlib
import re
import types
from typing import Any

from _hermutic_literal import Literals

SHOWN = 400  # characters of a message or of what was printed
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
# Attributes of one result that are looked at.
_ATTRIBUTES = 12
# What no call can change.
_FIXED = (bool, int, float, complex, str, bytes, type, range, types.FunctionType)

Json = dict[str, Any]


def value_of(value: object) -> Json:
    """A value as {"type", "text", "imports"}; without literal, what can be seen of it instead."""
    kind = type(value)
    found: Json = {"type": kind.__qualname__, "module": kind.__module__}
    literals = Literals()
    text = literals.write(value)
    if text is not None:
        return {**found, "text": text, "imports": sorted(literals.imports)}
    naming = Literals()
    if name := naming.name(kind):
        found["class"] = {"text": name, "imports": sorted(naming.imports)}
    return {**found, "about": _about(value)}


def _about(value: Any) -> Json:
    """Expressions in ``{}``, which stands for the value, and the text of what each gives."""
    found: Json = {}
    if isinstance(value, BaseException):
        found["str({})"] = repr(str(value)[:SHOWN])
    if isinstance(value, (type, types.FunctionType, types.MethodType, types.ModuleType)):
        found["{}.__name__"] = repr(value.__name__)
        return found
    _look(found, "bool({})", bool, value)
    if hasattr(type(value), "__len__"):
        _look(found, "len({})", len, value)
        if hasattr(type(value), "__iter__"):
            _look(found, "list({})", list, value)
    _look(found, "repr({})", repr, value)
    for name in _attributes(value):
        _look(found, "{}." + name, lambda value, name=name: getattr(value, name), value)
    return found


def _look(found: Json, template: str, look: Any, value: object) -> None:
    with contextlib.suppress(Exception):
        seen = look(value)
        if isinstance(seen, str) and _ADDRESS.search(seen):
            return
        text = _literal(seen)
        if text is not None:
            found[template] = text


def _literal(value: object) -> str | None:
    """Only what needs no import: these stand beside others in one assertion."""
    literals = Literals()
    text = literals.write(value)
    return None if literals.imports else text


def _attributes(value: object) -> list[str]:
    """Its own attributes, then its class's properties; public ones first."""
    own = [name for name in getattr(value, "__dict__", {}) if isinstance(name, str)]
    own += [name for name in getattr(type(value), "__slots__", ()) if isinstance(name, str)]
    properties = [
        name
        for kind in type(value).__mro__[:-1]
        for name, held in vars(kind).items()
        if isinstance(held, property)
    ]
    names = [name for name in dict.fromkeys((*own, *properties)) if not name.startswith("__")]
    return sorted(names, key=lambda name: name.startswith("_"))[:_ATTRIBUTES]


def raised_by(error: BaseException) -> Json:
    kind = type(error)
    naming = Literals()
    return {
        "type": f"{kind.__module__}.{kind.__qualname__}",
        "name": naming.name(kind),
        "imports": sorted(naming.imports),
        "message": str(error)[:SHOWN],
    }


def seen_of(value: Any) -> Json:
    if value is None or isinstance(value, _FIXED):
        return {}
    found: Json = {}
    _look(found, "{}", lambda value: value, value)
    if found:
        return found
    for name in _attributes(value):
        _look(found, "{}." + name, lambda value, name=name: getattr(value, name), value)
    if hasattr(type(value), "__len__"):
        _look(found, "len({})", len, value)
    return found
