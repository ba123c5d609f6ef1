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
import resource
import signal
import types
from collections.abc import Iterator
from typing import Any

import _hermutic_start
from _hermutic_shown import SHOWN, raised_by, seen_of, value_of

# Of what a call yields; an iterator without end is known by its first elements.
_YIELDED = 50
# Of calls that take too long: so many get their whole time, and after so many no more are made.
_PATIENT, _HUNG = 2, 15
_MEMORY = 200 << 20  # bytes that the calls may take beside what is there already

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
        found["printed"] = printed.getvalue()[:SHOWN]
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
            return {"unusable": repr(error)[:SHOWN]}
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
            return {"unusable": repr(error)[:SHOWN]}
        found = await _call_async(function, arguments, names)
        return {**found, **_after(arguments, names, receiver)}


async def _call_async(function: Any, arguments: list[Any], names: Json) -> Json:
    awaited = False
    try:
        result = function(*arguments, **names)
        if inspect.isasyncgen(result):
            yielded: list[Json] = []
            async for value in result:
                yielded.append(value_of(value))
                if len(yielded) == _YIELDED:
                    break
            ended = len(yielded) < _YIELDED
            return {"yielded": yielded, "ended": ended, "asynchronous": True}
        awaited = inspect.isawaitable(result)
        if awaited:
            result = await result
    except (Exception, SystemExit) as error:
        return {"raised": raised_by(error), "awaited": awaited}
    return {"returned": value_of(result), "awaited": awaited}


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
            return {"yielded": [value_of(value) for value in taken], "ended": len(taken) < _YIELDED}
    except (Exception, SystemExit) as error:
        return {"raised": raised_by(error), **how}
    return {"returned": value_of(result), **how}


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


def _after(arguments: list[Any], names: Json, receiver: Any) -> Json:
    """How arguments and receiver stand after the call: {"changed": {argument: {expression: text}},
    "state": {expression: text}}; nothing of what no call can change."""
    values: dict[str, Any] = {str(number): value for number, value in enumerate(arguments)}
    values.update(names)
    changed = {name: seen for name, value in values.items() if (seen := seen_of(value))}
    state = {} if receiver is None else seen_of(receiver)
    found: Json = {"changed": changed} if changed else {}
    return {**found, "state": state} if state else found
