"""Turns a mutant's function and what was seen of it into calls worth making, likely ones first."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gate.authors import facts, pools
from gate.authors.calls import Argument, Call, Receiver, clashes
from gate.authors.facts import EITHER, KEYWORD, POSITIONAL, STAR, Function, Parameter
from gate.authors.seen import Seen, method
from gate.authors.variations import variations
from gate.draft import Survivor

# Observed calls that are varied, and variations of each argument: more add little but time.
_VARIED = 8
_PER_ARGUMENT = 40
_TOP = 9  # values of each parameter that are combined with those of the others
_RECEIVERS = 6
_PRIVATE = 1.0  # a public way in is preferred where both show the difference
_UNWRAPPED = 8.0  # without its decorators: the last resort
_STRANGE = 2.0  # a value of another type than what was seen or is promised
_LONGEST_SIZED = 200  # characters or elements made up to reach a length that the code speaks of

Arguments = tuple[Argument, ...]


def _nothing(parameter: Parameter) -> list[Argument]:
    """More values for a parameter: none."""
    del parameter
    return []


@dataclass(frozen=True, slots=True)
class Subject:
    """The function to call, the module that it is in, and literals of the code: ``near`` the
    mutant, of the function (``own``), and ``constants``, which are both of them and the module's.

    ``involved`` are the parameters that the mutant has to do with, ``raised`` the exceptions that
    the module raises on purpose. ``extra`` gives more values for a parameter.
    """

    function: Function
    tree: ast.Module
    module: str
    near: tuple[str, ...]
    constants: tuple[str, ...]
    involved: frozenset[str]
    raised: frozenset[str]
    own: tuple[str, ...]
    extra: Callable[[Parameter], list[Argument]] = _nothing


def subject(survivor: Survivor) -> Subject | None:
    """What there is to call; None where the mutant is in no function."""
    tree = ast.parse(survivor.source)
    mutant = survivor.mutant
    qualname = mutant.qualname
    function = facts.find(tree, qualname)
    if function is None and "<locals>" in qualname:  # a method of a class inside of a function
        function = facts.find(tree, qualname.partition(".<locals>")[0])
    if function is None:
        return None
    changed = _expression(mutant.after)
    places = [*facts.near(function, mutant), *([changed] if changed else [])]
    near = facts.constants([*places, *facts.guards(function, mutant)])
    own = facts.constants([function.node])
    everywhere = facts.constants([tree])[:_PER_ARGUMENT]
    return Subject(
        function,
        tree,
        survivor.module,
        tuple(near),
        tuple(dict.fromkeys((*near, *own, *everywhere))),
        frozenset(facts.involved(function, mutant)),
        frozenset(facts.raised(tree)),
        tuple(own),
    )


def candidates(found: Subject, seen: Seen, most: int = 600) -> list[Call]:
    """At most ``most`` calls that may show the mutant, in the order to try them."""
    made: dict[tuple[object, ...], Call] = {}
    for call in itertools.chain(*_sources(found, seen)):
        if clashes(call.all_imports):
            continue
        known = made.setdefault(_identity(call), call)
        if call.total < known.total:
            made[_identity(call)] = call
    return sorted(made.values(), key=lambda call: (call.total, call.size))[:most]


def _identity(call: Call) -> tuple[object, ...]:
    receiver = call.receiver
    return (
        call.target,
        tuple(map(str, call.arguments)),
        tuple(tuple(map(str, more)) for more in call.then),
        (receiver.text, receiver.enter, receiver.before) if receiver else None,
        call.globals,
    )


def _sources(found: Subject, seen: Seen) -> Iterator[Iterable[Call]]:
    nested = "<locals>" in found.function.qualname
    own = [replace(call, cost=call.cost + _private(call)) for call in seen.own]
    entries = [replace(call, cost=call.cost + _private(call)) for call in seen.entries]
    if nested:
        yield from _chains(found, seen)
        bases = entries
    else:
        bases = [*own, *entries]
    yield from (_varied(found, call, rank) for rank, call in enumerate(own[:_VARIED]))
    yield from (_varied(found, call, rank) for rank, call in enumerate(entries[:_VARIED]))
    yield bases
    if not nested:
        yield _made_up(found, seen)
        yield _other_receivers(found, own)
    yield _from_elsewhere(found, [*bases, *_made_up(found, seen)])
    yield _unwrapped(found, own)


def _private(call: Call) -> float:
    """What a private name on the way costs."""
    return _PRIVATE if call.is_private else 0.0


def _varied(found: Subject, base: Call, rank: int) -> Iterator[Call]:
    """One argument or the receiver changed, then two arguments at once."""
    base = replace(base, cost=base.cost + rank * 0.15)
    pooled = [_values(found, base, number) for number in range(len(base.arguments))]
    for number, values in enumerate(pooled):
        for value in values:
            yield _with(base, {number: value})
    yield from _lengthened(found, base)
    for one, other in itertools.combinations(range(len(base.arguments)), 2):
        if rank > 1:
            break
        for value in pooled[one]:
            same = replace(value, name=base.arguments[other].name)
            yield _with(base, {one: value, other: replace(same, cost=0.2)})
        yield _with(base, {other: _as(base.arguments[other], base.arguments[one], 0.6)})
        yield _with(base, {one: _as(base.arguments[one], base.arguments[other], 0.5)})
        for pair in itertools.product(pooled[one][:_TOP], pooled[other][:_TOP]):
            yield _with(base, {one: pair[0], other: pair[1]})
    yield from _receivers_varied(found, base)


def _as(argument: Argument, source: Argument, cost: float) -> Argument:
    return replace(argument, text=source.text, imports=source.imports, cost=cost)


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
    values: list[tuple[str, float, tuple[str, ...]]] = []
    for place, text in enumerate(near):
        if _same_sort(text, argument.text):
            values += [(near_text, 1 + place / 20, ()) for near_text in _around(text)]
    values += [(text, 1.2, ()) for text in _sized(argument.text, near)]
    constants = [*near, *found.constants[:_TOP]]
    for place, text in enumerate(itertools.islice(variations(argument.text, constants), 90)):
        values.append((text, 1.5 + place / 20, argument.imports))
    values += [(text, 4.5, ()) for text in _ends_changed(argument.text)]
    fits = _annotated(parameter)
    made = []
    for text, cost, lines in values:
        strange = not _same_sort(text, argument.text) and not fits(text)
        cost += penalty + _STRANGE * strange
        made.append(Argument(text, argument.name, lines, cost, strange))
    if parameter is not None and parameter.kind != STAR:
        for value in (*pools.pool(parameter, near), *found.extra(parameter)):
            strange = value.strange or not (
                parameter.annotation or _same_sort(value.text, argument.text)
            )
            cost = value.cost + 1.5 + _STRANGE * strange
            made.append(replace(value, name=argument.name, cost=cost, strange=strange))
    return sorted(_distinct(made), key=lambda item: item.cost)[: _PER_ARGUMENT + 100]


def _annotated(parameter: Parameter | None) -> Callable[[str], bool]:
    """Whether an annotation or a default allows a literal of that text."""
    kinds = pools.types(parameter.annotation) if parameter is not None else []
    default = parameter.default if parameter is not None else None

    def fits(text: str) -> bool:
        kind = _kind(text)
        if default is not None and ast.unparse(default) == text:
            return True
        return kind is not None and ("None" if text == "None" else kind.__name__) in kinds

    return fits


def _parameter(
    parameters: Sequence[Parameter], argument: Argument, number: int
) -> Parameter | None:
    for place, parameter in enumerate(parameters):
        if argument.name == parameter.name or (not argument.name and place == number):
            return parameter
    return parameters[-1] if parameters and parameters[-1].kind == STAR else None


def _around(text: str) -> list[str]:
    """The constant; of a number also its neighbours, of a string its beginnings."""
    value = ast.literal_eval(text)
    if isinstance(value, int | float):
        return [text, repr(value - 1), repr(value + 1)]
    return [text, repr(value[:-1]), repr(value * 2)] if value else [text]


def _same_sort(one: str, other: str) -> bool:
    kinds = [_kind(text) for text in (one, other)]
    return kinds[0] == kinds[1] or set(kinds) <= {int, float}


def _kind(text: str) -> type | None:
    try:
        return type(ast.literal_eval(text))
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return None


def _sized(text: str, near: Sequence[str]) -> list[str]:
    """The value repeated or cut to the lengths that the code near the mutant speaks of."""
    value = _value(text)
    if not isinstance(value, str | bytes | list | tuple) or not value:
        return []
    found = []
    for constant in near:
        length = ast.literal_eval(constant)
        if isinstance(length, int) and 0 <= length <= _LONGEST_SIZED:
            for size in (length, length - 1, length + 1):
                if size >= 0:
                    whole = value * (size // len(value) + 1)
                    found += [repr(whole[:size]), repr(value[:1] * size)]
            if isinstance(value, str):
                found.append(repr("0" * length))
    return found


def _ends_changed(text: str) -> list[str]:
    """A string of digits with every first and last one: some pair keeps a check digit right."""
    value = _value(text)
    if not isinstance(value, str) or len(value) < 3 or not value.isdecimal():
        return []
    return [
        repr(first + value[1:-1] + last)
        for first, last in itertools.product("1234567890", repeat=2)
        if first != value[0]
    ]


def _value(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return None


def _lengthened(found: Subject, base: Call) -> Iterator[Call]:
    """An argument left to its default, or given where it was left out."""
    parameters = found.function.parameters if _is_own(found, base) else ()
    if base.arguments:
        last = base.arguments[-1]
        yield replace(base, arguments=base.arguments[:-1], cost=base.cost + 1.5)
        del last
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
    near = [*found.near, *found.constants[:3]]
    changed = itertools.islice(variations(base.receiver.text, near), 60)
    for place, text in enumerate(changed):
        receiver = replace(base.receiver, text=text, cost=1.6 + place / 20)
        yield replace(base, receiver=receiver)
        for constant in near[:2]:
            for number in range(len(base.arguments)):
                value = Argument(constant, base.arguments[number].name, (), 1.0)
                yield _with(replace(base, receiver=receiver), {number: value})


def _chains(found: Subject, seen: Seen) -> Iterator[Iterable[Call]]:
    """For a nested function: the outer one called, its result called, as deep as it is nested."""
    if not seen.levels or "." in found.function.outer:
        return
    first, *others = seen.levels
    base = Call(found.function.outer, imports=(_import(found, found.function.outer),))
    if found.function.asynchronous:
        base = replace(base, asynchronous=True)
    outer = facts.find(found.tree, found.function.outer)
    firsts = list(first[:4]) or ([_plain(found, outer.parameters)] if outer else [()])
    inner = [list(level[:4]) or [()] for level in others]
    made = [
        replace(base, arguments=arguments, then=then)
        for arguments in firsts
        for then in itertools.product(*inner)
    ]
    yield made
    yield (call for base in made[:4] for call in _chains_varied(found, base))


def _chains_varied(found: Subject, base: Call) -> Iterator[Call]:
    if not base.then:
        return
    *rest, last = base.then
    innermost = replace(base, arguments=last, then=())
    for call in itertools.islice(_varied(found, innermost, 1), 150):
        changed = (*rest, call.arguments)
        yield replace(base, then=changed, cost=call.cost)
    outermost = itertools.islice(_varied(found, replace(base, then=()), 1), 80)
    for call in outermost:
        yield replace(call, then=base.then)


def _made_up(found: Subject, seen: Seen) -> list[Call]:
    """Calls from the signature and the code's constants alone."""
    function = found.function
    unlikely = 1.5 if seen.own else 0.0
    calls = [
        replace(call, cost=call.cost + unlikely)
        for base in _bases(found)
        for call in _combined(found, base, function.parameters)
    ]
    return sorted(calls, key=lambda call: (call.total, call.size))[:400]


