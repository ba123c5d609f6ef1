"""Turns the frame of a call into what it was called by, on and with."""

from __future__ import annotations

import opcode
import sys
from types import CodeType, FrameType
from typing import Any

import _hermutic_literal

# Opcodes that end a coroutine, where a profiler's "return" may also be an await.
_RETURNS = ("RETURN_VALUE", "RETURN_CONST")
# A decorated function is looked for below this many wrappers.
_WRAPPERS = 5
RESUMABLE = 0x20 | 0x80 | 0x200  # generator, coroutine, asynchronous generator


def is_fresh(frame: FrameType) -> bool:
    """Whether the frame begins, and does not go on after a yield or an await."""
    if not frame.f_code.co_flags & RESUMABLE or frame.f_lasti < 0:
        return True
    return frame.f_code.co_code[frame.f_lasti + 1] & 3 == 0  # the argument of RESUME


def has_ended(frame: FrameType) -> bool:
    """Whether a return is the end of the frame, and no await."""
    return opcode.opname[frame.f_code.co_code[frame.f_lasti]] in _RETURNS


def is_public(frame: FrameType) -> bool:
    """Whether a test can call the frame's function by names that do not begin with ``_``."""
    name = frame.f_code.co_qualname
    parts = name.split(".")
    if any(part.startswith("_") or part == "<locals>" for part in parts):
        return name.count(".") == 1 and parts[1] == "__init__" and parts[0][0] != "_"
    return attribute(frame.f_globals.get("__name__", ""), name) is not None


def attribute(module: str, name: str) -> Any:
    """What the module holds under that dotted name; a class's own descriptor, not what it gives."""
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = vars(value).get(part) if hasattr(value, "__dict__") else None
    return value


def handed_over(frame: FrameType, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a method's call hands over by position (starred ones too) and by name, without self and
    without what is as by default."""
    code = frame.f_code
    count = code.co_argcount
    defaults = defaults_of(frame.f_globals.get("__name__", ""), code)
    names = list(code.co_varnames[1:count])
    rest = count + code.co_kwonlyargcount
    starred = values.get(code.co_varnames[rest], ()) if code.co_flags & 0x04 else ()
    while names and not starred and is_default(values[names[-1]], defaults, names[-1]):
        names.pop()
    positional = {name: values[name] for name in names}
    keywords = {
        name: values[name]
        for name in code.co_varnames[count:][: code.co_kwonlyargcount]
        if not is_default(values[name], defaults, name)
    }
    positional.update((f"*{number}", value) for number, value in enumerate(starred))
    if code.co_flags & 0x08:
        keywords.update(values.get(code.co_varnames[rest + bool(code.co_flags & 0x04)], {}))
    return positional, keywords


def defaults_of(module: str, code: CodeType) -> dict[str, Any]:
    """The defaults of the function with that code, by parameter."""
    held = attribute(module, code.co_qualname)
    for _ in range(_WRAPPERS):
        held = getattr(held, "__func__", getattr(held, "fget", held))
        if getattr(held, "__code__", None) is code:
            values = held.__defaults__ or ()
            names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
            return {**dict(zip(names, values, strict=True)), **(held.__kwdefaults__ or {})}
        held = getattr(held, "__wrapped__", None)
    return {}


def is_default(value: object, defaults: dict[str, Any], name: str) -> bool:
    """Whether the parameter has its default; an equal value may have been handed over."""
    return name in defaults and defaults[name] is value


def binding_of(module: str, qualname: str, names: list[str], values: dict[str, Any]) -> str:
    """How the function is called: as "function", "method", "classmethod" or "property"."""
    if "." not in qualname or qualname.rpartition(".")[0].endswith("<locals>"):
        return "function"
    held = attribute(module, qualname)
    if isinstance(held, staticmethod):
        return "function"
    if isinstance(held, classmethod):
        return "classmethod"
    if isinstance(held, property):
        return "property"
    if qualname.rpartition(".")[2] == "__new__":
        return "function"
    return "method" if names and names[0] in values else "function"


def written(value: object) -> dict[str, Any]:
    """The value as {"text", "imports"}, or what sort of thing it is where it has no literal."""
    literals = _hermutic_literal.Literals()
    text = literals.make(value)
    if text is not None:
        return {"text": text, "imports": sorted(literals.imports)}
    code = getattr(value, "__code__", None)
    if isinstance(code, CodeType):
        return {"parameters": code.co_argcount, "coroutine": bool(code.co_flags & 0x80)}
    return {"type": type(value).__name__}
