"""A call that a test could make: what it is called on and with, as source text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

RECEIVER = "receiver"  # the name that the receiver has in ``target`` and in ``before``


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument's text; ``name`` is "" for a positional one. ``cost`` is 0 as observed.

    ``strange`` says that nothing speaks for a value of its type: no observed call, no annotation.
    """

    text: str
    name: str = ""
    imports: tuple[str, ...] = ()
    cost: float = 0.0
    strange: bool = False

    def __str__(self) -> str:
        return f"{self.name}={self.text}" if self.name else self.text


@dataclass(frozen=True, slots=True)
class Receiver:
    """The object that a method is called on: its expression, how it is entered ("", "with" or
    "async with"), and the calls that have been made on it before."""

    text: str
    imports: tuple[str, ...] = ()
    enter: str = ""
    before: tuple[str, ...] = ()
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """``target(*arguments)``, its result called with each of ``then`` in turn.

    ``globals`` (name, value text) are those of the code that calls, where that matters. ``cost`` is
    what speaks against the call beside its arguments: a private name, another spelling.
    """

    target: str
    arguments: tuple[Argument, ...] = ()
    imports: tuple[str, ...] = ()
    receiver: Receiver | None = None
    then: tuple[tuple[Argument, ...], ...] = ()
    asynchronous: bool = False
    is_property: bool = False
    globals: tuple[tuple[str, str], ...] = ()
    cost: float = 0.0

    @property
    def is_strange(self) -> bool:
        """Whether some argument is of a type that nobody hands over."""
        return any(item.strange for item in (*self.arguments, *sum(self.then, ())))

    @property
    def is_private(self) -> bool:
        """Whether a private name is on the way to what is called."""
        words = self.target.split(".")
        if self.receiver is not None:
            words += self.receiver.text.partition("(")[0].split(".")
        return any(word.startswith("_") and not word.endswith("__") for word in words)

    @property
    def total(self) -> float:
        """The order in which calls are tried."""
        arguments = (*self.arguments, *(item for more in self.then for item in more))
        receiver = self.receiver.cost if self.receiver else 0.0
        return self.cost + receiver + sum(argument.cost for argument in arguments)

    @property
    def all_imports(self) -> tuple[str, ...]:
        """Every import line that the call needs, each once, in order."""
        found = set(self.imports)
        found.update(self.receiver.imports if self.receiver else ())
        for argument in (*self.arguments, *(item for more in self.then for item in more)):
            found.update(argument.imports)
        return tuple(sorted(found))

    @property
    def size(self) -> int:
        """Characters, of everything that a reader has to read."""
        texts = [self.target, *map(str, self.arguments)]
        texts += [str(item) for more in self.then for item in more]
        if self.receiver:
            texts += [self.receiver.text, self.receiver.enter, *self.receiver.before]
        return sum(map(len, texts)) + 2 * len(texts)

    def to_json(self) -> dict[str, Any]:
        """The shape that ``_hermutic_search`` reads."""
        receiver = self.receiver
        return {
            "imports": list(self.all_imports),
            "receiver": receiver.text if receiver else "",
            "enter": receiver.enter if receiver else "",
            "before": list(receiver.before) if receiver else [],
            "target": self.target,
            "arguments": [[item.name, item.text] for item in self.arguments],
            "then": [[[item.name, item.text] for item in more] for more in self.then],
            "async": self.asynchronous,
            "property": self.is_property,
            "globals": dict(self.globals),
        }


def clashes(imports: Iterable[str]) -> bool:
    """Whether two of the import lines bind one name to different things."""
    bound: dict[str, str] = {}
    for line in imports:
        name = line.rpartition(" as ")[2] if " as " in line else line.split()[-1]
        name = name.partition(".")[0] if line.startswith("import ") else name
        source = name if line.startswith("import ") and " as " not in line else line
        if bound.setdefault(name, source) != source:
            return True
    return False
