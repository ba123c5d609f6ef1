"""Turns the calls of one function, while the tests run, into source expressions of its arguments.

Reported with ``write_data``, one JSON value for each distinct call, at the moment of the call: what
is written later may have changed by then.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any

import _hermutic_frame as frames
import _hermutic_literal
import _hermutic_start

# What is recorded of one run at most; the author takes the smallest forty.
_CALLS = 300
# Each holds its object in memory until the run ends.
_OBJECTS = 2000
# A method's receiver has had calls before; more than these few make no readable test.
_BEFORE = 6

_folder = ""
_target = ""
_levels: tuple[str, ...] = ()
_project: dict[CodeType, bool] = {}
_said: set[str] = set()
_origins: dict[int, tuple[object, dict[str, Any]]] = {}
_before: dict[int, tuple[object, list[tuple[FrameType, dict[str, Any]]]]] = {}


def start(what: dict[str, Any]) -> None:
    """Record calls of ``what["qualname"]`` in the project's file ``what["path"]``.

    ``what["roots"]`` are the folders that the project appears under, ``what["package"]`` is the
    project-relative folder (or file) of the code under test; whatever calls it from outside is a
    test.
    """
    global _folder, _target, _levels
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
            if frames.is_fresh(frame):
                _called(frame)
        else:
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
        if _project.get(caller.f_code, False) and frames.is_public(caller):
            found = caller
        caller = caller.f_back
    return None if found is None else _describe(found)


def _describe(frame: FrameType) -> dict[str, Any]:
    """A call as JSON: module, qualname, how it binds, arguments and (for methods) receiver."""
    code = frame.f_code
    module = frame.f_globals.get("__name__", "")
    values = frame.f_locals
    count = code.co_argcount
    names = list(code.co_varnames[:count])
    keywords = code.co_varnames[count : count + code.co_kwonlyargcount]
    rest = count + code.co_kwonlyargcount
    binding = frames.binding_of(module, code.co_qualname, names, values)
    receiver = None
    if binding in ("method", "property"):
        receiver = _receiver(values[names.pop(0)], frame)
    elif binding == "classmethod":
        names.pop(0)
    defaults = frames.defaults_of(module, code)
    found = [
        [
            name,
            {"default": True}
            if frames.is_default(values[name], defaults, name)
            else frames.written(values[name]),
        ]
        for name in names
        if name in values
    ]
    starred: list[Any] = []
    if code.co_flags & 0x04:
        starred = [frames.written(value) for value in values.get(code.co_varnames[rest], ())]
        rest += 1
    named = [
        [name, frames.written(values[name])]
        for name in keywords
        if name in values and not frames.is_default(values[name], defaults, name)
    ]
    if code.co_flags & 0x08:
        extra = values.get(code.co_varnames[rest], {})
        named += [[name, frames.written(value)] for name, value in extra.items()]
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


def _receiver(value: object, frame: FrameType) -> dict[str, Any]:
    """How a test gets such an object: a name, an expression, a with statement; and calls on it, but
    for the one that the frame is."""
    kept = _before.get(id(value))
    calls = kept[1] if kept is not None and kept[0] is value else []
    before = [call for of, call in calls if of is not frame]
    origin = _origins.get(id(value))
    if origin is not None and origin[0] is value:
        return {**origin[1], "before": before}
    written = _global_name(value) or _constructed(value) or frames.written(value)
    return {"written": written, "enter": "", "before": before}


def _constructed(value: object) -> dict[str, Any] | None:
    """The call of its class that made the object, whatever has become of it since."""
    made = _hermutic_literal._made.get(id(value))
    if made is None or made[0] is not value:
        return None
    literals = _hermutic_literal.Literals()
    name = literals.name(type(value))
    if name is None:
        return None
    _, positional, named, imports = made
    arguments = [*positional, *(f"{key}={text}" for key, text in named.items())]
    lines = sorted({*imports, *literals.imports})
    return {"text": f"{name}({', '.join(arguments)})", "imports": lines}


def _global_name(value: object) -> dict[str, Any] | None:
    """An import of the object, where a module of the project holds it under a public name."""
    module = type(value).__module__
    for name, held in list(vars(sys.modules.get(module, object)).items()):
        if held is value and not name.startswith("_"):
            return {"text": name, "imports": [f"from {module} import {name}"]}
    return None


def _remember_constructor(frame: FrameType) -> None:
    made = _hermutic_literal._made
    if len(made) >= _OBJECTS:
        return
    code = frame.f_code
    values = frame.f_locals
    self = values[code.co_varnames[0]]
    if type(self).__init__.__code__ is not code:
        return  # the constructor of a base class: its arguments are not the caller's
    positional, keywords = frames.handed_over(frame, values)
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
        calls.append((frame, described))


def _describe_briefly(frame: FrameType) -> dict[str, Any] | None:
    code = frame.f_code
    if (
        not code.co_argcount
        or frames.binding_of(
            frame.f_globals.get("__name__", ""),
            code.co_qualname,
            list(code.co_varnames[:1]),
            frame.f_locals,
        )
        != "method"
    ):
        return None
    positional, _ = frames.handed_over(frame, frame.f_locals)
    return {
        "method": code.co_qualname.rpartition(".")[2],
        "arguments": [frames.written(value) for value in positional.values()],
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
    if name.endswith((".__enter__", ".__aenter__")) and frames.has_ended(frame):
        manager = frame.f_locals[code.co_varnames[0]]
        origin = _origins.get(id(manager))
        if origin is not None and origin[0] is manager and manager is not value:
            word = "async with" if name.endswith(".__aenter__") else "with"
            _origins[id(value)] = (value, {**origin[1], "enter": word})
        return
    if _from_tests(frame) and not code.co_flags & frames.RESUMABLE and frames.is_public(frame):
        call = _describe(frame)
        if call["binding"] == "function":
            _origins[id(value)] = (value, {"made": call, "enter": ""})


def _say(value: dict[str, Any]) -> None:
    text = json.dumps(value, sort_keys=True)
    if text not in _said:
        _said.add(text)
        _hermutic_start.write_data({"observed": value})
