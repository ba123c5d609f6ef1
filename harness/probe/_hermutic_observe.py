"""Turns the calls of one function, while the tests run, into source expressions of its arguments.

Reported with ``write_data``, one JSON value for each distinct call, at the moment of the call: what
is written later may have changed by then.
"""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any

import _hermutic_literal
import _hermutic_start

# What is recorded of one run at most; the author takes the smallest forty.
_CALLS = 300
# Each holds its object in memory until the run ends.
_OBJECTS = 2000
# A method's receiver has had calls before; more than these few make no readable test.
_BEFORE = 6
# Opcodes that end a coroutine, where a profiler's "return" may also be an await.
_RETURNS = ("RETURN_VALUE", "RETURN_CONST")
# A decorated function is looked for below this many wrappers.
_WRAPPERS = 5
_RESUMABLE = 0x20 | 0x80 | 0x200  # generator, coroutine, asynchronous generator

_what: dict[str, Any] = {}
_folder = ""
_target = ""
_levels: tuple[str, ...] = ()
_project: dict[CodeType, bool] = {}
_said: set[str] = set()
_origins: dict[int, tuple[object, dict[str, Any]]] = {}
_before: dict[int, tuple[object, list[dict[str, Any]]]] = {}


def start(what: dict[str, Any]) -> None:
    """Record calls of ``what["qualname"]`` in the project's file ``what["path"]``.

    ``what["roots"]`` are the folders that the project appears under, ``what["package"]`` is the
    project-relative folder (or file) of the code under test; whatever calls it from outside is a
    test.
    """
    global _what, _folder, _target, _levels
    _what = what
    roots = what.get("roots") or _hermutic_start.read_task().get("roots") or [os.getcwd()]
    _target = "/" + what["path"]
    _folder = "|".join(root + "/" + what["package"] for root in roots)
    parts = what["qualname"].split(".<locals>.")
    _levels = tuple(".<locals>.".join(parts[: n + 1]) for n in range(len(parts)))
    sys.setprofile(_event)
    threading.setprofile(_event)


def _event(frame: FrameType, event: str, value: Any) -> None:
    if event not in ("call", "return"):
        return
    code = frame.f_code
    ours = _project.get(code)
    if ours is None:
        ours = _project[code] = _is_project(code)
    if not ours:
        return
    try:
        if event == "call":
            if _is_fresh(frame):
                _called(frame)
        elif frame.f_back is not None or value is not None:
            _returned(frame, value)
    except Exception:  # objects under test may raise from anything; the tests must not see it
        return


def _is_project(code: CodeType) -> bool:
    name = code.co_filename
    if not any(name.startswith(folder) for folder in _folder.split("|")):
        return False
    inside = name.rpartition("/")[2]
    is_test = inside.startswith("test_") or inside.endswith("_test.py") or inside == "conftest.py"
    return not is_test and "/tests/" not in name.replace("/test/", "/tests/")


def _is_fresh(frame: FrameType) -> bool:
    """Whether the frame begins, and does not go on after a yield or an await."""
    if not frame.f_code.co_flags & _RESUMABLE or frame.f_lasti < 0:
        return True
    return frame.f_code.co_code[frame.f_lasti + 1] & 3 == 0  # the argument of RESUME


def _called(frame: FrameType) -> None:
    name = frame.f_code.co_qualname
    if name.endswith(".__init__"):
        _remember_constructor(frame)
    here = frame.f_code.co_filename.endswith(_target)
    if here and name in _levels and len(_said) < _CALLS:
        call = _describe(frame)
        entry = None if name != _levels[-1] else _entry(frame)
        _say({"function": name, "call": call, "entry": entry})
    if _from_tests(frame):
        _remember_before(frame, name)


def _from_tests(frame: FrameType) -> bool:
    caller = frame.f_back
    return caller is not None and not _project.get(caller.f_code, False)


def _entry(frame: FrameType) -> dict[str, Any] | None:
    """The call of the outermost public function through which the tests have come here."""
    found = None
    caller = frame.f_back
    while caller is not None:
        if _project.get(caller.f_code, False) and _public(caller):
            found = caller
        caller = caller.f_back
    return None if found is None else _describe(found)


