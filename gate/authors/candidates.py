"""Turns a mutant's function and what was seen of it into calls worth making, likely ones first."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gate.authors import facts
from gate.authors.calls import Call, clashes
from gate.authors.invented import bases, invented, plain
from gate.authors.seen import Seen
from gate.authors.subject import Subject
from gate.authors.varied import varied

_VARIED = 8  # observed calls that are varied: more add little but time
_CHAINS = 4  # observed calls at each level around a nested function
_ELSEWHERE = 40
_PRIVATE = 1.0  # a public way in is preferred where both show the difference
_UNWRAPPED = 8.0  # without its decorators: the last resort


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
    observed = entries if nested else [*own, *entries]
    yield from (varied(found, call, rank) for rank, call in enumerate(own[:_VARIED]))
    yield from (varied(found, call, rank) for rank, call in enumerate(entries[:_VARIED]))
    yield observed
    if not nested:
        yield invented(found, seen)
        yield _other_receivers(found, own)
    yield _from_elsewhere(found, [*observed, *invented(found, seen)])
    yield _unwrapped(found, own)


def _private(call: Call) -> float:
    """What a private name on the way costs."""
    return _PRIVATE if call.is_private else 0.0


def _chains(found: Subject, seen: Seen) -> Iterator[Iterable[Call]]:
    """For a nested function: the outer one called, its result called, as deep as it is nested."""
    if not seen.levels or "." in found.function.outer:
        return
    first, *others = seen.levels
    base = Call(found.function.outer, imports=(found.imported(found.function.outer),))
    if found.function.asynchronous:
        base = replace(base, asynchronous=True)
    outer = facts.find(found.tree, found.function.outer)
    firsts = list(first[:_CHAINS]) or ([plain(found, outer.parameters)] if outer else [()])
    inner = [list(level[:_CHAINS]) or [()] for level in others]
    made = [
        replace(base, arguments=arguments, then=then)
        for arguments in firsts
        for then in itertools.product(*inner)
    ]
    yield made
    yield (call for base in made[:_CHAINS] for call in _chains_varied(found, base))


def _chains_varied(found: Subject, base: Call) -> Iterator[Call]:
    if not base.then:
        return
    *rest, last = base.then
    innermost = replace(base, arguments=last, then=())
    for call in itertools.islice(varied(found, innermost, 1), 150):
        changed = (*rest, call.arguments)
        yield replace(base, then=changed, cost=call.cost)
    outermost = itertools.islice(varied(found, replace(base, then=()), 1), 80)
    for call in outermost:
        yield replace(call, then=base.then)


def _other_receivers(found: Subject, own: Sequence[Call]) -> Iterator[Call]:
    """Observed arguments on receivers that were not observed."""
    if not own or own[0].receiver is None:
        return
    for base in bases(found):
        for call in own[:3]:
            if base.receiver is not None:
                receiver = replace(base.receiver, cost=base.receiver.cost + 1.0)
                yield replace(call, receiver=receiver, cost=call.cost + base.cost)


def _from_elsewhere(found: Subject, calls: Sequence[Call]) -> Iterator[Call]:
    """Where the function looks at its caller: called from a module that cannot be imported."""
    if not found.function.looks_at_caller:
        return
    for base in calls[:_ELSEWHERE]:
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
        yield from itertools.islice(varied(found, bare, 0), _ELSEWHERE)
