"""Turns a signature and the constants of the code into calls that nobody has been seen to make."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gate.authors import facts, pools
from gate.authors.calls import Argument, Call, Receiver
from gate.authors.facts import EITHER, KEYWORD, POSITIONAL, STAR, Parameter
from gate.authors.literals import around, same_sort
from gate.authors.seen import Seen, method
from gate.authors.subject import Subject

_MOST = 400
_PER_PARAMETER = 40
_TOP = 9  # values of each parameter that are combined with those of the others
_RECEIVERS = 6
_PRIVATE = 1.0  # a public way in is preferred where both show the difference

Arguments = tuple[Argument, ...]


def invented(found: Subject, seen: Seen) -> list[Call]:
    """Calls from the signature and the code's constants alone."""
    function = found.function
    unlikely = 1.5 if seen.own else 0.0
    calls = [
        replace(call, cost=call.cost + unlikely)
        for base in bases(found)
        for call in _combined(found, base, function.parameters)
    ]
    return sorted(calls, key=lambda call: (call.total, call.size))[:_MOST]


def bases(found: Subject) -> list[Call]:
    """The function with no arguments yet: by its name, or on each receiver that can be made."""
    function = found.function
    target = function.qualname.replace(".<locals>.", ".")
    private = _PRIVATE if function.name.startswith("_") and function.name[:2] != "__" else 0.0
    line = found.imported(target.partition(".")[0])
    bare = Call(target, (), (line,), asynchronous=function.asynchronous, cost=private)
    if function.owner is None or function.binding in ("function", "classmethod"):
        return [bare]
    if function.name in ("__init__", "__new__"):
        return [replace(bare, target=target.rpartition(".")[0])]
    return [
        replace(
            bare,
            target=method(function.name),
            imports=(),
            receiver=receiver,
            is_property=function.binding == "property",
        )
        for receiver in _receivers(found, function.owner, target.rpartition(".")[0])
    ]


def _receivers(found: Subject, owner: ast.ClassDef, name: str) -> list[Receiver]:
    line = found.imported(name.partition(".")[0])
    parameters = facts.class_parameters(found.tree, owner) or ()
    base = Call(name, imports=(line,))
    instances = [
        Receiver(instance, (found.imported(instance),), cost=-0.5)
        for instance in _instances(found.tree, owner.name)
    ]
    calls = sorted(_combined(found, base, parameters), key=lambda call: (call.total, call.size))
    made = [
        Receiver(
            f"{name}({', '.join(map(str, call.arguments))})",
            call.all_imports,
            cost=min(call.total, 3.0) / 2,
        )
        for call in calls[:_RECEIVERS]
    ]
    return [*instances, *made]


def _instances(tree: ast.Module, name: str) -> list[str]:
    """Public names that the module itself gives to an instance of the class."""
    return [
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
        if ast.unparse(node.value.func) == name
    ]


def _combined(found: Subject, base: Call, parameters: Sequence[Parameter]) -> Iterator[Call]:
    """Plain arguments, then each with other values, then any two, then all together."""
    needed = [p for p in parameters if p.default is None and p.kind in (POSITIONAL, EITHER)]
    needed += [p for p in parameters if p.default is None and p.kind == KEYWORD]
    pooled = [_pool(found, parameter) for parameter in needed]
    first = tuple(values[0] for values in pooled)
    yield replace(base, arguments=first)
    for number, values in enumerate(pooled):
        yield from (_put(base, first, {number: value}) for value in values)
    for one, other in itertools.combinations(range(len(pooled)), 2):
        for pair in itertools.product(pooled[one][:_TOP], pooled[other][:_TOP]):
            yield _put(base, first, {one: pair[0], other: pair[1]})
        if same_sort(first[one].text, first[other].text):
            for value in pooled[one][:_TOP]:
                equal = replace(first[other], text=value.text, imports=value.imports)
                equal = replace(equal, cost=value.cost, strange=value.strange)
                yield _put(base, first, {one: value, other: equal})
    if len(pooled) == 3:
        for values3 in itertools.product(*(values[:5] for values in pooled)):
            yield replace(base, arguments=values3)
    yield from _optional(found, replace(base, arguments=first), parameters)


def _optional(found: Subject, base: Call, parameters: Sequence[Parameter]) -> Iterator[Call]:
    for parameter in parameters:
        if parameter.kind == STAR:
            for count in (1, 2):
                values = pools.pool(replace(parameter, kind=EITHER), found.constants)[:_TOP]
                for value in values:
                    extra = (replace(value, name=""),) * count
                    yield replace(base, arguments=(*base.arguments, *extra))
        if parameter.default is None or parameter.kind not in (EITHER, KEYWORD, POSITIONAL):
            continue
        if parameter.kind == POSITIONAL:
            continue
        for value in _pool(found, parameter)[: _TOP + 3]:
            named = replace(value, name=parameter.name)
            yield replace(base, arguments=(*base.arguments, named))


def _put(base: Call, first: Arguments, changes: dict[int, Argument]) -> Call:
    return _with(replace(base, arguments=first), changes)


def _pool(found: Subject, parameter: Parameter) -> list[Argument]:
    constants = [t for text in found.near for t in around(text)]
    constants += [t for text in found.constants[: _TOP * 2] for t in around(text)]
    values = pools.pool(parameter, list(dict.fromkeys(constants)))
    near = set(found.near) if parameter.name in found.involved else set()
    better = [replace(v, cost=0.6) if v.text in near else v for v in values]
    name = parameter.name if parameter.kind == KEYWORD else ""
    ordered = sorted(better, key=lambda value: value.cost)
    return [replace(v, name=name) for v in [*ordered, *found.extra(parameter)]][:_PER_PARAMETER]


def plain(found: Subject, parameters: Sequence[Parameter]) -> Arguments:
    needed = [p for p in parameters if p.default is None and p.kind in (POSITIONAL, EITHER)]
    return tuple(_pool(found, parameter)[0] for parameter in needed)


def _with(call: Call, changes: dict[int, Argument]) -> Call:
    arguments = list(call.arguments)
    for number, argument in changes.items():
        arguments[number] = argument
    return replace(call, arguments=tuple(arguments))
