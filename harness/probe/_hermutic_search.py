"""Turns a batch of calls, as source text, into what each of them does here: one outcome a call.

The task's ``search`` is {"calls": [...], "seconds": of one call}; each outcome is reported with
``write_data`` as {"call": number, ...} as soon as it is known: a call that ends the process leaves
those before it. The same batch on clean and on a mutant shows where the two differ.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import itertools
import re
import resource
import signal
import types
from collections.abc import Iterator
from typing import Any

import _hermutic_start
from _hermutic_literal import Literals

# Of what a call yields; an iterator without end is known by its first elements.
_YIELDED = 50
_SHOWN = 400  # characters of a message or of what was printed
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
# Of calls that take too long: so many get their whole time, and after so many no more are made.
_PATIENT, _HUNG = 2, 15
_MEMORY = 200 << 20  # bytes that the calls may take beside what is there already
# Attributes of one result that are looked at.
_ATTRIBUTES = 12
# What no call can change.
_FIXED = (bool, int, float, complex, str, bytes, type, range, types.FunctionType)

Json = dict[str, Any]


class Hangs(BaseException):
    """The call took longer than it may. No Exception: what is under test must not catch it."""


def main() -> None:
    """Make all calls of the task, each in a namespace of its own."""
    task = _hermutic_start.read_task()["search"]
    _limit_memory()
    seconds, hung = task.get("seconds", 0.5), 0
    for number, call in enumerate(task["calls"], task.get("first", 0)):
        if hung < _HUNG:
            found = outcome(call, seconds if hung < _PATIENT else seconds / 5)
        else:
            found = {"unusable": "too many of the calls before it took too long"}
        hung += "hangs" in found
        _hermutic_start.write_data({"call": number, **found})


def _limit_memory() -> None:
    """A call that asks for too much gets a MemoryError, and not the whole machine."""
    try:
        with open("/proc/self/statm") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return  # no Linux: the run's own limit holds
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = size + _MEMORY
    if soft == resource.RLIM_INFINITY or wanted < soft:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def outcome(call: Json, seconds: float = 0.5) -> Json:
    """What the call does: returned or raised, yielded, printed, and what it changed."""
    printed = io.StringIO()
    found: Json = {}
    with contextlib.redirect_stdout(printed):
        try:
            with _limit(seconds):
                found = _attempt(call)
        except Hangs:
            found = {"hangs": True}
    if printed.getvalue():
        found["printed"] = printed.getvalue()[:_SHOWN]
    return found


@contextlib.contextmanager
def _limit(seconds: float) -> Iterator[None]:
    def ring(_number: int, _frame: types.FrameType | None) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)  # again, where the first is swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _attempt(call: Json) -> Json:
    space: Json = {"__name__": __name__}
    if call.get("async"):
        return asyncio.run(_attempt_async(call, space))
    with contextlib.ExitStack() as stack:
        try:
            receiver, arguments, names = _prepare(call, space)
            if call.get("enter") == "with":
                receiver = stack.enter_context(receiver)
            space["receiver"] = receiver
            for line in call.get("before", ()):
                exec(line, space)
            function = eval(call["target"], space)
        except (Exception, SystemExit) as error:
            return {"unusable": repr(error)[:_SHOWN]}
        found = _call(call, space, function, arguments, names)
        return {**found, **_after(arguments, names, receiver)}


async def _attempt_async(call: Json, space: Json) -> Json:
    async with contextlib.AsyncExitStack() as stack:
        try:
            receiver, arguments, names = _prepare(call, space)
            if call.get("enter") == "async with":
                receiver = await stack.enter_async_context(receiver)
            elif call.get("enter") == "with":
                receiver = stack.enter_context(receiver)
            space["receiver"] = receiver
            for line in call.get("before", ()):
                if line.startswith("await "):
                    await eval(line.removeprefix("await "), space)
                else:
                    exec(line, space)
            function = eval(call["target"], space)
        except (Exception, SystemExit) as error:
            return {"unusable": repr(error)[:_SHOWN]}
        found = await _call_async(function, arguments, names)
        return {**found, **_after(arguments, names, receiver)}


async def _call_async(function: Any, arguments: list[Any], names: Json) -> Json:
    awaited = False
    try:
        result = function(*arguments, **names)
        if inspect.isasyncgen(result):
            yielded: list[Json] = []
            async for value in result:
                yielded.append(_value(value))
                if len(yielded) == _YIELDED:
                    break
            ended = len(yielded) < _YIELDED
            return {"yielded": yielded, "ended": ended, "asynchronous": True}
        awaited = inspect.isawaitable(result)
        if awaited:
            result = await result
    except (Exception, SystemExit) as error:
        return {"raised": _raised(error), "awaited": awaited}
    return {"returned": _value(result), "awaited": awaited}


def _prepare(call: Json, space: Json) -> tuple[Any, list[Any], Json]:
    for line in call["imports"]:
        exec(line, space)
    receiver = eval(call["receiver"], space) if call.get("receiver") else None
    positional = [eval(text, space) for name, text in call["arguments"] if not name]
    named = {name: eval(text, space) for name, text in call["arguments"] if name}
    return receiver, positional, named


def _call(call: Json, space: Json, function: Any, arguments: list[Any], names: Json) -> Json:
    how: Json = {}
    try:
        if call.get("property"):
            result = function
        elif call.get("globals"):
            result = _call_elsewhere(call, function, arguments, names)
        else:
            result = function(*arguments, **names)
        for more in call.get("then", ()):
            result = result(
                *(eval(text, space) for name, text in more if not name),
                **{name: eval(text, space) for name, text in more if name},
            )
        if inspect.iscoroutine(result):
            how["awaited"] = True
            result = asyncio.run(_awaited(result))
        if _is_iterator(result):
            how["lazily"] = True
            taken = list(itertools.islice(result, _YIELDED))
            return {"yielded": [_value(value) for value in taken], "ended": len(taken) < _YIELDED}
    except (Exception, SystemExit) as error:
        return {"raised": _raised(error), **how}
    return {"returned": _value(result), **how}


def _call_elsewhere(call: Json, function: Any, arguments: list[Any], names: Json) -> Any:
    """From code of another module: for functions that look at who calls them."""
    space = {**call["globals"], "function": function, "arguments": arguments, "names": names}
    return eval("function(*arguments, **names)", space)


async def _awaited(result: Any) -> Any:
    return await result


def _is_iterator(value: Any) -> bool:
    return isinstance(value, types.GeneratorType) or (
        hasattr(type(value), "__next__") and hasattr(type(value), "__iter__")
    )


def _value(value: object) -> Json:
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
        found["str({})"] = repr(str(value)[:_SHOWN])
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


def _raised(error: BaseException) -> Json:
    kind = type(error)
    naming = Literals()
    return {
        "type": f"{kind.__module__}.{kind.__qualname__}",
        "name": naming.name(kind),
        "imports": sorted(naming.imports),
        "message": str(error)[:_SHOWN],
    }


def _after(arguments: list[Any], names: Json, receiver: Any) -> Json:
    """How arguments and receiver stand after the call: {"changed": {argument: {expression: text}},
    "state": {expression: text}}; nothing of what no call can change."""
    values: dict[str, Any] = {str(number): value for number, value in enumerate(arguments)}
    values.update(names)
    changed = {name: seen for name, value in values.items() if (seen := _seen(value))}
    state = {} if receiver is None else _seen(receiver)
    found: Json = {"changed": changed} if changed else {}
    return {**found, "state": state} if state else found


def _seen(value: Any) -> Json:
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
