"""Turns what was observed while the tests ran into calls that a test could make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gate.authors.calls import RECEIVER, Argument, Call, Receiver, clashes

# The smallest of what was observed; a test has little use for the rest.
MOST = 40
# What an argument costs that had no literal, and stands for itself as None or a lambda.
_STAND_IN = 0.5

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """Calls of the function itself, calls of public functions that led to it, and for a nested
    function the arguments at each level around it (outermost first, its own last)."""

    own: tuple[Call, ...] = ()
    entries: tuple[Call, ...] = ()
    levels: tuple[tuple[tuple[Argument, ...], ...], ...] = ()

    @property
    def count(self) -> int:
        return len({*self.own, *self.entries}) or sum(map(len, self.levels))


def read(data: Iterable[Any], qualname: str) -> Seen:
    """The observations in a run's data, smallest first."""
    observed = [item["observed"] for item in data if isinstance(item, dict) and "observed" in item]
    parts = qualname.split(".<locals>.")
    names = [".<locals>.".join(parts[: n + 1]) for n in range(len(parts))]
    own: list[Call] = []
    entries: list[Call] = []
    levels: dict[str, list[tuple[Argument, ...]]] = {name: [] for name in names}
    for item in observed:
        levels.setdefault(item["function"], []).append(_arguments(item["call"]))
        call = call_of(item["call"])
        if call is not None and item["function"] == qualname:
            own.append(call)
        elif call is not None:
            entries.append(call)
        entry = call_of(item["entry"]) if item["entry"] else None
        if entry is not None:
            entries.append(entry)
    nested = tuple(_smallest_arguments(levels[name]) for name in names) if len(names) > 1 else ()
    return Seen(_smallest(own), _smallest(entries), nested)


def call_of(call: Json) -> Call | None:
    """The observed call as a call to be made; None where nothing imports what is called."""
    qualname = str(call["qualname"])
    if "<locals>" in qualname:
        return None
    root = qualname.partition(".")[0]
    target, receiver = qualname, None
    imports: tuple[str, ...] = (f"from {call['module']} import {root}",)
    name = qualname.rpartition(".")[2]
    if name in ("__init__", "__new__"):
        target = qualname.rpartition(".")[0]
    elif call["binding"] in ("method", "property"):
        receiver = receiver_of(call["receiver"])
        if receiver is None:
            return None
        target = method(name)
        imports = ()
    asynchronous = bool(call["coroutine"]) or (
        receiver is not None
        and (receiver.enter == "async with" or any(b.startswith("await ") for b in receiver.before))
    )
    made = Call(
        target,
        _arguments(call),
        imports,
        receiver,
        asynchronous=asynchronous,
        is_property=call["binding"] == "property",
    )
    return None if clashes(made.all_imports) else made


def method(name: str) -> str:
    """What to call for a method of the receiver."""
    return RECEIVER if name == "__call__" else f"{RECEIVER}.{name}"


def receiver_of(found: Json | None) -> Receiver | None:
    """How a test gets the observed receiver, or None."""
    if found is None:
        return None
    before = tuple(line for item in found["before"] if (line := _line(item)) is not None)
    imports = {line for item in found["before"] for line in _needed(item)}
    if "made" in found:
        made = call_of(found["made"])
        if made is None or made.receiver is not None:
            return None
        text = f"{made.target}({', '.join(map(str, made.arguments))})"
        return Receiver(text, tuple(sorted({*made.all_imports, *imports})), found["enter"], before)
    written = found["written"]
    if "text" not in written:
        return None
    lines = tuple(sorted({*written["imports"], *imports}))
    return Receiver(written["text"], lines, found["enter"], before)


def _line(item: Json) -> str | None:
    arguments = [_argument(value) for value in item["arguments"] if "default" not in value]
    if any(argument.cost for argument in arguments):
        return None
    wait = "await " if item["await"] else ""
    return f"{wait}{RECEIVER}.{item['method']}({', '.join(map(str, arguments))})"


def _needed(item: Json) -> list[str]:
    if _line(item) is None:
        return []
    return [line for value in item["arguments"] for line in value.get("imports", ())]


def _arguments(call: Json) -> tuple[Argument, ...]:
    found: list[Argument] = []
    by_name = False
    for name, value in call["arguments"]:
        if "default" in value:
            by_name = True
            continue
        argument = _argument(value)
        found.append(replace(argument, name=name) if by_name else argument)
    if not by_name:
        found += [_argument(value) for value in call["starred"]]
    return (*found, *(replace(_argument(value), name=name) for name, value in call["named"]))


def _argument(value: Json) -> Argument:
    if "text" in value:
        return Argument(value["text"], imports=tuple(value["imports"]))
    if "parameters" in value:
        return Argument(_lambda(value["parameters"]), cost=_STAND_IN)
    return Argument("None", cost=_STAND_IN)


def _lambda(parameters: int) -> str:
    """A function of so many parameters that gives back the first."""
    names = [chr(ord("a") + number) for number in range(parameters)]
    return f"lambda {', '.join(names)}: a" if names else "lambda: None"


def _smallest(calls: Iterable[Call]) -> tuple[Call, ...]:
    distinct = dict.fromkeys(calls)
    return tuple(sorted(distinct, key=lambda call: (call.total, call.size, str(call)))[:MOST])


def _smallest_arguments(
    found: Iterable[tuple[Argument, ...]],
) -> tuple[tuple[Argument, ...], ...]:
    distinct = dict.fromkeys(found)
    return tuple(sorted(distinct, key=lambda item: (len(str(item)), str(item)))[:MOST])