def _bases(found: Subject) -> list[Call]:
    """The function with no arguments yet: by its name, or on each receiver that can be made."""
    function = found.function
    target = function.qualname.replace(".<locals>.", ".")
    private = _PRIVATE if function.name.startswith("_") and function.name[:2] != "__" else 0.0
    line = _import(found, target.partition(".")[0])
    plain = Call(target, (), (line,), asynchronous=function.asynchronous, cost=private)
    if function.owner is None or function.binding in ("function", "classmethod"):
        return [plain]
    if function.name in ("__init__", "__new__"):
        return [replace(plain, target=target.rpartition(".")[0])]
    return [
        replace(
            plain,
            target=method(function.name),
            imports=(),
            receiver=receiver,
            is_property=function.binding == "property",
        )
        for receiver in _receivers(found, function.owner, target.rpartition(".")[0])
    ]


def _receivers(found: Subject, owner: ast.ClassDef, name: str) -> list[Receiver]:
    line = _import(found, name.partition(".")[0])
    parameters = facts.class_parameters(found.tree, owner) or ()
    base = Call(name, imports=(line,))
    instances = [
        Receiver(instance, (_import(found, instance),), cost=-0.5)
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
    plain = tuple(values[0] for values in pooled)
    yield replace(base, arguments=plain)
    for number, values in enumerate(pooled):
        yield from (_put(base, plain, {number: value}) for value in values)
    for one, other in itertools.combinations(range(len(pooled)), 2):
        for pair in itertools.product(pooled[one][:_TOP], pooled[other][:_TOP]):
            yield _put(base, plain, {one: pair[0], other: pair[1]})
        for value in pooled[one][:_TOP]:
            equal = _as(plain[other], value, value.cost)
            yield _put(base, plain, {one: value, other: equal})
    if len(pooled) == 3:
        for values3 in itertools.product(*(values[:5] for values in pooled)):
            yield replace(base, arguments=values3)
    yield from _optional(found, replace(base, arguments=plain), parameters)


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


def _put(base: Call, plain: Arguments, changes: dict[int, Argument]) -> Call:
    return _with(replace(base, arguments=plain), changes)


def _pool(found: Subject, parameter: Parameter) -> list[Argument]:
    constants = [t for text in found.near for t in _around(text)]
    constants += [t for text in found.constants[: _TOP * 2] for t in _around(text)]
    values = pools.pool(parameter, list(dict.fromkeys(constants)))
    near = set(found.near) if parameter.name in found.involved else set()
    better = [replace(v, cost=0.6) if v.text in near else v for v in values]
    name = parameter.name if parameter.kind == KEYWORD else ""
    ordered = sorted(better, key=lambda value: value.cost)
    return [replace(v, name=name) for v in [*ordered, *found.extra(parameter)]][:_PER_ARGUMENT]


def _plain(found: Subject, parameters: Sequence[Parameter]) -> Arguments:
    needed = [p for p in parameters if p.default is None and p.kind in (POSITIONAL, EITHER)]
    return tuple(_pool(found, parameter)[0] for parameter in needed)


def _other_receivers(found: Subject, own: Sequence[Call]) -> Iterator[Call]:
    """Observed arguments on receivers that were not observed."""
    if not own or own[0].receiver is None:
        return
    for base in _bases(found):
        for call in own[:3]:
            if base.receiver is not None:
                receiver = replace(base.receiver, cost=base.receiver.cost + 1.0)
                yield replace(call, receiver=receiver, cost=call.cost + base.cost)


def _from_elsewhere(found: Subject, bases: Sequence[Call]) -> Iterator[Call]:
    """Where the function looks at its caller: called from a module that cannot be imported."""
    if not found.function.looks_at_caller:
        return
    for base in bases[:_PER_ARGUMENT]:
        if base.receiver is None and not base.then:
            for value in ("absent", ""):
                yield replace(base, globals=(("__name__", value),), cost=base.cost + 2.0)


def _unwrapped(found: Subject, own: Sequence[Call]) -> Iterator[Call]:
    """What the decorators around the function hide."""
    function = found.function
    if function.owner is not None or not function.node.decorator_list:
        return
    for call in own[: _VARIED // 2]:
        bare = replace(call, target=f"{call.target}.__wrapped__", cost=call.cost + _UNWRAPPED)
        yield bare
        for varied in itertools.islice(_varied(found, bare, 0), _PER_ARGUMENT):
            yield varied


def _import(found: Subject, name: str) -> str:
    return f"from {found.module} import {name}"


def _distinct(arguments: Iterable[Argument]) -> list[Argument]:
    found: dict[str, Argument] = {}
    keep: Callable[[Argument], Argument] = lambda item: found.setdefault(item.text, item)  # noqa: E731
    for argument in sorted(arguments, key=lambda item: item.cost):
        keep(argument)
    return list(found.values())


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