def _public(frame: FrameType) -> bool:
    name = frame.f_code.co_qualname
    parts = name.split(".")
    if any(part.startswith("_") or part == "<locals>" for part in parts):
        return name.count(".") == 1 and parts[1] == "__init__" and parts[0][0] != "_"
    return _attribute(frame.f_globals.get("__name__", ""), name) is not None


def _attribute(module: str, name: str) -> Any:
    """What the module holds under that dotted name; a class's own descriptor, not what it gives."""
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = vars(value).get(part) if hasattr(value, "__dict__") else None
    return value


def _describe(frame: FrameType) -> dict[str, Any]:
    """A call as JSON: module, qualname, how it binds, arguments and (for methods) receiver."""
    code = frame.f_code
    module = frame.f_globals.get("__name__", "")
    values = frame.f_locals
    count = code.co_argcount
    names = list(code.co_varnames[:count])
    keywords = code.co_varnames[count : count + code.co_kwonlyargcount]
    rest = count + code.co_kwonlyargcount
    binding = _binding(module, code.co_qualname, names, values)
    receiver = None
    if binding in ("method", "property"):
        receiver = _receiver(values[names.pop(0)])
    elif binding == "classmethod":
        names.pop(0)
    defaults = _defaults(module, code)
    found = [
        [
            name,
            {"default": True}
            if _is_default(values[name], defaults, name)
            else _write(values[name]),
        ]
        for name in names
        if name in values
    ]
    starred: list[Any] = []
    if code.co_flags & 0x04:
        starred = [_write(value) for value in values.get(code.co_varnames[rest], ())]
        rest += 1
    named = [
        [name, _write(values[name])]
        for name in keywords
        if name in values and not _is_default(values[name], defaults, name)
    ]
    if code.co_flags & 0x08:
        extra = values.get(code.co_varnames[rest], {})
        named += [[name, _write(value)] for name, value in extra.items()]
    return {
        "module": module,
        "qualname": code.co_qualname,
        "binding": binding,
        "receiver": receiver,
        "arguments": found,
        "starred": starred,
        "named": named,
        "coroutine": bool(code.co_flags & (0x80 | 0x200)),
    }


def _defaults(module: str, code: CodeType) -> dict[str, Any]:
    """The defaults of the function with that code, by parameter."""
    held = _attribute(module, code.co_qualname)
    for _ in range(_WRAPPERS):
        held = getattr(held, "__func__", getattr(held, "fget", held))
        if getattr(held, "__code__", None) is code:
            values = held.__defaults__ or ()
            names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
            return {**dict(zip(names, values, strict=True)), **(held.__kwdefaults__ or {})}
        held = getattr(held, "__wrapped__", None)
    return {}


def _is_default(value: object, defaults: dict[str, Any], name: str) -> bool:
    return name in defaults and defaults[name] is value


def _binding(module: str, qualname: str, names: list[str], values: dict[str, Any]) -> str:
    if "." not in qualname or qualname.rpartition(".")[0].endswith("<locals>"):
        return "function"
    held = _attribute(module, qualname)
    if isinstance(held, staticmethod):
        return "function"
    if isinstance(held, classmethod):
        return "classmethod"
    if isinstance(held, property):
        return "property"
    if qualname.rpartition(".")[2] == "__new__":
        return "function"
    return "method" if names and names[0] in values else "function"


def _receiver(value: object) -> dict[str, Any]:
    """How a test gets such an object: a name, an expression, a with statement; and calls on it."""
    kept = _before.get(id(value))
    calls = kept[1] if kept is not None and kept[0] is value else []
    origin = _origins.get(id(value))
    if origin is not None and origin[0] is value:
        return {**origin[1], "before": list(calls)}
    written = _global_name(value) or _write(value)
    return {"written": written, "enter": "", "before": list(calls)}


def _global_name(value: object) -> dict[str, Any] | None:
    """An import of the object, where a module of the project holds it under a public name."""
    module = type(value).__module__
    for name, held in list(vars(sys.modules.get(module, object)).items()):
        if held is value and not name.startswith("_"):
            return {"text": name, "imports": [f"from {module} import {name}"]}
    return None


