"""Turns what one call did on clean and on the mutant into the differences that a test can show."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

# What a person would rather see asserted comes first.
RETURNED, RAISED, SEEN, YIELDED, CHANGED, STATE, PRINTED, MESSAGE, HIDDEN, INCIDENTAL, ENDS = range(
    11
)
# Where nobody raises them on purpose they say only that the call was wrong.
_INCIDENTAL = frozenset({"TypeError", "AttributeError", "NameError", "UnboundLocalError"})

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """``rank`` is one of the constants above. ``where`` is the argument, ``look`` the expression
    (``{}`` stands for the value) whose text on clean is ``expected``."""

    rank: int
    where: str = ""
    look: str = "{}"
    expected: str = ""


def differences(clean: Json, mutant: Json, raised: Set[str] = frozenset()) -> list[Difference]:
    """All of them, best first; none where the call cannot be made on clean. ``raised`` are the
    exceptions that the code raises on purpose."""
    if "unusable" in clean or "hangs" in clean:
        return []
    found = [*_results(clean, mutant), *_effects(clean, mutant)]
    error = (clean.get("raised", {}).get("name") or "").rpartition(".")[2]
    if error in _INCIDENTAL and error not in raised:
        found = [replace(one, rank=INCIDENTAL) for one in found if one.rank == RAISED]
    return sorted(found, key=lambda difference: difference.rank)


def best(clean: Json, mutant: Json, raised: Set[str] = frozenset()) -> Difference | None:
    """The difference that a person would rather see asserted, or None if both did the same."""
    return next(iter(differences(clean, mutant, raised)), None)


def _results(clean: Json, mutant: Json) -> list[Difference]:
    ended = "hangs" not in mutant
    if "raised" in clean:
        return _raised(clean["raised"], mutant)
    if "yielded" in clean:
        return _yielded(clean, mutant)
    value = clean["returned"]
    rank = RAISED if ended else ENDS
    if "returned" not in mutant:
        return _shown(value, rank)
    return _returned(value, mutant["returned"])


def _raised(error: Json, mutant: Json) -> list[Difference]:
    if error["name"] is None:
        return []
    if "raised" not in mutant:
        return [Difference(RAISED if "hangs" not in mutant else ENDS)]
    other = mutant["raised"]
    if other["type"] != error["type"]:
        return [Difference(RAISED)]
    if error["message"] != other["message"] and " at 0x" not in error["message"]:
        return [Difference(MESSAGE, expected=repr(error["message"]))]
    return []


def _yielded(clean: Json, mutant: Json) -> list[Difference]:
    texts = [value.get("text") for value in clean["yielded"]]
    if None in texts:
        return []
    expected = f"[{', '.join(texts)}]"
    if "yielded" not in mutant:
        return [Difference(YIELDED, expected=expected)]
    others = [value.get("text") for value in mutant["yielded"]]
    alike = len(texts) == len(others) and all(
        same(one, other) for one, other in zip(texts, others, strict=True)
    )
    return [] if alike else [Difference(YIELDED, expected=expected)]


def _shown(value: Json, rank: int) -> list[Difference]:
    """That there is a result at all: its literal, else its class."""
    if "text" in value:
        return [Difference(rank, expected=value["text"])]
    if "class" in value:
        return [Difference(rank, look="isinstance", expected=value["class"]["text"])]
    return [Difference(rank, look=look, expected=text) for look, text in value["about"].items()][:1]


def _returned(value: Json, other: Json) -> list[Difference]:
    if "text" in value:
        if same(value["text"], other.get("text")):
            return []
        return [Difference(RETURNED, expected=value["text"])]
    if (value["module"], value["type"]) != (other["module"], other["type"]):
        return _shown(value, RETURNED)
    theirs = other.get("about", {})
    return [
        Difference(HIDDEN if "._" in look else SEEN, look=look, expected=text)
        for look, text in value["about"].items()
        if look in theirs and not same(text, theirs[look])
    ]


def _effects(clean: Json, mutant: Json) -> list[Difference]:
    found: list[Difference] = []
    for name, seen in clean.get("changed", {}).items():
        theirs = mutant.get("changed", {}).get(name, {})
        found += [
            Difference(HIDDEN if "._" in look else CHANGED, name, look, text)
            for look, text in seen.items()
            if look in theirs and not same(text, theirs[look])
        ]
    theirs = mutant.get("state", {})
    found += [
        Difference(HIDDEN if "._" in look else STATE, "", look, text)
        for look, text in clean.get("state", {}).items()
        if look in theirs and not same(text, theirs[look])
    ]
    if clean.get("printed", "") != mutant.get("printed", ""):
        found.append(Difference(PRINTED, expected=repr(clean.get("printed", ""))))
    return found


def same(one: str, other: str | None) -> bool:
    """Whether an assertion that has one literal would hold for the other too."""
    if one == other:
        return True
    if other is None:
        return False
    try:
        values = ast.literal_eval(one), ast.literal_eval(other)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    if any(value is None or isinstance(value, bool) for value in values[:1]):
        return values[0] is values[1]
    return bool(values[0] == values[1])
