"""Turns an object of a project's class into the texts that may build it again, the best first."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterator
from typing import Any

import _hermutic_names as names
from _hermutic_equal import same
from _hermutic_literal import Literals, NoLiteral, _made

Way = Callable[[Literals, Any, int], str]
_BASES = (dict, list, tuple, set, frozenset, str, bytes, int, float, complex)


def ways(value: Any, state: bool) -> Iterator[Way]:
    """Each may fail, and what each writes is to be tried: none is trusted."""
    kind = type(value)
    if id(value) in _made and _made[id(value)][0] is value:
        yield _as_made
    if hasattr(kind, "__dataclass_fields__"):
        yield _dataclass
    if hasattr(kind, "__attrs_attrs__"):
        yield _attrs
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        yield _namedtuple
    if isinstance(value, _BASES):
        yield _subclass
    if "__repr__" in {name for base in kind.__mro__[:-1] for name in vars(base)}:
        yield _as_shown
    if state and isinstance(value, BaseException):
        yield _exception
    if state and not _has_constructor(kind):
        yield _bare


def _has_constructor(kind: Any) -> bool:
    return kind.__init__ is not object.__init__ or kind.__new__ is not object.__new__


def _class(literals: Literals, value: object) -> str:
    found = names.home(type(value))
    if found is None:
        raise NoLiteral
    return literals.refer(*found)


def _call(literals: Literals, value: object, given: dict[str, Any], depth: int) -> str:
    parts = [f"{name}={literals.text(part, depth)}" for name, part in given.items()]
    return f"{_class(literals, value)}({', '.join(parts)})"


def _as_made(literals: Literals, value: Any, _depth: int) -> str:
    """As it was constructed when the tests ran."""
    _, args, kwargs, imports = _made[id(value)]
    name = _class(literals, value)
    literals.take(imports)
    return f"{name}({', '.join([*args, *(f'{key}={text}' for key, text in kwargs.items())])})"


def _dataclass(literals: Literals, value: Any, depth: int) -> str:
    from dataclasses import MISSING, fields

    def is_default(field: Any) -> bool:
        made = field.default
        if field.default_factory is not MISSING:
            made = field.default_factory()
        return made is not MISSING and same(made, getattr(value, field.name))

    wanted = [field.name for field in fields(value) if field.init and not is_default(field)]
    return _call(literals, value, {name: getattr(value, name) for name in wanted}, depth)


def _attrs(literals: Literals, value: Any, depth: int) -> str:
    wanted = [
        (getattr(field, "alias", None) or field.name.lstrip("_"), getattr(value, field.name))
        for field in type(value).__attrs_attrs__
        if field.init and not same(field.default, getattr(value, field.name))
    ]
    return _call(literals, value, dict(wanted), depth)


def _namedtuple(literals: Literals, value: Any, depth: int) -> str:
    return _call(literals, value, {name: getattr(value, name) for name in value._fields}, depth)


def _subclass(literals: Literals, value: Any, depth: int) -> str:
    """From a value of the builtin type that it extends."""
    base = next(base for base in _BASES if isinstance(value, base))
    plain = dict(dict.items(value)) if base is dict else base(value)
    return f"{_class(literals, value)}({literals.text(plain, depth) if plain else ''})"


def _exception(literals: Literals, value: Any, depth: int) -> str:
    parts = [literals.text(part, depth) for part in value.args]
    return f"{_class(literals, value)}({', '.join(parts)})"


def _bare(literals: Literals, value: Any, _depth: int) -> str:
    """Of a class that has no constructor of its own."""
    return f"{_class(literals, value)}()"


def _as_shown(literals: Literals, value: Any, depth: int) -> str:
    """Its own repr, where that is an expression: with imports, and quotes as people write them."""
    return _expression(literals, ast.parse(repr(value), mode="eval").body, type(value), depth)


def _expression(literals: Literals, node: ast.expr, kind: type, depth: int) -> str:
    def inner(part: ast.expr) -> str:
        return _expression(literals, part, kind, depth)

    def joined(parts: list[ast.expr]) -> str:
        return ", ".join(inner(part) for part in parts)

    match node:
        case ast.Constant(value=value):
            return literals.text(value, depth)
        case ast.Name(id=name):
            return _name(literals, name, kind)
        case ast.Attribute(value=whole, attr=name):
            return _attribute(literals, ast.unparse(node), kind) or f"{inner(whole)}.{name}"
        case ast.Call(func=called, args=args, keywords=keywords):
            named = [f"{keyword.arg}={inner(keyword.value)}" for keyword in keywords if keyword.arg]
            return f"{inner(called)}({', '.join([*map(inner, args), *named])})"
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as operand):
            return f"-{inner(operand)}"
        case ast.List(elts=parts):
            return f"[{joined(parts)}]"
        case ast.Tuple(elts=parts):
            return f"({joined(parts)}{',' if len(parts) == 1 else ''})"
        case ast.Set(elts=parts):
            return f"{{{', '.join(sorted(map(inner, parts)))}}}"
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return f"{{{', '.join(f'{inner(key)}: {inner(part)}' for key, part in pairs if key)}}}"
        case ast.Subscript(value=whole, slice=index):
            return f"{inner(whole)}[{inner(index).removeprefix('(').removesuffix(')')}]"
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return f"{inner(left)} | {inner(right)}"
    raise NoLiteral


def _name(literals: Literals, name: str, kind: type) -> str:
    """What a name in an object's repr stands for: its class, or what the class's module has."""
    if name == kind.__name__ and (found := names.home(kind)):
        return literals.refer(*found)
    value = getattr(sys.modules.get(kind.__module__), name, None)
    value = getattr(builtins, name, None) if value is None else value
    value = sys.modules.get(name) if value is None else value
    written = literals.name(value)
    if written is None:
        raise NoLiteral
    return written


def _attribute(literals: Literals, text: str, kind: type) -> str | None:
    """A dotted name in a repr that is the class's own: `Outer.Inner`, `module.Class`."""
    found = names.home(kind)
    own = (kind.__qualname__, f"{kind.__module__}.{kind.__qualname__}")
    return literals.refer(*found) if found and text in own else None
