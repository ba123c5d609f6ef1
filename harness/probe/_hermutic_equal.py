"""Turns two values into whether they are the same: in type, in value and in all that they hold.

Equality alone is too kind: ``1 == True``, ``0.0 == -0.0``, and two caches of different sizes may be
equal while they are empty.
"""

from __future__ import annotations

import sys
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from typing import Any

_PLAIN = (int, bool, str, bytes, bytearray, type(None), range, type(...))
_ORDERED: tuple[Any, ...] = (list, tuple, deque)
_BASES: tuple[Any, ...] = (int, float, complex, str, bytes, bytearray)
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinMethodType)
_LIBRARY = sys.stdlib_module_names
_MISSING = object()

# True, False, or None where it cannot be told.
Answer = bool | None


def same(one: object, other: object, *, state: bool = False) -> bool:
    """Whether both are of one type, equal, and alike in their attributes and elements.

    With ``state`` an object that has no value equality is the same if all that it holds is. What
    cannot be told counts as the same only where ``==`` says so. An error in a comparison is a no.
    """
    try:
        return _same(one, other, state, set()) is True
    except Exception:
        return False


def has_value_equality(value: object) -> bool:
    """Whether ``==`` can hold for another object than itself."""
    return type(value).__eq__ is not object.__eq__


def _same(one: Any, other: Any, state: bool, seen: set[tuple[int, int]]) -> Answer:
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in _PLAIN:
        return bool(one == other)
    if kind in (float, complex, slice):  # not-a-number is itself, and zero has a sign
        return repr(one) == repr(other)
    if (id(one), id(other)) in seen:
        return True
    seen.add((id(one), id(other)))
    if kind in _ORDERED:
        return _pairwise(one, other, state, seen) and _options(one) == _options(other)
    if kind in (set, frozenset):
        return _same_set(one, other, state, seen)
    if kind in (dict, OrderedDict, defaultdict):
        return _same_dict(one, other, state, seen) and _options(one) == _options(other)
    if isinstance(one, (type, types.ModuleType)):
        return False
    if isinstance(one, _FUNCTIONS):
        return _same_function(one, other, state, seen)
    if not has_value_equality(one):
        return _same_inside(one, other, seen) if state else False
    if (one == other) is not True and (_is_itself(one) or repr(one) != repr(other)):
        return False
    return _same_inside(one, other, seen) is not False


def _is_itself(value: Any) -> bool:
    """Not so: Decimal("NaN")."""
    twin = value
    return bool(value == twin)


def _options(value: Any) -> tuple[Any, ...]:
    """What a deque and a defaultdict are besides their elements."""
    return getattr(value, "maxlen", None), getattr(value, "default_factory", None)


def _all(answers: Iterable[Answer]) -> Answer:
    """No if one says no, else unknown if one is unknown, else yes."""
    result: Answer = True
    for answer in answers:
        if answer is False:
            return False
        result = result and answer
    return result


def _pairwise(one: Any, other: Any, state: bool, seen: set[tuple[int, int]]) -> Answer:
    if len(one) != len(other):
        return False
    return _all(_same(a, b, state, seen) for a, b in zip(one, other, strict=True))


def _same_set(one: Any, other: Any, state: bool, seen: set[tuple[int, int]]) -> Answer:
    theirs = {element: element for element in other}
    if len(one) != len(theirs):
        return False
    return _all(_same(a, theirs.get(a, _MISSING), state, seen) for a in one)


def _same_dict(one: Any, other: Any, state: bool, seen: set[tuple[int, int]]) -> Answer:
    """In order as well: a dict is shown, listed and written in it."""
    return _pairwise(list(one.items()), list(other.items()), state, seen)


def _same_function(one: Any, other: Any, state: bool, seen: set[tuple[int, int]]) -> Answer:
    """A bound method is its function and receiver; a closure its code and what it closes over."""
    if not isinstance(one, types.FunctionType):
        same_receiver = _same(one.__self__, other.__self__, state, seen)
        return _all((_function(one) == _function(other), same_receiver))
    if not state or one.__code__ is not other.__code__:
        return False
    defaults = _same(one.__defaults__, other.__defaults__, state, seen)
    return _all((defaults, _pairwise(_cells(one), _cells(other), state, seen)))


def _function(method: Any) -> Any:
    return getattr(method, "__func__", method.__name__)


def _cells(function: Any) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or ()]


def _same_inside(one: Any, other: Any, seen: set[tuple[int, int]]) -> Answer:
    # A class of the library with an equality of its own shows its value; inside it keeps caches.
    if has_value_equality(one) and type(one).__module__.partition(".")[0] in _LIBRARY:
        return _same_text(one, other)
    mine, theirs = _contents(one), _contents(other)
    if not mine and not theirs:
        return _has_no_state(one) or _same_text(one, other)
    if mine.keys() != theirs.keys():
        return False
    return _all(_same(mine[name], theirs[name], True, seen) for name in mine)


def _contents(value: Any) -> dict[str, Any]:
    """Attributes, slots, and what an object is as a subclass of a builtin type or an exception."""
    found = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            name = f"_{kind.__name__.lstrip('_')}{slot}" if slot.startswith("__") else slot
            if slot not in ("__dict__", "__weakref__"):
                found[slot] = getattr(value, name, _MISSING)
    for many in (*_ORDERED, set, frozenset):
        if isinstance(value, many):
            found[" elements"] = many(many.__iter__(value))
    for base in _BASES:
        if isinstance(value, base) and type(value) is not base:
            found[" value"] = base(value)
    if isinstance(value, dict):
        found[" items"] = dict(dict.items(value))
    if isinstance(value, BaseException):
        found[" arguments"] = value.args
    return found


def _has_no_state(value: object) -> bool:
    """An object without attributes whose class is written in Python, so that nothing is hidden."""
    return type(value).__new__ is object.__new__ and hasattr(value, "__dict__")


def _same_text(one: object, other: object) -> Answer:
    """Of objects of the C level; a text with an address in it tells nothing but a lock's state."""
    mine, theirs = repr(one), repr(other)
    if " at 0x" not in mine:
        return mine == theirs
    if type(one).__module__ == "_thread":
        return mine.partition(" ")[0] == theirs.partition(" ")[0]
    return None