def _write(value: object) -> dict[str, Any]:
    """The value as {"text", "imports"}, or what sort of thing it is where it has no literal."""
    literals = _hermutic_literal.Literals()
    text = literals.make(value)
    if text is not None:
        return {"text": text, "imports": sorted(literals.imports)}
    code = getattr(value, "__code__", None)
    if isinstance(code, CodeType):
        return {"parameters": code.co_argcount, "coroutine": bool(code.co_flags & 0x80)}
    return {"type": type(value).__name__}


def _remember_constructor(frame: FrameType) -> None:
    made = _hermutic_literal._made
    if len(made) >= _OBJECTS:
        return
    code = frame.f_code
    values = frame.f_locals
    self = values[code.co_varnames[0]]
    if type(self).__init__.__code__ is not code:
        return  # the constructor of a base class: its arguments are not the caller's
    positional, keywords = _arguments(code, values)
    literals = _hermutic_literal.Literals()
    texts = [literals.make(value) for value in positional.values()]
    named = {name: literals.make(value) for name, value in keywords.items()}
    if None in texts or None in named.values():
        return
    made[id(self)] = (
        self,
        tuple(str(text) for text in texts),
        {name: str(text) for name, text in named.items()},
        frozenset(literals.imports),
    )


def _arguments(code: CodeType, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a method's call hands over by position (starred ones too) and by name, without self."""
    count = code.co_argcount
    positional = {name: values[name] for name in code.co_varnames[1:count]}
    keywords = {name: values[name] for name in code.co_varnames[count:][: code.co_kwonlyargcount]}
    rest = count + code.co_kwonlyargcount
    if code.co_flags & 0x04:
        for number, value in enumerate(values.get(code.co_varnames[rest], ())):
            positional[f"*{number}"] = value
        rest += 1
    if code.co_flags & 0x08:
        keywords.update(values.get(code.co_varnames[rest], {}))
    return positional, keywords


def _remember_before(frame: FrameType, name: str) -> None:
    """A test's own method call: part of how the receiver came into its present state."""
    short = name.rpartition(".")[2]
    if "." not in name or short.startswith("_") or len(_before) >= _OBJECTS:
        return
    described = _describe_briefly(frame)
    if described is None:
        return
    receiver = frame.f_locals[frame.f_code.co_varnames[0]]
    calls = _before.setdefault(id(receiver), (receiver, []))[1]
    if len(calls) < _BEFORE:
        calls.append(described)


def _describe_briefly(frame: FrameType) -> dict[str, Any] | None:
    code = frame.f_code
    if (
        not code.co_argcount
        or _binding(
            frame.f_globals.get("__name__", ""),
            code.co_qualname,
            list(code.co_varnames[:1]),
            frame.f_locals,
        )
        != "method"
    ):
        return None
    names = code.co_varnames[1 : code.co_argcount]
    return {
        "method": code.co_qualname.rpartition(".")[2],
        "arguments": [_write(frame.f_locals[name]) for name in names],
        "await": bool(code.co_flags & 0x80),
    }


def _returned(frame: FrameType, value: Any) -> None:
    """Keep where an object came from that has no literal: a test's call, or a with statement."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, list, tuple, dict)):
        return
    code = frame.f_code
    if len(_origins) >= _OBJECTS or id(value) in _origins:
        return
    name = code.co_qualname
    if name.endswith((".__enter__", ".__aenter__")) and _ends(frame):
        manager = frame.f_locals[code.co_varnames[0]]
        origin = _origins.get(id(manager))
        if origin is not None and origin[0] is manager and manager is not value:
            word = "async with" if name.endswith(".__aenter__") else "with"
            _origins[id(value)] = (value, {**origin[1], "enter": word})
        return
    if _from_tests(frame) and not code.co_flags & _RESUMABLE and _public(frame):
        call = _describe(frame)
        if call["binding"] == "function":
            _origins[id(value)] = (value, {"made": call, "enter": ""})


def _ends(frame: FrameType) -> bool:
    import opcode

    return opcode.opname[frame.f_code.co_code[frame.f_lasti]] in _RETURNS


def _say(value: dict[str, Any]) -> None:
    import json

    text = json.dumps(value, sort_keys=True)
    if text not in _said:
        _said.add(text)
        _hermutic_start.write_data({"observed": value})
