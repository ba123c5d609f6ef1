"""Turns differences between two surfaces of a module into assertions, the most telling first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.authors.scene import Difference, Fact, Key, Scene
from gate.authors.test_file import name_of
from gate.authors.wording import compared, is_of_sort, is_private, plain, say, short, shown, spoken

WEAK = 5  # from this rank on, an assertion is about what few callers look at


@dataclass(frozen=True, slots=True)
class Finding:
    """A test in the making. ``fault`` says what the mutant has instead; ``rank`` counts from the
    assertion that a person would sooner write; ``path`` is what it is about."""

    rank: int
    path: str
    fault: str
    name: str
    imports: tuple[str, ...]
    body: tuple[str, ...]
    pins: bool


def find(differences: Sequence[Difference], scene: Scene, qualname: str) -> list[Finding]:
    """The tests that can be made of the differences. What belongs to the mutant's own scope comes
    first, then what a person would sooner write, then public names."""
    made = [
        finding
        for difference in differences
        for finding in _MADE_OF[difference.fact.sort](difference, scene)
        if not _is_ambiguous(finding.imports)
    ]

    def order(finding: Finding) -> tuple[bool, int, bool, bool]:
        apart = qualname != "<module>" and not finding.path.startswith(qualname)
        return apart, finding.rank, finding.pins, is_private(finding.path)

    distinct: dict[tuple[str, ...], Finding] = {}
    for finding in sorted(made, key=order):
        distinct.setdefault(finding.body, finding)
    return list(distinct.values())


def _is_ambiguous(imports: Sequence[str]) -> bool:
    """Whether one name would come from two places."""
    lines = set(imports)
    return len({line.rpartition(" ")[2] for line in lines}) < len(lines)


def _all(difference: Difference, scene: Scene) -> Iterator[Finding]:
    """That all names of ``__all__`` exist is promised; that one is there, its name says."""
    fact = difference.fact
    imports, module = scene.whole()
    now, lost = _listed(scene.mutant, scene.clean), _listed(scene.clean, scene.mutant)
    says = f"lists {now} instead of {lost}" if now and lost else f"lists {now}"
    fault = f"`__all__` of `{scene.module}` {says if now else f'lacks {lost}'}"
    if difference.clean is not None:
        name = name_of(scene.module, f"exports {fact.name}")
        body = f'assert "{fact.name}" in {module}.__all__'
        yield Finding(1, fact.path, fault, name, imports, (body,), False)
        return
    if fact.about == "missing" and _is_sound(scene):
        name = name_of("", f"every name that {scene.module} exports exists")
        body = f"assert [name for name in {module}.__all__ if not hasattr({module}, name)] == []"
        yield Finding(0, fact.path, fault, name, imports, (body,), False)
    name = name_of(scene.module, f"does not export {fact.name or 'an empty name'}")
    body = f'assert "{fact.name}" not in {module}.__all__'
    yield Finding(7, fact.path, fault, name, imports, (body,), True)


def _listed(these: Mapping[Key, Fact], others: Mapping[Key, Fact]) -> str:
    """The names of ``__all__`` that only one side has, in words."""
    names = [fact.name for key, fact in these.items() if fact.sort == "all" and key not in others]
    return " and ".join(f"`{name}`" if name else "an empty name" for name in names)


def _is_sound(scene: Scene) -> bool:
    return not any(fact.sort == "all" and fact.about for fact in scene.clean.values())


def _has(difference: Difference, scene: Scene) -> Iterator[Finding]:
    if difference.mutant is None:
        yield from _lost_name(difference.fact, scene)
    elif difference.clean is None:
        yield _new_name(difference.fact, scene)
    elif scene.has(difference.fact.path):
        yield from _other_sort(difference.fact, difference.mutant, scene)


def _lost_name(fact: Fact, scene: Scene) -> Iterator[Finding]:
    imports, owner = scene.reach(fact.owner) if fact.owner else scene.whole()
    if fact.owner and not scene.has(fact.owner):
        return
    fault = f"`{fact.owner or scene.module}` has no `{fact.name}`"
    held = _held(fact, scene, owner)
    name = name_of(fact.owner or scene.module, f"has {fact.name}")
    wanted = _put_there(fact, scene)
    if len(wanted) > 1:
        shown = "{" + ", ".join(f'"{other}"' for other in wanted) + "}"
        name = name_of(fact.owner, "has its attributes")
        body = f"assert {shown} <= set({held})"
    elif held.startswith("dir("):
        body = f'assert hasattr({owner}, "{fact.name}")'
    else:
        body = f'assert "{fact.name}" in {held}'
    rank = WEAK if fact.name.startswith("__") else 2  # Python's own: rather what they do
    yield Finding(rank, fact.path, fault, name, imports, (body,), is_private(fact.path))


def _held(fact: Fact, scene: Scene, owner: str) -> str:
    """All the names that the owner has; its own alone if a base class has this one as well."""
    inherited = scene.mutant.get(("inherited", fact.owner, ""))
    is_inherited = inherited is not None and fact.name in inherited.about.split()
    is_inherited = is_inherited or (bool(fact.owner) and hasattr(object, fact.name))
    return f"vars({owner})" if is_inherited else f"dir({owner})"


def _put_there(fact: Fact, scene: Scene) -> list[str]:
    """A class's public names that its body does not write: a decorator's work, tested in one."""
    if not fact.owner or is_private(fact.name) or scene.is_written_in(fact.owner, fact.name):
        return []
    names = [
        one.name for one in scene.clean.values() if (one.sort, one.owner) == ("has", fact.owner)
    ]
    return sorted(
        name
        for name in names
        if not name.startswith("_") and not scene.is_written_in(fact.owner, name)
    )


def _new_name(fact: Fact, scene: Scene) -> Finding:
    imports, owner = scene.reach(fact.owner) if fact.owner else scene.whole()
    fault = f"`{fact.owner or scene.module}` has `{fact.name}`"
    name = name_of(fact.owner or scene.module, f"has no {fact.name or 'nameless attribute'}")
    body = f'assert not hasattr({owner}, "{fact.name}")'
    return Finding(7, fact.path, fault, name, imports, (body,), True)


def _other_sort(fact: Fact, other: Fact, scene: Scene) -> Iterator[Finding]:
    imports, expression = scene.reach(fact.path)
    check = is_of_sort(expression, fact)
    needed = ("import inspect",) if "inspect." in check else ()
    fault = f"`{fact.path}` is a {other.about} instead of a {fact.about}"
    name = name_of(fact.path, f"is a {fact.about}")
    pins = is_private(fact.path)
    yield Finding(6, fact.path, fault, name, (*needed, *imports), (f"assert {check}",), pins)


def _base(difference: Difference, scene: Scene) -> Iterator[Finding]:
    if difference.clean is None:
        return
    fact = difference.clean
    imports, expression = scene.reach(fact.owner)
    yield Finding(
        rank=4,
        path=fact.owner,
        fault=f"`{fact.owner}` is no subclass of `{fact.name}`",
        name=name_of(fact.owner, f"is a {fact.name}"),
        imports=(*imports, *fact.imports),
        body=(f"assert issubclass({expression}, {fact.text})",),
        pins=is_private(fact.owner),
    )


def _default(difference: Difference, scene: Scene) -> Iterator[Finding]:
    fact, other = difference.fact, difference.mutant
    if not scene.has(fact.owner):
        return
    imports, expression = scene.reach(fact.owner)
    held = f'inspect.signature({expression}).parameters["{fact.name}"].default'
    what = f"the default of `{fact.name}` in `{fact.owner}`"
    if difference.clean is None:
        body = f"assert {held} is inspect.Parameter.empty"
        fault, words = f"{what} is {shown(fact)} instead of none", "is required"
    else:
        body = compared(held, fact)
        fault = f"{what} is {shown(other)} instead of {shown(fact)}"
        words = f"is {spoken(fact)} by default"
    yield Finding(
        rank=2,
        path=fact.owner,
        fault=fault,
        name=name_of(fact.owner, f"{fact.name} {words}"),
        imports=("import inspect", *imports, *fact.imports),
        body=(body,),
        pins=not scene.documents(fact.owner, fact.name, plain(fact)),
    )


def _parameter(difference: Difference, scene: Scene) -> Iterator[Finding]:
    fact = difference.fact
    if not scene.has(fact.owner) or not scene.is_of_one_sort(fact.owner):
        return
    imports, expression = scene.reach(fact.owner)
    names = [
        one.name
        for one in scene.clean.values()
        if (one.sort, one.owner) == ("parameter", fact.owner)
    ]
    held = f"inspect.signature({expression}).parameters"
    listed = ", ".join(f'"{name}"' for name in names)
    body = f"assert list({held}) == [{listed}]"
    if difference.clean and difference.mutant:
        kind = fact.about.rpartition(" ")[0]
        body = f'assert {held}["{fact.name}"].kind.description == "{kind}"'
    yield Finding(
        rank=4,
        path=fact.owner,
        fault=f"`{fact.owner}` does not take `{fact.name}` as it should",
        name=name_of(fact.owner, "takes its parameters"),
        imports=("import inspect", *imports),
        body=(body,),
        pins=is_private(fact.owner),
    )


def _value(difference: Difference, scene: Scene) -> Iterator[Finding]:
    fact, other = difference.clean, difference.mutant
    if fact is None or not scene.has(fact.path):
        return
    rank, of_owner, form = _FORMS[fact.sort]
    path = fact.owner if of_owner else fact.path
    imports, expression = scene.reach(path)
    is_length = fact.sort == "length"
    what = f"the length of `{path}`" if is_length else f"`{form.format(path, fact.name)}`"
    yield Finding(
        rank=rank,
        path=fact.path,
        fault=f"{what} is {shown(other)} instead of {shown(fact)}",
        name=name_of(fact.path, f"{'length ' if is_length else ''}is {spoken(fact)}"),
        imports=(*imports, *fact.imports),
        body=(compared(form.format(expression, fact.name), fact),),
        pins=not scene.documents(fact.owner, fact.name, plain(fact)),
    )


def _property(difference: Difference, scene: Scene) -> Iterator[Finding]:
    fact = difference.fact
    if not difference.clean or not scene.has(fact.owner) or not difference.mutant:
        return
    imports, owner = scene.reach(fact.owner)
    name, _, part = fact.name.partition(".")
    is_there = "is not" if fact.text == "True" else "is"
    word = {"fget": "read", "fset": "set", "fdel": "deleted"}[part]
    can, could = ("cannot", "can") if fact.text == "True" else ("can", "cannot")
    yield Finding(
        rank=4,
        path=fact.path,
        fault=f"`{fact.owner}.{name}` {can} be {word}",
        name=name_of(f"{fact.owner}.{name}", f"{could} be {word}"),
        imports=("import inspect", *imports),
        body=(f'assert inspect.getattr_static({owner}, "{name}").{part} {is_there} None',),
        pins=is_private(fact.path),
    )


def _element(difference: Difference, scene: Scene) -> Iterator[Finding]:
    fact = difference.fact
    if not scene.has(fact.owner):
        return
    imports, expression = scene.reach(fact.owner)
    lost = difference.clean is not None
    yield Finding(
        rank=4 if lost else 7,
        path=fact.owner,
        fault=f"`{fact.owner}` {'lacks' if lost else 'contains'} {short(fact.name)}",
        name=name_of(fact.owner, f"{'contains' if lost else 'lacks'} {say(fact.name)}"),
        imports=(*imports, *fact.imports),
        body=(f"assert {fact.name} {'in' if lost else 'not in'} {expression}",),
        pins=not scene.documents("", fact.name),
    )


_MADE_OF: dict[str, Callable[[Difference, Scene], Iterator[Finding]]] = {
    "all": _all,
    "has": _has,
    "inherited": lambda *_: iter(()),
    "base": _base,
    "parameter": _parameter,
    "default": _default,
    "property": _property,
    "value": _value,
    "call": _value,
    "length": _value,
    "item": _value,
    "element": _element,
}
# A rank, whether it is about the owner of the name, and the expression for the value.
_FORMS = {
    "value": (3, False, "{0}"),
    "call": (3, False, "{0}()"),
    "item": (4, True, "{0}[{1}]"),
    "length": (4, True, "len({0})"),
}
