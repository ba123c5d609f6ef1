"""Turns an observed call into others like it: an argument or two, or the receiver, changed."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gate.authors import pools
from gate.authors.calls import Argument, Call
from gate.authors.facts import EITHER, KEYWORD, STAR, Parameter
from gate.authors.literals import around, ends_changed, kind_of, length_of, same_sort, sized
from gate.authors.subject import Subject
from gate.authors.variations import variations

_PER_ARGUMENT = 140  # variations of one argument: more add little but time
_TOP = 9  # values of each argument that are combined with those of another
_VARIATIONS = 90
_COMBINED = 2  # the first observed calls have two arguments changed at once
_STRANGE = 2.0  # a value of another type than what was seen or is promised


def varied(found: Subject, base: Call, rank: int) -> Iterator[Call]:
    """One argument or the receiver changed, then two arguments at once."""
    base = replace(base, cost=base.cost + rank * 0.15)
    pooled = [_values(found, base, number) for number in range(len(base.arguments))]
    for number, values in enumerate(pooled):
        for value in values:
            yield _with(base, {number: value})
    yield from _lengthened(found, base)
    if rank < _COMBINED:
        yield from _pairs(base, pooled)
    yield from _receivers_varied(found, base)


def _pairs(base: Call, pooled: Sequence[Sequence[Argument]]) -> Iterator[Call]:
    """Two arguments made equal, then both changed at once."""
    for one, other in itertools.combinations(range(len(base.arguments)), 2):
        first, second = base.arguments[one], base.arguments[other]
        if same_sort(first.text, second.text):
            for value in pooled[one]:
                yield _with(base, {one: value, other: _as(second, value, 0.2)})
            yield _with(base, {other: _as(second, first, 0.6)})
            yield _with(base, {one: _as(first, second, 0.5)})
        for pair in itertools.product(pooled[one][:_TOP], pooled[other][:_TOP]):
            yield _with(base, {one: pair[0], other: pair[1]})


def _as(argument: Argument, source: Argument, cost: float) -> Argument:
    """The argument with the value of another one."""
    return replace(
        argument, text=source.text, imports=source.imports, cost=cost, strange=source.strange
    )


def _with(call: Call, changes: dict[int, Argument]) -> Call:
    arguments = list(call.arguments)
    for number, argument in changes.items():
        arguments[number] = argument
    return replace(call, arguments=tuple(arguments))


def _values(found: Subject, base: Call, number: int) -> list[Argument]:
    """Other values for one argument of an observed call, in the order of their cost."""
    argument = base.arguments[number]
    parameter = _parameter(found.function.parameters, argument, number)
    likely = parameter is None or parameter.name in found.involved
    near = found.near if likely else ()
    penalty = 0.0 if likely else 0.5
    lengths = [
        length
        for place, item in enumerate(base.arguments)
        if place != number
        for length in length_of(item.text)
    ]
    texts: list[tuple[str, float]] = []
    for place, text in enumerate([*near, *lengths]):
        if same_sort(text, argument.text):
            texts += [(changed, 1 + place / 20) for changed in around(text)]
    texts += [(text, 1.2) for text in sized(argument.text, near)]
    constants = [*near, *found.constants[:_TOP]]
    changes = itertools.islice(variations(argument.text, constants), _VARIATIONS)
    texts += [(text, 1.5 + place / 20) for place, text in enumerate(changes)]
    texts += [(text, 4.5) for text in ends_changed(argument.text)]
    made = [
        _judged(replace(argument, text=t, cost=c + penalty), base.arguments[number], parameter)
        for t, c in texts
    ]
    if parameter is not None and parameter.kind != STAR:
        for value in (*pools.pool(parameter, near), *found.extra(parameter)):
            named = replace(value, name=argument.name, cost=value.cost + 1.5)
            made.append(_judged(named, argument, parameter))
    number_like = kind_of(argument.text) in (int, float)  # True would be 1 and False 0
    made = [item for item in made if not (number_like and kind_of(item.text) is bool)]
    return sorted(_distinct(made), key=lambda item: item.cost)[:_PER_ARGUMENT]


def _judged(value: Argument, seen: Argument, parameter: Parameter | None) -> Argument:
    """The value, marked where neither what was seen nor an annotation speaks for its type."""
    fits = same_sort(value.text, seen.text) or _is_promised(value.text, parameter)
    if fits and not value.strange:
        return value
    return replace(value, cost=value.cost + _STRANGE, strange=True)


def _is_promised(text: str, parameter: Parameter | None) -> bool:
    """Whether an annotation or a default allows a literal of that text."""
    if parameter is None:
        return False
    if parameter.default is not None and ast.unparse(parameter.default) == text:
        return True
    kind = kind_of(text)
    promised = pools.types(parameter.annotation)
    return kind is not None and ("None" if text == "None" else kind.__name__) in promised


def _parameter(
    parameters: Sequence[Parameter], argument: Argument, number: int
) -> Parameter | None:
    for place, parameter in enumerate(parameters):
        if argument.name == parameter.name or (not argument.name and place == number):
            return parameter
    return parameters[-1] if parameters and parameters[-1].kind == STAR else None


def _lengthened(found: Subject, base: Call) -> Iterator[Call]:
    """An argument left to its default, or given where it was left out."""
    parameters = found.function.parameters if _is_own(found, base) else ()
    if base.arguments:
        yield replace(base, arguments=base.arguments[:-1], cost=base.cost + 1.5)
    positional = sum(not argument.name for argument in base.arguments)
    given = {argument.name for argument in base.arguments}
    for place, parameter in enumerate(parameters):
        if parameter.kind == STAR:
            extra = base.arguments[-1:] or (Argument("1", cost=1.0),)
            yield replace(base, arguments=(*base.arguments, *extra), cost=base.cost + 1.5)
        if place < positional or parameter.name in given:
            continue
        if parameter.kind not in (EITHER, KEYWORD):
            continue
        for value in pools.pool(parameter, found.constants)[: _TOP + 6]:
            named = replace(value, name=parameter.name, cost=value.cost + 0.4)
            yield replace(base, arguments=(*base.arguments, named))


def _is_own(found: Subject, call: Call) -> bool:
    return call.target.rpartition(".")[2] in (found.function.name, "receiver")


def _receivers_varied(found: Subject, base: Call) -> Iterator[Call]:
    if base.receiver is None or "(" not in base.receiver.text:
        return
    lengths = [length for item in base.arguments for length in length_of(item.text)]
    near = [*lengths, *found.near, *found.constants[:3]]
    changed = itertools.islice(variations(base.receiver.text, near), 60)
    for place, text in enumerate(changed):
        receiver = replace(base.receiver, text=text, cost=1.6 + place / 20)
        yield replace(base, receiver=receiver)
        for constant in near[:2]:
            for number in range(len(base.arguments)):
                value = Argument(constant, base.arguments[number].name, (), 1.0)
                yield _with(replace(base, receiver=receiver), {number: value})


def _distinct(arguments: Iterable[Argument]) -> list[Argument]:
    """Of each text the cheapest."""
    found: dict[str, Argument] = {}
    for argument in sorted(arguments, key=lambda item: item.cost):
        found.setdefault(argument.text, argument)
    return list(found.values())
