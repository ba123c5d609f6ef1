"""Turns code objects into what running them can show, whatever else the compiler left in them."""

from __future__ import annotations

import dis
import marshal
import sys
from collections.abc import Iterable
from types import CodeType
from typing import Any

Shape = tuple[object, ...]

_HAS_DOCSTRING = 0x4000000  # of a function's flags, from Python 3.13 on


def shape(code: CodeType) -> Shape:
    """Everything in a code object that running it can show, so no line numbers."""
    return (
        code.co_code,
        tuple(_constant(value) for value in _shown(code)),
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_flags,
        code.co_name,
        code.co_exceptiontable,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
    )


def _shown(code: CodeType) -> Iterable[Any]:
    """The constants; from Python 3.14 on, those of dead code are among them and are left out."""
    return code.co_consts if sys.version_info < (3, 14) else _used(code)


def _used(code: CodeType) -> Iterable[Any]:
    """The constants that some instruction uses, and the docstring."""
    found = {0} if code.co_flags & _HAS_DOCSTRING else set()
    extended = 0
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        whole = extended | argument
        if operation in dis.hasconst:
            found.add(whole)
        extended = whole << 8 if operation == dis.EXTENDED_ARG else 0
    return [value for number, value in enumerate(code.co_consts) if number in found]


def _constant(value: Any) -> object:
    """A constant, told from its equals: 1, 1.0, True; 0.0, -0.0. (Format 2 has no references.)"""
    if isinstance(value, CodeType):
        return shape(value)
    if isinstance(value, slice):  # a constant from Python 3.14 on, which format 2 does not know
        return slice, *(_constant(part) for part in (value.start, value.stop, value.step))
    if isinstance(value, tuple):
        return tuple, *(_constant(part) for part in value)
    return marshal.dumps(value, 2)


def places(code: CodeType) -> set[tuple[int, int]]:
    """The line and the column, in bytes of UTF-8, where what each instruction is for begins."""
    found = {
        (line, column) for line, _, column, _ in code.co_positions() if line and column is not None
    }
    return found.union(*map(places, inner(code)))


def in_doubt(one: CodeType, other: CodeType) -> bool:
    """Whether two codes may only differ in names and constants that none of their instructions
    uses, and so in the numbers that those in use have."""
    if len(one.co_code) != len(other.co_code):
        return False
    if _tables(one) == _tables(other):
        if one.co_code != other.co_code:
            return False
    elif _numbered(one) != _numbered(other):
        return False
    defined, others = inner(one), inner(other)
    return len(defined) == len(others) and all(map(in_doubt, defined, others))


def _tables(code: CodeType) -> tuple[object, ...]:
    plain = [value for value in code.co_consts if not isinstance(value, CodeType)]
    return code.co_names, code.co_varnames, plain


def _numbered(code: CodeType) -> list[object]:
    """The constants in use, in an order that does not hang on the others."""
    plain = (value for value in _used(code) if not isinstance(value, CodeType))
    return sorted(map(_constant, plain), key=repr)


def inner(code: CodeType) -> list[CodeType]:
    """What is defined in the code, but for its dead parts: that leaves a constant at most."""
    if not any(isinstance(value, CodeType) for value in code.co_consts):
        return []
    return [value for value in _used(code) if isinstance(value, CodeType)]
