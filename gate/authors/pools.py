"""Turns a parameter's annotation, default and name into values worth trying, as source text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gate.authors.calls import Argument
from gate.authors.facts import Parameter

_INTEGERS = ("1", "0", "2", "-1", "10", "100")
_STRINGS = ("'a'", "''", "'abc'", "'A b'", "'1'")
_LAMBDAS = ("lambda *args: True", "lambda *args: False", "lambda *args: args[0]")
_ANYTHING = ("None", "1", "0", "'a'", "''", "[]", "[1, 2]", "{}", "True", "1.5")

# What a type's name promises; what stands behind the first "|" needs that import.
_BY_TYPE: dict[str, tuple[str, ...]] = {
    "int": _INTEGERS,
    "float": ("1.0", "0.0", "0.5", "-1.0", "100.0"),
    "complex": ("1j", "0j"),
    "bool": ("True", "False"),
    "str": _STRINGS,
    "bytes": ("b'a'", "b''", "b'abc'"),
    "bytearray": ("bytearray(b'a')",),
    "None": ("None",),
    "list": ("[1, 2]", "[]", "[1]", "['a', 'b']"),
    "tuple": ("(1, 2)", "()", "(1,)"),
    "set": ("{1, 2}", "set()"),
    "frozenset": ("frozenset({1})", "frozenset()"),
    "dict": ("{'a': 1}", "{}", "{'a': 1, 'b': 2}"),
    "range": ("range(3)",),
    "Callable": _LAMBDAS,
    "Any": _ANYTHING,
    "object": _ANYTHING,
    "Decimal": ("Decimal('1.5')|from decimal import Decimal",),
    "Fraction": ("Fraction(1, 2)|from fractions import Fraction",),
    "Path": ("Path('a')|from pathlib import Path",),
    "UUID": ("UUID(int=1)|from uuid import UUID",),
    "date": ("date(2024, 2, 29)|from datetime import date",),
    "datetime": ("datetime(2024, 2, 29, 12, 30)|from datetime import datetime",),
    "timedelta": ("timedelta(seconds=1)|from datetime import timedelta",),
}
_ALIASES = {
    **dict.fromkeys(("List", "Sequence", "Iterable", "Collection", "MutableSequence"), "list"),
    **dict.fromkeys(("Iterator", "Generator"), "list"),
    **dict.fromkeys(("Dict", "Mapping", "MutableMapping"), "dict"),
    **dict.fromkeys(("Set", "AbstractSet", "MutableSet"), "set"),
    **{"Tuple": "tuple", "FrozenSet": "frozenset", "Text": "str", "Hashable": "str"},
    **{"Number": "int", "Real": "float", "SupportsInt": "int", "PathLike": "str"},
}
_BY_NAME: tuple[tuple[str, str], ...] = (
    (
        "n count size length index limit number num width height amount total depth level max min "
        "start stop step end year month day maxsize",
        "int",
    ),
    (
        "name text string s key path url line word prefix suffix char title message value_str sep "
        "pattern encoding filename label",
        "str",
    ),
    ("items values iterable seq xs sequence elements lst list rows args numbers data", "list"),
    ("func fn function callback f predicate pred factory handler action", "Callable"),
    ("d mapping dict dictionary kwargs config options mapping_dict", "dict"),
    ("flag verbose strict reverse enabled legacy", "bool"),
)


def pool(parameter: Parameter, constants: Sequence[str] = ()) -> list[Argument]:
    """Values for the parameter, likely ones first; ``constants`` are literals of the code."""
    kinds = types(parameter.annotation)
    found: list[Argument] = []
    if parameter.default is not None:
        kinds = kinds or _types_of_default(parameter.default)
    sure = bool(kinds)
    kinds = kinds or _types_of_name(parameter.name)
    found += [Argument(text, cost=1.0) for text in constants if _fits(text, kinds)]
    for kind in kinds or ["Any"]:
        for number, entry in enumerate(_BY_TYPE.get(kind, ())):
            text, _, line = entry.partition("|")
            found.append(Argument(text, "", (line,) if line else (), 1.5 + number / 4))
    unlikely = 2.5 if kinds else 1.5
    found += [
        Argument(text, cost=unlikely + number / 4, strange=sure and not _fits(text, kinds))
        for number, text in enumerate(_ANYTHING)
        if not (text == "True" and {"int", "float"} & {*kinds} and "bool" not in kinds)
    ]
    return _distinct(sorted(found, key=lambda argument: argument.cost))


def types(annotation: ast.expr | None) -> list[str]:
    """The names in ``_BY_TYPE`` that an annotation allows; [] where it says nothing known."""
    if annotation is None:
        return []
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return types(ast.parse(annotation.value, mode="eval").body)
        except SyntaxError:
            return []
    if isinstance(annotation, ast.Constant):
        return [str(annotation.value)] if annotation.value is None else []
    if isinstance(annotation, ast.BinOp):
        return list(dict.fromkeys(types(annotation.left) + types(annotation.right)))
    if isinstance(annotation, ast.Subscript):
        return subscripted(annotation)
    name = ast.unparse(annotation).rpartition(".")[2]
    name = _ALIASES.get(name, name)
    return [name] if name in _BY_TYPE else []


def subscripted(annotation: ast.Subscript) -> list[str]:
    """Of ``Optional[int]``, ``list[str]`` and the like, the names that ``types`` gives."""
    name = ast.unparse(annotation.value).rpartition(".")[2]
    inner = annotation.slice
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name == "Optional":
        return list(dict.fromkeys([*types(inner), "None"]))
    if name in ("Union", "Annotated", "Final", "Required"):
        chosen = parts if name == "Union" else parts[:1]
        return list(dict.fromkeys(kind for part in chosen for kind in types(part)))
    return types(annotation.value)


def _types_of_default(default: ast.expr) -> list[str]:
    try:
        value = ast.literal_eval(default)
    except (ValueError, TypeError, SyntaxError):
        return []
    return [] if value is None else [type(value).__name__]


def _types_of_name(name: str) -> list[str]:
    last = name.rpartition("_")[2] or name
    for names, kind in _BY_NAME:
        if name in names.split() or last in names.split():
            return [kind]
    return ["bool"] if name.startswith(("is_", "has_", "use_", "allow_")) else []


def _fits(text: str, kinds: Sequence[str]) -> bool:
    kind = type(ast.literal_eval(text)).__name__
    return not kinds or kind in kinds or (kind == "int" and "float" in kinds) or "Any" in kinds


def _distinct(arguments: Sequence[Argument]) -> list[Argument]:
    found: dict[str, Argument] = {}
    for argument in arguments:
        found.setdefault(argument.text, argument)
    return list(found.values())
